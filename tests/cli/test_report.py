"""`modelpicker report`: of a campaign, and of every file that `pick` writes; what is not a pick is said to be
none."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.campaigns.file_report import file_report
from tests.cli.campaigning import begin
from tests.cli.picking import write_words
from tests.cli.running import run
from tests.cli.test_pick_pool_asking import truths


@pytest.fixture
def words(tmp_path: Path) -> Path:
    return write_words(tmp_path)


def report(folder: Path, *arguments: str | Path) -> dict[str, Any]:
    """What a report that succeeds says for programs; its page is there."""
    done = run("report", *arguments, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert (folder / found["out"]).stat().st_size == found["bytes"] < 1_000_000
    return found


def picked(folder: Path, *arguments: str) -> dict[str, Any]:
    done = run("pick", "x.parquet", *arguments, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def same(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Whether a report has the pick that was made."""
    parts = ("pick", "tied", "labels_used", "rounds", "skipped", "certificate", "certified", "state", "budget")
    standing = [{key: one[key] for key in found["standing"][0]} for one in expected["standing"]]
    return all(found[part] == expected[part] for part in parts) and found["standing"] == standing


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--tolerance", "0.2"),
        ("--budget", "3"),
        ("--seed", "7"),
        ("--as", "stream"),
        ("--algorithm", "race", "--tolerance", "0.2"),
        ("--as", "stream", "--budget", "5", "--shuffle", "--seed", "3"),
        ("--as", "stream", "--tolerance", "0.3", "--confidence", "0.8", "--kind", "stream"),
        ("--algorithm", "label-efficient", "--budget", "9"),
    ],
)
def test_the_result_of_a_pick_is_played_again_and_its_command_repeats_it(
    words: Path, options: tuple[str, ...]
) -> None:
    expected = picked(words, *options, "--out", "x.pick")
    assert same(report(words, "x.pick"), expected)
    page = (words / "pick.html").read_text()
    command = re.search(r"<pre>modelpicker (pick .*?)</pre>", page)
    assert command is not None
    again = run(*command[1].split(), "--json", folder=words)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["standing"] == expected["standing"]


def test_labels_of_another_file_and_missing_ones_are_played_again(words: Path) -> None:
    whole = mp.load_collection(words / "x.parquet")
    mp.ModelCollection.of_codes(whole.predictions, None, whole.models, whole.classes, whole.fields).save(
        words / "x.parquet"
    )
    lines = [f"item-{n},{whole.classes[label]}" for n, label in enumerate(np.asarray(whole.labels)) if n % 5]
    (words / "labels.csv").write_text("\n".join(["id,label", *lines]) + "\n")
    for options in ((), ("--as", "stream"), ("--as", "stream", "--play-unlabelled")):
        expected = picked(words, "--labels", "labels.csv", *options, "--out", "x.pick")
        assert same(report(words, "x.pick"), expected)
    assert "looked up in labels.csv" in (words / "pick.html").read_text()


def test_the_answers_about_a_pool_have_a_report_at_any_time(words: Path) -> None:
    names = truths(words)
    typed = "".join(f"{name}\n" for name in names[:4])
    run("pick", "x.parquet", "--ask", "--by", "ann <b>", answers=f"{typed}s\nq\n", folder=words)
    for source in ("x.pool.jsonl", "x.parquet"):
        found = report(words, source)
        assert (found["labels_used"], found["skipped"], found["state"]["name"]) == (4, 1, "running")
    page = (words / "pick.html").read_text()
    assert "ann &lt;b&gt;" in page
    assert "1 item was skipped" in page
    done = run("pick", "x.parquet", "--ask", "--json", answers="".join(f"{n}\n" for n in names[4:]), folder=words)
    expected = json.loads(done.stdout)
    assert same(report(words, "x"), expected)  # by the name that it goes by
    people = {one.name: one.labels for one in file_report(words / "x.pool.jsonl").annotators}
    assert people == {"ann <b>": 4, "not named": expected["labels_used"] - 4}


def test_labels_that_were_known_before_are_no_cost(words: Path) -> None:
    (words / "few.csv").write_text("id,label\nitem-1,cat\nitem-2,dog\nitem-3,emu\n")
    options = ("--ask", "--labels", "few.csv", "--budget", "2")
    run("pick", "x.parquet", *options, answers="cat\ndog\n", folder=words)
    assert report(words, "x.parquet")["cost"].startswith("2 labels were bought; 3 more were known before.")


def test_a_stream_that_a_person_answers_about_has_the_report_of_its_campaign(words: Path) -> None:
    run("pick", "x.parquet", "--as", "stream", "--ask", answers="cat\ndog\nq\n", folder=words)
    for source in ("x.pick.db", "x.parquet"):
        assert report(words, source)["labels_used"] == 2
    assert report(words, "x", "--storage", "sqlite:///x.pick.db")["labels_used"] == 2


