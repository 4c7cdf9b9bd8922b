"""`modelpicker compare`: the paper's protocol on your own collection."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from modelpicker.cli.shared import algorithm_options
from modelpicker.cli.shared.engine_options import EngineOption, Scheduler, Workers, one_of
from modelpicker.cli.shared.read_collection import read_collection, with_reading
from modelpicker.cli.shared.terminal import (
    Json,
    LabelsOption,
    Seed,
    SourceArgument,
    listed,
    print_json,
    print_notes,
    say,
    visible,
)
from modelpicker.errors import InputError, MissingExtraError
from modelpicker.extras import require

if TYPE_CHECKING:
    from modelpicker.experiments.pool_methods import AnyMethod


# What an option of a method looks like.
EXAMPLES = {"stream": "structural-committee.disagreement_scale=10", "pool": "model-selector.epsilon=0.4"}
# Of a budget.
MOST_DIGITS = 16

BudgetRule: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="RULE",
        callback=one_of("expected", "hard"),
        help="expected: the mean number of labels is the budget. hard: no run may buy more than the budget.",
    ),
]
SettingOption: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="SETTING",
        callback=one_of("stream", "pool"),
        help="stream: items are played in order, as in the paper. pool: a method may ask about any item of a file.",
    ),
]
TuningOption: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="HOW",
        callback=one_of("search", "grid"),
        help="search: fast, on the streams themselves. grid: the paper's grid search.",
    ),
]
ChunkOption: TypeAlias = Annotated[int, typer.Option(min=1, help="Realizations a task.")]
FiguresWanted: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--figures/--no-figures",
        help="Draw figures and a report.  [default: if what draws them is installed]",
        show_default=False,
    ),
]


@with_reading
def compare(
    source: SourceArgument,
    labels: LabelsOption = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help="The algorithms to compare, separated by commas; they are listed below.  [default: all of the "
            "setting]",
            show_default=False,
        ),
    ] = None,
    budgets: Annotated[
        list[str] | None,
        typer.Option(help="Numbers of labels, separated by commas.  [default: ten that suit]", show_default=False),
    ] = None,
    stream_size: Annotated[
        int | None,
        typer.Option(min=1, help="Items in each stream or file.  [default: half of all]", show_default=False),
    ] = None,
    realizations: Annotated[int, typer.Option(min=1, help="How many streams or files are drawn.")] = 500,
    setting: SettingOption = "stream",
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="An option of a method, such as structural-committee.disagreement_scale=10.",
            metavar="METHOD.NAME=VALUE",
            show_default=False,
        ),
    ] = None,
    budget_rule: BudgetRule = "expected",
    tuning: TuningOption = "search",
    seed: Seed = 0,
    engine: EngineOption = "threads",
    workers: Workers = None,
    scheduler: Scheduler = None,
    chunk: ChunkOption = 10,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where runs, tables, figures and report go.  [default: modelpicker-results/NAME-DIGITS]",
            show_default=False,
        ),
    ] = None,
    figures: FiguresWanted = None,
    reading: Any = None,
    as_json: Json = False,
) -> None:
    """Compare ways of choosing a model, on your collection.

    Streams are drawn from a collection whose labels are all known.

    Each method is tuned to each budget and played on many streams. The tables say how often it found the best
    model, how far from the best its pick was, and what following it on the way would have cost. With --setting
    pool, files are drawn instead of streams, and a method may ask about any item of a file. An interrupted
    comparison continues where it stopped when the same command is given again.
    """
    from modelpicker.cli.shared.comparison_output import finish_comparison, interruptible
    from modelpicker.collections.files import load_with
    from modelpicker.experiments.comparison import carry_out
    from modelpicker.experiments.engines import Workforce
    from modelpicker.experiments.plan import plan_comparison, pool_of

    drawn = can_draw(figures)
    collection = read_collection(load_with, source, labels, reading)
    print_notes(collection.notes)
    pool_of(collection)  # what is wrong from here on is wrong with the options
    name = Path(source).resolve().stem
    try:
        plan = plan_comparison(
            collection,
            chosen_methods(listed(methods), parse_method_options(option or [], setting), setting),
            parse_budgets(budgets),
            stream_size,
            realizations,
            seed,
            budget_rule,
            tuning,
            setting,
            name=name,
        )
    except InputError as error:
        raise typer.BadParameter(visible(str(error))) from error
    print_notes(plan.remarks)
    folder = out or Path("modelpicker-results") / f"{name}-{plan.digits}"
    with interruptible(folder):
        how = Workforce("dask" if scheduler else engine, workers, scheduler, chunk)
        results = carry_out(plan, how, folder, progress=True)
        document = finish_comparison(results, folder, figures=drawn, quiet=as_json)
    if as_json:
        print_json(document)
    else:
        say(visible(f"The results are in {folder}{': open report.html' if drawn else ''}."))


def can_draw(wanted: bool | None) -> bool:
    """Whether figures are drawn; said before the work begins, and an error if they are wanted and cannot be."""
    if wanted is False:
        return False
    try:
        require("figures")
    except MissingExtraError as error:
        if wanted:
            raise
        say(f"note: no figures and no report: {error}")
        return False
    return True


def parse_budgets(budgets: list[str] | None) -> list[int] | None:
    """Budgets from the command line."""
    entries = listed(budgets)
    if entries is None:
        return None
    for entry in entries:
        if not (entry.isascii() and entry.isdigit() and len(entry) <= MOST_DIGITS):
            raise typer.BadParameter(
                f"{entry[:MOST_DIGITS]} is not a number of labels; pass such as 50,100,200.", param_hint="--budgets"
            )
    return [int(entry) for entry in entries]


def method_names(setting: str) -> tuple[str, ...]:
    """The names of the methods that can be compared in a setting."""
    if setting == "stream":
        return algorithm_options.algorithm_names()
    from modelpicker.experiments.pool_methods import POOL_METHODS

    return tuple(POOL_METHODS)


def parse_method_options(pairs: list[str], setting: str) -> dict[str, dict[str, Any]]:
    """Options by method."""
    names = method_names(setting) if pairs else ()
    options: dict[str, dict[str, Any]] = {}
    for pair in pairs:
        typed, equals, value = pair.partition("=")
        method, mark, option = typed.rpartition(".")
        if not mark or (method not in names and not _is_own(method, setting)):
            raise typer.BadParameter(
                f"{pair}: pass it as METHOD.NAME=VALUE, such as {EXAMPLES[setting]}; methods are "
                f"{', '.join(names)}.",
                param_hint="--option",
            )
        options.setdefault(method, {}).update(algorithm_options.parse_options([f"{option}{equals}{value}"]))
    return options


def _is_own(method: str, setting: str) -> bool:
    """Whether a name is that of somebody's own algorithm for streams."""
    from modelpicker.algorithms.registry import installed_algorithms

    return setting == "stream" and (":" in method or method in installed_algorithms())


def chosen_methods(
    names: list[str] | None, options: dict[str, dict[str, Any]], setting: str
) -> "list[AnyMethod | str] | None":
    """Methods by name, with their options; None where all that suit are to be compared as they are."""
    from modelpicker.experiments.methods import METHODS, as_methods
    from modelpicker.experiments.pool_methods import POOL_METHODS

    if names is None and not options:
        return None
    known: dict[str, AnyMethod] = {**METHODS} if setting == "stream" else {**POOL_METHODS}
    chosen = list(known) if names is None else names
    for name in chosen:
        if name not in known and _is_own(name, setting):
            algorithm_options.check_name(name, "--methods")
            known[name] = as_methods([name])[0]
        if name not in known:
            other = "pool" if setting == "stream" else "stream"
            hint = f" It is for --setting {other}." if name in {**METHODS, **POOL_METHODS} else ""
            raise typer.BadParameter(
                f"{name} is not known for --setting {setting}; there are {', '.join(known)}.{hint}",
                param_hint="--methods",
            )
    for name in options:
        if name not in chosen:
            raise typer.BadParameter(f"{name} is not among the methods that are compared.", param_hint="--option")
    return [known[name].with_options(options.get(name, {})) for name in chosen]
