"""The answers that somebody is shown to judge: shuffled, and without who gave which."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

import numpy as np

from modelpicker.encoding import ClassName
from modelpicker.kernels.primitives import Floats


def shuffled_answers(answers: Iterable[ClassName], campaign: str, item: int) -> tuple[ClassName, ...]:
    """Answers in an order that depends on the campaign and the item, says nothing about the models, and stays."""
    return tuple(sorted(answers, key=lambda name: sha256(f"{campaign} {item} {name!r}".encode()).digest()))


def two_strongest(
    answers: Sequence[ClassName | None], behind: Sequence[float] | Floats, leader: int
) -> list[ClassName]:
    """The leader's answer, and the strongest other one: that of the model least behind that says something else.

    Args:
        answers: of each model; None where it abstains.
        behind: by how much each model is thought to be behind.
        leader: the place of the model that leads. If it abstains, the strongest model that answers stands for it.
    """
    order = [leader, *(place for place in np.argsort(behind, kind="stable").tolist() if place != leader)]
    said = dict.fromkeys(name for name in (answers[place] for place in order) if name is not None)
    return list(said)[:2]