def test_a_file_of_several_campaigns_asks_for_a_name(tmp_path: Path) -> None:
    for name in ("one", "two"):
        run("create", name, "--models", "2", folder=tmp_path)
    done = run("report", "modelpicker.db", folder=tmp_path)
    assert done.returncode == 1
    assert "has 2 campaigns: one, two. Name one: modelpicker report NAME --storage" in done.stderr


def test_a_campaign_is_reported_and_its_commands_bring_it_back_and_report_the_same(tmp_path: Path) -> None:
    begin(tmp_path, *({"bert": "spam", "roberta": "ham", "text": f"{n}"} for n in range(3)))
    run("tell", "tickets", "0", "spam", folder=tmp_path)
    found = report(tmp_path, "tickets", "--out", "boss.html")
    assert found["headline"] == "bert is the best so far."
    commands = re.search(r"<pre>(.*?)</pre>", (tmp_path / "boss.html").read_text(), re.DOTALL)
    assert commands is not None
    for line in commands[1].splitlines():
        done = run(*line.split()[1:], folder=tmp_path)
        assert done.returncode == 0, done.stderr
    again = (tmp_path / "again.html").read_text()
    assert "<h1>bert is the best so far.</h1>" in again


def test_a_file_wins_over_a_campaign_of_its_name_unless_the_storage_is_named(words: Path) -> None:
    picked(words, "--out", "tickets")
    run("create", "tickets", "--models", "2", folder=words)
    assert report(words, "tickets")["pick"] == "c"
    assert report(words, "tickets", "--storage", "sqlite:///modelpicker.db")["pick"] is None


def test_people_read_the_sentence_and_where_the_page_is(words: Path) -> None:
    picked(words, "--out", "x.pick")
    done = run("report", "x.pick", "--out", "boss.html", folder=words)
    assert done.stdout.startswith("Use c.\nProven: c is at most ")
    assert done.stdout.endswith("The report is in boss.html.\n")


# What cannot be reported.


@pytest.mark.parametrize(
    ("source", "code", "told"),
    [
        ("nowhere", 3, "there is no campaign 'nowhere' in sqlite:///modelpicker.db, and no file of that name"),
        ("x.parquet", 3, "Run the pick, and keep its result: modelpicker pick x.parquet --out RESULT.jsonl"),
    ],
)
def test_what_is_not_there_says_what_to_do(words: Path, source: str, code: int, told: str) -> None:
    done = run("report", source, folder=words)
    assert done.returncode == code
    assert told in done.stderr
    assert not (words / "pick.html").exists()
    assert not (words / "modelpicker.db").exists()


def test_a_page_takes_the_place_of_a_page_and_of_nothing_else(words: Path) -> None:
    picked(words, "--out", "x.pick")
    (words / "notes.html").write_text("my notes")
    for out, code in (("notes.html", 4), ("x.parquet", 1), (".", 1)):
        assert run("report", "x.pick", "--out", out, folder=words).returncode == code
    assert (words / "notes.html").read_text() == "my notes"
    for _ in range(2):
        report(words, "x.pick")


def test_a_file_that_changed_since_is_not_reported_as_if_it_had_not(words: Path) -> None:
    picked(words, "--out", "x.pick")
    run("pick", "x.parquet", "--ask", answers="cat\nq\n", folder=words)
    other = mp.synthetic_collection(120, ["a", "b", "c"], ["cat", "dog", "emu"], [0.5, 0.7, 0.9], seed=5)
    other.save(words / "x.parquet")
    for source in ("x.pick", "x.pool.jsonl"):
        done = run("report", source, folder=words)
        assert done.returncode == 4, done.stderr
    (words / "x.parquet").unlink()
    for source in ("x.pick", "x.pool.jsonl"):
        done = run("report", source, folder=words)
        assert done.returncode == 3
        assert "is of x.parquet, which is not there" in done.stderr


def test_the_file_may_have_moved_together_with_its_result(words: Path, tmp_path: Path) -> None:
    picked(words, "--out", "x.pick")
    (tmp_path / "there").mkdir()
    for name in ("x.pick", "x.parquet"):
        (words / name).rename(tmp_path / "there" / name)
    assert report(words, "there/x.pick")["pick"] == "c"


@pytest.mark.parametrize("damage", ["cut", "header", "line", "question"])
def test_a_damaged_result_is_refused_in_one_sentence(words: Path, damage: str) -> None:
    picked(words, "--out", "x.pick")
    lines = (words / "x.pick").read_text().splitlines()
    if damage == "cut":
        lines[-1] = lines[-1][:20]
    elif damage == "header":
        header = json.loads(lines[0])
        del header["seed"]
        lines[0] = json.dumps(header)
    elif damage == "line":
        lines[2] = "{nonsense"
    else:
        lines[1], lines[2] = lines[2], lines[1]
    (words / "x.pick").write_text("\n".join(lines) + "\n")
    done = run("report", "x.pick", folder=words)
    assert done.returncode in (1, 4), done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("modelpicker: x.pick")
