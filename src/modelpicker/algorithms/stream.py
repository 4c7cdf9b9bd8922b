"""Whole streams at once, compiled: the same decisions as one round at a time, much faster."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms.base import Algorithm, count_spared, listed
from modelpicker.algorithms.budgets import Budget, Cap, Paced, as_budget, at_cap, kept_by, pace_spent
from modelpicker.algorithms.run_modes import (
    CERTIFIED_ROWS,
    CERTIFIED_STREAM,
    PACED_CERTIFIED_ROWS,
    PACED_CERTIFIED_STREAM,
    PACED_STREAM,
    STREAM,
    Watched,
)
from modelpicker.algorithms.runner import (
    BUDGET,
    CERTIFIED,
    END,
    UNREAD,
    WON,
    Outcome,
    Record,
    RunMode,
    new_outcome,
    runner,
)
from modelpicker.algorithms.stream_input import Chunk, LookUpLabel, StreamInput
from modelpicker.certificates.certificate import Certificate, Certified
from modelpicker.certificates.leader_rows import LeaderRows
from modelpicker.certificates.recorder import Past, Played
from modelpicker.certificates.stop_rule import LABEL_NOISE
from modelpicker.certificates.stop_rules import new_watch
from modelpicker.certificates.stream_noise import check_reachable
from modelpicker.coins import draw_coins
from modelpicker.encoding import ClassName, ModelName
from modelpicker.errors import InputError, ModelPickerError, brief
from modelpicker.frames import Backend, as_columns, make_frame, pick_columns
from modelpicker.kernels.primitives import SKIPPED, Codes, Floats, Ints, new_scratch, no_grades

Stopped: TypeAlias = Literal["end", "budget", "certified", "won"]
# By the numbers with which the runner says so.
STOPPED: tuple[Stopped, ...] = ("end", "budget", "certified", "won")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trace:
    """Everything a picker decided over the rounds of one call; arrays hold indices, an entry per round.

    >>> import numpy as np
    >>> import modelpicker as mp
    >>> labels = np.random.default_rng(0).integers(0, 2, 500)
    >>> wrong = np.random.default_rng(1).random((500, 3)) < [0.3, 0.2, 0.1]
    >>> rows = labels[:, None] ^ wrong
    >>> trace = mp.run_stream(mp.ModelPicker(3, seed=0), rows, labels)
    >>> trace.labels_used == int(trace.queried.sum()), trace.winner
    (True, 2)
    """

    queried: npt.NDArray[np.bool_]
    probability: Floats
    recommended: Codes
    """The model that stood best before the round's label."""
    predicted: Ints
    """The class predicted for the round, -1 if the model that spoke abstained."""
    losses: Floats
    """The estimates after the last round."""
    labels_used: int
    """Labels learned in this call; skipped queries are not among them."""
    winner: ModelName
    """The model that stands best after the last round."""
    classes: tuple[ClassName, ...] | None
    """What the numbers in `predicted` stand for; None where they are the classes themselves."""
    certificate: Certificate | None = None
    """What `stop_when` stopped the stream by; None if it did not."""
    stopped: Stopped = "end"
    """Why it ended: at the `end` of the stream, because the `budget` was spent, it was `certified` or `won`."""

    def __len__(self) -> int:
        return len(self.queried)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """One row per round; models and classes are places, as in the arrays.

        A data frame of "pandas", "polars" or "pyarrow": by default of pandas if it is installed, else of PyArrow.

        >>> import numpy as np
        >>> import modelpicker as mp
        >>> labels = np.random.default_rng(0).integers(0, 2, 500)
        >>> wrong = np.random.default_rng(1).random((500, 3)) < [0.3, 0.2, 0.1]
        >>> rows = labels[:, None] ^ wrong
        >>> trace = mp.run_stream(mp.ModelPicker(3, seed=0), rows, labels)
        >>> trace.to_frame("pyarrow").num_rows
        500
        """
        names = ("queried", "probability", "recommended", "predicted")
        columns = {"round": range(len(self)), **{name: getattr(self, name) for name in names}}
        return make_frame(columns, backend)

    def __repr__(self) -> str:
        return f"Trace(rounds={len(self)}, labels_used={self.labels_used}, winner={self.winner!r})"


