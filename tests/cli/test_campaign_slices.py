"""Slices of campaigns on the command line: create, show, best, label, ask, report, export and import."""

from pathlib import Path

import pytest

from tests.cli.campaigning import call, document
from tests.cli.test_pick_slices import write_file

GOAL = ("--tolerance", "0.04")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a campaign that has slices, whose labels are known from the start except for the last items."""
    write_file(tmp_path / "tickets.csv", items=120)
    done = call(tmp_path, "create", "t", "--pool", "tickets.csv", "--slice", "language", "--use-labels", *GOAL)
    assert done.returncode == 0, done.stderr
    assert "Slices: language." in done.stdout + done.stderr
    return tmp_path


def test_the_table_is_in_show_best_and_the_report(folder: Path) -> None:
    for verb in ("show", "best"):
        done = call(folder, verb, "t")
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        head = lines.index("The same everywhere, or not?") + 1
        assert lines[head].split()[:3] == ["language", "items", "labels"]
        assert "roberta for de" in " ".join(done.stdout.split())
    assert "slices      language" in call(folder, "show", "t").stdout
    table = document(folder, "best", "t")["slices"]
    assert {row["value"]: row["model"] for row in table["slices"] if row["items"] > 5} == {
        "en": "bert",
        "de": "roberta",
        "(no value)": "bert",
    }
    assert document(folder, "show", "t")["options"]["slice"] == "language"
    call(folder, "report", "t", "--out", "t.html")
    page = (folder / "t.html").read_text()
    assert "The same everywhere, or not?" in page
    assert table["sentence"] in page


def test_labels_are_asked_for_on_the_terminal_and_items_are_added(tmp_path: Path) -> None:
    write_file(tmp_path / "tickets.csv", items=60, labels=False)
    assert call(tmp_path, "create", "t", "--pool", "tickets.csv", "--slice", "language").returncode == 0
    assert "The same everywhere" not in call(tmp_path, "show", "t").stdout  # nothing is known yet
    done = call(tmp_path, "label", "t", typed="1\n1\n2\nq\n")
    assert done.returncode == 0, done.stderr
    assert "of 4 slices certified" in done.stdout + done.stderr
    (tmp_path / "more.csv").write_text("id,language,bert,roberta,tiny\nx1,it,spam,ham,ham\nx2,it,ham,ham,spam\n")
    added = document(tmp_path, "ask", "t", "more.csv")
    assert added["new"] == 2
    assert [row["items"] for row in added["slices"]["slices"] if row["value"] == "it"] == [2]
    (tmp_path / "bare.csv").write_text("id,bert,roberta,tiny\nx3,spam,ham,ham\n")
    done = call(tmp_path, "ask", "t", "bare.csv")
    assert (done.returncode, "no column 'language'" in done.stderr) == (1, True), done.stderr


def test_it_is_the_same_after_an_export_and_an_import(folder: Path) -> None:
    assert call(folder, "export", "t", "t.jsonl").returncode == 0
    assert call(folder, "import", "t.jsonl", "--name", "again").returncode == 0
    assert document(folder, "best", "again")["slices"] == document(folder, "best", "t")["slices"]
    assert call(folder, "verify", "again").returncode == 0


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--slice", "lang", "--fields", "language"), 1, "lang"),
        (("--slice", "bert", "--fields", "language"), 1, "looks like a model"),
        (("--slice", "label", "--fields", "language"), 1, "has the labels"),
        (("--slice", "language", "--judge", "language"), 1, "is the judge as well"),
    ],
)
def test_slices_that_make_no_sense_are_refused(
    tmp_path: Path, options: tuple[str, ...], code: int, words: str
) -> None:
    write_file(tmp_path / "tickets.csv", items=30)
    done = call(tmp_path, "create", "t", "--pool", "tickets.csv", *options)
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    assert "there is no storage" in call(tmp_path, "list").stderr


def test_a_stream_has_no_slices(tmp_path: Path) -> None:
    done = call(tmp_path, "create", "t", "--models", "a,b", "--slice", "language")
    assert (done.returncode, "--pool" in done.stderr) == (2, True), done.stderr


def test_pick_takes_slices_with_prices_and_wrong_labels(tmp_path: Path) -> None:
    write_file(tmp_path / "tickets.csv", items=120)
    prices = '{"bert": 3, "roberta": 2, "tiny": 1}'
    given = ("--slice", "language", "--price", prices, "--label-noise", "0.01", "--tolerance", "0.1")
    found = document(tmp_path, "pick", "tickets.csv", *given)
    assert found["slices"]["label_noise"] == 0.01
    assert found["slices"]["allowed"] > 0.1
