"""SlicePicker: the best model of a file, and of each of its slices; labels and the error are shared.

The whole file is a pool, and so is each slice. Every label counts in both. An item that is drawn at random for the
proof of the whole file is, within its slice, drawn at random as well: so it is bet upon in both (docs/slices.md).
The whole file goes first. Then labels are asked for the slices that are not decided.
"""

import zlib
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from modelpicker.algorithms.pools.picker import STATE_VERSION, PoolPicker
from modelpicker.algorithms.pools.pool_state import PoolDraw, PoolQuestion, load_progress, progress_of, take_out
from modelpicker.algorithms.pools.slice_table import SliceRow, SliceState, SliceTable
from modelpicker.algorithms.validation import Models, check_count
from modelpicker.certificates.certificate import rounded_up
from modelpicker.encoding import as_array
from modelpicker.errors import InputError, StateError, brief
from modelpicker.kernels.primitives import Ints
from modelpicker.label import AnyLabel
from modelpicker.losses import read_loss
from modelpicker.options import LARGEST_SEED

# The share of the error for the statement about the whole file; the slices have the rest.
WHOLE_SHARE = 0.5
# A slice that is too small for bets is labelled all the same if no more labels than this can settle it.
CHEAP = 10
MISSING = "(no value)"
MOST_SLICES = 1_000
# Seeds of slices are so far apart: about 2**128 over the golden ratio.
SPREAD = 0x9E3779B97F4A7C15F39CC0605CEDC835


class SlicePart(PoolPicker):
    """One slice. The guess at its labels is that of the whole file: labels of all slices teach it."""

    def _teach(self) -> None:
        """The whole file has learned the label."""


