"""What a dashboard shows of a campaign.

Which model leads, how certain that is, and what its charts are drawn from.
"""

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.results.assembly import make_pick
from modelpicker.campaigns.results.chart_samples import Sample, all_samples, buckets, drawn
from modelpicker.campaigns.results.course import Course
from modelpicker.campaigns.results.intervals import Spread
from modelpicker.campaigns.results.pick import Pick
from modelpicker.campaigns.results.pool_dashboard import (
    pool_disagreement,
    pool_labels,
    pool_lines,
    pool_standing,
)
from modelpicker.campaigns.results.recent_rounds import RoundWindow
from modelpicker.campaigns.state.pool_projection import PoolProjection
from modelpicker.campaigns.state.projection import Projection, members
from modelpicker.campaigns.state.states import as_pool
from modelpicker.campaigns.state.transactions import CampaignTransactions
from modelpicker.encoding import ModelName

# Models whose weights are drawn, and the points of a line at most.
MOST_LINES = 12
MOST_POINTS = 400
# Models whose lines a report has.
COURSE_LINES = 5
# Seconds after which whoever asks how it stands no longer waits for somebody who goes through all labels.
BUSY = 0.5


class Dashboard:
    """How a campaign stands; kept up as it continues, so that looking again costs little."""

    def __init__(self, campaign: CampaignTransactions) -> None:
        self.campaign = campaign
        self._spread = Spread()
        self._spreading = threading.Lock()
        self._window = RoundWindow()
        self._looking = threading.Lock()
        self._last: dict[str, Any] | None = None

    @property
    def nbytes(self) -> int:
        """The memory that it takes, roughly."""
        return self._spread.nbytes + self._window.nbytes

    def standing(self) -> dict[str, Any]:
        """The pick, and how every model stands, with intervals; if that takes long, how it stood before."""
        if self.campaign.settings.pool is not None:
            with self.campaign.reading_state() as (_, state):
                return pool_standing(as_pool(state))
        last = self._last
        if not self._spreading.acquire(timeout=-1 if last is None else BUSY):
            return last or {}
        try:
            self._spread_anew()
            with self.campaign.reading() as (store, projection):
                pick = make_pick(store, projection)
                if store.head().rebuilt <= projection.event:  # else it is how it stood before the past was changed
                    self._spread.follow(store, projection)
                self._last = self._standing(store, projection, pick)
                return self._last
        finally:
            self._spreading.release()

    def _spread_anew(self) -> None:
        """Go through all labels, where that is needed, while others use the campaign."""
        with self.campaign.reading() as (store, projection):
            head = store.head()
            if head.rebuilt > projection.event or not self._spread.is_of_another_past(head, projection):
                return
            same = projection.counting()
        fresh = Spread()
        fresh.follow(self.campaign.distant(), same)
        self._spread = fresh

    def _standing(self, store: EventStore, projection: Projection, pick: Pick) -> dict[str, Any]:
        intervals = {} if projection.picker.drops else self._spread.intervals(pick, store)
        weights = projection.picker.weights
        weight_of = {} if weights is None else dict(zip(projection.picker.models, weights.tolist(), strict=True))
        document = pick.document()
        for entry in document["standing"]:
            low, high = intervals.get(entry["model"], (None, None))
            entry.update(low=low, high=high, weight=weight_of.get(entry["model"]))
        return {"event": projection.event, **document, "weighted": pick.weighted}

    def charts(self) -> dict[str, Any]:
        """Lines over time, recent rounds, and where the models disagree."""
        if self.campaign.settings.pool is not None:
            with self.campaign.reading_state() as (store, state):
                return self._pool_charts(store, as_pool(state))
        with self._looking, self.campaign.reading() as (store, projection):
            self._window.follow(store)
            return {
                "event": projection.event,
                "weights": self._weights(store, projection),
                "labels": _labels(store, store.head().rounds),
                "recent": self._window.recent(),
                "disagreement": self._window.disagreement(store),
            }

    def _pool_charts(self, store: EventStore, projection: PoolProjection) -> dict[str, Any]:
        """The same of a pool: lines go by labels, and there are no recent rounds."""
        leaders, samples = pool_lines(store, projection, MOST_LINES)
        samples = _thinned([*{sample.labels: sample for sample in samples}.values()])
        places = [projection.models.index(model) for model in leaders]
        return {
            "event": projection.event,
            "weights": {
                "kind": "estimates",
                "models": leaders,
                "labels": [sample.labels for sample in samples],
                "rounds": [sample.rounds for sample in samples],
                "values": [[float(sample.values[place]) for sample in samples] for place in places],
            },
            "labels": pool_labels(store, MOST_POINTS),
            "recent": {"rounds": [], "probability": [], "queried": []},
            "disagreement": pool_disagreement(store, projection),
        }

    def _weights(self, store: EventStore, projection: Projection) -> dict[str, Any]:
        """The weights of the leaders over time; their estimates, where an algorithm has no weights."""
        leaders = [entry.model for entry in make_pick(store, projection).standing[:MOST_LINES]]
        samples = self._samples(store, projection)
        return {
            "kind": "estimates" if projection.picker.weights is None else "weights",
            "models": leaders,
            "labels": [sample.labels for sample, _ in samples],
            "rounds": [sample.rounds for sample, _ in samples],
            "values": [[value_of.get(model) for _, value_of in samples] for model in leaders],
        }

    def _samples(
        self, store: EventStore, projection: Projection
    ) -> list[tuple[Sample, dict[ModelName, float | None]]]:
        """How the models stood over time, with the value of each model that took part by then."""
        samples = all_samples(store)
        if samples and samples[-1].event < projection.event:
            samples.append(Sample.take(projection))
        found = []
        for sample in _thinned([*{sample.labels: sample for sample in samples}.values()]):
            models = members(self.campaign.settings, projection.changes[: sample.changes])
            found.append((sample, dict(zip(models, map(drawn, sample.values.tolist()), strict=False))))
        return found

    def course(self) -> Course:
        """How the pick came about: the leaders over time, and which of all models led."""
        with self.campaign.reading() as (store, projection):
            pick = make_pick(store, projection)
            weighted = projection.picker.weights is not None
            # Answers that were taken back leave samples with more labels than there are.
            samples = [one for one in self._samples(store, projection) if one[0].labels <= pick.labelled]
            samples.sort(key=lambda one: one[0].labels)
            return _course(pick, samples, weighted=weighted)


