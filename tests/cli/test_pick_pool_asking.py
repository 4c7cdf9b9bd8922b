"""`modelpicker pick` on a pool where a person is asked: a journal of answers, from which nothing is ever lost."""

import json
import os
import pty
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from tests.cli.running import COMMAND, environment, listen_for, run, start_session

JOURNAL = "x.pool.jsonl"
ASK = ("pick", "x.parquet", "--ask")


def answer(folder: Path, answers: str, *more: str) -> dict[str, Any]:
    """What a session at the terminal comes to."""
    done = run(*ASK, "--json", *more, answers=answers, folder=folder)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def truths(folder: Path) -> list[str]:
    """The labels that are asked for, in order, as a person would type them."""
    collection = mp.load_collection(folder / "x.parquet")
    trace = mp.run_pool(mp.PoolPicker(collection))
    return [str(collection.classes[code]) for code in np.asarray(collection.labels)[trace.items]]


def lines(folder: Path, name: str = JOURNAL) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def labels(folder: Path) -> list[Any]:
    return [line["label"] for line in lines(folder)[1:]]


def typed(names: list[str], *more: str) -> str:
    return "".join(f"{name}\n" for name in (*names, *more))


def test_a_person_is_asked_where_there_are_no_labels(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("text,a,b\nhello,spam,ham\nworld,ham,ham\nagain,spam,ham\n")
    done = run("pick", "x.csv", answers="spam\nspam\n", folder=tmp_path)
    assert done.returncode == 0
    assert " of 3 · 0 labels · no label yet" in done.stderr
    assert "text: world" not in done.stderr  # all models agree
    assert "1 ham  2 spam" in done.stderr
    assert labels(tmp_path) == ["spam"]  # one model is ahead by then, and one item cannot change that
    assert "Pick: a" in done.stdout
    assert "(certain)." in done.stdout
    assert f"Your answers are in {JOURNAL}." in done.stdout


def test_a_whole_session_ends_with_the_pick_of_the_library(words: Path) -> None:
    found = mp.pick(words / "x.parquet")
    told = answer(words, typed(truths(words)))
    assert (told["pick"], told["labels_used"], told["stopped"]) == (found.model, found.labels_used, "certified")
    assert told["certificate"] == json.loads(json.dumps(found.certificate.document()))
    said = run(*ASK, folder=words)  # nothing is left to ask
    assert " ".join(found.certificate.sentence.split()) in " ".join(said.stdout.split())
    assert "> " not in said.stderr


def test_the_journal_says_what_was_asked_and_when(words: Path) -> None:
    answer(words, "cat\ns\nq\n", "--by", "ann")
    header, first, second = lines(words)
    collection = mp.load_collection(words / "x.parquet")
    pool = mp.PoolPicker(collection)
    assert header["models"] == ["a", "b", "c"]
    assert (header["seed"], header["confidence"], header["tolerance"], header["budget"]) == (0, 0.95, 0.01, None)
    assert [first["item"]] == pool.ask(1)
    assert (first["id"], first["label"], first["by"]) == (f"item-{first['item']}", "cat", "ann")
    assert first["time"] <= second["time"]
    assert second["label"] is None


def test_quit_and_resume_give_the_same_pick_as_one_sitting(words: Path) -> None:
    names = truths(words)
    first = answer(words, typed(names[:5], "q"))
    assert (first["labels_used"], first["stopped"], first["state"]["name"]) == (5, "quit", "running")
    second = answer(words, typed(names[5:9]))  # the input ends: as if the terminal was closed
    assert second["labels_used"] == 9
    last = answer(words, typed(names[9:]))
    assert last["standing"] == document_of(words)["standing"]
    assert answer(words, "")["standing"] == last["standing"]


def document_of(folder: Path) -> dict[str, Any]:
    """What the same labels give when they are looked up."""
    told: dict[str, Any] = json.loads(
        run("pick", "x.parquet", "--labels", "x.parquet", "--json", folder=folder).stdout
    )
    return told


def test_undo_goes_back_to_the_answer_before_even_after_a_resume(words: Path) -> None:
    names = truths(words)
    wrong = ["emu" if name == "cat" else "cat" for name in names]
    answer(words, typed([names[0], wrong[1], "s", "u", "u", names[1], names[2], wrong[3]], "q"))
    assert answer(words, typed(["u", names[3]], "q"))["labels_used"] == 4
    assert labels(words) == names[:4]
    assert answer(words, typed(names[4:]))["standing"] == document_of(words)["standing"]


def test_undo_says_what_it_undid_and_a_key_whether_one_may_stop(words: Path) -> None:
    done = run(*ASK, answers="m\ncat\nm\ns\nu\nu\nu\nq\n", folder=words)
    pool = mp.PoolPicker(mp.load_collection(words / "x.parquet"))
    first = pool.ask(1)[0]
    pool.tell(first, "cat")
    second = pool.ask(1)[0]
    assert f"Took back the skip for item {second + 1}: item-{second}\n" in done.stderr
    assert f"Took back 'cat' for item {first + 1}: item-{first}\n" in done.stderr
    assert "There is nothing to undo." in done.stderr
    said = " ".join(done.stderr.split())
    assert "May I stop? Not yet. No label is known" in said
    assert "May I stop? Not yet: the goal is not reached. Running: 1 label is known so far." in said


def test_labels_to_go_are_said_with_progress_by_the_key_and_with_a_spent_budget(words: Path) -> None:
    names = truths(words)[:11]
    done = run(*ASK, "--budget", "11", answers=typed([*names[:10], "m", names[10]]), folder=words)
    pool = mp.PoolPicker(mp.load_collection(words / "x.parquet"))
    for name in names[:10]:
        pool.tell(pool.ask(1)[0], name)
    found = pool.labels_to_go()
    assert found is not None
    assert f"10 of 11 labels, {found.words} · " in done.stderr
    assert f"Not proven yet: {found.words}." in " ".join(done.stderr.split())
    pool.tell(pool.ask(1)[0], names[10])
    said = " ".join(done.stdout.split())
    assert "Budget spent: All 11 labels of the budget are bought." in said
    assert "more labels would probably" in said
    assert "(a budget of " in said


def test_a_person_at_a_real_terminal_reads_it_line_by_line(words: Path) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *ASK], stdin=follower, stdout=follower, stderr=follower, cwd=words, env=environment(TERM="xterm")
    )
    os.close(follower)
    said = b""
    for line in (b"cat\n", b"m\n", b"u\n", b"q\n", b""):
        begin = len(said)
        with suppress(OSError):  # the end, on Linux
            while not said[begin:].rstrip(b"\x1b[?25hKG0123456789;lm\r").endswith(b"\n> ") and (
                more := os.read(leader, 2**16)
            ):
                said += more
        if line:
            os.write(leader, line)
    assert process.wait(60) == 0
    os.close(leader)
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said.decode()).replace("\r", "")
    assert "May I stop? Not yet: the goal is not reached." in text
    assert "Took back 'cat' for item" in text
    assert "No label is known yet" in text
    assert max(len(line) for line in text.splitlines()) < 100


