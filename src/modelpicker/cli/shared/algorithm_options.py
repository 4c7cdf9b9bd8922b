"""An algorithm from its name and what the command line says of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast

import typer

from modelpicker.errors import InputError, UnknownOptionError

if TYPE_CHECKING:
    from modelpicker.algorithms import Algorithm
    from modelpicker.certificates.certificate import Certified

NAMES = (
    "model-picker",
    "label-efficient",
    "vote-entropy",
    "structural-committee",
    "importance-weighted",
    "efficient-active",
    "race",
)

Named: TypeAlias = Annotated[str, typer.Option(help=f"One of {', '.join(NAMES)}.", metavar="NAME")]
Options: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="A setting of the algorithm, such as query_scale=2.", metavar="NAME=VALUE", show_default=False
    ),
]
StopGap: TypeAlias = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="Ask for no more labels once the best model is certified to be better by at most this: 0.01 is 1 %.",
        show_default=False,
    ),
]
Confidence: TypeAlias = Annotated[
    float, typer.Option(help="Confidence of the certificate: how likely it is never wrong, whenever you look.")
]
KindNamed: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="Of the certificate. stream: on the items seen so far, whatever they are. population: of the models' "
        "accuracies, if items are drawn independently from one distribution.  "
        "[default: population with --stop-gap, else stream]",
        show_default=False,
    ),
]


def stopping_rule(gap: float | None, confidence: float, kind: str | None) -> "Certified":
    """When to stop, as the command line says it; without a gap, what certificate is wanted in the end."""
    from modelpicker.certificates.certificate import Certified

    usual = "stream" if gap is None else "population"
    try:
        return Certified(gap=0.0 if gap is None else gap, confidence=confidence, kind=cast("Any", kind or usual))
    except InputError as error:
        hints = {"gap": "--stop-gap", "confidence": "--confidence", "kind": "--kind"}
        raise typer.BadParameter(str(error), param_hint=hints.get(error.parameter or "")) from None


def make_algorithm(
    name: str, models: Sequence[str], seed: int, given: dict[str, Any], *, classes: int
) -> "Algorithm":
    """A picker; an option that it does not take is wrong usage."""
    from modelpicker.algorithms import registry

    try:
        return registry.make_algorithm(registry.find_algorithm(name), models, seed, given, classes)
    except UnknownOptionError as error:
        raise typer.BadParameter(str(error), param_hint="--option") from None


def check_name(algorithm: str) -> None:
    """Refuse, as wrong usage, an algorithm that there is not."""
    if algorithm not in NAMES:
        names = ", ".join(NAMES)
        raise typer.BadParameter(f"{algorithm} is not known; there are {names}.", param_hint="--algorithm")


def check_options(name: str, given: dict[str, Any]) -> None:
    """Refuse, as wrong usage, options that an algorithm does not take."""
    make_algorithm(name, ["one", "other"], 0, given, classes=2)


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
