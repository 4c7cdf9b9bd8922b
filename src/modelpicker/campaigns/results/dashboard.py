"""What a dashboard shows of a campaign: who leads, how certain that is, and what its charts are drawn from."""

import threading
from typing import Any

import numpy as np

from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.results.assembly import make_pick
from modelpicker.campaigns.results.chart_samples import Sample, all_samples, buckets, drawn
from modelpicker.campaigns.results.intervals import Spread
from modelpicker.campaigns.results.pick import Pick
from modelpicker.campaigns.results.recent_rounds import RoundWindow
from modelpicker.campaigns.state.projection import Projection, members
from modelpicker.campaigns.state.transactions import CampaignTransactions

# Models whose weights are drawn, and the points of a line at most.
MOST_LINES = 12
MOST_POINTS = 400
# Seconds after which whoever asks how it stands no longer waits for somebody who goes through all labels.
BUSY = 0.5


class Dashboard:
    """How a campaign stands; kept up as it goes on, so that looking again costs little."""

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
        with self._looking, self.campaign.reading() as (store, projection):
            self._window.follow(store)
            return {
                "event": projection.event,
                "weights": self._weights(store, projection),
                "labels": _labels(store, store.head().rounds),
                "recent": self._window.recent(),
                "disagreement": self._window.disagreement(store),
            }

    def _weights(self, store: EventStore, projection: Projection) -> dict[str, Any]:
        """The weights of the leaders over time; their estimates, where an algorithm has no weights."""
        leaders = [entry.model for entry in make_pick(store, projection).standing[:MOST_LINES]]
        samples = all_samples(store)
        if samples and samples[-1].event < projection.event:
            samples.append(Sample.take(projection))
        samples = _thinned([*{sample.labels: sample for sample in samples}.values()])
        lines: list[list[float | None]] = [[] for _ in leaders]
        for sample in samples:
            models = members(self.campaign.settings, projection.changes[: sample.changes])
            value_of = dict(zip(models, map(drawn, sample.values.tolist()), strict=False))
            for line, model in zip(lines, leaders, strict=True):
                line.append(value_of.get(model))
        return {
            "kind": "estimates" if projection.picker.weights is None else "weights",
            "models": leaders,
            "labels": [sample.labels for sample in samples],
            "rounds": [sample.rounds for sample in samples],
            "values": lines,
        }


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
