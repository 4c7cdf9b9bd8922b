"""A plugin of pytest: the fixture `assert_not_worse` fails a test unless a challenger passes the gate.

Pytest imports this file at its start, so it imports nothing heavy.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pytest

if TYPE_CHECKING:
    from modelpicker.evaluations import Gate

Undecided: TypeAlias = Literal["fail", "skip", "pass"]
UNDECIDED = ("fail", "skip", "pass")


def assert_not_worse(
    source: object,
    champion: str,
    challenger: str,
    gap: float | None = None,
    *,
    undecided: Undecided = "fail",
    **options: Any,
) -> "Gate":
    """Fail unless the challenger is certified not to be worse than the champion by more than the gap.

    Args:
        source: a file, a data frame or a collection; or, with `scores=True`, a mapping with a list of scores
            for each
            of the two: `{"prod": [1, 0.5, …], "new": […]}`.
        champion: the model in use.
        challenger: the model that may replace it.
        gap: how much worse the challenger may be; 0.01 by default, which is 1 % of accuracy.
        undecided: what happens if there are too few labels: "fail", "skip" or "pass".
        options: what `mp.gate` takes, such as `of="population"`, `require="better"` or `labels=`.
    """
    __tracebackhide__ = True
    from modelpicker.errors import InputError, brief
    from modelpicker.evaluations import gate

    if undecided not in UNDECIDED:
        raise InputError(f"undecided {brief(undecided)}: pass {', '.join(UNDECIDED)}.", parameter="undecided")
    found = gate(source, champion, challenger, gap, **options)
    told = f"{found.sentence}\n{found.difference.sentence}"
    if found.verdict == "undecided" and undecided == "skip":
        pytest.skip(found.sentence)
    if found.verdict == "fail" or (found.verdict == "undecided" and undecided == "fail"):
        raise AssertionError(told)
    return found


@pytest.fixture(name="assert_not_worse")
def _assert_not_worse() -> "Callable[..., Gate]":
    """Fail unless a challenger is certified not to be worse than a champion; see the function of this name."""
    return assert_not_worse
