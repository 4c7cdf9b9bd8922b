"""`modelpicker pick`: labels from a file or from a person, every decision written down, nothing lost."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from tests.cli.running import COMMAND, environment, run, run_process
from tests.shared_data import need


def decisions(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """A collection of words, with labels and texts."""
    collection = mp.synthetic_collection(120, ["a", "b", "c"], ["cat", "dog", "emu"], [0.5, 0.7, 0.9], seed=4)
    shown = mp.ModelCollection.of_codes(
        collection.predictions,
        collection.labels,
        collection.models,
        collection.classes,
        {"id": [f"item-{n}" for n in range(120)]},
    )
    shown.save(tmp_path / "x.parquet")
    return tmp_path


def test_labels_in_the_file_are_bought_as_run_stream_buys_them(words: Path) -> None:
    done = run("pick", "x.parquet", "--seed", "5", "--json", folder=words)
    result = json.loads(done.stdout)
    collection = mp.load_collection(words / "x.parquet")
    trace = mp.run_stream(mp.ModelPicker(collection.models, seed=5), collection)
    assert (result["pick"], result["labels_used"]) == (trace.winner, trace.labels_used)
    header, *rounds, summary = decisions(words / "x.pick.jsonl")
    assert header["fingerprint"] == collection.fingerprint
    assert header["labels"] == "looked up"
    assert [entry["query"] for entry in rounds] == trace.queried.tolist()
    assert [entry["probability"] for entry in rounds] == trace.probability.tolist()
    assert [entry["recommended"] for entry in rounds] == [collection.models[m] for m in trace.recommended]
    assert [entry["prediction"] for entry in rounds] == [collection.classes[c] for c in trace.predicted]
    labels = np.asarray(collection.labels)
    for place, entry in enumerate(rounds):
        assert entry["round"] == entry["item"] == place
        assert ("label" in entry) == entry["query"]
        assert not entry["query"] or entry["label"] == collection.classes[labels[place]]
    assert summary == {
        key: result[key] for key in ("pick", "rounds", "labels_used", "skipped", "stopped", "reached")
    }


def test_only_labels_that_are_asked_for_matter(words: Path) -> None:
    first = json.loads(run("pick", "x.parquet", "--json", folder=words).stdout)
    asked = [entry["query"] for entry in decisions(words / "x.pick.jsonl")[1:-1]]
    collection = mp.load_collection(words / "x.parquet")
    labels = [
        collection.classes[code] if query else None
        for code, query in zip(np.asarray(collection.labels), asked, strict=True)
    ]
    (words / "few.jsonl").write_text("".join(json.dumps({"label": label}) + "\n" for label in labels))
    again = json.loads(
        run("pick", "x.parquet", "--labels", "few.jsonl", "--play-unlabelled", "--json", folder=words).stdout
    )
    assert {key: again[key] for key in ("pick", "labels_used", "standing")} == {
        key: first[key] for key in ("pick", "labels_used", "standing")
    }


def test_a_budget_is_never_exceeded_and_the_picker_stops_there(words: Path) -> None:
    result = json.loads(run("pick", "x.parquet", "--budget", "7", "--json", folder=words).stdout)
    assert result["labels_used"] == 7
    assert result["stopped"] == "budget"
    rounds = decisions(words / "x.pick.jsonl")[1:-1]
    assert len(rounds) == result["rounds"] < 120
    assert sum("label" in entry for entry in rounds) == 7
    assert rounds[-1]["query"]
    collection = mp.load_collection(words / "x.parquet").take(np.arange(len(rounds)))
    trace = mp.run_stream(mp.ModelPicker(collection.models), collection)
    assert result["pick"] == trace.winner
    loose = json.loads(run("pick", "x.parquet", "--budget", "5000", "--json", folder=words).stdout)
    assert loose["stopped"] == "end"


def test_shuffling_is_an_order_of_its_own_and_repeatable(words: Path) -> None:
    results = [
        run("pick", "x.parquet", "--shuffle", "--seed", "2", "--json", folder=words).stdout for _ in range(2)
    ]
    assert results[0] == results[1]
    items = [entry["item"] for entry in decisions(words / "x.pick.jsonl")[1:-1]]
    assert sorted(items) == list(range(120))
    assert items != list(range(120))
    whole = mp.load_collection(words / "x.parquet").take(items)
    trace = mp.run_stream(mp.ModelPicker(whole.models, seed=2), whole)
    assert json.loads(results[0])["labels_used"] == trace.labels_used


@pytest.mark.parametrize(
    "name",
    ["label-efficient", "vote-entropy", "structural-committee", "importance-weighted", "efficient-active", "race"],
)
def test_every_algorithm_can_pick(words: Path, name: str) -> None:
    done = run("pick", "x.parquet", "--algorithm", name, "--budget", "30", folder=words)
    assert done.returncode == 0
    assert "Pick: " in done.stdout


def test_options_of_the_algorithm(words: Path) -> None:
    arguments = ("pick", "x.parquet", "--option", "query_scale=0.25", "--json")
    few = json.loads(run(*arguments, folder=words).stdout)
    assert few["options"]["query_scale"] == 0.25
    wrong = run("pick", "x.parquet", "--option", "colour=blue", folder=words)
    assert wrong.returncode == 2
    assert "model-picker does not take colour; it takes query_scale" in " ".join(wrong.stderr.split())
    assert run("pick", "x.parquet", "--option", "query_scale", folder=words).returncode == 2
    assert run("pick", "x.parquet", "--algorithm", "magic", folder=words).returncode == 2


def test_a_large_file_is_picked_in_pieces_as_in_one(tmp_path: Path) -> None:
    collection = mp.synthetic_collection(150_000, 5, 4, [0.5, 0.6, 0.7, 0.8, 0.82], seed=1)
    collection.save(tmp_path / "x.parquet")
    result = json.loads(run("pick", "x.parquet", "--json", folder=tmp_path).stdout)
    trace = mp.run_stream(mp.ModelPicker(collection.models), collection)
    assert (result["pick"], result["labels_used"], result["rounds"]) == (trace.winner, trace.labels_used, 150_000)
    assert len(decisions(tmp_path / "x.pick.jsonl")) == 150_002


def test_a_person_is_asked_where_there_are_no_labels(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("text,a,b\nhello,spam,ham\nworld,ham,ham\nagain,spam,ham\n")
    done = run("pick", "x.csv", answers="spam\n1\n", folder=tmp_path)
    assert done.returncode == 0
    assert "text: hello" in done.stderr
    assert "text: world" not in done.stderr  # all models agree
    assert "1 ham  2 spam" in done.stderr
    _, *rounds, summary = decisions(tmp_path / "x.pick.jsonl")
    assert [entry.get("label") for entry in rounds] == ["spam", None, "ham"]
    assert summary["labels_used"] == 2


def answer(folder: Path, answers: str, *more: str) -> dict[str, Any]:
    done = run("pick", "x.parquet", "--ask", "--json", *more, answers=answers, folder=folder)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def asking(folder: Path) -> subprocess.Popen[bytes]:
    """A session that waits for answers, and can be interrupted."""
    return subprocess.Popen(
        [*COMMAND, "pick", "x.parquet", "--ask"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        cwd=folder,
        env=environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )


def truths(folder: Path) -> list[str]:
    """The labels that are asked for, in order, as a person would type them."""
    run("pick", "x.parquet", "--out", "known.jsonl", folder=folder)
    return [entry["label"] for entry in decisions(folder / "known.jsonl")[1:-1] if "label" in entry]


def test_quit_and_resume_give_the_same_pick_as_one_sitting(words: Path) -> None:
    labels = truths(words)
    known = json.loads(run("pick", "x.parquet", "--out", "known.jsonl", "--json", folder=words).stdout)
    first = answer(words, "\n".join([*labels[:5], "q"]) + "\n")
    assert (first["labels_used"], first["stopped"]) == (5, "quit")
    second = answer(words, "\n".join(labels[5:9]) + "\n")  # the input ends: as if the terminal was closed
    assert second["labels_used"] == 9
    last = answer(words, "\n".join(labels[9:]) + "\n")
    assert last["stopped"] == "end"
    assert (last["pick"], last["standing"]) == (known["pick"], known["standing"])
    again = answer(words, "")
    assert again["standing"] == last["standing"]
    asked, looked_up = (decisions(words / name)[1:] for name in ("x.pick.jsonl", "known.jsonl"))
    assert asked == looked_up


def test_undo_goes_back_to_the_answer_before_even_after_a_resume(words: Path) -> None:
    labels = truths(words)
    wrong = ["emu" if label == "cat" else "cat" for label in labels]
    answer(words, f"{labels[0]}\n{wrong[1]}\ns\nu\nu\n{labels[1]}\n{wrong[2]}\nq\n")
    answer(words, "u\n" + "\n".join(labels[2:]) + "\n")
    asked, looked_up = (decisions(words / name)[1:] for name in ("x.pick.jsonl", "known.jsonl"))
    assert asked == looked_up


def test_undo_at_the_start_says_that_there_is_nothing(words: Path) -> None:
    done = run("pick", "x.parquet", "--ask", answers="u\nq\n", folder=words)
    assert "There is nothing to undo." in done.stderr
    assert "No label was bought" in done.stdout


def test_skips_are_counted_and_change_no_estimate(words: Path) -> None:
    result = answer(words, "s\ns\nq\n")
    assert (result["skipped"], result["labels_used"], result["pick"]) == (2, 0, None)
    assert [entry["loss"] for entry in result["standing"]] == [0.0, 0.0, 0.0]
    assert answer(words, "u\nq\n")["skipped"] == 1


def test_strange_answers_are_asked_again_and_new_classes_must_be_meant(words: Path) -> None:
    done = run("pick", "x.parquet", "--ask", answers="cow\n?\n+cow\nCOW\nq\n", folder=words)
    assert "'cow' is no class and no key" in done.stderr
    assert "classes: 1 cat, 2 dog, 3 emu" in done.stderr
    rounds = [entry for entry in decisions(words / "x.pick.jsonl") if "label" in entry and "round" in entry]
    assert [entry["label"] for entry in rounds] == ["cow", "cow"]
    assert answer(words, "cow\nq\n")["labels_used"] == 3


def test_a_killed_session_loses_no_answer(words: Path) -> None:
    labels = truths(words)
    for start in range(0, 6, 2):
        with asking(words) as process:
            assert process.stdin is not None
            assert process.stderr is not None
            process.stdin.write("".join(f"{label}\n" for label in labels[start : start + 2]).encode())
            process.stdin.flush()
            said, wanted = b"", b"%d label" % (start + 2)
            while wanted not in said:
                said += os.read(process.stderr.fileno(), 65536)
            process.send_signal(signal.SIGKILL)
    assert answer(words, "q\n")["labels_used"] == 6
    with (words / "x.pick.jsonl").open("ab") as file:
        file.write(b'{"round": 99, "it')  # a line that the crash cut off
    assert answer(words, "\n".join(labels[6:]) + "\n")["stopped"] == "end"
    asked, looked_up = (decisions(words / name)[1:] for name in ("x.pick.jsonl", "known.jsonl"))
    assert asked == looked_up


def test_a_budget_can_be_raised_later(words: Path) -> None:
    labels = truths(words)
    first = answer(words, "\n".join(labels) + "\n", "--budget", "3")
    assert (first["labels_used"], first["stopped"]) == (3, "budget")
    assert answer(words, "\n".join(labels[3:]) + "\n", "--budget", "6")["labels_used"] == 6
    more = ("--algorithm", "label-efficient", "--out", "le.jsonl", "--budget")
    begun = answer(words, "cat\ncat\nq\n", *more, "30")
    went_on = answer(words, "cat\ncat\nq\n", *more, "60")
    assert went_on["options"] == begun["options"]
    assert went_on["labels_used"] == 4


def test_answers_are_not_put_to_other_questions(words: Path) -> None:
    answer(words, "cat\nq\n")
    before = (words / "x.pick.jsonl").read_bytes()
    for change in (("--seed", "1"), ("--shuffle",), ("--algorithm", "vote-entropy"), ("--models", "a,b")):
        done = run_process("pick", "x.parquet", "--ask", *change, folder=words)
        assert done.returncode == 4
        assert "x.pick.jsonl is of another pick" in done.stderr
    assert run_process("pick", "x.parquet", folder=words).returncode == 4  # would overwrite what a person said
    assert (words / "x.pick.jsonl").read_bytes() == before


def test_a_damaged_or_foreign_result_file_is_left_alone(words: Path) -> None:
    path = words / "x.pick.jsonl"
    for content in ("my notes\n", '{"format": "something else"}\n'):
        path.write_text(content)
        for arguments in ((), ("--ask",)):
            done = run_process("pick", "x.parquet", *arguments, folder=words)
            assert done.returncode in (1, 4)
            assert done.stderr.splitlines()[-1].startswith("modelpicker: x.pick.jsonl")
        assert path.read_text() == content
    path.unlink()
    answer(words, "cat\ndog\ncat\nq\n")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b"{broken\n", *lines[2:]]))
    assert "line 2 is damaged" in run_process("pick", "x.parquet", "--ask", folder=words).stderr
    changed = json.loads(lines[1]) | {"probability": 0.123}
    path.write_bytes(b"".join([lines[0], json.dumps(changed).encode() + b"\n", *lines[2:]]))
    assert "round 0: another decision" in run_process("pick", "x.parquet", "--ask", folder=words).stderr


def test_a_device_is_no_place_for_a_result(words: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    (words / "x.pick.jsonl").symlink_to("/dev/full")
    done = run("pick", "x.parquet", folder=words)
    assert done.returncode == 4
    assert done.stderr.splitlines()[-1].startswith("modelpicker: x.pick.jsonl is a folder or a device")


def test_one_model_or_one_class_is_no_choice(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,label\n0,0\n1,0\n")
    done = run("pick", "x.csv", folder=tmp_path)
    assert done.returncode == 1
    assert "x.csv has one model, a; there must be two" in done.stderr
    (tmp_path / "y.csv").write_text("a,b,label\n0,0,0\n0,0,0\n")
    same = run("pick", "y.csv", folder=tmp_path)
    assert same.returncode == 1
    assert "there is nothing to choose. a and b give the same answer to every item" in same.stderr


def test_the_shared_collections_are_picked_from(tmp_path: Path) -> None:
    result = json.loads(run("pick", need("drift"), "--json", folder=tmp_path).stdout)
    assert result["pick"] == "model-6"
    assert result["rounds"] == 3600


def test_a_full_disk_is_one_sentence_and_loses_no_answer(words: Path) -> None:
    answer(words, "cat\nq\n")
    before = (words / "x.pick.jsonl").read_bytes()
    limit = f"ulimit -f 1; exec {' '.join(COMMAND)} pick x.parquet --ask"  # files of at most one block
    answers = "cat\n" * 100
    done = subprocess.run(
        ["bash", "-c", f"trap '' XFSZ; {limit}"],
        input=answers,
        capture_output=True,
        text=True,
        cwd=words,
        env=environment(),
        check=False,
    )
    assert done.returncode == 1
    assert "x.pick.jsonl cannot be written: File too large." in done.stderr
    assert "Traceback" not in done.stderr
    assert (words / "x.pick.jsonl").read_bytes().startswith(before)
    assert answer(words, "q\n")["labels_used"] >= 1


def test_two_sessions_do_not_write_to_one_file(words: Path) -> None:
    with asking(words) as first:
        assert first.stderr is not None
        said = b""
        while b"> " not in said:
            said += os.read(first.stderr.fileno(), 65536)
        second = run_process("pick", "x.parquet", "--ask", answers="cat\n", folder=words)
        assert second.returncode == 4
        assert "x.pick.jsonl is in use by another pick" in second.stderr
        assert run_process("pick", "x.parquet", folder=words).returncode == 4
        first.kill()
    assert answer(words, "cat\nq\n")["labels_used"] == 1


def test_an_interrupt_says_where_the_answers_are(words: Path) -> None:
    with asking(words) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"cat\n")
        process.stdin.flush()
        said = b""
        while b"1 label" not in said:
            said += os.read(process.stderr.fileno(), 65536)
        process.send_signal(signal.SIGINT)
        said += process.stderr.read()
    assert process.returncode == 130
    assert b"Your answers are in x.pick.jsonl; the same command goes on" in said
    assert b"Traceback" not in said
    assert answer(words, "q\n")["labels_used"] == 1


def test_keys_never_mean_another_class_than_the_one_they_are_shown_with(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n207,0\n207,1\nz,9\n".replace("z,9", "999,999"))
    done = run("pick", "x.csv", answers="1\nq\n", folder=tmp_path)
    assert "label:  0  207" in done.stderr
    assert decisions(tmp_path / "x.pick.jsonl")[1]["label"] == 1
    (tmp_path / "y.jsonl").write_text('{"a": "unsure", "b": "1"}\n' * 30 + '{"a": "s", "b": ":s"}\n')
    done = run("pick", "y.jsonl", "--models", "a,b", answers="1\nunsure\n::s\nq\n", folder=tmp_path)
    assert "label:  2 1  3 :s  4 s  5 unsure" in done.stderr  # no key is 1, for that is a class
    assert "::s skip" in done.stderr
    labels = [entry["label"] for entry in decisions(tmp_path / "y.pick.jsonl")[1:] if entry.get("query")]
    assert labels == ["1", "unsure", None]


def test_names_that_begin_with_a_plus_and_odd_numbers(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"a": "+1", "b": "-1"}\n' * 4)
    run("pick", "x.jsonl", answers="+1\nq\n", folder=tmp_path)
    assert decisions(tmp_path / "x.pick.jsonl")[1]["label"] == "+1"
    (tmp_path / "y.csv").write_text("a,b\n" + "3,4\n" * 6)
    run("pick", "y.csv", answers="+003\n+²\n+" + "9" * 5000 + "\n4\nq\n", folder=tmp_path)
    rounds = decisions(tmp_path / "y.pick.jsonl")[1:]
    assert [entry["label"] for entry in rounds if entry["query"]] == [3, 4]
    again = run("pick", "y.csv", answers="q\n", folder=tmp_path)
    assert "Going on with 2 labels from before." in again.stderr


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
        [*COMMAND, "pick", "x.parquet", "--ask"],
        input=b"\xff\xfe\n+\xff\n" + b"x" * 10**6 + b"\ncat\nq\n",
        capture_output=True,
        cwd=words,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0
    assert len(done.stderr) < 20_000


def test_a_result_file_serves_as_labels(words: Path) -> None:
    first = answer(words, "\n".join(truths(words)) + "\n")
    again = json.loads(
        run("pick", "x.parquet", "--labels", "x.pick.jsonl", "--out", "again.jsonl", "--json", folder=words).stdout
    )
    assert again["standing"] == first["standing"]


def test_a_tie_is_not_presented_as_a_pick(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,c,label\n" + "x,y,y,y\n" * 5)
    done = run("pick", "x.csv", "--models", "a,b,c", folder=tmp_path)
    assert "(tied with " in done.stdout


def test_labels_in_another_spelling_are_pointed_out(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,truth\n" + "ham,spam,Ham\nspam,ham,Spam\n" * 3)
    done = run("pick", "x.csv", "--label", "truth", folder=tmp_path)
    assert done.returncode == 1
    assert "Labels are Ham, Spam; predictions are ham, spam." in done.stderr
    assert "They differ only in spelling: normalise (--normalise) takes them for the same." in done.stderr
    assert run("pick", "x.csv", "--label", "truth", "--normalise", folder=tmp_path).returncode == 0
    taken = run("collections", "show", "x.csv", folder=tmp_path)
    assert 'column "truth": Labels are often kept under this name.' in taken.stderr
    assert "--label truth" in taken.stderr
