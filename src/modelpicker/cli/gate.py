"""`modelpicker gate` and `modelpicker compare-runs`: two models on the same items, with a verdict."""

import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from modelpicker.cli.shared.algorithm_options import Confidence
from modelpicker.cli.shared.pool_costs import typed_costs
from modelpicker.cli.shared.read_collection import with_reading
from modelpicker.cli.shared.terminal import (
    Json,
    LabelsOption,
    LossOption,
    Seed,
    SourceArgument,
    count,
    print_json,
    print_notes,
    print_sentence,
    visible,
)
from modelpicker.errors import FileError

if TYPE_CHECKING:
    from modelpicker.collections.column_roles import Reading
    from modelpicker.evaluations import Gate, RunComparison

SUMMARY = "GITHUB_STEP_SUMMARY"
SHOWN = 10

Scores: TypeAlias = Annotated[
    bool,
    typer.Option("--scores", help="Columns have scores from 0 to 1 (or true and false), and not answers."),
]


@with_reading
def gate(
    source: SourceArgument,
    champion: Annotated[str, typer.Option(help="The model in use.", show_default=False)],
    challenger: Annotated[str, typer.Option(help="The model that may replace it.", show_default=False)],
    gap: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="How much worse the challenger may be: 0.01 is 1 %. With --require better: how much "
            "better it must "
            "be.  [default: 0.01; with --require better 0]",
            show_default=False,
        ),
    ] = None,
    require: Annotated[
        Literal["not-worse", "better"], typer.Option(help="What must be proven for the challenger to pass.")
    ] = "not-worse",
    of: Annotated[
        Literal["pool", "population"],
        typer.Option(
            help="pool: decide about exactly these items. population: about items in general, of which these are a "
            "random sample."
        ),
    ] = "pool",
    confidence: Confidence = 0.95,
    labels: LabelsOption = None,
    loss: LossOption = None,
    scores: Scores = False,
    seed: Seed = 0,
    markdown: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a summary for a pull request to this file.", show_default=False),
    ] = None,
    reading: Any = None,
    as_json: Json = False,
) -> None:
    """Decide in CI whether a new model may replace the old one.

    Exit code 0: the challenger is certified not to be worse than the champion by more than the gap. 1: it is
    certified to be worse by more. 6: undecided; then it says how many more labels would probably decide, and which
    items to label next. If all items have labels, --of pool always decides.

    On GitHub, the summary is also shown with the workflow run ($GITHUB_STEP_SUMMARY).
    """
    from modelpicker.evaluations import gate as decide

    found = decide(
        source,
        champion,
        challenger,
        gap,
        require=require,
        of=of,
        confidence=confidence,
        labels=labels,
        loss=typed_costs(loss, None, 0.0)["loss"],
        scores=scores,
        seed=seed,
        **_said(reading),
    )
    if markdown is not None:
        _write(markdown, found.markdown(), "w")
    if os.environ.get(SUMMARY):
        _write(Path(os.environ[SUMMARY]), found.markdown(), "a")
    print_json(found.document()) if as_json else _print_gate(found)
    raise typer.Exit(found.exit_code)


@with_reading
def compare_runs(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="A B",
            help="Two files with one model each, matched by their ids, else row by row; or one file, "
            "and --models A,B.",
            show_default=False,
        ),
    ],
    labels: LabelsOption = None,
    loss: LossOption = None,
    scores: Scores = False,
    confidence: Confidence = 0.95,
    reading: Any = None,
    as_json: Json = False,
) -> None:
    """Say whether run A is really better than run B.

    Both ran on the same items, so they are compared item by item. The interval holds at any time, also if you look
    after every item. McNemar's exact test is for a number of items that was fixed before anybody looked.
    """
    from modelpicker.evaluations import compare_runs as compare

    said = _said(reading)
    pair, more = _two(runs, said)
    found = compare(
        *pair,
        labels=labels,
        loss=typed_costs(loss, None, 0.0)["loss"],
        scores=scores,
        confidence=confidence,
        **more,
    )
    print_json(found.document()) if as_json else _print_runs(found)


def _two(runs: list[str], said: dict[str, Any]) -> tuple[tuple[str, str], dict[str, Any]]:
    """What is compared: two files, or two models of one."""
    models = list(said.get("models") or ())
    if len(runs) == 2:
        return (runs[0], runs[1]), said
    if len(runs) != 1:
        raise typer.BadParameter(
            f"pass two files, or one file and --models A,B; not {len(runs)}.", param_hint="A B"
        )
    if len(models) != 2:
        raise typer.BadParameter("with one file, name the two models: --models A,B.", param_hint="--models")
    return (models[0], models[1]), {**said, "source": runs[0]}


def _said(reading: "Reading") -> dict[str, Any]:
    """How a file is read, by name."""
    return {one.name: getattr(reading, one.name) for one in fields(reading) if one.name != "labels_elsewhere"}


def _write(path: Path, text: str, mode: str) -> None:
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from error


def _print_gate(found: "Gate") -> None:
    """The verdict for people."""
    print_notes(found.notes)
    print_sentence(found.sentence)
    typer.echo("")
    print_sentence(found.difference.sentence)
    if found.of == "pool" and found.population is not None:
        print_sentence(found.population.sentence)
    better = (
        f"{found.challenger} is better on {found.challenger_wins:,}, {found.champion} on {found.champion_wins:,}"
    )
    missing = f"; {count(found.labels_needed, 'label')} missing" if found.labels_needed else ""
    if found.not_run:
        missing += f"; on {found.not_run:,} more, one of them was not run, and the worst is assumed"
    print_sentence(f"They differ on {found.differing:,} of {count(found.items, 'item')}: {better}{missing}.")
    if found.label_next:
        some = ", ".join(str(item) for item in found.label_next[:SHOWN])
        more = ", …" if len(found.label_next) > SHOWN else ""
        typer.echo("")
        print_sentence(visible(f"Label these next, in this order: {some}{more} (all of them: --json)."))


def _print_runs(found: "RunComparison") -> None:
    """The answer for people."""
    print_notes(found.notes)
    print_sentence(found.sentence)
    typer.echo("")
    print_sentence(found.here.sentence)
    if found.verdict == "undecided":
        print_sentence(found.difference.sentence)
    print_sentence(
        f"Of {count(found.items, 'item')}, {found.a} is better on {found.a_wins:,}, {found.b} on {found.b_wins:,}; "
        f"on {found.ties:,} they are equally good."
    )
    low, high = found.win_share
    print_sentence(
        "McNemar's exact test, for a number of items that was fixed beforehand: p = "
        f"{found.p_value:.3g}. Where one of "
        f"them is better, it is {found.a} in {low:.1%} to {high:.1%} of the cases."
    )