class SlicePicker(PoolPicker):
    """Picks the best model of a file and the best model of each of its slices.

    Args:
        predictions: as for `PoolPicker`.
        slices: one value per item: a language, a customer. None, NaN and "" are a slice of their own.
        models: as for `PoolPicker`, as are `seed`, `judge` and `loss`.
        confidence: of everything that is said to be proved, together.
        tolerance: how much less accurate than the best model the pick may be, in the file and in each slice.
        column: what the values are, for the table.

    >>> rows = [["cat", "dog"]] * 40 + [["cat", "cat"]] * 60 + [["cat", "dog"]] * 40
    >>> pool = SlicePicker(rows, ["en"] * 100 + ["de"] * 40, ["small", "large"], tolerance=0.05)
    >>> while not pool.done:
    ...     item = pool.ask(1)[0]
    ...     pool.tell(item, "dog" if item < 100 else "cat")
    >>> [(row.value, row.model, row.certified) for row in pool.slices]
    [('en', 'large', True), ('de', 'small', True)]
    """

    name = "slice-picker"

    def __init__(
        self,
        predictions: object,
        slices: object,
        models: Models | None = None,
        *,
        seed: int = 0,
        confidence: float = 0.95,
        tolerance: float = 0.01,
        judge: object = None,
        loss: object = None,
        column: str = "",
    ) -> None:
        goal: dict[str, Any] = {"seed": seed, "confidence": confidence, "tolerance": tolerance}
        super().__init__(predictions, models, **goal, judge=judge, loss=loss)
        self.column = column
        self.values, self._slice_of = read_slices(slices, len(self), column)
        self._places: list[Ints] = [np.flatnonzero(self._slice_of == at) for at in range(len(self.values))]
        # With one value the slice is the file.
        self._parts = [self._make_part(at) for at in range(len(self.values))] if len(self.values) > 1 else []
        self._share_error()

    def _share_error(self) -> None:
        """Half of the error is for the whole file, the rest for slices that are bet upon; counting needs none."""
        bet_upon = [bool(part.contested) and not self._small(part) for part in self._parts]
        if any(bet_upon):
            self.error_share = WHOLE_SHARE
        for part, chosen in zip(self._parts, bet_upon, strict=True):
            part.error_share = (1.0 - WHOLE_SHARE) / sum(bet_upon) if chosen else 0.0

    def _make_part(self, at: int) -> SlicePart:
        """The pool of one slice, with coins of its own."""
        places = self._places[at]
        codes = self.source.codes[places]
        part = SlicePart(
            SimpleNamespace(predictions=codes, labels=None, models=self.models, classes=self.classes),
            seed=(self.seed + (at + 1) * SPREAD) % (LARGEST_SEED + 1),
            confidence=self.confidence,
            tolerance=self.tolerance,
            judge=None if self.judge is None else self.judge[places],
            loss=self.loss,
        )
        part._model = self._model
        return part

    def _small(self, part: PoolPicker) -> bool:
        """Whether a slice has so few items that the tolerance is less than one: bets are hardly ever won then."""
        return self.tolerance > 0.0 and part._proof.allowed < 1

    def _given_up(self, part: PoolPicker) -> bool:
        """Whether no label is asked for a slice alone: it is small, and counting would take many labels."""
        return self._small(part) and part.contested > CHEAP

    # What it knows.

    @property
    def done(self) -> bool:
        """Whether all is certified that can be, the file and its slices, or no label is left to ask for."""
        return super().done and not any(self._wants_labels(part) for part in self._parts)

    def _wants_labels(self, part: PoolPicker) -> bool:
        return not self._given_up(part) and not part.done

    @property
    def slices(self) -> SliceTable:
        """What is known about each slice, the largest first."""
        rows = [self._row(at) for at in range(len(self.values))]
        return SliceTable(self.column, self.recommended, self.tolerance, self.confidence, tuple(rows))

    def _row(self, at: int) -> SliceRow:
        part = self._parts[at] if self._parts else self
        certified, overall = part.certified, self.recommended_index
        gap = part.certificate(self.confidence).gap
        behind = part.standing[self.recommended]
        within = part._certified(overall)
        worse = certified and behind > self.tolerance
        state, reason = self._state(part, certified)
        return SliceRow(
            value=self.values[at],
            items=len(part),
            contested=part.contested,
            labels=part.labels_used,
            model=part.recommended,
            certified=certified,
            gap=gap,
            state=state,
            reason=reason,
            same=True if within else False if worse else None,
            behind=behind,
        )

    def _state(self, part: PoolPicker, certified: bool) -> tuple[SliceState, str]:
        """Where a slice stands, and why."""
        near = f"a tolerance of {rounded_up(self.tolerance)}"
        if certified:
            agreed = not part.contested
            return "certified", "All models give the same answers." if agreed else "It is proved."
        if part.left and self._given_up(part):
            enough = -int(-self.loss.unit // self.tolerance)
            few = "1 item is" if len(part) == 1 else f"{len(part):,} items are"
            return "undecided", (
                f"{few} too few for {near}: {enough:,} are needed. "
                f"At most {part.left:,} more labels would settle it."
            )
        if not part.left and not part.open_items:
            return "undecided", "Every item on which models differ was asked about, but labels are missing."
        return "not yet", "More labels are needed."

    # What it does.

    def questions(self, n: int = 1) -> list[PoolQuestion]:
        """The items most worth a label, with how each was chosen for the whole file."""
        found: list[PoolQuestion] = []
        for _ in range(check_count("n", n)):
            question = self._next_of_all()
            if question is None:
                break
            found.append(question)
        return found

    def _next_of_all(self) -> PoolQuestion | None:
        """The next item for the whole file; when that is settled, for the slice whose turn it is."""
        waiting = [at for at, part in enumerate(self._parts) if part.left and self._wants_labels(part)]
        if waiting and super().done:
            return self._ask_for_slice(min(waiting, key=self._turn))
        question = self._next()
        if question is not None and self._parts:
            self._take_from_slice(question)
        return question

    def _turn(self, at: int) -> float:
        """Slices are asked about in turn, large ones more often: by the root of how many items are contested."""
        part = self._parts[at]
        return float((1 + part.contested - part.left) / np.sqrt(part.contested))

    def _ask_for_slice(self, at: int) -> PoolQuestion | None:
        """Ask about an item for the sake of a slice: in the whole file it is simply known."""
        question = self._parts[at]._next()
        if question is None:
            return None
        item = int(self._places[at][question.item])
        take_out(self, item)
        return PoolQuestion(item, self._led)

    def _take_from_slice(self, question: PoolQuestion) -> None:
        """An item is asked about for the whole file: its slice bets on it too, if it was drawn at random."""
        at, local = self._find(question.item)
        part = self._parts[at]
        if question.draw is not None and part.error_share:
            _bet_too(part, local, question.draw)
        take_out(part, local)

    def _find(self, item: int) -> tuple[int, int]:
        """The slice of an item, and its number there."""
        at = int(self._slice_of[item])
        return at, int(np.searchsorted(self._places[at], item))

    def _tell(self, item: int, label: AnyLabel | None, where: str) -> None:
        super()._tell(item, label, where)
        if self._parts:
            at, local = self._find(item)
            self._parts[at]._tell(local, label, where)
            for part in self._parts:  # what was learned changes the guess everywhere
                part._stale = True

    # How it is kept.

    def state_dict(self) -> dict[str, Any]:
        """Everything but the predictions, the slices and what a judge says, in a form that JSON can hold."""
        parts = [progress_of(part) | {"label_model": {}} for part in self._parts]
        return super().state_dict() | {"slices": self._slices_checksum, "parts": parts}

    @classmethod
    def from_state_dict(
        cls, blob: object, predictions: object, *, judge: object = None, slices: object = None, column: str = ""
    ) -> Self:
        """The picker that `state_dict` described, over the same predictions and slices, with the same judge."""
        if not isinstance(blob, Mapping) or "parts" not in blob:
            raise StateError(
                "this is not the state of a pool with slices; pass what SlicePicker.state_dict() gave."
            )
        if blob.get("version") != STATE_VERSION:
            raise StateError(
                f"this state has version {blob.get('version')!r}, but this modelpicker reads version "
                f"{STATE_VERSION}; use the modelpicker that saved it."
            )
        try:
            goal = {name: blob[name] for name in ("seed", "confidence", "tolerance")}
            loss = read_loss(blob["loss"]) if "loss" in blob else None
            pool = cls(predictions, slices, blob["models"], **goal, judge=judge, loss=loss, column=column)
            if blob["pool"] != pool._fingerprint or blob["slices"] != pool._slices_checksum:
                raise StateError(
                    "this state belongs to other predictions, slices or another judge; pass those it was made of."
                )
            load_progress(pool, blob)
            for part, progress in zip(pool._parts, blob["parts"], strict=True):
                load_progress(part, progress)
        except StateError:
            raise
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise StateError(f"this state of a pool is damaged: {error!r}.") from error
        return pool

    @property
    def _slices_checksum(self) -> int:
        places = np.ascontiguousarray(self._slice_of, dtype="<i8").tobytes()
        return zlib.crc32(places, zlib.crc32(repr(self.values).encode()))


def _bet_too(part: PoolPicker, item: int, draw: PoolDraw) -> None:
    """Bet in a slice on an item that was drawn for the whole file: within the slice it is drawn at random too."""
    part._look()
    trial = part._proof.trial(draw.trial)
    playing = np.zeros(len(part.models), dtype=np.bool_)
    playing[draw.playing] = True
    playing &= ~part._proof.beaten(trial, part._strict(part.confidence))
    if playing.any():
        part._bet(part._place(item), trial, playing)


def read_slices(slices: object, items: int, column: str = "") -> tuple[tuple[str, ...], Ints]:
    """The values of slices, those of many items first; and the place of each item's value among them."""
    what = f"slice {brief(column)}" if column else "slices"
    if isinstance(slices, str | bytes | Mapping) or not hasattr(slices, "__len__"):
        raise InputError(f"{what}: {brief(slices)} is not one value per item; pass a list.", parameter="slice")
    given: Any = slices if isinstance(slices, list | tuple) else as_array(slices, "slices")
    if len(given) != items:
        raise InputError(
            f"{what}: there are {len(given):,} values, but {items:,} items; pass one per item.", parameter="slice"
        )
    names = [_name_of(value) for value in given]
    found, of, counts = np.unique(np.array(names, dtype=object), return_inverse=True, return_counts=True)
    if items > 1 and len(found) == items:
        raise InputError(
            f"{what}: every item has another value, such as {brief(names[0])} and {brief(names[1])}. Slices must "
            "have several items each, such as those of a language or a customer.",
            parameter="slice",
        )
    if len(found) > MOST_SLICES:
        raise InputError(
            f"{what}: there are {len(found):,} values for {items:,} items, but at most {MOST_SLICES:,} slices are "
            "possible. Pass a coarser column.",
            parameter="slice",
        )
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return tuple(str(found[place]) for place in order), rank[of.ravel()]


def _name_of(value: object) -> str:
    """The name of a value; what is missing has one too."""
    missing = value is None or (isinstance(value, float) and value != value)
    return MISSING if missing or not str(value).strip() else str(value)
