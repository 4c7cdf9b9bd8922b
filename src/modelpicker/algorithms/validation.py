"""What an algorithm is made with, checked: models and numbers that make sense."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from modelpicker.encoding import ModelName
from modelpicker.errors import InputError, brief

Models: TypeAlias = int | Sequence[ModelName]

MOST_MODELS = 1_000_000
MOST_ROUNDS = 2**53  # whole numbers up to here are exact as floating-point numbers
LARGEST_SCALE = 1e100  # its square, and that times whatever a kernel multiplies it with, are still finite
LARGEST_NAME = 2**63 - 1  # of a model that goes by a number


def check_models(models: object) -> tuple[ModelName, ...]:
    """The names of the models: at least two, all different."""
    if hasattr(models, "tolist") and not isinstance(models, np.generic):  # an array, an index of a data frame
        models = models.tolist()
    if isinstance(models, int | np.integer) and not isinstance(models, bool):
        names: tuple[ModelName, ...] = tuple(range(min(int(models), MOST_MODELS + 1)))
    elif isinstance(models, str | bytes) or not isinstance(models, Sequence):
        raise InputError(
            f"models {brief(models)}: pass how many models there are, or a list of their names.",
            parameter="models",
        )
    else:
        names = tuple(name.item() if isinstance(name, np.generic) else name for name in models)
    if not 2 <= len(names) <= MOST_MODELS:
        raise InputError(
            f"models {brief(models)}: there must be at least two models, and at most {MOST_MODELS:,}.",
            parameter="models",
        )
    for name in names:
        check_model(name)
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise InputError(f"model name {brief(twice)} is given twice; names must differ.", parameter="models")
    return names


def check_model(name: object) -> None:
    """Refuse what is no name of a model: names are strings, or whole numbers that are not too large."""
    if isinstance(name, bool) or not isinstance(name, int | str):
        raise InputError(
            f"model name {brief(name)} is a {type(name).__name__}; names are strings or integers.",
            parameter="models",
        )
    if isinstance(name, int) and abs(name) > LARGEST_NAME:
        raise InputError(
            f"model name {brief(name)} is out of range; pass a string, or an integer up to 2**63 - 1.",
            parameter="models",
        )


def check_scale(option: str, value: object) -> float:
    """An option that is a number from 0 up, and not beyond all measure."""
    number = _number(option, value)
    if not 0.0 <= number <= LARGEST_SCALE:
        raise _out_of_range(option, value, "a finite number from 0 up, and at most 1e100")
    return number


def check_count(option: str, value: object, most: int = MOST_ROUNDS) -> int:
    """An option that is a whole number from 1 up."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(
            f"{option}={brief(value)} is not a count; pass a whole number from 1 up.", parameter=option
        )
    if value > most:
        largest = "2**53" if most == MOST_ROUNDS else f"{most:,}"
        raise InputError(f"{option}={brief(value)} is out of range; the largest is {largest}.", parameter=option)
    return int(value)


def check_fraction(option: str, value: object) -> float:
    """An option that is a fraction, from 0 up and below 1."""
    number = _number(option, value)
    if not 0.0 <= number < 1.0:
        raise _out_of_range(option, value, "a number from 0 up and below 1")
    return number


def check_window(option: str, value: object) -> int:
    """An option that says how many rounds count: a whole number from 1 up, or 0 for all of them."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= MOST_ROUNDS:
        raise InputError(
            f"{option}={brief(value)} is no number of rounds; pass a whole number from 1 to 2**53, or 0 for all.",
            parameter=option,
        )
    return int(value)


def check_probability(option: str, value: object) -> float:
    """An option that is a probability above 0."""
    number = _number(option, value)
    if not 0.0 < number <= 1.0:
        raise InputError(
            f"{option}={brief(value)} is not a probability; pass a number above 0 and at most 1.", parameter=option
        )
    return number


def _number(option: str, value: object) -> float:
    """A number as a floating-point number; infinite if it is too large for one."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InputError(f"{option}={brief(value)} is not a number.", parameter=option)
    try:
        return float(value) + 0.0  # there is one zero
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _out_of_range(option: str, value: object, wanted: str) -> InputError:
    return InputError(f"{option}={brief(value)} is out of range; pass {wanted}.", parameter=option)


def check_choice(option: str, value: object, choices: Sequence[str]) -> None:
    """An option that is one of a few words."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(map(repr, choices))
        raise InputError(f"{option}={brief(value)} is not known; pass one of {known}.", parameter=option)
