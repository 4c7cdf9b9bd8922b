"""`pick --missing not-run`: a model that was not run for an item of a stream is not wrong there."""

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
    found = document(folder, "pick", "items.csv", "--missing", "not-run", "--out", "out.jsonl")
    expected = mp.pick(folder / "items.csv", missing="not-run")
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


def test_a_pool_does_not_take_it(folder: Path) -> None:
    done = call(folder, "pick", "items.csv", "--as", "pool", "--missing", "not-run")
    assert (done.returncode, "--missing" in done.stderr) == (2, True)
    assert call(folder, "pick", "items.csv", "--missing", "gone").returncode == 2
