"""`modelpicker reproduce`: the paper's experiments, with its claims beside what is measured."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modelpicker.cli.compare import BudgetRule, ChunkOption, FiguresWanted, TuningOption, can_draw
from modelpicker.cli.shared.engine_options import EngineOption, Scheduler, Workers
from modelpicker.cli.shared.terminal import Json, Seed, print_json, print_notes, say, visible, waiting

if TYPE_CHECKING:
    from modelpicker.experiments.reproduction import Reproduction


def reproduce(
    setup: Annotated[
        str,
        typer.Argument(
            metavar="SETUP", help="emocontext, drift, cifar10, cifar10-v2, imagenet, or all.", show_default=False
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The authors' released collections, one folder each: emocontext/, drift/, … with predictions.npy "
            "and oracle.npy. Without them, stand-ins are used.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where runs, tables, figures and report go.  [default: modelpicker-results/reproduce-SETUP-…]",
            show_default=False,
        ),
    ] = None,
    budget_rule: BudgetRule = "expected",
    tuning: TuningOption = "search",
    realizations: Annotated[
        int | None,
        typer.Option(min=1, help="How many streams are drawn.  [default: the paper's 500]", show_default=False),
    ] = None,
    seed: Seed = 0,
    engine: EngineOption = "threads",
    workers: Workers = None,
    scheduler: Scheduler = None,
    chunk: ChunkOption = 10,
    figures: FiguresWanted = None,
    as_json: Json = False,
) -> None:
    """Run the paper's experiments and check its claims.

    Each set-up is run under both budget rules: the published curves mix them. An interrupted run continues where it
    stopped when the same command is given again.
    """
    from modelpicker.cli.shared.comparison_output import interruptible
    from modelpicker.errors import NotFoundError
    from modelpicker.experiments.engines import Workforce
    from modelpicker.experiments.output_folder import refuse_others
    from modelpicker.experiments.reproduction import reproduce_setup
    from modelpicker.experiments.setups import find_setups, read_setups

    drawn = can_draw(figures)
    if data is not None and not data.is_dir():
        raise NotFoundError(f"{data} is not a folder; pass one that holds emocontext/, drift/, …")
    how = Workforce("dask" if scheduler else engine, workers, scheduler, chunk)
    plans = []
    for entry in find_setups(setup):
        with waiting(f"Preparing {entry.title}"):
            plans.append((entry, *entry.plan(data, realizations, seed, budget_rule, tuning)))
    digits = "".join(plan.digits for _, plan, _ in plans)[:8]
    folder = out or Path("modelpicker-results") / f"reproduce-{setup}-{digits}"
    refuse_others(folder, list(read_setups()))
    done = []
    with interruptible(folder):
        for entry, plan, why in plans:
            if why:
                print_notes([f"{entry.title}: {why}"])
            done.append(reproduce_setup(entry, plan, how, folder / entry.name, progress=True))
            if not as_json:
                _print(done[-1])
        if drawn:
            _draw(done, folder, setup)
    if as_json:
        print_json(_document(done, folder))
    else:
        say(visible(f"The results are in {folder}{': open report.html' if drawn else ''}."))


def _print(done: "Reproduction") -> None:
    """The tables of a set-up, and the paper's claims."""
    from modelpicker.cli.shared.comparison_output import print_results, print_wrapped

    print_results(done.results)
    for verdict in done.verdicts:
        print_wrapped(f"Claim: {verdict.claim}.")
        stand_in = " (stand-in)" if done.results.settings["collection"]["stand_in"] else ""
        rule = done.results.settings["budget_rule"]
        measured = f"paper: {verdict.paper}; measured{stand_in}, budget rule {rule}: {verdict.measured}."
        print_wrapped(measured, indent="  ")
        print_wrapped(verdict.explanation, indent="  ")
        typer.echo("")


def _draw(done: "list[Reproduction]", folder: Path, name: str) -> None:
    """Figures of each set-up, those of the paper, and one report."""
    from modelpicker.cli.shared.comparison_output import this_command
    from modelpicker.experiments.figures import Section, paper_sheets, save_sheets, sheets_of
    from modelpicker.experiments.report import write_report

    sections = {one.setup.name: Section(one.setup.title, one.results, one.setup.regret_budget) for one in done}
    with waiting("Drawing figures and writing the report"):
        for setup, section in sections.items():
            save_sheets(sheets_of(section), folder / setup / "figures")
        save_sheets(paper_sheets(sections), folder / "figures")
        verdicts = {one.setup.title: one.verdicts for one in done}
        title = f"The paper's experiments: {name}"
        write_report(folder / "report.html", title, list(sections.values()), verdicts, this_command())


def _document(done: "list[Reproduction]", folder: Path) -> dict[str, Any]:
    """One JSON document: the rows of all set-ups, and what was found of each."""
    from modelpicker.cli.shared.comparison_output import needed_labels

    documents = [{**one.document(), "labels_needed": needed_labels(one.results)} for one in done]
    rows = [{"setup": document["setup"], **row} for document in documents for row in document.pop("rows")]
    return {"rows": rows, "setups": documents, "folder": str(folder)}
