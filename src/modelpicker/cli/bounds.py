"""`modelpicker bounds`: what the theorems promise for a collection, beside what simulation shows."""

import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modelpicker.cli.shared.read_collection import read_collection, with_reading
from modelpicker.cli.shared.terminal import (
    WIDTH,
    Json,
    LabelsOption,
    Seed,
    SourceArgument,
    command,
    count,
    print_json,
    print_notes,
    print_table,
    progress,
    table,
    visible,
)
from modelpicker.errors import InputError

if TYPE_CHECKING:
    from modelpicker.experiments.promises import Need, Promise
    from modelpicker.theory import Hardness

NAMES = {
    "regret": "regret",
    "queries": "queries, any stream",
    "queries_stochastic": "queries, independent items",
    "leader_regret": "pseudo-regret of the leader",
    "random_round_accuracy_gap": "accuracy gap of a random round",
    "accuracy_gap": "accuracy gap of the leader",
    "misidentification": "misidentification",
}
SHARES = ("random_round_accuracy_gap", "accuracy_gap", "misidentification")
LIMITS = {
    "regret": "more than the {most} rounds on which models disagree",
    "queries": "more than the {most} rounds on which models disagree",
    "queries_stochastic": "more than the {most} rounds on which models disagree",
    "leader_regret": "more than the {most} that the worst model would cost",
    "random_round_accuracy_gap": "more than the worst model's {most}",
    "accuracy_gap": "more than the worst model's {most}",
    "misidentification": "a probability of one or more",
}


@with_reading
def bounds(
    source: SourceArgument,
    labels: LabelsOption = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, help="T, the length of a stream.  [default: as many as items]", show_default=False),
    ] = None,
    realizations: Annotated[
        int | None,
        typer.Option(
            min=0, help="How many streams are simulated.  [default: a few seconds' worth]", show_default=False
        ),
    ] = None,
    seed: Seed = 0,
    reading: Any = None,
    as_json: Json = False,
) -> None:
    """Show what the paper's theorems promise for a collection.

    The labels of the collection must be known. A simulation shows how it comes out.

    Streams are drawn from the collection with replacement, as the theorems on independent items have it; so they
    may be longer than the collection.
    """
    from modelpicker.coins import check_seed
    from modelpicker.collections.files import load_with
    from modelpicker.experiments.plan import pool_of
    from modelpicker.experiments.promises import make_needs, make_promises, measure_promises, usual_realizations
    from modelpicker.theory import hardness_of

    check_seed(seed)
    collection = read_collection(load_with, source, labels, reading)
    print_notes(collection.notes)
    if collection.labels is None:
        raise InputError(
            f"{source} has no labels, and the theorems are about accuracies; pass --labels FILE, or find the best "
            f"model with {command('pick FILE')}."
        )
    pool = pool_of(collection)
    found = hardness_of(*pool)
    length = rounds or found.items
    runs = usual_realizations(length, found.models) if realizations is None else realizations
    with progress("Simulating", runs) as bar:
        played = measure_promises(pool, found, length, runs, seed, lambda: bar.advance(bar.task_ids[0]))
    promises, needs = make_promises(found, length, played), make_needs(found)
    facts = _facts(Path(source).stem, found, collection.models)
    if as_json:
        print_json(_document(facts, promises, needs, found, length, runs, seed))
    else:
        _print(facts, promises, needs, found, length, runs)


def _facts(name: str, found: "Hardness", names: Any) -> dict[str, Any]:
    """The collection in the paper's numbers."""
    return {
        "name": name,
        "items": found.items,
        "models": found.models,
        "classes": found.classes,
        "hardness": {
            "best": names[found.best],
            "tied": [names[model] for model in found.tied],
            "delta": found.gap,
            "largest_delta": found.largest_gap,
            "lambda": found.closeness,
            "theta": float(found.differences[found.rival]),
            "rival": names[found.rival],
            "mistakes": found.mistakes,
            "disagreement": found.disagreement,
        },
    }


def _document(
    facts: dict[str, Any],
    promises: list["Promise"],
    needs: list["Need"],
    found: "Hardness",
    rounds: int,
    realizations: int,
    seed: int,
) -> dict[str, Any]:
    """Everything, with keys that stay."""
    from modelpicker.theory import bounds as theorems

    return facts | {
        "rounds": rounds,
        "drawn": "with replacement",
        "realizations": realizations,
        "seed": seed,
        "promises": [
            asdict(promise)
            | {
                "theorem_vacuous": promise.vacuous(promise.theorem),
                "sharper_vacuous": promise.vacuous(promise.sharper),
            }
            for promise in promises
        ],
        "confidence": None if found.tied else theorems.confidence(rounds, found.models, found.closeness),
        "needs": [asdict(need) for need in needs],
    }


