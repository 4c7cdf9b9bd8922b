"""An algorithm from its name and what the command line says of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from modelpicker.algorithms import Algorithm

NAMES = (
    "model-picker",
    "label-efficient",
    "vote-entropy",
    "structural-committee",
    "importance-weighted",
    "efficient-active",
)
# Options without which an algorithm cannot be made, where nothing better is known.
USUAL = {"structural-committee": {"beta": 1.0}, "efficient-active": {"c0": 0.0003}}
UNPACED = 0.1


def make_algorithm(
    name: str,
    models: Sequence[str],
    seed: int,
    given: dict[str, Any],
    *,
    classes: int,
    budget: int | None,
    divided: int,
) -> "Algorithm":
    """A picker; label efficient is paced to its budget over the rounds on which models disagree."""
    from modelpicker.experiments.methods import METHODS

    kind: Any = METHODS[name].algorithm
    usual: dict[str, Any] = dict(USUAL.get(name, {}))
    if name == "vote-entropy":
        usual["classes"] = max(2, classes)
    if name == "label-efficient":
        usual["probability"] = UNPACED if budget is None else min(1.0, budget / max(1, divided))
    try:
        picker: Algorithm = kind(models, seed, **(usual | given))
    except TypeError:
        known = list(dict.fromkeys([*usual, *(kind.__init__.__kwdefaults__ or {})]))
        strange = ", ".join(sorted(set(given) - set(known)))
        raise typer.BadParameter(
            f"{name} does not take {strange or 'these'}; it takes {', '.join(known)}.", param_hint="--option"
        ) from None
    return picker


def parse_options(pairs: Sequence[str]) -> dict[str, Any]:
    """Options given as NAME=VALUE, numbers as numbers."""
    options: dict[str, Any] = {}
    for pair in pairs:
        name, mark, value = pair.partition("=")
        if not mark or not name:
            raise typer.BadParameter(
                f"{pair}: pass it as NAME=VALUE, such as query_scale=2.", param_hint="--option"
            )
        options[name.strip().replace("-", "_")] = _value(value.strip())
    return options


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
