"""Free answers at the terminal: cards that are graded or compared, labels as JSON documents, what is resumed."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from tests.campaigns.answers import collection, grade_of
from tests.cli.running import listen_for, run, start_session

ITEMS = 12
STORE = ("--storage", "sqlite:///x.db")


@pytest.fixture
def free(tmp_path: Path) -> Path:
    """A folder with a file of free answers, `free.csv`."""
    collection(ITEMS).save(tmp_path / "free.csv")
    return tmp_path


def lines(folder: Path, name: str = "free.pool.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def cards(shown: str) -> list[list[str]]:
    """The answers on the cards of each question."""
    found: list[list[str]] = []
    for line in shown.splitlines():
        if line.startswith("  ["):
            number, _, text = line.strip()[1:].partition("] ")
            found += [[]] if number == "1" else []
            found[-1].append(text)
    return found


def grade_all(answers: list[str]) -> str:
    """The keys for the answers on cards."""
    return "".join({0.0: "n", 0.6: "3", 1.0: "y"}[grade_of(answer)] for answer in answers)


def test_answers_are_cards_without_model_names_and_one_key_each_grades_them(free: Path) -> None:
    done = run("pick", "free.csv", "--ask-for", "grades", answers="q\n", folder=free)
    assert done.returncode == 0, done.stderr
    (shown,) = cards(done.stderr)
    assert len(shown) > 1
    said = done.stderr.partition("item ")[2]
    assert not any(model in said for model in ("ada", "ben", "cat", "dan"))
    keys = grade_all(shown)
    done = run("pick", "free.csv", answers=f"{keys}\nw\nq\n", folder=free)  # continues, and asks for grades again
    header, first, second = lines(free)
    assert header["ask_for"] == "grades"
    assert first["label"] == mp.Label.graded({answer: grade_of(answer) for answer in shown}).to_json()
    assert second["label"] == mp.Label.all_wrong().to_json()
    assert cards(done.stderr)[0] == shown
    assert "mean grade" in " ".join(done.stdout.split())


def test_grades_may_come_one_by_one_and_strange_keys_are_explained(free: Path) -> None:
    typed = "y\nx\nyyyyyyy\n?\nd\nd 1 9\n5\ny\ny\nq\n"
    done = run("pick", "free.csv", "--ask-for", "grades", answers=typed, folder=free)
    assert "'x' is not a grade" in done.stderr
    assert "left to grade" in done.stderr
    assert "d shows how answers 1 and 2 differ" in done.stderr
    assert "[-" in done.stderr
    assert "two numbers from 1 to" in done.stderr
    assert [grade for _, grade in lines(free)[1]["label"]["grades"]][:2] == [1.0, 1.0]


def test_a_preference_takes_one_key_and_an_answer_is_undone(free: Path) -> None:
    done = run("pick", "free.csv", "--ask-for", "preference", answers="1\n=\nu\n2\n3\nq\n", folder=free)
    shown = cards(done.stderr)
    assert all(len(two) == 2 for two in shown)
    assert "Took back the preference" in done.stderr
    assert "'3' is not an answer" in done.stderr
    first, second = (line["label"] for line in lines(free)[1:])
    assert first == mp.Label.better(shown[0][0], shown[0][1]).to_json()
    assert second == mp.Label.better(shown[1][1], shown[1][0]).to_json()
    assert "the share of items on which the pick beats a model, minus that on which it loses" in " ".join(
        done.stdout.split()
    )


def test_a_whole_session_of_grades_ends_with_the_pick_of_the_library(free: Path) -> None:
    items = mp.load_collection(free / "free.csv")

    def grades(item: int) -> mp.Label:
        codes = items.predictions[item].tolist()
        return mp.Label.graded({items.classes[code]: grade_of(items.classes[code]) for code in codes if code >= 0})

    found = mp.run_pool(mp.PoolPicker(items, tolerance=0.3, loss="grades"), grades)
    typed = ""
    while True:
        done = run("pick", "free.csv", "--ask-for", "grades", "--tolerance", "0.3", answers=typed, folder=free)
        shown = cards(done.stderr)
        if "Certified" in done.stdout or not shown:
            break
        typed = f"{grade_all(shown[-1])}\n"
    told = [mp.label.read_label(line["label"]) for line in lines(free)[1:]]
    assert len(told) == found.labels_used
    assert f"Pick: {found.winner}" in done.stdout


def test_a_journal_of_grades_is_no_file_of_labels_and_asks_for_nothing_else(free: Path) -> None:
    run("pick", "free.csv", "--ask-for", "grades", answers="w\nq\n", folder=free)
    done = run("pick", "free.csv", "--labels", "free.pool.jsonl", "--out", "y.jsonl", folder=free)
    assert done.returncode == 1
    assert "has grades or preferences" in done.stderr
    done = run("pick", "free.csv", "--ask-for", "preference", folder=free)
    assert done.returncode == 4
    assert "started with --ask-for grades" in " ".join(done.stderr.split())
    done = run("pick", "free.csv", "--ask-for", "grades", "--as", "stream", folder=free)
    assert done.returncode == 2
    done = run("report", "free.pool.jsonl", "--out", "x.html", folder=free)
    assert done.returncode == 0, done.stderr


def test_many_texts_that_occur_once_are_met_with_a_hint(tmp_path: Path) -> None:
    rows = [f"{place},text {place} of a,text {place} of b" for place in range(30)]
    (tmp_path / "x.csv").write_text("\n".join(["id,a,b", *rows]))
    done = run("pick", "x.csv", answers="q\n", folder=tmp_path)
    assert done.stderr.count("--ask-for grades asks you to grade them instead") == 1
    done = run("pick", "x.csv", "--ask-for", "grades", "--out", "y.jsonl", answers="q\n", folder=tmp_path)
    assert "asks you to grade them" not in done.stderr


@pytest.mark.parametrize(("same", "cards_shown"), [("exact", 3), ("normalised", 2), ("0.5", 2)])
def test_answers_that_count_as_the_same_are_one_card(tmp_path: Path, same: str, cards_shown: int) -> None:
    (tmp_path / "x.csv").write_text("id,a,b,c\n1,Paris,paris.,Lyon\n2,Rome,rome,Oslo\n")
    done = run("pick", "x.csv", "--ask-for", "grades", "--same", same, answers="q\n", folder=tmp_path)
    assert [len(shown) for shown in cards(done.stderr)] == [cards_shown]
    done = run("pick", "x.csv", answers="q\n", folder=tmp_path)  # as it was started
    assert [len(shown) for shown in cards(done.stderr)] == [cards_shown]


@pytest.mark.parametrize("same", ["fuzzy", "-1", "nan", "inf"])
def test_a_rule_that_makes_no_sense_is_wrong_usage(free: Path, same: str) -> None:
    for verb in (("pick", "free.csv"), ("create", "x", "--pool", "free.csv", *STORE)):
        done = run(*verb, "--same", same, folder=free)
        assert done.returncode == 2
        assert "exact, normalised, or a number" in " ".join(done.stderr.replace("│", " ").split())


@pytest.mark.parametrize("kind", ["grades", "preference"])
def test_a_campaign_is_judged_at_the_terminal_and_by_documents(free: Path, kind: str) -> None:
    made = run("create", "x", "--pool", "free.csv", "--ask-for", kind, "--stop-gap", "0", *STORE, folder=free)
    assert made.returncode == 0, made.stderr
    done = run(
        "label",
        "x",
        "--by",
        "ann",
        *STORE,
        answers="w\nw\nu\nq\n" if kind == "grades" else "1\n=\nu\nq\n",
        folder=free,
    )
    assert done.returncode == 0, done.stderr
    assert "Took back the" in done.stderr
    with mp.open_campaign(f"sqlite:///{free}/x.db", "x") as campaign:
        (first,) = campaign.labels()
        waiting = campaign.pending(1, lease=60, annotator="bob")[0]
    assert isinstance(first.label, mp.Label)
    label = mp.Label.all_wrong() if kind == "grades" else mp.Label.equal(*waiting.candidates)
    told = run("tell", "x", str(waiting.id), json.dumps(label.to_json()), *STORE, folder=free)
    assert told.returncode == 0, told.stderr
    replaced = run("tell", "x", str(first.id), "spam", "--replace", *STORE, folder=free)
    assert replaced.returncode == 1
    assert "this campaign asks for" in replaced.stderr
    piped = json.dumps({"id": first.id, "label": first.label.to_json()})
    done = run("tell", "x", "--replace", *STORE, answers=f"{piped}\n", folder=free)
    assert done.returncode == 0, done.stderr
    for verb in ("show", "best"):
        assert run(verb, "x", *STORE, folder=free).returncode == 0
    out = run("export", "x", "out.jsonl", *STORE, folder=free)
    assert out.returncode == 0, out.stderr
    assert run("import", "out.jsonl", "--name", "y", *STORE, folder=free).returncode == 0


def test_two_people_who_disagree_are_listed_and_settled_by_a_document(free: Path) -> None:
    run("create", "x", "--pool", "free.csv", "--ask-for", "grades", "--overlap", "2", *STORE, folder=free)
    for by, keys in (("ann", "w"), ("bob", "5555")):
        with mp.open_campaign(f"sqlite:///{free}/x.db", "x") as campaign:
            count = len(campaign.pending(1, annotator=by)[0].candidates)
        run("label", "x", "--by", by, *STORE, answers=f"{keys[:count] if by == 'bob' else keys}\nq\n", folder=free)
    listed = run("conflicts", "x", *STORE, folder=free)
    assert '"kind": "grades"' in listed.stdout
    with mp.open_campaign(f"sqlite:///{free}/x.db", "x") as campaign:
        item = campaign.conflicts()[0].id
    done = run("settle", "x", str(item), json.dumps(mp.Label.all_wrong().to_json()), *STORE, folder=free)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_session_of_grades_that_is_killed_goes_on_where_it_was(free: Path) -> None:
    with start_session(free, "pick", "free.csv", "--ask-for", "grades") as process:
        listen_for(process, "[1] >")
        listen_for(process, "[1] >", "w\n")
        listen_for(process, "[2] >", "y\n")  # one of several grades: the answer is incomplete
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(lines(free)) == 2
    done = run("pick", "free.csv", answers="w\nq\n", folder=free)
    assert done.returncode == 0, done.stderr
    assert "Continuing with 1 label" in done.stderr
    assert len(lines(free)) == 3


def test_a_class_may_be_typed_in_any_spelling_that_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "free.csv").write_text("id,ada,ben\n1,Paris,Lyon\n2,rome.,Oslo\n3,Bern,Lima\n")
    done = run("pick", "free.csv", "--same", "normalised", answers="Madrid\nparis!\n(OSLO)\nq\n", folder=tmp_path)
    told = {line["label"] for line in lines(tmp_path)[1:]}
    assert told <= {"Paris", "Oslo", "Lyon", "rome.", "Bern", "Lima"}
    assert len(told) == 2
    assert "'Madrid' is not a class" in done.stderr
    made = ("create", "free", "--pool", "free.csv", "--same", "normalised", "--ask-for", "grades")
    assert run(*made, folder=tmp_path).returncode == 0
    shown = " ".join(run("show", "free", folder=tmp_path).stdout.split())
    assert "asks for grades same answer normalised" in shown
