"""What the parts of a server share."""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from modelpicker.campaigns.storage.database import Storage
from modelpicker.server.access.tokens import Failures, Tokens
from modelpicker.server.configuration import Configuration
from modelpicker.server.live.group_commit import CommitQueues
from modelpicker.server.metrics import Metrics

if TYPE_CHECKING:
    from modelpicker.server.live.live_events import Feed


class Summarized(NamedTuple):
    """A campaign in a list, as of an event; -1 if that is to be looked up again."""

    created: int
    event: int
    row: dict[str, Any]


@dataclass
class ServerContext:
    """One running server."""

    configuration: Configuration
    storage: Storage
    queues: CommitQueues
    tokens: Tokens
    metrics: Metrics
    failures: Failures = field(default_factory=Failures)
    feeds: "dict[str, Feed]" = field(default_factory=dict)
    """The news of campaigns that somebody follows."""
    summaries: dict[str, Summarized] = field(default_factory=dict)
    """Campaigns as they were last listed: whoever lists thousands need not open those that nobody uses."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server is told to stop: whoever listens for news is let go."""
