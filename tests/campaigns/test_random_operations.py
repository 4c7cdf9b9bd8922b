"""Anything may follow anything: after every operation a campaign is what its events and its export say it is."""

import random
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.storage.copy import copy_storage
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.campaigns.storage.verify import verify
from tests.campaigns.pools import collection
from tests.campaigns.streams import MODELS, rebuilt, state

PEOPLE = ("ann", "ann/desk 2", "bob", "cid", None)
LABELS = ("ham", "spam", "egg", None)
ITEMS = 30


class Player:
    """Does one random operation after the other on a campaign, as several people would."""

    def __init__(self, url: str, seed: int, *, pool: bool) -> None:
        self.random = random.Random(seed)
        self.url, self.pool = url, pool
        overlap = self.random.choice([1, 2, 2, 2, 3, 0.5])
        budget = self.random.choice([None, 9, 25]) if pool or overlap == 1 else None
        more: dict[str, Any] = {"seed": seed, "overlap": overlap, "budget": budget}
        if pool:
            self.campaign = mp.create_campaign(url, "c", pool=collection(ITEMS), tolerance=0.0, **more)
        else:
            stop = self.random.choice([None, mp.Certified(gap=0.2, confidence=0.9)])
            self.campaign = mp.create_campaign(url, "c", models=MODELS, stop_when=stop, **more)
            self.campaign.ask_file(collection(ITEMS))
        self.handles = [self.campaign, mp.open_campaign(url, "c")]  # as two processes have it
        self.files = 1

    def operations(self) -> dict[str, tuple[int, Callable[[], object]]]:
        """What may be done, and how often it is."""
        campaign, pick = self.campaign, self.random.choice
        who = pick(PEOPLE)
        return {
            "pending": (6, lambda: campaign.pending(pick([1, 2, 5]), lease=pick([None, 600, 1e-6]), annotator=who)),
            "tell": (
                14,
                lambda: campaign.tell(self.item(), pick(LABELS), replace=pick([True, False]), annotator=who),
            ),
            "tell many": (
                2,
                lambda: self.tell_many(who),
            ),
            "retract": (4, lambda: campaign.retract(self.item(), lease=pick([None, 60]), annotator=who)),
            "settle": (4, lambda: campaign.settle(self.item(), pick(LABELS), annotator="boss")),
            "note": (
                2,
                lambda: campaign.note(self.item(), pick(["", "odd"]), flagged=pick([True, False]), annotator=who),
            ),
            "release": (1, lambda: campaign.release(self.item())),
            "finish": (2, lambda: campaign.finish(annotator="boss")),
            "continue": (6, lambda: campaign.revise(finished=False, paused=False, archived=False)),
            "pause": (1, lambda: campaign.revise(paused=True)),
            "archive": (1, lambda: campaign.revise(archived=True)),
            "budget": (1, lambda: campaign.revise(budget=pick([None, 12, 40]))),
            "goal": (1, lambda: campaign.revise(stop_when=pick([None, mp.Certified(gap=0.1)]))),
            "file": (1, self.add_file),
            "one item": (1, lambda: campaign.ask([pick(["ham", "spam", "egg"]) for _ in campaign.models])),
            "forget": (1, campaign.forget),
            **({} if self.pool else self.stream_operations()),
        }

    def tell_many(self, who: str | None) -> None:
        """Several answers in one transaction: if one is refused, none is taken."""
        told = {self.item(): self.random.choice(LABELS) for _ in range(3)}
        self.campaign.tell_many(told, replace=self.random.random() < 0.7, annotator=who)

    def stream_operations(self) -> dict[str, tuple[int, Callable[[], object]]]:
        """What only a stream can do."""
        campaign, pick = self.campaign, self.random.choice
        return {
            "drop": (1, lambda: campaign.drop_items(annotator="boss")),
            "leave": (1, lambda: campaign.leave(pick(MODELS))),
            "join": (1, lambda: campaign.join(pick(MODELS))),
        }

    def item(self) -> int:
        """Mostly an item that was asked about; now and then any other."""
        asked = [one.id for one in self.campaign.answers()]
        if asked and self.random.random() < 0.93:
            return self.random.choice(asked)
        return self.random.randrange(max(1, self.campaign.rounds))

    def add_file(self) -> None:
        """Another file, with labels that may be used in a pool."""
        more = collection(10, seed=self.files, first=10 * self.files + ITEMS)
        self.files += 1
        if self.pool:
            self.campaign.add_items(more, use_labels=self.random.random() < 0.5)
        else:
            self.campaign.ask_file(more, at_once=self.random.random() < 0.5)

    def step(self) -> str:
        """Do something; what is refused changes nothing."""
        self.campaign = self.random.choice(self.handles)
        chosen = self.operations()
        (name,) = self.random.choices(list(chosen), [weight for weight, _ in chosen.values()])
        before = state(self.campaign), self.campaign.events
        try:
            chosen[name][1]()
        except (mp.ConflictError, mp.InputError, mp.NotFoundError):
            name = f"{name}: refused"
        if name.endswith("refused"):
            assert (state(self.campaign), self.campaign.events) == before, name
        return name


