"""What a bound is asked with, checked: numbers that a theorem can speak about."""

import math

import numpy as np

from modelpicker.errors import InputError, brief

TIED = "two models are tied for best, and the theorems that need one best model say nothing; leave one of them out."


# More rounds than anything can count, and fewer than a float can.
LARGEST = 10**40


def check_whole(name: str, value: object, least: int = 1) -> int:
    """A whole number from `least` up."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} {brief(value)} is out of range; pass a whole number from {least} up.")
    if value > LARGEST:
        raise InputError(f"{name} {brief(value)} is out of range; pass a whole number up to 10**40.")
    return int(value)


def check_model_count(models: object) -> float:
    """The logarithm of how many models there are, at least two."""
    return math.log(check_whole("models", models, 2))


def check_between(name: str, value: object, low: float, high: float) -> float:
    """A number from `low` to `high`."""
    number = _number(name, value)
    if not low <= number <= high:
        raise InputError(f"{name} {brief(value)} is out of range; pass a number from {low:g} to {high:g}.")
    return number


def check_share(name: str, value: object) -> float:
    """A number above 0, and at most 1."""
    number = _number(name, value)
    if not 0.0 < number <= 1.0:
        raise InputError(f"{name} {brief(value)} is out of range; pass a number above 0 and at most 1.")
    return number


def check_wanted(value: object) -> float:
    """A probability or an accuracy gap that is to be reached."""
    number = _number("wanted", value)
    if not 0.0 < number < 1.0:
        raise InputError(f"wanted {brief(value)} is out of range; pass a number between 0 and 1, such as 0.05.")
    return number


def check_lead(name: str, value: object) -> float:
    """How far the best model is ahead: Δ or λ, which no theorem allows to be 0."""
    if _number(name, value) == 0.0:
        raise InputError(f"{name} {brief(value)}: {TIED}")
    return check_share(name, value)


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InputError(f"{name} {brief(value)} is not a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isnan(number):
        raise InputError(f"{name} {brief(value)} is not a number.")
    return number
