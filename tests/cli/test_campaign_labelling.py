"""Answers: told by hand, and given in a session at the terminal, where each is on disk before the next question."""

import base64
import os
import re
import signal
import struct
import subprocess
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import modelpicker as mp
from tests.cli.campaigning import DIVIDED, EVERY, begin, call, document, lines, three_items
from tests.cli.running import start_session


@pytest.fixture
def tickets(tmp_path: Path) -> Path:
    return three_items(tmp_path)


def test_a_label_told_twice_counts_once(tickets: Path) -> None:
    for _ in range(2):
        told = document(tickets, "tell", "tickets", "k0", "spam")
        assert (told["labels_used"], told["pending"], told["pick"]) == (1, 1, "bert")
    again = call(tickets, "tell", "tickets", "0", "spam").stdout
    assert again.startswith("0 new labels. 1 label in all, 1 waiting;")
    reference = call(tickets, "tell", "tickets", "k2", "spam").stdout
    assert reference.startswith("0 new labels, 1 for reference only: not queried. 1 label in all")
    said = " ".join(call(tickets, "best", "tickets").stdout.split())
    assert "Waiting for labels: 1 item waits for a label. Label the items that wait." in said
    assert "judged by 2 of 3 items" in said  # one of two queries is answered: of 3 items, 1.5


def test_an_id_in_a_line_is_never_taken_for_a_key(tickets: Path) -> None:
    assert call(tickets, "tell", "tickets", typed=lines({"id": "1", "label": "ham"})).returncode == 0
    assert (
        "line 1: id 'k0' is not a number"
        in call(tickets, "tell", "tickets", typed=lines({"id": "k0", "label": "ham"})).stderr
    )
    assert document(tickets, "best", "tickets")["labels_used"] == 1


def test_what_somebody_else_is_labelling_is_not_called_the_end(tickets: Path) -> None:
    mp.open_campaign(f"sqlite:///{tickets}/modelpicker.db", "tickets").pending(2, lease=600, annotator="else")
    assert "2 more items wait, but somebody else is labelling them" in call(tickets, "label", "tickets").stderr


def test_another_answer_is_a_conflict_unless_it_replaces_the_first(tickets: Path) -> None:
    document(tickets, "tell", "tickets", "k0", "spam")
    for verb in (("tell", "tickets", "k0", "ham"), ("skip", "tickets", "k0")):
        done = call(tickets, *verb)
        assert done.returncode == 4
        assert "round 0 was labelled 'spam' before" in done.stderr
    assert document(tickets, "tell", "tickets", "k0", "ham", "--replace")["pick"] == "roberta"
    assert document(tickets, "skip", "tickets", "k0", "--replace")["skipped"] == 1
    assert document(tickets, "retract", "tickets", "k0")["pending"] == 2


def test_a_conflict_names_the_option_that_resolves_it(tickets: Path) -> None:
    call(tickets, "tell", "tickets", "k0", "spam")
    assert "--replace" in call(tickets, "tell", "tickets", "k0", "ham").stderr


def test_a_key_that_looks_like_a_number_is_told_as_a_key(tickets: Path) -> None:
    assert document(tickets, "tell", "tickets", "17", "ham")["labels_used"] == 1
    assert document(tickets, "tell", "tickets", "17", "ham", "--key")["labels_used"] == 1
    assert document(tickets, "retract", "tickets", "17", "--key")["retracted"] == "17"
    assert document(tickets, "skip", "tickets", "17", "--key")["skipped"] == 1


def test_labels_of_rounds_that_were_not_queried_touch_no_estimate(tickets: Path) -> None:
    told = document(tickets, "tell", "tickets", "k2", "spam")
    assert (told["references"], told["labels_used"], told["pick"]) == (1, 0, None)
    assert call(tickets, "tell", "tickets", "k2", "ham").returncode == 4
    assert document(tickets, "tell", "tickets", "k2", "ham", "--replace")["references"] == 1
    assert document(tickets, "retract", "tickets", "k2")["references"] == 0


def test_classes_that_are_numbers_are_told_as_numbers(tmp_path: Path) -> None:
    begin(tmp_path, [3, 4], [3, None], models="2")
    assert document(tmp_path, "tell", "tickets", "0", "4")["pick"] == 1
    assert document(tmp_path, "tell", "tickets", "1", "7")["labels_used"] == 2  # nobody predicted it
    done = call(tmp_path, "tell", "tickets", "1", "spam", "--replace")
    assert done.returncode == 1
    assert "'spam' is a string, but the models' classes are whole numbers" in done.stderr


