"""A campaign whose items come from one file: started, found again, and fed item by item as labels come.

A label changes what is asked next. So items are asked about one by one, until somebody has to be asked for a
label. The rounds are those that `modelpicker.pick` would play with the same labels, unless an answer was taken
back.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from modelpicker.algorithms.registry import find_algorithm, usual_options
from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.events.event_types import Answer, Opinion, Retraction, Withdrawal
from modelpicker.campaigns.input.batches import items_of
from modelpicker.campaigns.input.judges import names_at
from modelpicker.campaigns.offline import Goal, shuffled, suited_options
from modelpicker.campaigns.registry import begin_campaign, list_campaigns, open_campaign
from modelpicker.campaigns.results.assembly import best_place
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.campaigns.sources import FileSource
from modelpicker.campaigns.storage.sqlite_files import is_sqlite
from modelpicker.collections import ModelCollection, load_collection
from modelpicker.collections.scanned import ScannedItems
from modelpicker.encoding import ClassName, Missing
from modelpicker.errors import ConflictError, InputError, brief
from modelpicker.kernels.primitives import ABSTAINED
from modelpicker.label import AnyLabel

# Who told labels that were known before anybody was asked.
FILE = "file"
ROUNDS_AT_ONCE = 500

FeedStopped: TypeAlias = Literal["end", "budget", "waiting", "certified", "won"]
"""Why nothing more is asked: all items were seen, the budget is spent, somebody else is asked, or it is proven."""
Fed: TypeAlias = FeedStopped | Literal["query", "going on"]
"""What asking about some items came to: why it stopped, that a label is asked for, or none of these yet."""


def begin_file_campaign(
    storage: str,
    name: str,
    collection: ModelCollection,
    source: FileSource,
    goal: Goal,
    *,
    algorithm: str,
    options: Mapping[str, Any],
    seed: int,
    missing: Missing = "abstained",
) -> Campaign:
    """Begin a campaign about the items of a file: it asks as `pick` does, and the budget is a cap."""
    kind = find_algorithm(algorithm)
    usual = usual_options(kind, len(collection.classes))
    suited = suited_options(collection, kind, goal.budget, play_unlabelled=True)
    given = dict(options)
    costs = {name: given.pop(name) for name in ("loss", "price") if name in given}
    settings = CampaignSettings.check(
        **costs,
        label_noise=goal.label_noise,
        models=list(collection.models),
        classes=list(collection.classes) if source.reading.get("classes") else None,
        algorithm=kind,
        options=usual | suited | given,
        seed=seed,
        budget=goal.budget,
        expected_rounds=len(collection),
        stop_when=goal.stop_when,
        budget_way="paced" if goal.budget is None else "cap",
        missing=missing,
        source=source,
    )
    return begin_campaign(storage, name, settings)


def fingerprint_of(collection: ModelCollection | ScannedItems) -> str:
    """What stands for the models, the items and their predictions: labels, and their classes, may come later."""
    if isinstance(collection, ScannedItems):
        return collection.fingerprint
    said, codes = np.unique(collection.predictions, return_inverse=True)
    codes = codes.reshape(collection.predictions.shape)
    silent = int((said < 0).sum())  # an abstention, and a model that was not run
    classes = [collection.classes[code] for code in said[silent:].tolist()]
    codes = np.where(collection.predictions < 0, collection.predictions, codes - silent)
    predictions = ModelCollection.of_codes(codes, None, collection.models, classes).fingerprint
    items = items_of(collection)
    if items is None:
        return predictions
    shown = hashlib.sha256("\n".join(map(_mark, items)).encode()).hexdigest()[: len(predictions)]
    return f"{predictions}-{shown}"


def _mark(item: Mapping[str, Any] | None) -> str:
    """What tells an item from others: all that is shown of it."""
    return json.dumps(item, sort_keys=True)


def row_key(place: int) -> str:
    """The key of the item at a place of the file, counted from 0."""
    return f"row-{place + 1}"


def known_answers(campaign: Campaign) -> dict[str, ClassName]:
    """The labels that a campaign has, by what is shown of the items."""
    items: dict[int, str] = {}
    labels: dict[int, ClassName] = {}
    for record in campaign.history():
        number = record.get("id", -1)
        if record["kind"] == "ask":
            items[number] = _mark(record["item"])
        elif record["kind"] in ("label", "reference"):
            labels[number] = record["label"]
        elif record["kind"] in ("skip", "retract"):
            labels.pop(number, None)
    return {items[number]: label for number, label in labels.items()}


def answers_by(campaign: Campaign, annotator: str) -> dict[int, AnyLabel | None]:
    """What somebody answered, by round, in the order of the answers; not what others changed since.

    Of a round that several people label, it is their opinion.
    """
    found: dict[int, AnyLabel | None] = {}
    several: set[int] = set()
    person = person_of(annotator)
    with campaign.looking() as store:  # the history also has all items, which may be a million
        for stored in store.others((Answer.kind, Retraction.kind, Opinion.kind, Withdrawal.kind)):
            match stored.event:
                case Opinion(round=number, label=label, by=by):
                    several.add(number)
                    if person_of(by) == person:
                        found.pop(number, None)  # the last one comes last
                        found[number] = label
                case Withdrawal(round=number, whose=whose) if person_of(whose) == person:
                    found.pop(number, None)
                case Answer(round=number, label=label, by=by) if number not in several:
                    found.pop(number, None)
                    if by == annotator:
                        found[number] = label
                case Retraction(round=number) if number not in several:
                    found.pop(number, None)
    return found


class Feeder:
    """The items of a file on their way into its campaign."""

    def __init__(self, campaign: Campaign, collection: ModelCollection, *, use_known: bool) -> None:
        """Nobody is asked for labels that the collection has, if `use_known`.

        It is an error if the file is not the one that the campaign was started with.
        """
        source = campaign.settings.source
        if source is None:
            raise ConflictError(f"campaign {campaign.name!r} in {campaign.storage.url} is not of a file.")
        _check_same(campaign, source, collection)
        self.campaign = campaign
        self.collection = collection
        self.classes = collection.classes
        """Known from the start, so that their keys stay the same."""
        self.order = (
            shuffled(len(collection), campaign.settings.seed).tolist() if source.shuffle else range(len(collection))
        )
        self.labels = collection.labels if use_known else None
        self.items = items_of(collection)
        self._check_rounds()

    def _check_rounds(self) -> None:
        """The rounds must be the first items of the file."""
        rounds = self.campaign.rounds
        last = next(self.campaign.history(rounds - 1)) if 0 < rounds <= len(self.order) else {}
        if rounds and last.get("key") != row_key(self.order[min(rounds, len(self.order)) - 1]):
            raise ConflictError(
                f"campaign {self.campaign.name!r} in {self.campaign.storage.url} was asked about other items than "
                "those of its file; it cannot continue with the file. To start again with the same answers, pass "
                f"another --out, and --labels {self.campaign.storage.place}."
            )

    def feed(self) -> Fed:
        """Ask about some items, until a label has to be asked for or there is nothing more to ask."""
        with self.campaign.grouped():
            for _ in range(ROUNDS_AT_ONCE):
                stopped = self._stopped()
                if stopped is not None:
                    return stopped
                if self._ask_next():
                    return "query"
        return "going on"

    def _stopped(self) -> FeedStopped | None:
        with self.campaign.reading() as (store, projection):
            if projection.picker.finished:
                return "won"
            if projection.picker.rounds >= len(self.order):
                return "end"
            if projection.left < 1:
                return "waiting" if projection.counts.waiting else "budget"
            rule = projection.terms.stop_when
            certified = rule is not None and projection.certifies(best_place(store, projection), rule)
            return "certified" if certified else None

    def _ask_next(self) -> bool:
        """Ask about the next item; whether its label has to be asked for."""
        number = self.campaign.rounds
        place = self.order[number]
        item = row_item(place) if self.items is None else self.items[place]
        decision = self.campaign.ask_item(names_at(self.collection, place), item, row_key(place))
        if decision.round != number:
            raise ConflictError(f"campaign {self.campaign.name!r}: item {row_key(place)} was asked about before.")
        label = ABSTAINED if self.labels is None else int(self.labels[place])
        if decision.query and label != ABSTAINED:
            self.campaign.tell(number, self.collection.classes[label], annotator=FILE)
        return decision.query and label == ABSTAINED


def _check_same(campaign: Campaign, source: FileSource, collection: ModelCollection) -> None:
    """The file must be the same: its answers would be put to other questions."""
    if fingerprint_of(collection) == source.fingerprint:
        return
    where, file = campaign.storage.url, source.file
    then, now = list(campaign.settings.models), list(collection.models)
    found = (
        f"its models are {brief(then)}, here they are {brief(now)}"
        if then != now
        else f"{file} has changed since: it has other items or other predictions"
    )
    raise ConflictError(
        f"{where} belongs to another pick: {found}. To start again with the answers to items that are still the "
        "same, "
        f"pass another --out, and --labels {campaign.storage.place}."
    )


def read_source(source: FileSource) -> ModelCollection:
    """The file of a campaign, read as it was when the campaign was started."""
    labels = source.labels_there
    if labels is None or not is_sqlite(labels):
        return load_collection(source.file, labels, **source.reading)
    return with_answers(load_collection(source.file, **source.reading), labels)


def with_answers(collection: ModelCollection, path: Path) -> ModelCollection:
    """The collection with the labels that people gave to the same items in earlier picks.

    Models and predictions may have changed since. Where nothing is shown of the items, they are the same only if
    the predictions are.
    """
    storage, items = f"sqlite:///{path}", items_of(collection)
    fingerprint = fingerprint_of(collection) if items is None else None
    answers: dict[str, ClassName] = {}
    for listed in list_campaigns(storage):
        with open_campaign(storage, listed.name) as campaign:
            source = campaign.settings.source
            if source is not None and (items is not None or source.fingerprint == fingerprint):
                answers |= known_answers(campaign)
    shown = items if items is not None else [row_item(place) for place in range(len(collection))]
    labels = [answers.get(_mark(item)) for item in shown]
    if all(label is None for label in labels):
        raise InputError(
            f"{path} has no label for these items: it has no pick of the same items, or no answer yet."
        )
    return collection.with_labels(labels)


def row_item(place: int) -> dict[str, Any]:
    """What is shown of an item that has no fields."""
    return {"row": place + 1}
