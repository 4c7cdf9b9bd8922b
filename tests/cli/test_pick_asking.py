"""`modelpicker pick` where a person is asked: a campaign in an SQLite file, from which nothing is ever lost."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from tests.cli.campaigning import EVERY
from tests.cli.picking import answer, labels_told, rounds_of, truths
from tests.cli.running import COMMAND, environment, listen_for, run, run_process, start_session


def test_a_person_is_asked_where_there_are_no_labels(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("text,a,b\nhello,spam,ham\nworld,ham,ham\nagain,spam,ham\n")
    done = run("pick", "x.csv", "--as", "stream", answers="spam\n1\n", folder=tmp_path)
    assert done.returncode == 0
    assert "x · item 1 of 3 · 0 labels · no label yet" in done.stderr
    assert "text: hello" in done.stderr
    assert "text: world" not in done.stderr  # all models agree
    assert "1 ham  2 spam" in done.stderr
    assert labels_told(tmp_path) == ["spam", "ham"]
    assert "used 2 labels" in done.stdout
    assert "Your answers are in x.pick.db." in done.stdout


def test_a_document_names_the_campaign_and_where_it_is(words: Path) -> None:
    told = answer(words, "cat\nq\n")
    assert (told["campaign"], told["out"]) == ("x", "x.pick.db")
    assert told["storage"] == f"sqlite:///{words}/x.pick.db"
    assert mp.open_campaign(told["storage"], told["campaign"]).best().labels_used == 1


def test_quit_and_resume_give_the_same_pick_as_one_sitting(words: Path) -> None:
    labels = truths(words)
    known = json.loads(
        run("pick", "x.parquet", "--as", "stream", "--labels", "x.parquet", "--json", folder=words).stdout
    )
    first = answer(words, "\n".join([*labels[:5], "q"]) + "\n")
    assert (first["labels_used"], first["stopped"]) == (5, "quit")
    second = answer(words, "\n".join(labels[5:9]) + "\n")  # the input ends: as if the terminal was closed
    assert second["labels_used"] == 9
    last = answer(words, "\n".join(labels[9:]) + "\n")
    assert last["stopped"] == "end"
    assert (last["pick"], last["standing"]) == (known["pick"], known["standing"])
    again = answer(words, "")
    assert again["standing"] == last["standing"]
    assert rounds_of(words) == mp_rounds(words)


def mp_rounds(folder: Path) -> list[tuple[bool, float]]:
    """Which rounds the library queries, and with what probability."""
    collection = mp.load_collection(folder / "x.parquet")
    trace = mp.run_stream(mp.ModelPicker(collection.models), collection)
    return list(zip(trace.queried.tolist(), trace.probability.tolist(), strict=True))


def test_undo_goes_back_to_the_answer_before_even_after_a_resume(words: Path) -> None:
    labels = truths(words)
    wrong = ["emu" if label == "cat" else "cat" for label in labels]
    answer(words, f"{labels[0]}\n{wrong[1]}\ns\nu\nu\n{labels[1]}\n{labels[2]}\n{wrong[3]}\nq\n")
    told = answer(words, f"u\n{labels[3]}\nq\n")
    assert told["labels_used"] == 4
    assert labels_told(words)[:4] == labels[:4]


def test_undo_at_the_start_says_that_there_is_nothing(words: Path) -> None:
    done = run("pick", "x.parquet", "--as", "stream", "--ask", answers="u\nq\n", folder=words)
    assert "There is nothing to undo." in done.stderr
    assert "No label is known yet" in done.stdout


def test_skips_are_counted_and_change_no_estimate(words: Path) -> None:
    result = answer(words, "s\ns\nq\n")
    assert (result["skipped"], result["labels_used"], result["pick"]) == (2, 0, None)
    assert [entry["loss"] for entry in result["standing"]] == [0.0, 0.0, 0.0]
    assert answer(words, "u\nq\n")["skipped"] == 1


def test_strange_answers_are_asked_again_and_new_classes_must_be_meant(words: Path) -> None:
    done = run("pick", "x.parquet", "--as", "stream", "--ask", answers="cow\n?\n+cow\nCOW\nq\n", folder=words)
    assert "'cow' is not a class and no key" in done.stderr
    assert "classes: 1 cat, 2 dog, 3 emu" in done.stderr
    assert labels_told(words) == ["cow", "cow"]
    assert answer(words, "cow\nq\n")["labels_used"] == 3


def test_all_classes_of_the_file_can_be_typed_from_the_first_item_on(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\ncat,dog\nowl,owl\nemu,owl\n")
    done = run("pick", "x.csv", "--as", "stream", answers="owl\nq\n", folder=tmp_path)
    assert "label:  1 cat  2 dog  3 emu  4 owl" in done.stderr
    assert labels_told(tmp_path) == ["owl"]


def test_where_the_classes_are_given_no_other_is_taken(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\ncat,dog\ndog,cat\n")
    done = run(
        "pick", "x.csv", "--as", "stream", "--classes", "cat,dog,owl", answers="+cow\nowl\nq\n", folder=tmp_path
    )
    assert "'+cow' is not a class and no key." in done.stderr
    assert labels_told(tmp_path) == ["owl"]


def asking(folder: Path, *more: str) -> subprocess.Popen[bytes]:
    return start_session(folder, "pick", "x.parquet", "--as", "stream", "--ask", *more)


@pytest.mark.slow
def test_a_killed_session_loses_no_answer_and_goes_on_at_once(words: Path) -> None:
    labels = truths(words)
    for start in range(0, 6, 2):
        with asking(words) as process:
            listen_for(process, f"{start + 2} label", "".join(f"{label}\n" for label in labels[start : start + 2]))
            process.send_signal(signal.SIGKILL)
    assert answer(words, "q\n")["labels_used"] == 6
    assert answer(words, "\n".join(labels[6:]) + "\n")["stopped"] == "end"
    assert rounds_of(words) == mp_rounds(words)


def test_an_interrupt_says_where_the_answers_are(words: Path) -> None:
    with asking(words) as process:
        said = listen_for(process, "1 label", "cat\n")
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said += process.stderr.read().decode()
    assert process.returncode == 130
    assert "Your answers are in x.pick.db; run the same command to continue" in said
    assert "Traceback" not in said
    assert answer(words, "q\n")["labels_used"] == 1


def test_two_terminals_of_one_person_count_each_label_once(words: Path) -> None:
    with asking(words) as first:
        listen_for(first, "> ")
        second = answer(words, "cat\ndog\nq\n")
        assert second["labels_used"] == 2
        said = listen_for(first, "2 labels", "dog\n")
        assert "Not taken: round 0 was labelled 'cat' before" in said
        first.kill()
    assert labels_told(words) == ["cat", "dog"]


def test_two_people_are_not_asked_about_the_same_item(words: Path) -> None:
    with asking(words, "--by", "ann") as ann:
        assert "item 1 of 120" in listen_for(ann, "> ")
        bob = run("pick", "x.parquet", "--as", "stream", "--by", "bob", answers="cat\nq\n", folder=words)
        assert "item 1 of 120" not in bob.stderr
        listen_for(ann, "2 labels", "cat\n")
        ann.kill()
    history = mp.open_campaign(f"sqlite:///{words}/x.pick.db", "x").history()
    assert [record["by"] for record in history if record["kind"] == "label"] == ["bob", "ann"]


def test_a_full_disk_is_one_sentence_and_loses_no_answer(words: Path) -> None:
    answer(words, "cat\nq\n")
    size = (words / "x.pick.db").stat().st_size // 1024 + 40  # blocks of 1,024 bytes
    limit = f"export PYTHONDONTWRITEBYTECODE=1; ulimit -f {size}; exec {' '.join(COMMAND)} pick x.parquet --ask"
    done = subprocess.run(
        ["bash", "-c", f"trap '' XFSZ; {limit}"],
        input="cat\n" * 500,
        capture_output=True,
        text=True,
        cwd=words,
        env=environment(),
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr.splitlines()[-1].startswith("modelpicker: ")
    assert "Traceback" not in done.stderr
    acknowledged = done.stderr.count(">   ")  # after each answer that is on disk, how the models stand
    assert acknowledged > 0
    assert len(labels_told(words)) == 1 + acknowledged
    assert answer(words, "q\n")["labels_used"] == 1 + acknowledged


def test_answers_are_not_put_to_other_questions(words: Path) -> None:
    answer(words, "cat\nq\n", "--budget", "9")
    before = labels_told(words)
    for change, name in (
        (("--seed", "1"), "--seed 0, here it is 1"),
        (("--shuffle",), "--shuffle False, here it is True"),
        (("--algorithm", "vote-entropy"), "--algorithm model-picker, here it is vote-entropy"),
        (("--option", "query_scale=2"), "--option query_scale"),
        (("--budget", "10"), "--budget 9, here it is 10"),
        (("--stop-gap", "0.1"), "--stop-gap none, here it is 0.1"),
        (("--models", "a,b"), "--models ['a', 'b', 'c'], here it is ['a', 'b']"),
    ):
        done = run("pick", "x.parquet", "--as", "stream", "--ask", *change, folder=words)
        assert done.returncode == 4
        assert "x.pick.db belongs to another pick" in done.stderr
        assert name in done.stderr
    assert labels_told(words) == before


def test_options_need_not_be_typed_again(words: Path) -> None:
    more = ("--algorithm", "vote-entropy", "--seed", "3", "--shuffle", "--budget", "6", "--models", "a,c")
    first = answer(words, "cat\ncat\nq\n", *more)
    again = json.loads(
        run("pick", "x.parquet", "--as", "stream", "--json", answers="cat\nq\n", folder=words).stdout
    )
    keys = ("algorithm", "options", "seed", "budget", "items")
    assert {key: again[key] for key in keys} == {key: first[key] for key in keys}
    assert again["labels_used"] == 3
    assert [entry["model"] for entry in again["standing"]] in (["a", "c"], ["c", "a"])


def test_a_file_that_has_changed_is_not_gone_on_with(words: Path) -> None:
    answer(words, "cat\nq\n")
    whole = mp.load_collection(words / "x.parquet")
    for places in (range(len(whole))[::-1], range(1, len(whole))):
        whole.take(list(places)).save(words / "x.parquet")
        done = run("pick", "x.parquet", "--as", "stream", "--ask", folder=words)
        assert done.returncode == 4
        assert "x.parquet has changed since" in done.stderr


def test_labels_that_the_file_gets_later_are_no_change(tmp_path: Path) -> None:
    rows = "cat,dog\ndog,cat\n" * 3
    (tmp_path / "x.csv").write_text(f"a,b\n{rows}")
    assert run("pick", "x.csv", "--as", "stream", *EVERY, answers="cat\nq\n", folder=tmp_path).returncode == 0
    labelled = "".join(f"{row},{'cow' if n else 'cat'}\n" for n, row in enumerate(rows.splitlines()))
    (tmp_path / "x.csv").write_text(f"a,b,label\n{labelled}")
    done = run("pick", "x.csv", "--as", "stream", "--json", answers="cat\nq\n", folder=tmp_path)
    assert json.loads(done.stdout)["labels_used"] == 2


def test_what_is_no_campaign_of_this_file_is_left_alone(words: Path) -> None:
    path = words / "x.pick.db"
    path.write_text("my notes\n")
    done = run("pick", "x.parquet", "--as", "stream", "--ask", folder=words)
    assert (done.returncode, "x.pick.db exists and is not an SQLite file" in done.stderr) == (4, True)
    assert path.read_text() == "my notes\n"
    path.unlink()
    assert run("create", "x", "--models", "a,b", "--storage", "sqlite:///x.pick.db", folder=words).returncode == 0
    done = run("pick", "x.parquet", "--as", "stream", "--ask", folder=words)
    assert (done.returncode, "a campaign 'x' that is of no file" in done.stderr) == (4, True)
    done = run("pick", "x.parquet", "--as", "stream", "--ask", "--out", "x.jsonl", folder=words)
    assert (done.returncode, "ends with .db" in done.stderr) == (1, True)
    path.unlink()
    path.mkdir()
    assert run("pick", "x.parquet", "--as", "stream", "--ask", folder=words).returncode == 4


def test_items_that_did_not_come_from_the_file_end_it(words: Path) -> None:
    answer(words, "cat\nq\n")
    mp.open_campaign(f"sqlite:///{words}/x.pick.db", "x").ask_item(["cat", "dog", "emu"], None, None)
    done = run("pick", "x.parquet", "--as", "stream", "--ask", folder=words)
    assert (done.returncode, "was asked about other items" in done.stderr) == (4, True)


@pytest.mark.parametrize(
    "name", ["_x (1).csv", "été.csv", "ünï & co.csv", ".csv.csv", f"{'long' * 40}.csv", "1.csv"]
)
def test_a_file_may_have_any_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a,b\ncat,dog\ndog,cat\n")
    for labels in (1, 2):
        done = run("pick", name, *EVERY, "--json", answers="cat\nq\n", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["labels_used"] == labels


def test_the_campaign_is_beside_the_file_wherever_one_calls_from(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.csv").write_text("a,b\ncat,dog\ndog,cat\n")
    assert run("pick", "data/x.csv", *EVERY, answers="cat\nq\n", folder=tmp_path).returncode == 0
    done = run("pick", "x.csv", "--as", "stream", "--json", answers="cat\nq\n", folder=tmp_path / "data")
    assert json.loads(done.stdout)["labels_used"] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_answers_serve_another_budget_and_another_algorithm(words: Path) -> None:
    labels = truths(words)
    first = answer(words, "\n".join(labels) + "\n", "--budget", "3")
    assert (first["labels_used"], first["stopped"]) == (3, "budget")
    assert answer(words, "cat\n")["labels_used"] == 3  # nothing is asked
    more = ("--labels", "x.pick.db", "--budget", "6")
    raised = answer(words, "\n".join(labels[3:]) + "\n", *more)
    assert (raised["labels_used"], raised["labels_known"], raised["out"]) == (6, 3, "x-model-picker.pick.db")
    assert answer(words, "", *more)["labels_used"] == 6
    known = json.loads(
        run(
            "pick", "x.parquet", "--as", "stream", "--labels", "x.parquet", "--budget", "6", "--json", folder=words
        ).stdout
    )
    assert raised["standing"] == known["standing"]
    other = run("pick", "x.parquet", "--as", "stream", "--labels", "x.pick.db", "--out", "x.pick.db", folder=words)
    assert (other.returncode, "where the labels come from" in other.stderr) == (1, True)


def test_label_efficient_goes_on_with_the_probability_that_it_began_with(words: Path) -> None:
    more = ("--algorithm", "label-efficient", "--budget", "30")
    begun = answer(words, "cat\ncat\nq\n", *more)
    assert begun["options"]["probability"] > 0.1
    assert answer(words, "cat\nq\n", *more)["options"] == begun["options"]


def test_keys_never_mean_another_class_than_the_one_they_are_shown_with(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n207,0\n207,1\n999,999\n")
    done = run("pick", "x.csv", "--as", "stream", answers="1\nq\n", folder=tmp_path)
    assert "label:  0  207" in done.stderr
    assert labels_told(tmp_path) == [1]
    (tmp_path / "y.jsonl").write_text('{"a": "unsure", "b": "1"}\n' * 30 + '{"a": "s", "b": ":s"}\n')
    done = run(
        "pick", "y.jsonl", "--as", "stream", "--models", "a,b", answers="1\nunsure\n::s\nq\n", folder=tmp_path
    )
    assert "label:  2 1  3 :s  4 s  5 unsure" in done.stderr  # no key is 1, for that is a class
    assert "::s skip" in done.stderr
    assert labels_told(tmp_path, "y") == ["1", "unsure", None]


def test_names_that_begin_with_a_plus_and_odd_numbers(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"a": "+1", "b": "-1"}\n' * 4)
    run("pick", "x.jsonl", "--as", "stream", answers="+1\nq\n", folder=tmp_path)
    assert labels_told(tmp_path) == ["+1"]
    (tmp_path / "y.csv").write_text("a,b\n" + "3,4\n" * 6)
    run("pick", "y.csv", "--as", "stream", answers="+003\n+²\n+" + "9" * 5000 + "\n4\nq\n", folder=tmp_path)
    assert labels_told(tmp_path, "y") == [3, 4]
    again = run("pick", "y.csv", "--as", "stream", answers="q\n", folder=tmp_path)
    assert "Continuing with 2 labels from before." in again.stderr


def test_data_cannot_command_the_terminal(tmp_path: Path) -> None:
    rows = [{"text": "\x1b[2Jgone\x07", "m\x1b[1m": "x\x1b]0;t\x07", "b": "y"}] * 3
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("pick", "x.jsonl", answers="y\nq\n", folder=tmp_path)
    shown = run("collections", "show", "x.jsonl", folder=tmp_path)
    for text in (done.stderr, done.stdout, shown.stdout, shown.stderr):
        assert "\x1b" not in text
        assert "\x07" not in text
    assert "text: \\x1b[2Jgone\\x07" in done.stderr


def test_answers_may_be_any_bytes(words: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "pick", "x.parquet", "--as", "stream", "--ask"],
        input=b"\xff\xfe\n+\xff\n" + b"x" * 10**6 + b"\ncat\nq\n",
        capture_output=True,
        cwd=words,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0
    assert len(done.stderr) < 20_000


def test_items_without_fields_are_shown_by_their_rows(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\ncat,cat\ncat,dog\n")
    assert "  row: 2\n" in run("pick", "x.csv", "--as", "stream", *EVERY, answers="q\n", folder=tmp_path).stderr


def test_fields_of_any_kind_are_shown(tmp_path: Path) -> None:
    import datetime

    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = {"day": [datetime.date(2026, 1, 2)] * 2, "share": [float("nan"), 0.5], "raw": [b"\0\xff", None]}
    pq.write_table(pa.table({"a": ["cat", "dog"], "b": ["dog", "cat"], **fields}), tmp_path / "x.parquet")
    done = run(
        "pick",
        "x.parquet",
        "--as",
        "stream",
        "--fields",
        "day,share,raw",
        *EVERY,
        answers="cat\ncat\n",
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "day: 2026-01-02" in done.stderr


def old_journal(folder: Path, labels: list[str | None], **header: Any) -> None:
    """A result file as older versions wrote it while a person was asked, before it was finished."""
    first = {"format": "modelpicker pick 1", "labels": "asked", "models": ["a", "b", "c"], "items": 120, **header}
    lines = [first] + [
        {"round": n, "item": n, "query": True, "prediction": None, "label": label} for n, label in enumerate(labels)
    ]
    (folder / "x.pick.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"round": 9, "it')


@pytest.mark.parametrize("more", [(), ("--labels", "x.pick.jsonl")])
def test_answers_of_an_older_version_are_taken_over(words: Path, more: tuple[str, ...]) -> None:
    old_journal(words, ["cat", None, "dog", "cat", "emu", "cat"])
    before = (words / "x.pick.jsonl").read_bytes()
    done = run("pick", "x.parquet", "--as", "stream", "--ask", *more, "--json", answers="cat\nq\n", folder=words)
    assert "5 of 120 items have labels, which are used; you are asked for the others." in done.stderr
    told = json.loads(done.stdout)
    assert told["labels_used"] == told["labels_known"] + 1 > 2
    assert (words / "x.pick.jsonl").read_bytes() == before


def test_labels_that_were_known_and_are_gone_are_asked_for(words: Path) -> None:
    old_journal(words, ["cat", "dog", "dog", "cat", "emu", "cat"])
    first = answer(words, "cat\nq\n")
    (words / "x.pick.jsonl").unlink()
    done = run("pick", "x.parquet", "--as", "stream", "--json", answers="cat\nq\n", folder=words)
    assert "x.pick.jsonl is not there any more: labels that it had are asked for." in done.stderr
    assert json.loads(done.stdout)["labels_used"] == first["labels_used"] + 1
    said = run("label", "x", "--storage", "sqlite:///x.pick.db", answers="cat\nq\n", folder=words)
    assert (said.returncode, "item " in said.stderr) == (0, True)


@pytest.mark.parametrize("more", [("--text", "--classes", "0,1,2"), ("--classes", "0,1,2")])
def test_classes_that_are_numbers_may_be_meant_as_text(tmp_path: Path, more: tuple[str, ...]) -> None:
    (tmp_path / "x.csv").write_text("a,b\n0,1\n1,2\n")
    assert run("pick", "x.csv", "--as", "stream", *more, *EVERY, answers="2\nq\n", folder=tmp_path).returncode == 0
    assert labels_told(tmp_path) == ["2" if "--text" in more else 2]


def test_an_option_that_is_as_it_was_is_no_conflict(words: Path) -> None:
    race = ("--algorithm", "race", "--option", "tolerance=0.02", "--confidence", "0.9")
    answer(words, "cat\nq\n", *race)
    assert answer(words, "cat\nq\n", *race)["labels_used"] == 2
    assert answer(words, "cat\nq\n", "--stop-gap", "0.02", "--seed", "0")["labels_used"] == 3
    done = run("pick", "x.parquet", "--as", "stream", "--stop-gap", "0.03", folder=words)
    assert (done.returncode, "--stop-gap 0.02, here it is 0.03" in done.stderr) == (4, True)


def test_answers_of_an_older_version_about_another_file_are_not(words: Path) -> None:
    old_journal(words, ["cat"], items=7)
    done = run("pick", "x.parquet", "--as", "stream", "--ask", "--json", answers="cat\nq\n", folder=words)
    assert "x.pick.jsonl has answers of an earlier pick, which cannot be used: " in done.stderr
    assert json.loads(done.stdout)["labels_used"] == 1


def test_a_terminal_is_asked_about_columns_once(tmp_path: Path) -> None:
    from tests.cli.test_columns import at_terminal

    rows = "".join(f"What is {n}?,{'a,b' if n % 2 else 'b,a'}\n" for n in range(6))
    (tmp_path / "x.csv").write_text(f"question,bert,gpt\n{rows}")
    code, text = at_terminal(tmp_path, b"s\na\nq\n", "pick", "x.csv", *EVERY)
    assert (code, text.count("Is it a [m]odel")) == (0, 1)
    code, text = at_terminal(tmp_path, b"a\nq\n", "pick", "x.csv")
    assert (code, text.count("Is it a [m]odel")) == (0, 0)
    assert "question: What is " in text
    assert labels_told(tmp_path) == ["a", "a"]


def test_one_process_may_ask_about_a_collection_that_ships(tmp_path: Path) -> None:
    done = run_process(
        "pick", "digits", "--as", "stream", "--ask", "--budget", "3", "--json", answers="1\n2\n3\n", folder=tmp_path
    )
    told = json.loads(done.stdout)
    assert (told["labels_used"], told["stopped"], told["state"]["name"]) == (3, "budget", "budget-spent")
    assert (tmp_path / "digits.pick.db").exists()
