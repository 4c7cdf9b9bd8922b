"""One collection played until its end, its budget or a proof, with labels that are looked up."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import modelpicker
from modelpicker.algorithms import Algorithm, Trace, run_stream
from modelpicker.campaigns.gaps import measure
from modelpicker.campaigns.status import Facts, Status, find_status, in_short
from modelpicker.cli.choosing import make_algorithm
from modelpicker.cli.journal import Journal
from modelpicker.cli.terminal import progress, waiting
from modelpicker.collections import ModelCollection
from modelpicker.collections.codes import ABSTAINED, Array
from modelpicker.collections.wide import WideReader
from modelpicker.guarantees.certificate import Certificate, Certified

# Rounds that are played and written together.
PIECE = 2**14
# What counts as certified where nobody named a goal: within 1 %.
USUAL_GAP = 0.01


@dataclass(frozen=True)
class Settings:
    """What the command line asked for."""

    source: str
    algorithm: str
    options: dict[str, Any]
    budget: int | None
    stop_when: Certified | None
    wanted: Certified
    """What certificate is told in the end."""
    seed: int
    shuffle: bool
    out: Path
    play_unlabelled: bool = False
    """Whether items without a label are played where labels are looked up: asking about one is a skip."""


@dataclass
class Pick:
    """What came of it."""

    settings: Settings
    picker: Algorithm
    items: int
    """How many items the file has."""
    to_play: int
    """How many of them are played: those with a label, where labels are looked up."""
    stopped: str = "end"
    """Why: at the `end` of the stream, the `budget` was spent, it was `certified` or `won`, or a person `quit`."""
    known: int = 0
    """How many of the labels were known before, where a person is asked."""
    unanswered: dict[int, float] = field(default_factory=dict)
    """Rounds whose label was asked for and is not there, with the probabilities of their queries."""

    @property
    def rounds(self) -> int:
        """How many rounds were decided."""
        return self.picker.rounds

    @property
    def labels_used(self) -> int:
        """How many labels were used."""
        return self.picker.labels_used

    @property
    def skipped(self) -> int:
        """How many labels were asked for and not there."""
        return len(self.unanswered)

    @property
    def pending(self) -> int:
        """How many questions are open: the one that a person quit at."""
        return len(self.picker.open_queries)

    @property
    def algorithm(self) -> str:
        """Its name."""
        return self.settings.algorithm

    @property
    def out(self) -> Path:
        """Where every decision is written."""
        return self.settings.out

    @property
    def weighted(self) -> bool:
        """Whether losses estimate mistakes on the whole stream."""
        return self.picker.weighted

    def standing(self) -> Iterator[dict[str, Any]]:
        """The models, the pick first, then by their estimates."""
        picker = self.picker
        without = self.unanswered | {number: picker.chance_of(number) for number in picker.open_queries}
        measured = measure(picker, picker.rounds, without, [self.labels_used] * len(picker.models), {})
        best = picker.models.index(picker.recommended)
        for model in sorted(range(len(measured)), key=lambda model: (model != best, measured[model].estimate)):
            gap = measured[model].rate - measured[best].rate if self.weighted else None
            yield {"model": picker.models[model], "loss": measured[model].estimate, "gap": gap}

    @cached_property
    def certificate(self) -> Certificate:
        """How sure the pick is."""
        return self.picker.certificate(self.settings.wanted.confidence, self.settings.wanted.kind)

    @property
    def goal(self) -> Certified | None:
        """What was to be proved, if anything."""
        return self.settings.stop_when or self.picker.aim

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None where there is none."""
        return None if self.goal is None else self._proved(self.goal)

    def _proved(self, rule: Certified) -> bool:
        if not self.labels_used:
            return False
        own = self.picker.aim is not None  # a race that is won has proved its goal, however few rounds that took
        return self.certificate.gap <= rule.gap if own else rule.met_by(self.certificate)

    @property
    def state(self) -> Status:
        """Where this stands, why, and what to do next."""
        wanted = self.settings.wanted
        usual = Certified(USUAL_GAP, wanted.confidence, wanted.kind)
        return find_status(
            Facts(
                rounds=self.rounds,
                labels=self.labels_used,
                pending=self.pending,
                budget=self.settings.budget,
                items=self.to_play,
                proved=in_short(self.certificate) if self._proved(self.goal or usual) else "",
                won=self.picker.won,
            )
        )

    def tied(self) -> list[str]:
        """The models with the smallest estimate; several, where labels do not tell them apart yet."""
        losses = self.picker.losses
        return [str(name) for name, loss in zip(self.picker.models, losses, strict=True) if loss == losses.min()]

    def document(self) -> dict[str, Any]:
        """The result for programs."""
        return {
            "pick": self.picker.recommended if self.labels_used else None,
            "algorithm": self.algorithm,
            "options": dict(self.picker.options),
            "seed": self.settings.seed,
            "items": self.items,
            "items_played": self.to_play,
            "rounds": self.rounds,
            "labels_used": self.labels_used,
            "labels_known": self.known,
            "pending": self.pending,
            "skipped": self.skipped,
            "budget": self.settings.budget,
            "stopped": self.stopped,
            "goal": None if self.goal is None else self.goal.document(),
            "reached": self.reached,
            "state": self.state.document(),
            "certificate": self.certificate.document(),
            "standing": list(self.standing()),
            "out": str(self.out),
        }


