"""Model Picker (paper, Algorithm 1): query where the plausible models disagree most.

Exponential weights over importance-weighted losses, a learning rate that falls with the root of the rounds,
and a query probability equal to the largest variance that any label could show, never below the rate.

With a window, old rounds are forgotten: a round counts a little less with every round that goes by. Losses are kept
as of the last round that a label was learned of; they are brought up to date by a factor, which all models share.
"""

import math
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from modelpicker.algorithms.base import Algorithm
from modelpicker.algorithms.description import AlgorithmDescription
from modelpicker.algorithms.runner import Kernel
from modelpicker.algorithms.validation import Models
from modelpicker.certificates.wealth import power
from modelpicker.errors import InputError
from modelpicker.kernels.primitives import (
    FIRST,
    FOLLOW,
    LEADER,
    SECOND,
    SPARE,
    Codes,
    Floats,
    Ints,
    Scratch,
    agreed,
    best,
    charge,
    drawn,
    fade,
    largest_share,
    query_probability,
    weigh,
)
from modelpicker.options import LARGEST_COUNT, Option, scale


class ModelPickerState(NamedTuple):
    """What Model Picker remembers."""

    losses: Floats  # L̂: mistakes on the labels bought, each over its round's query probability
    standing: Ints
    kept: Ints  # random-round only: the model I_τ of a round τ drawn uniformly from those so far
    as_of: Ints  # window only: the round t in whose terms the losses are; it counts in full, those before it less


class ModelPickerSettings(NamedTuple):
    """What its kernel is told."""

    log_models: float
    sample: bool
    random_round: bool
    longest: float  # rounds after which the learning rate falls no more
    keep: float  # how much of a round's weight is left when another has gone by


def learning_rate(settings: ModelPickerSettings, t: int) -> float:
    """η of round t: it falls with the root of the rounds that count."""
    return math.sqrt(settings.log_models / (2.0 * min(t, settings.longest)))


def faded(state: ModelPickerState, settings: ModelPickerSettings, t: int) -> float:
    """What is left of the losses by round t."""
    return 1.0 if settings.keep == 1.0 else power(settings.keep, t - state.as_of[0])


def decide(
    state: ModelPickerState,
    settings: ModelPickerSettings,
    t: int,
    row: Codes,
    coins: Floats,
    scale: float,
    scratch: Scratch,
) -> tuple[float, int]:
    """The query probability (paper, eq. 1) and the model I_t that predicts."""
    disagreed = not agreed(row)
    renewed = settings.random_round and coins[SECOND] * t < 1.0
    if not (disagreed or renewed):
        return 0.0, FOLLOW
    leader = state.standing[LEADER]
    rate = learning_rate(settings, t)
    weigh(state.losses, state.losses[leader], rate * faded(state, settings, t - 1), scratch.weights)
    share = largest_share(row, leader, scratch)
    if settings.sample:
        speaker = drawn(scratch.cumulated, coins[FIRST])
    else:
        speaker = best(state.losses, state.standing, coins[SPARE])
    if renewed:
        state.kept[0] = speaker
    if not disagreed:
        return 0.0, speaker
    return query_probability(share, rate, scale), speaker


def recommend(state: ModelPickerState, settings: ModelPickerSettings, coin: float) -> int:
    """The model of the smallest estimated loss, or of a random round."""
    if settings.random_round and state.kept[0] >= 0:
        return int(state.kept[0])
    return best(state.losses, state.standing, coin)


def learn(
    state: ModelPickerState, settings: ModelPickerSettings, t: int, row: Codes, lost: Floats, probability: float
) -> None:
    """The unbiased loss estimates: a loss counts one over the probability of having seen it.

    With a window, losses are first brought up to round t; if they are of a later one, t counts less by then.
    """
    if settings.keep == 1.0:
        charge(state.losses, state.standing, lost, 1.0 / probability)
        return
    if t > state.as_of[0]:
        fade(state.losses, state.standing, faded(state, settings, t))
        state.as_of[0] = t
    late = power(settings.keep, state.as_of[0] - t)
    charge(state.losses, state.standing, lost, late / probability)