class StopRule(NamedTuple):
    """When a stream is stopped early, if at all, and how many labels may be wrong."""

    rule: Certified | None
    label_noise: float


class Batches(Protocol):
    """Predictions that come in consecutive pieces, such as a collection or a file that is read batch by batch."""

    @property
    def models(self) -> Sequence[str]:
        """The names of the columns."""

    @property
    def classes(self) -> Sequence[ClassName]:
        """What the codes stand for."""

    def batches(self) -> Iterable[Any]:
        """The pieces: each has `predictions` and `labels`, codes in the order of the classes."""


def run_stream(
    picker: Algorithm,
    predictions: object,
    labels: object = None,
    *,
    budget: int | Budget | None = None,
    stop_when: Certified | None = None,
    label_noise: float = 0.0,
) -> Trace:
    """Let a picker decide a whole stream, and learn each label it asks for before the next round.

    A picker that stops by itself, such as `Race`, plays no round after that: the trace ends there.

    Args:
        picker: moved on by the rounds of the stream; after an error it is as it was.
        predictions: a row per round, a column per model: class codes or strings, -1 or None for an abstention,
            `mp.NOT_RUN` for a model that was not asked. Or a collection with its labels, or one that is read batch
            by batch; or a data frame whose columns are called as the models, with the labels in a column `label`.
        labels: one per round, in the form of the predictions, or an `mp.Label`; -1 or None is a skip. Or a
            function,
            which is asked for a label when it is bought, and only then: it gets the place of the row, from 0 up.
            The rounds are then interpreted, without Numba.
        budget: at most this many labels are bought in this call: the trace ends with the round that spends the
            last.
            A number is a cap: the picker asks as it would without. `Budget(200, "paced", rounds=5_000)` makes the
            labels last for the stream.
        stop_when: where to stop early: after the first round with a certificate that is good enough. The trace ends
            there, and holds the certificate.
        label_noise: the probability that a label is wrong, at most: that certificate allows for it, so it takes
            more labels, or is never reached.

    >>> import numpy as np
    >>> import modelpicker as mp
    >>> labels = np.random.default_rng(0).integers(0, 2, 500)
    >>> wrong = np.random.default_rng(1).random((500, 3)) < [0.3, 0.2, 0.1]
    >>> rows = labels[:, None] ^ wrong
    >>> picker = mp.ModelPicker(["small", "medium", "large"], seed=0)
    >>> trace = mp.run_stream(picker, rows, labels)
    >>> len(trace), trace.labels_used, picker.recommended
    (500, 25, 'large')
    """
    if not isinstance(picker, Algorithm):
        raise InputError(f"{brief(picker)} is not a picker; pass an algorithm such as mp.ModelPicker(models=8).")
    _check_rule(picker, stop_when)
    goal = StopRule(stop_when, float(LABEL_NOISE.check(label_noise)))
    check_reachable(*goal)
    allowed = as_budget(budget)
    kept = kept_by(allowed, picker.rounds, picker.labels_used, spread=picker.spreads)
    if hasattr(predictions, "batches"):
        return _run_batches(picker, cast("Batches", predictions), labels, goal, kept)
    columns = as_columns(predictions)
    if columns is not None:
        predictions, told = pick_columns(columns, picker.models)
        labels = told if labels is None else labels
    if labels is None:
        raise InputError(
            "labels: None is not a table; pass a list with one label per round, -1 where there is none."
        )
    with picker.all_or_nothing():
        return _run(picker, StreamInput(predictions, labels, len(picker.models), picker.loss), goal, kept)


def _check_rule(picker: Algorithm, stop_when: object) -> None:
    """A stopping rule that could ever hold."""
    if stop_when is None:
        return
    if not isinstance(stop_when, Certified):
        raise InputError(f"stop_when={brief(stop_when)}: pass a rule such as mp.Certified(gap=0.01).")
    if picker.aim is not None:
        raise InputError(
            f"stop_when={brief(stop_when)}: {picker.name} stops by itself, with a statement of its own; "
            "say how good it is to be when you make it: tolerance=0.01, confidence=0.95."
        )
    if not picker.recorder.watches:
        raise InputError(f"stop_when={brief(stop_when)}: {picker.certificate().sentence}")


