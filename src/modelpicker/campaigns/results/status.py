"""Where a campaign stands, in the same words everywhere: one state, its reason, and one next step.

Nothing here names a model: annotators who must not see predictions read it as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from modelpicker.certificates.wording import if_few_are_wrong

StateName: TypeAlias = Literal[
    "running",
    "waiting-for-labels",
    "certified",
    "won",
    "conflicts",
    "budget-spent",
    "all-items-asked",
    "paused",
    "finished",
    "archived",
]
TITLES: dict[StateName, str] = {
    "running": "Running",
    "waiting-for-labels": "Waiting for labels",
    "certified": "Certified",
    "won": "Won",
    "conflicts": "Conflicts to settle",
    "budget-spent": "Budget spent",
    "all-items-asked": "All items asked",
    "paused": "Paused",
    "finished": "Finished",
    "archived": "Archived",
}
Idle: TypeAlias = Literal["paused", "finished", "archived"] | None


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a campaign, why it is in it, and what to do next.

    >>> import modelpicker as mp
    >>> found = mp.pick("digits", tolerance=0.05)
    >>> found.state.title, found.state.next
    ('Certified', 'Use the pick.')
    """

    name: StateName
    reason: str
    next: str
    takes_items: bool = field(default=True, compare=False)
    """Whether more items may be added: not if the result is proven, the budget is spent, or a file has them all."""

    @property
    def title(self) -> str:
        """The state for people."""
        return TITLES[self.name]

    @property
    def over(self) -> bool:
        """Whether labels need no longer be bought: what was wanted is proven."""
        return self.name in ("certified", "won")

    def document(self) -> dict[str, Any]:
        """The state for programs, and for the page."""
        return {
            "name": self.name,
            "title": self.title,
            "reason": self.reason,
            "next": self.next,
            "takes_items": self.takes_items,
        }


@dataclass(frozen=True, slots=True)
class Facts:
    """What decides the state."""

    rounds: int
    labels: int
    pending: int
    budget: int | None
    items: int | None
    """How many items there are in all, if that is known."""
    proved: bool
    """Whether the pick is proven to be good enough."""
    label_noise: float = 0.0
    """The highest probability that a label is wrong."""
    won: int | None = None
    """After how many items the race was won, if that is what it was and nothing speaks against it since."""
    command: str = ""
    """What brings more items, if that is known."""
    idle: Idle = None
    """Why nobody is asked for anything, if so."""
    files: Mapping[str, int] = field(default_factory=dict)
    """How many items of each file have not been asked about yet."""
    conflicts: int = 0
    """Items on which people disagree."""
    half: int = 0
    """Items that wait for the label of another person."""


ARCHIVED = Status("archived", "It was archived. It takes no items and no labels.", "Restore it to continue.")
ASK_ANOTHER = "Ask another person to label the items that wait."
PAUSED = Status("paused", "Nobody is asked for labels now.", "Resume it to continue.")


def certified_status(label_noise: float = 0.0) -> Status:
    """The pick is proven, for labels of which few are wrong."""
    reason = f"The pick is proven.{if_few_are_wrong(label_noise)}"
    return Status("certified", reason, "Use the pick.", takes_items=False)


def finished_status(proved: bool, conflicts: int = 0, label_noise: float = 0.0) -> Status:
    """The owner took the result."""
    how = "It was finished before the pick was proven."
    if proved:
        how = f"It was finished with a proven pick.{if_few_are_wrong(label_noise)}"
    if conflicts:
        how += f" {'1 conflict was' if conflicts == 1 else f'{conflicts:,} conflicts were'} not settled."
    return Status("finished", how, "Read the report.", takes_items=False)


def find_status(facts: Facts) -> Status:
    """The one state that a campaign is in, and whether more items may be added."""
    found = _find(facts)
    waits = items_wait(facts.files)
    return replace(
        found,
        reason=f"{found.reason} {waits}" if waits and waits != found.reason else found.reason,
        takes_items=not (found.over or found.name == "budget-spent" or facts.command or facts.idle),
    )


