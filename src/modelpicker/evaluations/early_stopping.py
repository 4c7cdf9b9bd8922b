"""Stop an evaluation early: models that are beaten are no longer run, and it ends when the best is certified."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Self, TypeVar

import numpy as np

from modelpicker.algorithms import Race
from modelpicker.algorithms.validation import check_models
from modelpicker.certificates.certificate import Certificate
from modelpicker.coins import check_seed, draw_coins
from modelpicker.encoding import ModelName
from modelpicker.errors import ConflictError, InputError, NotFoundError, StateError, brief, is_number
from modelpicker.kernels.primitives import NOT_RUN
from modelpicker.label import Label
from modelpicker.losses import GRADES

AnyItem = TypeVar("AnyItem")
STATE_VERSION = 1


class EarlyStop:
    """A race of models that are scored item by item: who is still worth running, and whether it is over.

    Args:
        models: their names.
        tolerance: how much worse than the best the winner may be: 0.01 is 1 % of the score.
        confidence: of the proof that the winner is so good.
        seed: of all randomness.

    >>> import modelpicker as mp
    >>> runs = mp.worth_running(range(200), models=["small", "large"])
    >>> isinstance(runs.racing, tuple)
    True
    """

    def __init__(
        self, models: Sequence[str], *, tolerance: float = 0.01, confidence: float = 0.95, seed: int = 0
    ) -> None:
        self.race = Race(list(check_models(models)), seed, tolerance=tolerance, confidence=confidence, loss=GRADES)
        self.models: tuple[ModelName, ...] = self.race.models
        if len(self.models) < 2:
            raise InputError(
                "there is one model, so there is nothing to choose; pass two or more.", parameter="models"
            )
        self.calls = 0
        """How many scores came in."""
        self.items = 0
        """How many items were scored."""

    @property
    def racing(self) -> tuple[ModelName, ...]:
        """The models that are still worth running."""
        return () if self.finished else self.race.racing

    @property
    def finished(self) -> bool:
        """Whether the best model is certified."""
        return self.race.finished

    @property
    def model(self) -> ModelName:
        """The best model, as far as can be told."""
        return self.race.recommended

    @property
    def certificate(self) -> Certificate:
        """What is proven about it, of items like these in general."""
        return self.race.certificate(float(self.race.options["confidence"]), "population")

    def score(self, scores: Mapping[Any, float | None]) -> None:
        """Take in the scores of one item; models that are left out were not run.

        Args:
            scores: from 0 to 1, by model; None: the model was run, and nobody knows how well it did.
        """
        for name in scores:
            if name not in self.models:
                raise NotFoundError(f"there is no model {brief(name)}; there are {brief(list(self.models))}.")
        told = {name: check_score(name, value) for name, value in scores.items() if value is not None}
        if self.finished:
            raise ConflictError(
                f"it is over: {self.model} is the best model. Begin a new evaluation for more items."
            )
        decision = self.race.observe([repr(told[name]) if name in told else NOT_RUN for name in self.models])
        if decision.query:
            self.race.learn(decision.round, Label.graded({repr(value): value for value in told.values()}))
        self.calls += len(scores)
        self.items += 1


def check_score(name: object, value: object) -> float:
    """A score from 0 to 1 as a number."""
    if isinstance(value, bool | np.bool_):
        return float(value)
    if not is_number(value) or not 0.0 <= float(value) <= 1.0:  # type: ignore[arg-type]  # the check itself
        raise InputError(
            f"the score of {name} is {brief(value)}; pass a number from 0 (wrong) to 1 (right). "
            "Divide others by the "
            "highest score."
        )
    return float(value)  # type: ignore[arg-type]


@dataclass(eq=False)
class ScoredItem(Generic[AnyItem]):
    """One item, and the models that are worth running on it.

    >>> import modelpicker as mp
    >>> runs = mp.worth_running(["What is 2 + 2?"], models=["small", "large"])
    >>> item = next(iter(runs))
    >>> item.models
    ('small', 'large')
    """

    place: int
    """Where it stands among the items."""
    item: AnyItem
    wanted: tuple[ModelName, ...]
    """The models that are worth running on it."""
    scores: dict[ModelName, float | None] = field(default_factory=dict)
    """The scores so far."""

    @property
    def models(self) -> tuple[ModelName, ...]:
        """The models to run on it: those that have no score yet."""
        return tuple(name for name in self.wanted if name not in self.scores)

    def score(self, model: ModelName, score: float | None) -> None:
        """Note how well a model did, from 0 to 1 (or true and false); None: it was run, and nobody can tell."""
        if model not in self.wanted:
            raise NotFoundError(
                f"item {self.place}: {brief(model)} is not one of the models to run on it, "
                f"{brief(list(self.wanted))}."
            )
        if model in self.scores:
            raise ConflictError(f"item {self.place}: {model} has a score already, {brief(self.scores[model])}.")
        self.scores[model] = None if score is None else check_score(model, score)


class WorthRunning(Generic[AnyItem]):
    """The items that are still worth running models on; see `worth_running`, which makes it.

    >>> import modelpicker as mp
    >>> scores = {"small": 0.2, "large": 0.9}
    >>> runs = mp.worth_running(range(400), models=["small", "large"])
    >>> for item in runs:
    ...     for model in item.models:
    ...         item.score(model, scores[model])
    >>> runs.model, runs.certified
    ('large', True)
    """

    def __init__(
        self, items: Sequence[AnyItem], stop: EarlyStop, order: Sequence[int], settings: dict[str, Any]
    ) -> None:
        self.items = items
        self.stop = stop
        self._order = order
        self._settings = settings
        self._done: list[list[Any]] = []
        self._open: ScoredItem[AnyItem] | None = None

    def __iter__(self) -> Iterator[ScoredItem[AnyItem]]:
        """Continue with the item that has not all its scores, or with the next one."""
        self._close_if_whole()
        while not self.finished:
            yield self._next()
            if self._open is not None:
                self._close(self._open)

    def __repr__(self) -> str:
        state = "finished" if self.finished else "not finished"
        return f"<WorthRunning: {len(self._done):,} of {len(self.items):,} items, {state}, {self.model!r} leads>"

    @property
    def finished(self) -> bool:
        """Whether nothing is left to run: the best model is certified, or there are no more items."""
        return self.stop.finished or (self._open is None and len(self._done) == len(self.items))

    @property
    def model(self) -> ModelName:
        """The best model, as far as can be told."""
        return self.stop.model

    @property
    def certified(self) -> bool:
        """Whether it is proven to be the best, within the tolerance."""
        return self.stop.finished

    @property
    def certificate(self) -> Certificate:
        """What is proven about it, of items like these in general."""
        return self.stop.certificate

    @property
    def racing(self) -> tuple[ModelName, ...]:
        """The models that are still worth running."""
        return self.stop.racing

    @property
    def calls(self) -> int:
        """How many times a model was run."""
        return self.stop.calls

    @property
    def calls_saved(self) -> int:
        """How many runs were saved so far, of all models on all items."""
        return len(self.stop.models) * len(self.items) - self.stop.calls

    def _next(self) -> ScoredItem[AnyItem]:
        if self._open is None:
            place = int(self._order[len(self._done)])
            self._open = ScoredItem(place, self.items[place], self.stop.racing)
        return self._open

    def _close_if_whole(self) -> None:
        """Take in the last item, if the loop was left after its last score."""
        if self._open is not None and not self._open.models:
            self._close(self._open)

    def _close(self, done: ScoredItem[AnyItem]) -> None:
        """Take in an item whose scores are all there."""
        if done.models:
            raise InputError(
                f"item {done.place} has no score for {', '.join(map(str, done.models))}; call "
                "item.score(model, score) "
                "for each of item.models, with None where nobody can tell."
            )
        self.stop.score(done.scores)
        self._done.append([done.place, [done.scores.get(name, "-") for name in self.stop.models]])
        self._open = None

    def state_dict(self) -> dict[str, Any]:
        """All scores so far, in a form that JSON can hold: `worth_running(…, resume=)` continues from there.

        >>> import modelpicker as mp
        >>> runs = mp.worth_running([1, 2, 3], models=["small", "large"])
        >>> sorted(runs.state_dict())[:2]
        ['confidence', 'items']
        """
        self._close_if_whole()
        return {"version": STATE_VERSION, **self._settings, "scores": [list(one) for one in self._done]}

    def resume(self, state: object) -> Self:
        """Take in what `state_dict` gave."""
        if not isinstance(state, Mapping) or "scores" not in state:
            raise StateError("this is not the state of an evaluation; pass what state_dict() gave.")
        for name, value in {"version": STATE_VERSION, **self._settings}.items():
            if state.get(name) != value:
                raise StateError(
                    f"this state is of another evaluation: its {name} is {brief(state.get(name))}, here it is "
                    f"{brief(value)}."
                )
        try:
            for place, scores in state["scores"]:
                found = self._next()
                if found.place != place:
                    raise StateError(f"this state is damaged: item {place} comes where {found.place} should.")
                found.scores = {n: s for n, s in zip(self.stop.models, scores, strict=True) if s != "-"}
                self._close(found)
        except (TypeError, ValueError, LookupError, ConflictError) as error:
            raise StateError(f"this state of an evaluation is damaged: {error}") from error
        return self


def worth_running(
    items: Sequence[AnyItem],
    models: Sequence[str],
    *,
    tolerance: float = 0.01,
    confidence: float = 0.95,
    seed: int = 0,
    shuffle: bool = True,
    resume: object = None,
) -> WorthRunning[AnyItem]:
    """The items of an evaluation, each with the models that are still worth running on it.

    A model that is beaten is no longer run. The loop ends when the best model is certified, or when the items end.

    Args:
        items: what the models are run on: a list, or anything with a length and places.
        models: their names.
        tolerance: how much worse than the best the winner may be: 0.01 is 1 % of the score.
        confidence: of the proof that the winner is so good.
        seed: of all randomness.
        shuffle: take the items in random order. The proof needs that, unless they already are.
        resume: what `state_dict()` gave, of the same items and models.

    >>> evaluation = worth_running(range(1000), ["good", "bad"], tolerance=0.05)
    >>> for item in evaluation:
    ...     for model in item.models:
    ...         item.score(model, item.item % 10 != 0 if model == "good" else item.item % 2 == 0)
    >>> evaluation.model, evaluation.certified, evaluation.calls
    ('good', True, 80)
    """
    if (
        isinstance(items, str | bytes | Mapping)
        or not hasattr(items, "__getitem__")
        or not hasattr(items, "__len__")
    ):
        raise InputError(f"items {brief(items)}: pass a list; list(…) makes one of what comes one by one.")
    stop = EarlyStop(models, tolerance=tolerance, confidence=confidence, seed=seed)
    order = np.arange(len(items))
    if shuffle:
        keys = draw_coins(check_seed(seed), 2**62, -(-len(items) // 4)).ravel()[: len(items)]
        order = np.argsort(keys, kind="stable")
    settings = {
        "items": len(items),
        "models": list(stop.models),
        "tolerance": float(tolerance),
        "confidence": float(confidence),
        "seed": int(seed),
        "shuffle": bool(shuffle),
    }
    made = WorthRunning(items, stop, order.tolist(), settings)
    return made if resume is None else made.resume(resume)