def _run_batches(picker: Algorithm, source: Batches, labels: object, goal: StopRule, budget: Cap | Paced) -> Trace:
    """Play a collection piece by piece; the trace is that of the whole."""
    look_up = labels if callable(labels) else None
    if labels is not None and look_up is None:
        raise InputError("a collection has labels of its own; pass those, or arrays of predictions and labels.")
    if look_up is None and not getattr(source, "labelled", True):
        raise InputError("the collection has no labels to learn from; add them with with_labels(...) or labels=.")
    names = list(source.models)
    if list(picker.models) not in (names, list(range(len(names)))):
        raise InputError(
            f"the picker has {len(picker.models)} models, {brief(list(picker.models))}, but the collection's are "
            f"{brief(names)}; make the picker with models=collection.models."
        )
    before = picker.labels_used
    parts: list[Trace] = []
    with picker.all_or_nothing():
        for batch in source.batches():
            predictions, known = _piece(batch)
            labels = known if look_up is None else _shifted(look_up, sum(map(len, parts)))
            parts.append(_run(picker, StreamInput(predictions, labels, len(names), picker.loss), goal, budget))
            if parts[-1].stopped != "end":
                break
    return Trace(
        queried=np.concatenate([part.queried for part in parts]),
        probability=np.concatenate([part.probability for part in parts]),
        recommended=np.concatenate([part.recommended for part in parts]),
        predicted=np.concatenate([part.predicted for part in parts]),
        losses=picker.losses,
        labels_used=picker.labels_used - before,
        winner=picker.recommended,
        classes=tuple(source.classes),
        certificate=parts[-1].certificate,
        stopped=parts[-1].stopped,
    )


def _shifted(look_up: LookUpLabel, first: int) -> LookUpLabel:
    """Labels of a piece that begins at row `first` of the whole."""
    return lambda place: look_up(first + place)


def _piece(batch: Any) -> tuple[Any, Any]:
    """Predictions and labels of a batch."""
    if batch.labels is None:
        unknown = np.full(len(batch.predictions), SKIPPED)
        return batch.predictions, unknown
    return batch.predictions, batch.labels


def _run(picker: Algorithm, stream: StreamInput, goal: StopRule, budget: Cap | Paced) -> Trace:
    """Move the picker on by a stream, or until it may stop."""
    outcome = new_outcome(len(stream))
    labels_before = picker.labels_used
    if goal.rule is not None:
        picker.recorder.own()
    done = 0
    stopped: Stopped = "won" if picker.finished else "end"
    for chunk in () if stopped != "end" else stream.chunks():
        done, stopped = _play(picker, stream, chunk, outcome, goal, budget)
        stop = chunk.start + len(chunk.rows)
        if done < stop and stopped == "end":
            done, stopped = _play(picker, stream, stream.retry(done, stop), outcome, goal, budget)
        if stopped != "end":
            break
        if done < stop:
            raise ModelPickerError(f"row {done} could not be played; please report this as a bug.")
    columns: list[npt.NDArray[Any]] = [column[:done] for column in outcome]
    played = Outcome(*columns)
    predicted, classes = stream.decode(played.predicted)
    return Trace(
        queried=played.queried,
        probability=played.probability,
        recommended=played.recommended,
        predicted=predicted,
        losses=picker.losses,
        labels_used=picker.labels_used - labels_before,
        winner=picker.recommended,
        classes=classes,
        certificate=(
            picker.certificate(goal.rule.confidence, goal.rule.kind, label_noise=goal.label_noise)
            if goal.rule and stopped == "certified"
            else None
        ),
        stopped=stopped,
    )


def _mode(
    picker: Algorithm, outcome: Outcome, goal: StopRule, budget: Cap | Paced, *, interpreted: bool
) -> tuple[RunMode, Record]:
    """How the runner plays this stream, and what it writes to."""
    paced = isinstance(budget, Paced)
    if goal.rule is None:
        return PACED_STREAM if paced else STREAM, outcome
    evidence, unit, noise = picker.recorder.take_in(), picker.loss.unit, goal.label_noise
    watch = new_watch(goal.rule, evidence, unit=unit, label_noise=noise, interpreted=interpreted)
    if isinstance(evidence, LeaderRows):
        return PACED_CERTIFIED_ROWS if paced else CERTIFIED_ROWS, Watched(outcome, watch)
    return PACED_CERTIFIED_STREAM if paced else CERTIFIED_STREAM, Watched(outcome, watch)


