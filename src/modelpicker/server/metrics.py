"""What the server counts, in the text form that Prometheus reads."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
Labels = tuple[tuple[str, str], ...]


class Counter:
    """Numbers that only grow, one for each combination of labels."""

    kind = "counter"

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.values: dict[Labels, float] = defaultdict(int)

    def add(self, number: float = 1, **labels: str) -> None:
        """Count some more."""
        self.values[tuple(labels.items())] += number

    def lines(self) -> list[str]:
        """As Prometheus reads it."""
        values = dict(self.values) or {(): 0}
        return [f"{self.name}{_shown(labels)} {value}" for labels, value in sorted(values.items())]


class Gauge(Counter):
    """Numbers that are set."""

    kind = "gauge"

    def put(self, number: float, **labels: str) -> None:
        """The number as it is now."""
        self.values[tuple(labels.items())] = number


class Histogram:
    """How long things took, or how large they were."""

    kind = "histogram"

    def __init__(self, name: str, text: str, bounds: tuple[float, ...] = BUCKETS) -> None:
        self.name = name
        self.text = text
        self.bounds = bounds
        self.counts: dict[Labels, list[int]] = {}
        self.sums: dict[Labels, float] = defaultdict(float)

    def see(self, number: float, **labels: str) -> None:
        """Take in one."""
        key = tuple(labels.items())
        counts = self.counts.get(key)
        if counts is None:
            counts = self.counts.setdefault(key, [0] * (len(self.bounds) + 1))
        counts[bisect_left(self.bounds, number)] += 1
        self.sums[key] += number

    def lines(self) -> list[str]:
        """As Prometheus reads it: buckets that contain the smaller ones, the sum and the number."""
        found = []
        for labels, counts in sorted(self.counts.items()):
            total = 0
            for bound, count in zip((*map(str, self.bounds), "+Inf"), counts, strict=True):
                total += count
                found.append(f"{self.name}_bucket{_shown((*labels, ('le', bound)))} {total}")
            found.append(f"{self.name}_sum{_shown(labels)} {self.sums[labels]}")
            found.append(f"{self.name}_count{_shown(labels)} {total}")
        return found


class Metrics:
    """Everything that is counted in this process."""

    def __init__(self) -> None:
        self.rounds = Counter("modelpicker_rounds_total", "Rounds decided.")
        self.queries = Counter("modelpicker_queries_total", "Rounds decided whose label is asked for.")
        self.labels = Counter("modelpicker_labels_total", "Labels taken in.")
        self.skips = Counter("modelpicker_skips_total", "Queries that nobody could label.")
        self.seconds = Histogram("modelpicker_request_seconds", "How long requests took.")
        self.group = Histogram(
            "modelpicker_commit_changes", "Changes that went to disk together.", (1, 2, 4, 8, 16, 32, 64, 128, 256)
        )
        self.queue = Gauge("modelpicker_queue", "Changes that wait for their turn.")
        self.pending = Gauge("modelpicker_pending_queries", "Queries that wait for a label.")
        self.listeners = Gauge("modelpicker_listeners", "Pages that follow a campaign.")
        self.failures = Counter("modelpicker_failed_tokens_total", "Tokens that were wrong.")

    def take(self, numbers: Mapping[str, int]) -> None:
        """Add to counters, by their names here."""
        for name, number in numbers.items():
            getattr(self, name).add(number)

    def text(self, pending: Mapping[str, int]) -> str:
        """All of it; `pending` has the queries that wait in each campaign."""
        self.pending.values.clear()
        for name, number in pending.items():
            self.pending.put(number, campaign=name)
        lines: list[str] = []
        for one in vars(self).values():
            if isinstance(one, Counter | Histogram):
                lines += [f"# HELP {one.name} {one.text}", f"# TYPE {one.name} {one.kind}", *one.lines()]
        return "\n".join(lines) + "\n"


def _shown(labels: Labels) -> str:
    if not labels:
        return ""
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{inside}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
