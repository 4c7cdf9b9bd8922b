"""What labels and predictions must have in common, and models that no label can tell apart."""

from collections.abc import Collection, Iterable, Sequence

from modelpicker.collections.spelling import uniform
from modelpicker.collections.tables import quoted
from modelpicker.encoding import ClassName
from modelpicker.errors import InputError

# Classes and models that a message names.
MOST_NAMED = 5
FEW_LABELS = 5


def check_common(where: str, said: Collection[ClassName], told: Collection[ClassName], labels: int) -> None:
    """An error if no model ever predicts any class of the labels: then labels can tell no models apart.

    A few labels of a single class may well be of one that all models miss.
    """
    if not said or not set(said).isdisjoint(told) or (len(told) < 2 and labels < FEW_LABELS):
        return
    alike = {uniform(str(name)) for name in said} & {uniform(str(name)) for name in told}
    advice = (
        "They differ only in spelling: normalise (--normalise) treats them as the same."
        if alike
        else "Write the labels as the models answer; which class stands for which is not guessed."
    )
    raise InputError(
        f"{where}: labels and predictions have no class in common. Labels are {_some(told)}; predictions are "
        f"{_some(said)}. {advice}"
    )


def _some(names: Iterable[ClassName]) -> str:
    ordered = sorted(names, key=lambda name: (isinstance(name, str), name))
    return ", ".join(map(_shown, ordered[:MOST_NAMED])) + (", …" if len(ordered) > MOST_NAMED else "")


def _shown(name: ClassName) -> str:
    """A class; in quotation marks where it could be taken for something else."""
    text = str(name)
    return text if text.isalnum() and len(text) <= 40 else quoted(text)


def identical_notes(groups: Iterable[Sequence[str]]) -> list[str]:
    """Models that give the same answer to every item, by name."""
    return [
        f"{listed_models(group)} give the same answer to every item: no label can tell them apart."
        for group in groups
    ]


def listed_models(names: Sequence[str]) -> str:
    """Some names in a sentence."""
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED:,} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 2 else names)