def test_classes_are_whatever_is_said_unless_they_are_given(tmp_path: Path) -> None:
    begin(tmp_path, DIVIDED)
    assert document(tmp_path, "tell", "tickets", "0", "a class nobody predicted")["labels_used"] == 1
    call(tmp_path, "create", "closed", "--models", "bert,roberta", "--classes", "spam, ham", *EVERY)
    call(tmp_path, "ask", "closed", typed=lines(DIVIDED))
    done = call(tmp_path, "tell", "closed", "0", "eggs")
    assert done.returncode == 1
    assert "'eggs' is not one of the classes, ['spam', 'ham']" in done.stderr


def three(folder: Path, *more: str) -> Path:
    """A campaign with three queries."""
    return begin(folder, *({**DIVIDED, "text": f"message {n}"} for n in range(3)), more=more)


def label(folder: Path, *typed: str) -> subprocess.CompletedProcess[str]:
    """A session in which this is typed, up to the end of the input."""
    done = call(folder, "label", "tickets", typed="".join(f"{line}\n" for line in typed))
    assert done.returncode == 0, done.stderr
    return done


def shown(done: subprocess.CompletedProcess[str]) -> list[int]:
    """The items that were asked about, in order."""
    return [int(number) for number in re.findall(r"text: message (\d)", done.stderr)]


