"""Columns in doubt on the command line: an error where nobody can be asked, a question at a terminal."""

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import COMMAND, environment, run

ROWS = [
    f"{number},What is {number}?,{'a,b' if number < 9 else 'b,a'},0.{number}1,{'ab'[number % 2]}"
    for number in range(1, 17)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "x.csv").write_text("\n".join(["id,question,bert,gpt,confidence,label", *ROWS]))
    return tmp_path


VERBS: dict[str, tuple[str, ...]] = {
    "pick": ("pick", "x.csv"),
    "show": ("collections", "show", "x.csv"),
    "convert": ("collections", "convert", "x.csv", "y.parquet"),
    "bounds": ("bounds", "x.csv", "--realizations", "0"),
    "compare": (
        "compare",
        "x.csv",
        "--methods",
        "label-efficient",
        "--budgets",
        "2",
        "--realizations",
        "1",
        "--no-figures",
    ),
}
DECIDED = ("--fields", "question", "--ignore", "confidence")


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS.keys())
def test_every_verb_names_the_column_and_the_option_and_takes_it(folder: Path, verb: tuple[str, ...]) -> None:
    refused = run(*verb, folder=folder)
    assert refused.returncode == 1
    assert 'x.csv, column "question": The name suggests that it is not a model.' in refused.stderr
    assert 'Column "confidence": It holds numbers that are not whole' in refused.stderr
    assert " ".join(DECIDED) in refused.stderr
    assert run(*verb, *DECIDED, folder=folder).returncode == 0
    (folder / "y.parquet").unlink(missing_ok=True)
    assert run(*verb, "--models", "bert,gpt", folder=folder).returncode == 0


def at_terminal(folder: Path, typed: bytes, *arguments: str) -> tuple[int, str]:
    """Run a verb at a terminal, with answers typed at it."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        cwd=folder,
        env=environment(TERM="xterm-256color"),
    )
    os.close(follower)
    os.write(leader, typed)
    output = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        output += chunk
    os.close(leader)
    return process.wait(), re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", output.decode())


def test_at_a_terminal_each_column_is_asked_about_and_the_options_are_told(folder: Path) -> None:
    code, text = at_terminal(folder, b"what\n\nl\n", "collections", "show", "x.csv")
    assert code == 0
    assert 'Column "question": The name suggests that it is not a model.' in text
    assert "first values: What is 1? | What is 2? | What is 3?" in text
    assert text.count("Is it a [m]odel") == 3  # one answer was none
    assert "To choose the same next time: --fields question --ignore confidence" in text
    assert "2 models" in text


def test_a_column_that_is_confirmed_as_a_model_is_told_with_all_models(folder: Path) -> None:
    code, text = at_terminal(folder, b"m\nl\n", "collections", "show", "x.csv")
    assert code == 0
    assert "--ignore confidence --models question,bert,gpt" in text


@pytest.mark.parametrize(
    ("typed", "options"),
    [
        (
            ("label", "left out", "shown", "model"),
            "--fields target --ignore truth --label gold --models bert,gpt,oracle",
        ),
        (("La", "left", "id"), "--ignore truth --id target --label gold"),
        (("b", "l"), "--ignore truth --label gold"),
        (("lost\nmole\n?\nlabel",), "--label gold"),
    ],
)
def test_a_role_is_typed_as_its_letter_its_name_or_a_beginning_of_it(
    tmp_path: Path, typed: tuple[str, ...], options: str
) -> None:
    header = ",".join(["bert", "gpt", *("gold", "truth", "target", "oracle")[: len(typed)]])
    (tmp_path / "x.csv").write_text("\n".join([header, *(",".join([one] * (2 + len(typed))) for one in "ab")]))
    answers = "".join(f"{one}\n" for one in typed)
    code, text = at_terminal(tmp_path, answers.encode(), "collections", "show", "x.csv")
    assert code == 0
    assert f"To choose the same next time: {options} " in " ".join(text.split())
    assert text.count("Is it a [m]odel") == answers.count("\n")


def test_the_end_of_the_input_is_no_answer(folder: Path) -> None:
    code, text = at_terminal(folder, b"\x04", "collections", "show", "x.csv")
    assert code == 1
    assert "--fields question --ignore confidence" in text


def test_labels_that_fit_no_prediction_end_a_pick_with_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,label\ncat,dog,0\ndog,dog,1\nowl,cat,2\n")
    done = run("pick", "x.csv", folder=tmp_path)
    assert done.returncode == 1
    assert "Labels are 0, 1, 2; predictions are cat, dog, owl." in done.stderr
    assert not (tmp_path / "x.pick.jsonl").exists()


def test_a_pick_names_models_that_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("bert,gpt,bert-copy,label\n" + "a,b,a,a\nb,b,b,a\n" * 5)
    done = run("pick", "x.csv", folder=tmp_path)
    assert done.returncode == 0
    said = " ".join(done.stderr.split())
    assert "bert and bert-copy give the same answer to every item: no label can tell them apart." in said


def test_a_stream_of_models_that_are_all_the_same_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("bert,bert-copy,label\n" + "a,a,a\nb,b,a\n" * 5)
    done = run("pick", "x.csv", "--as", "stream", folder=tmp_path)
    assert done.returncode == 1
    assert "there is nothing to choose. bert and bert-copy give the same answer to every item" in done.stderr


def test_an_id_column_is_named_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("uid,a,b,label\n1,x,y,x\n1,y,y,x\n")
    done = run("pick", "x.csv", "--id", "uid", folder=tmp_path)
    assert done.returncode == 1
    assert "column \"uid\": '1' is in rows 1 and 2" in done.stderr
