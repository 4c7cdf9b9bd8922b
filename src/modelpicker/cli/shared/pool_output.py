"""What came of `modelpicker pick` on a pool, for people and for programs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from modelpicker.cli.shared.campaign_options import print_pick
from modelpicker.cli.shared.pick_output import GO_ON, NO_PICK, not_reached, told_costs
from modelpicker.cli.shared.terminal import count, visible

if TYPE_CHECKING:
    from modelpicker.campaigns import Pick
    from modelpicker.campaigns.pool_costs import PoolCosts

NAME = "pool-picker"


@dataclass(frozen=True)
class PoolReport:
    """The pick of a pool, and what the command line knows beside it."""

    pick: "Pick"
    seed: int
    confidence: float
    tolerance: float
    contested: int
    """On how many items models differ."""
    stopped: str
    """Why: it was `certified`, the `budget` was spent, nothing was left to ask (`end`), or a person `quit`."""
    out: str | None = None
    """Where decisions or answers are."""
    known: int = 0
    """How many of the labels were known before, where a person is asked."""
    asked: bool = False
    """Whether a person was asked."""
    costs: "PoolCosts | None" = None
    """The loss, the prices and the noise, where they were given."""

    def document(self) -> dict[str, Any]:
        """The result for programs: the same keys as for a stream, and how many items are contested."""
        found = self.pick.document()
        return {
            **found,
            "setting": "pool",
            "algorithm": NAME,
            "options": {
                "confidence": self.confidence,
                "tolerance": self.tolerance,
                **({} if self.costs is None else self.costs.document()),
            },
            "seed": self.seed,
            "items": self.pick.rounds,
            "items_played": self.pick.rounds,
            "contested": self.contested,
            "labels_known": self.known,
            "stopped": self.stopped,
            "goal": {"gap": self.tolerance, "confidence": self.confidence, "kind": "pool"},
            "standing": [{**entry, "loss": entry["estimate"]} for entry in found["standing"]],
            "out": self.out,
        }

    def print(self) -> None:
        """What came of it, for people."""
        step = GO_ON if self.stopped == "quit" else None
        if not self.pick.named and self.stopped != "quit":
            step = NO_PICK
        typer.echo("")
        print_pick(self.pick, seen=_seen(self), step=step, goal=_shortfall(self))
        if self.out is not None:
            typer.echo(visible(f"{'Your answers are' if self.asked else 'Every decision is'} in {self.out}."))


def _seen(report: PoolReport) -> str:
    """What it cost, and what that saves."""
    pick = report.pick
    told = f"{count(pick.labels_used, 'label')} bought"
    if pick.references:
        told += f", {pick.references:,} given"
    if report.known:
        told += f", {report.known:,} of which {'was' if report.known == 1 else 'were'} known before"
    if pick.skipped:
        told += f"; {count(pick.skipped, 'label')} that it asked for {'is' if pick.skipped == 1 else 'are'} missing"
    told += told_costs(report.costs)
    differ = f"Models differ on {report.contested:,} of {count(pick.rounds, 'item')}."
    saved = 1.0 - (pick.labels_used + pick.references) / pick.rounds
    return f"{told}.\n{differ}\nLabelling every item takes {count(pick.rounds, 'label')}: you save {saved:.1%}."


def _shortfall(report: PoolReport) -> str:
    """That the goal was not reached, and what would help; empty if it was."""
    pick = report.pick
    helps = []
    if pick.skipped:
        helps.append(f"the {count(pick.skipped, 'missing label')}")
    if pick.budget is not None and report.stopped == "budget":
        helps.append(f"a larger --budget than {pick.budget:,}")
    helps.append(f"a larger --tolerance than {report.tolerance:g}")
    return not_reached(pick, report.tolerance, report.confidence, report.stopped, helps)
