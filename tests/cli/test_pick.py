"""`modelpicker pick` where labels are known: only those that are asked for count; decisions are written down."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from tests.cli.running import COMMAND, environment, run
from tests.shared_data import need

OUT = ("--out", "x.pick.jsonl")


def decisions(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_labels_in_the_file_are_bought_as_run_stream_buys_them(words: Path) -> None:
    done = run("pick", "x.parquet", "--as", "stream", "--seed", "5", *OUT, "--json", folder=words)
    result = json.loads(done.stdout)
    collection = mp.load_collection(words / "x.parquet")
    trace = mp.run_stream(mp.ModelPicker(collection.models, seed=5), collection)
    assert (result["pick"], result["labels_used"]) == (trace.winner, trace.labels_used)
    header, *rounds, summary = decisions(words / "x.pick.jsonl")
    assert header["fingerprint"] == collection.fingerprint
    assert header["labels"] == "looked up"
    assert [entry["query"] for entry in rounds] == trace.queried.tolist()
    assert [entry["probability"] for entry in rounds] == trace.probability.tolist()
    assert [entry["recommended"] for entry in rounds] == [collection.models[m] for m in trace.recommended]
    assert [entry["prediction"] for entry in rounds] == [collection.classes[c] for c in trace.predicted]
    labels = np.asarray(collection.labels)
    for place, entry in enumerate(rounds):
        assert entry["round"] == entry["item"] == place
        assert ("label" in entry) == entry["query"]
        assert not entry["query"] or entry["label"] == collection.classes[labels[place]]
    assert summary == {
        key: result[key] for key in ("pick", "rounds", "labels_used", "skipped", "stopped", "reached")
    }


def test_only_labels_that_are_asked_for_matter(words: Path) -> None:
    first = json.loads(run("pick", "x.parquet", "--as", "stream", *OUT, "--json", folder=words).stdout)
    asked = [entry["query"] for entry in decisions(words / "x.pick.jsonl")[1:-1]]
    collection = mp.load_collection(words / "x.parquet")
    labels = [
        collection.classes[code] if query else None
        for code, query in zip(np.asarray(collection.labels), asked, strict=True)
    ]
    (words / "few.jsonl").write_text("".join(json.dumps({"label": label}) + "\n" for label in labels))
    again = json.loads(
        run(
            "pick",
            "x.parquet",
            "--as",
            "stream",
            "--labels",
            "few.jsonl",
            "--play-unlabelled",
            "--json",
            folder=words,
        ).stdout
    )
    assert {key: again[key] for key in ("pick", "labels_used", "standing")} == {
        key: first[key] for key in ("pick", "labels_used", "standing")
    }


def test_a_budget_is_never_exceeded_and_the_picker_stops_there(words: Path) -> None:
    result = json.loads(
        run("pick", "x.parquet", "--as", "stream", "--budget", "7", *OUT, "--json", folder=words).stdout
    )
    assert result["labels_used"] == 7
    assert result["stopped"] == "budget"
    rounds = decisions(words / "x.pick.jsonl")[1:-1]
    assert len(rounds) == result["rounds"] < 120
    assert sum("label" in entry for entry in rounds) == 7
    assert rounds[-1]["query"]
    collection = mp.load_collection(words / "x.parquet").take(np.arange(len(rounds)))
    trace = mp.run_stream(mp.ModelPicker(collection.models), collection)
    assert result["pick"] == trace.winner
    loose = json.loads(
        run("pick", "x.parquet", "--as", "stream", "--budget", "5000", "--json", folder=words).stdout
    )
    assert loose["stopped"] == "end"


def test_shuffling_is_an_order_of_its_own_and_repeatable(words: Path) -> None:
    results = [
        run("pick", "x.parquet", "--as", "stream", "--shuffle", "--seed", "2", *OUT, "--json", folder=words).stdout
        for _ in range(2)
    ]
    assert results[0] == results[1]
    items = [entry["item"] for entry in decisions(words / "x.pick.jsonl")[1:-1]]
    assert sorted(items) == list(range(120))
    assert items != list(range(120))
    whole = mp.load_collection(words / "x.parquet").take(items)
    trace = mp.run_stream(mp.ModelPicker(whole.models, seed=2), whole)
    assert json.loads(results[0])["labels_used"] == trace.labels_used


@pytest.mark.parametrize(
    "name",
    ["label-efficient", "vote-entropy", "structural-committee", "importance-weighted", "efficient-active", "race"],
)
def test_every_algorithm_can_pick(words: Path, name: str) -> None:
    done = run("pick", "x.parquet", "--as", "stream", "--algorithm", name, "--budget", "30", folder=words)
    assert done.returncode == 0
    assert "Pick: " in done.stdout


def test_options_of_the_algorithm(words: Path) -> None:
    arguments = ("pick", "x.parquet", "--as", "stream", "--option", "query_scale=0.25", "--json")
    few = json.loads(run(*arguments, folder=words).stdout)
    assert few["options"]["query_scale"] == 0.25
    wrong = run("pick", "x.parquet", "--as", "stream", "--option", "colour=blue", folder=words)
    assert wrong.returncode == 2
    assert "model-picker does not take colour; it takes query_scale" in " ".join(wrong.stderr.split())
    assert run("pick", "x.parquet", "--as", "stream", "--option", "query_scale", folder=words).returncode == 2
    assert run("pick", "x.parquet", "--as", "stream", "--algorithm", "magic", folder=words).returncode == 2


def test_a_large_file_is_picked_in_pieces_as_in_one(tmp_path: Path) -> None:
    collection = mp.synthetic_collection(150_000, 5, 4, [0.5, 0.6, 0.7, 0.8, 0.82], seed=1)
    collection.save(tmp_path / "x.parquet")
    result = json.loads(run("pick", "x.parquet", "--as", "stream", *OUT, "--json", folder=tmp_path).stdout)
    trace = mp.run_stream(mp.ModelPicker(collection.models), collection)
    assert (result["pick"], result["labels_used"], result["rounds"]) == (trace.winner, trace.labels_used, 150_000)
    assert len(decisions(tmp_path / "x.pick.jsonl")) == 150_002


def test_a_device_is_no_place_for_a_result(words: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    (words / "x.pick.jsonl").symlink_to("/dev/full")
    done = run("pick", "x.parquet", "--as", "stream", *OUT, folder=words)
    assert done.returncode == 4
    assert done.stderr.splitlines()[-1].startswith("modelpicker: x.pick.jsonl is a folder or a device")


def test_one_model_or_one_class_is_no_choice(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,label\n0,0\n1,0\n")
    done = run("pick", "x.csv", "--as", "stream", folder=tmp_path)
    assert done.returncode == 1
    assert "x.csv has one model, a; there must be two" in done.stderr
    (tmp_path / "y.csv").write_text("a,b,label\n0,0,0\n0,0,0\n")
    same = run("pick", "y.csv", "--as", "stream", folder=tmp_path)
    assert same.returncode == 1
    assert "there is nothing to choose. a and b give the same answer to every item" in same.stderr


def test_the_shared_collections_are_picked_from(tmp_path: Path) -> None:
    result = json.loads(run("pick", need("drift"), "--as", "stream", "--json", folder=tmp_path).stdout)
    assert result["pick"] == "model-6"
    assert result["rounds"] == 3600


def test_a_tie_is_not_presented_as_a_pick(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,c,label\n" + "x,y,y,y\n" * 5)
    done = run("pick", "x.csv", "--as", "stream", "--models", "a,b,c", folder=tmp_path)
    assert "(tied with " in done.stdout


def test_labels_in_another_spelling_are_pointed_out(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,truth\n" + "ham,spam,Ham\nspam,ham,Spam\n" * 3)
    done = run("pick", "x.csv", "--as", "stream", "--label", "truth", folder=tmp_path)
    assert done.returncode == 1
    assert "Labels are Ham, Spam; predictions are ham, spam." in done.stderr
    assert "They differ only in spelling: normalise (--normalise) treats them as the same." in done.stderr
    assert (
        run("pick", "x.csv", "--as", "stream", "--label", "truth", "--normalise", folder=tmp_path).returncode == 0
    )
    taken = run("collections", "show", "x.csv", folder=tmp_path)
    assert 'column "truth": Labels are often kept under this name.' in taken.stderr
    assert "--label truth" in taken.stderr


def test_nothing_is_written_unless_somebody_asks_for_it(words: Path) -> None:
    result = json.loads(run("pick", "x.parquet", "--as", "stream", "--json", folder=words).stdout)
    assert result["out"] is None
    assert sorted(path.name for path in words.iterdir()) == ["x.parquet"]
    said = run("pick", "x.parquet", "--as", "stream", *OUT, folder=words).stdout
    assert said.endswith("Every decision is in x.pick.jsonl.\n")


@pytest.mark.parametrize("more", [(), ("--budget", "7"), ("--algorithm", "race"), ("--shuffle", "--seed", "3")])
def test_it_is_what_the_function_gives(words: Path, more: tuple[str, ...]) -> None:
    typed = dict(zip(more[::2], more[1::2], strict=False)) if more[:1] != ("--shuffle",) else {"--seed": "3"}
    found = mp.pick(
        words / "x.parquet",
        setting="stream",
        budget=int(typed["--budget"]) if "--budget" in typed else None,
        algorithm=typed.get("--algorithm", "model-picker"),
        seed=int(typed.get("--seed", 0)),
        shuffle="--shuffle" in more,
    )
    told = json.loads(run("pick", "x.parquet", "--as", "stream", *more, "--json", folder=words).stdout)
    expected = found.document()
    standing = [{**entry, "loss": entry["estimate"]} for entry in expected.pop("standing")]
    assert {key: told[key] for key in expected} == json.loads(json.dumps(expected))
    assert told["standing"] == standing


def test_a_file_that_is_no_result_is_not_overwritten(words: Path) -> None:
    path = words / "x.pick.jsonl"
    for content, match in (
        ("my notes\n", "is not a result of a pick"),
        ('{"format": "something else"}\n', "is not a result of a pick"),
        ('{"format": "modelpicker pick 1", "labels": "asked"}\n', "in which a person was asked"),
    ):
        path.write_text(content)
        done = run("pick", "x.parquet", "--as", "stream", *OUT, folder=words)
        assert (done.returncode, match in done.stderr) == (4, True)
        assert path.read_text() == content


def test_a_disk_that_is_full_is_one_sentence_and_leaves_the_old_result(words: Path) -> None:
    assert run("pick", "x.parquet", "--as", "stream", *OUT, folder=words).returncode == 0
    before = (words / "x.pick.jsonl").read_bytes()
    pick = f"{' '.join(COMMAND)} pick x.parquet --as stream --out x.pick.jsonl"
    limited = f"export PYTHONDONTWRITEBYTECODE=1; trap '' XFSZ; ulimit -f 1; exec {pick}"
    done = subprocess.run(
        ["bash", "-c", limited], capture_output=True, text=True, cwd=words, env=environment(), check=False
    )
    assert done.returncode == 1
    assert "x.pick.jsonl cannot be written: File too large." in done.stderr
    assert "Traceback" not in done.stderr
    assert (words / "x.pick.jsonl").read_bytes() == before
    assert sorted(path.name for path in words.iterdir()) == ["x.parquet", "x.pick.jsonl"]


def test_a_result_file_serves_as_labels(words: Path) -> None:
    first = json.loads(run("pick", "x.parquet", "--as", "stream", *OUT, "--json", folder=words).stdout)
    again = ("pick", "x.parquet", "--as", "stream", "--labels", "x.pick.jsonl", "--play-unlabelled", "--json")
    # The others would be asked for; the algorithm asks for none of them.
    told = json.loads(run(*again, folder=words).stdout)
    assert told["standing"] == first["standing"]
    assert told["labels_known"] == told["labels_used"]
