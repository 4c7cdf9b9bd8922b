"""What a campaign says: the best model, how all models stand, and which queries wait."""

from dataclasses import dataclass
from typing import Any

from modelpicker.algorithms.encoding import ClassName
from modelpicker.algorithms.options import ModelName
from modelpicker.campaigns.events import Item, Joining
from modelpicker.campaigns.log import LABELLED, Log
from modelpicker.campaigns.replica import Replica
from modelpicker.campaigns.schema import answers


@dataclass(frozen=True, slots=True)
class Standing:
    """How one model stands."""

    model: ModelName
    estimate: float
    """The estimated number of mistakes: compare models by differences."""
    gap: float | None
    """How much less accurate than the pick it is, by the estimates; None where those are no estimates of that."""
    labels: int
    """How many labels that rests on."""
    since: int
    """The first round that it took part in."""


@dataclass(frozen=True, slots=True)
class Pick:
    """The best model so far, and what that rests on."""

    model: ModelName
    standing: tuple[Standing, ...]
    """All models, the pick first, then by their estimates."""
    tied: tuple[ModelName, ...]
    """The models whose estimates are the smallest: all of them before the first label."""
    labels_used: int
    rounds: int
    labels_saved: int
    """How many rounds needed no label so far."""
    pending: int
    skipped: int
    references: int
    budget: int | None
    weighted: bool
    """Whether estimates are of the whole stream; otherwise they count mistakes on labels."""
    certificate: None = None
    """A statement of how sure this is, where there is one."""

    def document(self) -> dict[str, Any]:
        """The pick for programs; no model is named before the first label."""
        return {
            "pick": self.model if self.labels_used else None,
            "tied": list(self.tied),
            "rounds": self.rounds,
            "labels_used": self.labels_used,
            "labels_saved": self.labels_saved,
            "pending": self.pending,
            "skipped": self.skipped,
            "references": self.references,
            "budget": self.budget,
            "certificate": self.certificate,
            "standing": [
                {
                    "model": entry.model,
                    "estimate": entry.estimate,
                    "gap": entry.gap,
                    "labels": entry.labels,
                    "since": entry.since,
                }
                for entry in self.standing
            ],
        }


@dataclass(frozen=True, slots=True)
class Query:
    """A round that waits for its label."""

    id: int
    item: Item | None
    key: str | None
    classes: tuple[ClassName, ...]
    """What models say of it: who labels need not be shown that."""
    leased_until: float | None
    """When its lease expires, in seconds since 1970."""
    leased_by: str | None


def make_pick(log: Log, replica: Replica) -> Pick:
    """The state of a campaign as people want to know it."""
    picker = replica.picker
    losses = picker.losses.tolist()
    since = {change.model: change.round for change in replica.changes if isinstance(change, Joining)}
    labels = {
        first: log.count(answers.c.state == LABELLED, answers.c.round >= first) for first in set(since.values())
    }
    rests_on = [labels[since[model]] if model in since else replica.counts.labels for model in picker.models]
    lowest = min(losses)
    best = picker.models.index(picker.recommended)
    # Who has just joined is level with the leader, but no label speaks for it yet.
    if losses[best] == lowest:
        best = max(
            (place for place in range(len(losses)) if losses[place] == lowest),
            key=lambda place: (rests_on[place], place == best),
        )
    order = sorted(range(len(losses)), key=lambda place: (place != best, losses[place]))
    seen = max(1, picker.rounds)
    return Pick(
        model=picker.models[best],
        standing=tuple(
            Standing(
                model=picker.models[place],
                estimate=losses[place],
                gap=(losses[place] - losses[best]) / seen if picker.weighted else None,
                labels=rests_on[place],
                since=since.get(picker.models[place], 0),
            )
            for place in order
        ),
        tied=tuple(name for name, loss in zip(picker.models, losses, strict=True) if loss == lowest),
        labels_used=replica.counts.labels,
        rounds=picker.rounds,
        labels_saved=picker.rounds - replica.counts.labels,
        pending=replica.counts.waiting,
        skipped=replica.counts.skipped,
        references=replica.counts.references,
        budget=replica.settings.budget,
        weighted=picker.weighted,
    )
