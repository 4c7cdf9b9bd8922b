"""What the parts of a server share."""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from modelpicker.campaigns.background_compiler import BackgroundCompiler
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


class Intake(NamedTuple):
    """How far a file that is being taken in has come."""

    phase: Literal["reading", "storing", "comparing"]
    done: int = 0
    total: int = 0

    @property
    def words(self) -> str:
        """For people."""
        if self.phase == "storing":
            return f"Storing: {self.done:,} of {self.total:,} items"
        return "Reading the file" if self.phase == "reading" else "Finding the items on which models differ"

    @classmethod
    def stored(cls, done: int, total: int) -> Self:
        """This many items are stored; after the last of them the models are compared."""
        return cls("storing" if done < total else "comparing", done, total)


@dataclass
class ServerContext:
    """One running server."""

    configuration: Configuration
    storage: Storage
    queues: CommitQueues
    tokens: Tokens
    metrics: Metrics
    compiler: BackgroundCompiler
    failures: Failures = field(default_factory=Failures)
    feeds: "dict[str, Feed]" = field(default_factory=dict)
    """The news of campaigns that somebody follows."""
    summaries: dict[str, Summarized] = field(default_factory=dict)
    """Campaigns as they were last listed: whoever lists thousands need not open those that nobody uses."""
    intakes: dict[str, Intake] = field(default_factory=dict)
    """Files that are being taken in, by the names of the campaigns that begin with them."""
    preparing: bool = True
    """Whether what the campaigns need that were there at the start is not compiled yet."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server is told to stop: whoever listens for news is let go."""
