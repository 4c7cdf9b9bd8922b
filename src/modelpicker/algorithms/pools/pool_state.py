"""A pool gone over again: kept, taken up, replayed with the questions that were asked, and grown by more items.

`PoolPicker` chooses its questions. A campaign writes down what was chosen, and how. From these questions and the
labels the same pool is made again, without choosing: to the last bit, and with other labels if some were wrong.
"""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from modelpicker.algorithms.pools.gain import OUT, UNKNOWABLE, UNKNOWN, new_comparison
from modelpicker.algorithms.pools.label_model import new_label_model
from modelpicker.algorithms.pools.pool_input import absent_models, contested_items, contested_rows, with_judge
from modelpicker.algorithms.pools.pool_labels import PoolLabels, ReadLabel
from modelpicker.certificates.control import Control
from modelpicker.certificates.label_noise import LabelNoise
from modelpicker.certificates.pool_draws import HARDEST
from modelpicker.certificates.pool_proof import PoolProof
from modelpicker.certificates.pool_scores import PoolScores
from modelpicker.encoding import Array, ClassName
from modelpicker.errors import StateError
from modelpicker.kernels.primitives import NOT_RUN, Floats, Ints, kernel_codes
from modelpicker.losses import Loss

if TYPE_CHECKING:
    from modelpicker.algorithms.pools.picker import PoolPicker

# What the label model has learned; all else in it is room.
LEARNED = ("weights", "by_class", "biases", "evidence")
# The share of the error for the items that a pool begins with; the rest is for those that it grows by.
FIRST_SHARE = 0.75


class PoolDraw(NamedTuple):
    """How an item was drawn for the proof."""

    trial: int
    """The model on trial."""
    playing: Ints
    """The models that were still in play: the item was drawn from those on which one of them differs from it."""
    expected: Floats
    """What was expected of each of them, and how far that may be off: the bets were made by it."""
    variance: Floats
    levels: Ints | None = None
    """How hard each model was to beat, by which items were weighed; None: all items were drawn alike."""
    control: Control | None = None
    """What the bets took from the guess; None if nothing."""

    def fits(self, models: int) -> bool:
        """Whether it can be a draw in a pool of that many models."""
        parts = [self.expected, self.variance, *(self.control or ())]
        sizes = {len(self.playing), *map(len, parts)}
        places = np.append(self.playing, self.trial)
        finite = all(bool(np.isfinite(part).all()) for part in parts)
        finite = finite and (self.control is None or self.control.possible)
        known = self.levels is None or (
            len(self.levels) == models and bool(((self.levels >= -1) & (self.levels <= HARDEST)).all())
        )
        return known and len(sizes) == 1 and bool(((places >= 0) & (places < models)).all()) and finite


class SliceQuestion(NamedTuple):
    """What a question did in the slice of its item."""

    leader: int | None
    """Who led in the slice, if it was asked for the sake of that; None if it was asked for the whole file."""
    draw: PoolDraw | None
    """How the slice bet on it; None if it did not."""


class PoolQuestion(NamedTuple):
    """An item that was asked about, and how it was chosen."""

    item: int
    leader: int
    """Who led."""
    draw: PoolDraw | None = None
    """None if it was chosen by its worth."""
    own: SliceQuestion | None = None
    """None if it did nothing in a slice, but that the item cannot be drawn there any more."""

    @property
    def for_slice(self) -> bool:
        """Whether it was asked for the sake of a slice."""
        return self.own is not None and self.own.leader is not None

    @property
    def shown_leader(self) -> int:
        """Who led among the items for whose sake it was asked."""
        return self.leader if self.own is None or self.own.leader is None else self.own.leader


def error_share(growths: int) -> float:
    """The share of the error for a pool that grew that many times after bets (proof.

    Docs/how-it-works/pools.md).
    """
    return FIRST_SHARE if not growths else (1.0 - FIRST_SHARE) * 6.0 / (math.pi * growths) ** 2


def allowed_items(tolerance: float, items: int, loss: Loss) -> float:
    """By how many of its items a model may be worse than the best; or by how much its losses may be larger."""
    return math.floor(tolerance * items + 1e-9) if loss.whole else tolerance * items / loss.unit


def replay_question(pool: "PoolPicker", question: PoolQuestion) -> None:
    """Ask about an item as it was asked about before, without choosing."""
    place = pool._place(question.item)
    if place < 0 or pool._labels[place] != UNKNOWN:
        raise StateError(f"item {question.item} cannot have been asked about then.")
    if not question.for_slice:
        pool._resample_if_due()
        pool._led = question.leader
        if question.draw is not None:
            replay_draw(pool, place, question.draw)
        pool._asked += 1
    pool._take_out(place)
    pool._replay_part(question)


