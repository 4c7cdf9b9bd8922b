"""The next items of a campaign as tasks for another tool."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from modelpicker.algorithms.validation import check_count
from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.events.history import as_time
from modelpicker.campaigns.results.pick import Query
from modelpicker.campaigns.setting_options import AskFor
from modelpicker.encoding import ClassName
from modelpicker.errors import InputError, brief

MARK = "modelpicker"
"""The field of a task that says which item it is."""
HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class LabelTask:
    """One item that people label elsewhere."""

    id: int
    key: str | None
    item: dict[str, Any]
    answers: tuple[ClassName, ...]
    """The answers to grade, or the two to compare; empty where a class is asked for."""

    @property
    def shown(self) -> dict[str, Any]:
        """What people see of the item; its name, if nothing else is known."""
        return self.item or {"item": self.key or f"item {self.id}"}


@dataclass(frozen=True, slots=True)
class TaskSet:
    """Tasks of one campaign, and what is asked of them."""

    campaign: str
    made: str
    """When the campaign was made, which tells it from others, whatever it is called."""
    ask_for: AskFor
    classes: tuple[ClassName, ...]
    guidelines: str
    tasks: tuple[LabelTask, ...]

    @property
    def fields(self) -> list[str]:
        """The names of all that is shown of any item."""
        return list(dict.fromkeys(name for task in self.tasks for name in task.shown))

    @property
    def most_answers(self) -> int:
        """How many answers the item with the most of them has."""
        return max((len(task.answers) for task in self.tasks), default=0)

    def mark(self, task: LabelTask) -> dict[str, Any]:
        """What says which item a task is; it has to come back with the annotation."""
        found = {"campaign": self.campaign, "made": self.made, "id": task.id, "key": task.key}
        return {**found, "answers": list(task.answers)} if task.answers else found


def next_tasks(campaign: Campaign, count: int, *, hours: float = 24.0) -> TaskSet:
    """The next items that a campaign asks about, kept from others for a while.

    Args:
        campaign: of this machine.
        count: how many at most; fewer if no more are asked for now.
        hours: for how long nobody else is given them, so that the next tasks are others; 0 keeps none. An
            annotation counts whenever it comes.
    """
    if check_count("count", count) < 1:
        raise InputError("count=0: pass how many tasks are wanted, at least 1.", parameter="count")
    if not 0 <= hours <= 24 * 365:
        raise InputError(f"hours={brief(hours)}: pass a number from 0 to 8760.", parameter="hours")
    queries = _queries(campaign, count, hours)
    return TaskSet(
        campaign.name,
        as_time(campaign.created),
        campaign.settings.ask_for,
        tuple(campaign.known_classes()),
        campaign.terms.guidelines,
        tuple(LabelTask(one.id, one.key, dict(one.item or {}), tuple(one.candidates)) for one in queries),
    )


def _queries(campaign: Campaign, count: int, hours: float) -> Sequence[Query]:
    """Queries that are free; a pool makes a limited number of new ones at a time."""
    by = f"{MARK} tasks {time.time_ns()}"
    found: Sequence[Query] = []
    while True:
        more = (
            campaign.pending(count, lease=hours * HOUR, annotator=by)
            if hours
            else campaign.pending(count, annotator=by)
        )
        if len(more) <= len(found) or len(more) >= count:
            return more if len(more) > len(found) else found
        found = more
