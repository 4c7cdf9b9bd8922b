"""`compare --setting pool`, as users run it."""

import json
from pathlib import Path

import pytest

import modelpicker as mp
from tests.cli.running import run

QUICK = ("--setting", "pool", "--realizations", "10", "--budgets", "10,20", "--stream-size", "200")
TWO = ("--methods", "pool-picker,label-efficient")


def test_tables_speak_of_files_and_not_of_regret(tmp_path: Path) -> None:
    done = run("compare", "digits", *QUICK, *TWO, "--no-figures", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "10 files (pools) of 200 items" in done.stdout
    assert "pool-picker" in done.stdout
    assert "regret" not in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_json_has_the_keys_of_streams_and_the_rows_of_the_library(tmp_path: Path) -> None:
    done = run("compare", "digits", *QUICK, *TWO, "--no-figures", "--json", "--out", "pool", folder=tmp_path)
    document = json.loads(done.stdout)
    methods = ["pool-picker", "label-efficient"]
    wanted = mp.compare("digits", methods, [10, 20], 200, 10, setting="pool")
    assert document["rows"] == wanted.document()["rows"]
    assert document["setting"] == "pool"
    assert document["rows"][0]["regret"] is None
    streams = run(
        "compare", "digits", "--methods", "race", "--budgets", "20", "--realizations", "5", "--no-figures",
        "--json", "--out", "stream", folder=tmp_path,
    )  # fmt: skip
    other = json.loads(streams.stdout)
    assert other["setting"] == "stream"
    assert document.keys() == other.keys()
    assert document["rows"][0].keys() == other["rows"][0].keys()
    assert document["methods"][0].keys() == other["methods"][0].keys()


@pytest.mark.slow
def test_figures_and_a_report_are_written(tmp_path: Path) -> None:
    done = run("compare", "digits", *QUICK, *TWO, "--out", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    drawn = {path.name for path in (tmp_path / "out/figures").iterdir()}
    assert {"identification.svg", "accuracy-gap.png", "overview.svg"} <= drawn
    assert "regret-by-round.png" not in drawn
    assert "files (pools)" in (tmp_path / "out/report.html").read_text()


def test_options_of_methods_for_pools(tmp_path: Path) -> None:
    chosen = ("--methods", "model-selector", "--option", "model-selector.epsilon=0.3")
    done = run("compare", "digits", *QUICK, *chosen, "--no-figures", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["methods"][0]["options"] == {"epsilon": 0.3}


def test_many_classes_leave_coda_out_with_a_note(tmp_path: Path) -> None:
    mp.synthetic_collection(60, 3, 25, [0.5, 0.6, 0.7], seed=1).save(tmp_path / "many.parquet")
    asked = ("--setting", "pool", "--realizations", "3", "--budgets", "5", "--no-figures", "--json")
    done = run("compare", "many.parquet", *asked, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "coda is left out: it compares 2 to 20 classes, and here are 25." in " ".join(done.stderr.split())
    document = json.loads(done.stdout)
    assert document["remarks"] == ["coda is left out: it compares 2 to 20 classes, and here are 25."]
    assert "coda" not in {row["method"] for row in document["rows"]}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--setting", "river"), "river is not known; there are stream and pool"),
        (("--setting", "pool", "--methods", "model-picker"), "model-picker is not known for --setting pool"),
        (("--setting", "pool", "--methods", "model-picker"), "It is for --setting stream."),
        (("--methods", "coda"), "coda is not known for --setting stream"),
        (("--methods", "pool-picker"), "It is for --setting pool."),
        (("--setting", "pool", "--budgets", "9999"), "budget 9,999 is more than the 748 items of a pool"),
        (("--setting", "pool", "--option", "epsilon=3"), "such as model-selector.epsilon=0.4"),
        (("--setting", "pool", "--option", "model-selector.epsilon=3"), "epsilon=3 is out of range"),
        (("--setting", "pool", "--option", "coda.alpha=1"), "method coda does not take its options"),
    ],
)
def test_bad_options_are_named(tmp_path: Path, arguments: tuple[str, ...], complaint: str) -> None:
    done = run("compare", "digits", *arguments, folder=tmp_path)
    assert done.returncode == 2, done.stderr
    assert complaint in " ".join(done.stderr.replace("│", " ").split())
    assert not list(tmp_path.iterdir())


def test_help_lists_the_methods_for_pools() -> None:
    shown = " ".join(run("compare", "--help").stdout.split())
    for name in ("pool-picker", "model-selector", "coda", "epsilon", "--setting"):
        assert name in shown
