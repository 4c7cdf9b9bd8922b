"""How much less accurate than the pick each model is: differences of mistakes, over the rounds that they are about.

Estimates are about the rounds in which labels could be bought: not of those that came when the budget was spent,
nor
of those after a race was won. Of a model that was eliminated they speak until then, and its mistakes are counted on
the labels of those rounds. Where queries have no answer, because they wait or were skipped, the labels are about a
part of the rounds only: of the share of the queries that are answered.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from modelpicker.algorithms import Algorithm
from modelpicker.algorithms.base import Tally
from modelpicker.campaigns.events.event_types import Joining
from modelpicker.encoding import ModelName
from modelpicker.kernels.primitives import Floats

Unanswered = Sequence[int]
"""Rounds that were queried and have no label, in order."""
Labelled = Mapping[int, Floats]
"""Rounds that have a label, each with the loss of every model; NaN where it is not known."""


class Measured(NamedTuple):
    """How a model compares with the others."""

    estimate: float
    """Its estimated mistakes; of a model that was eliminated, at the rate of the rounds until then."""
    rate: float
    """Its mistakes per round, up to a constant that all models share."""
    rounds: float
    """Of how many rounds that speaks."""
    labels: int
    """How many labels that rests on."""


class Span(NamedTuple):
    """Consecutive rounds: from `first` on, before `last`; that many labels were told about them."""

    first: int
    last: int
    labels: int


def share_known(picker: Algorithm, span: Span, unanswered: Unanswered) -> float:
    """The share of the queries in a span that are answered; with a window, of those that still count."""
    first = span.first
    if picker.keep < 1.0:
        first = max(first, picker.rounds - round(1.0 / (1.0 - picker.keep)))
    missing = max(0, bisect_left(unanswered, span.last) - bisect_left(unanswered, first))
    return span.labels / (span.labels + missing) if span.labels else 1.0


def counted(picker: Algorithm, span: Span) -> float:
    """How many rounds' mistakes the losses hold of a span."""
    return picker.counted(max(0, span.last - span.first), max(0, picker.rounds - span.last))


def measure(
    picker: Algorithm,
    covered: int,
    unanswered: Unanswered,
    labels: Sequence[int],
    joined: Mapping[ModelName, Joining],
    labelled: Labelled,
) -> list[Measured]:
    """How each model compares with the others.

    A model that joined late is compared, over the rounds since, with the model whose record it took over.

    Args:
        picker: whose estimates they are.
        covered: labels could be bought in that many rounds, the first ones.
        unanswered: queries without a label.
        labels: how many labels there are since each model takes part.
        joined: the models that joined late, in the order of their joining.
        labelled: what each label says about every model; only needed of algorithms that drop models.
    """
    tally = picker.tally(covered)
    if picker.drops and len(set(tally.last.tolist())) > 1:
        return _compared_on_labels(picker, tally, unanswered, labelled)
    losses = dict(zip(picker.models, tally.losses.tolist(), strict=True))
    level = min(losses.values())
    spans = [Span(*span) for span in zip(tally.first.tolist(), tally.last.tolist(), labels, strict=True)]
    shares = {span: share_known(picker, span, unanswered) for span in set(spans)}  # most models have the same span
    known = {span: counted(picker, span) * share for span, share in shares.items()}
    found: dict[ModelName, Measured] = {}
    for model, span in zip(picker.models, spans, strict=True):
        rate = _over(losses[model] - level, known[span])
        found[model] = Measured(losses[model], rate, (span.last - span.first) * shares[span], span.labels)
    for model, change in joined.items():  # in the order of joining: the models that they followed come first
        if model in found and change.heir_of in found and _earlier(change.heir_of, model, joined):
            since = Span(change.round, max(covered, change.round), labels[picker.models.index(model)])
            share = share_known(picker, since, unanswered)
            own = _over(losses[model] - losses[change.heir_of], counted(picker, since) * share)
            rate = found[change.heir_of].rate + own
            found[model] = Measured(losses[model], rate, (since.last - since.first) * share, since.labels)
    return [found[model] for model in picker.models]


def _compared_on_labels(
    picker: Algorithm, tally: Tally, unanswered: Unanswered, labelled: Labelled
) -> list[Measured]:
    """Where models were eliminated: each against the recommended one, on the labels of the rounds until then."""
    numbers = np.array(sorted(labelled), dtype=np.int64)
    lost = np.array([labelled[number] for number in numbers.tolist()], dtype=np.float64)
    lost = lost.reshape(len(numbers), len(picker.models))
    best = picker.models.index(picker.recommended)
    whole = int(tally.last.max())
    level = float(tally.losses[best])
    known = whole * share_known(picker, Span(0, whole, len(numbers)), unanswered)
    found = []
    for place, end in enumerate(tally.last.tolist()):
        upto = int(np.searchsorted(numbers, end))
        span = Span(0, end, upto)
        share = share_known(picker, span, unanswered)
        behind = float(np.nansum(lost[:upto, place] - lost[:upto, best]))
        rate = _over(behind, end * share)
        found.append(Measured(level + rate * known, rate, end * share, upto))
    return found


def _over(difference: float, rounds: float) -> float:
    return difference / rounds if rounds > 0.0 else difference


def _earlier(heir_of: ModelName, model: ModelName, joined: Mapping[ModelName, Joining]) -> bool:
    """Whether the model that another one followed has taken part ever since, and did not leave and join again."""
    order = list(joined)
    return heir_of not in joined or order.index(heir_of) < order.index(model)
