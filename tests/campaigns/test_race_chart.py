"""The chart of a race: a line ends where its model is eliminated."""

import json

import modelpicker as mp
from modelpicker.campaigns.results.dashboard import Dashboard


def test_no_line_leaps_where_a_race_ends(tmp_path: object) -> None:
    """Items come in batches: what was eliminated early was drawn as if it had raced through unlabelled items."""
    collection = mp.synthetic_collection(2_000, 5, 4, [0.95, 0.6, 0.5, 0.4, 0.3], seed=1)
    assert collection.labels is not None
    campaign = mp.create_campaign(
        f"sqlite:///{tmp_path}/a.db",
        "race",
        models=list(collection.models),
        classes=list(collection.classes),
        algorithm="race",
    )
    for first in range(0, 2_000, 40):
        if campaign.best().state.name == "won":
            break
        campaign.ask_many(collection.take(range(first, first + 40)))
        for query in campaign.pending():
            campaign.tell(query.id, collection.classes[int(collection.labels[query.id])])
    assert campaign.best().state.name == "won"
    weights = Dashboard(campaign).charts()["weights"]
    json.dumps(weights, allow_nan=False)
    for line in weights["values"]:
        known = [
            (labels, value) for labels, value in zip(weights["labels"], line, strict=True) if value is not None
        ]
        assert known
        assert all(value <= labels + 1e-3 for labels, value in known), "more mistakes than labels"
    ends = [max(place for place, value in enumerate(line) if value is not None) for line in weights["values"]]
    assert ends[0] == len(weights["labels"]) - 1
    assert max(ends[1:]) < ends[0]