def _play(
    picker: Algorithm, stream: StreamInput, chunk: Chunk, outcome: Outcome, goal: StopRule, budget: Cap | Paced
) -> tuple[int, Stopped]:
    """Move the picker on by one chunk, as far as its codes can be taken; how far, and why it stopped there.

    With a stop rule for many models it goes in pieces: until evidence must be looked for.
    """
    done, stop = chunk.start, chunk.start + len(chunk.rows)
    while True:
        room = None if goal.rule is None else picker.recorder.room
        piece = _cut(chunk, done, stop if room is None else min(stop, done + room))
        done, reason = _play_piece(picker, stream, piece, outcome, goal, budget)
        unplayable = reason == END and done < piece.start + len(piece.rows)
        if reason == UNREAD:
            reason = _look(picker, goal, budget)
        if reason != END or unplayable or done == stop:
            return done, STOPPED[reason]


def _cut(chunk: Chunk, start: int, stop: int) -> Chunk:
    """Some consecutive rows of a chunk."""
    part = slice(start - chunk.start, stop - chunk.start)
    return chunk._replace(start=start, rows=chunk.rows[part], labels=chunk.labels[part])


def _look(picker: Algorithm, goal: StopRule, budget: Cap | Paced) -> int:
    """Whether to stop after the last round, and why: as the runner would have it, had it the evidence."""
    if goal.rule is not None:
        best, models = picker.models.index(picker.recommended), len(picker.models)
        if picker.recorder.meets(best, goal.rule, Past(models), goal.label_noise):
            return CERTIFIED
    if picker.finished:
        return WON
    spent = pace_spent if isinstance(budget, Paced) else at_cap
    return BUDGET if spent(budget, picker.labels_used) else END  # type: ignore[arg-type]


def _play_piece(
    picker: Algorithm,
    stream: StreamInput,
    chunk: Chunk,
    outcome: Outcome,
    goal: StopRule,
    budget: Cap | Paced,
) -> tuple[int, int]:
    """Move the picker on by a piece of a chunk; how far, and why the runner stopped there."""
    stop = chunk.start + len(chunk.rows)
    columns: list[npt.NDArray[Any]] = [column[chunk.start : stop] for column in outcome]
    part = Outcome(*columns)
    first, looked_up = picker.rounds, stream.asked(chunk)
    mode, record = _mode(picker, part, goal, budget, interpreted=looked_up is not None)
    played_by = runner(picker.kernel, mode)
    labels = chunk.labels if looked_up is None else looked_up.codes
    scratch = new_scratch(len(picker.models), chunk.classes, chunk.graded)
    if looked_up is None:
        coins = picker.next_coins(len(chunk.rows))
        done, reason = played_by.play(
            *(picker.state, picker.told, picker.clock, chunk.rows, labels, coins),
            *(picker.first_spare, picker.scale, scratch, budget, record),
        )
    else:
        coins = draw_coins(picker.seed, first, len(chunk.rows))  # not by a compiled kernel
        done, reason = played_by.play_interpreted(
            *(*picker.views, chunk.rows.data, looked_up, coins.data),
            *(picker.first_spare, picker.scale, listed(scratch)._replace(graded=looked_up.graded), budget, record),
        )
    picker.spared[0] += count_spared(chunk.rows[:done])
    graded = chunk.graded if looked_up is None else looked_up.table(len(picker.models))
    known = no_grades(len(picker.models)) if graded is None else graded
    queried, chances = part.queried[:done], part.probability[:done]
    if goal.rule is None:
        picker.recorder.saw_stream(chunk.rows[:done], first, labels[:done], queried, chances, graded=known)
    else:  # a stop rule takes rounds into the evidence as they go by
        picker.recorder.grown_by(Played(chunk.rows[:done], first, labels[:done], queried, chances, None, known))
    if chunk.names is not None:
        said = part.predicted[:done]
        said[...] = np.where(said < 0, said, chunk.names[said])
    return chunk.start + done, reason
