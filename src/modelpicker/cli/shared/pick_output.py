"""What came of `modelpicker pick`, for people and for programs."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from modelpicker.cli.shared.campaign_options import print_pick
from modelpicker.cli.shared.terminal import count, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from modelpicker.campaigns import Pick
    from modelpicker.certificates.certificate import Certified

GO_ON = "The same command goes on from here."
NO_PICK = "Without a label there is no pick."


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
    campaign: "dict[str, str]" = field(default_factory=dict)
    """The campaign and its storage, where a person is asked."""

    def document(self) -> dict[str, Any]:
        """The result for programs."""
        found = self.pick.document()
        return {
            **found,
            "setting": "stream",
            "algorithm": self.algorithm,
            "options": dict(self.options),
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
    return f"{told}."


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
    from modelpicker.certificates.certificate import rounded_up

    if pick.reached is not False:
        return ""
    gap = pick.certificate.gap
    wanted = f"within {100 * goal:g}% of the best model, with confidence {100 * confidence:g}%"
    now = "nothing is proved so far" if gap >= 1.0 else f"so far it is proved to be within {rounded_up(gap)}"
    if stopped == "quit":
        return f"The goal is not reached yet: {wanted}; {now}."
    return f"The goal was not reached: {wanted}; {now}. What would help: {'; '.join(helps)}."


def _what_would_help(report: PickReport) -> list[str]:
    """What may bring a pick nearer to its goal; nothing is promised."""
    from modelpicker.algorithms import ALGORITHMS
    from modelpicker.algorithms.registry import find_algorithm

    pick, options = report.pick, report.options
    found = []
    if pick.skipped:
        found.append(f"the {count(pick.skipped, 'label')} that {_is_are(pick.skipped)} missing")
    if pick.budget is not None and pick.labels_used >= pick.budget:
        found.append(f"a larger --budget than {pick.budget:,}")
    if pick.rounds >= report.to_play:
        found.append(f"more items than these {report.to_play:,}")
    if options.get("patience") is not None:
        found.append("no patience: a model that was given up is never proved to be worse")
    if report.passed_over and "query_scale" in options:
        found.append(f"asking about more of them (--option query_scale={4 * float(options['query_scale']):g})")
    if not find_algorithm(report.algorithm).stops and not pick.skipped:
        stops = next(name for name, kind in ALGORITHMS.items() if kind.stops)
        found.append(f"--algorithm {stops}, which often needs fewer labels for a proof")
    return found
