"""What the server counts, in the forms that Prometheus reads."""

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric
from prometheus_client.exposition import choose_encoder

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
GROUPS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Everything that one server counts; each server has its own registry, as several may run in one process."""

    def __init__(self) -> None:
        self.registry = own = CollectorRegistry()
        self.rounds = Counter("modelpicker_rounds_total", "Rounds decided.", registry=own)
        self.queries = Counter(
            "modelpicker_queries_total", "Rounds decided whose label is asked for.", registry=own
        )
        self.labels = Counter("modelpicker_labels_total", "Labels taken in.", registry=own)
        self.skips = Counter("modelpicker_skips_total", "Queries that nobody could label.", registry=own)
        self.seconds = Histogram(
            "modelpicker_request_seconds",
            "How long requests took.",
            ("method", "route", "status"),
            registry=own,
            buckets=BUCKETS,
        )
        self.group = Histogram(
            "modelpicker_commit_changes", "Changes that went to disk together.", registry=own, buckets=GROUPS
        )
        self.handed_over = Counter(
            "modelpicker_handed_over_total", "Rounds that another server on the same storage decided.", registry=own
        )
        self.queue = Gauge("modelpicker_queue", "Changes that wait for their turn.", registry=own)
        self.pending = Gauge(
            "modelpicker_pending_queries", "Queries that wait for a label.", ("campaign",), registry=own
        )
        self.listeners = Gauge("modelpicker_listeners", "Pages that follow a campaign.", registry=own)
        self.peers = Gauge(
            "modelpicker_peers", "Other servers on the same storage that this one knows.", registry=own
        )
        self.failures = Counter("modelpicker_failed_tokens_total", "Tokens that were wrong.", registry=own)

    def take(self, numbers: Mapping[str, int]) -> None:
        """Add to counters, by their names here."""
        for name, number in numbers.items():
            getattr(self, name).inc(number)

    def expose(self, pending: Mapping[str, int], accept: str = "") -> tuple[bytes, str]:
        """All of it in the form that an Accept header asks for, and the content type of that form.

        `pending` has the queries that wait in each campaign.
        """
        self.pending.clear()
        for name, number in pending.items():
            self.pending.labels(name).set(number)
        try:
            encode, content_type = choose_encoder(accept)
        except TypeError:  # the library compares "version=x" with numbers
            encode, content_type = choose_encoder("")
        return encode(_Counted(self.registry)), content_type


class _Counted:
    """The metrics of a registry without the times at which their series began, which nobody needs here."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterable[Metric]:
        """The metrics, one by one."""
        for metric in self._registry.collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric
