"""What a picker has seen of many models: the last rounds, and rows of evidence for those that lead or may soon.

All rounds are remembered in a log, as they went by, and a row is found from it for whichever model is asked about.
When the log is full, it is *folded*: rows are found for the models with the fewest losses, and the log is emptied.
From then on these rows grow, and a model that comes to the front gets a row that begins at the next fold. So memory
and states do not grow with the rounds, nor with the pairs of models.

When a log is full depends on nothing but the rounds. So a picker that was saved, or is played at another speed,
folds in the same places.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from modelpicker.certificates import entry_log
from modelpicker.certificates.certificate import bar_for, late_bar_for
from modelpicker.certificates.evidence import NOT_YET, ROUNDS
from modelpicker.certificates.evidence_kernels import Entries, EvidenceKernels, row_kernels
from modelpicker.certificates.leader_rows import (
    ABOUT,
    CELLS,
    FORGOTTEN,
    FREE,
    LATE_ROWS,
    SHARED,
    LeaderRows,
    bar_of_row,
    begin_late,
    clear_row,
    copied,
    copy_row,
    new_rows,
    row_of,
    rows_for,
)
from modelpicker.certificates.recorder import Kept, Past, Played, Recorder
from modelpicker.errors import StateError
from modelpicker.kernels.primitives import Ints
from modelpicker.losses import ACCURATE, Loss
from modelpicker.packing import packed, unpacked

# Up to that many models all pairs are kept.
MOST_PAIRED = 32
# What a log takes, in bytes, and the fewest rounds of one; a round has a code per model and some more bytes.
LOG_BYTES, FEWEST_ROUNDS, ROUND_BYTES = 2**22, 1_000, 24
# Of the rows, that many may be given to newcomers at a fold.
NEW_SHARE = 4


class LeaderRecorder(Recorder):
    """Keeps a log and rows of evidence.

    Args:
        models: how many.
        since: the first round of each; by default all begin with the first.
        loss: what statements are about; by default of accuracy.
        late_from: no row begins before this round, other than with the stream: models had not changed last.
    """

    def __init__(self, models: int, since: Ints | None = None, loss: Loss = ACCURATE, late_from: int = 0) -> None:
        self.most_rounds = max(FEWEST_ROUNDS, LOG_BYTES // (models + ROUND_BYTES))
        self.late_from = late_from
        self._live: LeaderRows | None = None
        self._taken = 0  # entries of the log that the live rows have seen
        self._asked: dict[int, int] = {}  # when each model was last asked about
        super().__init__(models, since, loss)

    @property
    def kernels(self) -> EvidenceKernels:
        """What takes entries in, and reads gaps."""
        return row_kernels()

    @property
    def nbytes(self) -> int:
        """The memory that it takes, where rows are full."""
        blocks: list[Entries] = [*self.kept.waiting, self.kept.entries]
        log = sum(int(column.nbytes) for block in blocks for column in block)
        return log + sum(_bytes_of(rows) for rows in (self._live, self.kept.evidence) if rows is not None)

    def put_back(self, kept: Kept) -> None:
        """What was kept before counts again; the live rows may be ahead of it."""
        self.kept, self._live = kept, None

    def keep(self, played: Played) -> None:
        """Note rounds that went by together, in arrays of their own."""
        self.make_room()
        self._append(entry_log.compact(played.entries()))

    def make_room(self) -> None:
        """Move what was written down one by one to the log."""
        if self.kept.written:
            written = entry_log.cut(self.kept.entries, 0, self.kept.written)
            self.kept = self.kept._replace(written=0)
            self._append(entry_log.compact(written))

    def _append(self, block: Entries) -> None:
        """Add entries to the log; it is folded when the round comes for which there is no room."""
        while (rounds := entry_log.rounds_in(block)) > (room := self.most_rounds - self.kept.size):
            head, block = entry_log.split(block, room)
            self._add(head, room)
            self._fold()
        self._add(block, rounds)

    def _add(self, block: Entries, rounds: int) -> None:
        kept = self.kept
        waiting = (*kept.waiting, block) if len(block.kinds) else kept.waiting
        self.kept = self._blank(kept.evidence, waiting, kept.size + rounds)

    def _fold(self) -> None:
        """Find the rows of the models with the fewest losses, and forget the log."""
        if self.kept.evidence is None:
            counted = self._begun(rows=1)
            self._gather(counted)
            rows = self._begun()
            rows.leaders[...] = _fewest_losses(counted)[: len(rows.leaders)]
            self._gather(rows)
        else:
            rows = copied(self.kept.evidence)
            self._gather(rows)
            if rows.seen[ROUNDS] >= self.late_from:
                _welcome(rows)
        rows.course[FORGOTTEN] = 1
        self.kept, self._live = self._blank(rows), None

    def _begun(self, rows: int = 0) -> LeaderRows:
        """Rows without a leader, that have seen nothing."""
        since = None if self._since is None else self._since.copy()
        return new_rows(self.models, since, not self.loss.whole, rows)

    def _gather(self, rows: LeaderRows, start: int = 0) -> int:
        """Take the log in, from an entry on; how many entries there are."""
        passed = 0
        for block in self.kept.waiting:
            skipped = min(max(0, start - passed), len(block.kinds))
            if skipped < len(block.kinds):
                left = entry_log.cut(block, skipped, len(block.kinds))
                self.kernels.take_in(rows, entry_log.for_kernel(left))
            passed += len(block.kinds)
        return passed

    def take_in(self, *, in_place: bool = False) -> LeaderRows:  # noqa: ARG002 (live rows can be found again)
        """Rows that have seen all that was written down."""
        self.make_room()
        if self._live is None:
            self._live, self._taken = self._begun() if self.kept.evidence is None else copied(self.kept.evidence), 0
        self._taken = self._gather(self._live, self._taken)
        return self._live

    def evidence_of(self, best: int, *, in_place: bool = False) -> LeaderRows:
        """The rows, among them that of a model, if it can still be found."""
        self.make_room()
        if self._live is None and self.kept.evidence is None:
            self._live, self._taken = self._begun(), 0
            self._live.leaders[0] = best  # so that the log is gone through once
        rows = self.take_in(in_place=in_place)
        self._asked[best] = 1 + max(self._asked.values(), default=0)
        if row_of(rows, best) < 0 and not rows.course[FORGOTTEN]:
            found = self._begun(rows=1)
            found.leaders[0] = best
            self._gather(found)
            leaders = rows.leaders.tolist()
            place = min(range(len(leaders)), key=lambda row: self._asked.get(leaders[row], 0))
            self._asked.pop(leaders[place], None)
            clear_row(rows, place)
            copy_row(found, 0, rows, place)
        return rows

    def bar(self, evidence: Any, best: int, confidence: float, kind: int, past: Past) -> float | None:
        """The wealth that refutes a pair with a model, as a logarithm; None if it has no row."""
        if row_of(evidence, best) < 0:
            return None
        return bar_of_row(
            evidence,
            best,
            bar_for(past.models, confidence, kind, past.changes),
            late_bar_for(past.models, confidence, kind, past.changes),
        )

    def own(self) -> None:
        """Live rows are nobody else's."""
        self.take_in()

    @property
    def room(self) -> int:
        """How many rounds may be added to the live rows before the log is full."""
        self.make_room()
        if self.kept.size >= self.most_rounds:
            self._fold()
        return self.most_rounds - self.kept.size

    def grown_by(self, played: Played) -> None:
        """These rounds were added to the live rows."""
        block = entry_log.compact(played.entries())
        self._add(block, entry_log.rounds_in(block))
        self._taken += len(block.kinds)

    def document(self) -> Any:
        """The log and the rows, as of its beginning, in a form that JSON can hold."""
        if not self.watches:
            return None
        self.make_room()
        rows = self.kept.evidence
        return {
            "since": packed(self._begun(rows=1).since),
            "log": entry_log.document(self.kept.waiting, self.models),
            "rows": None if rows is None else _saved(rows),
        }

    @classmethod
    def load(cls, models: int, saved: Any, loss: Loss = ACCURATE) -> Self:
        """What `document` described; an error if it cannot be."""
        try:
            since = unpacked(saved["since"], np.int64)
            if since.shape != (models,) or since.min() < 0:
                raise ValueError("its models do not begin when models can")
            made = cls(models, since, loss)
            rows = None if saved["rows"] is None else _loaded(models, saved["rows"])
            log = entry_log.load(saved["log"], models)
            if entry_log.rounds_in(log) > made.most_rounds:
                raise ValueError("its log is too long")
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise StateError(f"the evidence of this state is damaged: {error!r}; save it again.") from error
        made.kept = made._blank(rows)
        made._add(log, entry_log.rounds_in(log))
        return made