@contextmanager
def session(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A session that waits for its first answer, and can be interrupted."""
    with start_session(folder, "label", "tickets", *arguments) as process:
        listen(process)
        yield process
        process.kill()


def listen(process: subprocess.Popen[bytes], *typed: str) -> str:
    """Type something, and read up to the next question, or the end."""
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write("".join(f"{line}\n" for line in typed).encode())
    said = b""
    while not said.endswith(b"> ") and (more := os.read(process.stderr.fileno(), 65536)):
        said += more
    return said.decode()


def test_a_session_takes_keys_and_names_and_shows_the_standing_after_each_answer(tmp_path: Path) -> None:
    done = label(three(tmp_path), "1", "SPAM", "ham")
    assert shown(done) == [0, 1, 2]
    assert "tickets · 3 waiting · 0 labels · no label yet" in done.stderr
    assert "label:  1 ham  2 spam" in done.stderr
    assert "roberta leads · bert 33.3% behind" in done.stderr
    assert "That was the last item that waited." in done.stderr
    assert "Pick: roberta" in done.stdout
    assert "3 items seen; labels: 3 bought, 0 waiting, 0 skipped." in done.stdout


def test_a_session_can_be_read_by_programs(tmp_path: Path) -> None:
    result = document(three(tmp_path), "label", "tickets", "--by", "ann", typed="ham\ns\nq\n")
    assert (result["labelled"], result["skipped_now"], result["pending"]) == (1, 1, 1)


def test_the_end_of_the_input_quits_and_the_next_session_goes_on(tmp_path: Path) -> None:
    assert shown(label(three(tmp_path), "ham")) == [0, 1]
    assert shown(label(tmp_path, "ham", "q")) == [1, 2]
    assert shown(label(tmp_path, "s")) == [2]
    nothing = label(tmp_path)
    assert "Nothing waits to be labelled." in nothing.stderr
    assert "0 waiting, 1 skipped" in nothing.stdout


def test_undo_goes_back_answer_by_answer(tmp_path: Path) -> None:
    done = label(three(tmp_path), "ham", "s", "u", "u", "spam", "spam", "spam")
    assert shown(done) == [0, 1, 2, 1, 0, 1, 2]
    best = document(tmp_path, "best", "tickets")
    assert (best["pick"], best["labels_used"], best["skipped"]) == ("bert", 3, 0)


def test_undo_says_what_it_undid(tmp_path: Path) -> None:
    done = label(three(tmp_path), "ham", "s", "u", "u", "q")
    assert "Took back the skip for item 2: message 1\n" in done.stderr
    assert "Took back 'ham' for item 1: message 0\n" in done.stderr


def test_what_was_undone_cannot_command_the_terminal_and_stays_in_one_line(tmp_path: Path) -> None:
    begin(tmp_path, *({**DIVIDED, "text": f"\x1b[2J{'long ' * 40}"} for _ in range(2)))
    done = label(tmp_path, "ham", "u", "q")
    said = next(line for line in done.stderr.splitlines() if "Took back" in line)
    assert "\x1b" not in said
    assert len(said) < 120


def test_a_key_says_whether_one_may_stop(tmp_path: Path) -> None:
    done = label(three(tmp_path), "m", "ham", "m", "q")
    assert shown(done) == [0, 0, 1, 1]
    said = " ".join(done.stderr.split())
    no_label = "No label is known yet, so nothing is known about the models. 0 labels: no label yet."
    assert f"May I stop? Not yet. {no_label}" in said
    assert "May I stop? You decide: no goal was set. Waiting for labels: 2 items wait for a label." in said
    assert "If you stop now, the pick is roberta." in said
    assert "1 label: roberta leads · bert 100.0% behind" in said


def test_with_a_goal_the_key_says_yes_once_it_is_reached(tmp_path: Path) -> None:
    goal = ("--stop-gap", "0.3", "--confidence", "0.5")
    begin(tmp_path, *({**DIVIDED, "text": f"message {n % 10}"} for n in range(60)), more=goal)
    done = label(tmp_path, "ham", "m", *["ham"] * 40, "m", "q")
    said = " ".join(done.stderr.split())
    assert "May I stop? Not yet: the goal is not reached." in said
    best = document(tmp_path, "best", "tickets")
    assert best["certified"]
    assert f"May I stop? Yes. {best['state']['reason']}" in said


def test_where_a_class_has_the_letter_of_a_command_the_class_wins(tmp_path: Path) -> None:
    begin(tmp_path, {"bert": "m", "roberta": "f"}, {"bert": "m", "roberta": "f"})
    done = label(tmp_path, ":m", "m", "q")
    assert ":m may I stop" in done.stderr
    assert "May I stop?" in done.stderr
    assert document(tmp_path, "best", "tickets")["pick"] == "bert"


def test_undo_at_the_start_says_that_there_is_nothing(tmp_path: Path) -> None:
    three(tmp_path)
    call(tmp_path, "tell", "tickets", "0", "ham")
    done = label(tmp_path, "u", "q")
    assert "There is nothing to undo." in done.stderr
    assert shown(done) == [1, 1]
    assert document(tmp_path, "best", "tickets")["labels_used"] == 1


def test_strange_answers_are_asked_again_and_help_lists_what_can_be_typed(tmp_path: Path) -> None:
    done = label(three(tmp_path), "cow", "", "?", "q")
    assert "'cow' is not a class and no key" in done.stderr
    assert "classes: 1 ham, 2 spam" in done.stderr
    assert shown(done) == [0]


def test_a_new_class_must_be_meant_and_stays(tmp_path: Path) -> None:
    done = label(three(tmp_path), "+cow", "cow", "3")
    assert "label:  1 ham  2 spam  3 cow" in done.stderr
    best = document(tmp_path, "best", "tickets")
    assert [entry["estimate"] for entry in best["standing"]] == [3.0, 3.0]  # all models were wrong
    assert best["labels_used"] == 3


def test_an_answer_matches_a_class_whatever_its_case_and_the_space_around_it(tmp_path: Path) -> None:
    label(three(tmp_path), "  SPAM ", "+Spam", "+ ham")
    history = mp.open_campaign(f"sqlite:///{tmp_path}/modelpicker.db", "tickets").history()
    told = [record["label"] for record in history if record["kind"] == "label"]
    assert told == ["spam", "spam", "ham"]


def test_classes_of_items_that_come_later_can_be_typed_from_the_start(tmp_path: Path) -> None:
    folder = begin(tmp_path, {"bert": "cat", "roberta": "dog"}, {"bert": "owl", "roberta": "dog"})
    done = label(folder, "owl", "q")
    assert "label:  1 cat  2 dog  3 owl" in done.stderr
    assert document(tmp_path, "best", "tickets")["labels_used"] == 1


def test_a_class_that_was_not_declared_is_not_taken(tmp_path: Path) -> None:
    done = label(three(tmp_path, "--classes", "spam,ham"), "+cow", "ham", "q")
    assert "'+cow' is not a class and no key. ? lists the classes." in done.stderr
    assert shown(done) == [0, 1]
    assert document(tmp_path, "best", "tickets")["labels_used"] == 1


def test_a_class_that_was_not_taken_is_not_offered(tmp_path: Path) -> None:
    assert "3 cow" not in label(three(tmp_path, "--classes", "spam,ham"), "+cow", "ham", "q").stderr


def test_classes_that_are_numbers_are_typed_as_numbers(tmp_path: Path) -> None:
    begin(tmp_path, [3, 14], [14, 3], [3, None], models="2")
    done = label(tmp_path, "14", "+7", "3")
    assert "label:  3  14" in done.stderr
    assert document(tmp_path, "best", "tickets")["labels_used"] == 3


def test_items_whose_classes_are_of_another_kind_can_be_labelled(tmp_path: Path) -> None:
    begin(tmp_path, [1, 2])
    assert call(tmp_path, "ask", "tickets", typed=lines(["spam", "ham"])).returncode == 0
    label(tmp_path, "1", "spam")
    best = document(tmp_path, "best", "tickets")
    assert best["labels_used"] == 2
    assert [entry["estimate"] for entry in best["standing"]] == [0.0, 2.0]  # the first model was right twice


def picture() -> str:
    """A grey picture of one pixel: as much of a PNG file as is looked at."""
    pixels = zlib.compress(b"\0\x80")
    head = struct.pack(">8sI4sIIBBBBBI", b"\x89PNG\r\n\x1a\n", 13, b"IHDR", 1, 1, 8, 0, 0, 0, 0, 0)
    content = head + struct.pack(">I", len(pixels)) + b"IDAT" + pixels
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


@pytest.mark.parametrize(
    "item",
    [
        {"text": "\x1b[2Jgone\x07"},
        {"\x1b[2Jname": "value"},
        pytest.param(
            {"\x1b[2Jname": picture()},
        ),
    ],
)
def test_items_and_names_cannot_command_the_terminal(tmp_path: Path, item: dict[str, str]) -> None:
    begin(tmp_path, {"predictions": ["x\x1b]0;t\x07", "y"], "item": item, "key": "\x1b"}, models="a\x1b[1m,b")
    done = label(tmp_path, "?", "y")
    others = [call(tmp_path, *verb, "tickets") for verb in (("best",), ("show",), ("leave",), ("verify",))]
    told = call(tmp_path, "tell", "tickets", "\x1b", "\x1b[1m", "--replace")
    for text in (text for one in (done, told, *others) for text in (one.stdout, one.stderr)):
        assert "\x1b" not in text
        assert "\x07" not in text
    assert "\\x1b[2J" in done.stderr
    assert "a\\x1b[1m" in done.stdout


def test_two_sessions_are_not_given_the_same_item(tmp_path: Path) -> None:
    with session(three(tmp_path), "--by", "ann") as process:
        assert shown(label(tmp_path, "q")) == [1]
        assert "1 label" in listen(process, "ham")
        assert shown(label(tmp_path, "q")) == [2]


def test_the_item_that_undo_goes_back_to_is_not_given_to_others(tmp_path: Path) -> None:
    with session(three(tmp_path), "--by", "ann") as process:
        listen(process, "ham")
        listen(process, "u")
        assert shown(label(tmp_path, "q")) == [1]


def test_undo_of_an_answer_that_somebody_took_back_does_not_end_the_session(tmp_path: Path) -> None:
    with session(three(tmp_path)) as process:
        listen(process, "ham")
        call(tmp_path, "retract", "tickets", "0")
        assert listen(process, "u").endswith("> ")


@pytest.mark.slow
def test_of_two_answers_after_a_lease_has_expired_the_first_counts(tmp_path: Path) -> None:
    with session(three(tmp_path), "--lease", "1") as process:
        time.sleep(1.1)
        assert shown(label(tmp_path, "spam", "q")) == [0, 1]
        said = listen(process, "ham")
        assert "Not taken: round 0 was labelled 'spam' before" in said
        assert "text: message 1" in said
        time.sleep(1.1)
        assert "Not taken" not in listen(process, "ham")  # late, but nobody else gave one
    assert document(tmp_path, "best", "tickets")["labels_used"] == 2


def test_a_session_can_wait_for_more(tmp_path: Path) -> None:
    with session(begin(tmp_path, {**DIVIDED, "text": "message 0"}), "--wait") as process:
        assert process.stdin is not None
        process.stdin.write(b"ham\n")
        call(tmp_path, "ask", "tickets", typed=lines({**DIVIDED, "text": "message 1"}))
        assert "text: message 1" in listen(process)


def test_an_interrupt_saves_every_answer_and_gives_the_item_back(tmp_path: Path) -> None:
    with session(three(tmp_path)) as process:
        listen(process, "ham")
        process.send_signal(signal.SIGINT)
        said = listen(process)
        assert process.wait(60) == 130
    assert "Stopped. Every answer is saved." in said
    assert "Traceback" not in said
    assert shown(label(tmp_path, "q")) == [1]
