"""What charts are drawn from: how the models stood now and then, and where the queries are among the rounds."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.round_states import LABELLED, REFERENCE
from modelpicker.campaigns.state.base import CampaignState
from modelpicker.campaigns.storage.schema import answers, samples
from modelpicker.campaigns.storage.statements import Prepared

# How finely it is noted how the models stand: labels, or rounds, have grown by one part in that many.
PARTS = 100
LEAST_ROUNDS = 64


def drawn(value: float) -> float | None:
    """A value with as many digits as a chart can show: all of them would be most of what is sent."""
    return None if math.isnan(value) else float(f"{value:.5g}")


class Sample(NamedTuple):
    """How the models stood after an event: a weight each, or an estimate where there are no weights.

    A model that was eliminated has neither (NaN): what it would have done since is a guess, and leaps.
    """

    event: int
    rounds: int
    labels: int
    changes: int
    """How often models had joined or left by then."""
    values: npt.NDArray[np.float32]

    @classmethod
    def take(cls, state: CampaignState) -> "Sample":
        """How the models stand now."""
        values = state.sample_values().astype(np.float32)
        return cls(state.event, state.rounds, state.counts.labels, state.model_changes, values)

    def due(self, state: CampaignState) -> bool:
        """Whether so much has happened since that it is time for another: often at first, then ever more seldom."""
        labels, rounds = state.counts.labels, state.rounds
        return (
            abs(labels - self.labels) * PARTS >= max(labels, PARTS)
            or (rounds - self.rounds) * PARTS >= max(rounds, LEAST_ROUNDS * PARTS)
            or state.model_changes != self.changes
        )


class Bucket(NamedTuple):
    """How many queries there are among some consecutive rounds, and how many of them have a label."""

    number: int
    queries: int
    labels: int


_MINE = sa.select(samples.c.event, samples.c.rounds, samples.c.labels, samples.c.changes, samples.c.body).where(
    samples.c.campaign == sa.bindparam("mine")
)
_ADD = Prepared(sa.insert(samples))
_LAST = Prepared(_MINE.order_by(samples.c.event.desc()).limit(1))


def add_sample(store: EventStore, sample: Sample) -> None:
    """Note how the models stand."""
    body = sample.values.astype("<f4").tobytes()
    _ADD.run(store.connection, {"campaign": store.campaign, **sample._asdict(), "body": body})


def last_sample(store: EventStore) -> Sample | None:
    """How the models stood when that was last noted."""
    row = _LAST.run(store.connection, {"mine": store.campaign}).fetchone()
    return None if row is None else _sample(row)


def all_samples(store: EventStore) -> list[Sample]:
    """How the models stood over time."""
    return [
        _sample(row) for row in store.connection.execute(_MINE.order_by(samples.c.event), {"mine": store.campaign})
    ]


def _sample(row: Any) -> Sample:
    event, rounds, labels, changes, body = row
    return Sample(event, rounds, labels, changes, np.frombuffer(bytes(body), dtype="<f4"))


def buckets(store: EventStore, width: int) -> list[Bucket]:
    """Queries and labels among every that many rounds."""
    number = (answers.c.round // width).label("number")
    labels = sa.func.sum(sa.case((answers.c.state == LABELLED, 1), else_=0))
    statement = (
        sa.select(number, sa.func.count(), labels)
        .where(answers.c.campaign == store.campaign, answers.c.state != REFERENCE)
        .group_by(number)
        .order_by(number)
    )
    return [Bucket(*map(int, row)) for row in store.connection.execute(statement)]