def seen(campaign: mp.Campaign) -> dict[str, Any]:
    """All that people can see of a campaign."""
    return {
        "counts": campaign.counts(),
        "stored": campaign.stored_counts(),
        "labels": campaign.labels(),
        "flagged": campaign.labels(mp.LabelFilter(flagged=True)),
        "best": campaign.best(),
        "answers": campaign.answers(),
        "waiting": [(one.id, one.key, one.item) for one in campaign.waiting()],
        "conflicts": campaign.conflicts(),
        "agreement": campaign.agreement(),
        "notes": campaign.notes(),
        "classes": campaign.known_classes(),
        "own": {by: campaign.labels_by(by) for by in PEOPLE if by},
        "bought": campaign.labels_bought,
        "items": campaign.waiting_items(),
        "models": campaign.models,
        "terms": campaign.terms,
        "history": list(campaign.history()),
    }


def check_sums(campaign: mp.Campaign) -> None:
    """Numbers that are found in different ways agree."""
    counts, stored = campaign.counts(), campaign.stored_counts()
    assert counts.waiting == stored["waiting"] == len(campaign.waiting())
    assert (counts.withdrawn, counts.labels) == (stored["withdrawn"], stored["labelled"])
    assert (counts.skipped, counts.references) == (stored["skipped"], stored["reference"])
    assert counts.conflicts == stored["conflict"] == len(campaign.conflicts())
    pick = campaign.best()
    assert (pick.conflicts, pick.skipped, pick.references) == (counts.conflicts, counts.skipped, counts.references)
    assert pick.pending == counts.waiting
    assert pick.labelled == counts.labels
    assert pick.labels_used == campaign.labels_bought
    people: Counter[str] = Counter()
    for one in campaign.labels():
        said = one.opinions or ((one,) if one.state == "labelled" else ())
        people.update(person_of(given.by) for given in said if given.label is not None)
    assert {by: campaign.labels_by(by) for by in PEOPLE if by} == {by: people[person_of(by)] for by in PEOPLE if by}


def check_open(campaign: mp.Campaign) -> None:
    """Nobody is given what they answered, and everybody else is."""
    said = {one.id: {person_of(given.by) for given in one.opinions} for one in campaign.labels()}
    for by in ("ann", "bob", "eve"):
        with campaign.looking() as store:
            found = {one.round for one in store.waiting_for(by, 1_000, pool=campaign.settings.pool is not None)}
        assert found == {one.id for one in campaign.waiting() if by not in said.get(one.id, ())}


def play(url: str, tmp_path: Path, seed: int, *, pool: bool, steps: int, exports: int = 1) -> Counter[str]:
    """Random operations; after each, the campaign is as it is opened again, and at times as it is imported."""
    player, done = Player(url, seed, pool=pool), Counter[str]()
    for number in range(steps):
        done[did := player.step()] += 1
        campaign = player.campaign
        try:
            check_sums(campaign)
            check_open(campaign)
            here = seen(campaign)
            with mp.open_campaign(url, "c") as again:
                assert seen(again) == here
                assert state(again) == state(campaign) == rebuilt(campaign)
            assert verify(campaign, repair=False).wrong == []
            if number % exports == 0:
                check_copy(campaign, tmp_path, here)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, step {number}, {did}: {error}") from error
    return done


def check_copy(campaign: mp.Campaign, tmp_path: Path, here: dict[str, Any]) -> None:
    """An export that is imported is the same campaign, and continues in the same way."""
    path = tmp_path / "out.jsonl"
    campaign.export(path)
    with (
        closing(open_storage(f"memory://{uuid.uuid4().hex}", create=True)) as second,
        closing(open_storage(f"sqlite:///{tmp_path}/{uuid.uuid4().hex}.db", create=True)) as third,
    ):
        copy = mp.import_campaign(second.place, path)
        assert seen(copy) == here
        assert state(copy) == state(campaign)
        copy_storage(second, third)
        other = mp.open_campaign(third.place, "c")
        for by in ("ann", "bob", None):
            given = [one.pending(2, lease=600, annotator=by) for one in (copy, other)]
            assert [one.id for one in given[0]] == [one.id for one in given[1]]
        assert state(copy) == state(other) == rebuilt(other)


@pytest.mark.parametrize("pool", [True, False], ids=["pool", "stream"])
def test_whatever_people_do_a_campaign_is_what_its_events_say(memory: str, tmp_path: Path, pool: bool) -> None:
    done = play(memory, tmp_path, 1, pool=pool, steps=16, exports=8)
    assert len(done) > 8, "many kinds of operations"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("pool", [True, False], ids=["pool", "stream"])
def test_whatever_people_do_for_long_a_campaign_is_what_its_events_say(
    url: str, tmp_path: Path, pool: bool, seed: int
) -> None:
    play(url, tmp_path, seed, pool=pool, steps=60, exports=5)
