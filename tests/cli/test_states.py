"""What the command line says in every state of a pick and of a campaign, and whether that is true."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from tests.cli.running import environment, run

STORAGE = "sqlite:///c.db"
SENTENCES = ("Running", "Waiting for labels", "Certified", "Won", "Budget spent", "All items asked")


def write(folder: Path, items: int = 300, labelled: int | None = None, seed: int = 0) -> mp.ModelCollection:
    """A file x.parquet of three models, and y.csv with the labels of some of its items."""
    made = mp.synthetic_collection(items, 3, 3, [0.9, 0.75, 0.5], seed=seed)
    ids = list(range(items))
    assert made.labels is not None
    mp.ModelCollection(made.predictions, models=["a", "b", "c"], fields={"id": ids}).save(folder / "x.parquet")
    some = sorted(np.random.default_rng(1).choice(items, labelled or items, replace=False).tolist())
    lines = "".join(f"{number},{made.labels[number]}\n" for number in some)
    (folder / "y.csv").write_text(f"id,label\n{lines}")
    return made.take(some)


def pick(folder: Path, *more: str, answers: str = "") -> tuple[dict[str, Any], str, str]:
    """The document of a pick, and what it prints for people on both streams."""
    ending = "jsonl" if "--labels" in more else "db"
    document = run(
        "pick",
        "x.parquet",
        "--as",
        "stream",
        *more,
        "--out",
        f"j.{ending}",
        "--json",
        answers=answers,
        folder=folder,
    )
    said = run("pick", "x.parquet", "--as", "stream", *more, "--out", f"p.{ending}", answers=answers, folder=folder)
    assert (document.returncode, said.returncode) == (0, 0), document.stderr + said.stderr
    return json.loads(document.stdout), " ".join(said.stdout.split()), " ".join(said.stderr.split())


SURE = ("--confidence", "0.999999999999")
CASES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "the end": (("--labels", "y.csv"), "all-items-asked", "end"),
    "a budget": (("--labels", "y.csv", "--budget", "9"), "budget-spent", "budget"),
    "a proof": (("--labels", "y.csv", "--stop-gap", "0.25"), "certified", "certified"),
    "a won race": (("--labels", "y.csv", "--algorithm", "race", "--stop-gap", "0.05"), "won", "won"),
    "an unfinished race": (
        ("--labels", "y.csv", "--algorithm", "race", "--stop-gap", "0.001", *SURE),
        "all-items-asked",
        "end",
    ),
    "a goal that was not reached": (("--labels", "y.csv", "--stop-gap", "0.001"), "all-items-asked", "end"),
    "a question": ((), "waiting-for-labels", "quit"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_pick_says_how_it_ended_and_its_numbers_agree(tmp_path: Path, case: str) -> None:
    write(tmp_path)
    options, state, stopped = CASES[case]
    answers = "0\n1\n0\n2\nq\n" if not options else ""
    document, said, _ = pick(tmp_path, *options, answers=answers)
    assert (document["state"]["name"], document["stopped"]) == (state, stopped)
    step = "Run the same command to continue." if stopped == "quit" else document["state"]["next"]
    assert f"{document['state']['title']}: {document['state']['reason']} {step}" in said
    rounds, items = document["rounds"], document["items"]
    whole = f"{rounds:,} of {items:,}" if rounds < items else f"{items:,}"
    labels = "1 label" if document["labels_used"] == 1 else f"{document['labels_used']} labels"
    assert f" saw {whole} items and used {labels} (" in said
    # Every number of items that is mentioned is this one.
    for found in re.findall(r"[Oo]n the ([\d,]+) items seen|won after ([\d,]+) items|All ([\d,]+) items", said):
        assert "".join(found) == f"{rounds:,}"
    assert ("budget" in document["state"]["reason"]) == (stopped == "budget")
    reached = None if "--stop-gap" not in options else state in ("certified", "won")
    assert document["reached"] is reached
    assert ("The goal was not reached" in said) == (reached is False)
    assert "within 0%" not in said
    assert "needed no label" not in said


def test_a_goal_that_was_not_reached_says_what_would_help(tmp_path: Path) -> None:
    write(tmp_path)
    document, said, _ = pick(tmp_path, "--labels", "y.csv", "--stop-gap", "0.01", "--budget", "20")
    assert document["reached"] is False
    assert document["goal"] == {"gap": 0.01, "confidence": 0.95, "kind": "population"}
    assert "The goal was not reached: within 1 point of the best model (95% confidence)." in said
    assert "What would help: a larger --budget than 20; asking about more items (--option query_scale=4);" in said
    assert "--algorithm race, which often needs fewer labels for a proof." in said
    _, said, _ = pick(tmp_path, "--labels", "y.csv", "--stop-gap", "0.001", "--algorithm", "race", *SURE)
    assert "What would help: more than 300 items." in said


@pytest.mark.parametrize("algorithm", ["model-picker", "race", "importance-weighted"])
def test_items_without_labels_are_left_out_and_gaps_are_those_of_the_labels(tmp_path: Path, algorithm: str) -> None:
    known = write(tmp_path, items=4_000, labelled=300)
    document, _, said = pick(tmp_path, "--labels", "y.csv", "--algorithm", algorithm)
    assert "300 of 4,000 items have labels; the others are left out." in said
    assert (document["items"], document["items_played"], document["skipped"]) == (4_000, 300, 0)
    assert document["rounds"] <= 300
    trace = mp.run_stream(_algorithm(algorithm), known.predictions, known.labels)
    assert (document["labels_used"], document["rounds"]) == (trace.labels_used, len(trace))
    if algorithm == "race":  # all labels that tell models apart are bought: the gaps are those of the labels
        accuracies = np.asarray(known.take(list(range(document["rounds"]))).accuracies)
        gaps = {entry["model"]: entry["gap"] for entry in document["standing"]}
        assert gaps["b"] == pytest.approx(accuracies[0] - accuracies[1])


def _algorithm(name: str) -> Any:
    return {"model-picker": mp.ModelPicker, "race": mp.Race, "importance-weighted": mp.ImportanceWeighted}[name](3)


def test_items_without_labels_are_played_if_somebody_asks_for_it(tmp_path: Path) -> None:
    write(tmp_path, items=1_000, labelled=400)
    document, said, heard = pick(tmp_path, "--labels", "y.csv", "--algorithm", "race", "--play-unlabelled")
    assert "left out" not in heard
    assert document["skipped"] > 10
    assert f"; {document['skipped']} labels that it asked for are missing." in said
    only, _, _ = pick(tmp_path, "--labels", "y.csv", "--algorithm", "race")
    gaps = [{entry["model"]: entry["gap"] for entry in one["standing"]} for one in (document, only)]
    # On other items, but both near the true 15 %: not thinned by items without a label. Allowed: 3 standard errors.
    assert gaps[0]["b"] == pytest.approx(0.15, abs=0.1)
    assert gaps[1]["b"] == pytest.approx(0.15, abs=0.1)


def test_a_won_race_stops_reading_and_writing(tmp_path: Path) -> None:
    write(tmp_path, items=60_000)
    document, _, _ = pick(tmp_path, "--labels", "y.csv", "--algorithm", "race")
    assert document["state"]["name"] == "won"
    assert document["rounds"] < 6_000
    lines = (tmp_path / "j.jsonl").read_text().splitlines()
    assert len(lines) == document["rounds"] + 2


@pytest.mark.slow
def test_answers_given_under_one_algorithm_serve_another(tmp_path: Path) -> None:
    write(tmp_path)
    asked = run(
        "pick", "x.parquet", "--option", "query_scale=1e9", answers="0\n0\n1\n2\n0\n1\nq\n", folder=tmp_path
    )
    assert "used 6 labels" in asked.stdout
    race = ("pick", "x.parquet", "--algorithm", "race", "--labels", "x.pick.db")
    more = run(*race, answers="0\n1\n" * 10 + "q\n", folder=tmp_path)
    assert more.returncode == 0, more.stderr
    assert "6 of 300 items have labels, which are used; you are asked for the others." in more.stderr
    known, used = (answers_in(tmp_path / name) for name in ("x.pick.db", "x-race.pick.db"))
    assert len(known) == 6
    shared = known.keys() & used.keys()
    assert len(shared) >= 3
    assert {item: used[item] for item in shared} == {item: known[item] for item in shared}
    assert len(used) == len(shared) + 20
    assert f"{len(used)} labels" in more.stdout
    assert f"{len(shared)} of which were known before" in more.stdout
    # What is undone is the last answer, not a label that was known.
    undone = run(*race, answers="u\n" * 21 + "q\n", folder=tmp_path)
    assert "There is nothing to undo." in undone.stderr
    assert answers_in(tmp_path / "x-race.pick.db") == {item: known[item] for item in shared}


def answers_in(path: Path) -> dict[int, Any]:
    """The labels of a pick, by the places of the items."""
    with mp.open_campaign(f"sqlite:///{path}", "x") as campaign:
        return {int(str(one.key)[4:]) - 1: one.label for one in campaign.answers() if one.state == "labelled"}


def create(folder: Path, *options: str) -> None:
    made = run("create", "c", "--models", "a,b", "--storage", STORAGE, *options, folder=folder)
    assert made.returncode == 0, made.stderr


def ask_and_tell(folder: Path, items: int, tell: bool = True) -> None:
    lines = "".join(json.dumps({"a": "cat", "b": "dog"}) + "\n" for _ in range(items))
    for line in lines.splitlines():
        done = run("ask", "c", "--storage", STORAGE, answers=f"{line}\n", folder=folder)
        assert done.returncode == 0, done.stderr
        made = json.loads(done.stdout)
        if tell and made["query"]:
            run("tell", "c", str(made["id"]), "dog", "--storage", STORAGE, folder=folder)


CAMPAIGNS: dict[str, tuple[tuple[str, ...], Callable[[Path], None]]] = {
    "running": ((), lambda folder: ask_and_tell(folder, 0)),
    "waiting-for-labels": ((), lambda folder: ask_and_tell(folder, 3, tell=False)),
    "certified": (
        ("--stop-gap", "0.2", "--kind", "stream", "--option", "query_scale=9"),
        lambda folder: ask_and_tell(folder, 12),
    ),
    "won": (("--algorithm", "race", "--option", "tolerance=0.3"), lambda folder: ask_and_tell(folder, 20)),
    "budget-spent": (("--budget", "2", "--expected-rounds", "2"), lambda folder: ask_and_tell(folder, 4)),
    "all-items-asked": (("--expected-rounds", "3"), lambda folder: ask_and_tell(folder, 3)),
}


@pytest.mark.parametrize("state", CAMPAIGNS)
def test_all_verbs_name_a_campaigns_state_in_the_same_words(tmp_path: Path, state: str) -> None:
    options, play = CAMPAIGNS[state]
    create(tmp_path, *options)
    play(tmp_path)
    verbs = {"best": "best c", "show": "show c", "label": "label c"}
    found = {
        verb: json.loads(run(*line.split(), "--storage", STORAGE, "--json", answers="q\n", folder=tmp_path).stdout)[
            "state"
        ]
        for verb, line in verbs.items()
    }
    (listed,) = json.loads(run("list", "--storage", STORAGE, "--json", folder=tmp_path).stdout)["campaigns"]
    found["list"] = listed["state"]
    with mp.open_campaign(f"sqlite:///{tmp_path}/c.db", "c") as campaign:
        found["library"] = campaign.best().state.document()
    expected = found["library"]
    assert expected["name"] == state
    assert all(one == expected for one in found.values()), found
    sentence = f"{expected['title']}: {expected['reason']} {expected['next']}"
    for line in verbs.values():
        said = run(*line.split(), "--storage", STORAGE, answers="q\n", folder=tmp_path).stdout
        assert sentence in " ".join(said.split())
        others = [title for title in SENTENCES if title != expected["title"] and f"{title}: " in said]
        assert others == []
    assert expected["title"] in run("list", "--storage", STORAGE, folder=tmp_path).stdout


@pytest.mark.slow
def test_who_labels_is_told_when_it_is_enough(tmp_path: Path) -> None:
    create(tmp_path, "--algorithm", "race", "--option", "tolerance=0.3")
    for _ in range(30):
        run("ask", "c", "--storage", STORAGE, answers='{"a": "cat", "b": "dog"}\n', folder=tmp_path)
    done = run("label", "c", "--storage", STORAGE, answers="dog\n" * 30, folder=tmp_path)
    said = " ".join(done.stderr.split())
    assert said.count("Won: The race was won after ") == 1
    assert "The pick is proven. Use the pick." in said


FAILURES: dict[str, tuple[tuple[str, ...], str, int]] = {
    "a file that is not there": (("pick", "nowhere.csv"), "NotFoundError", 3),
    "a campaign that is not there": (("best", "nobody", "--storage", "sqlite:///none.db"), "NotFoundError", 3),
    "an option that there is not": (("pick", "digits", "--colour", "red"), "UsageError", 2),
    "a value that is not valid": (("pick", "digits", "--confidence", "7"), "UsageError", 2),
    "an argument that is missing": (("pick",), "UsageError", 2),
    "a verb that there is not": (("pcik",), "UsageError", 2),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failure_is_a_document_too(tmp_path: Path, case: str) -> None:
    arguments, kind, code = FAILURES[case]
    done = run(*arguments, "--json", folder=tmp_path)
    error = json.loads(done.stdout)["error"]
    assert (error["type"], error["exit_code"], done.returncode) == (kind, code, code)
    assert error["message"]
    assert done.stderr  # said to people as well
    plain = run(*arguments, folder=tmp_path)
    assert (plain.returncode, plain.stdout) == (code, "")


def test_success_with_json_is_as_it_was(tmp_path: Path) -> None:
    done = run("collections", "list", "--json", folder=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["collections"]


TABLE = """
from modelpicker.cli.shared.terminal import print_table, table
made = table("model", *(f"budget {n:,}" for n in range(1, 15)))
made.add_row("a-model-with-a-rather-long-name", *("1,234,786.6 ±14,321.4" for _ in range(14)))
print_table(made)
"""


def test_no_number_is_cut_in_a_pipe() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TABLE], capture_output=True, text=True, env=environment(), check=True
    )
    assert done.stdout.count("1,234,786.6 ±14,321.4") == 14
    assert "a-model-with-a-rather-long-name" in done.stdout
    assert "…" not in done.stdout


def test_on_a_narrow_terminal_only_names_are_cut(tmp_path: Path) -> None:
    import os
    import pty

    primary, secondary = pty.openpty()
    try:
        subprocess.run(
            [sys.executable, "-c", TABLE.replace("range(1, 15)", "range(1, 4)").replace("range(14)", "range(3)")],
            stdout=secondary,
            env=environment(COLUMNS="84", TERM="xterm"),
            check=True,
        )
        shown = os.read(primary, 2**16).decode()
    finally:
        os.close(primary)
        os.close(secondary)
    assert shown.count("1,234,786.6 ±14,321.4") == 3
    assert "a-model-w" in shown
    assert "rather-long-name" not in shown


def test_answers_of_other_items_are_refused(tmp_path: Path) -> None:
    write(tmp_path)
    run("pick", "x.parquet", "--option", "query_scale=1e9", answers="0\n1\n2\n0\n1\n2\nq\n", folder=tmp_path)
    run("pick", "x.parquet", "--labels", "y.csv", "--out", "known.jsonl", folder=tmp_path)
    whole = mp.load_collection(tmp_path / "x.parquet")
    whole.take(range(len(whole))[::-1]).save(tmp_path / "turned.parquet")
    whole.take(range(1, len(whole))).save(tmp_path / "fewer.parquet")
    for name, labels, match in (
        ("turned", "known.jsonl", "belongs to other items"),
        ("fewer", "known.jsonl", "belongs to another file: its items are 300"),
    ):
        done = run("pick", f"{name}.parquet", "--labels", labels, folder=tmp_path)
        assert (done.returncode, match in done.stderr) == (1, True), done.stderr


def test_a_race_has_reached_its_own_goal_or_not_whatever_certificate_is_told(tmp_path: Path) -> None:
    write(tmp_path)
    for kind in ("stream", "population"):
        document, said, _ = pick(
            tmp_path, "--labels", "y.csv", "--algorithm", "race", "--budget", "9", "--kind", kind
        )
        assert (document["reached"], document["state"]["name"]) == (False, "budget-spent")
        assert "Not proven yet." in said


def test_label_efficient_spreads_its_budget_over_the_items_that_are_played(tmp_path: Path) -> None:
    write(tmp_path, items=4_000, labelled=300)
    document, _, _ = pick(tmp_path, "--labels", "y.csv", "--algorithm", "label-efficient", "--budget", "60")
    # Binomial with mean 60 over some 200 items: 35 is more than 3 standard deviations below; before it was about 5.
    assert document["labels_used"] > 35


def test_a_label_is_matched_regardless_of_case_and_space(tmp_path: Path) -> None:
    create(tmp_path)
    ask_and_tell(tmp_path, 2, tell=False)
    run("tell", "c", "0", " DOG ", "--storage", STORAGE, folder=tmp_path)
    with mp.open_campaign(f"sqlite:///{tmp_path}/c.db", "c") as campaign:
        assert [record["label"] for record in campaign.history() if record["kind"] == "label"] == ["dog"]


def test_a_damaged_event_hides_no_other_campaign(tmp_path: Path) -> None:
    import sqlite3

    create(tmp_path)
    ask_and_tell(tmp_path, 2)
    run("create", "other", "--models", "a,b", "--storage", STORAGE, folder=tmp_path)
    with sqlite3.connect(tmp_path / "c.db") as connection:
        connection.execute("UPDATE events SET body = x'00'")
        connection.execute("DELETE FROM snapshots")
    done = run("list", "--storage", STORAGE, folder=tmp_path)
    assert done.returncode == 0
    assert [line.split()[:2] for line in done.stdout.splitlines() if line][1:] == [
        ["c", "damaged"],
        ["other", "Running"],
    ]
    assert "campaign 'c'" in " ".join(done.stderr.split())
