"""`modelpicker pick`: the best model of one collection, with labels from a file or from a person."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modelpicker.cli.shared import algorithm_options
from modelpicker.cli.shared.read_collection import read_collection, with_reading
from modelpicker.cli.shared.terminal import (
    Json,
    LabelsOption,
    Seed,
    SourceArgument,
    count,
    print_json,
    print_notes,
    print_sentence,
    print_table,
    say,
    table,
    visible,
)
from modelpicker.errors import InputError

if TYPE_CHECKING:
    from modelpicker.cli.picking import Pick

FIRST_MODELS = 10


@with_reading
def pick(
    source: SourceArgument,
    labels: LabelsOption = None,
    ask: Annotated[bool, typer.Option("--ask", help="Ask at the terminal even where labels are known.")] = False,
    algorithm: algorithm_options.Named = "model-picker",
    option: algorithm_options.Options = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Stop once so many labels have been bought.", show_default=False)
    ] = None,
    stop_gap: algorithm_options.StopGap = None,
    confidence: algorithm_options.Confidence = 0.95,
    kind: algorithm_options.KindNamed = None,
    seed: Seed = 0,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="Take the items in random order.")] = False,
    play_unlabelled: Annotated[
        bool,
        typer.Option(
            "--play-unlabelled",
            help="Where labels are looked up, also play items that have none; a label that is asked for is then "
            "missing.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Where every decision is written.  [default: NAME.pick.jsonl]", show_default=False),
    ] = None,
    reading: Any = None,
    as_json: Json = False,
) -> None:
    """Pick the best model of a collection, buying only the labels that are needed.

    Labels are looked up in the file, or in the file given by --labels, but only those that the algorithm asks for.
    Items without a label are then left out. Where there are no labels at all, you are asked: one key per class, s
    to skip, u to undo, q to quit. The same command goes on where you were. Your answers are in NAME.pick.jsonl:
    with --labels NAME.pick.jsonl another algorithm uses them, and asks only for the others.
    """
    from modelpicker.campaigns.offline import check_choice, known_labels
    from modelpicker.cli.picking import Settings, look_up
    from modelpicker.cli.session import ask_person
    from modelpicker.collections.files import open_with
    from modelpicker.collections.labels import is_result

    algorithm_options.check_name(algorithm)
    options = algorithm_options.parse_options(option or [])
    if algorithm == "race":  # which stops by itself: the rule is its own
        options = {"confidence": confidence, **({} if stop_gap is None else {"tolerance": stop_gap}), **options}
        stop_gap, confidence, kind = None, float(options["confidence"]), kind or "population"
    rule = algorithm_options.stopping_rule(stop_gap, confidence, kind)
    collection = read_collection(open_with, source, labels, reading)
    print_notes(collection.notes)
    say(f"models: {_some(collection.models)}")
    check_choice(collection, source)
    settings = Settings(
        source=source,
        algorithm=algorithm,
        options=options,
        budget=budget,
        stop_when=None if stop_gap is None else rule,
        wanted=rule,
        seed=seed,
        shuffle=shuffle,
        out=_result_path(source, out, labels, algorithm),
        play_unlabelled=play_unlabelled,
    )
    known, total = known_labels(collection), len(collection)
    answers = labels is not None and is_result(labels)
    if ask or not known or (answers and known < total):
        if known and labels is not None:
            say(f"{known:,} of {count(total, 'item')} have labels, which are used; you are asked for the others.")
        result = ask_person(collection, settings, use_known=labels is not None)
    else:
        if known < total and not play_unlabelled:
            say(f"{known:,} of {count(total, 'item')} have labels; the others are left out.")
            say(f"(To be asked for the others: --ask --labels {labels or source})")
        result = look_up(collection, settings)
    print_json(result.document()) if as_json else print_result(result)


def _result_path(source: str, out: Path | None, labels: Path | None, algorithm: str) -> Path:
    """Where decisions are written: never into the file that the labels come from."""
    if out is not None and labels is not None and out.absolute() == labels.absolute():
        raise InputError(f"{out} is where the labels come from; pass another --out.")
    usual = Path(f"{Path(source).stem}.pick.jsonl")
    taken = labels is not None and usual.absolute() == labels.absolute()
    return out or (Path(f"{Path(source).stem}-{algorithm}.pick.jsonl") if taken else usual)


def _some(names: Sequence[str]) -> str:
    """The first names, as many as fit into a line."""
    shown = visible(", ".join(names[:6]))
    return f"{shown[:64]}{', …' if len(names) > 6 or len(shown) > 64 else ''} ({len(names)})"


def print_result(result: "Pick") -> None:
    """What came of it, for people."""
    typer.echo("")
    if not result.labels_used:
        typer.echo("No label was bought, so nothing is known of the models yet.")
    else:
        tied = [name for name in result.tied() if name != result.picker.recommended]
        more = f" (tied with {', '.join(tied[:3])}{', …' if len(tied) > 3 else ''})" if tied else ""
        typer.echo(visible(f"Pick: {result.picker.recommended}{more}"))
    typer.echo("")
    typer.echo(seen(result))
    state = result.state
    step = "The same command goes on from here." if result.stopped == "quit" else state.next
    if not result.labels_used and result.stopped != "quit":
        step = "Without a label there is no pick."
    print_sentence(f"{state.title}: {state.reason} {step}")
    typer.echo("")
    if result.reached is False:
        print_sentence(shortfall(result))
        typer.echo("")
    if result.labels_used:
        print_sentence(result.certificate.sentence)
        typer.echo("")
        _print_standing(result)
    typer.echo(f"Every decision is in {result.out}.")


def seen(result: "Pick") -> str:
    """How far it went, and what that cost."""
    whole = f"{result.rounds:,} of " if result.rounds != result.items else ""
    share = f" ({result.labels_used / result.rounds:.1%})" if result.rounds else ""
    told = f"{result.algorithm} saw {whole}{count(result.items, 'item')}"
    told += f" and used {count(result.labels_used, 'label')}{share}"
    if result.known:
        told += f", {result.known:,} of which {'was' if result.known == 1 else 'were'} known before"
    if result.skipped:
        told += f"; {count(result.skipped, 'label')} that it asked for {_is_are(result.skipped)} missing"
    return f"{told}."


def _is_are(number: int) -> str:
    return "is" if number == 1 else "are"


def shortfall(result: "Pick") -> str:
    """That the goal was not reached, and what would help."""
    from modelpicker.certificates.certificate import rounded_up

    goal = result.goal
    if goal is None:
        return ""
    gap = result.certificate_for(goal).gap
    wanted = f"within {100 * goal.gap:g}% of the best model, with confidence {100 * goal.confidence:g}%"
    now = "nothing is proved so far" if gap >= 1.0 else f"so far it is proved to be within {rounded_up(gap)}"
    if result.stopped == "quit":
        return f"The goal is not reached yet: {wanted}; {now}."
    advice = "; ".join(what_would_help(result))
    return f"The goal was not reached: {wanted}; {now}. What would help: {advice}."


def what_would_help(result: "Pick") -> list[str]:
    """What may bring a pick nearer to its goal; nothing is promised."""
    budget = result.settings.budget
    found = []
    if result.skipped:
        found.append(f"the {count(result.skipped, 'label')} that {_is_are(result.skipped)} missing")
    if budget is not None and result.labels_used >= budget:
        found.append(f"a larger --budget than {budget:,}")
    if result.rounds >= result.to_play:
        found.append(f"more items than these {result.to_play:,}")
    if result.picker.options.get("patience") is not None:
        found.append("no patience: a model that was given up is never proved to be worse")
    if result.algorithm == "model-picker" and result.passed_over:
        found.append(f"asking about more of them (--option query_scale={4 * result.picker.scale:g})")
    if result.algorithm != "race" and not result.skipped:
        found.append("--algorithm race, which often needs fewer labels for a proof")
    return found


def _print_standing(result: "Pick") -> None:
    standing = list(result.standing())
    title = "gap (estimated)" if result.weighted else f"mistakes on {result.labels_used:,} labels"
    made = table("model", title)
    for entry in standing[:FIRST_MODELS]:
        value = entry["gap"] if result.weighted else entry["loss"]
        shown = f"{value:,.0f}" if not result.weighted else f"{value:.2%}" if value <= 1 else "over 100%"
        made.add_row(visible(entry["model"]), "-" if result.weighted and entry is standing[0] else shown)
    print_table(made)
    if len(standing) > FIRST_MODELS:
        typer.echo(f"… and {len(standing) - FIRST_MODELS} more.")
    if result.weighted:
        typer.echo("The gap is how much less accurate than the pick a model is estimated to be;")
        typer.echo("with few labels, estimates are rough.")
