"""An algorithm from its name and what the command line says about it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast

import typer
from typer.core import TyperCommand

from modelpicker.certificates.stop_rule import CONFIDENCE, GAP, KIND
from modelpicker.errors import InputError, UnknownOptionError
from modelpicker.options import REQUIRED, spelt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modelpicker.algorithms import Algorithm
    from modelpicker.algorithms.description import AlgorithmDescription
    from modelpicker.certificates.certificate import Certified
    from modelpicker.options import Option

Named: TypeAlias = Annotated[
    str,
    typer.Option(
        help="The algorithm: one of those that are listed below, one that another package brings, or module:Class.",
        metavar="NAME",
    ),
]
Options: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="An option of the algorithm, such as query_scale=2; they are listed below.",
        metavar="NAME=VALUE",
        show_default=False,
    ),
]
StopGap: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        "--stop-gap",
        min=GAP.low,
        help="Ask for no more labels once the best model is certified to be better by at most this: 0.01 is 1 %.",
        show_default=False,
    ),
]
Confidence: TypeAlias = Annotated[float, typer.Option(help=CONFIDENCE.help)]
KindNamed: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help=f"{KIND.help}  [default: {KIND.default} with --stop-gap, else stream]",
        show_default=False,
    ),
]


def tolerance(default: str) -> Any:
    """The option that says when to stop; what holds without it depends on the verb."""
    return typer.Option(
        "--tolerance",
        "--stop-gap",
        min=GAP.low,
        help="Ask for no more labels once the pick is certified to be this close to the best model: 0.01 is 1 %. "
        f" [default: {default}]",
        show_default=False,
    )


class AlgorithmHelp(TyperCommand):
    """A verb whose help ends with what the algorithms say about themselves; they are imported only to show it."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 (as it is called)
        """List the algorithms, each with its options."""
        from modelpicker.algorithms import ALGORITHMS

        _list_algorithms(formatter, "Algorithms", {name: kind.about for name, kind in ALGORITHMS.items()})


class ComparisonHelp(AlgorithmHelp):
    """The same for a verb that also compares on pools."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """List the algorithms for streams and those for pools."""
        from modelpicker.experiments.pool_methods import POOL_METHODS, PoolMethod

        super().format_epilog(ctx, formatter)
        pools = {name: one.rule.about for name, one in POOL_METHODS.items() if isinstance(one, PoolMethod)}
        _list_algorithms(formatter, "Algorithms with --setting pool, besides race", pools)


def _list_algorithms(formatter: Any, title: str, algorithms: "Mapping[str, AlgorithmDescription]") -> None:
    """A section of the help: each algorithm with its options."""
    with formatter.section(title):
        for name, about in algorithms.items():
            formatter.write_dl([(name, f"{about.summary} {about.when_to_use}")], col_max=20)
            if about.options:
                with formatter.indentation():
                    formatter.write_dl([(option.name, _in_help(option)) for option in about.options], col_max=18)


def _in_help(option: "Option") -> str:
    """An option of an algorithm: what it is, which values it takes, and what it is where nothing is said."""
    usual = option.usual if option.required else option.default
    default = "" if usual is REQUIRED else f"; default: {'none' if usual is None else spelt(usual)}"
    return f"{option.help}  [{option.range}{default}]"


def algorithm_names() -> tuple[str, ...]:
    """The names of all algorithms that are installed."""
    from modelpicker.algorithms.registry import known_names

    return known_names()


def stopping_rule(gap: float | None, confidence: float, kind: str | None) -> "Certified":
    """When to stop, as the command line says it; without a gap, what certificate is wanted in the end."""
    from modelpicker.certificates.certificate import Certified

    usual = "stream" if gap is None else KIND.default
    try:
        return Certified(gap=0.0 if gap is None else gap, confidence=confidence, kind=cast("Any", kind or usual))
    except InputError as error:
        hints = {"gap": "'--tolerance' / '--stop-gap'", "confidence": "--confidence", "kind": "--kind"}
        meant = f" ({gap:g} % is {gap / 100:g}.)" if error.parameter == "gap" and gap and 1 <= gap < 100 else ""
        raise typer.BadParameter(f"{error}{meant}", param_hint=hints.get(error.parameter or "")) from None


def make_algorithm(
    name: str, models: Sequence[str], seed: int, given: dict[str, Any], *, classes: int
) -> "Algorithm":
    """A picker; an option that it does not take is wrong usage."""
    from modelpicker.algorithms import registry

    try:
        return registry.make_algorithm(registry.find_algorithm(name), models, seed, given, classes)
    except UnknownOptionError as error:
        raise typer.BadParameter(str(error), param_hint="--option") from None


def check_name(algorithm: str, hint: str = "--algorithm") -> None:
    """Refuse, as wrong usage, an algorithm that there is not."""
    from modelpicker.algorithms.registry import find_algorithm

    try:
        find_algorithm(algorithm)
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint=hint) from None


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
