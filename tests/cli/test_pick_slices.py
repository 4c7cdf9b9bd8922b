"""Slices of a file: `mp.pick(slice=…)`, `modelpicker pick --slice`, its journal, and the report."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from tests.cli.running import run

COLUMNS = ("bert", "roberta", "tiny")
GOAL = ("--tolerance", "0.04")


def write_file(path: Path, *, labels: bool = True, items: int = 300) -> Path:
    """Bert is the best model in English and where the language is missing, roberta in German; French is rare."""
    random = np.random.default_rng(1)
    names = np.array(["ham", "spam"])
    lines = [",".join(["id", "language", *COLUMNS, *(["label"] if labels else [])])]
    for item in range(items):
        language = "fr" if item < 5 else ["en", "de", "en", ""][item % 4]
        truth = int(random.integers(0, 2))
        accuracy = (0.7, 0.97, 0.6) if language == "de" else (0.97, 0.7, 0.6)
        said = [truth if random.random() < one else 1 - truth for one in accuracy]
        cells = [str(item), language, *names[said], *([names[truth]] if labels else [])]
        lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def tickets(tmp_path: Path) -> Path:
    return write_file(tmp_path / "tickets.csv")


def table(folder: Path, *more: str, answers: str = "") -> dict[str, Any]:
    done = run("pick", *more, "--json", answers=answers, folder=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["slices"]
    return found


def test_a_column_gives_a_pick_for_the_file_and_one_for_each_value(tickets: Path) -> None:
    found = mp.pick(tickets, slice="language", tolerance=0.04)
    assert found.slices is not None
    assert found.model == "bert"
    assert {row.value: row.model for row in found.slices if row.items > 5} == {
        "en": "bert",
        "de": "roberta",
        "(no value)": "bert",
    }
    assert found.slices["fr"].certified
    assert found.slices.same_everywhere is False


def test_a_list_and_a_function_give_the_same_slices_as_the_column(tickets: Path) -> None:
    by_column = mp.pick(tickets, slice="language", tolerance=0.04).slices
    whole = mp.load_collection(tickets, fields=["language"])
    listed = mp.pick(whole, slice=list(whole.fields["language"]), tolerance=0.04).slices
    called = mp.pick(whole, slice=lambda item: item["language"], tolerance=0.04).slices
    assert by_column is not None
    for other in (listed, called):
        assert other is not None
        assert other.rows == by_column.rows


def test_the_command_line_gives_what_the_function_gives(tickets: Path) -> None:
    found = mp.pick(tickets, slice="language", tolerance=0.04).slices
    assert found is not None
    assert table(tickets.parent, "tickets.csv", "--slice", "language", *GOAL) == found.document()


def test_people_read_one_table(tickets: Path) -> None:
    done = run("pick", "tickets.csv", "--slice", "language", *GOAL, folder=tickets.parent)
    lines = done.stdout.splitlines()
    head = lines.index("The same everywhere, or not?") + 1
    assert lines[head].split() == ["language", "items", "labels", "best", "model", "proven", "the", "same?"]
    assert [line.split()[0] for line in lines[head + 1 : head + 5]] == ["en", "(no", "de", "fr"]
    assert "Not the same everywhere: roberta for de is certified" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("nope", 'has no column "nope"'),
        ("label", "has the labels"),
        ("bert", "looks like a model: its values are classes"),
        ("id", "every item has another value"),
    ],
)
def test_a_column_that_makes_no_sense_is_an_error(tickets: Path, column: str, told: str) -> None:
    with pytest.raises(mp.ModelPickerError, match=told):
        mp.pick(tickets, slice=column, fields=["language"])
    done = run("pick", "tickets.csv", "--fields", "language", "--slice", column, folder=tickets.parent)
    assert done.returncode in (1, 2)
    assert told in done.stderr.replace("\\n", " ")


def test_a_model_of_a_collection_in_memory_is_no_slice(tickets: Path) -> None:
    whole = mp.load_collection(tickets, fields=["language"])
    with pytest.raises(mp.ModelPickerError, match="looks like a model"):
        mp.pick(whole, slice="bert")
    with pytest.raises(mp.ModelPickerError, match="no column 'town'; the fields of the items are: id, language"):
        mp.pick(whole, slice="town")


def test_a_column_that_looks_like_a_model_is_sliced_by_if_the_user_says_that_it_is_none(tickets: Path) -> None:
    found = mp.pick(tickets, slice="tiny", fields=["language", "tiny"], tolerance=0.04).slices
    assert found is not None
    assert {row.value for row in found} == {"ham", "spam"}


def test_a_stream_has_no_slices(tickets: Path) -> None:
    with pytest.raises(mp.ModelPickerError, match="only a pool can"):
        mp.pick(tickets, slice="language", setting="stream")
    done = run("pick", "tickets.csv", "--slice", "language", "--as", "stream", folder=tickets.parent)
    assert (done.returncode, "only a pool can have slices" in done.stderr) == (2, True)


def test_a_spent_budget_leaves_slices_for_later(tickets: Path) -> None:
    found = table(tickets.parent, "tickets.csv", "--slice", "language", "--budget", "3", *GOAL)
    assert {row["state"] for row in found["slices"]} == {"not yet"}
    assert found["same_everywhere"] is None


def answer_some(folder: Path, count: int, *more: str) -> dict[str, Any]:
    """Answer that many questions with the first class, then quit."""
    return table(folder, "asked.csv", *GOAL, *more, answers="1\n" * count + "q\n")


def test_a_person_goes_on_where_they_were_with_the_same_slices(tmp_path: Path) -> None:
    write_file(tmp_path / "asked.csv", labels=False)
    write_file(tmp_path / "once.csv", labels=False)
    first = answer_some(tmp_path, 6, "--slice", "language")
    assert sum(row["labels"] for row in first["slices"]) == 6
    again = answer_some(tmp_path, 6)  # which slices there are is written in the journal
    once = table(tmp_path, "once.csv", *GOAL, "--slice", "language", answers="1\n" * 12 + "q\n")
    assert again == once


def test_other_slices_than_those_of_the_journal_are_a_conflict(tmp_path: Path) -> None:
    write_file(tmp_path / "asked.csv", labels=False)
    answer_some(tmp_path, 2, "--slice", "language")
    done = run("pick", "asked.csv", *GOAL, "--slice", "id", "--fields", "language", folder=tmp_path, answers="q\n")
    assert done.returncode != 0
    write_file(tmp_path / "plain.csv", labels=False)
    run("pick", "plain.csv", "--fields", "language", *GOAL, folder=tmp_path, answers="1\nq\n")
    done = run("pick", "plain.csv", *GOAL, "--slice", "language", folder=tmp_path, answers="q\n")
    assert done.returncode == 4
    assert "it was started without --slice" in done.stderr


def test_the_report_of_answers_and_of_decisions_has_the_table(tmp_path: Path, tickets: Path) -> None:
    run("pick", "tickets.csv", "--slice", "language", *GOAL, "--out", "all.jsonl", folder=tmp_path)
    write_file(tmp_path / "asked.csv", labels=False)
    answer_some(tmp_path, 5, "--slice", "language")
    for file in ("all.jsonl", "asked.pool.jsonl"):
        done = run("report", file, "--out", "page.html", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert "<h2>The same everywhere, or not?</h2>" in page
        assert "<td>(no value)</td>" in page
        assert "--slice language" in page or file.startswith("asked")