def _find(facts: Facts) -> Status:
    """An archived campaign comes first, then a proof, then open questions, then why there are none."""
    if facts.idle == "archived":
        return ARCHIVED
    if facts.idle == "finished":
        return finished_status(facts.proved, facts.conflicts, facts.label_noise)
    if facts.proved:
        return _proved(facts)
    if facts.idle == "paused":
        return PAUSED
    return _open_questions(facts) or _nothing_asked(facts)


def _open_questions(facts: Facts) -> Status | None:
    """What waits for somebody; None if nothing does."""
    spent = facts.budget is not None and facts.labels >= facts.budget
    if facts.pending:
        unsettled = f" {unsettled_conflicts(facts.conflicts)}" if facts.conflicts else ""
        only_others = facts.half == facts.pending and not facts.files
        return Status(
            "waiting-for-labels",
            f"{open_items(facts.pending, facts.half)}.{unsettled}",
            ASK_ANOTHER if only_others else "Label the items that wait.",
        )
    if facts.files and not spent:
        return Status("waiting-for-labels", items_wait(facts.files), "Label the next item.")
    if facts.conflicts:
        return conflicts_status(facts.conflicts, "No item waits for a label")
    return None


def _nothing_asked(facts: Facts) -> Status:
    """Why nothing waits for a label."""
    if facts.budget is not None and facts.labels >= facts.budget:
        return budget_spent(facts.budget)
    if facts.rounds and facts.rounds == facts.items:
        every = "The only item was" if facts.items == 1 else f"All {facts.items:,} items were"
        return Status(
            "all-items-asked",
            f"{every} seen, and no item waits for a label.",
            "Use the pick as it stands, or add more items.",
        )
    go_on = f"Continue with: {facts.command}" if facts.command else ""
    if not facts.rounds:
        return Status("running", "There are no items yet.", go_on or "Add items with the models' predictions.")
    seen = "1 item was seen" if facts.rounds == 1 else f"{facts.rounds:,} items were seen"
    return Status("running", f"{seen} so far, and no item waits for a label.", go_on or "Add more items.")


def open_items(waiting: int, half: int) -> str:
    """How many items wait for a label, and how many of them for another person's."""
    waits = "1 item waits" if waiting == 1 else f"{waiting:,} items wait"
    if not half:
        return f"{waits} for a label"
    if half == waiting:
        return f"{waits} for the label of another person"
    return f"{waits} for a label, {half:,} of them from another person"


def unsettled_conflicts(conflicts: int) -> str:
    """How many conflicts there are, where there is something else to do as well."""
    return f"{'1 conflict waits' if conflicts == 1 else f'{conflicts:,} conflicts wait'} to be settled."


def items_wait(files: Mapping[str, int]) -> str:
    """How many items of files wait to be asked about; empty if none do."""
    if not files:
        return ""
    first, others, total = next(iter(files)), len(files) - 1, sum(files.values())
    of = f" of {first}" if first else ""
    of += f" and {others:,} more {'file' if others == 1 else 'files'}" if others else ""
    return (
        f"1 item{of} has not been asked about yet."
        if total == 1
        else f"{total:,} items{of} have not been asked about yet."
    )


def conflicts_status(conflicts: int, why: str) -> Status:
    """Nobody can be asked any more, but people disagree on some items."""
    many = conflicts != 1
    items = f"{conflicts:,} items" if many else "1 item"
    return Status(
        "conflicts",
        f"{why}. People labelled {items} in different ways.",
        f"Settle {conflicts:,} conflicts." if many else "Settle 1 conflict.",
    )


def budget_spent(budget: int) -> Status:
    """No more labels may be bought."""
    spent = "The only label" if budget == 1 else f"All {budget:,} labels"
    return Status(
        "budget-spent",
        f"{spent} of the budget {'is' if budget == 1 else 'are'} bought.",
        "Use the pick as it stands, or raise the budget.",
        takes_items=False,
    )


def _proved(facts: Facts) -> Status:
    """Labels need no longer be bought."""
    if facts.won is not None:
        items = "1 item" if facts.won == 1 else f"{facts.won:,} items"
        return Status(
            "won", f"The race was won after {items}.{if_few_are_wrong(facts.label_noise)}", "Use the pick."
        )
    return certified_status(facts.label_noise)
