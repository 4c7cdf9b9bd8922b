"""How a pick is made from the state of a campaign, or of a picker."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from modelpicker.algorithms import Algorithm
from modelpicker.algorithms.pacing import MISSED
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import Joining
from modelpicker.campaigns.results.gaps import Labelled, Unanswered, measure
from modelpicker.campaigns.results.pick import Pick, Standing
from modelpicker.campaigns.results.status import Facts, Idle, find_status
from modelpicker.campaigns.state.projection import Projection, joined_late
from modelpicker.campaigns.terms import Terms
from modelpicker.certificates.certificate import Certificate, Certified
from modelpicker.certificates.stream_noise import out_of_reach
from modelpicker.encoding import ModelName
from modelpicker.kernels.primitives import Codes

# What is told about a pick where nobody says when to stop: how good it is on the items seen so far.
USUAL = Certified(kind="stream")


class Counted(NamedTuple):
    """How many labels and queries there are."""

    labels: int
    waiting: int
    skipped: int
    references: int = 0
    conflicts: int = 0
    several: int = 0
    """How many more labels people gave than there are, where several people label an item."""
    half: int = 0
    """How many items wait for the label of another person."""


class PickEvidence(NamedTuple):
    """What a pick rests on, beside the picker itself."""

    covered: int
    """Labels could be bought in that many rounds, the first ones."""
    unanswered: Unanswered
    counts: Counted
    labels: Sequence[int]
    """How many labels there are since each model takes part."""
    labelled: Labelled = MappingProxyType({})
    """What each label says about every model, where the algorithm drops models."""
    joined: Mapping[ModelName, Joining] = MappingProxyType({})


class Wanted(NamedTuple):
    """What was asked for."""

    budget: int | None
    items: int | None
    """How many items there are in all, if that is known."""
    stop_when: Certified | None
    usual: Certified = USUAL
    """What is told where no goal was named."""
    command: str = ""
    """What brings more items, if that is known."""
    idle: Idle = None
    """Why nobody is asked for anything, if so."""
    files: Mapping[str, int] = MappingProxyType({})
    """How many items of each file have not been asked about yet."""


def _idle(terms: Terms) -> Idle:
    return "archived" if terms.archived else "finished" if terms.finished else "paused" if terms.paused else None


def make_pick(store: EventStore, projection: Projection) -> Pick:
    """The state of a campaign as people want to know it."""
    picker, counts, settings = projection.picker, projection.counts, projection.settings
    rests_on = _rests_on(store, projection)
    evidence = PickEvidence(
        covered=picker.rounds - int(projection.pace[MISSED]),
        unanswered=projection.unanswered(store),
        counts=Counted(
            counts.labels,
            counts.waiting,
            counts.skipped,
            counts.references,
            counts.conflicts,
            projection.opinions.bought,
            projection.opinions.half_answered,
        ),
        labels=rests_on,
        labelled=projection.labelled(store),
        joined=joined_late(projection.changes),
    )
    command = "" if settings.source is None else settings.source.command
    terms = projection.terms
    wanted = Wanted(
        terms.budget,
        settings.expected_rounds,
        terms.stop_when,
        command=command,
        idle=_idle(terms),
        files=projection.waiting_items,
    )
    return assemble(
        picker, evidence, wanted, lambda best, rule: projection.certificate(best, rule.confidence, rule.kind)
    )


def assemble(
    picker: Algorithm, evidence: PickEvidence, wanted: Wanted, certify: Callable[[int, Certified], Certificate]
) -> Pick:
    """The pick of a picker; `certify` tells how certain one of its models is."""
    joined, counts, rests_on = evidence.joined, evidence.counts, evidence.labels
    measured = measure(picker, evidence.covered, evidence.unanswered, rests_on, joined, evidence.labelled)
    losses = [one.estimate for one in measured]
    best = _best(picker, losses, rests_on)
    goal = wanted.stop_when or picker.aim
    rule = goal or wanted.usual
    certificate = certify(best, rule)
    proved = _race_is_proved(picker, certificate, rule) if picker.aim is not None else rule.met_by(certificate)
    certified = proved and counts.labels > 0
    lowest = min(losses)
    order = sorted(range(len(losses)), key=lambda place: (place != best, losses[place]))
    return Pick(
        model=picker.models[best],
        standing=tuple(
            Standing(
                model=picker.models[place],
                estimate=losses[place],
                gap=(measured[place].rate - measured[best].rate) * picker.loss.unit if picker.weighted else None,
                labels=measured[place].labels,
                since=joined[picker.models[place]].round if picker.models[place] in joined else 0,
                covered=measured[place].rounds,
            )
            for place in order
        ),
        tied=tuple(
            name
            for name, loss, labels in zip(picker.models, losses, rests_on, strict=True)
            if loss == lowest and (labels or not counts.labels)
        ),
        labels_used=counts.labels + counts.several,
        rounds=picker.rounds,
        covered=round(max(one.rounds for one in measured)),
        labels_saved=picker.rounds - counts.labels - counts.waiting - counts.conflicts,
        pending=counts.waiting,
        skipped=counts.skipped,
        references=counts.references,
        budget=wanted.budget,
        weighted=picker.weighted,
        certificate=certificate,
        certified=certified,
        reached=None if goal is None else certified,
        state=find_status(
            Facts(
                rounds=picker.rounds,
                labels=counts.labels,
                pending=counts.waiting,
                budget=wanted.budget,
                items=wanted.items,
                proved=certified,
                label_noise=certificate.label_noise,
                won=picker.won,
                command=wanted.command,
                idle=wanted.idle,
                files=wanted.files,
                conflicts=counts.conflicts,
                half=counts.half,
            )
        ),
        remark=" ".join(filter(None, (picker.remark, _out_of_reach(picker, wanted.stop_when, certificate)))),
        conflicts=counts.conflicts,
        racing=picker.racing,
        calls=None if joined else picker.calls,
        saved_per_item=picker.saved_per_item,
    ).with_advice()


def _race_is_proved(picker: Algorithm, certificate: Certificate, rule: Certified) -> bool:
    """A race that is won has proven its own goal, however few rounds that took: by the labels, right or wrong."""
    return certificate.gap < 1.0 and certificate.gap <= rule.gap + 2.0 * certificate.label_noise * picker.loss.unit


def _out_of_reach(picker: Algorithm, rule: Certified | None, certificate: Certificate) -> str:
    """That wrong labels keep a goal from being reached; empty if they do not, or nobody knows yet."""
    noise, seen = certificate.label_noise, picker.rounds
    if rule is None or not noise or rule.met_by(certificate):
        return ""
    return out_of_reach(rule, noise, picker.recorder.contested, seen, picker.loss.unit)


def best_place(store: EventStore, projection: Projection) -> int:
    """The place of the model that a pick would name."""
    return _best(projection.picker, projection.picker.losses.tolist(), _rests_on(store, projection))


def _rests_on(store: EventStore, projection: Projection) -> list[int]:
    """How many labels are about each model."""
    joined = joined_late(projection.changes)
    return [
        store.labels_since(joined[model].round) if model in joined else projection.counts.labels
        for model in projection.picker.models
    ]


def without_newcomers(store: EventStore, projection: Projection, recommended: Codes) -> None:
    """Where a model is recommended that no label speaks for yet, name the one that it is level with instead."""
    models = projection.picker.models
    for model, change in joined_late(projection.changes).items():
        if model in models and change.heir_of in models:
            place = models.index(model)
            if (recommended == place).any() and store.labels_since(change.round) == 0:
                recommended[recommended == place] = models.index(change.heir_of)


def _best(picker: Algorithm, losses: Sequence[float], rests_on: Sequence[int]) -> int:
    """The recommended model; of several with the same estimate, one that rests on the most labels.

    Who has just joined is level with the leader, but no label speaks for it yet.
    """
    best = picker.models.index(picker.recommended)
    level = [place for place, loss in enumerate(losses) if loss == losses[best]]
    return max(level, key=lambda place: (rests_on[place], place == best))
