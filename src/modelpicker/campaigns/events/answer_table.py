"""The answers of a campaign: what waits, what is answered, who has leased what; and rounds by their keys."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from modelpicker.campaigns.events.event_reader import EventReader, Head
from modelpicker.campaigns.events.opinion_store import unanswered_by
from modelpicker.campaigns.events.round_states import LABELLED, WAITING, RoundState
from modelpicker.campaigns.storage.schema import answers, keys
from modelpicker.campaigns.storage.statements import Prepared
from modelpicker.encoding import ClassName
from modelpicker.errors import StorageError
from modelpicker.label import classes_of, read_label

_MY_ANSWERS = answers.c.campaign == sa.bindparam("mine")
_MY_KEYS = keys.c.campaign == sa.bindparam("mine")
_STATE = sa.select(
    answers.c.round,
    answers.c.state,
    answers.c.label,
    answers.c.leased_until,
    answers.c.leased_by,
).where(_MY_ANSWERS)
_STATE_OF = Prepared(_STATE.where(answers.c.round == sa.bindparam("wanted")))
_LEASE = Prepared(
    sa.update(answers)
    .where(_MY_ANSWERS, answers.c.round == sa.bindparam("wanted"))
    .values(leased_until=sa.bindparam("until"), leased_by=sa.bindparam("by"))
)
_KEY = Prepared(sa.select(keys.c.round).where(_MY_KEYS, keys.c.key == sa.bindparam("wanted")))
_KEYS = sa.select(keys.c.key, keys.c.round).where(_MY_KEYS)
# However many keys are looked for, they are one value.
_KEYS_IN_ARRAY = Prepared(
    _KEYS.where(keys.c.key == sa.any_(sa.bindparam("wanted", type_=postgresql.ARRAY(sa.Text))))
)
_KEYS_IN_JSON = Prepared(
    _KEYS.where(keys.c.key.in_(sa.select(sa.func.json_each(sa.bindparam("wanted")).table_valued("value").c.value)))
)


class AnswerTable(EventReader):
    """What is known about every round that was queried or answered."""

    def state(self, number: int) -> RoundState | None:
        """What is known about a round; None if it was neither queried nor answered."""
        row = _STATE_OF.run(self.connection, {"mine": self.campaign, "wanted": number}).fetchone()
        return None if row is None else _state(row)

    def waiting(self, most: int | None = None, *, pool: bool = False) -> list[RoundState]:
        """Queries that wait for an answer, oldest first: of a pool, in the order in which they were asked."""
        return self._waiting(most, pool)

    def waiting_for(self, by: str | None, most: int, *, pool: bool = False) -> list[RoundState]:
        """Those that a person has not answered, leased or not."""
        return self._waiting(most, pool, unanswered_by(by))

    def waiting_from(self, first: int) -> set[int]:
        """Which rounds wait for a label, from that one on."""
        return {state.round for state in self._waiting(None, False, answers.c.round >= first)}

    def free(self, now: float, by: str | None, most: int, *, pool: bool = False) -> list[RoundState]:
        """Those that nobody else has leased, and that this person has not answered."""
        free = sa.or_(answers.c.leased_until.is_(None), answers.c.leased_until <= now)
        mine = free if by is None else sa.or_(free, answers.c.leased_by == by)
        return self._waiting(most, pool, mine, unanswered_by(by))

    def _waiting(self, most: int | None, pool: bool, *conditions: sa.ColumnElement[bool]) -> list[RoundState]:
        order = answers.c.asked if pool else answers.c.round
        statement = _STATE.where(answers.c.state == WAITING, *conditions).order_by(order).limit(most)
        return [_state(row) for row in self.connection.execute(statement, {"mine": self.campaign})]

    def lease(self, rounds: Sequence[int], until: float | None, by: str | None) -> None:
        """Give queries to an annotator for a while, or to nobody."""
        values = {"mine": self.campaign, "until": until, "by": by}
        _LEASE.run_many(self.connection, [{**values, "wanted": number} for number in rounds])

    def answered(self, *states: int) -> Iterator[RoundState]:
        """Rounds that are in one of these states, or in any at all, in their order."""
        statement = (_STATE.where(answers.c.state.in_(states)) if states else _STATE).order_by(answers.c.round)
        for row in self.connection.execute(statement, {"mine": self.campaign}):
            yield _state(row)

    def labelled(self) -> tuple[Head, Iterable[RoundState]]:
        """How far the campaign has come, and the rounds that have a label by then, in their order."""
        return self.head(), self.answered(LABELLED)

    def tally(self) -> Counter[int]:
        """How many rounds are in each state, of those that were queried or answered."""
        statement = (
            sa.select(answers.c.state, sa.func.count())
            .where(answers.c.campaign == self.campaign)
            .group_by(answers.c.state)
        )
        return Counter({int(row[0]): int(row[1]) for row in self.connection.execute(statement)})

    def labels_said(self) -> list[ClassName]:
        """The different classes that labels name; grades and preferences are about answers of models."""
        statement = sa.select(answers.c.label).where(answers.c.campaign == self.campaign).distinct()
        found = [
            read_label(json.loads(label)) for (label,) in self.connection.execute(statement) if label is not None
        ]
        return list(dict.fromkeys(name for label in found if label is not None for name in classes_of(label)))

    def labels_since(self, first: int) -> int:
        """How many labels there are of rounds from `first` on."""
        statement = sa.select(sa.func.count()).where(
            answers.c.campaign == self.campaign, answers.c.state == LABELLED, answers.c.round >= first
        )
        return int(self.connection.execute(statement).scalar_one())

    def questions(self) -> Iterator[tuple[int, int]]:
        """The questions of a pool in the order in which they were asked: the state of each, and its item."""
        statement = sa.select(answers.c.state, answers.c.round).where(
            answers.c.campaign == self.campaign, answers.c.asked.is_not(None)
        )
        yield from (
            (int(state), int(item)) for state, item in self.connection.execute(statement.order_by(answers.c.asked))
        )

    def round_of(self, key: str) -> int | None:
        """The round that was asked with a key."""
        row = _KEY.run(self.connection, {"mine": self.campaign, "wanted": key}).fetchone()
        return None if row is None else int(row[0])

    def rounds_of(self, wanted: Iterable[str]) -> dict[str, int]:
        """The rounds of those keys that are known."""
        listed = list(wanted)
        if not listed:
            return {}
        if self.connection.dialect.name == "postgresql":
            rows = _KEYS_IN_ARRAY.run(self.connection, {"mine": self.campaign, "wanted": listed})
        else:
            rows = _KEYS_IN_JSON.run(self.connection, {"mine": self.campaign, "wanted": json.dumps(listed)})
        return {key: int(number) for key, number in rows}


def _state(row: Any) -> RoundState:
    number, state, label, until, by = row
    try:
        return RoundState(number, state, None if label is None else read_label(json.loads(label)), until, by)
    except (TypeError, ValueError) as error:
        raise StorageError(f"the answer to round {number} is damaged; `modelpicker verify` repairs it.") from error
