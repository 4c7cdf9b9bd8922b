"""Small streams, and what campaigns have come to."""

from typing import Any

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from modelpicker.algorithms.checks import make_stream
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.state.base import CampaignState
from modelpicker.campaigns.state.states import rebuild
from modelpicker.campaigns.storage.verify import verify

Matrix = npt.NDArray[Any]
MODELS = ["ant", "bee", "cat", "dog"]


def stream(rounds: int = 60, seed: int = 0, models: int = 4, classes: int = 3) -> tuple[Matrix, Matrix]:
    """Predictions and labels: models of rising accuracy, some abstentions, some labels that nobody predicts."""
    return make_stream(seed, rounds, models, classes, abstaining=0.05)


def play(campaign: mp.Campaign, predictions: Matrix, labels: Matrix) -> list[mp.Decision]:
    """Ask about every item, and tell every label at once."""
    decisions = []
    for row, label in zip(predictions.tolist(), labels.tolist(), strict=True):
        decisions.append(campaign.ask(row))
        if decisions[-1].query:
            campaign.tell(decisions[-1].id, label)
    return decisions


def state(campaign: mp.Campaign) -> dict[str, Any]:
    """Everything that a campaign has come to, in this process."""
    with campaign.reading_state() as (_, projection):
        return _document(projection)


def rebuilt(campaign: mp.Campaign) -> dict[str, Any]:
    """The same, found from the events alone."""
    with campaign.storage.reading() as connection:
        log = EventStore(connection, campaign._number)
        head = log.head()
        return _document(rebuild(log, campaign.settings, head.events, head.rebuilt))


def _document(projection: CampaignState) -> dict[str, Any]:
    """Without the number of events, in which campaigns that came to the same may differ."""
    return {key: value for key, value in projection.document().items() if key != "event"}


def check(campaign: mp.Campaign, url: str) -> None:
    """The state here, in another process's eyes, and by the events: equal to the last bit."""
    here = state(campaign)
    assert here == rebuilt(campaign)
    assert here == state(mp.open_campaign(url, campaign.name))
    assert verify(campaign, repair=False).wrong == []


def estimates(campaign: mp.Campaign) -> dict[Any, float]:
    """The estimate of each model."""
    return {entry.model: entry.estimate for entry in campaign.best().standing}


def without_times(campaign: mp.Campaign) -> list[dict[str, Any]]:
    """The history except for when it was."""
    return [{key: value for key, value in record.items() if key != "at"} for record in campaign.history()]


def losses_in_round_order(campaign: mp.Campaign, predictions: Matrix, labels: dict[int, int]) -> list[float]:
    """Model Picker's estimates by their definition: mistakes over probabilities, in the order of the rounds."""
    losses = np.zeros(predictions.shape[1])
    for record in campaign.history():
        if record["kind"] == "ask" and record["query"] and record["id"] in labels:
            losses += (predictions[record["id"]] != labels[record["id"]]) / record["probability"]
    return list(losses)
