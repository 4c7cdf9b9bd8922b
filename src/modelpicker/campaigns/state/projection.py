"""A campaign's picker and pace in the memory of this process, moved on by events.

What has been learned is a function of the events alone, to the last bit. Labels are learned in the order in which
they were told, until something changes what was learned before: another answer to a query, one taken back, a model
that joins or leaves. Then everything is rebuilt in the order of the rounds, each label with its round, as if
nothing else had ever been said; and from there on again as it comes.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms import Algorithm
from modelpicker.algorithms.base import STATE_VERSION, count_spared, kernel_row
from modelpicker.algorithms.budgets import Paced
from modelpicker.algorithms.pacing import CLOSED, MISSED, SPENT, BudgetPlan, make_plan, new_pace
from modelpicker.algorithms.run_modes import CAMPAIGN, Replay
from modelpicker.algorithms.runner import Outcome, Runner, first_rounds, new_outcome, no_labels, runner
from modelpicker.algorithms.told_labels import ToldLabel, losses_by, tell
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.event_types import (
    Answer,
    Event,
    Joining,
    Leaving,
    Opinion,
    Reference,
    Retraction,
    Revision,
    Rounds,
    Withdrawal,
)
from modelpicker.campaigns.events.feed_events import FeedItems, FeedTaken
from modelpicker.campaigns.events.recent_events import Stored
from modelpicker.campaigns.events.round_states import LABELLED, OPEN
from modelpicker.campaigns.events.round_states import SKIPPED as SKIPPED_STATE
from modelpicker.campaigns.input.rows import Rows
from modelpicker.campaigns.results.pick import CampaignCounts
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.campaigns.state.base import NO_TERMS, CampaignState, check_settings
from modelpicker.campaigns.state.feed import FeedState
from modelpicker.campaigns.state.opinions import KnownAnswers, OpinionBook
from modelpicker.campaigns.terms import Terms
from modelpicker.certificates.certificate import Certificate, CertificateKind, Certified, state
from modelpicker.certificates.leader_recorder import new_recorder
from modelpicker.certificates.recorder import Past
from modelpicker.encoding import ClassName, Matrix, ModelName, Row, encode_label
from modelpicker.errors import InputError, StateError, StorageError
from modelpicker.kernels.primitives import GRADED, SKIPPED, Codes, Floats, Grades, kernel_codes, new_scratch
from modelpicker.label import AnyLabel, Label
from modelpicker.losses import Loss

# Rounds that are read at once.
PIECE = 2**14
# Bytes of rounds that may wait to be taken in for certificates: there may be many campaigns.
BYTES_WAITING = 2**20
# Rounds that are quicker written down one by one for certificates than taken in together.
FEW_ROUNDS = 32

ModelChange: TypeAlias = Joining | Leaving


def members(
    settings: CampaignSettings, changes: Iterable[ModelChange], number: float = math.inf
) -> tuple[ModelName, ...]:
    """The models that took part in a round, or take part now."""
    models = list(settings.models)
    for change in changes:
        if change.round <= number:
            models.append(change.model) if isinstance(change, Joining) else models.remove(change.model)
    return tuple(models)


def joined_late(changes: Iterable[ModelChange]) -> dict[ModelName, Joining]:
    """The last joining of each model that did not begin with the campaign, in order."""
    joined: dict[ModelName, Joining] = {}
    for change in changes:
        joined.pop(change.model, None)
        if isinstance(change, Joining):
            joined[change.model] = change
    return joined


def column_of(model: ModelName, then: Sequence[ModelName], changes: Sequence[ModelChange], number: int) -> int:
    """Whose prediction counts as a model's in a round: its own, or before it joined that of whom it followed."""
    for place in range(len(changes) - 1, -1, -1):
        change = changes[place]
        if isinstance(change, Joining) and change.model == model:
            if number >= change.round:
                break
            return column_of(change.heir_of, then, changes[:place], number)
    return then.index(model)


