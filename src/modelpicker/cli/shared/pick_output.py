"""What came of `modelpicker pick`, for people and for programs."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from modelpicker.cli.shared.campaign_options import print_pick
from modelpicker.cli.shared.terminal import count, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from modelpicker.campaigns import Pick
    from modelpicker.campaigns.pool_costs import PoolCosts
    from modelpicker.certificates.certificate import Certified

GO_ON = "Run the same command to continue."
NO_PICK = "Without a label, there is no pick."


@dataclass(frozen=True)
class PickReport:
    """A pick, and what the command line knows beside it."""

    pick: "Pick"
    algorithm: str
    options: "Mapping[str, Any]"
    seed: int
    items: int
    """How many items the file has."""
    to_play: int
    """How many of them are played: those with a label, where labels are looked up."""
    stopped: str
    """Why: at the `end` of the items, the `budget` was spent, it was `certified` or `won`, or a person `quit`."""
    goal: "Certified | None"
    out: str | None = None
    """Where decisions or answers are."""
    known: int = 0
    """How many of the labels were known before, where a person is asked."""
    passed_over: bool = False
    """Whether there were rounds that might have been asked about, and were not."""
    costs: "PoolCosts | None" = None
    """What mistakes and models cost, and how many labels may be wrong."""
    campaign: "dict[str, str]" = field(default_factory=dict)
    """The campaign and its storage, where a person is asked."""

    def document(self) -> dict[str, Any]:
        """The result for programs."""
        found = self.pick.document()
        return {
            **found,
            "setting": "stream",
            "algorithm": self.algorithm,
            "options": {**self.options, **({} if self.costs is None else self.costs.document())},
            "seed": self.seed,
            "items": self.items,
            "items_played": self.to_play,
            "labels_known": self.known,
            "stopped": self.stopped,
            "goal": None if self.goal is None else self.goal.document(),
            "standing": [{**entry, "loss": entry["estimate"]} for entry in found["standing"]],
            "out": self.out,
            **self.campaign,
        }

    def print(self) -> None:
        """What came of it, for people."""
        pick = self.pick
        step = GO_ON if self.stopped == "quit" else None
        if not pick.labels_used and self.stopped != "quit":
            step = NO_PICK
        typer.echo("")
        print_pick(pick, seen=_seen(self), step=step, goal=shortfall(self))
        if self.out is not None:
            what = "Your answers are" if self.campaign else "Every decision is"
            typer.echo(visible(f"{what} in {self.out}."))


def _seen(report: PickReport) -> str:
    """How far it went, and what that cost."""
    pick = report.pick
    whole = f"{pick.rounds:,} of " if pick.rounds != report.items else ""
    share = f" ({pick.labels_used / pick.rounds:.1%})" if pick.rounds else ""
    told = f"{report.algorithm} saw {whole}{count(report.items, 'item')}"
    told += f" and used {count(pick.labels_used, 'label')}{share}"
    if report.known:
        told += f", {report.known:,} of which {'was' if report.known == 1 else 'were'} known before"
    if pick.skipped:
        told += f"; {count(pick.skipped, 'label')} that it asked for {_is_are(pick.skipped)} missing"
    told += told_costs(report.costs)
    return f"{told}."


def told_costs(costs: "PoolCosts | None") -> str:
    """What mistakes and models cost, each on a line of its own."""
    facts = {} if costs is None else costs.facts()
    return "".join(f".\n{name.replace('_', ' ').capitalize()}: {words}" for name, words in facts.items())


def _is_are(number: int) -> str:
    return "is" if number == 1 else "are"


def shortfall(report: PickReport) -> str:
    """That the goal was not reached, and what would help; empty if it was, or there is none."""
    goal = report.goal
    if goal is None:
        return ""
    return not_reached(report.pick, goal.gap, goal.confidence, report.stopped, _what_would_help(report))


def not_reached(pick: "Pick", goal: float, confidence: float, stopped: str, helps: "Sequence[str]") -> str:
    """That a goal was not reached, and what would help; empty if it was."""
    from modelpicker.campaigns.results.report import ProofGoal, goal_in_words

    if pick.reached is not False:
        return ""
    wanted = goal_in_words(ProofGoal(goal, confidence))
    if stopped == "quit":
        return f"The goal is not reached yet: {wanted}."
    return f"The goal was not reached: {wanted}. What would help: {'; '.join(helps)}."


def _what_would_help(report: PickReport) -> list[str]:
    """What may bring a pick nearer to its goal; nothing is promised."""
    from modelpicker.algorithms import ALGORITHMS
    from modelpicker.algorithms.registry import find_algorithm

    pick, options = report.pick, report.options
    found = []
    if pick.skipped:
        found.append(f"the {count(pick.skipped, 'missing label')}")
    if pick.budget is not None and pick.labels_used >= pick.budget:
        found.append(f"a larger --budget than {pick.budget:,}")
    if pick.rounds >= report.to_play:
        found.append(f"more than {count(report.to_play, 'item')}")
    if options.get("patience") is not None:
        found.append("leaving patience out: a model that is given up is never proven to be worse")
    if report.passed_over and "query_scale" in options:
        found.append(f"asking about more items (--option query_scale={4 * float(options['query_scale']):g})")
    if not find_algorithm(report.algorithm).stops and not pick.skipped:
        stops = next(name for name, kind in ALGORITHMS.items() if kind.stops)
        found.append(f"--algorithm {stops}, which often needs fewer labels for a proof")
    return found