def _known(value_of: Mapping[ModelName, float | None]) -> list[float]:
    """The values of the models that were still in the race."""
    return [value for value in value_of.values() if value is not None]


def _course(pick: Pick, samples: list[tuple[Sample, dict[ModelName, float | None]]], *, weighted: bool) -> Course:
    """The course of a campaign from samples, in the order of their labels."""
    leaders = [entry.model for entry in pick.standing[:COURSE_LINES]]
    led: list[ModelName] = []
    for _, value_of in samples:
        best = (max if weighted else min)(_known(value_of))
        level = [model for model, value in value_of.items() if value == best]
        led.append(next((model for model in (*led[-1:], pick.model) if model in level), level[0]))
    labels = [sample.labels for sample, _ in samples]
    if labels and labels[-1] == pick.labelled:
        led[-1] = pick.model  # it may be level with others
    lines: dict[ModelName, tuple[float | None, ...]] = {}
    for model in leaders:
        line = [value_of.get(model) for _, value_of in samples]
        if not weighted:
            least = [min(_known(value_of)) for _, value_of in samples]
            line = [None if value is None else value - low for value, low in zip(line, least, strict=True)]
        lines[model] = tuple(line)
    return Course(tuple(labels), tuple(led), (), "weights" if weighted else "mistakes", lines)


def _thinned(samples: list[Sample]) -> list[Sample]:
    """Not more than a chart can show; the last is always there."""
    step = -(-len(samples) // MOST_POINTS)
    return samples[::-step][::-1] if samples else []


def _labels(store: EventStore, rounds: int) -> dict[str, Any]:
    """Queries and labels against rounds seen, both added up."""
    width = max(1, -(-rounds // MOST_POINTS))
    total = -(-rounds // width)
    queries = np.zeros(total + 1, dtype=np.int64)
    labels = np.zeros(total + 1, dtype=np.int64)
    for bucket in buckets(store, width):
        queries[bucket.number + 1] = bucket.queries
        labels[bucket.number + 1] = bucket.labels
    return {
        "rounds": [min(rounds, place * width) for place in range(total + 1)],
        "queries": np.cumsum(queries).tolist(),
        "labels": np.cumsum(labels).tolist(),
    }
