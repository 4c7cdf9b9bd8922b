"""The table of opinions: who said what of the rounds that several people label. It is found from the events."""

import json
from typing import NamedTuple

import sqlalchemy as sa

from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.events.event_types import Opinion, Withdrawal
from modelpicker.campaigns.storage.schema import answers, opinions
from modelpicker.errors import StorageError
from modelpicker.label import AnyLabel, as_document, read_label


class StoredOpinion(NamedTuple):
    """What one person says about a round."""

    person: str
    label: AnyLabel | None
    annotator: str | None


class OpinionStore:
    """The opinions of one campaign, within a transaction."""

    def __init__(self, connection: sa.Connection, campaign: int) -> None:
        self._connection = connection
        self._campaign = campaign

    def _mine(self, number: int) -> sa.ColumnElement[bool]:
        return sa.and_(opinions.c.campaign == self._campaign, opinions.c.round == number)

    def of(self, number: int) -> list[StoredOpinion]:
        """What people say about a round, by person."""
        return [opinion for _, opinion in self._found(self._mine(number))]

    def all(self) -> list[tuple[int, StoredOpinion]]:
        """What people say about every round, in the order of the rounds, by person."""
        return self._found(opinions.c.campaign == self._campaign)

    def _found(self, which: sa.ColumnElement[bool]) -> list[tuple[int, StoredOpinion]]:
        columns = opinions.c.round, opinions.c.person, opinions.c.label, opinions.c.annotator
        statement = sa.select(*columns).where(which).order_by(opinions.c.round, opinions.c.person)
        found = []
        for number, person, label, annotator in self._connection.execute(statement):
            try:
                said = None if label is None else read_label(json.loads(label))
            except (TypeError, ValueError) as error:
                raise StorageError(
                    f"an opinion about round {number} is damaged; `modelpicker verify` repairs it."
                ) from error
            found.append((number, StoredOpinion(person, said, annotator)))
        return found

    def set(self, opinion: Opinion) -> None:
        """Note an opinion, in the place of what the same person said before."""
        self._delete(opinion.round, opinion.by)
        values = {
            "campaign": self._campaign,
            "round": opinion.round,
            "person": person_of(opinion.by),
            "label": None if opinion.label is None else json.dumps(as_document(opinion.label)),
            "annotator": opinion.by,
        }
        self._connection.execute(sa.insert(opinions), values)

    def drop(self, withdrawal: Withdrawal) -> None:
        """An opinion is taken back."""
        self._delete(withdrawal.round, withdrawal.whose)

    def _delete(self, number: int, annotator: str | None) -> None:
        one = sa.and_(self._mine(number), opinions.c.person == person_of(annotator))
        self._connection.execute(sa.delete(opinions).where(one))

    def clear(self) -> None:
        """Empty the table."""
        self._connection.execute(sa.delete(opinions).where(opinions.c.campaign == self._campaign))

    def indexed(self) -> list[sa.Row[tuple[int, str, str | None, str | None]]]:
        """All that is there, in order."""
        columns = opinions.c.round, opinions.c.person, opinions.c.label, opinions.c.annotator
        mine = sa.select(*columns).where(opinions.c.campaign == self._campaign)
        return list(self._connection.execute(mine.order_by(opinions.c.round, opinions.c.person)))


def unanswered_by(annotator: str | None) -> sa.ColumnElement[bool]:
    """The rounds in the table of answers that a person has not answered."""
    theirs = sa.select(opinions.c.round).where(
        opinions.c.campaign == answers.c.campaign,
        opinions.c.round == answers.c.round,
        opinions.c.person == person_of(annotator),
    )
    return ~sa.exists(theirs)
