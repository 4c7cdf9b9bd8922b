"""What a dashboard shows of a campaign on a pool: the same documents as for a stream, as far as they make sense."""

from collections import Counter
from typing import Any

import numpy as np

from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.round_states import LABELLED, OPEN
from modelpicker.campaigns.results.chart_samples import Sample, all_samples
from modelpicker.campaigns.results.pool_pick import campaign_pick
from modelpicker.campaigns.results.recent_rounds import MOST_ITEMS, MOST_PAIRS, WINDOW, Seen, describe_item
from modelpicker.campaigns.state.pool_projection import PoolProjection
from modelpicker.encoding import ClassName

# Answers that are read to find how far behind each model may be.
MOST_CELLS = 2**21


def pool_standing(projection: PoolProjection) -> dict[str, Any]:
    """The pick, and how every model stands; there are no weights, and in a very large pool no intervals."""
    pick, pool = campaign_pick(projection), projection.picker
    intervals = pool.gap_intervals(pool.confidence) if pool.contested * len(pool.models) <= MOST_CELLS else {}
    document = pick.document()
    for entry in document["standing"]:
        low, high = intervals.get(entry["model"], (None, None))
        entry.update(low=low, high=high, weight=None)
    return {"event": projection.event, **document, "weighted": pick.weighted}


def pool_lines(store: EventStore, projection: PoolProjection, most: int) -> tuple[list[Any], list[Sample]]:
    """The models whose lines are drawn, and how all models stood over time."""
    leaders = [entry.model for entry in campaign_pick(projection).standing[:most]]
    samples = all_samples(store)
    if samples and samples[-1].event < projection.event:
        samples.append(Sample.take(projection))
    return leaders, samples


def pool_labels(store: EventStore, most: int) -> dict[str, Any]:
    """Labels against questions asked, both added up."""
    answered = np.cumsum([0, *(state == LABELLED for state, _ in store.questions())])
    total = len(answered) - 1
    step = max(1, -(-total // most))
    places = sorted({*range(0, total + 1, step), total})
    return {"rounds": places, "queries": places, "labels": answered[places].tolist()}


def pool_disagreement(store: EventStore, projection: PoolProjection) -> dict[str, Any]:
    """Between which classes models are divided, and on which answered items most; some of a large pool."""
    pool = projection.picker
    names: list[ClassName | None] = [*pool.classes, None]
    seen: list[Seen] = []
    for item, row in pool.contested_part(WINDOW):
        votes = tuple((names[code], count) for code, count in Counter(row.tolist()).most_common())
        seen.append(Seen(item, 0.0, False, votes))
    pairs = Counter(one.pair for one in seen if one.pair is not None)
    # Any item without an answer may be asked about next: an annotator must not have seen the votes.
    answered = {state.round for state in store.answered() if state.state not in OPEN}
    shown = [one for one in seen if one.number in answered]
    most = sorted(shown, key=lambda one: (-one.division, one.number))[:MOST_ITEMS]
    return {
        "rounds": len(pool),
        "divided": pool.contested,
        "pairs": [{"classes": list(pair), "rounds": count} for pair, count in pairs.most_common(MOST_PAIRS)],
        "items": [describe_item(store, one) for one in most],
    }
