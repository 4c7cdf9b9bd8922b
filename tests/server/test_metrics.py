"""What the server counts: in a form that Prometheus reads, and rightly."""

import math
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from modelpicker.server.metrics import BUCKETS, Metrics
from tests.server.servers import API, Running, serving

MODELS = ["ant", "bee", "cat"]
SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
KINDS = {"counter", "gauge", "histogram"}
Labels = frozenset[tuple[str, str]]


class Read(NamedTuple):
    """What Prometheus makes of the text."""

    kinds: dict[str, str]
    values: dict[tuple[str, Labels], float]

    def value(self, name: str, **labels: str) -> float:
        return self.values[name, frozenset(labels.items())]

    def total(self, name: str, **labels: str) -> float:
        """The sum over all series that have these labels."""
        wanted = set(labels.items())
        return sum(value for (one, given), value in self.values.items() if one == name and given >= wanted)


def read(text: str) -> Read:
    """Text in Prometheus's form, read as strictly as it can be."""
    assert text.endswith("\n")
    found = Read({}, {})
    family = ""
    explained = set()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name, _, words = line[7:].partition(" ")
            assert words
            assert name not in explained
            explained.add(name)
        elif line.startswith("# TYPE "):
            family, _, kind = line[7:].partition(" ")
            assert kind in KINDS
            assert family in explained
            assert family not in found.kinds
            found.kinds[family] = kind
        else:
            match = SAMPLE.fullmatch(line)
            assert match is not None, line
            name, inside, value = match[1], match[2] or "", match[3]
            base = re.sub("_(bucket|sum|count)$", "", name) if found.kinds[family] == "histogram" else name
            assert base == family, f"{name} among those of {family}"
            labels = LABEL.findall(inside)
            assert "".join(f'{label}="{text}",' for label, text in labels) == (f"{inside}," if inside else "")
            key = name, frozenset((label, _plain(text)) for label, text in labels)
            assert key not in found.values, line
            found.values[key] = float(value)
    return found


def _plain(text: str) -> str:
    return re.sub(r'\\(["\\n])', lambda match: "\n" if match[1] == "n" else match[1], text)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Running]:
    """A server that nobody else uses."""
    with serving(f"sqlite:///{tmp_path}/campaigns.db") as running:
        yield running


def seen(server: Running) -> Read:
    answer = server.http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return read(answer.text)


def create(server: Running, name: str, **settings: Any) -> str:
    sure = {"algorithm": "label-efficient", "options": {"probability": 1.0}}
    server.post("/campaigns", {"name": name, "models": MODELS, **sure, **settings}).raise_for_status()
    return f"/campaigns/{name}"


def test_everything_is_there_from_the_start(own: Running) -> None:
    found = seen(own)
    assert found.kinds == {
        "modelpicker_rounds_total": "counter",
        "modelpicker_queries_total": "counter",
        "modelpicker_labels_total": "counter",
        "modelpicker_skips_total": "counter",
        "modelpicker_request_seconds": "histogram",
        "modelpicker_commit_changes": "histogram",
        "modelpicker_queue": "gauge",
        "modelpicker_pending_queries": "gauge",
        "modelpicker_listeners": "gauge",
        "modelpicker_peers": "gauge",
        "modelpicker_handed_over_total": "counter",
        "modelpicker_failed_tokens_total": "counter",
    }
    for name in ("rounds_total", "queries_total", "labels_total", "skips_total", "queue", "listeners"):
        assert found.value(f"modelpicker_{name}") == 0


def test_rounds_and_queries_are_counted_when_they_are_decided_and_not_when_they_are_repeated(own: Running) -> None:
    path = create(own, "a")
    split, agreed = ["x", "y", "x"], ["x", "x", "x"]
    for row, key in ((split, "k1"), (agreed, "k2"), (split, "k1"), (split, None)):
        own.post(f"{path}/rounds", {"predictions": row, "key": key}).raise_for_status()
    own.post(f"{path}/rounds/batch", {"predictions": [split, split, agreed], "keys": ["k1", "k3", "k3"]})
    assert own.post(f"{path}/rounds", {"predictions": ["x"]}).status_code == 422
    assert own.post(f"{path}/rounds/batch", {"predictions": [split, ["x"]]}).status_code == 422
    table = b"id,ant,bee,cat\nf1,x,y,x\nf2,x,x,x\n"
    for _ in range(2):
        own.http.post(f"{API}{path}/files?filename=f.csv&at_once=true", content=table).raise_for_status()
    found = seen(own)
    rounds = own.get(path).json()["rounds"]
    assert found.value("modelpicker_rounds_total") == rounds == 6
    assert found.value("modelpicker_queries_total") == 4
    assert found.value("modelpicker_pending_queries", campaign="a") == 4


