"""`modelpicker compare` and `reproduce`, as users run them."""

import json
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import modelpicker as mp
from tests.cli.running import COMMAND, environment, run
from tests.shared_data import need

QUICK = ("--realizations", "20", "--budgets", "80,160", "--methods", "model-picker,label-efficient")


def test_compare_prints_tables_that_name_the_rule(tmp_path: Path) -> None:
    done = run("compare", "digits", *QUICK, "--no-figures", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    titles = [line for line in done.stdout.splitlines() if "Budget rule: expected." in line]
    assert len(titles) == 4
    assert "budget rule: expected · 20 realizations of 748 items" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
    assert re.search(r"The results are in modelpicker-results/digits-[0-9a-f]{8}\.", done.stderr)


def test_compare_as_json_is_one_document_with_the_rows_of_the_library(tmp_path: Path) -> None:
    done = run("compare", "digits", *QUICK, "--no-figures", "--json", "--out", "out", folder=tmp_path)
    document = json.loads(done.stdout)
    methods = ["model-picker", "label-efficient"]
    assert document["rows"] == mp.compare("digits", methods, [80, 160], realizations=20).document()["rows"]
    row = document["rows"][0]
    assert (row["method"], row["budget"], row["budget_rule"]) == ("model-picker", 80, "expected")
    assert {"identification_probability", "identification_probability_se", "accuracy_gap_p90", "mark"} <= row.keys()
    assert set(document["labels_needed"]) == {"0.8", "0.9", "0.95"}
    assert document["folder"] == "out"


def test_compare_writes_figures_and_a_report(tmp_path: Path) -> None:
    done = run("compare", "digits", *QUICK, "--out", "out", "--budget-rule", "hard", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    drawn = {path.name for path in (tmp_path / "out/figures").iterdir()}
    for name in ("regret-by-round", "accuracy-gap", "identification", "accuracy-gap-p90", "accuracies", "overview"):
        assert {f"{name}.png", f"{name}.svg"} <= drawn
    report = (tmp_path / "out/report.html").read_text()
    assert "modelpicker compare digits" in report
    assert mp.load_collection("digits").fingerprint in report
    assert "budget rule: hard" in report
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"results.csv", "results.json", "curves.parquet"}
    assert pq.read_table(tmp_path / "out/curves.parquet").num_rows == 4 * 100


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (("digits", "--methods", "magic"), 2, "magic is not known"),
        (("digits", "--budgets", "ten"), 2, "ten is not a number"),
        (("digits", "--budgets", "9999"), 2, "budget 9,999 is more than the 748 items"),
        (("digits", "--budgets", "5,5"), 2, "budget 5 is given twice"),
        (("digits", "--budgets", ","), 2, "no budgets"),
        (("digits", "--stream-size", "99999"), 2, "stream_size=99,999, but only 1,497 items"),
        (("digits", "--methods", "vote-entropy,vote-entropy"), 2, "is given twice"),
        (("digits", "--option", "model-picker.query_scale=nan"), 2, "query_scale=nan is out of range"),
        (("digits", "--engine", "steam"), 2, "steam is not known"),
        (("digits", "--realizations", "0"), 2, "greater than or equal to 1"),
        (("digits", "--budget-rule", "soft"), 2, "soft is not known"),
        (("digits", "--tuning", "luck"), 2, "luck is not known"),
        (("digits", "--option", "beta=3"), 2, "METHOD.NAME=VALUE"),
        (("digits", "--methods", "model-picker", "--option", "vote-entropy.x=3"), 2, "not among the methods"),
        (("digits", "--methods", "model-picker", "--option", "model-picker.x=3"), 2, "does not take its options"),
        (("nowhere.csv",), 3, "nowhere.csv"),
    ],
)
def test_bad_options_are_named(tmp_path: Path, arguments: tuple[str, ...], code: int, complaint: str) -> None:
    done = run("compare", *arguments, folder=tmp_path)
    assert done.returncode == code, done.stderr
    assert complaint in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_file_without_labels_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("a,b\nx,y\ny,y\n")
    done = run("compare", "p.csv", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "has no labels" in done.stderr
    assert "--labels" in done.stderr


def test_a_folder_of_another_comparison_is_a_conflict(tmp_path: Path) -> None:
    assert run("compare", "digits", *QUICK, "--no-figures", "--out", "out", folder=tmp_path).returncode == 0
    done = run("compare", "digits", *QUICK, "--no-figures", "--out", "out", "--seed", "1", folder=tmp_path)
    assert done.returncode == 4
    assert "its seed is 0, not 1" in done.stderr


def test_options_of_methods(tmp_path: Path) -> None:
    chosen = ("--methods", "structural-committee", "--realizations", "5", "--budgets", "30", "--no-figures")
    options = ("--option", "structural-committee.disagreement_scale=2", "--option", "structural-committee.beta=0.5")
    document = json.loads(run("compare", "digits", *chosen, *options, "--json", folder=tmp_path).stdout)
    assert document["methods"][0]["options"] == {"disagreement_scale": 2}
    assert document["rows"][0]["value"] == 0.5
    assert document["rows"][0]["mark"] == "fixed"


@pytest.mark.slow
def test_control_c_leaves_a_folder_and_a_sentence_and_the_same_command_goes_on(tmp_path: Path) -> None:
    command = [*COMMAND, "compare", "digits", "--realizations", "3000", "--budgets", "80", "--no-figures"]
    command += ["--methods", "model-picker,label-efficient", "--out", "out"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    deadline = time.monotonic() + 60
    while not list((tmp_path / "out/runs").glob("part-*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert "What has been run is kept in out;" in err
    assert "run the same command to continue." in err
    assert "Traceback" not in err
    kept = sum(pq.read_table(path).num_rows for path in (tmp_path / "out/runs").glob("part-*"))
    assert kept > 0
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
    whole = run(*command[3:-1], "whole", folder=tmp_path)
    assert done.stdout == whole.stdout


def reproduced(tmp_path: Path, *arguments: str) -> dict[str, Any]:
    done = run("reproduce", *arguments, "--realizations", "25", "--json", "--out", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.slow
def test_reproduce_without_data_says_that_it_uses_a_stand_in(tmp_path: Path) -> None:
    done = run("reproduce", "emocontext", "--realizations", "10", "--out", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("(stand-in)") >= 4
    assert "STAND-IN: synthetic emocontext-like" in " ".join(done.stdout.split())
    assert "no --data was given" in " ".join(done.stderr.split())
    assert "Stand-in: synthetic emocontext-like" in (tmp_path / "out/report.html").read_text()
    drawings = list((tmp_path / "out").rglob("*.svg"))
    assert len(drawings) >= 10
    for drawing in drawings:
        assert "STAND-IN" in drawing.read_text(), drawing
    assert "paper: 1.2" in done.stdout


@pytest.mark.slow
def test_reproduce_prints_the_papers_claims_beside_ours(tmp_path: Path) -> None:
    document = reproduced(tmp_path, "drift", "--data", str(need("drift").parent), "--no-figures")
    (setup,) = document["setups"]
    assert setup["collection"]["stand_in"] is None
    assert [claim["paper"] for claim in setup["claims"]] == ["1.7", "270 labels", "200 labels"]
    factors = setup["claims"][0]["factors"]
    assert {"expected", "as published"} <= factors.keys()
    assert factors["expected"]["low"] <= factors["expected"]["factor"]
    assert {(row["setup"], row["budget_rule"]) for row in document["rows"]} == {("drift", "expected")}
    assert len(document["rows"]) == 5 * 20


@pytest.mark.slow
def test_reproduce_under_the_hard_rule(tmp_path: Path) -> None:
    document = reproduced(tmp_path, "emocontext", "--budget-rule", "hard", "--no-figures")
    assert {row["budget_rule"] for row in document["rows"]} == {"hard"}
    assert all(row["queries"] <= row["budget"] for row in document["rows"])


def test_a_folder_that_lacks_predictions_is_said_to(tmp_path: Path) -> None:
    (tmp_path / "data/emocontext").mkdir(parents=True)
    done = run("reproduce", "emocontext", "--data", "data", "--realizations", "2", "--no-figures", folder=tmp_path)
    assert "data/emocontext has no predictions.npy" in " ".join(done.stderr.split())


def test_reproduce_leaves_a_folder_with_other_things_alone(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("mine")
    done = run("reproduce", "emocontext", "--realizations", "2", "--out", ".", folder=tmp_path)
    assert done.returncode == 4
    assert "holds other things (report.html)" in done.stderr
    assert (tmp_path / "report.html").read_text() == "mine"


def test_names_that_would_command_the_terminal(tmp_path: Path) -> None:
    mp.load_collection("digits").save(tmp_path / "a\x1b[31mb.parquet")
    done = run("compare", "a\x1b[31mb.parquet", *QUICK, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    drawings = list(tmp_path.rglob("*.svg"))
    assert len(drawings) >= 5
    for drawing in drawings:
        ElementTree.parse(drawing)  # noqa: S314  # our own


def test_one_realization_of_three_items(tmp_path: Path) -> None:
    mp.ModelCollection([[0, 1], [1, 1], [0, 0]], [0, 1, 0]).save(tmp_path / "tiny.parquet")
    done = run("compare", "tiny.parquet", "--realizations", "1", "--no-figures", folder=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (("mnist",), 3, "there is no set-up 'mnist'; there are emocontext, drift"),
        (("drift", "--data", "nowhere"), 3, "nowhere is not a folder"),
        (("drift", "--engine", "steam"), 2, "steam is not known"),
    ],
)
def test_bad_set_ups_are_named(tmp_path: Path, arguments: tuple[str, ...], code: int, complaint: str) -> None:
    done = run("reproduce", *arguments, folder=tmp_path)
    assert done.returncode == code
    assert complaint in " ".join(done.stderr.split())


@pytest.mark.slow
def test_a_bar_shows_rate_remaining_time_and_standing(tmp_path: Path) -> None:
    """On a terminal of eighty columns, on standard error, gone at the end."""
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    arguments = ["compare", "digits", "--realizations", "500", "--budgets", "80", "--no-figures", "--json"]
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=tmp_path, env=environment(TERM="xterm"), stderr=slave, stdout=subprocess.PIPE
    )
    os.close(slave)
    shown = bytearray()
    try:
        while piece := os.read(master, 4096):
            shown += piece
    except OSError:  # the other end is closed
        pass
    out, _ = process.communicate(timeout=60)
    os.close(master)
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    assert process.returncode == 0
    assert len(json.loads(out)["rows"]) == 7
    assert re.search(r"tuning .* [\d,]+ of 3,500 runs +[\d,]+ runs/s \d+:\d\d", text)
    assert re.search(r"at 80 labels: [a-z-]+ \d+%, ", text)