def look_up(source: ModelCollection | WideReader, settings: Settings) -> Pick:
    """Play a collection whose labels are known, batch by batch, until there is nothing more to buy or to prove."""
    picker = make_picker(source, settings)
    written = header(source, settings, picker, "looked up") | {"play_unlabelled": settings.play_unlabelled}
    journal = Journal(settings.out, written)
    result = Pick(settings, picker, len(source), len(source) if settings.play_unlabelled else known_labels(source))
    journal.start_anew()
    try:
        with progress("Playing", result.to_play) as bar:
            for piece, places in _pieces(source, settings):
                done = _play(result, piece)
                journal.write_lines(list(_lines(done, piece, result, places)))
                _note_skips(result, done, piece)
                bar.advance(bar.task_ids[0], len(done))
                if result.stopped != "end":
                    break
        if result.rounds == result.to_play and result.stopped == "budget":
            result.stopped = "end"
        journal.write(summary(result))
    finally:
        journal.close()
    return result


def known_labels(source: ModelCollection | WideReader) -> int:
    """How many items have a label."""
    return source.labels_known if isinstance(source, WideReader) else source.labelled


def _play(result: Pick, piece: ModelCollection) -> Trace:
    """Play one piece, or as much of it as the budget pays for."""
    picker, budget, rule = result.picker, result.settings.budget, result.settings.stop_when
    before = None if budget is None else picker.state_dict()
    left = 0 if budget is None else budget - picker.labels_used
    trace = run_stream(picker, piece, stop_when=rule)
    if trace.certificate is not None or picker.finished:
        result.stopped = "won" if picker.finished else "certified"
    if budget is None or trace.labels_used < left or (trace.labels_used == left and result.stopped != "end"):
        return trace
    bought = trace.queried & (np.asarray(piece.labels)[: len(trace)] >= 0)
    last = int(np.flatnonzero(bought)[left - 1])
    result.picker = type(picker).from_state_dict(before)
    result.stopped = "budget"
    return run_stream(result.picker, piece.take(np.arange(last + 1)))


def _note_skips(result: Pick, trace: Trace, piece: ModelCollection) -> None:
    """Note which of the labels that were asked for are not there."""
    first = result.rounds - len(trace)
    for place in np.flatnonzero(trace.queried & (np.asarray(piece.labels)[: len(trace)] < 0)).tolist():
        result.unanswered[first + place] = float(trace.probability[place])