def test_labels_and_skips_are_counted_when_they_are_new(own: Running) -> None:
    path = create(own, "a")
    own.post(f"{path}/rounds/batch", {"predictions": [["x", "y", "x"]] * 8 + [["x", "x", "x"]]}).raise_for_status()
    told = [
        ("/labels", {"id": 0, "label": "x"}),
        ("/labels", {"id": 0, "label": "x"}),
        ("/labels", {"id": 0, "label": "y"}),  # a conflict
        ("/labels", {"id": 0, "label": "y", "replace": True}),
        ("/labels", {"id": 8, "label": "y"}),  # for reference
        ("/labels", {"id": 1, "label": -1}),
        ("/skips", {"id": 1}),
        ("/skips", {"id": 2}),
        ("/labels/batch", {"labels": [[3, "x"], [4, None], [5, "y"], [3, "x"]]}),
        ("/labels/batch", {"labels": [[6, "x"], [99, "x"]]}),  # none of them
        ("/retractions", {"id": 5}),
    ]
    statuses = [own.post(f"{path}{where}", body).status_code for where, body in told]
    assert statuses == [200, 200, 409, 200, 200, 200, 200, 200, 200, 404, 200]
    found = seen(own)
    assert found.value("modelpicker_labels_total") == 4
    assert found.value("modelpicker_skips_total") == 3
    assert found.value("modelpicker_pending_queries", campaign="a") == 3


def test_requests_are_counted_by_route_and_status_with_how_long_they_took(own: Running) -> None:
    path = create(own, "a")
    for _ in range(3):
        own.post(f"{path}/rounds", {"predictions": ["x", "y", "x"]}).raise_for_status()
    own.post(f"{path}/rounds", {"predictions": []})
    own.get("/campaigns/nobody")
    own.http.get("/nothing")
    own.http.put(f"{API}/campaigns")
    found = seen(own)
    count = "modelpicker_request_seconds_count"
    route = f"{API}/campaigns/{{name}}/rounds"
    assert found.value(count, method="POST", route=route, status="200") == 3
    assert found.value(count, method="POST", route=route, status="422") == 1
    assert found.value(count, method="GET", route=f"{API}/campaigns/{{name}}", status="404") == 1
    assert found.total(count, method="GET", route="other", status="404") == 1
    assert found.total(count, method="PUT", status="405") == 1
    assert found.total(count) == 8
    for (name, labels), value in found.values.items():
        if name == count:
            buckets = [
                found.value("modelpicker_request_seconds_bucket", **dict(labels), le=str(bound))
                for bound in (*BUCKETS, "+Inf")
            ]
            assert buckets == sorted(buckets)
            assert buckets[-1] == value
            assert 0 < found.value("modelpicker_request_seconds_sum", **dict(labels)) < 60


def test_what_clients_make_up_is_not_kept(own: Running) -> None:
    def series() -> int:
        return len(seen(own).values)

    own.get("/campaigns/first")
    own.http.get("/first")
    _raw(own, b"BREW /first HTTP/1.1")
    series()
    before = series()
    for number in range(30):
        own.get(f"/campaigns/made-up-{number}")
        own.http.get(f"/made/up/{number}")
        _raw(own, b"BREW%d /x HTTP/1.1" % number)
    assert series() == before


