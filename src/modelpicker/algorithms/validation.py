"""What an algorithm is made with, checked: models and numbers that make sense."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from modelpicker.encoding import ModelName
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import Floats
from modelpicker.options import LARGEST_COUNT, Option, scale

Models: TypeAlias = int | Sequence[ModelName]

MOST_MODELS = 1_000_000
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
    """Refuse what is not a name of a model: names are strings, or whole numbers that are not too large."""
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
    return float(scale(option).check(value))


def check_count(option: str, value: object, most: int = LARGEST_COUNT) -> int:
    """An option that is a whole number from 1 up."""
    return int(Option(option, int, low=1, high=most).check(value))


def check_choice(option: str, value: object, choices: Sequence[str]) -> None:
    """An option that is one of a few words."""
    Option(option, str, choices=tuple(choices)).check(value)


def read_price(price: Any, models: Sequence[ModelName]) -> Floats | None:
    """What each model costs per item, checked; None if nothing was said.

    Args:
        price: numbers by model, or one per model.
        models: their names.
    """
    if price is None:
        return None
    if isinstance(price, Mapping):
        missing = [name for name in models if name not in price]
        strange = [name for name in price if name not in models]
        if missing or strange:
            fault = f"{brief(missing[0])} has none" if missing else f"{brief(strange[0])} is not a model"
            raise InputError(f"price: {fault}; give a price for every model: {list(models)}.", parameter="price")
        price = [price[name] for name in models]
    try:
        found = np.array(list(price), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"price {brief(price)}: pass numbers by model, or one per model.", parameter="price"
        ) from error
    if found.shape != (len(models),):
        raise InputError(
            f"there are {len(found)} prices, but {len(models)} models; pass one per model.", parameter="price"
        )
    bad = np.flatnonzero(~(np.isfinite(found) & (found >= 0.0)))
    if len(bad):
        raise InputError(
            f"the price of {brief(models[int(bad[0])])} is {found[bad[0]]:g}; it must be a number from 0.",
            parameter="price",
        )
    return found
