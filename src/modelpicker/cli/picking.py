"""One collection played to its end or to its budget, its labels looked up; every decision is written down."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import modelpicker
from modelpicker.algorithms import Algorithm, Trace, run_stream
from modelpicker.cli.choosing import make_algorithm
from modelpicker.cli.journal import Journal
from modelpicker.cli.terminal import progress, waiting
from modelpicker.collections import ModelCollection
from modelpicker.collections.wide import WideReader
from modelpicker.guarantees.certificate import Certificate, Certified

# Rounds that are played and written together.
PIECE = 2**14


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


@dataclass
class Pick:
    """What came of it."""

    settings: Settings
    picker: Algorithm
    items: int
    skipped: int = 0
    stopped: str = "end"
    """Why: at the `end` of the stream, the `budget` was spent, the pick was `certified`, or a person `quit`."""

    @property
    def rounds(self) -> int:
        """How many rounds were decided; one that a person quit at is asked again."""
        return self.picker.rounds - len(self.picker.open_queries)

    @property
    def labels_used(self) -> int:
        """How many labels were bought."""
        return self.picker.labels_used

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
        losses = self.picker.losses
        best = self.picker.models.index(self.picker.recommended)
        order = sorted(range(len(losses)), key=lambda model: (model != best, losses[model]))
        for model in order:
            loss = float(losses[model])
            gap = (
                (loss - float(losses[best])) / (self.picker.counted(self.rounds) or 1.0) if self.weighted else None
            )
            yield {"model": self.picker.models[model], "loss": loss, "gap": gap}

    @property
    def certificate(self) -> Certificate:
        """How sure the pick is."""
        return self.picker.certificate(self.settings.wanted.confidence, self.settings.wanted.kind)

    def tied(self) -> list[str]:
        """The models with the smallest estimate; several, where labels do not tell them apart yet."""
        losses = self.picker.losses
        return [str(name) for name, loss in zip(self.picker.models, losses, strict=True) if loss == losses.min()]

    def remarks(self) -> Iterator[str]:
        """What else a reader should know."""
        if self.stopped == "budget":
            yield f"The budget of {self.settings.budget:,} labels was spent there, so the rest was not looked at."
        if self.stopped == "certified":
            yield "It is certified as wanted, so the rest was not looked at."
        if self.stopped == "quit":
            yield "The same command goes on from here."
        if self.skipped:
            yield f"{self.skipped:,} labels that were asked for were not to be had."
        if self.picker.remark:
            yield self.picker.remark

    def document(self) -> dict[str, Any]:
        """The result for programs."""
        return {
            "pick": self.picker.recommended if self.labels_used else None,
            "algorithm": self.algorithm,
            "options": dict(self.picker.options),
            "seed": self.settings.seed,
            "items": self.items,
            "rounds": self.rounds,
            "labels_used": self.labels_used,
            "skipped": self.skipped,
            "stopped": self.stopped,
            "certificate": self.certificate.document(),
            "standing": list(self.standing()),
            "out": str(self.out),
        }


def look_up(source: ModelCollection | WideReader, settings: Settings) -> Pick:
    """Play a collection whose labels are known, batch by batch, until the end or until the budget is spent."""
    played, order = source, None
    if settings.shuffle:
        played, order = in_order(source.read() if isinstance(source, WideReader) else source, settings)
    picker = make_picker(source, settings)
    journal = Journal(settings.out, header(source, settings, picker, "looked up"))
    result = Pick(settings, picker, len(source))
    journal.start_anew()
    try:
        with progress("Playing", len(source)) as bar:
            for piece in _pieces(played):
                done = _play(result, piece)
                journal.write_lines(list(_lines(done, piece, result, order)))
                result.skipped += int(done.queried.sum()) - done.labels_used
                bar.advance(bar.task_ids[0], len(done))
                if result.stopped != "end":
                    break
        if result.rounds == result.items and result.stopped == "budget":
            result.stopped = "end"
        journal.write(summary(result))
    finally:
        journal.close()
    return result


def _play(result: Pick, piece: ModelCollection) -> Trace:
    """Play one piece, or as much of it as the budget pays for."""
    picker, budget, rule = result.picker, result.settings.budget, result.settings.stop_when
    before = None if budget is None else picker.state_dict()
    left = 0 if budget is None else budget - picker.labels_used
    trace = run_stream(picker, piece, stop_when=rule)
    if trace.certificate is not None:
        result.stopped = "certified"
    if budget is None or trace.labels_used < left or (trace.labels_used == left and trace.certificate is not None):
        return trace
    bought = trace.queried & (np.asarray(piece.labels)[: len(trace)] >= 0)
    last = int(np.flatnonzero(bought)[left - 1])
    result.picker = type(picker).from_state_dict(before)
    result.stopped = "budget"
    return run_stream(result.picker, piece.take(np.arange(last + 1)))


def _pieces(source: ModelCollection | WideReader) -> Iterator[ModelCollection]:
    """The collection in pieces small enough to show progress."""
    for batch in source.batches(fields=False):
        for start in range(0, len(batch), PIECE):
            stop = min(start + PIECE, len(batch))
            labels = None if batch.labels is None else batch.labels[start:stop]
            yield ModelCollection.of_codes(batch.predictions[start:stop], labels, batch.models, batch.classes)


def in_order(whole: ModelCollection, settings: Settings) -> tuple[ModelCollection, list[int] | None]:
    """The items in the order in which they are played, and where each stands in the file if they are shuffled."""
    if not settings.shuffle:
        return whole, None
    order = np.random.Generator(np.random.Philox(settings.seed)).permutation(len(whole))
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
    return {key: document[key] for key in ("pick", "rounds", "labels_used", "skipped", "stopped")}


def _lines(trace: Trace, piece: ModelCollection, result: Pick, order: list[int] | None) -> Iterator[str]:
    """A line of JSON a decision; built by hand, for there may be millions."""
    classes = [json.dumps(name, ensure_ascii=False) for name in (*piece.classes, None)]
    models = [json.dumps(name, ensure_ascii=False) for name in piece.models]
    start = result.rounds - len(trace)
    labels = [-1] * len(trace) if piece.labels is None else piece.labels.tolist()
    columns = (trace.queried, trace.probability, trace.predicted, trace.recommended)
    for place, (queried, chance, said, stood) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        number = start + place
        item = number if order is None else order[number]
        told = f', "label": {classes[labels[place]]}' if queried else ""
        asked = "true" if queried else "false"
        yield (
            f'{{"round": {number}, "item": {item}, "query": {asked}, "probability": {chance!r}, '
            f'"prediction": {classes[said]}, "recommended": {models[stood]}{told}}}\n'
        )