def _pieces(source: ModelCollection | WideReader, settings: Settings) -> Iterator[tuple[ModelCollection, Array]]:
    """The items that are played, in pieces small enough to show progress; and where in the file they are."""
    first = 0
    if settings.shuffle:
        whole = source.read() if isinstance(source, WideReader) else source
        batches, order = iter([whole]), shuffled(len(whole), settings.seed)
    else:
        batches, order = source.batches(fields=False), None
    for batch in batches:
        labels = np.full(len(batch), ABSTAINED) if batch.labels is None else np.asarray(batch.labels)
        places = np.arange(len(batch)) if order is None else order
        if not settings.play_unlabelled:
            places = places[labels[places] != ABSTAINED]
        for start in range(0, len(places), PIECE):
            some = places[start : start + PIECE]
            yield (
                ModelCollection.of_codes(batch.predictions[some], labels[some], batch.models, batch.classes),
                some + first,
            )
        first += len(batch)


def shuffled(items: int, seed: int) -> Array:
    """A random order of the items, the same for the same seed."""
    return np.random.Generator(np.random.Philox(seed)).permutation(items)


def in_order(whole: ModelCollection, settings: Settings) -> tuple[ModelCollection, list[int] | None]:
    """The items in the order in which they are played, and where each stands in the file if they are shuffled."""
    if not settings.shuffle:
        return whole, None
    order = shuffled(len(whole), settings.seed)
    return whole.take(order), order.tolist()


def make_picker(source: ModelCollection | WideReader, settings: Settings) -> Algorithm:
    """The algorithm that was asked for; label efficient has to know how often models disagree."""
    divided = 0
    if settings.algorithm == "label-efficient" and settings.budget is not None:
        with waiting("Counting disagreements"):
            for batch in source.batches(fields=False):
                divided += int((batch.predictions != batch.predictions[:, :1]).any(axis=1).sum())
    return make_algorithm(
        settings.algorithm,
        source.models,
        settings.seed,
        settings.options,
        classes=len(source.classes),
        budget=settings.budget,
        divided=divided,
    )


def header(
    source: ModelCollection | WideReader, settings: Settings, picker: Algorithm, labels: str
) -> dict[str, Any]:
    """The first line of a result: everything that decides what follows."""
    return {
        "version": modelpicker.__version__,
        "labels": labels,
        "algorithm": settings.algorithm,
        "seed": settings.seed,
        "shuffle": settings.shuffle,
        "options": dict(picker.options),
        "budget": settings.budget,
        "stop_when": None if settings.stop_when is None else settings.stop_when.document(),
        "collection": settings.source,
        "models": list(source.models),
        "classes": list(source.classes),
        "items": len(source),
        "fingerprint": source.fingerprint,
    }


def summary(result: Pick) -> dict[str, Any]:
    """The last line of a result."""
    document = result.document()
    return {key: document[key] for key in ("pick", "rounds", "labels_used", "skipped", "stopped", "reached")}


def _lines(trace: Trace, piece: ModelCollection, result: Pick, places: Array) -> Iterator[str]:
    """A line of JSON per decision; built by hand, for there may be millions."""
    classes = [json.dumps(name, ensure_ascii=False) for name in (*piece.classes, None)]
    models = [json.dumps(name, ensure_ascii=False) for name in piece.models]
    start = result.rounds - len(trace)
    labels = [-1] * len(trace) if piece.labels is None else piece.labels.tolist()
    columns = (trace.queried, trace.probability, trace.predicted, trace.recommended)
    for place, (item, queried, chance, said, stood) in enumerate(
        zip(places[: len(trace)].tolist(), *(column.tolist() for column in columns), strict=True)
    ):
        number = start + place
        told = f', "label": {classes[labels[place]]}' if queried else ""
        asked = "true" if queried else "false"
        yield (
            f'{{"round": {number}, "item": {item}, "query": {asked}, "probability": {chance!r}, '
            f'"prediction": {classes[said]}, "recommended": {models[stood]}{told}}}\n'
        )
