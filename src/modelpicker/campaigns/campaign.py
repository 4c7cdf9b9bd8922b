"""A campaign: programs ask about items, people tell labels, and the best model emerges.

Asking is here. What a campaign knows is in `reading`, and what changes it in `telling`, `leasing` and `revising`.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from modelpicker.algorithms import Decision
from modelpicker.campaigns.events.event_types import Rounds
from modelpicker.campaigns.input.batches import KeptFile, frame_batch
from modelpicker.campaigns.input.rows import count_rows, encode_one
from modelpicker.campaigns.input.validation import (
    Decisions,
    check_annotator,
    check_item,
    check_items,
    check_key,
    check_keys,
)
from modelpicker.campaigns.leasing import CampaignLeasing
from modelpicker.campaigns.results.pick import AddedItems, AskedFile
from modelpicker.campaigns.revising import CampaignRevising
from modelpicker.campaigns.state.ask import decide_new, decide_rounds, new_ones
from modelpicker.campaigns.state.feeding import drop_items, feeds, keep_items
from modelpicker.campaigns.state.projection import Projection
from modelpicker.campaigns.state.transactions import WriteGroup
from modelpicker.campaigns.telling import CampaignTelling
from modelpicker.errors import ConflictError, brief
from modelpicker.frames import as_columns


class Campaign(CampaignTelling, CampaignLeasing, CampaignRevising):
    """One durable labelling effort: a stream or a pool, its models, a picker, a budget, every label bought.

    Made by `create_campaign` and `open_campaign`. May be used by several threads, and by several processes if each
    opens it. Whatever a method returns from is on disk.

    >>> import modelpicker as mp
    >>> campaign = mp.create_campaign("memory://campaign", "tickets", models=["bert", "gpt"])
    >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
    >>> campaign.tell(query.id, "ham")
    >>> campaign.best().model
    'gpt'
    """

    @contextmanager
    def together(self) -> Iterator[WriteGroup]:
        """All changes within it go to disk together, or none; a BehindError if much has to be learned first."""
        with self.grouped(patient=False) as group:
            yield group

    def ask(
        self, predictions: object, *, item: Mapping[str, Any] | None = None, key: str | None = None
    ) -> Decision:
        """Decide the next round, and record everything about it in one transaction.

        Args:
            predictions: what each model says: {model: class}, or a list in the order of the models; None where
                one abstains.
            item: fields that tell people what to label, such as {"text": "…"}.
            key: your own name for the item. The same key again returns the same decision and creates nothing, so
                that whatever went wrong, asking again is safe.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://ask", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> query.id, query.query
        (0, True)
        """
        self._check_takes_items()
        return self.ask_item(predictions, item, key)

    def ask_item(self, predictions: object, item: Mapping[str, Any] | None, key: str | None) -> Decision:
        """`ask` for whoever feeds the items of the campaign's own file."""
        key = check_key(key)
        item = check_item(item)
        with self.writing() as change:
            known = None if key is None else change.store.round_of(key)
            if known is not None:
                return _decision(change.store.rounds_with(known), known, change.projection)
            rows = encode_one(predictions, change.projection.picker.models, self.vocabulary)
            event = decide_rounds(change, rows, [item], [key])
            return _decision(event, event.first, change.projection)

    def ask_many(
        self,
        predictions: object,
        *,
        items: Sequence[Mapping[str, Any] | None] | None = None,
        keys: Sequence[str | None] | None = None,
    ) -> Decisions:
        """Decide many rounds in one transaction, with the compiled kernel.

        Args:
            predictions: a matrix of class codes, a collection, a list of what `ask` takes, one row per round; or a
                data frame or a mapping of arrays, one column per model. Its other columns are shown with the items,
                and `key` or `id` has the keys.
            items: the fields of each item.
            keys: a key for each; those that were asked before return the decision they had.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://ask-many", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> decisions = campaign.ask_many([["spam", "spam"], ["ham", "ham"]])
        >>> [decision.id for decision in decisions]
        [1, 2]
        """
        self._check_takes_items()
        predictions, items, keys = self._unframed(predictions, items, keys)
        total = count_rows(predictions)
        checked_items = check_items(items, total)
        checked_keys = check_keys(keys, total)
        with self.writing() as change:
            first = change.head.rounds
            places: Sequence[int] = range(total)
            numbers: Sequence[int] = range(first, first + total)
            if checked_keys is not None:
                known = change.store.rounds_of({key for key in checked_keys if key is not None})
                places, numbers = new_ones(checked_keys, known, first)
            made = decide_new(change, self.vocabulary, predictions, places, checked_items, checked_keys)
            older = sorted({number for number in numbers if number < first}) if places != range(total) else []
            found = {rounds.first: rounds for rounds in map(change.store.rounds_with, older)}
            state = change.projection
            return Decisions(numbers, [*found.values(), *made], state.models_at, state.racing)

    def ask_file(self, source: object, *, at_once: bool = False) -> AskedFile:
        """Ask about the items of a file, one after the other, as labels come.

        The items are kept in the storage. Whenever somebody wants a question (`pending`) and none is open for them,
        the next items are decided about, until one needs a label. Several files are asked about in their order. The
        same file again brings nothing new.

        Args:
            source: a file of predictions, a collection or a data frame, with the models of this campaign. A column
                `key` or `id` has the keys of its items.
            at_once: whether all items are decided about now, before any of their labels come. All questions are
                there at once, so that many people can label in parallel, but there are more of them.

        >>> import modelpicker as mp
        >>> models = mp.load_collection("digits").models
        >>> campaign = mp.create_campaign("memory://doctest-file", "digits", models=models)
        >>> campaign.ask_file("digits").waiting, len(campaign.pending(1))
        (1497, 1)
        """
        from modelpicker.campaigns.feeding import ask_file  # which builds on campaigns

        self._check_takes_items()
        return ask_file(self, source, at_once=at_once)

    def keep_items(
        self,
        file: KeptFile,
        first: int,
        predictions: object,
        items: Sequence[Mapping[str, Any] | None] | None,
        keys: Sequence[str],
    ) -> AskedFile:
        """Keep some items of a file, the first of which is in this row: they are asked about as labels come."""
        self._check_takes_items()
        checked_items, total = check_items(items, len(keys)), len(keys)
        for key in keys:
            check_key(key)
        with self.writing() as change:
            new = keep_items(change, self.vocabulary, file, first, predictions, checked_items, keys)
            return AskedFile(0, total - new, 0, new)

    @property
    def deciding(self) -> bool:
        """Whether the next `pending` continues deciding about items of files, if no query is open by then."""
        with self.reading_state() as (store, state):
            return isinstance(state, Projection) and feeds(store, state)

    def drop_items(self, *, annotator: str | None = None) -> int:
        """Ask about none of the items that wait; how many they were. Labels and open questions stay.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://drop", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.drop_items()
        0
        """
        by = check_annotator(annotator)
        with self.writing() as change:
            return drop_items(change, by)

    def add_items(
        self,
        source: object,
        *,
        use_labels: bool = False,  # noqa: ARG002 (as a pool has it)
        judge: object = None,  # noqa: ARG002
        slice: object = None,  # noqa: ARG002
        progress: Callable[[int, int], None] | None = None,  # noqa: ARG002
    ) -> AddedItems:
        """Add more items to a pool; a stream decides items as they come, with `ask` and `ask_file`.

        >>> import modelpicker as mp
        >>> items = [["spam", "ham"]] * 6 + [["ham", "ham"]] * 4
        >>> campaign = mp.create_campaign("memory://add", "tickets", pool=items, tolerance=0.05)
        >>> campaign.add_items([["spam", "ham"], ["ham", "spam"]]).new
        2
        """
        raise ConflictError(
            f"campaign {self.name!r} is on a stream, and {brief(source)} cannot be added to it: pass it to "
            "ask_file, which asks about its items as labels come."
        )

    def _check_takes_items(self) -> None:
        """Items of a file come in the order of the file: others in between, and it could not be continued."""
        if self.settings.source is not None:
            raise ConflictError(
                f"campaign {self.name!r} takes its items from {self.settings.source.file}: continue with "
                f"{self.settings.source.command!r}. For other items, create another campaign."
            )

    def _unframed(self, predictions: object, items: Any, keys: Any) -> tuple[object, Any, Any]:
        """The columns of a data frame that are no models, as the fields and keys of its items."""
        columns = as_columns(predictions)
        if columns is None:
            return predictions, items, keys
        batch = frame_batch(columns, *self.known_models(), self.settings.missing)
        return batch.predictions, batch.items if items is None else items, batch.keys if keys is None else keys

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the whole campaign to a file, `.jsonl` or `.parquet`; `import_campaign` reads it.

        >>> import tempfile
        >>> from pathlib import Path
        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://exports", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> path = Path(tempfile.mkdtemp()) / "tickets.parquet"
        >>> campaign.export(path)
        >>> path.exists()
        True
        """
        from modelpicker.campaigns.export import export_campaign  # which builds on campaigns

        export_campaign(self, path)

    def report(self) -> str:
        """One page for the person who decides, as HTML.

        The pick, how certain it is, what it cost, how to repeat it.

        >>> import modelpicker as mp
        >>> campaign = mp.create_campaign("memory://report", "tickets", models=["bert", "gpt"])
        >>> query = campaign.ask({"bert": "spam", "gpt": "ham"}, key="msg-1")
        >>> campaign.report()[:15]
        '<!doctype html>'
        """
        from modelpicker.campaigns.results.campaign_report import campaign_report  # which builds on campaigns
        from modelpicker.campaigns.results.report_page import report_page

        return report_page(campaign_report(self))


def _decision(rounds: Rounds, number: int, projection: Projection) -> Decision:
    """A decision that was made, as it was returned then."""
    return Decisions([number], [rounds], projection.models_at, projection.racing)[0]
