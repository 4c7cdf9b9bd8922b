"""A picker's evidence: noted as rounds go by, and taken in when it is asked for, or when there is much of it.

Evidence decides nothing, so rounds are only written down, one by one or by whole streams, and the kernels that take
them in are called for many at once; who never asks for a certificate hardly pays for it. What is kept never changes
under anybody's hands: who remembers `kept` can put it back.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from modelpicker.certificates.certificate import (
    KINDS,
    Certificate,
    CertificateKind,
    Certified,
    bar_for,
    check_confidence,
    check_kind,
    listed_tables,
    state,
)
from modelpicker.certificates.entry_log import for_kernel, narrow
from modelpicker.certificates.evidence import (
    ANSWERED,
    ASKED,
    CLOSED,
    CONTESTED,
    NOT_YET,
    PASSED,
    ROUNDS,
    TOLD,
    no_evidence,
)
from modelpicker.certificates.evidence_kernels import (
    SOME,
    AnyEvidence,
    Entries,
    EvidenceKernels,
    each,
    evidence_kernels,
    listed_room,
    no_entries,
    steps_of,
    viewed,
)
from modelpicker.certificates.stream_noise import stream_noise, told_confidence, widened_by
from modelpicker.encoding import ModelName
from modelpicker.errors import StateError
from modelpicker.kernels.primitives import GRADED, SKIPPED, Codes, Floats, Grades, Ints, no_grades
from modelpicker.losses import ACCURATE, Loss
from modelpicker.packing import compressed, decompressed

# Entries that are written down one by one before they are taken in: that many, or as many as take a moment.
LONGEST_BLOCK, SHORTEST_BLOCK = 256, 16
# Bytes of streams that are kept before they are taken in.
MOST_BYTES = 2**25


class Played(NamedTuple):
    """Rounds that went by together, from `first` on, each with its label or SKIPPED."""

    rows: npt.NDArray[Any]
    first: int
    labels: Codes
    queried: npt.NDArray[np.bool_]
    probability: Floats
    closed: npt.NDArray[np.bool_] | None
    graded: Grades

    def entries(self) -> Entries:
        """The same, an entry per round."""
        kinds = np.where(self.queried, np.where(self.labels != SKIPPED, ANSWERED, ASKED), PASSED)
        if self.closed is not None:
            kinds[self.closed] = CLOSED
        return Entries(
            rows=self.rows,
            numbers=np.arange(self.first, self.first + len(self.rows)),
            labels=np.ascontiguousarray(self.labels, dtype=np.int32),
            probabilities=self.probability,
            kinds=kinds.astype(np.int32),
            graded=self.graded,
        )


def _with_contested(raw: bytes, arrays: list[npt.NDArray[Any]]) -> bytes:
    """Stored evidence; in that of older versions, which did not count contested rounds, all are said to be so."""
    fields, size = len(arrays[-1]), arrays[-1].itemsize
    if len(raw) != sum(array.nbytes for array in arrays) - size:
        return raw
    first = len(raw) - (fields - 1) * size
    return raw + raw[first + ROUNDS * size : first + (ROUNDS + 1) * size]


class Kept(NamedTuple):
    """Evidence that was taken in, and what was not yet: rounds in order, then single entries."""

    evidence: Any
    waiting: tuple[Any, ...]  # `Entries` or `Played`
    size: int  # bytes that wait
    entries: Entries
    written: int


class Past(NamedTuple):
    """What came of the models so far: how many ever took part, and how often that changed."""

    models: int
    changes: int = 0


class Recorder:
    """What a picker has seen of every two of its models; of many models, a `LeaderRecorder` keeps less.

    Args:
        models: how many.
        since: the first round of each; by default all begin with the first.
        loss: what statements are about; by default of accuracy.
    """

    def __init__(self, models: int, since: Ints | None = None, loss: Loss = ACCURATE) -> None:
        self.models = models
        self.loss = loss
        self.watches = True
        self._since = since
        self._block = max(SHORTEST_BLOCK, min(LONGEST_BLOCK, SOME // steps_of(models)))
        self._rival = 0  # who stood in the way of a certificate when last asked
        self.most_bytes = MOST_BYTES
        self.kept = self._blank(None)

    @property
    def kernels(self) -> EvidenceKernels:
        """What takes entries in, and reads gaps."""
        return evidence_kernels()

    def put_back(self, kept: Kept) -> None:
        """What was kept before counts again."""
        self.kept = kept

    def _blank(self, evidence: Any, waiting: tuple[Entries | Played, ...] = (), size: int = 0) -> Kept:
        return Kept(evidence, waiting, size, no_entries(self.models, self._block), 0)

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        arrays = (*(self.kept.evidence or ()), *self.kept.entries)
        return self.kept.size + sum(int(array.nbytes) for array in arrays)

    def saw(self, codes: list[int], number: int, probability: float, query: bool, closed: bool = False) -> None:
        """Note a round; `closed` if it was clear before its row was known that it would not be queried."""
        self._write(codes, number, SKIPPED, probability, CLOSED if closed else ASKED if query else PASSED)

    def told(
        self, codes: list[int], number: int, label: int, probability: float, losses: Sequence[float] = ()
    ) -> None:
        """Note the label of a round that was queried; if it is GRADED, with the loss of each model."""
        self._write(codes, number, label, probability, TOLD, losses)

    def _write(
        self,
        codes: list[int],
        number: int,
        label: int,
        probability: float,
        kind: int,
        losses: Sequence[float] = (),
    ) -> None:
        if not self.watches:
            return
        if self.kept.written == self._block:
            self.make_room()
        entries, place = self.kept.entries, self.kept.written
        entries.rows[place] = codes
        entries.numbers[place] = number
        if label == GRADED:
            entries.graded[place] = losses
            label = GRADED - place
        entries.labels[place] = label
        entries.probabilities[place] = probability
        entries.kinds[place] = kind
        self.kept = self.kept._replace(written=place + 1)

    def make_room(self) -> None:
        """Put what was written down one by one in its place."""
        self.take_in()

    def saw_stream(
        self,
        rows: npt.NDArray[Any],
        first: int,
        labels: Codes,
        queried: npt.NDArray[np.bool_],
        probability: Floats,
        closed: npt.NDArray[np.bool_] | None = None,
        graded: Grades | None = None,
    ) -> None:
        """Note rounds that went by together; `graded` has the losses that labels from GRADED down stand for."""
        if not self.watches or not len(rows):
            return
        known = no_grades(self.models) if graded is None else graded
        self.keep(Played(narrow(rows), first, labels.copy(), queried.copy(), probability.copy(), closed, known))

    def keep(self, played: Played) -> None:
        """Note rounds that went by together, in arrays of their own."""
        waiting = (*self._waiting(), played)
        size = self.kept.size + played.rows.nbytes + played.labels.nbytes + 9 * len(played.rows)
        self.kept = self._blank(self.kept.evidence, waiting, size + played.graded.nbytes)
        if size > self.most_bytes:
            self.take_in()

    def _waiting(self) -> tuple[Entries | Played, ...]:
        """All that was not taken in yet, in order."""
        kept = self.kept
        if not kept.written:
            return kept.waiting
        return *kept.waiting, each(lambda column: column[: kept.written], kept.entries)

    def take_in(self, *, in_place: bool = False) -> Any:
        """The evidence with all that was written down.

        What was kept before is left as it was, unless `in_place` says that nobody can need it any more.
        """
        evidence, waiting = self.kept.evidence, self._waiting()
        if evidence is not None and not waiting:
            return evidence
        if evidence is None:
            grown = no_evidence(
                self.models, None if self._since is None else self._since.copy(), not self.loss.whole
            )
        else:
            grown = evidence if in_place else each(np.copy, evidence)
        for part in waiting:
            entries = part.entries() if isinstance(part, Played) else part
            self.kernels.take_in(grown, for_kernel(entries))
        self.kept = self._blank(grown)
        return grown

    def own(self) -> None:
        """Make the evidence a copy that may be changed in place, whatever others keep."""
        self.kept = self._blank(each(np.copy, self.take_in()))

    @property
    def room(self) -> int | None:
        """How many rounds may be added to the evidence in place before something is due; None for any number."""
        return None

    def grown_by(self, played: Played) -> None:
        """Such rounds were added to the evidence in place."""

    def evidence_of(self, best: int, *, in_place: bool = False) -> Any:  # noqa: ARG002 (for those who keep rows)
        """The evidence, with all that there is of a model."""
        return self.take_in(in_place=in_place)

    def bar(self, evidence: Any, best: int, confidence: float, kind: int, past: Past) -> float | None:  # noqa: ARG002
        """The wealth that refutes a pair with a model, as a logarithm; None if its pairs are not kept."""
        return bar_for(past.models, confidence, kind, past.changes)

    def certificate(
        self,
        models: tuple[ModelName, ...],
        best: int,
        confidence: float,
        kind: CertificateKind,
        past: Past | None = None,
        label_noise: float = 0.0,
    ) -> Certificate:
        """What is known about one of the models, if each label is wrong with at most a given probability."""
        confidence = check_confidence(confidence)
        number = check_kind(kind)
        if not self.watches:
            reason = "Not proven: an older modelpicker saved no evidence for that many models."
            return Certificate(models[best], 1.0, confidence, kind, 0, None, reason, self.loss.name, label_noise)
        evidence = self.evidence_of(best)
        past = past or Past(self.models)
        gap, seen = 1.0, int(evidence.seen[ROUNDS])
        rounds = self._rounds_of(evidence, best)
        bar = self.bar(evidence, best, told_confidence(label_noise, confidence), number, past)
        if seen and bar is not None:
            found = self.kernels.gap(evidence, number, best, bar)
            wider = widened_by(
                stream_noise(label_noise, confidence, number), self._contested(evidence, past.changes), rounds
            )
            gap = min(1.0, (found + wider) * self.loss.unit)
        return state(models[best], gap, confidence, kind, seen, rounds, past.changes, self.loss, label_noise)

    @staticmethod
    def _rounds_of(evidence: AnyEvidence, best: int) -> int:
        """On how many rounds at least a model can be compared with each other one."""
        if evidence.opened.min() == NOT_YET:
            return 0
        others = np.delete(evidence.since, best)
        return int(evidence.seen[ROUNDS] - max(evidence.since[best], others.max()))

    @staticmethod
    def _contested(evidence: AnyEvidence, changes: int) -> int:
        """On how many rounds models differ; all, if models changed: that was perhaps decided by looking."""
        return int(evidence.seen[ROUNDS if changes else CONTESTED])

    @property
    def contested(self) -> int:
        """On how many rounds models differ."""
        return self._contested(self.take_in(), 0) if self.watches else 0

    def meets(self, best: int, rule: Certified, past: Past, label_noise: float = 0.0) -> bool:
        """Whether one of the models is certified as a rule wants it; quick to say no.

        Takes in what was written down in place: if that fails, the recorder must not be used any more.
        """
        if not self.watches:
            return False
        evidence = self.evidence_of(best, in_place=True)
        kind = KINDS[rule.kind]
        bar = self.bar(evidence, best, told_confidence(label_noise, rule.confidence), kind, past)
        noise, contested = stream_noise(label_noise, rule.confidence, kind), self._contested(evidence, past.changes)
        gap = rule.gap / self.loss.unit - widened_by(noise, contested, self._rounds_of(evidence, best))
        if gap < 0.0 or bar is None:
            return False
        room, views = listed_room(self.models), viewed(evidence)
        least = rule.least_rounds
        found = self.kernels.challenger(views, listed_tables(), room, kind, best, gap, least, bar, self._rival)
        self._rival = max(0, found)
        return bool(found < 0)

    def document(self) -> Any:
        """The evidence in a form that JSON can hold; None where none is kept."""
        if not self.watches:
            return None
        arrays: list[npt.NDArray[Any]] = list(self.take_in())
        portable = (array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes() for array in arrays)
        return compressed(b"".join(portable))

    @classmethod
    def load(cls, models: int, saved: Any, loss: Loss = ACCURATE) -> Self:
        """What `document` described; an error if it cannot be."""
        made = cls(models, loss=loss)
        arrays: list[npt.NDArray[Any]] = list(made.take_in())
        try:
            raw = _with_contested(decompressed(saved), arrays)
            if len(raw) != sum(array.nbytes for array in arrays):
                raise ValueError(f"it has {len(raw)} bytes")
        except ValueError as error:
            raise StateError(f"the evidence of this state is damaged: {error}; save it again.") from error
        start = 0
        for array in arrays:
            stored = np.frombuffer(raw, array.dtype.newbyteorder("<"), array.size, start)
            array[...] = stored.reshape(array.shape)
            start += array.nbytes
        loaded = made.take_in()
        if not (np.isfinite(loaded.places).all() and np.isfinite(loaded.labels).all()):
            raise StateError("the evidence of this state is damaged: it is not finite; save it again.")
        return made