class ModelPicker(Algorithm):
    """The paper's algorithm: no hyperparameter to tune, no assumption on the stream.

    Args:
        models: how many models, or their names.
        seed: the random seed: all coins are drawn from it.
        query_scale: β, a factor on the variance in the query probability; 1 is the paper's algorithm.
        predict: "sample" predicts what a model drawn from the weights says (Theorem "Regret", adversarial),
            "leader" what the best model so far says (Theorem "Regret", stochastic).
        recommend: "weights" recommends the model of the largest weight, "random-round" the model that
            predicted on a round drawn at random (Theorem "Accuracy Gap", which holds for independent items).
        window: about how many of the last rounds count, for streams whose best model changes: each round counts
            1 - 1/window of what it did a round before. `recommended`, `losses` and `weights` are then those of
            recent rounds. The theorems are about whole streams, so they do not hold; `certificate()` names the
            recommended model, but is about all rounds seen, not of the window. 0 is the paper's algorithm.
        loss: what a mistake costs: "accuracy", weights by class, costs by class and answer, or an `mp.Loss`. It
            does not change how a query is decided: by which class may be right.

    >>> picker = ModelPicker(models=["small", "large", "tuned"], seed=1)
    >>> decision = picker.observe(["cat", "dog", "dog"])
    >>> decision.query, round(decision.probability, 2)
    (True, 0.74)
    >>> picker.learn(decision.round, "dog")
    >>> picker.losses.round(2)
    array([1.35, 0.  , 0.  ])
    """

    name: ClassVar[str] = "model-picker"
    about: ClassVar[AlgorithmDescription] = AlgorithmDescription(
        summary="Queries where the models that may be best disagree; nothing to tune.",
        when_to_use="Use it if items may change over time, or if somebody may have chosen their order.",
        promises="On any stream, its regret grows no faster than the root of the number of items.",
        options=(
            scale(
                "query_scale",
                "A factor on the variance in the query probability: above 1 asks more, below 1 less.",
                default=1.0,
                symbol="β",
                advice="1; 4 for more labels. The floor η_t costs about sqrt(2 T ln k) labels whatever it is",
            ),
            Option(
                "predict",
                str,
                "Who predicts the label: a model drawn from the weights, or the best model so far.",
                "sample",
                choices=("sample", "leader"),
                advice="see below",
            ),
            Option(
                "recommend",
                str,
                "Which model is recommended: that of the largest weight, or that of a random round.",
                "weights",
                choices=("weights", "random-round"),
                advice="see below",
            ),
            Option(
                "window",
                int,
                "About how many of the last rounds count, for streams whose best model changes; 0 for all.",
                0,
                low=0,
                high=LARGEST_COUNT,
                wanted="a whole number from 1 to 2**53, or 0 for all",
                symbol="W",
                advice="0; where the best model may change, as many rounds as it stays the best, or fewer",
            ),
        ),
    )
    dial: ClassVar[str] = "query_scale"
    weighted: ClassVar[bool] = True
    kernel: ClassVar[Kernel] = Kernel(decide, recommend, learn)
    state: ModelPickerState

    def __init__(
        self,
        models: Models,
        seed: int = 0,
        *,
        query_scale: float = 1.0,
        predict: Literal["sample", "leader"] = "sample",
        recommend: Literal["weights", "random-round"] = "weights",
        window: int = 0,
        loss: object = None,
    ) -> None:
        super().__init__(
            models, seed, loss=loss, query_scale=query_scale, predict=predict, recommend=recommend, window=window
        )
        if self.options["window"] and recommend == "random-round":
            raise InputError(
                f"window={window} does not go with recommend='random-round', which names the model of a round "
                "drawn from the whole stream, however old; leave out one of them."
            )

    def start(self, models: int) -> ModelPickerState:
        """No losses, everybody tied."""
        return ModelPickerState(
            losses=np.zeros(models),
            standing=np.array([0, models]),
            kept=np.array([-1]),
            as_of=np.array([0]),
        )

    def settings(self) -> ModelPickerSettings:
        """The variants as the kernel sees them."""
        return ModelPickerSettings(
            log_models=math.log(len(self.models)),
            sample=self.options["predict"] == "sample",
            random_round=self.options["recommend"] == "random-round",
            longest=float(self.options["window"] or math.inf),
            keep=self.keep,
        )

    def check_state(self) -> None:
        """The model kept from a random round must be one, and losses can't be those of a round to come."""
        super().check_state()
        if not -1 <= self.state.kept[0] < len(self.models):
            raise self.damaged(f"it keeps model {self.state.kept[0]}")
        if not 0 <= self.state.as_of[0] <= self.rounds:
            raise self.damaged(f"its losses are as of round {self.state.as_of[0]}, of {self.rounds}")

    @property
    def keep(self) -> float:
        """How much of a round's weight in `losses` is left when another has gone by."""
        return 1.0 - 1.0 / float(self.options["window"] or math.inf)

    @property
    def losses(self) -> Floats:
        """The estimated number of mistakes of each model, old ones counting less if there is a window."""
        return self.state.losses * faded(self.state, self.told, self.rounds)

    @property
    def weights(self) -> Floats:
        """The weights that the next round would use; they sum to 1."""
        weights = np.zeros(len(self.models))
        rate = learning_rate(self.told, self.rounds + 1) * faded(self.state, self.told, self.rounds)
        weigh(self.state.losses, self.state.losses.min(), rate, weights)
        return weights / sum(weights)
