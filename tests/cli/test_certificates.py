"""Certificates on the command line: told with every pick, and a rule to stop by."""

import json
from pathlib import Path

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.checks import make_stream
from tests.cli.campaigning import begin, call, document
from tests.cli.running import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where items.parquet has 2,000 labelled items of four models."""
    rows, labels = make_stream(2, 2000, 4, 3)
    mp.ModelCollection(rows, np.minimum(labels, 3), ["ant", "bee", "cat", "dog"]).save(tmp_path / "items.parquet")
    return tmp_path


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_a_pick_ends_with_how_sure_it_is(folder: Path) -> None:
    collection = mp.load_collection(folder / "items.parquet")
    picker = mp.ModelPicker(collection.models)
    mp.run_stream(picker, collection)
    shown = run("pick", "items.parquet", "--as", "stream", folder=folder).stdout
    assert one_line(picker.certificate().sentence) in one_line(shown)
    assert max(map(len, shown.splitlines())) <= 80
    told = json.loads(
        run("pick", "items.parquet", "--kind", "population", "--confidence", "0.8", "--json", folder=folder).stdout
    )
    assert told["certificate"] == picker.certificate(0.8, "population").document()
    assert told["stopped"] == "end"


def test_a_pick_stops_once_it_is_certified(folder: Path) -> None:
    collection = mp.load_collection(folder / "items.parquet")
    rule = mp.Certified(gap=0.06)
    trace = mp.run_stream(mp.ModelPicker(collection.models, query_scale=8.0), collection, stop_when=rule)
    command = ("pick", "items.parquet", "--option", "query_scale=8", "--stop-gap", "0.06")
    told = json.loads(run(*command, "--out", "items.pick.jsonl", "--json", folder=folder).stdout)
    assert trace.certificate is not None
    assert (told["stopped"], told["rounds"], told["labels_used"]) == ("certified", len(trace), trace.labels_used)
    stop = trace.certificate.document()
    assert told["certificate"] == stop | {"sentence": f"{trace.certificate.sentence} You can stop."}
    entries = [json.loads(line) for line in (folder / "items.pick.jsonl").read_text().splitlines()]
    assert len(entries) == len(trace) + 2
    assert entries[-1]["stopped"] == "certified"
    assert entries[0]["stop_when"] == rule.document()
    shown = one_line(run(*command, folder=folder).stdout)
    assert f"model-picker saw {len(trace)} of 2,000 items" in shown
    assert "Certified: The pick is proven. Use the pick." in shown
    assert one_line(f"{trace.certificate.sentence} You can stop.") in shown


def test_whichever_comes_first_budget_or_certificate_ends_a_pick(folder: Path) -> None:
    command = ("pick", "items.parquet", "--option", "query_scale=8", "--stop-gap", "0.06", "--json", "--budget")
    enough = json.loads(run(*command, "5000", folder=folder).stdout)
    short = json.loads(run(*command, "20", folder=folder).stdout)
    just = json.loads(run(*command, str(enough["labels_used"] + 1), folder=folder).stdout)
    assert (enough["stopped"], short["stopped"], short["labels_used"]) == ("certified", "budget", 20)
    assert (just["stopped"], just["rounds"]) == ("certified", enough["rounds"])
    less = json.loads(run(*command, str(enough["labels_used"] - 1), folder=folder).stdout)
    assert (less["stopped"], less["labels_used"]) == ("budget", enough["labels_used"] - 1)


def test_a_person_is_asked_until_the_pick_is_certified(tmp_path: Path) -> None:
    """All agree but on a few items, which are soon answered; then twenty rounds are enough for a gap of 5 %."""
    rows = "".join(f"{n},{'spam' if n < 6 else 'ham'},ham\n" for n in range(200))
    (tmp_path / "x.csv").write_text(f"id,bert,gpt\n{rows}")
    command = ("pick", "x.csv", "--ask", "--option", "query_scale=1e6", "--stop-gap", "0.05", "--kind", "stream")
    done = run(*command, "--json", answers="1\n" * 6, folder=tmp_path)
    told = json.loads(done.stdout)
    assert (told["stopped"], told["rounds"], told["labels_used"]) == ("certified", 20, 6)
    again = json.loads(run(*command, "--json", folder=tmp_path).stdout)
    assert (again["stopped"], again["rounds"]) == ("certified", 20)


def test_a_campaign_shows_its_certificate_and_its_rule(tmp_path: Path) -> None:
    said = [{"bert": "spam", "roberta": "ham"}] * 30 + [{"bert": "ham", "roberta": "ham"}] * 30
    begin(tmp_path, *said, more=("--stop-gap", "0.05", "--confidence", "0.9"))
    for number in range(30):
        assert call(tmp_path, "tell", "tickets", str(number), "spam").returncode == 0
    told = document(tmp_path, "best", "tickets")
    assert told["certificate"]["kind"] == "population"
    assert told["certificate"]["confidence"] == 0.9
    assert told["certificate"]["gap"] <= 0.05
    assert told["certified"] is True
    shown = one_line(call(tmp_path, "best", "tickets").stdout)
    assert one_line(told["certificate"]["sentence"]) in shown
    assert document(tmp_path, "show", "tickets")["stop_when"] == {
        "gap": 0.05,
        "confidence": 0.9,
        "kind": "population",
    }
    facts = call(tmp_path, "show", "tickets").stdout
    assert "stops       while the pick has a population certificate within 5 points (90% confidence)" in facts
    assert f"certificate {one_line(told['certificate']['sentence'])}" in facts


@pytest.mark.parametrize(
    "option",
    [("--stop-gap", "1"), ("--stop-gap", "-1"), ("--stop-gap", "x"), ("--confidence", "95"), ("--kind", "both")],
)
def test_a_rule_that_is_none_is_wrong_usage(folder: Path, option: tuple[str, str]) -> None:
    for verb in (("pick", "items.parquet"), ("create", "tickets", "--models", "a,b")):
        done = run(*verb, *option, folder=folder)
        assert done.returncode == 2, done
        assert option[1] in done.stderr or option[0] in done.stderr
