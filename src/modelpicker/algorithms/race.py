"""Race: ask only what can still change the answer, drop models that are beaten, and stop with a proof.

All models run behind one leader. A round is queried, for certain, if a model that is still in the race differs from
the leader. A model is out as soon as enough money has been won by betting that the leader beats it
(`modelpicker.certificates.wealth`, docs/how-it-works/race.md). When all others are out, the leader is within the
tolerance of the best, and nothing is asked any more, unless a watch is kept: then a few labels show whether that
has changed, and if so, Race continues as Model Picker does.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from modelpicker.algorithms.base import Algorithm, Tally
from modelpicker.algorithms.description import AlgorithmDescription
from modelpicker.algorithms.runner import Kernel
from modelpicker.algorithms.validation import Models, read_price
from modelpicker.certificates.certificate import CertificateKind, Certified
from modelpicker.certificates.credit import MOST_ROWS, MOST_SINGLES, NO_ROW, ROWS, SINGLES, give_credit, open_row
from modelpicker.certificates.stop_rule import CONFIDENCE
from modelpicker.certificates.wealth import (
    BETS,
    NEVER,
    TRUST,
    begin,
    foresee,
    oppose,
    put_right,
    wealth_against,
)
from modelpicker.encoding import ModelName
from modelpicker.kernels.primitives import (
    ABSTAINED,
    FIRST,
    FOLLOW,
    LEADER,
    SPARE,
    Codes,
    Floats,
    Ints,
    Scratch,
    agreed,
    alike,
    best,
    best_among,
    charge,
    fair_guess,
    largest_share,
    query_probability,
    rank_among,
    weigh,
)
from modelpicker.options import Option, scale

# Fields of `race`: the leader, the last round, when the race was won and when the assumption was seen to be broken
# (0: not yet), labels asked for in the race, the last round before the first bet.
FIRST_PLACE, NOW, WON, BROKEN, ASKED, WARM = range(6)
# Fields of `places`: in the race, proved to be beaten, given up without a proof.
IN, BEATEN, GIVEN_UP = range(3)

UNDECIDED = -1
# With prices, the leader is the cheapest model that is thought to be behind the best by at most this share of the
# tolerance; the one that leads stays a little longer.
CLOSE, CLOSE_LEADER = 0.5, 0.75
WARM_UP = 10  # labels that are asked for before the first bet: a leader of fewer is a coin's
STICKY = 0.5  # rounds as a leader count so much of the tolerance each, when it is asked which model leads
WATCH_BET = 0.5
FALSE_ALARM = 200.0  # labels of a watch, at least, on average before a false alarm


class RaceState(NamedTuple):
    """What Race remembers; a place a model, unless the name or a comment says otherwise."""

    losses: Floats  # mistakes on labels; a model that was eliminated is charged what the leader is
    standing: Ints
    race: Ints
    places: Ints
    behind: Floats  # mistakes more than the leader, while in the race
    led: Ints  # rounds as the leader
    money: Floats  # [model, bet], since its opponent is its opponent
    earned: Floats  # wealth from opponents before
    credit: Floats  # [row, model]: by how much the credit of a leader has multiplied it, a row per leader
    place: Ints  # the row of each model; NO_ROW for those that have not led
    owner: Ints  # whose row it is
    single: Floats  # the same credit for opponents without a row, an entry for two models
    pair: Ints  # [entry, model and opponent]
    given: Ints  # how many rows and entries were given out
    opponent: Ints
    begun: Ints  # the last round before its opponent was its opponent
    until: Ints  # the last round that it was bet against
    due: Ints  # before this round, credit alone can't be enough
    apart: Ints  # rounds on which it differed from its opponents,
    over: Ints  # out of that many, except for the present one
    alarm: Floats  # evidence that it is better than the leader now, if it is out
    luck: Floats  # a coin for the whole stream: a patience between two whole numbers is one of them


class RaceSettings(NamedTuple):
    """What its kernel is told."""

    bar: float
    tolerance: float
    exploration: float
    log_models: float
    bets: Floats
    trust: Floats
    growth: Floats  # 1 / (1 - bε), a bet
    priced: bool
    price: Floats  # a model; all 0 where nothing was said


def contested(state: RaceState, row: Codes, leader: int) -> bool:
    """Whether a model that is still in the race differs from the leader, and both were asked."""
    said = row[leader]
    against = 0
    for i in range(len(row)):
        against += row[i] != said and row[i] >= ABSTAINED and state.places[i] == IN
    return against > 0 and said >= ABSTAINED


def absent_in_race(state: RaceState, row: Codes) -> bool:
    """Whether a model in the race was not asked."""
    absent = 0
    for i in range(len(row)):
        absent += row[i] < ABSTAINED and state.places[i] == IN
    return absent > 0


def give_up(state: RaceState, leader: int, patience: float) -> None:
    """Without a proof, give up whoever is too many mistakes behind."""
    for i in range(len(state.places)):
        if i != leader and state.places[i] == IN and state.behind[i] >= patience:
            state.places[i] = GIVEN_UP
            state.until[i] = min(state.until[i], state.race[NOW])


def reached(state: RaceState, settings: RaceSettings, i: int, leader: int, now: int) -> int:
    """The round in which credit made the wealth enough: that, and not the next row, ends the bets."""
    low, high = max(state.begun[i], state.due[i] - 1), now
    while high - low > 1:
        middle = (low + high) // 2
        if wealth_against(state, settings, i, leader, middle) >= settings.bar:
            high = middle
        else:
            low = middle
    return int(high)


def look_at(state: RaceState, settings: RaceSettings, i: int, told: bool) -> None:
    """Drop a model if it is beaten, by what was just told or by credit; else note when to look again."""
    now, leader = state.race[NOW], state.race[FIRST_PLACE]
    wealth = wealth_against(state, settings, i, leader, now)
    if wealth >= settings.bar:
        state.places[i] = BEATEN
        state.until[i] = now if told else reached(state, settings, i, leader, now)
        if state.opponent[leader] == i:  # an eliminated model is not asked about
            state.until[leader] = min(state.until[leader], state.until[i])
        return
    # Credit multiplies wealth by at most 1 / (1 - bε) a round, and ln x >= 1 - 1/x.
    step = settings.tolerance * settings.bets[0]
    wait = (1.0 - wealth / settings.bar) * (1.0 - step) / step if step > 0.0 else 1e15
    state.due[i] = now + int(min(1e15, wait))


def finish(state: RaceState) -> None:
    """The race is won once everybody else is proven to be beaten."""
    left = 0
    for i in range(len(state.places)):
        left += i != state.race[FIRST_PLACE] and state.places[i] != BEATEN
    if left == 0:
        state.race[WON] = state.race[NOW]


def runner_up(state: RaceState, leader: int) -> int:
    """Who is closest behind the leader, of those in the race; UNDECIDED if nobody is."""
    second = UNDECIDED
    for i in range(len(state.places)):
        if i != leader and state.places[i] == IN and (second < 0 or state.behind[i] < state.behind[second]):
            second = i
    return second


def front(state: RaceState, settings: RaceSettings) -> int:
    """Which model leads: the fewest mistakes, but what a leader has been credited as such counts for it."""
    worth = STICKY * settings.tolerance
    leader = state.race[FIRST_PLACE]
    for i in range(len(state.places)):
        if state.places[i] == IN and (
            worth * state.led[i] - state.behind[i] > worth * state.led[leader] - state.behind[leader] + 1e-9
        ):
            leader = i
    return cheapest_close(state, settings, int(leader)) if settings.priced else int(leader)


def cheapest_close(state: RaceState, settings: RaceSettings, ahead: int) -> int:
    """The cheapest model in the race that is thought to be close to the one ahead; if none is cheaper, that one."""
    found, allowed = ahead, settings.tolerance * state.race[NOW]
    for i in range(len(state.places)):
        share = CLOSE_LEADER if i == state.race[FIRST_PLACE] else CLOSE
        if (
            state.places[i] == IN
            and settings.price[i] < settings.price[found]
            and state.behind[i] - state.behind[ahead] <= share * allowed
        ):
            found = i
    return int(found)


def hand_over(state: RaceState, leader: int) -> None:
    """Another model leads: who was beaten by the old leader is in the race again until this one beats it too."""
    ahead = state.behind[leader]
    if state.race[WARM] > 0:
        open_row(state, leader, state.race[FIRST_PLACE])
    state.race[FIRST_PLACE] = leader
    state.places[leader] = IN
    for i in range(len(state.places)):
        state.behind[i] -= ahead
        if state.places[i] == BEATEN:
            state.places[i] = IN


def match_up(state: RaceState, settings: RaceSettings) -> None:
    """Give everybody the opponent that is due: the leader, and to the leader the runner-up."""
    leader, now = state.race[FIRST_PLACE], state.race[NOW]
    second = runner_up(state, leader)
    for i in range(len(state.places)):
        wanted = leader if i != leader else second
        if wanted >= 0 and state.opponent[i] != wanted and state.places[i] != GIVEN_UP:
            if state.begun[i] == NEVER:
                state.opponent[i] = wanted
            else:
                oppose(state, settings, i, wanted, now)
            state.due[i] = 0


def decide(
    state: RaceState, settings: RaceSettings, t: int, row: Codes, coins: Floats, scale: float, scratch: Scratch
) -> tuple[float, int]:
    """Query if a model in the race differs from the leader."""
    race = state.race
    if race[NOW] == 0:
        race[FIRST_PLACE] = best(state.losses, state.standing, coins[SPARE])
        state.luck[0] = coins[FIRST]
        for i in range(len(row)):
            state.opponent[i] = race[FIRST_PLACE]
    if race[BROKEN] == 0 and race[WON] == 0:
        state.led[race[FIRST_PLACE]] += t - race[NOW]
    race[NOW] = t - 1  # what is settled now, is settled before this round
    asked = 0.0
    if not alike(row) and (not agreed(row) or absent_in_race(state, row)):
        asked = chance(state, settings, t, row, scale, scratch)
    race[NOW] = t
    return asked, FOLLOW


def chance(
    state: RaceState, settings: RaceSettings, t: int, row: Codes, patience: float, scratch: Scratch
) -> float:
    """The query probability of a round on which models differ, or one in the race was not asked."""
    race = state.race
    if race[BROKEN] > 0:
        return 0.0 if agreed(row) else as_model_picker(state, settings, t - race[BROKEN], row, scratch)
    leader = race[FIRST_PLACE]
    if race[WON] == 0:
        give_up(state, leader, patience - state.luck[0])
        for i in range(len(row)):
            if i != leader and state.places[i] == IN and state.begun[i] < NEVER and t > state.due[i]:
                look_at(state, settings, i, False)
        rank(state)
        finish(state)
        if race[WON] > 0:
            race[WON] = t  # by credit alone, seen in this round: it is the last that was looked at
        if race[WON] == 0 and contested(state, row, leader):
            foresee(state, settings, row, t)
            race[ASKED] += 1
            if race[ASKED] == WARM_UP:
                start_bets(state, settings, t)
            return 1.0
        if race[WON] == 0 and absent_in_race(state, row):
            foresee(state, settings, row, t)  # nothing will put it right
    return 0.0 if agreed(row) else settings.exploration


def start_bets(state: RaceState, settings: RaceSettings, t: int) -> None:
    """Bet against everybody from the next round on."""
    state.race[WARM] = t
    open_row(state, state.race[FIRST_PLACE], state.race[FIRST_PLACE])
    for i in range(len(state.places)):
        if state.places[i] == IN:
            begin(state, settings, i, t)


def as_model_picker(state: RaceState, settings: RaceSettings, t: int, row: Codes, scratch: Scratch) -> float:
    """What Model Picker would ask, had its stream started when the assumption was seen to be broken."""
    leader = state.standing[LEADER]
    rate = math.sqrt(settings.log_models / (2.0 * t))
    weigh(state.losses, state.losses[leader], rate, scratch.weights)
    share = largest_share(row, leader, scratch)
    return query_probability(share, rate, 1.0)


def recommend(state: RaceState, settings: RaceSettings, coin: float) -> int:
    """The winner, if there is one; else the fewest mistakes."""
    if state.race[WON] > 0 and state.race[BROKEN] == 0:
        return int(state.race[FIRST_PLACE])
    return best_among(state.losses, state.places, IN, state.standing, coin)


def rank(state: RaceState) -> None:
    """Note who has the smallest loss of those in the race, and how many share it."""
    rank_among(state.losses, state.places, IN, state.standing)


def count(state: RaceState, t: int, lost: Floats) -> None:
    """Count the losses of those who are in the race; the others stay as far behind the leader as they were."""
    guess = fair_guess(lost)
    if guess != guess:
        return
    leader = state.race[FIRST_PLACE]
    missed = lost[leader] if lost[leader] == lost[leader] else guess
    for i in range(len(lost)):
        wrong = missed
        if t <= state.until[i]:
            wrong = lost[i] if lost[i] == lost[i] else guess
            state.behind[i] += wrong - missed
        state.losses[i] += wrong


def keep_watch(state: RaceState, settings: RaceSettings, t: int, lost: Floats, probability: float) -> None:
    """Bet that an eliminated model is better than the leader now; fall back if that wins much.

    Nothing is bet where a loss is not known.
    """
    leader = state.race[FIRST_PLACE]
    stake = min(WATCH_BET, WATCH_BET * settings.exploration / probability)
    found = False
    for i in range(len(lost)):
        gain = lost[leader] - lost[i] - settings.tolerance
        if i != leader and t > state.until[i] and gain == gain:
            state.alarm[i] = min(1e250, max(1.0, state.alarm[i]) * (1.0 + stake * gain))
            found = found or state.alarm[i] >= FALSE_ALARM * len(lost)
    if found:
        state.race[BROKEN] = state.race[NOW]
        for i in range(len(lost)):
            state.losses[i] = 0.0
            state.places[i] = IN
        rank(state)


def learn(state: RaceState, settings: RaceSettings, t: int, row: Codes, lost: Floats, probability: float) -> None:
    """Count losses, put bets right, see which model leads and who is beaten."""
    race = state.race
    if race[BROKEN] > 0:
        if t > race[BROKEN]:
            charge(state.losses, state.standing, lost, 1.0 / probability)
        return
    if probability == 1.0 and race[WON] == 0:
        count(state, t, lost)
        put_right(state, settings, row, t, lost)
        move_on(state, settings, row)
    if settings.exploration > 0.0:
        keep_watch(state, settings, t, lost, probability)


def move_on(state: RaceState, settings: RaceSettings, row: Codes) -> None:
    """After a label: which model leads now, who is whose opponent, and which models are eliminated."""
    race = state.race
    leader = front(state, settings)
    changed = leader != race[FIRST_PLACE]
    if changed:
        hand_over(state, leader)
    match_up(state, settings)
    for i in range(len(row)):
        if i != leader and state.places[i] == IN and (changed or row[i] != row[leader]):
            look_at(state, settings, i, True)
    rank(state)
    finish(state)


def finished(state: RaceState, settings: RaceSettings) -> bool:
    """A race that is won needs no more rounds, unless a watch is kept."""
    return bool(state.race[WON] > 0 and state.race[BROKEN] == 0 and settings.exploration == 0.0)


class Race(Algorithm):
    """Fewer labels than Model Picker where items come from one population, and it knows when to stop.

    Args:
        models: how many models, or their names.
        seed: the random seed: it decides only between equals, and what is explored.
        confidence: the probability, at least, that the model it stops with is within the tolerance of the best,
            where items are drawn independently from one distribution.
        tolerance: how much less accurate than the best that model may be.
        patience: give up a model without a proof once it is that many mistakes behind the leader; by default never.
        exploration: the probability of asking about rounds on which only models differ that are out, to see whether
            the assumption still holds; 0 for never. If one of them is better now, Race continues as Model Picker.
        loss: what a mistake costs: "accuracy", weights by class, costs by class and answer, or an `mp.Loss`.
        price: what each model costs per item: numbers by model, or one per model. The winner is then the cheapest
            model that is thought to be within half the tolerance of the best, proved to be within the whole.

    >>> race = Race(models=["small", "large"], seed=1, tolerance=0.05)
    >>> for number in range(200):
    ...     decision = race.observe(["cat", "dog"])
    ...     if decision.query:
    ...         race.learn(decision.round, "dog")
    >>> race.labels_used, race.recommended, race.won
    (21, 'large', 21)
    >>> print(race.certificate(kind="population").sentence)
    Proven: large is at most 5 points less accurate than the best model (95% confidence).
    Of all items like these, if items are drawn independently from one distribution.
    """

    name: ClassVar[str] = "race"
    about: ClassVar[AlgorithmDescription] = AlgorithmDescription(
        summary="Queries where a model that may still be best differs from the leader; stops by itself.",
        when_to_use="Use it if all items come from one source: it needs the fewest labels.",
        promises="If items come from one source, it stops when the leader is proven to be within the tolerance of "
        "the best model.",
        options=(
            replace(CONFIDENCE, help="The probability, at least, that the proof is right.", advice="as it is"),
            Option(
                "tolerance",
                float,
                "It stops when the leader is proven to be at most this much less accurate than the best model.",
                0.01,
                low=0.0,
                high=1.0,
                below=True,
                wanted="a fraction of accuracy from 0 up and below 1, such as 0.01",
                advice="as it is",
            ),
            scale(
                "patience",
                "Gives up a model without a proof if it is that many mistakes behind the leader; by default, "
                "never.",
                default=None,
                advice="none; 10 where no proof is wanted",
            ),
            Option(
                "exploration",
                float,
                "The probability of asking about eliminated models, to see whether the best model has changed.",
                0.0,
                low=0.0,
                high=1.0,
                below=True,
                advice="0; 0.02 where the best model may change",
            ),
        ),
    )
    dial: ClassVar[str] = "patience"
    weighted: ClassVar[bool] = True
    drops: ClassVar[bool] = True
    spreads: ClassVar[bool] = False
    stops: ClassVar[bool] = True
    priced: ClassVar[bool] = True
    signed: ClassVar[tuple[str, ...]] = ("behind",)
    kernel: ClassVar[Kernel] = Kernel(decide, recommend, learn, finished)
    state: RaceState

    def __init__(
        self,
        models: Models,
        seed: int = 0,
        *,
        confidence: float = 0.95,
        tolerance: float = 0.01,
        patience: float | None = None,
        exploration: float = 0.0,
        loss: object = None,
        price: object = None,
    ) -> None:
        self._raced: tuple[tuple[bytes, int], tuple[ModelName, ...]] = ((b"", -1), ())
        super().__init__(
            models,
            seed,
            loss=loss,
            confidence=confidence,
            tolerance=tolerance,
            patience=patience,
            exploration=exploration,
        )
        self.price = read_price(price, self.models)
        if self.price is not None:
            self.options["price"] = self.price.tolist()

    def start(self, models: int) -> RaceState:
        """Everybody in the race and tied, no bet made.

        The memory of rows that no leader has needed yet is never touched, so the system does not give it out.
        """
        rows, singles = min(models, MOST_ROWS), min(models * models, MOST_SINGLES)
        return RaceState(
            losses=np.zeros(models),
            standing=np.array([0, models]),
            race=np.zeros(6, dtype=np.int64),
            places=np.zeros(models, dtype=np.int64),
            behind=np.zeros(models),
            led=np.zeros(models, dtype=np.int64),
            money=np.zeros((models, len(BETS))),
            earned=np.ones(models),
            credit=np.zeros((rows, models)),
            place=np.full(models, NO_ROW, dtype=np.int64),
            owner=np.zeros(rows, dtype=np.int64),
            single=np.zeros(singles),
            pair=np.zeros((singles, 2), dtype=np.int64),
            given=np.zeros(2, dtype=np.int64),
            opponent=np.zeros(models, dtype=np.int64),
            begun=np.full(models, NEVER),
            until=np.full(models, NEVER),
            due=np.zeros(models, dtype=np.int64),
            apart=np.zeros(models, dtype=np.int64),
            over=np.zeros(models, dtype=np.int64),
            alarm=np.ones(models),
            luck=np.zeros(1),
        )

    def settings(self) -> RaceSettings:
        """The options as the kernel sees them."""
        tolerance, bets = float(self.options["tolerance"]) / self.loss.unit, np.array(BETS)
        return RaceSettings(
            bar=1.0 / (1.0 - float(self.options["confidence"])),
            tolerance=tolerance,
            exploration=float(self.options["exploration"]),
            log_models=math.log(len(self.models)),
            bets=bets,
            trust=np.array(TRUST),
            growth=1.0 / (1.0 - bets * tolerance),
            priced=self.price is not None,
            price=np.zeros(len(self.models)) if self.price is None else self.price,
        )

    def check_state(self) -> None:
        """Leader and opponents must be models, and places what places are."""
        super().check_state()
        state, models = self.state, len(self.models)
        named = [state.race[FIRST_PLACE], *state.opponent, *state.owner, *state.pair.ravel()]
        if not (min(named) >= 0 and max(named) < models and set(state.places.tolist()) <= {0, 1, 2}):
            raise self.damaged("it has places that there are not")
        rows = self.rows_in_use()["owner"]
        led = np.flatnonzero(state.place != NO_ROW)
        known = (state.given >= 0).all() and ((state.place[led] >= 0) & (state.place[led] < rows)).all()
        if not (known and (state.owner[state.place[led]] == led).all()):
            raise self.damaged("it has rows of credit that there are not")

    def rows_in_use(self) -> dict[str, int]:
        """The rows of leaders so far, and the single entries."""
        rows = min(int(self.state.given[ROWS]), len(self.state.credit))
        singles = min(int(self.state.given[SINGLES]), len(self.state.single))
        return {"credit": rows, "owner": rows, "single": singles, "pair": singles}

    def upgraded(self, saved: Mapping[str, Any]) -> Mapping[str, Any]:
        """In older states there was credit of every two models."""
        dense = np.array(saved["credit"], dtype=np.float64)
        models, state = len(self.models), self.start(len(self.models))
        if dense.shape != (models, models):
            raise self.damaged(f"credit has shape {dense.shape}, not {(models, models)}")
        leader = int(saved["race"][FIRST_PLACE]) if saved["race"][WARM] > 0 else NO_ROW
        many = [one for one in range(models) if one == leader or (dense[:, one] != 1.0).sum() > 1]
        for opponent in many:
            open_row(state, opponent, leader)
            state.credit[state.place[opponent]] = dense[:, opponent]
        for i, opponent in np.argwhere(dense != 1.0).tolist():
            if state.place[opponent] == NO_ROW:
                give_credit(state, i, opponent, dense[i, opponent])
        kept = ("credit", "place", "owner", "single", "pair", "given")
        return {**saved, **{field: getattr(state, field).tolist() for field in kept}}

    @property
    def scale(self) -> float:
        """The patience, which has no end where none is given."""
        patience = self.options["patience"]
        return math.inf if patience is None else float(patience)

    @property
    def losses(self) -> Floats:
        """The estimated number of mistakes; of an eliminated model, at the rate at which it fell behind."""
        return self.losses_over(self.rounds)

    def losses_over(self, covered: int) -> Floats:
        """The same, where labels were asked for in the first `covered` rounds and in no others."""
        tally = self.tally(covered)
        losses, rounds, leader = tally.losses, tally.last - tally.first, tally.reference
        out = (rounds > 0) & (rounds < rounds[leader])
        rates = np.minimum((losses[out] - losses[leader]) / rounds[out], 1.0)
        losses[out] = losses[leader] + rates * rounds[leader]
        return losses

    def tally(self, covered: int) -> Tally:
        """Mistakes in the race: of an eliminated model until then, of the others until the race was won.

        Where the best model was seen to change, everything is counted from there on.
        """
        state, models = self.state, len(self.models)
        if self.drifted is not None:
            since = np.full(models, self.drifted)
            return Tally(state.losses.copy(), since, np.maximum(since, covered), 0)
        end = covered if self.won is None else min(covered, self.won)
        bet = state.begun < NEVER
        last = np.minimum(state.until, end) + np.where(bet, state.race[WARM] + state.over - state.begun, 0)
        leader = int(state.race[FIRST_PLACE])
        last[leader] = end
        return Tally(state.losses.copy(), np.zeros(models, dtype=np.int64), np.clip(last, 0, end), leader)

    @property
    def won(self) -> int | None:
        """After how many rounds the race was won; None while it continues."""
        return int(self.state.race[WON]) or None

    @property
    def drifted(self) -> int | None:
        """After how many rounds it was seen that the best model has changed; None if it was not."""
        return int(self.state.race[BROKEN]) or None

    @property
    def racing(self) -> tuple[ModelName, ...]:
        """The leader, and models that were neither beaten by it nor given up; all, once it is Model Picker."""
        if self.drifted is not None:
            return self.models
        places, leader = self.state.places, int(self.state.race[FIRST_PLACE])
        now = places.tobytes(), leader
        if now != self._raced[0]:
            left = (model for i, model in enumerate(self.models) if places[i] == IN or i == leader)
            self._raced = now, tuple(left)
        return self._raced[1]

    @property
    def saved_per_item(self) -> float | None:
        """By how much cheaper per item the recommended model is than the one with the best estimate."""
        if self.price is None:
            return None
        best = int(np.argmin(self.losses))
        return float(self.price[best] - self.price[self.models.index(self.recommended)])

    @property
    def remark(self) -> str:
        """How the race stands."""
        if self.drifted is not None:
            return (
                f"After {self.drifted:,} items another model was seen to be better; it continues as Model Picker."
            )
        if self.won is not None:
            watch = "a watch is kept" if self.options["exploration"] else "nothing more need be asked"
            saved = self.saved_per_item
            cheaper = f" It costs {saved:.3g} less per item than the model with the best estimate." if saved else ""
            return f"The race was won after {self.won:,} items, and {watch}.{cheaper}"
        if len(self.racing) == 1:
            return "No other model is left in the race, but some were given up without a proof."
        return f"The race is not over: {len(self.racing):,} of {len(self.models):,} models are still in it."

    @property
    def aim(self) -> Certified:
        """The statement that it stops with."""
        return Certified(self.options["tolerance"], self.options["confidence"], "population")

    def proof(self, confidence: float, kind: CertificateKind) -> float | None:
        """The tolerance, once the race is won and while nothing speaks against its assumption."""
        if kind == "stream":
            return None
        holds = self.won is not None and self.drifted is None and confidence <= float(self.options["confidence"])
        return float(self.options["tolerance"]) if holds else 1.0