def _raw(server: Running, line: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        connection.sendall(line + b"\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        while connection.recv(65536):
            pass


def test_commits_are_counted_with_how_many_changes_they_took(own: Running) -> None:
    path = create(own, "a")
    for _ in range(5):
        own.post(f"{path}/rounds", {"predictions": ["x", "y", "x"]}).raise_for_status()
    own.post(f"{path}/leases", {}).raise_for_status()
    found = seen(own)
    assert found.value("modelpicker_commit_changes_count") == 6
    assert found.value("modelpicker_commit_changes_sum") == 6
    assert found.value("modelpicker_commit_changes_bucket", le="1.0") == 6
    assert found.value("modelpicker_queue") == 0


def test_many_at_once_are_counted_one_by_one(own: Running) -> None:
    path = create(own, "a")

    def work(who: int) -> None:
        for number in range(15):
            body = {"predictions": ["x", "y", "x"], "key": f"{who if number else 'all'}-{number}"}
            asked = own.post(f"{path}/rounds", body).raise_for_status().json()
            own.post(f"{path}/labels", {"id": asked["id"], "label": "x"}).raise_for_status()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    found = seen(own)
    expected = 8 * 14 + 1
    assert found.value("modelpicker_rounds_total") == found.value("modelpicker_queries_total") == expected
    assert found.value("modelpicker_labels_total") == own.get(path).json()["labels_used"] == expected
    assert found.value("modelpicker_commit_changes_sum") == 2 * 8 * 15
    assert found.value("modelpicker_queue") == 0


def test_campaigns_of_any_name_have_their_queries_counted(own: Running) -> None:
    for name in ("Größe 9", "a.b-c_d"):
        own.post(f"{create(own, name)}/rounds", {"predictions": ["x", "y", "x"]}).raise_for_status()
        assert seen(own).value("modelpicker_pending_queries", campaign=name) == 1


def shown(metrics: Metrics, **pending: int) -> Read:
    """What a server with these numbers would tell."""
    content, content_type = metrics.expose(pending)
    assert content_type == "text/plain; version=0.0.4; charset=utf-8"
    return read(content.decode())


def test_large_numbers_are_told_to_the_last_digit() -> None:
    metrics = Metrics()
    metrics.rounds.inc(123_456_789)
    metrics.rounds.inc(1)
    asked = {"method": "GET", "route": "r", "status": "200"}
    metrics.seconds.labels(**asked).observe(1e-7)
    metrics.seconds.labels(**asked).observe(12_345_678.25)
    found = shown(metrics, c=2_000_001)
    assert found.value("modelpicker_rounds_total") == 123_456_790
    assert found.value("modelpicker_pending_queries", campaign="c") == 2_000_001
    assert found.value("modelpicker_request_seconds_sum", **asked) == pytest.approx(12_345_678.25 + 1e-7, abs=1e-9)


@pytest.mark.parametrize("text", ['"', "\\", "\n", '\\"\n\\n', "a,b}", "{x}=1", "ü 🙂", ""])
def test_any_text_can_be_a_label(text: str) -> None:
    found = shown(Metrics(), **{text: 2})
    assert found.value("modelpicker_pending_queries", campaign=text) == 2


def test_a_number_on_a_bound_belongs_below_it() -> None:
    metrics = Metrics()
    for number in (0, 1, 1.5, 2, 4, 5, 1_000):
        metrics.group.observe(number)
    found = shown(metrics)
    bounds = ("1.0", "2.0", "4.0", "256.0", "+Inf")
    name = "modelpicker_commit_changes"
    assert [found.value(f"{name}_bucket", le=bound) for bound in bounds] == [2, 4, 5, 6, 7]
    assert (found.value(f"{name}_count"), found.value(f"{name}_sum")) == (7, 1_013.5)
    assert all(math.isfinite(value) for value in found.values.values())


def test_campaigns_that_are_gone_are_not_told_any_more() -> None:
    metrics = Metrics()
    assert shown(metrics, a=1, b=2).total("modelpicker_pending_queries") == 3
    assert shown(metrics, b=1).total("modelpicker_pending_queries") == 1


def test_two_servers_in_one_process_count_apart(own: Running, tmp_path: Path) -> None:
    path = create(own, "a")
    with serving(f"sqlite:///{tmp_path}/others.db") as other:
        own.post(f"{path}/rounds", {"predictions": ["x", "y", "x"]}).raise_for_status()
        assert seen(own).value("modelpicker_rounds_total") == 1
        assert seen(other).value("modelpicker_rounds_total") == 0


PLAIN = "text/plain; version=0.0.4; charset=utf-8"
OPEN = "application/openmetrics-text; version=1.0.0"
ACCEPTED = {
    "": PLAIN,
    "*/*": PLAIN,
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1": PLAIN,
    "text/plain;version=1.0.0": "text/plain; version=1.0.0; charset=utf-8; escaping=underscores",
    "application/openmetrics-text": OPEN,
    "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.3": OPEN,
    "application/openmetrics-text; version=x": PLAIN,
    "text/plain; version=1.x": PLAIN,
    "text/plain; version=": PLAIN,
    ";,=;version": PLAIN,
}


@pytest.mark.parametrize("accept", ACCEPTED)
def test_the_form_is_the_one_that_is_accepted(own: Running, accept: str) -> None:
    own.post(f"{create(own, 'a')}/rounds", {"predictions": ["x", "y", "x"]}).raise_for_status()
    answer = own.http.get("/metrics", headers={"Accept": accept})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(ACCEPTED[accept])
    if ACCEPTED[accept] != OPEN:
        assert read(answer.text).value("modelpicker_rounds_total") == 1
        return
    read_families: Any = text_string_to_metric_families  # has no types
    families = {family.name: family for family in read_families(answer.text)}
    (sample,) = families["modelpicker_rounds"].samples
    assert (sample.name, sample.value) == ("modelpicker_rounds_total", 1)


def test_several_accept_headers_are_read_as_one(own: Running) -> None:
    accept = [("Accept", "text/html"), ("Accept", "application/openmetrics-text")]
    answer = own.http.get("/metrics", headers=accept)
    assert answer.headers["content-type"].startswith(OPEN)
