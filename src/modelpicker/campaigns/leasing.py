"""Who is asked: queries that wait for an answer, given to people for a while."""

from datetime import timedelta

from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.round_states import RoundState
from modelpicker.campaigns.input.validation import check_annotator, check_most, seconds_of
from modelpicker.campaigns.reading import CampaignReading
from modelpicker.campaigns.results.candidates import shuffled_answers
from modelpicker.campaigns.results.pick import Query
from modelpicker.campaigns.state.feeding import FeedStep, decide_next
from modelpicker.campaigns.state.transactions import Transaction
from modelpicker.encoding import ClassName


class CampaignLeasing(CampaignReading):
    """The part of a campaign that hands out queries."""

    def pending(
        self, most: int | None = None, *, lease: float | timedelta | None = None, annotator: str | None = None
    ) -> list[Query]:
        """Queries that wait for an answer, oldest first.

        If none is open for the annotator, and items of files wait (`ask_file`), they are decided about until one
        needs a label. So there are as many open questions as there are people who label.

        Args:
            most: at most this many; all by default, and one if they are leased.
            lease: for how many seconds, or how long, they are kept from others. Nobody else is given a leased query
                until its lease has expired; an answer counts whenever it comes, if nobody else gave one. With
                neither this nor `most`, all open queries, and no item of a file is decided about.
            annotator: who takes them. The same annotator is given again what they have leased already; nobody is
                given an item that they have answered.

        >>> import modelpicker as mp
        >>> items = [["spam", "ham"]] * 6 + [["ham", "ham"]] * 4
        >>> campaign = mp.create_campaign("memory://pending", "tickets", pool=items, tolerance=0.05)
        >>> [found.classes for found in campaign.pending(1, lease=600, annotator="ann")]
        [('ham', 'spam')]
        """
        by = check_annotator(annotator)
        seconds = None if lease is None else seconds_of(lease)
        if seconds is None and most is None:
            return self.waiting()
        most = 1 if most is None else check_most(most)
        with self._lock:
            together = self._group is not None
        while True:
            with self.writing() as change:
                found, step = self._find_open(change, most, seconds, by)
            # Each look is a transaction of its own, so that nobody waits for long; within a group there is one.
            if step != "going on" or together:
                return found

    def _find_open(
        self, change: Transaction, most: int, seconds: float | None, by: str | None
    ) -> tuple[list[Query], FeedStep]:
        """Queries for somebody; if none is open for them, the next items of files are decided about."""
        if change.state.terms.idle:
            return (
                [] if seconds is not None else self._queries(change.store, change.store.waiting_for(by, most))
            ), "stopped"
        now = self.storage.now(change.store.connection)
        step: FeedStep = "stopped"
        found = self._free(change, now, most, seconds, by)
        if not found:
            step = decide_next(change)
            found = self._free(change, now, most, seconds, by) if step == "query" else []
        return self._lease(change, found, now, seconds, by), step

    def _free(
        self, change: Transaction, now: float, most: int, seconds: float | None, by: str | None
    ) -> list[RoundState]:
        """Queries that wait; if they are to be leased, those that nobody else has leased."""
        pool = self.settings.pool is not None
        if seconds is None:
            return change.store.waiting_for(by, most, pool=pool)
        return change.store.free(now, by, most, pool=pool)

    def _lease(
        self, change: Transaction, found: list[RoundState], now: float, seconds: float | None, by: str | None
    ) -> list[Query]:
        """These queries, leased if they are to be."""
        if seconds is not None and found:
            change.store.lease([state.round for state in found], now + seconds, by)
            found = [state._replace(leased_until=now + seconds, leased_by=by) for state in found]
        return self._queries(change.store, found)

    def waiting(self, most: int | None = None) -> list[Query]:
        """Queries that wait for an answer, oldest first, leased or not; nothing is asked or leased.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://waiting", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> [found.key for found in campaign.waiting()]
        ['msg-1']
        """
        most = None if most is None else check_most(most)
        with self.looking() as store:
            return self._queries(store, store.waiting(most, pool=self.settings.pool is not None))

    def release(self, *ids: int | str) -> None:
        """Give leased queries back, so that others need not wait for the lease to expire.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://release", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> leased = campaign.pending(lease=600, annotator="ann")
        >>> campaign.release(leased[0].id)
        >>> campaign.leased_by(leased[0].id) is None
        True
        """
        with self.writing() as change:
            change.store.lease([self._number_of(change.store, id, change.head.rounds) for id in ids], None, None)

    def _queries(self, store: EventStore, found: list[RoundState]) -> list[Query]:
        queries = []
        for state in found:
            stored = store.item_of(state.round)
            lease = (state.leased_until, state.leased_by)
            shown = self._candidates(store, state.round, stored.classes)
            queries.append(Query(state.round, stored.item, stored.key, stored.classes, *lease, shown))
        return queries

    def _candidates(self, store: EventStore, number: int, said: tuple[ClassName, ...]) -> tuple[ClassName, ...]:
        """The answers to grade, or the two to compare, shuffled; none where a class is asked for."""
        if self.settings.ask_for == "class":
            return ()
        pair = store.pair_of(number) if self.settings.ask_for == "preference" else None
        return shuffled_answers(said if pair is None else pair, f"{self.name} {self.settings.seed}", number)
