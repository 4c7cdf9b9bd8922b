"""Files of predictions over HTTP: looked at and taken in, in every form, and refused for what they are."""

import gzip
import io
import json
import random
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import modelpicker as mp
from modelpicker.campaigns import create_campaign
from modelpicker.campaigns.input.files import batches_of
from tests.server.describing import Api
from tests.server.servers import API, Running, serving
from tests.shared_data import load

MODELS = ["ant", "bee", "cat"]
ROWS = [
    {"id": f"m{number}", "text": f"näh, {number}", "ant": "no", "bee": "yes" if number % 2 else "no", "cat": "no"}
    for number in range(10)
]


def as_csv(rows: list[dict[str, Any]], mark: str = ",") -> bytes:
    lines = [mark.join(rows[0])]
    for row in rows:
        lines.append(mark.join(f'"{value}"' if value is not None else "" for value in row.values()))
    return "\n".join(lines).encode()


def as_tsv(rows: list[dict[str, Any]]) -> bytes:
    return as_csv(rows, "\t")


def as_jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


def as_npz(rows: list[dict[str, Any]]) -> bytes:
    predictions = np.array([[row[model] for model in MODELS] for row in rows], dtype=object)
    fields = {name: [row[name] for row in rows] for name in ("id", "text")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.npz"
        mp.ModelCollection(predictions, None, MODELS, fields=fields).save(path)
        return path.read_bytes()


FORMS: Mapping[str, Callable[[list[dict[str, Any]]], bytes]] = {
    "csv": as_csv,
    "tsv": as_tsv,
    "jsonl": as_jsonl,
    "ndjson": as_jsonl,
    "parquet": as_parquet,
    "npz": as_npz,
}


class Desk:
    """Where files are sent to."""

    def __init__(self, server: Running, name: str, **settings: Any) -> None:
        self.server, self.name, self.api = server, name, Api.of(server.http)
        self.settings: dict[str, Any] = {"models": MODELS, "seed": 3} | settings
        server.post("/campaigns", {"name": name, **self.settings}).raise_for_status()

    def send(self, content: bytes, filename: str, status: int = 200, at_once: bool = True, **options: Any) -> Any:
        return self._sent(
            f"/campaigns/{self.name}/files", content, filename, status, {"at_once": at_once}, **options
        )

    def look(self, content: bytes, filename: str, status: int = 200, **options: Any) -> Any:
        return self._sent("/files", content, filename, status, **options)

    def _sent(self, path: str, content: bytes, filename: str, status: int, more: Any = None, **options: Any) -> Any:
        answer: httpx2.Response = self.server.http.post(
            f"{API}{path}", content=content, params={"filename": filename, **(more or {})}, **options
        )
        assert answer.status_code == status, answer.text
        self.api.check(answer)
        return answer.json()

    def history(self) -> list[dict[str, Any]]:
        return list(self.server.client().campaign(self.name).history())

    def twin(self) -> mp.Campaign:
        """The same campaign in this process."""
        return create_campaign(f"memory://{uuid.uuid4().hex}", self.name, **self.settings)


@pytest.fixture
def desk(server: Running, name: str) -> Desk:
    return Desk(server, name)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_file_is_taken_in_once(server: Running, name: str, form: str) -> None:
    desk = Desk(server, name, algorithm="label-efficient", options={"probability": 1.0})
    content = FORMS[form](ROWS)
    assert desk.look(content, f"f.{form}") == {
        "items": 10,
        "models": MODELS,
        "answers": 2,
        "classes": ["no", "yes"],
        "fields": ["id", "text"],
        "labelled": False,
        "columns": [
            {"name": name, "role": role, "doubt": ""}
            for name, role in zip(ROWS[0], ("id", "shown", "model", "model", "model"), strict=True)
        ],
        "rows": ROWS[:5],
        "problem": None,
    }
    made = desk.send(content, f"f.{form}")
    assert (made["rounds"], made["known"]) == (10, 0)
    history = desk.history()
    assert [(record["key"], record["item"]["text"]) for record in history] == [
        (row["id"], row["text"]) for row in ROWS
    ]
    assert [record["predictions"] for record in history] == [[row[model] for model in MODELS] for row in ROWS]
    assert made["queries"] == sum(record["query"] for record in history) == 5
    assert desk.send(content, f"other.{form}") == {"rounds": 0, "known": 10, "queries": 0, "waiting": 0}
    assert len(desk.history()) == 10


@pytest.mark.parametrize("form", FORMS)
def test_a_file_is_decided_as_the_library_decides_it(desk: Desk, form: str, tmp_path: Path) -> None:
    draw = random.Random(1)
    rows = [
        {"id": str(number), "text": "t"} | {model: draw.choice(["x", "y", "z"]) for model in MODELS}
        for number in range(2_500)
    ]
    path = tmp_path / f"f.{form}"
    path.write_bytes(FORMS[form](rows))
    desk.send(path.read_bytes(), path.name)
    here = desk.twin()
    for batch in batches_of(path, here):
        here.ask_many(batch.predictions, items=batch.items, keys=batch.keys)
    kept = (
        "event",
        "kind",
        "id",
        "key",
        "item",
        "predictions",
        "query",
        "probability",
        "prediction",
        "recommended",
    )
    assert [[record[part] for part in kept] for record in desk.history()] == [
        [record[part] for part in kept] for record in here.history()
    ]


def test_a_recorded_collection_is_taken_in_and_decided_as_the_library_does(
    server: Running, name: str, tmp_path: Path
) -> None:
    predictions, _ = load("emocontext")
    models = [f"model-{number}" for number in range(predictions.shape[1])]
    desk = Desk(server, name, models=models, budget=60)
    stream = io.BytesIO()
    np.savez_compressed(stream, predictions=predictions)
    seen = desk.look(stream.getvalue(), "emocontext.npz")
    assert (seen["items"], seen["models"], seen["classes"]) == (len(predictions), models, [0, 1, 2, 3])
    made = desk.send(stream.getvalue(), "emocontext.npz")
    here = desk.twin()
    asked = here.ask_many(predictions)
    assert made == {"rounds": len(predictions), "known": 0, "queries": int(asked.queried.sum()), "waiting": 0}
    best, expected = server.client().campaign(name).best(), here.best()
    assert (best.rounds, best.pending) == (expected.rounds, expected.pending)
    probabilities = [record["probability"] for record in desk.history()]
    assert probabilities == asked.probability.tolist()
    assert desk.send(stream.getvalue(), "again.npz")["known"] == len(predictions)


def test_columns_come_in_any_order_and_labels_are_left_out(desk: Desk) -> None:
    rows = [{"cat": "z", "label": "secret", "bee": "y", "url": "u", "ant": "x"}]
    assert desk.look(as_csv(rows), "f.csv")["labelled"] is True
    desk.send(as_csv(rows), "f.csv")
    (record,) = desk.history()
    assert (record["predictions"], record["item"]) == (["x", "y", "z"], {"url": "u"})
    assert "secret" not in json.dumps(record)


def test_a_file_may_have_a_row_for_each_model(desk: Desk) -> None:
    rows = [{"item": item, "model": model, "prediction": "x"} for item in ("i", "j") for model in MODELS]
    assert desk.send(as_csv(rows), "long.csv")["rounds"] == 2
    assert [record["predictions"] for record in desk.history()] == [["x", "x", "x"]] * 2


def test_what_a_model_did_not_say_is_an_abstention(desk: Desk) -> None:
    rows = [{"id": "a", "ant": "x", "bee": None, "cat": "y"}]
    for form in (as_jsonl, as_parquet):
        desk.send(form(rows), "f.jsonl" if form is as_jsonl else "f.parquet")
    assert [record["predictions"] for record in desk.history()] == [["x", None, "y"]]


def test_rows_without_keys_get_one_by_content_and_place(desk: Desk) -> None:
    rows = [dict.fromkeys(MODELS, "x")] * 3
    assert desk.send(as_csv(rows), "a.csv") == {"rounds": 3, "known": 0, "queries": 0, "waiting": 0}
    assert desk.send(as_csv(rows), "b.csv") == {"rounds": 0, "known": 3, "queries": 0, "waiting": 0}
    assert desk.send(as_csv(rows * 2), "a.csv") == {"rounds": 6, "known": 0, "queries": 0, "waiting": 0}
    assert len({record["key"] for record in desk.history()}) == 9


def test_the_same_key_twice_in_a_file_is_refused_and_nothing_is_taken_in(server: Running, name: str) -> None:
    desk = Desk(server, name, algorithm="label-efficient", options={"probability": 1.0})
    rows = [{"id": "a", "ant": "x", "bee": "y", "cat": "x"}] * 3 + [{"id": "b", "ant": "x", "bee": "y", "cat": "x"}]
    assert "column \"id\": 'a' is in rows 1, 2 and 3." in desk.send(as_csv(rows), "f.csv", 422)["detail"]
    assert desk.history() == []


def test_more_of_a_file_brings_only_what_is_new(desk: Desk) -> None:
    desk.send(as_csv(ROWS[:4]), "f.csv")
    assert desk.send(as_csv(ROWS), "f.csv")["rounds"] == 6


REFUSED: list[tuple[bytes, str, int, str]] = [
    (b"", "f.csv", 422, "empty"),
    (b"", "f.parquet", 422, "empty"),
    (b"ant,bee,cat\n", "f.csv", 422, "f.csv"),
    (b"\n\n\n", "f.csv", 422, "f.csv"),
    (b"\n", "f.jsonl", 422, "f.jsonl"),
    (b"x", "f.xlsx", 422, "f.xlsx"),
    (b"x", "f", 415, ".csv, .tsv"),
    (b"x", ".csv", 415, ".csv, .tsv"),
    (b"x", "f.csv.gz", 422, "f.csv.gz"),
    (b"x", "f.arrow", 415, ".csv, .tsv"),
    (b"x", "f.pkl", 415, ".csv, .tsv"),
    (b"x", "f.npy", 415, ".csv, .tsv"),
    (as_csv([{"ant": "x", "bee": "y"}]), "f.csv", 422, "cat"),
    (as_csv([{"ant": "x", "bee": "y", "dog": "y"}]), "f.csv", 422, 'has no column "cat"'),
    (as_jsonl([{"ant": "x", "bee": "y", "cat": {"a": 1}}]), "f.jsonl", 422, 'column "cat": cells of type struct'),
    (as_jsonl([{"ant": "x", "bee": 1.5, "cat": 2}]), "f.jsonl", 422, '"bee": 1.5 is not a class'),
    (as_csv([{"id": "k" * 501, "ant": "x", "bee": "y", "cat": "x"}]), "f.csv", 422, "too long"),
    (b'{"ant": "x"', "f.jsonl", 422, "f.jsonl"),
    (b"ant,bee,cat\nx,y\n", "f.csv", 422, "f.csv"),
    (b'ant,bee,cat\n"x,y,z\n', "f.csv", 422, "f.csv"),
    (b"ant,bee,cat\n\xff,y,z\n", "f.csv", 422, "f.csv"),
]


@pytest.mark.parametrize(("content", "filename", "status", "text"), REFUSED, ids=range(len(REFUSED)))
def test_files_that_make_no_sense_are_refused(
    desk: Desk, content: bytes, filename: str, status: int, text: str
) -> None:
    assert text in desk.send(content, filename, status)["detail"]
    assert desk.history() == []


@pytest.mark.parametrize(
    ("form", "ending"),
    [
        (form, ending)
        for form in ("csv", "jsonl", "parquet", "npz")
        for ending in FORMS
        if FORMS[ending] is not FORMS[form]
    ],
)
def test_files_are_not_taken_for_what_they_are_not(desk: Desk, form: str, ending: str) -> None:
    found = desk.send(FORMS[form](ROWS), f"my.{ending}", 422)
    assert f"my.{ending}" in found["detail"]
    assert tempfile.gettempdir() not in found["detail"], "where it lies here is nobody's business"
    assert desk.history() == []


def test_a_zip_file_of_a_later_kind_is_refused(desk: Desk) -> None:
    content = bytearray(as_npz(ROWS))
    content[content.rindex(b"PK\1\2") + 6] = 99  # what it takes to read it
    assert "f.npz cannot be read" in desk.look(bytes(content), "f.npz", 422)["detail"]


def test_a_class_that_was_not_declared_is_named(server: Running, name: str) -> None:
    desk = Desk(server, name, classes=["no", "yes"])
    found = desk.send(as_csv([*ROWS, ROWS[0] | {"id": "m99", "cat": "maybe"}]), "f.csv", 422)
    assert "'maybe' is not one of the classes" in found["detail"]
    assert desk.history() == []
    assert desk.send(as_csv(ROWS), "f.csv")["rounds"] == 10


def test_numbers_in_a_file_may_be_meant_as_names(server: Running, name: str) -> None:
    desk = Desk(server, name, classes=["0", "1"])
    desk.send(as_csv([{"ant": "0", "bee": "1", "cat": "1"}]), "f.csv")
    assert desk.history()[0]["predictions"] == ["0", "1", "1"]


def test_a_file_that_breaks_off_half_way_can_be_sent_again(desk: Desk) -> None:
    rows = [{"id": str(number), "ant": "x", "bee": "y", "cat": "x"} for number in range(4_500)]
    broken = as_jsonl(rows) + b'\n{"id": "4500", "ant": '
    desk.send(broken, "f.jsonl", 422)
    assert desk.history() == [], "it is looked through before any of it is taken in"
    made = desk.send(as_jsonl(rows), "f.jsonl")
    assert (made["rounds"], made["known"]) == (4_500, 0)


def test_names_of_files_are_only_looked_at_for_their_ending(desk: Desk) -> None:
    for filename in ("../../etc/passwd.CSV", "C:\\a b.Csv", "ü🙂\n.csv", "a/b/c.csv"):
        assert desk.look(as_csv(ROWS), filename)["items"] == 10
    for wrong in ("", "a" * 197 + ".csv"):
        desk.look(as_csv(ROWS), wrong, 422)
    assert desk.server.http.post(f"{API}/files", content=b"x").status_code == 422


def test_a_file_may_come_packed(desk: Desk) -> None:
    packed = gzip.compress(as_csv(ROWS))
    assert desk.send(packed, "f.csv", headers={"Content-Encoding": "gzip"})["rounds"] == 10
    desk.send(packed[:-9], "f.csv", 400, headers={"Content-Encoding": "gzip"})


def test_nothing_of_a_file_is_left_on_the_server(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    desk.look(as_parquet(ROWS), "f.parquet")
    desk.send(as_npz(ROWS), "f.npz")
    desk.send(b"nonsense", "f.npz", 422)
    desk.send(b"ant,bee\nx,y", "f.csv", 422)
    desk.server.get(f"/campaigns/{desk.name}/export").raise_for_status()
    stop = time.monotonic() + 10
    while list(tmp_path.iterdir()) and time.monotonic() < stop:  # it has all been sent, and is then cleared away
        time.sleep(0.01)
    assert list(tmp_path.iterdir()) == []


def test_what_unpacks_to_more_than_is_taken_is_refused(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/campaigns.db", largest_file=1_000_000) as server:
        desk = Desk(server, "small")
        stream = io.BytesIO()
        np.savez_compressed(stream, predictions=np.zeros((100_000, 3), dtype=np.int64))
        assert len(stream.getvalue()) < 10_000
        assert "would unpack" in desk.look(stream.getvalue(), "f.npz", 413)["detail"]
        desk.send(b"ant,bee,cat\n" + b"x,x,x\n" * 200_000, "f.csv", 413)


PIECES = (
    b"\0",
    b"\xff",
    b'"',
    b"\n",
    b",",
    b"{",
    b"[" * 3_000,
    b"9" * 400,
    b"NaN",
    b"1e999",
    b"PAR1",
    b"PK\3\4",
    b"null",
)


@pytest.mark.parametrize("form", FORMS)
def test_damaged_files_are_refused_or_read_but_never_break_anything(desk: Desk, form: str) -> None:
    draw = random.Random(5)
    whole = FORMS[form](ROWS)
    for _ in range(60):
        content = bytearray(whole)
        for _ in range(draw.randint(1, 3)):
            place = draw.randrange(len(content) + 1)
            how = draw.randrange(4)
            if how == 0:
                content[place : place + 1] = draw.randbytes(1)
            elif how == 1:
                content[place : place + draw.randint(1, 40)] = b""
            elif how == 2:
                content[place:place] = draw.choice(PIECES)
            else:
                content = content[: max(1, place)]
        answer = desk.server.http.post(f"{API}/files", content=bytes(content), params={"filename": f"f.{form}"})
        assert answer.status_code in (200, 413, 422), answer.text
        desk.api.check(answer)