def replay_draw(pool: "PoolPicker", place: int, draw: PoolDraw) -> None:
    """Bet on a contested item as was bet before."""
    expected, variance = np.zeros(len(pool.models)), np.zeros(len(pool.models))
    playing = np.zeros(len(pool.models), dtype=np.bool_)
    playing[draw.playing] = True
    expected[draw.playing], variance[draw.playing] = draw.expected, draw.variance
    proof = pool._proof
    control = None if draw.control is None else draw.control.spread(draw.playing, len(playing))
    proof.draw(place, proof.trial(draw.trial), playing, expected, variance, draw.levels, control)


def take_out(pool: "PoolPicker", item: int) -> None:
    """An item had a label then that does not stand any more: it could not be drawn, and counts as the worst."""
    for one, number in pool._pools_of(item):
        place = one._place(number)
        if place >= 0:
            one._take_out(place)


def put_back(pool: "PoolPicker", item: int) -> None:
    """The label of an item that nobody was asked about was taken back: the item can be asked about again."""
    for one, number in pool._pools_of(item):
        place = one._place(number)
        if place >= 0:
            one._labels[place] = UNKNOWN
            one._proof.put_back(place)
            one._stale = True


def has_bets(pool: "PoolPicker") -> bool:
    """Whether an item was drawn for the proof, of the pool or of a slice; or whether labels may be wrong."""
    if pool.label_noise and (pool._asked or pool.labels_used):
        return True  # what is counted may be false then, and uses up error as well
    return any(one._proof.drawn or one._proof.draws for one in (pool, *pool._parts))


def new_proof(pool: "PoolPicker") -> PoolProof:
    """A proof for the items and the tolerance of a pool, before the first bet."""
    noise = LabelNoise(pool.label_noise, (1.0 - pool.confidence) * pool.noise_share)
    everywhere = absent_models(pool.source.codes)
    absent = None if everywhere is None else pool._rows == NOT_RUN
    scores = PoolScores(
        pool._rows, pool._labels, pool._read.lead, absent, everywhere, whole=pool.loss.whole, noise=noise
    )
    for place, known in pool._graded.items():
        scores.grade(place, known)
    allowed = allowed_items(pool.tolerance, len(pool), pool.loss)
    return PoolProof(scores, allowed + noise.usual(scores.differing, len(pool.models)))


def grow(
    pool: "PoolPicker", codes: Array, classes: tuple[ClassName, ...], share: float, judge: Array | None = None
) -> None:
    """Add items. What is known about the others stays; the bets start again, with a smaller share of the error.

    To grow twice is the same as to grow once by both.

    Args:
        pool: moved on.
        codes: what the models say about the new items, as places in `classes`.
        classes: those of the pool, then new ones.
        share: of the error.
        judge: what the judge of the pool, if it has one, says about the new items, as codes; by default nothing.
    """
    before = len(pool)
    every = np.concatenate([pool.source.every_row("adding items"), codes])
    pool.source = pool.source._replace(codes=every, labels=None, classes=classes)
    pool.loss = pool.loss.spelt_as(classes)
    pool.classes, pool._read = classes, PoolLabels(pool.loss, classes)
    added = before + contested_items(codes)
    pool._contested = np.concatenate([pool._contested, added])
    pool._rows = np.concatenate([pool._rows, contested_rows(codes, added - before)])
    pool._rows.flags.writeable = False
    if pool.judge is not None:
        pool.judge = np.append(pool.judge, np.full(len(codes), -1) if judge is None else judge)
        pool._judged = kernel_codes(pool.judge[pool._contested])
    pool._absent = absent_models(pool._rows)
    pool._said = with_judge(pool._rows, pool._judged, pool._absent)
    pool._labels = np.concatenate([pool._labels, np.full(len(added), UNKNOWN, dtype=np.int32)])
    learned = pool._model
    pool._model = new_label_model(len(pool.models), len(classes), judged=pool.judge is not None)
    for name in LEARNED:
        known, new = getattr(learned, name), getattr(pool._model, name)
        new[..., : known.shape[-1]] = known
    look_anew(pool)
    begin_stage(pool, share)
    pool.__dict__.pop("_fingerprint", None)


def begin_stage(pool: "PoolPicker", share: float) -> None:
    """Begin the bets again, with the labels that are known, and with this share of the error."""
    pool._share_error(share)
    begin_bets(pool)
    pool._begin_parts()


def begin_bets(pool: "PoolPicker") -> None:
    """A new proof, which is told what is known."""
    pool._proof = new_proof(pool)
    _note_labels(pool)


def look_anew(pool: "PoolPicker") -> None:
    """Look at a new sample of the items, as a pool that was just made of them."""
    pool._resampled = 0
    pool._sample = pool._draw_sample()
    make_room(pool)


