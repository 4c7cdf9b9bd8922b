"""PoolPicker: ask about the item most worth a label, and prove the pick for exactly these items."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms.pools import gain_arrays, label_model_arrays
from modelpicker.algorithms.pools.audit import Audit, count_right
from modelpicker.algorithms.pools.forecast import Forecast, make_forecast, play
from modelpicker.algorithms.pools.gain import (
    FINE,
    LOOKING,
    OUT,
    SURE,
    UNKNOWABLE,
    UNKNOWN,
    VERY_SURE,
    choose_item,
    compare_models,
    new_comparison,
)
from modelpicker.algorithms.pools.guesses import control_of, guess_item
from modelpicker.algorithms.pools.label_model import REMEMBERED, learn_item, new_label_model
from modelpicker.algorithms.pools.macro_f1 import macro_f1
from modelpicker.algorithms.pools.outlook import LabelsToGo, PoolOutlook
from modelpicker.algorithms.pools.pool_input import (
    PIECE,
    absent_models,
    identical_models,
    read_judge,
    read_pool,
    with_judge,
)
from modelpicker.algorithms.pools.pool_labels import UNKNOWABLE_LABEL, PoolLabels, ReadLabel, graded_items
from modelpicker.algorithms.pools.pool_state import (
    PoolDraw,
    PoolQuestion,
    known_labels,
    load_progress,
    make_room,
    new_proof,
    progress_of,
)
from modelpicker.algorithms.pools.prices import cheap_favourite
from modelpicker.algorithms.validation import Models, check_count, read_price
from modelpicker.certificates.accuracy import AccuracyInterval, measure_accuracy
from modelpicker.certificates.certificate import Certificate, check_confidence, state_pool
from modelpicker.certificates.label_noise import NOISE_SHARE
from modelpicker.certificates.pool_proof import Trial, may_win
from modelpicker.certificates.stop_rule import GAP, LABEL_NOISE
from modelpicker.coins import check_seed, draw_coins
from modelpicker.encoding import ModelName
from modelpicker.errors import ConflictError, InputError, NotFoundError, StateError, brief
from modelpicker.kernels.compiler import CompiledKernel
from modelpicker.kernels.primitives import NOT_RUN, Codes, Floats, Ints, kernel_codes
from modelpicker.label import AnyLabel, read_label
from modelpicker.losses import ACCURATE, Loss, read_loss

STATE_VERSION = 2
Shares: TypeAlias = npt.NDArray[np.int8]
# Cells that are looked at for a question; of a larger pool, a random sample of the items.
MOST_CELLS = 2**20
# A model stays on trial while it is thought to be behind the leader by at most this share of what is allowed.
STICKY = 0.25
# Coins of a pool by their use: those of questions count from 0.
JITTER, SAMPLES = 2**62, 2**63

teach = CompiledKernel(learn_item, {}, "pool-picker label model", label_model_arrays.learn_item)
compare = CompiledKernel(compare_models, {}, "pool-picker comparison", gain_arrays.compare_models)
choose = CompiledKernel(choose_item, {}, "pool-picker choice", gain_arrays.choose_item)


class PoolPicker:
    """Picks the best model of a file: it says which items to label, and when the pick is proven.

    Args:
        predictions: one row per item and one column per model: a matrix, a collection, or a data frame. None or
            -1 is an abstention; `mp.NOT_RUN` a model that was not run on the item, so that nothing is known about
            it.
        models: the names of the models; by default those of the source, or numbers from 0.
        seed: of all randomness.
        confidence: of the proof.
        tolerance: how much less accurate than the best model the pick may be: 0.01 is 1 % of accuracy.
        audit: the share of questions about items drawn at random, agreed ones too, so that `accuracy` can say more.
        judge: cheap labels that may be wrong, one per item; None where there is none. A good judge saves labels;
            no statement depends on it.
        loss: what mistakes cost: "accuracy", "grades", "preference", weights by class, costs by class and answer,
            or a `Loss`. The tolerance and all statements are about it.
        price: what each model costs per item: numbers by model, or one per model. The pick is then the cheapest
            model that is proven to be within the tolerance of the best.
        label_noise: the probability that a label is wrong, at most; each independently of the others. The
            certificate allows for it, and is wider than the tolerance by what wrong labels may mislead by.

    >>> pool = PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
    >>> while not pool.done:
    ...     item = pool.ask(1)[0]
    ...     pool.tell(item, "dog")
    >>> pool.recommended, pool.labels_used
    ('large', 6)
    >>> print(pool.certificate().sentence)
    Proven: large is at most 5 points less accurate than the best model (95% confidence).
    Of these 100 items.
    """

    name = "pool-picker"
    stops = True
    _parts: "Sequence[PoolPicker]" = ()
    """The pools of its slices; a pool without slices has none."""

    def __init__(
        self,
        predictions: object,
        models: Models | None = None,
        *,
        seed: int = 0,
        confidence: float = 0.95,
        tolerance: float = 0.01,
        audit: float = 0.0,
        judge: object = None,
        loss: object = None,
        price: object = None,
        label_noise: float = 0.0,
    ) -> None:
        source = read_pool(predictions, models)
        self.models = source.models
        self.classes = source.classes
        self.seed = check_seed(seed)
        self.confidence = check_confidence(confidence)
        self.tolerance = float(GAP.check(tolerance))
        self.source = source
        self.loss = Loss.of(loss).spelt_as(source.classes)
        """What mistakes cost."""
        self.price = read_price(price, self.models)
        """What each model costs per item; None if that does not matter."""
        self.label_noise = float(LABEL_NOISE.check(label_noise))
        """The probability that a label is wrong, at most."""
        self._read = PoolLabels(self.loss, source.classes)
        self._contested, self._rows = source.contested()
        self.judge = read_judge(judge, source)
        """What the judge says about each item, as codes; -1 where it says nothing. None: there is no judge."""
        self._judged = None if self.judge is None else kernel_codes(self.judge[self._contested])
        self._absent = absent_models(self._rows)
        self._said = with_judge(self._rows, self._judged, self._absent)
        self._labels = np.full(len(self._rows), UNKNOWN, dtype=np.int32)
        self._agreed: dict[int, int] = {}
        """Labels of items on which all models say the same."""
        self._graded: dict[int, Floats] = {}
        """The scores of the models on contested items whose label is more than one class."""
        self._learned: list[int] = []
        self._foreseen: dict[int, Shares] = {}
        """What the guess expected of each model on labelled items, before their labels; in hundredths."""
        self._asked = 0
        self.error_share = 1.0
        """How much of the error, which is what the confidence leaves, may be used: less if the items may grow."""
        self.noise_share = 1.0
        """The same for what wrong labels may do."""
        self._audit = Audit(audit, source.items)
        self._model = new_label_model(len(self.models), len(self.classes), judged=self.judge is not None)
        self._proof = new_proof(self)
        coins = draw_coins(self.seed, JITTER, -(-len(self.models) // 4)).ravel()
        self._jitter: Floats = 1e-6 * coins[: len(self.models)]
        self._resampled = 0
        self._sample = self._draw_sample()
        self._found = new_comparison(len(self.models), len(self._sample), len(self.classes), whole=self.loss.plain)
        self._led = -1
        """Who led when the last question was asked: the next comparison begins with it."""
        self._stale = True
        self._forecast: tuple[tuple[object, ...], Forecast | None] | None = None
        """The last estimate, and what was known then."""

    def __len__(self) -> int:
        return self.source.items

    def __repr__(self) -> str:
        return (
            f"<PoolPicker: {len(self):,} items, {len(self.models):,} models, {self.labels_used:,} labels, "
            f"{'done' if self.done else 'not done'}, {self.recommended!r} leads>"
        )

    def _repr_html_(self) -> str:
        from modelpicker.algorithms.pools.picker_card import pool_card

        return pool_card(self)

    # What it knows.

    @property
    def labels_used(self) -> int:
        """How many labels have been told; items that nobody can label are not among them."""
        return len(self._learned) + len(self._agreed)

    @property
    def contested(self) -> int:
        """On how many items models differ: no other label could tell them apart."""
        return len(self._rows)

    @property
    def labelled_contested(self) -> int:
        """How many of those have a label."""
        return len(self._learned)

    def contested_part(self, most: int) -> Iterator[tuple[int, Codes]]:
        """Some of the items on which models differ, spread over the pool: the number of each, and its codes."""
        for place in range(0, len(self._rows), max(1, -(-len(self._rows) // most))):
            yield int(self._contested[place]), self._rows[place]

    @property
    def left(self) -> int:
        """How many items there are that models differ on and nobody was asked about."""
        return int((self._labels == UNKNOWN).sum())

    @property
    def open_items(self) -> list[int]:
        """The items that were asked about and whose labels have not come."""
        contested = self._contested[self._labels == OUT].tolist()
        return sorted({*contested, *self._audit.awaited})

    @property
    def never_run(self) -> dict[ModelName, int]:
        """On how many items each model was not run; only models of which that is so."""
        if self._proof.scores.everywhere is None:
            return {}
        counts = np.count_nonzero(self._proof.scores.everywhere, axis=0).tolist()
        return {name: count for name, count in zip(self.models, counts, strict=True) if count}

    @property
    def unprovable(self) -> tuple[ModelName, ...]:
        """The models that no label can show to be no better than the pick: they were not run on too many items."""
        if self._proof.scores.everywhere is None:
            return ()
        worst = self._proof.least_worst(self._pick())
        return tuple(name for name, most in zip(self.models, worst, strict=True) if most > self._proof.allowed)

    @property
    def identical(self) -> tuple[tuple[ModelName, ...], ...]:
        """The groups of models that say the same of every item: no label can tell them apart."""
        return identical_models(self._rows, self.models)

    @property
    def recommended(self) -> ModelName:
        """The best model, as far as can be told."""
        return self.models[self._pick()]

    @property
    def recommended_index(self) -> int:
        """The place of the recommended model among the models."""
        return self._pick()

    @property
    def certified(self) -> bool:
        """Whether the recommended model is proven to be within the tolerance of the best, with the confidence.

        With prices, also whether no model is cheaper that is thought to be good enough.
        """
        pick = self._pick()
        cheap = self.price is None or self.price[pick] <= self.price[self._favourite()]
        return cheap and self._certified(pick)

    @property
    def racing(self) -> tuple[ModelName, ...]:
        """The models that may still be the pick: the recommended one, and those that it has not beaten yet."""
        pick = self._pick()
        if self.certified:
            return (self.models[pick],)
        trial = self._proof.trials.get(pick)
        if trial is None:
            return self.models
        beaten = self._proof.beaten(trial, self._strict(self.confidence))
        beaten[pick] = False
        return tuple(name for name, out in zip(self.models, beaten.tolist(), strict=True) if not out)

    @property
    def saved_per_item(self) -> float | None:
        """By how much cheaper per item the pick is than the model with the best estimate; None without prices."""
        return None if self.price is None else float(self.price[self._leader()] - self.price[self._pick()])

    @property
    def done(self) -> bool:
        """Whether the pick is certified, or no label that could change it is left to ask for or awaited."""
        return self.certified or not bool(self._unlabelled().any())

    def certificate(self, confidence: float = 0.95) -> Certificate:
        """What is proven about the recommended model, of exactly these items, whenever you look.

        >>> import modelpicker as mp
        >>> pool = mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
        >>> for item in pool.ask(3):
        ...     pool.tell(item, "dog")
        >>> print(pool.certificate(0.8).sentence)
        Proven: large is at most 34 points less accurate than the best model (certain).
        Of these 100 items.
        """
        confidence = check_confidence(confidence)
        model = self._pick()
        worse, certain = self._proof.worse_by(model, self._strict(confidence))
        if self.label_noise:  # what wrong labels may do is known for the confidence of the pool
            worse, certain = (worse if confidence <= self.confidence else float(len(self))), False
        return state_pool(self.models[model], worse, len(self), confidence, certain, self.loss, self.label_noise)

    def accuracy(self, confidence: float = 0.95) -> AccuracyInterval:
        """How accurate the recommended model is on exactly these items, whenever you look.

        Without an audit, nothing is known about items without a label, and the interval is wide. It takes all
        labels for right, also where `label_noise` says that some are not.

        >>> import modelpicker as mp
        >>> pool = mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
        >>> for item in pool.ask(3):
        ...     pool.tell(item, "dog")
        >>> found = pool.accuracy()
        >>> found.low, found.high
        (0.03, 1.0)
        """
        confidence = check_confidence(confidence)
        if self.loss != ACCURATE:
            raise InputError(
                f"accuracy() is about right and wrong answers, but the loss of this pool is {self.loss.name}."
            )
        model = self._pick()
        said = self.source.said_by(model)
        labels = known_labels(self)
        counts = count_right(said, labels, self._contested)
        draws = self._audit.replay(said, labels)
        return measure_accuracy(
            self.models[model],
            counts,
            draws,
            confidence,
            models=len(self.models),
            since=self._audit.since(model),
            noisy=self.label_noise > 0.0,
        )

    @property
    def standing(self) -> dict[ModelName, float]:
        """By how much accuracy each model is thought to be behind the recommended one, or by how much loss."""
        self._look()
        pick = self._pick()
        ahead = (self._found.ahead - self._found.ahead[pick]) * self.loss.unit / self._both_run(pick)
        return {name: float(ahead[place]) for place, name in enumerate(self.models)}

    def _both_run(self, model: int) -> Floats | int:
        """On how many items a model and each other one were run."""
        everywhere = self._proof.scores.everywhere
        if everywhere is None:
            return len(self)
        found: Floats = np.maximum(1.0, len(self) - (everywhere | everywhere[:, [model]]).sum(axis=0))
        return found

    def macro_f1(self) -> dict[ModelName, float]:
        """Macro-F1 of every model, by labels and guesses: an estimate, not certified.

        >>> import modelpicker as mp
        >>> pool = mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
        >>> for item in pool.ask(3):
        ...     pool.tell(item, "dog")
        >>> sorted(pool.macro_f1())
        ['large', 'small']
        """
        return macro_f1(self)

    def gap_intervals(self, confidence: float = 0.95) -> dict[ModelName, tuple[float, float]]:
        """By how much accuracy each model is behind the recommended one: what labels and proof leave possible.

        All of them hold together, whenever you look. They are about exactly these items.

        >>> import modelpicker as mp
        >>> pool = mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
        >>> for item in pool.ask(3):
        ...     pool.tell(item, "dog")
        >>> pool.gap_intervals(0.95)["large"]
        (-0.0, 0.0)
        """
        model, gap = self._pick(), self.certificate(confidence).gap
        counts = self._proof.counts(model)
        most = counts.known + may_win(self._proof.scores, self._proof.labelled, model)
        share = self.loss.unit / len(self)
        return {
            name: (max(-float(counts.worst[place]) * share, -gap), float(most[place]) * share)
            for place, name in enumerate(self.models)
        }

    # What is to come.

    def labels_to_go(self) -> LabelsToGo | None:
        """About how many more labels are needed until the pick is certified; None if it is too early to say.

        An estimate, not a promise. It changes nothing, and is 0 once the pick is certified.

        >>> import modelpicker as mp
        >>> pool = mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
        >>> pool.labels_to_go() is None  # before the first label it is too early
        True
        """
        if self.certified:
            return LabelsToGo(0, 0, 0)
        forecast = self._foresee()
        return None if forecast is None else forecast.labels_to_go(self._audit.share)

    def outlook(self, labels: int) -> PoolOutlook | None:
        """What that many more labels would buy; None if it is too early to say. An estimate, not a promise.

        >>> import modelpicker as mp
        >>> pool = mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
        >>> for item in pool.ask(3):
        ...     pool.tell(item, "dog")
        >>> pool.outlook(10) is None  # after three labels it is too early
        True
        """
        labels = check_count("labels", labels)
        if self.certified:
            return PoolOutlook(labels, 1.0, self.confidence)
        forecast = self._foresee()
        return None if forecast is None else forecast.outlook(labels, self._audit.share)

    @property
    def reached_confidence(self) -> float:
        """The confidence with which the recommended model is proven to be within the tolerance by now."""
        return self._proof.confidence_in(self._pick(), self.error_share)

    def _foresee(self) -> Forecast | None:
        """The estimate by what is known now; made once."""
        self._look()
        given_up = int((self._labels == UNKNOWABLE).sum())
        known = (
            *(len(self), len(self._learned), given_up, self.tolerance, self.confidence, self.error_share),
            play.on_its_way,  # nothing is said until it is compiled, and then it is
        )
        if self._forecast is None or self._forecast[0] != known:
            self._forecast = (known, make_forecast(self))
        return self._forecast[1]

    # What it does.

    def ask(self, n: int = 1) -> list[int]:
        """The items most worth a label, the best first; empty when there is nothing left to ask.

        Each item is asked about once: it is out until its label is told. Several items are worth asking together:
        each is chosen knowing that the others are out.

        >>> import modelpicker as mp
        >>> pool = mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
        >>> len(pool.ask(3))
        3
        """
        return [question.item for question in self.questions(n)]

    def questions(self, n: int = 1) -> list[PoolQuestion]:
        """The same as `ask`, with how each item was chosen: to be replayed.

        >>> import modelpicker as mp
        >>> pool = mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
        >>> len(pool.questions(2))
        2
        """
        found: list[PoolQuestion] = []
        for _ in range(check_count("n", n)):
            question = self._next_for_audit() or self._next()
            if question is None:
                break
            found.append(question)
        return found

    def tell(self, item: int, label: AnyLabel | None) -> None:
        """Tell the label of an item, asked for or not, in any order; None if nobody can tell.

        A label is a class, or a `Label`: several classes, grades, or which of two answers is better.

        >>> import modelpicker as mp
        >>> pool = mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
        >>> pool.tell(pool.ask(1)[0], "dog")
        >>> pool.labels_used, pool.recommended
        (1, 'large')
        """
        number = self._check_item(item)
        where = f"label of item {number}"
        self._tell(number, read_label(label, where), where)

    def tell_code(self, item: int, code: int | None) -> None:
        """Tell the label of an item as a place in `classes`; None if nobody can tell.

        >>> import modelpicker as mp
        >>> pool = mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
        >>> pool.tell_code(pool.ask(1)[0], pool.classes.index("dog"))
        >>> pool.labels_used
        1
        """
        number = self._check_item(item)
        whole = isinstance(code, int | np.integer) and not isinstance(code, bool)
        if code is not None and not (whole and 0 <= code < len(self.classes)):
            raise InputError(
                f"label of item {number}: {brief(code)} is not a place in the {len(self.classes)} classes."
            )
        self._tell(number, None if code is None else self.classes[code], f"label of item {number}")

    # How it works.

    def _tell(self, item: int, label: AnyLabel | None, where: str) -> None:
        """Learn the label of an item, and when it came."""
        place = self._place(item)
        told = UNKNOWABLE_LABEL
        if label is not None:
            row = self._rows[place] if place >= 0 else self.source.row(item)
            told = self._read.read(label, row, row == NOT_RUN, where)
        if place < 0:
            self._learn_agreed(item, told)
        else:
            self._learn_contested(item, place, told)
        self._audit.tell(item, told is not UNKNOWABLE_LABEL)

    def _learn_agreed(self, item: int, told: ReadLabel) -> None:
        before = self._agreed.get(item)
        if before is not None and before != told.code:
            raise self._told_twice(item, ReadLabel(before), told)
        if told is not UNKNOWABLE_LABEL:
            self._agreed[item] = told.code

    def _learn_contested(self, item: int, place: int, told: ReadLabel) -> None:
        before = ReadLabel(int(self._labels[place]), self._graded.get(place))
        fresh = before.code in (UNKNOWN, OUT) or before.code == UNKNOWABLE
        if fresh and told is not UNKNOWABLE_LABEL:
            self._take_in(place, told)
        elif fresh:
            self._proof.give_up(place)
            self._labels[place] = UNKNOWABLE
        elif not before.same(told):
            raise self._told_twice(item, before, told)
        self._stale = self._stale or fresh

    def _take_in(self, place: int, told: ReadLabel) -> None:
        """Learn the label of a contested item."""
        self._note(place, told)
        self._note_guess(place)
        self._teach()
        self._proof.learn(place)

    def _note_guess(self, place: int) -> None:
        """Note what the guess expects of an item whose label it has not learned yet."""
        self._foreseen[place] = np.rint(100.0 * guess_item(self, place)).astype(np.int8)

    def _teach(self) -> None:
        """Let the guess learn the last label."""
        teach(self._model, self._said, self._labels, np.array(self._learned[-REMEMBERED:], dtype=np.int64))

    def _note(self, place: int, told: ReadLabel) -> None:
        """Note the label of a contested item, without learning from it."""
        self._labels[place] = told.code
        self._learned.append(place)
        if told.scores is not None:
            self._graded[place] = told.scores
            self._proof.scores.grade(place, told.scores)
        self._found.right[:] += self._counted_right(place)

    def _counted_right(self, place: int) -> Floats:
        """How right each model is on a labelled item; one that was not run counts as the mean of the others."""
        scores = self._proof.scores.at([place])[0]
        if self._absent is None or not self._absent[place].any():
            return np.asarray(np.nan_to_num(scores))
        known = scores[~np.isnan(scores)]
        mean = float(known.mean()) if len(known) else 0.0
        found: Floats = np.where(self._absent[place], mean, np.nan_to_num(scores))
        return found

    def _told_twice(self, item: int, before: ReadLabel, told: ReadLabel) -> ConflictError:
        return ConflictError(
            f"item {item} was told to be {self._read.words(before)}, and now to be {self._read.words(told)}; "
            "the first label stands. Make a new pool with the labels that are right."
        )

    def _place(self, item: int) -> int:
        """The place of an item among the contested ones; -1 if all models agree on it."""
        place = int(np.searchsorted(self._contested, item))
        return place if place < len(self._contested) and self._contested[place] == item else -1

    def _check_item(self, item: object) -> int:
        if isinstance(item, bool) or not isinstance(item, int | np.integer):
            raise InputError(f"item {brief(item)} is not the number of an item; pass one that ask() gave.")
        if not 0 <= item < len(self):
            raise NotFoundError(f"there is no item {item}: the pool has {len(self):,} items, from 0 on.")
        return int(item)

    def _unlabelled(self) -> npt.NDArray[np.bool_]:
        """Which contested items have no label yet, but may get one."""
        free: npt.NDArray[np.bool_] = (self._labels == UNKNOWN) | (self._labels == OUT)
        return free

    def _draw_sample(self) -> Ints:
        """The items that are looked at: all of them, or as many as can be in a short time."""
        most = max(1_000, MOST_CELLS // max(1, len(self.models)))
        free = np.flatnonzero(self._unlabelled())
        if len(self._rows) <= most:
            return np.arange(len(self._rows))
        keys = draw_coins(self.seed, SAMPLES + self._resampled * 2**40, -(-len(self._rows) // 4)).ravel()
        self._resampled += 1
        return np.sort(free[np.argsort(keys[free], kind="stable")[:most]])

    def _look(self) -> None:
        """Compare the models again, if anything has changed."""
        if not self._stale or not len(self._rows):
            return
        free = self._unlabelled()
        seen = int(free[self._sample].sum())
        scale = int(free.sum()) / seen if seen else 0.0
        learned = np.array(self._learned, dtype=np.int64)
        self._found.leader[0] = self._led
        compare(
            self._model,
            self._rows,
            self._said,
            self._labels,
            learned,
            graded_items(self._learned, self._graded, self._read.worth, len(self.models)),
            self._sample,
            scale,
            self._jitter,
            self._found,
        )
        self._stale = False

    def _commit(self) -> None:
        """Before a question: the next comparison begins with what is found now. Looks alone change nothing."""
        self._resample_if_due()
        self._led = self._leader()

    def _resample_if_due(self) -> None:
        """Of a large pool, look at other items when half of those that are looked at have a label."""
        free = self._unlabelled()
        if len(self._sample) < len(self._rows) and 2 * int(free[self._sample].sum()) < len(self._sample):
            self._sample = self._draw_sample()
            make_room(self)

    def _leader(self) -> int:
        """Which model leads, by the comparison."""
        if not len(self._rows):
            return int(np.argmax(self._jitter))
        self._look()
        return int(self._found.leader[0])

    def _pick(self) -> int:
        """The leader; but a model that is certified stays, unless another is clearly better."""
        leader = self._favourite()
        if self.price is not None:
            return self._cheapest_certified(leader)
        for trial in self._proof.trials.values():
            behind, doubt = self._found.ahead[trial.model], self._found.doubt[trial.model]
            if trial.model != leader and self._certified(trial.model) and behind * behind <= doubt:
                return trial.model
        return leader

    def _favourite(self) -> int:
        """The model to prove: the leader; with prices, the cheapest that is thought to be close enough to it."""
        leader = self._leader()
        return leader if self.price is None else cheap_favourite(self, leader)

    def _cheapest_certified(self, favourite: int) -> int:
        """The favourite, or a model that is certified already and costs no more."""
        price = np.zeros(len(self.models)) if self.price is None else self.price
        proved = self._certified(favourite)
        found = [one for one in self._proof.trials if one != favourite and self._certified(one)]
        cheaper = [one for one in found if price[one] <= price[favourite] or not proved]
        return min(cheaper, key=lambda one: (price[one], one), default=favourite)

    def _certified(self, model: int) -> bool:
        return self._proof.worse_by(model, self._strict(self.confidence))[0] <= self._proof.allowed

    def _strict(self, confidence: float) -> float:
        """The confidence that the proof must have, so that the error is shared with what the pool may grow by."""
        kept = NOISE_SHARE if self.label_noise else 0.0
        return 1.0 - (1.0 - confidence) * self.error_share * (1.0 - kept)

    def _next_for_audit(self) -> PoolQuestion | None:
        """An item drawn at random from all that are left, if it is time for one.

        When the pick is proven, or no contested item is left, only its accuracy is left to learn.
        """
        if not self._audit.share:
            return None
        coin = float(draw_coins(self.seed, self._asked)[0, 2])
        settled = self.certified or not self._unlabelled().any()
        if settled:
            self._audit.favour(self._pick())
        item = self._audit.draw(coin, always=settled)
        if item < 0:
            return None
        self._asked += 1
        place = self._place(item)
        if place >= 0:
            self._take_out(place)
        return PoolQuestion(item, self._led)

    def _next(self) -> PoolQuestion | None:
        """The next item to ask about, if there is one."""
        if not (self._labels == UNKNOWN).any():
            return None
        self._commit()
        coins = draw_coins(self.seed, self._asked)[0]
        place, draw = self._draw_for_proof(float(coins[1])) if self._may_prove() else (-1, None)
        if draw is None:
            place = self._draw_for_gain(float(coins[0]))
        self._asked += 1
        self._take_out(place)
        item = int(self._contested[place])
        self._audit.ask(item)
        return PoolQuestion(item, self._led, draw)

    def _take_out(self, place: int) -> None:
        """A contested item is asked about; the comparison stays: until its label comes, its guess counts."""
        self._proof.take_out(place)
        self._labels[place] = OUT

    def _may_prove(self) -> bool:
        """Whether the leader is so far from being bad that the proof is worth its labels."""
        slack, sure = float(self._proof.allowed), SURE
        if not slack or len(self._learned) < LOOKING:
            slack, sure = max(0.0, slack - FINE * len(self)), VERY_SURE
        leader = self._favourite()
        lead = self._found.ahead - self._found.ahead[leader] + slack
        clear = (lead > 0.0) & (lead * lead >= sure * sure * self._found.doubt)
        clear[leader] = True
        return bool(clear.all())

    def _on_trial(self) -> Trial:
        """The model that is put to the proof: the leader, or one that was before and is nearly as good.

        One that is certified already and is still not the pick has nothing left to prove.
        """
        return self._proof.trial(self._next_on_trial())

    def _next_on_trial(self) -> int:
        """The model that the next draw for the proof would be about."""
        leader = self._favourite()
        if self.price is not None:
            return leader
        for trial in self._proof.trials.values():
            near = self._found.ahead[trial.model] <= STICKY * self._proof.allowed
            if near and not self._certified(trial.model):
                return trial.model
        return leader

    def _draw_for_proof(self, coin: float) -> tuple[int, PoolDraw | None]:
        """An item drawn at random from those that the proof needs, if it needs any, and how it was drawn."""
        trial = self._on_trial()
        confidence = self._strict(self.confidence)
        playing = ~self._proof.beaten(trial, confidence)
        levels = self._proof.levels(trial, playing, *self._thought(trial, playing), confidence)
        place = self._proof.weights(trial, levels).draw(self._proof.drawable, coin)
        return place, self._bet(place, trial, playing, levels) if place >= 0 else None

    def _thought(self, trial: Trial, playing: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """What is expected of x on the items that are left, against each model in play, and its variance."""
        found = self._found
        left = np.maximum(1, trial.tally.left)
        shift = found.ahead - found.ahead[trial.model]
        # Only what is said about models in play: that is what a replay knows.
        expected = np.where(playing, np.clip((shift - trial.tally.known) / left, -1.0, 1.0), 0.0)
        variance = np.where(playing, found.unsure / np.maximum(1e-9, found.split), 0.0)
        return expected, variance

    def _bet(self, place: int, trial: Trial, playing: npt.NDArray[np.bool_], levels: Ints | None) -> PoolDraw:
        """Bet on an item that was drawn at random, against the models in play."""
        expected, variance = self._thought(trial, playing)
        control = control_of(self, place, trial.model, playing)
        self._proof.draw(place, trial, playing, expected, variance, levels, control)
        in_play = np.flatnonzero(playing)
        taken = None if control is None else control.of(playing)
        return PoolDraw(trial.model, in_play, expected[playing], variance[playing], levels, taken)

    def _draw_for_gain(self, coin: float) -> int:
        """An item drawn in proportion to what its label would tell."""
        self._look()
        chosen = int(choose(self._rows, self._labels, self._sample, self._found, self._asked, coin))
        if chosen >= 0:
            return int(self._sample[chosen])
        left = np.flatnonzero(self._labels == UNKNOWN)
        return int(left[int(coin * len(left))])

    # What slices change.

    def _share_error(self, share: float) -> None:
        """A stage of the proof begins, which may use this share of the error."""
        self.error_share = self.noise_share = share

    def _begin_parts(self) -> None:
        """A stage of the proof has started: that of the slices begins too."""

    def _pools_of(self, item: int) -> "list[tuple[PoolPicker, int]]":
        """The pools that an item is in, and its number in each."""
        return [(self, item)]

    def _replay_part(self, question: PoolQuestion) -> None:
        """A question was replayed: do what it did in the slice of the item."""

    # How it is kept.

    def state_dict(self) -> dict[str, Any]:
        """Everything this pool is but its predictions and what a judge says, in a form that JSON can hold.

        >>> import modelpicker as mp
        >>> pool = mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
        >>> for item in pool.ask(3):
        ...     pool.tell(item, "dog")
        >>> saved = pool.state_dict()
        >>> sorted(saved)[:2]
        ['agreed', 'asked']
        """
        return {
            "version": STATE_VERSION,
            **self._marks,
            "models": list(self.models),
            "seed": self.seed,
            "confidence": self.confidence,
            "tolerance": self.tolerance,
            **({} if self.loss == ACCURATE else {"loss": self.loss.to_json()}),
            **({} if self.price is None else {"price": self.price.tolist()}),
            **({"label_noise": self.label_noise} if self.label_noise else {}),
            **progress_of(self),
        }

    @classmethod
    def from_state_dict(cls, blob: object, predictions: object, *, judge: object = None) -> Self:
        """The pool that `state_dict` described, over the same predictions, with the same judge.

        >>> import modelpicker as mp
        >>> pool = mp.PoolPicker([["cat", "dog"]] * 40 + [["cat", "cat"]] * 60, ["small", "large"], tolerance=0.05)
        >>> for item in pool.ask(3):
        ...     pool.tell(item, "dog")
        >>> predictions = [["cat", "dog"]] * 40 + [["cat", "cat"]] * 60
        >>> mp.PoolPicker.from_state_dict(pool.state_dict(), predictions).labels_used
        3
        """
        if not isinstance(blob, Mapping) or "pool" not in blob:
            raise StateError("this is not the state of a pool; pass what PoolPicker.state_dict() gave.")
        return cls._restored(blob, lambda **given: cls(predictions, judge=judge, **given), "predictions")

    @classmethod
    def _restored(cls, blob: Mapping[str, Any], make: "Callable[..., Self]", made_of: str) -> Self:
        """The pool that a state describes.

        Args:
            blob: the state.
            make: makes the pool of the options that are in the state.
            made_of: what the pool is made of, beside a judge.
        """
        if blob.get("version") != STATE_VERSION:
            raise StateError(
                f"this state has version {blob.get('version')!r}, but this modelpicker reads version "
                f"{STATE_VERSION}; use the modelpicker that saved it."
            )
        try:
            given = {name: blob[name] for name in ("models", "seed", "confidence", "tolerance")}
            given |= {name: blob[name] for name in ("price", "label_noise") if name in blob}
            if "loss" in blob:
                given["loss"] = read_loss(blob["loss"])
            if audit := blob.get("audit"):
                given["audit"] = audit["share"]
            pool = make(**given)
            if any(blob[name] != mark for name, mark in pool._marks.items()):
                raise StateError(
                    f"this state belongs to other {made_of} or another judge; pass those that it was made of."
                )
            load_progress(pool, blob)
        except StateError:
            raise
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise StateError(f"this state of a pool is damaged: {error!r}.") from error
        return pool

    @property
    def _marks(self) -> dict[str, Any]:
        """What tells the pool from others: a state fits no other."""
        return {"pool": self._fingerprint}

    @cached_property
    def _fingerprint(self) -> list[int]:
        """What tells these predictions from others: how many there are, what they are, and of what classes."""
        checksum = zlib.crc32(repr(self.classes).encode())
        for start in range(0, len(self.source.codes), PIECE):
            piece = self.source.codes[start : start + PIECE]
            checksum = zlib.crc32(np.ascontiguousarray(piece, dtype="<i8").tobytes(), checksum)
        if self.source.kept is not None:
            checksum = zlib.crc32(np.ascontiguousarray(self._contested, dtype="<i8").tobytes(), checksum)
        if self.judge is not None:
            checksum = zlib.crc32(np.ascontiguousarray(self.judge, dtype="<i8").tobytes(), checksum)
        return [len(self), len(self._rows), checksum]
