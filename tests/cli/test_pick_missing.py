"""`--missing not-run`: a model that was not run for an item is not wrong there."""

import json
import shlex
from pathlib import Path

import pytest

import modelpicker as mp
from modelpicker.campaigns.pick_command import pick_command
from tests.cli.campaigning import call, document


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A file in which one model was run for half of the items."""
    rows = ""
    for n in range(60):
        label = "spam" if n % 3 else "ham"
        other = "ham" if label == "spam" else "spam"
        said = ["" if n % 2 else label, other if n % 7 == 0 else label, other if n % 3 == 0 else label]
        rows += f"m{n},{','.join(said)},{label}\n"
    (tmp_path / "items.csv").write_text("id,good,fair,poor,label\n" + rows)
    return tmp_path


def test_it_is_the_pick_of_the_library_and_its_result_is_reported_and_repeated(folder: Path) -> None:
    found = document(folder, "pick", "items.csv", "--as", "stream", "--missing", "not-run", "--out", "out.jsonl")
    expected = mp.pick(folder / "items.csv", setting="stream", missing="not-run")
    assert (found["pick"], found["labels_used"]) == (expected.model, expected.labels_used)
    wrong = document(folder, "pick", "items.csv", "--as", "stream")
    assert wrong["standing"] != found["standing"]
    header = json.loads((folder / "out.jsonl").read_text().splitlines()[0])
    again = document(folder, *shlex.split(pick_command(header, ["good", "fair", "poor"]))[1:])
    assert {**again, "out": None} == {**found, "out": None}
    assert call(folder, "report", "out.jsonl", "--out", "out.html").returncode == 0


def test_it_is_kept_with_the_campaign_of_a_person_who_is_asked(folder: Path) -> None:
    options = ("--ask", "--option", "query_scale=1e6")
    begun = call(folder, "pick", "items.csv", *options, "--missing", "not-run", typed="spam\nq\n")
    assert begun.returncode == 0, begun.stderr
    shown = document(folder, "show", "items", "--storage", "sqlite:///items.pick.db")
    assert shown["missing"] == "not-run"
    other = call(folder, "pick", "items.csv", "--ask", "--missing", "abstained", "--as", "stream", typed="q\n")
    assert (other.returncode, "--missing not-run" in " ".join(other.stderr.split())) == (4, True), other.stderr


def test_a_pool_is_picked_from_reported_and_repeated(folder: Path) -> None:
    options = ("--missing", "not-run", "--tolerance", "0.6")
    found = document(folder, "pick", "items.csv", *options, "--out", "out.jsonl")
    expected = mp.pick(folder / "items.csv", missing="not-run", tolerance=0.6)
    assert (found["setting"], found["pick"]) == ("pool", expected.model)
    assert (found["labels_used"], found["calls"]) == (expected.labels_used, expected.calls)
    assert expected.calls == 150
    header = json.loads((folder / "out.jsonl").read_text().splitlines()[0])
    assert header["reading"] == {"missing": "not-run"}
    again = document(folder, *shlex.split(pick_command(header, ["good", "fair", "poor"]))[1:])
    assert {**again, "out": None} == {**found, "out": None}
    assert call(folder, "report", "out.jsonl", "--out", "out.html").returncode == 0
    wrong = document(folder, "pick", "items.csv", "--tolerance", "0.6")
    assert wrong["standing"] != found["standing"]


def test_a_person_who_is_asked_about_a_pool_goes_on_with_it(folder: Path) -> None:
    begun = call(folder, "pick", "items.csv", "--ask", "--missing", "not-run", "--as", "pool", typed="spam\nq\n")
    assert begun.returncode == 0, begun.stderr
    again = call(folder, "pick", "items.csv", "--ask", "--as", "pool", typed="q\n")
    assert (again.returncode, "Continuing with 1 label" in again.stderr) == (0, True), again.stderr
    other = call(folder, "pick", "items.csv", "--ask", "--missing", "abstained", "--as", "pool", typed="q\n")
    assert other.returncode == 4, other.stderr


def test_what_it_does_not_know_is_refused(folder: Path) -> None:
    assert call(folder, "pick", "items.csv", "--missing", "gone").returncode == 2


def test_a_campaign_on_a_pool_begins_with_it_and_takes_files_without_a_model(folder: Path) -> None:
    made = document(folder, "create", "a", "--pool", "items.csv", "--missing", "not-run", "--tolerance", "0.6")
    assert made["missing"] == "not-run"
    (folder / "more.csv").write_text("id,fair,poor\nn1,spam,ham\nn2,,ham\n")
    added = document(folder, "ask", "a", "more.csv")
    assert (added["new"], added["calls"]) == (2, 150 + 3)
    shown = document(folder, "collections", "show", "items.csv", "--missing", "not-run")
    assert any("not run" in note for note in shown["notes"])
    done = call(folder, "compare", "items.csv", "--missing", "not-run")
    assert (done.returncode, "needs the answers of all models" in " ".join(done.stderr.split())) == (1, True)