@dataclass
class Projection(CampaignState):
    """What a campaign on a stream has come to, as of an event."""

    settings: CampaignSettings
    picker: Algorithm
    pace: Floats = field(default_factory=new_pace)
    event: int = 0
    counts: CampaignCounts = field(default_factory=CampaignCounts)
    changes: list[ModelChange] = field(default_factory=list)
    opinions: OpinionBook = field(default_factory=OpinionBook)
    terms: Terms = NO_TERMS
    """The budget and the goal that hold now, and whether anybody is asked; those of the settings, to begin with."""
    feed: FeedState = field(default_factory=FeedState)
    """Items of files that have not been asked about yet."""
    _unanswered: list[int] | None = None
    """Queries without a label, in order; looked up when somebody asks, and kept up from then on."""
    _labelled: dict[int, Floats] | None = None
    """Labelled rounds and what they say about each model, where models are dropped; looked up and kept up
    likewise."""
    _spelt: dict[bool, Loss] = field(default_factory=dict)
    """The loss, whose classes are spelt as those of the models: as numbers, or as text."""

    def __post_init__(self) -> None:
        self.picker.recorder.most_bytes = BYTES_WAITING
        if self.terms is NO_TERMS:
            self.terms = Terms.of(self.settings)

    @classmethod
    def new(cls, settings: CampaignSettings, changes: Sequence[ModelChange] = ()) -> Self:
        """Nothing has happened yet, whatever models take part."""
        try:
            picker = settings.make(members(settings, changes))
        except InputError as error:  # they were checked when the campaign was made
            raise StorageError(
                f"the settings of the campaign are not valid: {error} Somebody changed the storage: restore a "
                "backup; `modelpicker verify` says what is wrong."
            ) from error
        joined = joined_late(changes)
        since = [joined[model].round if model in joined else 0 for model in picker.models]
        changed = max((change.round for change in changes), default=0)
        picker.recorder = new_recorder(len(since), np.array(since, dtype=np.int64), picker.loss, changed)
        return cls(settings, picker, changes=list(changes))

    def counting(self) -> Self:
        """The same, to count on with: what was learned is shared, and must stay as it is."""
        return replace(
            self,
            pace=self.pace.copy(),
            counts=replace(self.counts),
            opinions=self.opinions.copy(),
            changes=list(self.changes),
            feed=self.feed.copy(),
            _unanswered=None,
            _labelled=None,
        )

    @property
    def models(self) -> tuple[ModelName, ...]:
        """The models that take part now."""
        return self.picker.models

    @property
    def racing(self) -> tuple[ModelName, ...]:
        """Those of them that are still in the race."""
        return self.picker.racing

    @property
    def rounds(self) -> int:
        """How many rounds there have been."""
        return self.picker.rounds

    @property
    def nbytes(self) -> int:
        """The memory that it takes, roughly."""
        return int(self.picker.recorder.nbytes + sum(array.nbytes for array in self.picker.state))

    @property
    def waiting_items(self) -> dict[str, int]:
        """How many items of each file have not been asked about yet."""
        return self.feed.waiting_by_file()

    @property
    def model_changes(self) -> int:
        """How often models have joined or left."""
        return len(self.changes)

    def sample_values(self) -> Floats:
        """The weight of each model, or its estimate where there are no weights; NaN once it is out of the race."""
        picker = self.picker
        covered = picker.rounds - int(self.pace[MISSED])
        values = picker.losses_over(covered) if picker.weights is None else picker.weights
        if not picker.drops:
            return values
        racing = set(picker.racing)
        return np.where([model in racing for model in picker.models], values, np.nan)

    def behind(self) -> Floats:
        """The estimated losses; NaN for models that are out of the race."""
        losses, racing = self.picker.losses, set(self.picker.racing)
        return np.where([model in racing for model in self.picker.models], losses, np.nan)

    def before_the_past_changes(self, store: EventStore) -> None:
        """Until all is learned, queries without a label are shown as they are now."""
        self.unanswered(store)
        self.labelled(store)

    def learn_answer(self, store: EventStore, number: int, label: AnyLabel | None) -> None:
        """Learn the answer to a query; a skip says nothing."""
        if label is not None:
            self.learn(store, number, label)

    def learn_reference(self, number: int, label: AnyLabel) -> None:
        """A label that was not asked for touches no estimate of a stream."""

    def catch_up(self, store: EventStore, upto: int) -> None:
        """Move on by the events that were added since; none of them changes what was learned before it."""
        catch_up(self, store, upto)

    @property
    def plan(self) -> BudgetPlan:
        """What the budget is planned for."""
        spread = self.picker.spreads and self.settings.budget_way == "paced"
        return make_plan(self.terms.budget, self.settings.expected_rounds, spread=spread)

    @property
    def runner(self) -> Runner:
        """What plays the rounds of this campaign."""
        return runner(self.picker.kernel, CAMPAIGN)

    @property
    def spent(self) -> float:
        """Labels of the budget that are bought or on order."""
        return float(self.pace[SPENT])

    @property
    def left(self) -> float:
        """Labels of the budget that are neither bought nor on order."""
        return float(self.plan.budget - self.pace[SPENT])

    def unanswered(self, store: EventStore) -> Sequence[int]:
        """The queries that wait or were skipped, in order."""
        if self._unanswered is None:
            some = store.answered(*OPEN, SKIPPED_STATE) if self.counts.unanswered else ()
            self._unanswered = [found.round for found in some]
        return self._unanswered

    def labelled(self, store: EventStore) -> Mapping[int, Floats]:
        """What each label says about every model, where the algorithm drops models: others need not know."""
        if not self.picker.drops:
            return {}
        if self._labelled is None:
            self._labelled = {}
            for found in list(store.answered(LABELLED)):
                if found.label is not None:
                    self._labelled[found.round] = self.losses_of(store, found.round, found.label)
        return self._labelled

    def losses_of(self, store: EventStore, number: int, label: AnyLabel) -> Floats:
        """The losses of the models that take part now, by the label of a round; NaN where one is not known."""
        rounds = store.rounds_with(number)
        codes = self.as_now(rounds)[number - rounds.first]
        return losses_by(self._tell(label, codes.tolist(), rounds.classes, number), codes)

    def _tell(self, label: AnyLabel, codes: list[int], classes: list[ClassName], number: int) -> ToldLabel:
        """A label as the picker learns it."""
        loss = self.picker.loss
        if loss.plain and not isinstance(label, Label):
            return ToldLabel(encode_label(label, classes))
        numbers = bool(classes) and isinstance(classes[0], int)
        if numbers not in self._spelt:
            self._spelt[numbers] = loss.spelt_as(classes[:1])
        return tell(label, Row(codes, classes), self._spelt[numbers], f"label of {number}")

    def _note_queries(self, first: int, queried: npt.NDArray[np.bool_]) -> None:
        """Count new queries, none of which has an answer yet."""
        places = queried.nonzero()[0]
        self.counts.waiting += len(places)
        if self._unanswered is not None:
            self._unanswered.extend((places + first).tolist())

    def models_at(self, number: int) -> tuple[ModelName, ...]:
        """The models that took part in a round."""
        return members(self.settings, self.changes, number)

    @property
    def past(self) -> Past:
        """How many models ever took part, and how often that changed."""
        joined = sum(isinstance(change, Joining) for change in self.changes)
        return Past(len(self.settings.models) + joined, len(self.changes))

    def certificate(self, best: int, confidence: float, kind: CertificateKind) -> Certificate:
        """What is known about one of the models."""
        noise = self.settings.costs.label_noise
        if not self.changes and best == self.picker.models.index(self.picker.recommended):
            return self.picker.certificate(confidence, kind, label_noise=noise)
        if kind == "population" and self.picker.aim is not None:  # its error was spent on the models there were
            seen = self.picker.rounds
            return state(self.picker.models[best], 1.0, confidence, kind, seen, seen, 1, self.picker.loss, noise)
        return self.picker.recorder.certificate(self.picker.models, best, confidence, kind, self.past, noise)

    def certifies(self, best: int, rule: Certified) -> bool:
        """Whether one of the models is certified well enough."""
        return self.picker.recorder.meets(best, rule, self.past, self.settings.costs.label_noise)

    def observe(self, codes: list[int], plan: BudgetPlan) -> tuple[bool, float, int, int]:
        """Decide one round, interpreted: query, probability, recommended model, code of the prediction."""
        picker = self.picker
        # A picker has room for as many classes as models; codes of a batch may be larger, so they are counted
        # again.
        present = sorted({code for code in codes if code >= 0})
        place = {code: number for number, code in enumerate(present)}
        query, probability, recommended, said = self.runner.observe(
            *picker.views,
            kernel_row([place.get(code, code) for code in codes]),
            picker.coins(picker.rounds),
            picker.first_spare,
            picker.scale,
            picker.scratch,
            Paced(self.pace, plan, 0),
        )
        return bool(query), float(probability), recommended, said if said < 0 else present[said]

    def decide(self, rows: Rows, *, closed: bool = False, until_query: bool = False) -> Outcome:
        """Decide rounds; few are interpreted, so that nobody waits for Numba.

        If `closed`, none is queried. With `until_query` the first that is queried is the last that is decided.
        """
        outcome = new_outcome(len(rows.codes))
        plan = CLOSED if closed else self.plan
        first, missed = self.picker.rounds, self.pace[MISSED]
        if not until_query and self.runner.worth_compiling(len(rows.codes)):
            self._play(rows.codes, _KnownLabels(no_labels(len(rows.codes))), outcome, plan, decided=False)
        else:
            for i, codes in enumerate(rows.codes.tolist()):
                query, probability, recommended, said = self.observe(codes, plan)
                outcome.queried[i], outcome.probability[i] = query, probability
                outcome.recommended[i], outcome.predicted[i] = recommended, said
                if until_query and query:
                    outcome = first_rounds(outcome, i + 1)
                    break
        done = len(outcome.queried)
        self._record(
            rows.codes[:done],
            first,
            _KnownLabels(no_labels(done)),
            outcome.queried,
            outcome.probability,
            _last(done, self.pace[MISSED] - missed),
        )
        self._note_queries(first, outcome.queried)
        return outcome

    def _record(
        self,
        codes: Matrix,
        first: int,
        known: "_KnownLabels",
        queried: npt.NDArray[np.bool_],
        probability: Floats,
        closed: npt.NDArray[np.bool_],
    ) -> None:
        """Note rounds for certificates; few of them are only written down."""
        recorder = self.picker.recorder
        self.picker.spared[0] += count_spared(codes)
        if len(codes) >= FEW_ROUNDS:
            recorder.saw_stream(codes, first, known.codes, queried, probability, closed, known.table(len(codes[0])))
            return
        columns = (known.codes, queried, probability, closed)
        for number, (row, *entry) in enumerate(
            zip(codes.tolist(), *(column.tolist() for column in columns), strict=True), first
        ):
            label, query, chance, shut = entry
            recorder.saw(row, number, chance, query, shut)
            if label != SKIPPED:
                told = known.told(label)
                recorder.told(row, number, told.code, chance, told.losses)

    def warm_up(self) -> None:
        """Have the kernel compiled, so that nobody waits for it later; the projection is of no use afterwards."""
        codes = np.zeros((1, len(self.picker.models)), dtype=np.int32)
        self._play(codes, _KnownLabels(no_labels(1)), new_outcome(1), self.plan, decided=False)
        self.picker.recorder.kernels.warm_up()

    def _play(
        self, codes: Matrix, known: "_KnownLabels", outcome: Outcome, plan: BudgetPlan, *, decided: bool
    ) -> None:
        """Go through rounds with the compiled kernel."""
        picker, models = self.picker, len(self.picker.models)
        done, _ = self.runner.play(
            picker.state,
            picker.told,
            picker.clock,
            kernel_codes(codes),
            known.codes,
            picker.next_coins(len(codes)),
            picker.first_spare,
            picker.scale,
            new_scratch(models, int(codes.max(initial=0)) + 1, known.table(models)),
            Paced(self.pace, plan, 0),
            Replay(outcome, decided),
        )
        if done < len(codes):
            raise StorageError("a round holds codes that stand for no class: the storage is damaged.")

    def learn(self, store: EventStore, number: int, label: AnyLabel) -> None:
        """Take in the label of a round."""
        rounds = store.rounds_with(number)
        row = number - rounds.first
        codes = self.as_now(rounds)[row].tolist()
        told, probability = self._tell(label, codes, rounds.classes, number), float(rounds.probability[row])
        self.picker.take_in(number, codes, told, probability)
        self.picker.recorder.told(codes, number, told.code, probability, told.losses)
        if self._labelled is not None:
            self._labelled[number] = losses_by(told, np.array(codes))

    def as_now(self, rounds: Rounds) -> Matrix:
        """The codes of rounds, with a column for each model that takes part now."""
        if all(change.round <= rounds.first for change in self.changes):
            return rounds.codes
        then = self.models_at(rounds.first)
        columns = [column_of(model, then, self.changes, rounds.first) for model in self.picker.models]
        return rounds.codes[:, columns]

    def see(self, rounds: Sequence[Rounds], labels: Mapping[int, AnyLabel | None]) -> None:
        """Go through rounds that were decided before, and learn those labels with them that are given."""
        for event in rounds:
            check_settings(self.settings, event.settings, f"round {event.first:,}")
        total = sum(len(event) for event in rounds)
        codes = np.concatenate([self.as_now(event).astype(np.int32, copy=False) for event in rounds])
        queried = np.concatenate([event.queried for event in rounds])
        probability = np.concatenate([event.probability for event in rounds])
        known = self._known_labels(rounds, codes, labels)
        closed = _closed(rounds, float(self.pace[MISSED]))
        first = self.picker.rounds
        if self.runner.worth_compiling(total):
            outcome = new_outcome(0)._replace(queried=queried, probability=probability)
            self._play(codes, known, outcome, self.plan, decided=True)
        else:
            for row, label, chance in zip(codes.tolist(), known.codes.tolist(), probability.tolist(), strict=True):
                self.observe(row, self.plan)
                if label != SKIPPED:
                    self.picker.take_in(self.picker.rounds - 1, row, known.told(label), chance)
        self._record(codes, first, known, queried, probability, closed)
        self._note_queries(first, queried)
        self.pace[:] = rounds[-1].pace

    def _known_labels(
        self, rounds: Sequence[Rounds], codes: Matrix, labels: Mapping[int, AnyLabel | None]
    ) -> "_KnownLabels":
        """The labels of queried rounds, as they are learned."""
        known = _KnownLabels(no_labels(len(codes)))
        if labels:
            for event in rounds:
                for row in event.queried.nonzero()[0].tolist():
                    label, place = labels.get(event.first + row), event.first - rounds[0].first + row
                    if label is not None:
                        known.note(
                            place, self._tell(label, codes[place].tolist(), event.classes, event.first + row)
                        )
        return known

    def follow(self, store: EventStore, stored: Stored) -> None:
        """Move on by an event that changes nothing about what was learned before it."""
        self.check_follows(stored)
        match stored.event:
            case Rounds() as rounds:
                self.see([rounds], {})
            case Answer(round=number, label=label):
                self.count(number, None, KnownAnswers(label))
                if label is not None:
                    self.learn(store, number, label)
            case Opinion() | Withdrawal() as opinion:
                self.take_opinion(opinion)
            case Reference(replaces=replaces):
                self.counts.references += not replaces
            case Retraction():
                self.counts.references -= 1
            case Revision(changes=changes):
                self.revise(changes)
            case FeedItems() | FeedTaken() as kept:
                self.feed.follow(kept)
        self.event = stored.number

    def _count(self, number: int, before: KnownAnswers | None, after: KnownAnswers | None) -> None:
        """Count an answer that took the place of another, or of none; a skip gives its label back to the budget."""
        if before is not None:
            self._unanswered = self._labelled = None  # the past has changed: looked up again
        elif self._unanswered is not None and after is not None and after.label is not None:
            place = bisect_left(self._unanswered, number)
            if self._unanswered[place : place + 1] == [number]:
                del self._unanswered[place]
        for told, sign in ((before, -1), (after, 1)):
            self.note_open(-sign if told is not None else 0)
            if told is not None and told.label is None:
                self.counts.skipped += sign
                self.pace[SPENT] -= sign
            elif told is not None:
                self.counts.labels += sign

    def document(self) -> dict[str, Any]:
        """Everything, in a form that JSON can hold."""
        return {
            "event": self.event,
            "settings": self.settings.checksum,
            "picker": self.picker.state_dict(),
            "pace": self.pace.tolist(),
            "counts": dict(vars(self.counts)),
            "terms": self.terms.document(),
            "feed": self.feed.document(),
            "opinions": self.opinions.document(),
            "changes": [
                [change.kind, {name: getattr(change, name) for name in change.__slots__}] for change in self.changes
            ],
        }

    @classmethod
    def load(cls, settings: CampaignSettings, document: Mapping[str, Any]) -> Self:
        """What `document` described; an error if it is damaged, or was kept with other settings, or outdated."""
        kept = "the state that was kept last"
        if outdated(document):
            check_settings(settings, document.get("settings"), kept)  # old events do not say theirs
            raise StateError("the snapshot is of an older modelpicker.")
        try:
            kinds = {kind.kind: kind for kind in (Joining, Leaving)}
            check_settings(settings, document["settings"], kept)
            return cls(
                settings,
                settings.stream_kind.from_state_dict(document["picker"]),
                np.array(document["pace"], dtype=np.float64),
                int(document["event"]),
                CampaignCounts(**document["counts"]),
                [kinds[kind](**fields) for kind, fields in document["changes"]],
                OpinionBook.load(document.get("opinions", {})),
                Terms.of(settings).revised(document.get("terms", {})),  # older ones have none
                FeedState.load(document.get("feed")),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StateError(f"the snapshot is damaged: {error!r}.") from error


class _KnownLabels:
    """The labels of consecutive rounds, for kernels."""

    def __init__(self, codes: Codes) -> None:
        self.codes = codes
        """From GRADED down, a code is a place among the losses."""
        self._losses: list[tuple[float, ...]] = []

    def note(self, place: int, told: ToldLabel) -> None:
        """Note the label of a round."""
        self.codes[place] = told.code
        if told.code == GRADED:
            self.codes[place] -= len(self._losses)
            self._losses.append(told.losses)

    def told(self, code: int) -> ToldLabel:
        """The label that a code stands for."""
        return ToldLabel(code) if code > GRADED else ToldLabel(GRADED, self._losses[GRADED - code])

    def table(self, models: int) -> Grades | None:
        """The losses that codes stand for; None if all labels are classes."""
        return np.array(self._losses, dtype=np.float32).reshape(-1, models) if self._losses else None


def outdated(document: Mapping[str, Any]) -> bool:
    """Whether a state was kept by an older modelpicker: then it is found from the events, and nothing is wrong."""
    picker = document.get("picker")
    return isinstance(picker, Mapping) and picker.get("version") in range(1, STATE_VERSION)


def _last(rounds: int, closed: float) -> npt.NDArray[np.bool_]:
    """Which rounds were closed: once there is nothing left, so is the rest of those decided together."""
    return np.arange(rounds) >= rounds - closed


def _closed(events: Sequence[Rounds], missed: float) -> npt.NDArray[np.bool_]:
    """Which rounds of some events were closed; `missed` is how many had been before."""
    parts = []
    for event in events:
        parts.append(_last(len(event), event.pace[MISSED] - missed))
        missed = event.pace[MISSED]
    return np.concatenate(parts)


def rebuild(store: EventStore, settings: CampaignSettings, upto: int, rebuilt: int) -> Projection:
    """The state as of an event, found from the events alone; everything up to `rebuilt` is rebuilt."""
    changes: list[ModelChange] = []
    final: dict[int, AnyLabel | None] = {}
    for stored in store.others((Joining.kind, Leaving.kind, Answer.kind, Retraction.kind), upto=rebuilt):
        match stored.event:
            case Joining() | Leaving() as change:
                changes.append(change)
            case Answer(round=number, label=label):
                final[number] = label
            case Retraction(round=number, reference=False):
                final.pop(number, None)
    projection = Projection.new(settings, changes)
    told: dict[int, KnownAnswers] = {}
    piece = _Piece(projection, final)
    for stored in store.events(upto=rebuilt):
        if isinstance(stored.event, Rounds):
            piece.add(stored.event)
        else:
            piece.finish()
            _revise(projection, told, stored.event)
    piece.finish()
    projection.event = rebuilt
    catch_up(projection, store, upto)
    return projection


def catch_up(projection: Projection, store: EventStore, upto: int) -> None:
    """Move on by the events that were added since; none of them changes what was learned before it."""
    piece = _Piece(projection, {})
    for stored in store.events(projection.event, upto):
        if isinstance(stored.event, Rounds):
            piece.add(stored.event)
        else:
            piece.finish()
            projection.follow(store, stored)
    piece.finish()
    projection.event = upto


class _Piece:
    """Consecutive rounds that are read together."""

    def __init__(self, projection: Projection, labels: Mapping[int, AnyLabel | None]) -> None:
        self.projection = projection
        self.labels = labels
        self.rounds: list[Rounds] = []
        self.size = 0

    def add(self, event: Rounds) -> None:
        self.rounds.append(event)
        self.size += len(event)
        if self.size >= PIECE:
            self.finish()

    def finish(self) -> None:
        if self.rounds:
            self.projection.see(self.rounds, self.labels)
        self.rounds, self.size = [], 0


def _revise(projection: Projection, told: dict[int, KnownAnswers], event: Event) -> None:
    """Count an event of a history that is rebuilt: what it means for the estimates is known already."""
    match event:
        case Answer(round=number, label=label):
            projection.count(number, told.get(number), KnownAnswers(label))
            told[number] = KnownAnswers(label)
        case Opinion() | Withdrawal() as opinion:
            projection.take_opinion(opinion)
        case Retraction(reference=True):
            projection.counts.references -= 1
        case Retraction(round=number):
            projection.count(number, told.pop(number), None)
        case Reference(replaces=replaces):
            projection.counts.references += not replaces
        case Revision(changes=changes):
            projection.revise(changes)
        case FeedItems() | FeedTaken() as kept:
            projection.feed.follow(kept)
