"""The words of a certificate: what is proven in one line; of what, and under which condition, in a second one."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from modelpicker.losses import ACCURACY, BALANCED, GRADES, PREFERENCE, Loss

PROVEN, SO_FAR, NOT_PROVEN = "Proven: ", "So far: ", "Not proven yet"
CAN_STOP = "You can stop."
# Losses whose differences are in percentage points.
IN_POINTS = (ACCURACY, GRADES, BALANCED)


@dataclass(frozen=True, slots=True)
class Wording:
    """What the two lines say besides the gap.

    Attributes:
        model: the model that the certificate is about.
        loss: what the gap is a share of.
        confidence: of the statement.
        certain: whether the statement holds without any chance of error.
        where: of which items it speaks: "these 1,497 items".
        best: what the model is compared with.
        noise: the highest probability that a label is wrong.
    """

    model: str
    loss: Loss
    confidence: float
    certain: bool
    where: str
    best: str = "the best model"
    noise: float = 0.0

    def lines(self, gap: float) -> str:
        """The two lines of a certificate, or that nothing is proven."""
        if gap >= 1.0:
            return f"{NOT_PROVEN}."
        sure = how_certain(self.confidence, self.certain)
        said = statement(self.model, gap, self.loss.name, best=self.best, worst=_worst(self.loss))
        shares = ", with the class shares that you gave" if self.loss.name == BALANCED else ""
        return f"{PROVEN}{said} ({sure}).\nOf {self.where}{shares}.{if_few_are_wrong(self.noise)}"


def how_certain(confidence: float, certain: bool = False) -> str:
    """How certain a statement is, in a word or two."""
    return "certain" if certain else f"{100.0 * confidence:.12g}% confidence"


def statement(
    model: str, gap: float, loss: str = ACCURACY, *, best: str = "the best model", worst: str = "the worst mistake"
) -> str:
    """By how much at most a model is worse than the best one, in the words of the loss.

    >>> statement("bert", 0.007)
    'bert is at most 0.7 points less accurate than the best model'
    """
    if not gap:
        return _nothing_is_better(model, loss, best.removeprefix("the best model"))
    if loss == PREFERENCE:
        return f"no model beats {model} by more than {rounded_up(gap)} of the items"
    if loss == GRADES:
        return f"the mean grade of {model} is at most {points(gap)} of 100 lower than that of {best}"
    if loss == BALANCED:
        return f"the balanced accuracy of {model} is at most {points(gap)} lower than that of {best}"
    if loss != ACCURACY:
        more = f"{rounded_up(gap)} of {worst}"
        return f"the mistakes of {model} cost at most {more} more per item than those of {best}"
    return f"{model} is at most {points(gap)} less accurate than {best}"


def _nothing_is_better(model: str, loss: str, which: str) -> str:
    """No model is better at all; `which` says which models count."""
    if loss == PREFERENCE:
        return f"no model{which} beats {model}"
    if loss == GRADES:
        return f"no model{which} has a higher mean grade than {model}"
    if loss == BALANCED:
        return f"no model{which} has a higher balanced accuracy than {model}"
    if loss != ACCURACY:
        return f"no model{which} makes cheaper mistakes per item than {model}"
    return f"no model{which} is more accurate than {model}"


def _worst(loss: Loss) -> str:
    """The worst mistake, with what it costs."""
    return f"the worst mistake ({loss.dearest:g})"


def points(share: float) -> str:
    """A difference in percentage points, rounded up.

    >>> points(0.00935), points(0.01)
    ('0.935 points', '1 point')
    """
    number = rounded_up(share).removesuffix("%")
    return f"{number} point" if number == "1" else f"{number} points"


def amount(share: float, loss: str) -> str:
    """A difference in the unit of the loss, rounded up: in points, or in percent of the items or the worst cost."""
    return points(share) if loss in IN_POINTS else rounded_up(share)


def rounded_up(share: float) -> str:
    """A share in percent, rounded up to three digits: a certificate must not claim more than is proven.

    >>> rounded_up(0.0093521)
    '0.936%'
    """
    exact = Decimal(repr(share)) * 100
    digits = 2 - exact.adjusted() if exact else 0
    rounded = exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_CEILING)
    return f"{rounded.normalize():f}%"


def if_few_are_wrong(label_noise: float) -> str:
    """How many labels may be wrong, as a sentence after that of a certificate; empty if none may be."""
    noise = f"{100.0 * label_noise:.12g}%"
    return f" This holds if each label is wrong with a probability of at most {noise}." if label_noise else ""


def items_of(number: int, what: str = "these") -> str:
    """The items that a certificate is about."""
    return f"{what} {number:,} items" if number != 1 else f"{'this' if what == 'these' else what} one item"


def with_advice(sentence: str, reached: bool | None, more: str = "") -> str:
    """The lines of a certificate, and whether a person can stop.

    Args:
        sentence: the lines of the certificate; empty if they are not worth saying.
        reached: whether the goal is reached; None if there is no goal.
        more: how many more labels are needed, if that is known: "about 40 more labels".

    >>> print(with_advice("Not proven yet.", False, "about 40 more labels"))
    Not proven yet: about 40 more labels.
    """
    not_yet = f"{NOT_PROVEN}{f': {more}' if more else ''}."
    if sentence in ("", f"{NOT_PROVEN}."):
        return not_yet
    if reached:
        return f"{sentence} {CAN_STOP}"
    if reached is None or not sentence.startswith(PROVEN):
        return sentence
    return f"{not_yet}\n{SO_FAR}{' '.join(sentence.removeprefix(PROVEN).splitlines())}"
