"""The state of a campaign, found from its events: that of a stream or that of a pool, by its settings."""

from collections.abc import Mapping
from typing import Any

from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.campaigns.state import pool_rebuild, projection
from modelpicker.campaigns.state.base import CampaignState
from modelpicker.campaigns.state.pool_projection import PoolProjection
from modelpicker.campaigns.state.projection import Projection
from modelpicker.errors import ConflictError


def new_state(settings: CampaignSettings) -> CampaignState:
    """Nothing has happened yet."""
    return Projection.new(settings) if settings.pool is None else PoolProjection(settings)


def load_state(settings: CampaignSettings, document: Mapping[str, Any], store: EventStore) -> CampaignState:
    """The state that was kept; a StateError if it is damaged, or was kept with other settings."""
    if settings.pool is None:
        return Projection.load(settings, document)
    return PoolProjection.load(settings, document, store)


def rebuild(store: EventStore, settings: CampaignSettings, upto: int, rebuilt: int) -> CampaignState:
    """The state as of an event, found from the events alone; everything up to `rebuilt` is rebuilt."""
    if settings.pool is None:
        return projection.rebuild(store, settings, upto, rebuilt)
    return pool_rebuild.rebuild(store, settings, upto, rebuilt)


def as_stream(state: CampaignState) -> Projection:
    """The state of a stream; an error for a pool."""
    if not isinstance(state, Projection):
        raise ConflictError("this campaign is on a pool, and not on a stream.")
    return state


def as_pool(state: CampaignState) -> PoolProjection:
    """The state of a pool; an error for a stream."""
    if not isinstance(state, PoolProjection):
        raise ConflictError("this campaign is on a stream, and not on a pool.")
    return state