def _bytes_of(rows: LeaderRows) -> int:
    """The memory that rows take: of their levels, those that were touched."""
    touched = int(rows.levels.sum()) * int((rows.leaders != FREE).sum()) * len(rows.since)
    cells = sum(int(getattr(rows, field).itemsize) for field in CELLS)
    return touched * cells + sum(int(getattr(rows, field).nbytes) for field in (*ABOUT, *SHARED))


def _fewest_losses(rows: LeaderRows) -> list[int]:
    """The models that have come, from the fewest losses per round to the most."""
    rounds = np.maximum(1, rows.seen[ROUNDS] - rows.since)
    rates = np.where(rows.opened == NOT_YET, np.inf, rows.rates / rounds)
    order: list[int] = np.argsort(rates, kind="stable").tolist()
    return order


def _welcome(rows: LeaderRows) -> None:
    """Begin rows for the models in front that have none, in place of those that are furthest behind."""
    order = _fewest_losses(rows)
    rank = {model: place for place, model in enumerate(order)}
    for model in order[: max(1, len(rows.leaders) // NEW_SHARE)]:
        if row_of(rows, model) < 0:
            last = max(range(len(rows.leaders)), key=lambda row: rank[int(rows.leaders[row])])
            begin_late(rows, last, model, int(rows.seen[ROUNDS]))


def _saved(rows: LeaderRows) -> dict[str, Any]:
    """Rows in a form that JSON can hold: of their levels, those with something on them."""
    used = np.flatnonzero(rows.levels)
    cells = {field: packed(getattr(rows, field)[:, used]) for field in CELLS}
    return cells | {field: packed(getattr(rows, field)) for field in (*ABOUT, *SHARED)}


def _loaded(models: int, saved: Mapping[str, Any]) -> LeaderRows:
    """What `_saved` described; a ValueError if it cannot be."""
    rows = new_rows(models)
    for field in (*SHARED, *ABOUT):
        place: npt.NDArray[Any] = getattr(rows, field)
        place[...] = unpacked(saved[field], place.dtype).reshape(place.shape)
    used = np.flatnonzero(rows.levels)
    for field in CELLS:
        place = getattr(rows, field)
        place[:, used] = unpacked(saved[field], place.dtype).reshape(len(rows.leaders), len(used), models)
        if not (np.isfinite(place[:, used]).all() and (place[:, used] >= 0).all()):
            raise ValueError(f"{field} is not finite, or below zero")
    named = rows.leaders.tolist()
    distinct = len(set(named)) == len(named) == rows_for(models)
    if not (distinct and min(named) >= 0 and max(named) < models):
        raise ValueError(f"it has rows of {named}")
    if not (
        np.isfinite(rows.rates).all() and (rows.turns >= 0).all() and (rows.turns <= rows.course[LATE_ROWS]).all()
    ):
        raise ValueError("it has rates or turns that cannot be")
    rows.course[FORGOTTEN] = 1
    return rows


def new_recorder(models: int, since: Ints | None = None, loss: Loss = ACCURATE, late_from: int = 0) -> Recorder:
    """A recorder for that many models: of all pairs, where these are few."""
    if models <= MOST_PAIRED:
        return Recorder(models, since, loss)
    return LeaderRecorder(models, since, loss, late_from)


def load_recorder(models: int, saved: Any, loss: Loss = ACCURATE) -> Recorder:
    """The recorder that was saved; older versions kept all pairs of up to 256 models, and of more none."""
    if saved is None:
        made = new_recorder(models, loss=loss)
        made.watches = False
        return made
    if models > MOST_PAIRED and isinstance(saved, Mapping):
        return LeaderRecorder.load(models, saved, loss)
    return Recorder.load(models, saved, loss)
