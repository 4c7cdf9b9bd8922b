"""What a campaign says: the best model, how all models stand, and which queries wait."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modelpicker.algorithms import Algorithm
from modelpicker.algorithms.encoding import ClassName
from modelpicker.algorithms.kernels import Codes
from modelpicker.algorithms.options import ModelName
from modelpicker.campaigns.events import Item, Joining
from modelpicker.campaigns.log import Log
from modelpicker.campaigns.pacing import MISSED
from modelpicker.campaigns.replica import Replica, joined_late
from modelpicker.guarantees.certificate import Certificate, Certified

# What is told of a pick where nobody says when to stop: how good it is on the items seen so far.
USUAL = Certified(kind="stream")


@dataclass(frozen=True, slots=True)
class Standing:
    """How one model stands."""

    model: ModelName
    estimate: float
    """The estimated number of mistakes: compare models by differences."""
    gap: float | None
    """How much less accurate than the pick it is, by the estimates; None where those are no estimates of that.

    Who joined late is compared, over the rounds since, with whom it followed. Queries that wait, or were skipped,
    count as no mistake of anybody, so that gaps are understated until they are answered.
    """
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
    """The models whose estimates are the smallest, and rest on labels; all models before the first label."""
    labels_used: int
    rounds: int
    covered: int
    """Of how many rounds the estimates speak: those that come once the budget is spent are not among them."""
    labels_saved: int
    """How many rounds needed no label so far: neither bought nor awaited."""
    pending: int
    skipped: int
    references: int
    budget: int | None
    weighted: bool
    """Whether estimates are of the whole stream; otherwise they count mistakes on labels."""
    certificate: Certificate
    """How sure this is, in a statement that holds whenever one looks."""
    certified: bool
    """Whether that is sure enough to stop: as the campaign's `stop_when` has it, or within 1 % on what was seen."""
    remark: str = ""
    """What the algorithm has to say of how it stands; empty if nothing."""

    def document(self) -> dict[str, Any]:
        """The pick for programs; no model is named before the first label."""
        return {
            "pick": self.model if self.labels_used else None,
            "tied": list(self.tied),
            "rounds": self.rounds,
            "covered": self.covered,
            "labels_used": self.labels_used,
            "labels_saved": self.labels_saved,
            "pending": self.pending,
            "skipped": self.skipped,
            "references": self.references,
            "budget": self.budget,
            "certificate": self.certificate.document(),
            "certified": self.certified,
            "remark": self.remark,
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
    picker, counts = replica.picker, replica.counts
    losses = picker.losses.tolist()
    joined = joined_late(replica.changes)
    rests_on = _rests_on(log, replica)
    best = _best(replica, losses, rests_on)
    rule = replica.settings.stop_when or picker.aim or USUAL
    certificate = replica.certificate(best, rule.confidence, rule.kind)
    lowest = min(losses)
    missed = int(replica.pace[MISSED])
    rates = _rates(picker, losses, joined, missed)
    order = sorted(range(len(losses)), key=lambda place: (place != best, losses[place]))
    return Pick(
        model=picker.models[best],
        standing=tuple(
            Standing(
                model=picker.models[place],
                estimate=losses[place],
                gap=rates[place] - rates[best] if picker.weighted else None,
                labels=rests_on[place],
                since=joined[picker.models[place]].round if picker.models[place] in joined else 0,
            )
            for place in order
        ),
        tied=tuple(
            name
            for name, loss, labels in zip(picker.models, losses, rests_on, strict=True)
            if loss == lowest and (labels or not counts.labels)
        ),
        labels_used=counts.labels,
        rounds=picker.rounds,
        covered=picker.rounds - missed,
        labels_saved=picker.rounds - counts.labels - counts.waiting,
        pending=counts.waiting,
        skipped=counts.skipped,
        references=counts.references,
        budget=replica.settings.budget,
        weighted=picker.weighted,
        certificate=certificate,
        certified=rule.met_by(certificate),
        remark=picker.remark,
    )


def best_place(log: Log, replica: Replica) -> int:
    """The place of the model that a pick would name."""
    return _best(replica, replica.picker.losses.tolist(), _rests_on(log, replica))


def _rests_on(log: Log, replica: Replica) -> list[int]:
    """How many labels speak of each model."""
    joined = joined_late(replica.changes)
    return [
        log.labels_since(joined[model].round) if model in joined else replica.counts.labels
        for model in replica.picker.models
    ]


def without_newcomers(log: Log, replica: Replica, recommended: Codes) -> None:
    """Where a model is recommended that no label speaks for yet, name the one that it is level with instead."""
    models = replica.picker.models
    for model, change in joined_late(replica.changes).items():
        if model in models and change.heir_of in models:
            place = models.index(model)
            if (recommended == place).any() and log.labels_since(change.round) == 0:
                recommended[recommended == place] = models.index(change.heir_of)


def _best(replica: Replica, losses: list[float], rests_on: list[int]) -> int:
    """The recommended model; of several with the same estimate, one that rests on the most labels.

    Who has just joined is level with the leader, but no label speaks for it yet.
    """
    best = replica.picker.models.index(replica.picker.recommended)
    level = [place for place, loss in enumerate(losses) if loss == losses[best]]
    return max(level, key=lambda place: (rests_on[place], place == best))


def _rates(picker: Algorithm, losses: list[float], joined: Mapping[ModelName, Joining], missed: int) -> list[float]:
    """Mistakes a round, up to a constant that all models share; nothing is known of the last, `missed` rounds.

    Who joined late is compared with whom it followed, over the rounds that both took part in.
    """
    covered = picker.rounds - missed
    loss_of = dict(zip(picker.models, losses, strict=True))
    rates = {model: loss / (picker.counted(covered, missed) or 1.0) for model, loss in loss_of.items()}
    for model, change in joined.items():  # in the order of joining: those they followed come first
        if model in rates and change.heir_of in rates and _earlier(change.heir_of, model, joined):
            own = loss_of[model] - loss_of[change.heir_of]
            since = picker.counted(max(0, covered - change.round), missed)
            rates[model] = rates[change.heir_of] + own / (since or 1.0)
    return [rates[model] for model in picker.models]


def _earlier(heir_of: ModelName, model: ModelName, joined: Mapping[ModelName, Joining]) -> bool:
    """Whether whom a model followed has taken part ever since, and not left and joined again."""
    order = list(joined)
    return heir_of not in joined or order.index(heir_of) < order.index(model)
