"""SlicePicker: the best model of a file, and of each of its slices; labels and the error are shared.

The whole file is a pool, and so is each slice. Every label counts in both. An item that is drawn at random for the
proof of the whole file is, within its slice, drawn at random as well: so it is bet upon in both
(docs/how-to/slices.md). The whole file goes first. Then labels are asked for the slices that are not decided.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from modelpicker.algorithms.pools.gain import OUT, UNKNOWABLE
from modelpicker.algorithms.pools.outlook import LabelsToGo
from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.pools.pool_labels import ReadLabel
from modelpicker.algorithms.pools.pool_state import (
    PoolDraw,
    PoolQuestion,
    SliceQuestion,
    allowed_items,
    begin_bets,
    begin_stage,
    look_anew,
    replay_draw,
    replay_question,
    take_out,
)
from modelpicker.algorithms.pools.slice_table import SliceRow, SliceState, SliceTable
from modelpicker.algorithms.pools.slice_values import SliceValues, read_slices
from modelpicker.algorithms.validation import Models, check_count
from modelpicker.certificates.wording import points
from modelpicker.errors import StateError
from modelpicker.kernels.primitives import Ints
from modelpicker.label import AnyLabel
from modelpicker.options import LARGEST_SEED

# The share of the error for the statement about the whole file; the slices have the rest.
WHOLE_SHARE = 0.5
# A slice that is too small for bets is labelled all the same if no more labels than this can settle it.
CHEAP = 10
# Slices whose labels to go are estimated; each takes some time.
FORESEEN = 12
# Seeds of slices are so far apart: about 2**128 over the golden ratio.
SPREAD = 0x9E3779B97F4A7C15F39CC0605CEDC835


class SlicePart(PoolPicker):
    """One slice. The guess at its labels is that of the whole file: labels of all slices teach it."""

    def _note_guess(self, place: int) -> None:
        """The whole file has noted it."""

    def _teach(self) -> None:
        """The whole file has learned the label."""


class SlicePicker(PoolPicker):
    """Picks the best model of a file and the best model of each of its slices.

    Args:
        predictions: as for `PoolPicker`.
        slices: one value per item: a language, a customer. None, NaN and "" are a slice of their own.
        models: as for `PoolPicker`, as are `seed`, `judge`, `loss`, `price` and `label_noise`. With prices, the
            model of a slice is the cheapest one that is certified there.
        confidence: of everything that is said to be proven, together.
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
        price: object = None,
        label_noise: float = 0.0,
        column: str = "",
    ) -> None:
        super().__init__(
            predictions,
            models,
            seed=seed,
            confidence=confidence,
            tolerance=tolerance,
            judge=judge,
            loss=loss,
            price=price,
            label_noise=label_noise,
        )
        self.column = column
        self._parts: list[SlicePart] = []
        self._set_values(read_slices(slices, len(self), column))
        begin_stage(self, 1.0)

    def add_values(self, values: Iterable[object]) -> None:
        """The values of more items, which the pool is about to grow by."""
        self._set_values(self._values.extended(values))

    def _set_values(self, values: SliceValues) -> None:
        self._values = values
        order = np.argsort(values.of, kind="stable")
        ends = np.cumsum(self._sizes)
        self._places: list[Ints] = np.split(order, ends[:-1])

    @property
    def values(self) -> tuple[str, ...]:
        """The values, in the order in which they came first."""
        return self._values.names

    @property
    def _sizes(self) -> Ints:
        """How many items each slice has."""
        return np.bincount(self._values.of, minlength=len(self.values))

    # Stages of the proof.

    def _share_error(self, share: float) -> None:
        """Half of the error is for the whole file, the rest for slices that are bet upon; counting needs none.

        Where labels may be wrong, what is counted may be wrong too: every slice has a share for that.
        """
        self._part_shares = np.zeros((2, len(self.values)))
        self.error_share = self.noise_share = share
        if len(self.values) == 1:  # the slice is the file
            return
        contested = np.bincount(self._values.of[self._contested], minlength=len(self.values)) > 0
        small = [self._is_small(int(size)) for size in self._sizes]
        for place, chosen in enumerate((contested & ~np.array(small), contested)):
            if chosen.any():
                self._part_shares[place, chosen] = share * ((1.0 - WHOLE_SHARE) / chosen.sum())
        self.error_share, self.noise_share = (
            share * (WHOLE_SHARE if shares.any() else 1.0) for shares in self._part_shares
        )

    def _begin_parts(self) -> None:
        """The slices again, with the labels that are known. Coins are not used twice."""
        before = [(part._asked, part._led) for part in self._parts]
        several = len(self.values) > 1
        self._parts = [self._make_part(at) for at in range(len(self.values))] if several else []
        for part, (asked, led) in zip(self._parts, before, strict=False):
            part._asked, part._led = asked, led
        if self._parts:
            self._tell_parts()
        for part in self._parts:
            begin_bets(part)

    def _tell_parts(self) -> None:
        """Tell the slices what the whole file has learned."""
        for place in self._learned:
            at, local = self._find(int(self._contested[place]))
            part, label = self._parts[at], ReadLabel(int(self._labels[place]), self._graded.get(place))
            part._note(part._place(local), label)
            self._note_foreseen(place, part, local)
        for item, code in self._agreed.items():
            at, local = self._find(item)
            self._parts[at]._agreed[local] = code
        for part, places in zip(self._parts, self._places, strict=True):
            known = self._labels[np.searchsorted(self._contested, places[part._contested])]
            waits = (known == OUT) | (known == UNKNOWABLE)
            part._labels[waits] = known[waits]
            if part._learned or waits.any():
                look_anew(part)

    def _make_part(self, at: int) -> SlicePart:
        """The pool of one slice, with coins of its own."""
        places = self._places[at]
        names = [str(name) for name in self.models]
        part = SlicePart(
            SimpleNamespace(
                predictions=self.source.every_row("slice")[places], labels=None, models=names, classes=self.classes
            ),
            seed=(self.seed + (at + 1) * SPREAD) % (LARGEST_SEED + 1),
            confidence=self.confidence,
            tolerance=self.tolerance,
            judge=None if self.judge is None else self.judge[places],
            loss=self.loss,
            price=self.price,
            label_noise=self.label_noise,
        )
        part.models, part._model = self.models, self._model
        part.error_share, part.noise_share = self._part_shares[:, at].tolist()
        return part

    def _is_small(self, size: int) -> bool:
        """Whether a slice has so few items that the tolerance is less than one: bets are hardly ever won then."""
        return self.tolerance > 0.0 and allowed_items(self.tolerance, size, self.loss) < 1

    def _given_up(self, part: PoolPicker) -> bool:
        """Whether no label is asked for a slice alone: it is small, and counting would take many labels."""
        return self._is_small(len(part)) and part.contested > CHEAP

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
        sizes = self._sizes.tolist()
        order = sorted(range(len(sizes)), key=lambda at: (-sizes[at], self.values[at]))
        rows = tuple(self._row(at) for at in order)
        return SliceTable(
            column=self.column,
            model=self.recommended,
            tolerance=self.tolerance,
            confidence=self.confidence,
            rows=rows,
            allowed=self._allowed,
            label_noise=self.label_noise,
        )

    @property
    def _allowed(self) -> float:
        """By how much a model may be worse that counts as near the best, in any slice."""
        if not self.label_noise:
            return self.tolerance
        parts: Sequence[PoolPicker] = self._parts or [self]
        return max(float(part._proof.allowed) * self.loss.unit / len(part) for part in parts)

    @property
    def undecided_parts(self) -> int:
        """For how many slices labels are still asked for, or awaited."""
        return sum(self._wants_labels(part) for part in self._parts)

    def labels_to_go(self) -> LabelsToGo | None:
        """About how many more labels are needed until all is decided that can be; None if it is too early to say.

        A label counts in the file and in its slice, so the larger of the two estimates is taken. It has not been
        measured how good it is.
        """
        whole = super().labels_to_go()
        wanting = [part for part in self._parts if self._wants_labels(part)]
        if not wanting:
            return whole
        if whole is None or len(wanting) > FORESEEN:
            return None
        found = [to_go for part in wanting if (to_go := part.labels_to_go()) is not None]
        if len(found) < len(wanting):
            return None
        return LabelsToGo(
            max(whole.expected, sum(one.expected for one in found)),
            max(whole.low, sum(one.low for one in found)),
            max(whole.high, sum(one.high for one in found)),
        )

    def _row(self, at: int) -> SliceRow:
        part = self._parts[at] if self._parts else self
        certified, overall = part.certified, self.recommended_index
        gap = part.certificate(self.confidence).gap
        standing = part.standing
        behind = standing[self.recommended]
        if self.price is not None:  # the pick of the slice may be a cheaper one than the best
            behind -= min(standing.values())
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
        near = f"a tolerance of {points(self.tolerance)}"
        if certified:
            agreed = not part.contested
            return "certified", "All models give the same answers." if agreed else "It is proven."
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
        if self._parts and super().done:
            waiting = [at for at, part in enumerate(self._parts) if part.left and self._wants_labels(part)]
            if waiting:
                return self._ask_for_slice(min(waiting, key=self._turn))
            if not self.done:  # labels that are out decide the slices: no other item would help
                return None
        question = self._next()
        if question is None or not self._parts:
            return question
        return question._replace(own=self._take_from_slice(question))

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
        self._take_out(self._place(item))
        return PoolQuestion(item, self._leader(), own=SliceQuestion(question.leader, question.draw))

    def _take_from_slice(self, question: PoolQuestion) -> SliceQuestion | None:
        """An item is asked about for the whole file: its slice bets on it too, if it was drawn at random."""
        at, local = self._find(question.item)
        part, draw = self._parts[at], None
        if question.draw is not None and part.error_share:
            draw = _bet_too(part, local, question.draw)
        take_out(part, local)
        return None if draw is None else SliceQuestion(None, draw)

    def _replay_part(self, question: PoolQuestion) -> None:
        if not self._parts:
            return
        at, local = self._find(question.item)
        part, own = self._parts[at], question.own
        if own is not None and own.leader is not None:
            replay_question(part, PoolQuestion(local, own.leader, own.draw))
            return
        if question.draw is not None and part.error_share:
            part._proof.trial(question.draw.trial)
        if own is not None and own.draw is not None:
            replay_draw(part, part._place(local), own.draw)
        take_out(part, local)

    def _pools_of(self, item: int) -> list[tuple[PoolPicker, int]]:
        if not self._parts:
            return [(self, item)]
        at, local = self._find(item)
        return [(self, item), (self._parts[at], local)]

    def _find(self, item: int) -> tuple[int, int]:
        """The slice of an item, and its number there."""
        at = int(self._values.of[item])
        return at, int(np.searchsorted(self._places[at], item))

    def _tell(self, item: int, label: AnyLabel | None, where: str) -> None:
        super()._tell(item, label, where)
        if self._parts:
            at, local = self._find(item)
            self._parts[at]._tell(local, label, where)
            self._note_foreseen(self._place(item), self._parts[at], local)
            for part in self._parts:  # what was learned changes the guess everywhere
                part._stale = True

    def _note_foreseen(self, place: int, part: PoolPicker, local: int) -> None:
        """What was expected of an item in the whole file was expected of it in its slice."""
        if place in self._foreseen and part._place(local) >= 0:
            part._foreseen[part._place(local)] = self._foreseen[place]

    # How it is kept.

    @classmethod
    def from_state_dict(
        cls, blob: object, predictions: object, *, judge: object = None, slices: object = None, column: str = ""
    ) -> Self:
        """The picker that `state_dict` described, over the same predictions and slices, with the same judge."""
        if not isinstance(blob, Mapping) or "slices" not in blob:
            raise StateError(
                "this is not the state of a pool with slices; pass what SlicePicker.state_dict() gave."
            )
        return cls._restored(
            blob,
            lambda **given: cls(predictions, slices, judge=judge, column=column, **given),
            "predictions, slices",
        )

    @property
    def _marks(self) -> dict[str, Any]:
        places = np.ascontiguousarray(self._values.of, dtype="<i8").tobytes()
        return {**super()._marks, "slices": zlib.crc32(places, zlib.crc32(repr(self.values).encode()))}


def _bet_too(part: PoolPicker, item: int, draw: PoolDraw) -> PoolDraw | None:
    """Bet in a slice on an item that was drawn for the whole file: within the slice it is drawn at random too."""
    part._look()
    trial = part._proof.trial(draw.trial)
    playing = np.zeros(len(part.models), dtype=np.bool_)
    playing[draw.playing] = True
    playing &= ~part._proof.beaten(trial, part._strict(part.confidence))
    # By these levels the item was drawn, whoever is in play in the slice.
    return part._bet(part._place(item), trial, playing, draw.levels) if playing.any() else None