def test_undo_at_the_start_says_that_there_is_nothing(words: Path) -> None:
    done = run(*ASK, answers="u\nq\n", folder=words)
    assert "There is nothing to undo." in done.stderr
    assert "No label is known yet" in done.stdout


def test_new_classes_must_be_meant_and_can_be_typed_after_a_resume(words: Path) -> None:
    done = run(*ASK, answers="cow\n+cow\nCOW\nq\n", folder=words)
    assert "'cow' is not a class and no key" in done.stderr
    assert labels(words) == ["cow", "cow"]
    assert answer(words, "cow\nq\n")["labels_used"] == 3


def test_where_the_classes_are_given_no_other_is_taken(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\ncat,dog\ndog,cat\n")
    for answers in ("+cow\nowl\nq\n", "+cow\nq\n"):
        done = run("pick", "x.csv", "--classes", "cat,dog,owl", answers=answers, folder=tmp_path)
        assert "'+cow' is not a class and no key." in done.stderr
    assert labels(tmp_path) == ["owl"]


def test_a_budget_ends_the_session_and_may_be_raised(words: Path) -> None:
    names = truths(words)
    told = answer(words, typed(names), "--budget", "3")
    assert (told["labels_used"], told["stopped"], told["state"]["name"]) == (3, "budget", "budget-spent")
    assert answer(words, typed(names[3:]))["labels_used"] == 3
    assert answer(words, typed(names[3:]), "--budget", "5")["labels_used"] == 5


def test_labels_that_are_known_are_a_head_start_and_cost_no_budget(words: Path) -> None:
    (words / "few.csv").write_text("id,label\nitem-1,cat\nitem-2,dog\nitem-3,emu\n")
    told = answer(words, "cat\ndog\nemu\n", "--labels", "few.csv", "--budget", "2")
    assert (told["labels_known"], told["labels_used"], told["stopped"]) == (3, 5, "budget")
    again = answer(words, "u\n", "--labels", "few.csv", "--budget", "4")
    assert (again["labels_known"], again["labels_used"]) == (3, 4)


def test_other_settings_are_a_conflict_that_says_how_to_begin_again_with_the_answers(words: Path) -> None:
    answer(words, "cat\ndog\nq\n")
    before = (words / JOURNAL).read_bytes()
    for option in ("--seed", "--confidence", "--tolerance"):
        done = run(
            *ASK, option, "0" if option == "--tolerance" else "7" if option == "--seed" else "0.9", folder=words
        )
        assert done.returncode == 4
        assert f"Leave {option} out to continue." in done.stderr
        assert f"add --labels {JOURNAL} --out x-2.pool.jsonl." in done.stderr
    assert (words / JOURNAL).read_bytes() == before
    told = answer(words, "q\n", "--seed", "7", "--labels", JOURNAL, "--out", "x-2.pool.jsonl")
    assert (told["labels_known"], told["seed"]) == (2, 7)


def test_a_journal_of_another_file_is_a_conflict(words: Path) -> None:
    answer(words, "cat\nq\n")
    whole = mp.load_collection(words / "x.parquet")
    whole.take(range(119)).save(words / "x.parquet")
    done = run(*ASK, answers="q\n", folder=words)
    assert done.returncode == 4
    assert f"{JOURNAL} belongs to another pick: x.parquet has other items or other predictions" in done.stderr
    assert f"remove {JOURNAL} if its answers are not needed" in done.stderr
    assert len(lines(words)) == 2


def test_a_file_that_is_no_journal_is_left_alone(words: Path) -> None:
    (words / JOURNAL).write_text("my notes\n")
    done = run(*ASK, answers="cat\nq\n", folder=words)
    assert (done.returncode, "has no answers about a pool" in done.stderr) == (4, True)
    assert (words / JOURNAL).read_text() == "my notes\n"
    stream = run(*ASK, "--out", "y.db", answers="cat\nq\n", folder=words)
    assert (stream.returncode, "--as stream" in stream.stderr) == (1, True)


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_torn_last_line_is_dropped_with_a_remark(words: Path, cut: int) -> None:
    names = truths(words)
    answer(words, typed(names[:4], "q"))
    whole = (words / JOURNAL).read_bytes()
    (words / JOURNAL).write_bytes(whole[:-cut])
    done = run(*ASK, "--json", answers=typed(names[3:]), folder=words)
    assert f"{JOURNAL}: the last line was incomplete, as after a crash. It was dropped." in done.stderr
    assert json.loads(done.stdout)["standing"] == document_of(words)["standing"]
    assert labels(words) == names


@pytest.mark.parametrize("kept", [0, 10, 60])
def test_a_journal_that_was_torn_in_its_first_line_is_begun_again(words: Path, kept: int) -> None:
    answer(words, "q\n")
    (words / JOURNAL).write_bytes((words / JOURNAL).read_bytes()[:kept])
    assert answer(words, "cat\nq\n")["labels_used"] == 1
    assert answer(words, "q\n")["labels_used"] == 1


def test_a_line_that_is_damaged_in_the_middle_is_an_error_that_names_it(words: Path) -> None:
    answer(words, "cat\ndog\nq\n")
    first, _, last = (words / JOURNAL).read_bytes().splitlines(keepends=True)
    for damage in (b"{nonsense\n", b'{"item": "4", "label": "cat"}\n', b'{"item": 4, "label": [1]}\n', b"[]\n"):
        (words / JOURNAL).write_bytes(first + damage + last)
        done = run(*ASK, answers="q\n", folder=words)
        assert (done.returncode, f"{JOURNAL}, line 2: " in done.stderr) == (1, True)
        assert (words / JOURNAL).read_bytes() == first + damage + last


def test_answers_to_other_questions_are_an_error(words: Path) -> None:
    answer(words, "cat\ndog\nq\n")
    first, one, other = (words / JOURNAL).read_bytes().splitlines(keepends=True)
    (words / JOURNAL).write_bytes(first + other + one)
    done = run(*ASK, answers="q\n", folder=words)
    assert (done.returncode, "but now another one would be" in done.stderr) == (4, True)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_session_that_is_killed_has_lost_nothing_and_two_terminals_keep_apart(
    words: Path, how: signal.Signals
) -> None:
    names = truths(words)
    with start_session(words, *ASK) as process:
        listen_for(process, "2 labels", typed(names[:2]))
        second = run(*ASK, answers="cat\n", folder=words)
        assert (second.returncode, f"{JOURNAL} is in use" in second.stderr) == (4, True)
        process.send_signal(how)
        process.wait()
    assert process.returncode == (-signal.SIGKILL if how == signal.SIGKILL else 130)
    assert labels(words) == names[:2]
    assert answer(words, typed(names[2:]))["standing"] == document_of(words)["standing"]


def test_a_disk_that_is_full_is_one_sentence_and_keeps_all_earlier_answers(words: Path) -> None:
    answer(words, "cat\ndog\nq\n")
    before = (words / JOURNAL).read_bytes()
    room = -(-len(before) // 1024)  # KiB: the journal fits, many answers more do not
    verb = f"{' '.join(COMMAND)} {' '.join(ASK)}"
    limited = f"export PYTHONDONTWRITEBYTECODE=1; trap '' XFSZ; ulimit -f {room}; exec {verb}"
    done = subprocess.run(
        ["bash", "-c", limited],
        capture_output=True,
        text=True,
        cwd=words,
        env=environment(),
        check=False,
        input="cat\n" * 60,
    )
    assert done.returncode == 1
    assert f"{JOURNAL} cannot be written: File too large. All earlier answers are saved" in done.stderr
    assert "Traceback" not in done.stderr
    after = (words / JOURNAL).read_bytes()
    assert after.startswith(before)
    assert after.endswith(b"\n")
    assert answer(words, "q\n")["labels_used"] == len(after.splitlines()) - 1


def test_a_folder_that_is_not_there_is_one_sentence(words: Path) -> None:
    done = run(*ASK, "--out", "nowhere/x.pool.jsonl", answers="cat\n", folder=words)
    assert done.returncode == 1
    assert "nowhere/x.pool.jsonl cannot be written: No such file or directory." in done.stderr
    (words / "folder.jsonl").mkdir()
    assert run(*ASK, "--out", "folder.jsonl", answers="cat\n", folder=words).returncode == 4


def test_a_file_is_read_again_as_it_was_when_it_was_begun(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,c\n" + "cat,dog,7\ndog,cat,7\n" * 3)
    run("pick", "x.csv", "--models", "a,b", "--ignore", "c", answers="cat\nq\n", folder=tmp_path)
    done = run("pick", "x.csv", "--json", answers="q\n", folder=tmp_path)
    assert json.loads(done.stdout)["labels_used"] == 1