def make_room(pool: "PoolPicker") -> None:
    """Room for the comparison of a new sample; the models are compared again."""
    right = pool._found.right
    room = new_comparison(len(pool.models), len(pool._sample), len(pool.classes), whole=pool.loss.plain)
    pool._found = room._replace(right=right)
    pool._stale = True


def needs_new_bets(pool: "PoolPicker", tolerance: float, confidence: float) -> bool:
    """Whether bets start again for another goal: what is allowed depends on it."""
    return tolerance != pool.tolerance or (pool.label_noise > 0.0 and confidence != pool.confidence)


def set_goal(pool: "PoolPicker", tolerance: float, confidence: float, share: float) -> None:
    """Work for another goal. Bets for another tolerance start again, with the labels that are known."""
    anew = needs_new_bets(pool, tolerance, confidence)
    for one in (pool, *pool._parts):
        one.tolerance, one.confidence, one._stale = tolerance, confidence, True
    if anew:
        begin_stage(pool, share)


def _note_labels(pool: "PoolPicker") -> None:
    """Tell a new proof what is known."""
    pool._proof.labelled[pool._learned] = True
    pool._proof.drawable[:] = pool._labels == UNKNOWN


def known_labels(pool: "PoolPicker") -> dict[int, int]:
    """The code of each label that was told, by item; negative for a class that no model predicts."""
    contested = {int(pool._contested[place]): int(pool._labels[place]) for place in pool._learned}
    return pool._agreed | contested


def judged_labels(pool: "PoolPicker") -> Iterator[tuple[int, int]]:
    """The label and what the judge says, as codes, for each item that has both.

    Where a label has several right answers, a judge that says one of them says the label. An answer whose grade is
    not known is left out.
    """
    if pool.judge is None:
        return
    for item, code in known_labels(pool).items():
        said, place = int(pool.judge[item]), pool._place(item)
        scores = pool._graded.get(place) if place >= 0 else None
        theirs = np.zeros(0) if scores is None else scores[pool._rows[place] == said]
        if said >= 0 and not (theirs.size and np.isnan(theirs).all()):
            yield (said if theirs.size and np.nanmax(theirs) == 1.0 else code), said


def progress_of(pool: "PoolPicker") -> dict[str, Any]:
    """All that has happened to a pool, in a form that JSON can hold; not what it was made with."""
    return {
        "share": pool.error_share,
        "asked": pool._asked,
        "resampled": pool._resampled,
        "sample": None if len(pool._sample) == len(pool._rows) else pool._sample.tolist(),
        "learned": [[place, int(pool._labels[place])] for place in pool._learned],
        **(
            {"graded": [[place, plain_scores(scores)] for place, scores in pool._graded.items()]}
            if pool._graded
            else {}
        ),
        "foreseen": [[place, row.tolist()] for place, row in pool._foreseen.items()],
        "out": np.flatnonzero(pool._labels == OUT).tolist(),
        "unknowable": np.flatnonzero(pool._labels == UNKNOWABLE).tolist(),
        "agreed": [list(pair) for pair in pool._agreed.items()],
        "leader": pool._led,
        "label_model": {name: getattr(pool._model, name).tolist() for name in LEARNED},
        "proof": pool._proof.state(),
        "audit": pool._audit.state(),
        # The guess at labels is that of the whole pool.
        **({"parts": [progress_of(part) | {"label_model": {}} for part in pool._parts]} if pool._parts else {}),
    }


def plain_scores(scores: Floats) -> list[float | None]:
    """Scores in a form that JSON can hold: None where a score is not known."""
    return [None if score != score else score for score in scores.tolist()]


def load_progress(pool: "PoolPicker", blob: Mapping[str, Any]) -> None:
    """Take up what `progress_of` gave, in a pool that was just made of the same items."""
    graded = {int(place): np.array(scores, dtype=np.float64) for place, scores in blob.get("graded", ())}
    for place, code in blob["learned"]:
        pool._note(int(place), ReadLabel(int(code), graded.get(int(place))))
    pool._foreseen = {int(place): np.array(row, dtype=np.int8) for place, row in blob.get("foreseen", ())}
    pool._labels[blob["out"]] = OUT
    pool._labels[blob["unknowable"]] = UNKNOWABLE
    pool._agreed = {int(item): int(code) for item, code in blob["agreed"]}
    pool.error_share = float(blob.get("share", 1.0))
    pool._asked, pool._resampled = int(blob["asked"]), int(blob["resampled"])
    if blob["sample"] is not None:
        pool._sample = np.array(blob["sample"], dtype=np.int64)
        make_room(pool)
    pool._led = int(blob["leader"])
    for name, values in blob["label_model"].items():
        getattr(pool._model, name)[...] = np.array(values)
    _note_labels(pool)
    pool._proof.load(blob["proof"])
    pool._audit.load(blob.get("audit"))
    for part, progress in zip(pool._parts, blob.get("parts", ()), strict=True):
        load_progress(part, progress)
