"""Items in and decisions out, labels in, campaigns to files and back: whatever comes through a pipe or a file."""

import json
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from tests.cli.campaigning import DIVIDED, begin, call, document, lines
from tests.cli.running import COMMAND, environment

PATIENCE = 60.0  # seconds, after which a pipe that says nothing is a failure


def ask(folder: Path, *entries: object) -> list[dict[str, Any]]:
    """The decisions about some lines."""
    done = call(folder, "ask", "tickets", typed=lines(*entries))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def records(folder: Path, name: str = "tickets") -> list[dict[str, Any]]:
    """The history of a campaign, as it is exported."""
    assert call(folder, "export", name, "history.jsonl", "--force").returncode == 0
    return [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()[1:]]


@contextmanager
def streaming(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A pipe through `ask`, which is open at both ends."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [*COMMAND, "ask", "tickets"],
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        cwd=folder,
        env=environment(),
        bufsize=0,
    )
    with process:
        yield process
        process.kill()


def exchange(process: subprocess.Popen[bytes], *entries: object) -> dict[str, Any]:
    """Send lines, and wait for the next decision."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(lines(*entries).encode())
    ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
    assert ready
    decision: dict[str, Any] = json.loads(process.stdout.readline())
    return decision


def test_a_slow_pipe_gets_each_decision_before_the_next_line_is_sent(tmp_path: Path) -> None:
    with streaming(begin(tmp_path)) as process:
        for number in range(3):
            decision = exchange(process, {**DIVIDED, "key": f"m{number}"})
            assert (decision["id"], decision["key"], decision["query"]) == (number, f"m{number}", True)
            assert document(tmp_path, "show", "tickets")["rounds"] == number + 1
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.close()
        assert process.stderr.read().startswith(b"3 new items, 3 labels waiting")
        assert process.wait(PATIENCE) == 0


def test_an_output_pipe_that_is_closed_early_ends_the_verb_in_peace(tmp_path: Path) -> None:
    with streaming(begin(tmp_path)) as process:
        exchange(process, DIVIDED)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(lines(DIVIDED).encode())
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 0
    assert document(tmp_path, "show", "tickets")["rounds"] == 2  # it was decided, though nobody heard of it


def test_the_same_input_piped_twice_creates_nothing_new(tmp_path: Path) -> None:
    begin(tmp_path)
    items = [{**DIVIDED, "key": "a"}, {**DIVIDED, "key": 17}, {**DIVIDED, "key": "a"}]
    first = ask(tmp_path, *items)
    assert [(entry["id"], entry["key"]) for entry in first] == [(0, "a"), (1, "17"), (0, "a")]
    assert ask(tmp_path, *items) == first
    again = document(tmp_path, "ask", "tickets", typed=lines(*items, {**DIVIDED, "key": "b"}))
    assert (again["new"], again["rounds"], again["decisions"][:3]) == (1, 3, first)


def test_flat_lines_nested_lines_and_lists_are_the_same_to_it(tmp_path: Path) -> None:
    begin(tmp_path)
    item = {"text": "hello", "score": 0.5}
    ask(
        tmp_path,
        {"predictions": DIVIDED, "item": item, "key": "k0"},
        {**DIVIDED, **item, "key": "k1", "label": "not to be seen by those who label"},
        {**DIVIDED, "item": item, "key": "k2"},
        {"predictions": ["spam", "ham"], "key": "k3"},
        ["spam", "ham"],
    )
    history = records(tmp_path)
    assert [entry["item"] for entry in history] == [item, item, item, None, None]
    assert [entry["key"] for entry in history] == ["k0", "k1", "k2", "k3", None]
    assert all(entry["predictions"] == ["spam", "ham"] for entry in history)


def test_models_by_number_are_named_by_their_digits(tmp_path: Path) -> None:
    begin(tmp_path, models="3")
    flat, nested = ask(tmp_path, {"0": 4, "1": 5, "2": 4}, {"predictions": {"2": 5, "1": 4, "0": 4}})
    assert flat["query"]
    assert nested["recommended"] in (0, 1, 2)
    assert [entry["predictions"] for entry in records(tmp_path)] == [[4, 5, 4], [4, 4, 5]]


def test_models_abstain_by_null_and_agree_if_all_do(tmp_path: Path) -> None:
    begin(tmp_path)
    one, both = ask(tmp_path, {"bert": None, "roberta": "ham"}, {"bert": None, "roberta": None})
    assert (one["query"], both["query"]) == (True, False)
    best = document(tmp_path, "tell", "tickets", "0", "ham")
    assert best["pick"] == "roberta"


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ("{oops", "line 3 is not JSON"),
        ("5", "line 3: 5 is neither an object nor a list"),
        ('"spam"', "line 3: 'spam' is neither an object nor a list"),
        ('["spam"]', "line 3: predictions: 1 predictions, but there are 2 models"),
        ('{"bert": "spam"}', "line 3: predictions: no prediction of roberta"),
        ('{"predictions": {"bert": "a", "roberta": "b", "gpt": "c"}}', "line 3: predictions: 'gpt' is not a model"),
        ('{"bert": 1, "roberta": "b"}', "line 3: predictions: 'b' is a string and 1 a whole number"),
        ('{"bert": 0.5, "roberta": 1}', "line 3: prediction of bert: 0.5 is not a whole number"),
        ('{"predictions": ["a", "b"], "item": "text"}', "line 3: item 'text': pass its fields by name"),
        ('{"bert": "a", "roberta": "b", "key": ""}', "line 3: key '' is empty"),
        pytest.param(
            "[" * 100_000,
            "line 3",
        ),
    ],
)
def test_lines_before_a_bad_one_are_decided_and_the_error_names_it(
    tmp_path: Path, bad: str, complaint: str
) -> None:
    begin(tmp_path)
    done = call(tmp_path, "ask", "tickets", typed=f"{lines(DIVIDED)}\n{bad}\n{lines(DIVIDED)}")
    assert done.returncode == 1
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [0]
    assert done.stderr.startswith(f"modelpicker: {complaint}")
    assert document(tmp_path, "show", "tickets")["rounds"] == 1


def test_lines_longer_than_one_read_are_put_together_and_counted(tmp_path: Path) -> None:
    begin(tmp_path)
    long = lines(*({**DIVIDED, "key": str(n), "text": str(n) * 400_000} for n in range(6)))
    done = call(tmp_path, "ask", "tickets", typed=long + "not JSON, and no end of the line")
    assert done.stderr.startswith("modelpicker: line 7 is not JSON")
    assert [json.loads(line)["key"] for line in done.stdout.splitlines()] == list("012345")


def test_no_input_is_no_error(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "empty.jsonl").touch()
    for arguments in ((), ("empty.jsonl",)):
        done = call(tmp_path, "ask", "tickets", *arguments)
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr.startswith("0 new items")


def test_files_that_are_not_there_are_not_found(tmp_path: Path) -> None:
    begin(tmp_path)
    for name in ("none.jsonl", "none.csv"):
        done = call(tmp_path, "ask", "tickets", name)
        assert done.returncode == 3
        assert name in done.stderr


def test_a_folder_is_no_file_of_lines(tmp_path: Path) -> None:
    (begin(tmp_path) / "folder.jsonl").mkdir()
    assert call(tmp_path, "ask", "tickets", "folder.jsonl").returncode == 1


def test_half_a_character_does_not_spoil_the_document(tmp_path: Path) -> None:
    begin(tmp_path)
    typed = '{"bert": "\\ud800", "roberta": "ham"}\n'
    assert len(document(tmp_path, "ask", "tickets", typed=typed)["decisions"]) == 1


def collection(folder: Path, name: str) -> None:
    """A file of four items with keys and texts, of which two are queries."""
    mp.ModelCollection(
        [["spam", "ham"], ["ham", "ham"], [None, "ham"], ["ham", "ham"]],
        models=["bert", "roberta"],
        fields={"key": ["a", "b", "c", "d"], "text": ["one", "two", "three", "four"]},
    ).save(folder / name)


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.npz"])
def test_files_of_predictions_are_asked_about(tmp_path: Path, name: str) -> None:
    collection(begin(tmp_path), name)
    decisions = document(tmp_path, "ask", "tickets", name, "--all-at-once")["decisions"]
    assert [entry["query"] for entry in decisions] == [True, False, True, False]
    assert [entry["predictions"] for entry in records(tmp_path)][2] == [None, "ham"]


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_keys_and_texts_of_a_table_come_with_its_items(tmp_path: Path, name: str) -> None:
    collection(begin(tmp_path), name)
    document(tmp_path, "ask", "tickets", name, "--all-at-once")
    assert [entry["key"] for entry in records(tmp_path)] == ["a", "b", "c", "d"]
    assert document(tmp_path, "ask", "tickets", name, "--all-at-once")["new"] == 0
    assert "text: one" in call(tmp_path, "label", "tickets", typed="q\n").stderr


def test_labels_come_as_lines_and_null_is_a_skip(tmp_path: Path) -> None:
    begin(tmp_path, *({**DIVIDED, "key": f"k{n}"} for n in range(3)))
    entries = [{"id": 0, "label": "ham"}, {"key": "k1", "label": None}, {"key": "k2", "label": "ham", "by": "x"}]
    told = document(tmp_path, "tell", "tickets", "--by", "ann", typed=lines(*entries))
    assert (told["told"], told["labels_used"], told["skipped"], told["pick"]) == (3, 2, 1, "roberta")
    assert {entry["by"] for entry in records(tmp_path) if entry["kind"] in ("label", "skip")} == {"ann"}
    again = document(tmp_path, "tell", "tickets", typed=lines(*entries))
    assert (again["labels_used"], again["skipped"]) == (2, 1)
    assert document(tmp_path, "tell", "tickets", typed="")["told"] == 0


@pytest.mark.parametrize(
    ("code", "bad", "complaint"),
    [
        (1, "{oops", "line 2 is not JSON"),
        (1, '{"id": 1}', "has no label"),
        (1, '{"label": "ham"}', 'neither "id" nor "key"'),
        (1, '{"id": true, "label": "ham"}', "line 2: id True"),
        (1, '{"id": 1, "label": 5}', "line 2: label of 1: 5 is a whole number"),
        (3, '{"id": 9, "label": "ham"}', "line 2: there is no round 9"),
        (3, '{"key": "none", "label": "ham"}', "line 2: nothing was asked with the key 'none'"),
        pytest.param(
            4,
            '{"id": 0, "label": "spam"}',
            "line 2: round 0 was labelled 'ham' before",
        ),
    ],
)
def test_labels_before_a_bad_line_are_told_and_the_error_names_it(
    tmp_path: Path, code: int, bad: str, complaint: str
) -> None:
    begin(tmp_path, DIVIDED, DIVIDED)
    typed = f"{lines({'id': 0, 'label': 'ham'})}{bad}\n{lines({'id': 1, 'label': 'ham'})}"
    done = call(tmp_path, "tell", "tickets", typed=typed)
    assert done.returncode == code
    assert complaint in done.stderr
    assert document(tmp_path, "best", "tickets")["labels_used"] == 1


def test_a_key_that_is_a_number_is_the_same_key_for_ask_and_tell(tmp_path: Path) -> None:
    begin(tmp_path, {**DIVIDED, "key": 1}, {**DIVIDED, "key": 0})
    assert call(tmp_path, "tell", "tickets", typed=lines({"key": 1, "label": "ham"})).returncode == 0
    assert [entry["id"] for entry in records(tmp_path) if entry["kind"] == "label"] == [0]
