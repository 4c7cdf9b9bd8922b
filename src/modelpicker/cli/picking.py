"""One collection played until its end, its budget or a proof, with labels that are looked up."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import modelpicker
from modelpicker.algorithms import Algorithm, Trace
from modelpicker.algorithms.registry import find_algorithm
from modelpicker.campaigns.offline import USUAL_GAP, Goal, Run, shuffled, suited_options
from modelpicker.campaigns.results.gaps import measure
from modelpicker.campaigns.results.status import Facts, Status, find_status, in_short
from modelpicker.certificates.certificate import Certificate, Certified
from modelpicker.cli.journal import Journal
from modelpicker.cli.shared.algorithm_options import make_algorithm
from modelpicker.cli.shared.terminal import progress, waiting
from modelpicker.collections import ModelCollection
from modelpicker.collections.wide_tables import CollectionReader
from modelpicker.encoding import Array


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
    labelled: dict[int, Any] = field(default_factory=dict)
    """Rounds whose label is known, with which models were wrong."""
    passed_over: int = 0
    """How many rounds had a chance of being asked about, and were not."""

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
        labels = [self.labels_used] * len(picker.models)
        measured = measure(picker, picker.rounds, without, labels, {}, self.labelled)
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
        found = self.certificate_for(rule)
        return found.gap <= rule.gap if own else rule.met_by(found)

    def certificate_for(self, rule: Certified) -> Certificate:
        """How sure the pick is, in the terms of a rule."""
        return self.picker.certificate(rule.confidence, rule.kind)

    @property
    def state(self) -> Status:
        """Where this stands, why, and what to do next."""
        wanted = self.settings.wanted
        rule = self.goal or Certified(USUAL_GAP, wanted.confidence, wanted.kind)
        return find_status(
            Facts(
                rounds=self.rounds,
                labels=self.labels_used,
                pending=self.pending,
                budget=self.settings.budget,
                items=self.to_play,
                proved=in_short(self.certificate_for(rule)) if self._proved(rule) else "",
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


def look_up(source: ModelCollection | CollectionReader, settings: Settings) -> Pick:
    """Play a collection whose labels are known, batch by batch, until there is nothing more to buy or to prove."""
    picker = make_picker(source, settings)
    written = header(source, settings, picker, "looked up") | {"play_unlabelled": settings.play_unlabelled}
    journal = Journal(settings.out, written)
    order = shuffled(len(source), settings.seed) if settings.shuffle else None
    goal = Goal(settings.budget, settings.stop_when, settings.wanted)
    run = Run(source, picker, goal, order, settings.play_unlabelled)
    result = Pick(settings, picker, len(source), run.to_play, unanswered=run.unanswered, labelled=run.labelled)
    journal.start_anew()
    try:
        with progress("Playing", result.to_play) as bar:
            for trace, piece, places in run.play():
                journal.write_lines(list(_lines(trace, piece, result, places)))
                result.passed_over += int(((trace.probability > 0.0) & ~trace.queried).sum())
                bar.advance(bar.task_ids[0], len(trace))
        spent_at_the_end = run.stopped == "budget" and result.rounds == result.to_play
        result.stopped = "end" if spent_at_the_end else run.stopped
        journal.write(summary(result))
    finally:
        journal.close()
    return result


def in_order(whole: ModelCollection, settings: Settings) -> tuple[ModelCollection, list[int] | None]:
    """The items in the order in which they are played, and where each stands in the file if they are shuffled."""
    if not settings.shuffle:
        return whole, None
    order = shuffled(len(whole), settings.seed)
    return whole.take(order), order.tolist()


def make_picker(source: ModelCollection | CollectionReader, settings: Settings, *, asks: bool = False) -> Algorithm:
    """The algorithm that was asked for; label efficient has to know how often models disagree."""
    with waiting("Looking at the models"):
        everything = settings.play_unlabelled or asks
        suited = suited_options(
            source, find_algorithm(settings.algorithm), settings.budget, play_unlabelled=everything
        )
    return make_algorithm(
        settings.algorithm, source.models, settings.seed, suited | settings.options, classes=len(source.classes)
    )


def fingerprint_of(source: ModelCollection | CollectionReader) -> str:
    """What stands for the models, the items and their predictions; labels may become known while people answer."""
    if isinstance(source, ModelCollection):
        bare = ModelCollection.of_codes(source.predictions, None, source.models, source.classes)
        return bare.fingerprint
    return source.fingerprint


def header(
    source: ModelCollection | CollectionReader, settings: Settings, picker: Algorithm, labels: str
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
        "fingerprint": fingerprint_of(source),
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
