"""The report on a campaign: its pick, who answered, and how to repeat it."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from modelpicker.algorithms.pools.pool_input import contested_items
from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.events.event_types import Answer, Opinion, Retraction, Rounds, Withdrawal
from modelpicker.campaigns.events.history import as_time
from modelpicker.campaigns.events.pool_events import Items
from modelpicker.campaigns.events.recent_events import Stored
from modelpicker.campaigns.file_campaign import FILE
from modelpicker.campaigns.results.course import Course
from modelpicker.campaigns.results.dashboard import COURSE_LINES, Dashboard
from modelpicker.campaigns.results.pick import Pick
from modelpicker.campaigns.results.pool_pick import estimated_macro_f1
from modelpicker.campaigns.results.report import AnnotatorCounts, ProofGoal, Report, goal_in_words
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.campaigns.state.pool_projection import PoolProjection
from modelpicker.encoding import ModelName
from modelpicker.label import AnyLabel

# Nobody signed.
NAMELESS = "not named"
KNOWN = "known before"
ANOTHER = "another model"
# What a leader is behind by at most, in items.
LEVEL = 1e-3
# Looks at a campaign that others change meanwhile, before what was found is used as it is.
TRIES = 3


def campaign_report(campaign: Campaign, dashboard: Dashboard | None = None) -> Report:
    """The report on a campaign; a `dashboard` that is kept saves time."""
    dashboard = dashboard or Dashboard(campaign)
    event, pick = _pick(campaign, dashboard)
    log = _AnswerLog.of(campaign.stored(event))
    goal = _goal(campaign, pick)
    return Report(
        title=campaign.name,
        pick=replace(pick, course=pick.course or _course(dashboard, pick), macro_f1=_macro_f1(campaign)),
        goal=goal,
        contested=log.contested if log.rounds == pick.rounds else None,
        known=log.known,
        annotators=log.annotators(),
        corrected=log.corrected,
        began=log.began,
        ended=log.ended,
        settings=_settings(campaign, goal),
        repeat=_repeat(campaign),
    )


def _pick(campaign: Campaign, dashboard: Dashboard) -> tuple[int, Pick]:
    """The last event, and the pick as of then with an interval for each model, if others let us."""
    for _ in range(TRIES):
        event, pick = campaign.best_at()
        standing = dashboard.standing()
        if standing["event"] == event:
            break
    ends = {entry["model"]: (entry["low"], entry["high"]) for entry in standing["standing"]}
    known = [
        entry if entry.low is not None else replace(entry, low=found[0], high=found[1])
        for entry in pick.standing
        for found in [ends.get(entry.model, (None, None))]
    ]
    return event, replace(pick, standing=tuple(known))


@dataclass
class _AnswerLog:
    """What the events say about those who answered."""

    rounds: int = 0
    contested: int = 0
    corrected: int = 0
    began: str = ""
    ended: str = ""
    answers: dict[tuple[int, str], tuple[str, AnyLabel | None]] = field(default_factory=dict)
    """Who answered each query, and what; the answers that count now. Of several people, each has one."""

    @classmethod
    def of(cls, events: Iterable[Stored]) -> "_AnswerLog":
        log = cls()
        for stored in events:
            match stored.event:
                case Rounds() as rounds:
                    log.rounds += len(rounds)
                    log.contested += int((rounds.codes != rounds.codes[:, :1]).any(axis=1).sum())
                case Items() as items:
                    log.rounds += len(items)
                    log.contested += len(contested_items(items.codes))
                case Answer(
                    of_opinions=True, replaces=replaces
                ):  # those who labelled are counted by their opinions
                    log.corrected += bool(replaces)
                case Answer() | Opinion():
                    log._take(stored, stored.event)
                case Retraction(round=number, reference=False):
                    log._drop(number, "")
                case Withdrawal(round=number, whose=whose):
                    log._drop(number, person_of(whose))
                case _:
                    pass
        return log

    def _take(self, stored: Stored, event: Answer | Opinion) -> None:
        """Note who answered."""
        person = person_of(event.by) if isinstance(event, Opinion) else ""
        self.corrected += bool(event.replaces)
        self.answers[event.round, person] = (NAMELESS if event.by is None else event.by, event.label)
        self.ended = as_time(stored.at)
        self.began = self.began or self.ended

    def _drop(self, number: int, person: str) -> None:
        """Note that an answer was taken back."""
        self.corrected += self.answers.pop((number, person), None) is not None

    @property
    def known(self) -> int:
        """How many labels were known before anybody was asked."""
        return sum(by == FILE for by, _ in self.answers.values())

    def annotators(self) -> tuple[AnnotatorCounts, ...]:
        """Everybody whose answers count."""
        found: dict[str, list[int]] = {}
        for by, label in self.answers.values():
            found.setdefault(KNOWN if by == FILE else person_of(by), [0, 0])[label is None] += 1
        return tuple(AnnotatorCounts(name, *numbers) for name, numbers in found.items())


def _course(dashboard: Dashboard, pick: Pick) -> Course:
    """How the pick came about; of a pool, as its chart has it: how far behind its first models were."""
    if pick.certificate.kind != "pool":
        return dashboard.course()
    chart = dashboard.charts()["weights"]
    points = list(zip(chart["labels"], zip(*chart["values"], strict=True), strict=True))
    models = chart["models"]
    # Whoever led was behind by nothing; the chart has the first models of today, and it may have been another.
    led = [models[values.index(min(values))] if min(values) <= LEVEL else ANOTHER for _, values in points]
    lines = {model: tuple(chart["values"][place]) for place, model in enumerate(models[:COURSE_LINES])}
    return Course(tuple(labels for labels, _ in points), tuple(led), (), "mistakes", lines)


def _goal(campaign: Campaign, pick: Pick) -> ProofGoal | None:
    """What is to be proven: of a pool its options say so, of a stream its rule or its algorithm."""
    settings = campaign.settings
    if pick.certificate.kind == "pool":
        return ProofGoal(settings.options["tolerance"], settings.options["confidence"])
    rule = settings.stop_when or settings.make(settings.models).aim
    return None if rule is None else ProofGoal(rule.gap, rule.confidence)


def _settings(campaign: Campaign, goal: ProofGoal | None) -> dict[str, str]:
    """What decides, by name."""
    settings = campaign.settings
    options = ", ".join(f"{name}={value}" for name, value in settings.plain_options.items())
    classes = "whatever is said" if settings.classes is None else ", ".join(map(str, settings.classes))
    way = (
        ""
        if settings.budget is None
        else f", {'as a cap' if settings.budget_way == 'cap' else 'spread over the items'}"
    )
    return {
        "campaign": campaign.name,
        "file": "" if settings.source is None else settings.source.file,
        "algorithm": f"{settings.document()['algorithm']}{f' ({options})' if options else ''}",
        "seed": str(settings.seed),
        "goal": "none" if goal is None else goal_in_words(goal),
        **{name.replace("_", " "): words for name, words in settings.facts.items()},
        **_overlap(settings),
        "budget": "none" if settings.budget is None else f"{settings.budget:,} labels{way}",
        "models": f"{len(campaign.models):,}: {', '.join(map(str, campaign.models))}",
        "classes": classes if settings.ask_for == "class" else "",
        "asked for": "" if settings.ask_for == "class" else settings.ask_for,
        "same answer": "" if settings.rule.plain else str(settings.same),
    }


def _macro_f1(campaign: Campaign) -> dict[ModelName, float] | None:
    """Macro-F1 of the models of a pool, estimated; None for a stream."""
    with campaign.reading_state() as (_, state):
        return estimated_macro_f1(state.picker) if isinstance(state, PoolProjection) else None


def _overlap(settings: CampaignSettings) -> dict[str, str]:
    """How many people label an item, if more than one, and whether their majority decides."""
    overlap = settings.overlap
    if overlap == 1:
        return {}
    people = f"{overlap} people per item" if overlap > 1 else f"two people for {overlap:.0%} of the items"
    return {"overlap": f"{people}{', the majority decides' if settings.overlap_rule == 'majority' else ''}"}


def _repeat(campaign: Campaign) -> str:
    """The commands that play every decision and every label again; the page does not tell where the storage is."""
    name, again = campaign.name, ["--storage", "sqlite:///again.db"]
    commands = [
        ["export", name, "campaign.jsonl"],
        ["import", "campaign.jsonl", *again],
        ["verify", name, *again],
        ["report", name, "--out", "again.html", *again],
    ]
    return "\n".join(shlex.join(["modelpicker", *command]) for command in commands)