def _print(
    facts: dict[str, Any],
    promises: list["Promise"],
    needs: list["Need"],
    found: "Hardness",
    rounds: int,
    realizations: int,
) -> None:
    """Everything for people, in 80 columns."""
    typer.echo(visible(f"{facts['name']}: {count(found.models, 'model')}, {count(found.items, 'labelled item')}"))
    typer.echo(f"What is promised for {count(rounds, 'round')}, drawn from the items with replacement.\n")
    _print_hardness(facts["hardness"], found)
    simulated = f"measured ({count(realizations, 'stream')})" if realizations else "not simulated"
    made = table("in expectation", "theorem", "sharper", simulated)
    for promise in promises:
        named = promise.quantity
        bounded = (_number(named, bound) for bound in (promise.theorem, promise.sharper))
        error = "" if promise.measured_se is None else f" ± {_number(named, promise.measured_se)}"
        made.add_row(NAMES[named], *bounded, f"{_number(named, promise.measured)}{error}")
    print_table(made)
    if not realizations:
        _say("Nothing was simulated: long streams take long. --realizations N does it all the same.")
    _print_vacuous(promises)
    if found.tied:
        best = ", ".join([facts["hardness"]["best"], *facts["hardness"]["tied"]])
        _say(
            f"{best} are tied for best (λ = Δ = 0). The theorems that need one best model say nothing; "
            "leave all but one of them out to see the rest."
        )
    _print_needs(needs, found)


def _print_hardness(hard: dict[str, Any], found: "Hardness") -> None:
    """λ, Δ, θ and what else the theorems ask for."""
    _say(f"The best is {hard['best']}, the hardest to tell from it {hard['rival']}.")
    facts = (
        ("Δ", f"{found.gap:.3%}", "how much less accurate than the best the second is"),
        ("max Δ", f"{found.largest_gap:.3%}", "and the last"),
        ("θ", f"{hard['theta']:.3%}", "how often just one of these two is right"),
        ("λ", f"{found.closeness:.3g}", "the smallest Δ²/θ of all models: the smaller, the harder"),
        ("disagreement", f"{found.disagreement:.3%}", "of the items: only they can be asked for"),
        ("L*", f"{found.mistakes / found.items:.3%}", "of the items are among these, and the best is wrong"),
    )
    for name, value, meaning in facts:
        typer.echo(f"{name:<12} {value:>8}  {meaning}")
    typer.echo("")


def _print_vacuous(promises: list["Promise"]) -> None:
    """Which bounds say nothing here, and why."""
    for promise in promises:
        both = [promise.vacuous(bound) for bound in (promise.theorem, promise.sharper)]
        if not any(both):
            continue
        which = "both are" if all(both) else "the theorem is" if both[0] else "the sharper bound is"
        why = LIMITS[promise.quantity].format(most=_number(promise.quantity, promise.most))
        _say(f"{NAMES[promise.quantity]}: {which} vacuous: {why}.")


def _print_needs(needs: list["Need"], found: "Hardness") -> None:
    """The inverse questions."""
    typer.echo("")
    for need in needs:
        _say(
            f"{NAMES[need.quantity]} of at most {need.wanted:.0%}: {_rounds(need.theorem)} rounds by the theorem "
            f"({_times(need.theorem, found.items)}), {_rounds(need.sharper)} by the sharper bound "
            f"({_times(need.sharper, found.items)})."
        )


def _say(text: str) -> None:
    typer.echo("\n".join(textwrap.wrap(visible(text), WIDTH - 1, subsequent_indent="  ")))


def _number(quantity: str, value: float | None) -> str:
    """A number as the table shows it; shares in percent."""
    if value is None:
        return "-"
    if quantity in SHARES:
        return f"{value:.2%}" if value < 1.0 else f"{value:,.0%}" if value < 1e4 else f"{value:.1e}"
    return f"{value:,.1f}" if value < 1e3 else f"{value:,.0f}" if value < 1e6 else f"{value:.1e}"


def _rounds(number: int) -> str:
    return f"{number:,}" if number < 10**9 else f"{number:.1e}"


def _times(number: int, items: int) -> str:
    """How many times the collection that is."""
    ratio = number / items
    return f"{ratio:,.1f} times the items" if ratio < 1e5 else f"{ratio:.0e} times the items"
