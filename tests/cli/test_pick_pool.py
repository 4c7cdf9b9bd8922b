"""`modelpicker pick` on a pool whose labels are known, and which files are pools and which are streams."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

import modelpicker as mp
from tests.cli.running import run


def document(folder: Path, *more: str, answers: str = "") -> dict[str, Any]:
    done = run("pick", *more, "--json", answers=answers, folder=folder)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("more", [(), ("--budget", "7"), ("--seed", "3"), ("--tolerance", "0.1"), ("--as", "pool")])
def test_it_is_what_the_function_gives(words: Path, more: tuple[str, ...]) -> None:
    typed = dict(zip(more[::2], more[1::2], strict=True))
    found = mp.pick(
        words / "x.parquet",
        budget=int(typed["--budget"]) if "--budget" in typed else None,
        tolerance=float(typed.get("--tolerance", 0.01)),
        seed=int(typed.get("--seed", 0)),
    )
    told, expected = document(words, "x.parquet", *more), found.document()
    standing = [{**entry, "loss": entry["estimate"]} for entry in expected.pop("standing")]
    assert {key: told[key] for key in expected} == json.loads(json.dumps(expected))
    assert told["standing"] == standing
    assert (told["setting"], told["algorithm"], told["out"]) == ("pool", "pool-picker", None)
    assert sorted(path.name for path in words.iterdir()) == ["x.parquet"]


def test_pools_and_streams_have_the_same_keys(words: Path) -> None:
    pool, stream = document(words, "x.parquet"), document(words, "x.parquet", "--as", "stream")
    assert pool.keys() - stream.keys() == {"contested"}
    assert stream.keys() - pool.keys() == set()
    assert stream["setting"] == "stream"


def test_people_read_the_cost_the_saving_and_the_certificate(words: Path) -> None:
    found = mp.pick(words / "x.parquet")
    collection = mp.load_collection(words / "x.parquet")
    contested = int((collection.predictions != collection.predictions[:, :1]).any(axis=1).sum())
    said = run("pick", "x.parquet", folder=words).stdout
    text = " ".join(said.split())
    assert f"Pick: {found.model} " in text
    assert f"{found.labels_used} labels bought. Models differ on {contested} of 120 items." in text
    assert f"Labelling every item takes 120 labels: you save {1 - found.labels_used / 120:.1%}." in text
    assert " ".join(found.certificate.sentence.split()) in text
    assert "Certified: The pick is proven. Use the pick." in text
    assert max(len(line) for line in said.splitlines()) <= 80


def test_a_goal_that_was_not_reached_says_what_would_help(words: Path) -> None:
    text = " ".join(run("pick", "x.parquet", "--budget", "4", folder=words).stdout.split())
    assert "Budget spent: All 4 labels of the budget are bought." in text
    assert "The goal was not reached: within 1 point of the best model" in text
    assert "What would help: a larger --budget than 4; a larger --tolerance than 0.01." in text


def test_a_file_with_some_labels_says_so_and_counts_the_missing_ones_at_their_worst(words: Path) -> None:
    whole = mp.load_collection(words / "x.parquet")
    labels = [whole.classes[code] if n % 3 else None for n, code in enumerate(np.asarray(whole.labels))]
    (words / "some.jsonl").write_text("".join(json.dumps({"label": label}) + "\n" for label in labels))
    done = run("pick", "x.parquet", "--labels", "some.jsonl", "--json", folder=words)
    told = json.loads(done.stdout)
    assert "80 of 120 items have labels." in done.stderr
    assert "--ask --labels some.jsonl" in done.stderr
    assert told["skipped"] > 0
    said = " ".join(run("pick", "x.parquet", "--labels", "some.jsonl", folder=words).stdout.split())
    assert f"{told['skipped']} labels that it asked for are missing" in said


def test_models_that_are_all_the_same_are_picked_without_a_label_and_named(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("bert,bert-copy,label\n" + "a,a,a\nb,b,a\n" * 5)
    done = run("pick", "x.csv", folder=tmp_path)
    said = " ".join(done.stdout.split())
    assert done.returncode == 0
    assert "bert and bert-copy give the same answer to every item: no label can tell them apart." in said
    assert "no model is more accurate than bert" in said
    assert "(certain)." in said
    assert document(tmp_path, "x.csv")["pick"] in ("bert", "bert-copy")


def test_one_model_is_no_choice(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,label\n0,0\n1,0\n")
    done = run("pick", "x.csv", folder=tmp_path)
    assert (done.returncode, "x.csv has one model, a; there must be two" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    "more",
    [
        ("--algorithm", "race"),
        ("--option", "query_scale=2"),
        ("--kind", "population"),
        ("--shuffle",),
        ("--play-unlabelled",),
    ],
)
def test_what_only_a_stream_has_means_a_stream_and_contradicts_a_pool(words: Path, more: tuple[str, ...]) -> None:
    assert document(words, "x.parquet", *more)["setting"] == "stream"
    done = run("pick", "x.parquet", "--as", "pool", *more, folder=words)
    assert done.returncode == 2
    assert f"{more[0]} is for a stream, but a pool was asked for" in " ".join(done.stderr.split())


def test_a_setting_that_there_is_not_is_wrong_usage(words: Path) -> None:
    done = run("pick", "x.parquet", "--as", "puddle", folder=words)
    assert (done.returncode, "pass 'pool' or 'stream'" in " ".join(done.stderr.split())) == (2, True)


def test_every_label_is_written_down_for_who_asks_and_serves_as_labels(words: Path) -> None:
    first = document(words, "x.parquet", "--out", "x.jsonl")
    header, *lines, summary = map(json.loads, (words / "x.jsonl").read_text().splitlines())
    pool = mp.PoolPicker(mp.load_collection(words / "x.parquet"))
    trace = mp.run_pool(pool)
    assert (header["setting"], header["fingerprint"]) == (
        "pool",
        mp.load_collection(words / "x.parquet").fingerprint,
    )
    assert [line["item"] for line in lines] == trace.items.tolist()
    assert [line["recommended"] for line in lines] == [pool.models[place] for place in trace.recommended]
    assert summary["pick"] == first["pick"]
    again = mp.pick(words / "x.parquet", words / "x.jsonl")
    assert (again.model, again.labels_used) == (first["pick"], first["labels_used"])


def test_a_stream_that_was_begun_goes_on_as_a_stream_unless_a_pool_is_asked_for(words: Path) -> None:
    asked = ("x.parquet", "--ask")
    document(words, *asked, "--as", "stream", answers="cat\ndog\nq\n")
    done = run("pick", *asked, "--json", answers="q\n", folder=words)
    assert "x.pick.db has a campaign that plays this file as a stream: continuing with it." in done.stderr
    assert "--as pool" in done.stderr
    told = json.loads(done.stdout)
    assert (told["setting"], told["labels_used"], told["out"]) == ("stream", 2, "x.pick.db")
    pool = document(words, *asked, "--as", "pool", answers="cat\nq\n")
    assert (pool["setting"], pool["labels_used"], pool["out"]) == ("pool", 1, "x.pool.jsonl")
    # Now both are started: a file is a pool by default, and the stream can still be asked for.
    assert document(words, *asked, answers="q\n")["setting"] == "pool"
    assert document(words, *asked, "--as", "stream", answers="q\n")["labels_used"] == 2
    head_start = document(words, *asked, "--labels", "x.pick.db", "--out", "y.jsonl", answers="q\n")
    assert (head_start["setting"], head_start["labels_known"]) == ("pool", 2)


def test_a_pattern_is_picked_from_as_one_file_with_and_without_an_engine(words: Path) -> None:
    whole = parquet.read_table(words / "x.parquet")
    (words / "parts").mkdir()
    for place in range(3):
        size = -(-whole.num_rows // 3)
        parquet.write_table(whole.slice(place * size, size), words / "parts" / f"{place}.parquet")
    expected = document(words, "x.parquet")
    assert document(words, "parts/*.parquet") == expected
    assert document(words, "parts", "--engine", "threads", "--workers", "2") == expected


def test_a_person_is_asked_about_scanned_files_and_goes_on_later(words: Path) -> None:
    whole = parquet.read_table(words / "x.parquet")
    (words / "parts").mkdir()
    parquet.write_table(whole.drop_columns(["label"]), words / "parts" / "0.parquet")
    more = ("parts/*.parquet", "--engine", "threads")
    first = document(words, *more, answers="1\n2\nq\n")
    assert (first["labels_used"], first["out"]) == (2, "parts.pool.jsonl")
    assert document(words, *more, answers="s\n1\nq\n")["labels_used"] == 3


def test_an_engine_refuses_what_needs_all_items(words: Path) -> None:
    done = run("pick", "x.parquet", "--engine", "threads", "--as", "stream", folder=words)
    assert (done.returncode, "only a pool is scanned" in done.stderr) == (2, True)
    done = run("pick", "x.parquet", "--engine", "threads", "--ask", "--labels", "x.parquet", folder=words)
    assert (done.returncode, "--ask needs all items in memory" in done.stderr) == (1, True)
