"""How much less accurate than the pick each model is: differences of mistakes, over the rounds that they speak of.

Estimates speak of the rounds in which labels could be bought: not of those that came when the budget was spent, nor
of those after a race was won. A query without an answer, because it waits or was skipped, says nothing either: with
the probability q it stood for 1/q rounds, and so many are left out. What remains is what a gap is a share of.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from modelpicker.algorithms import Algorithm
from modelpicker.algorithms.options import ModelName
from modelpicker.campaigns.events import Joining
from modelpicker.guarantees.wealth import power

Unanswered = Mapping[int, float]
"""Rounds that were queried and have no label, each with the probability of its query."""


class Measured(NamedTuple):
    """How a model compares with the others."""

    estimate: float
    """Its estimated mistakes; of a model that was eliminated, at the rate of the rounds until then."""
    rate: float
    """Its mistakes per round, up to a constant that all models share."""
    rounds: float
    """Of how many rounds that speaks."""


class Span(NamedTuple):
    """Consecutive rounds: from `first` on, before `last`; so many labels were told of them."""

    first: int
    last: int
    labels: int


def share_known(picker: Algorithm, span: Span, unanswered: Unanswered) -> float:
    """The share of the rounds of a span that the estimates speak of; with a window, old rounds count less."""
    missing = {number: chance for number, chance in unanswered.items() if span.first <= number < span.last}
    if not missing:
        return 1.0
    # Summed exactly, so that the order in which queries were made or answered does not matter.
    lost = math.fsum(power(picker.keep, picker.rounds - 1 - number) / chance for number, chance in missing.items())
    share = 1.0 - lost / counted(picker, span)
    if min(missing.values()) == 1.0:
        return share
    # 1/q is right in the mean only: never more is left out than the share of the queries without an answer.
    return max(share, span.labels / (len(missing) + span.labels))


def counted(picker: Algorithm, span: Span) -> float:
    """How many rounds' mistakes the losses hold of a span."""
    return picker.counted(max(0, span.last - span.first), max(0, picker.rounds - span.last))


def measure(
    picker: Algorithm,
    covered: int,
    unanswered: Unanswered,
    labels: Sequence[int],
    joined: Mapping[ModelName, Joining],
) -> list[Measured]:
    """How each model compares with the others.

    A model that joined late is compared, over the rounds since, with the model whose record it took over.

    Args:
        picker: whose estimates they are.
        covered: labels could be bought in so many rounds, the first ones.
        unanswered: queries without a label.
        labels: how many labels speak of each model.
        joined: the models that joined late, in the order of their joining.
    """
    tally = picker.tally(covered)
    spans = [Span(*span) for span in zip(tally.first.tolist(), tally.last.tolist(), labels, strict=True)]
    shares = {span: share_known(picker, span, unanswered) for span in set(spans)}
    losses = dict(zip(picker.models, tally.losses.tolist(), strict=True))
    whole, level = spans[tally.reference], float(tally.losses[tally.reference])
    found: dict[ModelName, Measured] = {}
    for model, span in zip(picker.models, spans, strict=True):
        rate = _over(losses[model] - level, counted(picker, span) * shares[span])
        estimate = losses[model]
        if span.last != whole.last:
            estimate = level + rate * counted(picker, whole) * shares[whole]
        found[model] = Measured(estimate, rate, (span.last - span.first) * shares[span])
    for model, change in joined.items():  # in the order of joining: the models that they followed come first
        if model in found and change.heir_of in found and _earlier(change.heir_of, model, joined):
            told = labels[picker.models.index(model)]
            since = Span(change.round, max(covered, change.round), told)
            share = share_known(picker, since, unanswered)
            own = _over(losses[model] - losses[change.heir_of], counted(picker, since) * share)
            rate = found[change.heir_of].rate + own
            found[model] = Measured(losses[model], rate, (since.last - since.first) * share)
    return [found[model] for model in picker.models]


def _over(difference: float, rounds: float) -> float:
    return difference / rounds if rounds > 0.0 else difference


def _earlier(heir_of: ModelName, model: ModelName, joined: Mapping[ModelName, Joining]) -> bool:
    """Whether the model that another one followed has taken part ever since, and did not leave and join again."""
    order = list(joined)
    return heir_of not in joined or order.index(heir_of) < order.index(model)
