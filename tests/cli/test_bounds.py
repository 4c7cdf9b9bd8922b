"""`modelpicker bounds`: what is promised for a collection, in words and in JSON."""

import json
from pathlib import Path

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.theory import bounds, hardness_of, sharper
from tests.cli.running import run

QUANTITIES = [
    "regret",
    "queries",
    "queries_stochastic",
    "leader_regret",
    "random_round_accuracy_gap",
    "accuracy_gap",
    "misidentification",
]


@pytest.fixture
def clear(tmp_path: Path) -> Path:
    """A collection with one model far ahead."""
    path = tmp_path / "clear.csv"
    mp.synthetic_collection(100, 3, 4, [0.9, 0.45, 0.4], 0).save(path)
    return path


def test_the_docs_show_what_it_prints() -> None:
    printed = run("bounds", "digits").stdout.strip()
    docs = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text()
    assert f"$ modelpicker bounds digits\n{printed}\n```" in docs


def test_json_has_every_promise_and_what_was_measured(clear: Path) -> None:
    found = json.loads(run("bounds", clear, "--json", "--realizations", "30").stdout)
    collection = mp.load_collection(clear)
    hard = hardness_of(collection.predictions, np.asarray(collection.labels))
    assert (found["name"], found["items"], found["models"]) == ("clear", 100, 3)
    assert (found["rounds"], found["realizations"], found["drawn"]) == (100, 30, "with replacement")
    assert found["hardness"]["best"] == collection.models[hard.best]
    assert found["hardness"]["lambda"] == hard.closeness
    assert [promise["quantity"] for promise in found["promises"]] == QUANTITIES
    assert set(found["promises"][0]) == {
        *("quantity", "theorem", "sharper", "most", "measured", "measured_se"),
        *("theorem_vacuous", "sharper_vacuous"),
    }
    by_name = {promise["quantity"]: promise for promise in found["promises"]}
    assert by_name["regret"]["theorem"] == bounds.regret(100, 3)
    assert by_name["misidentification"]["sharper"] == sharper.misidentification(100, *hard.rivals)
    assert by_name["misidentification"]["theorem_vacuous"]
    assert not by_name["misidentification"]["sharper_vacuous"]
    assert found["confidence"] == 0.0
    assert [need["quantity"] for need in found["needs"]] == [QUANTITIES[4], QUANTITIES[5], QUANTITIES[6]]
    assert found["needs"][2]["theorem"] == bounds.rounds_for_misidentification(0.05, 3, hard.closeness)


def test_streams_may_be_longer_than_the_collection_and_seeds_repeat_them(clear: Path) -> None:
    asked = ("bounds", clear, "--json", "--rounds", "1000", "--realizations", "5")
    first, again, other = run(*asked).stdout, run(*asked).stdout, run(*asked, "--seed", "1").stdout
    assert first == again != other
    assert json.loads(first)["rounds"] == 1000
    assert "1,000 rounds, drawn from the items with replacement" in run(*asked[:2], *asked[3:]).stdout


def test_streams_too_long_to_simulate_are_still_promised_something(clear: Path) -> None:
    done = run("bounds", clear, "--rounds", str(10**12))
    assert "not simulated" in done.stdout
    assert "Nothing was simulated" in done.stdout
    found = json.loads(run("bounds", clear, "--rounds", str(10**12), "--json").stdout)
    assert found["realizations"] == 0
    assert found["promises"][0]["measured"] is None
    assert found["confidence"] == 1.0


def test_what_is_vacuous_is_said_in_words(clear: Path) -> None:
    said = " ".join(run("bounds", clear, "--realizations", "5").stdout.split())
    assert "misidentification: the theorem is vacuous: a probability of one or more." in said
    assert "pseudo-regret of the leader: both are vacuous: more than the" in said
    assert all(len(line) < 80 for line in run("bounds", clear, "--realizations", "5").stdout.splitlines())


def test_models_tied_for_best_are_named_and_the_other_promises_shown(tmp_path: Path) -> None:
    path = tmp_path / "tie.csv"
    path.write_text("a,b,c,label\nx,y,y,x\ny,x,x,y\nx,y,x,y\ny,x,y,x\n")
    done = run("bounds", path, "--rounds", "50")
    assert done.returncode == 0
    assert "a, b are tied for best" in done.stdout
    assert "The theorems that need one best model" in done.stdout
    found = json.loads(run("bounds", path, "--rounds", "50", "--json").stdout)
    silent = [promise["quantity"] for promise in found["promises"] if promise["theorem"] is None]
    assert silent == ["queries_stochastic", "leader_regret", "accuracy_gap", "misidentification"]
    assert found["confidence"] is None
    assert [need["quantity"] for need in found["needs"]] == ["random_round_accuracy_gap"]


def test_without_labels_it_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "bare.csv"
    path.write_text("a,b\nx,y\ny,x\n")
    done = run("bounds", path)
    assert done.returncode == 1
    assert "has no labels" in done.stderr
    assert "--labels FILE" in done.stderr


def test_labels_may_be_in_a_file_of_their_own_and_items_without_one_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("id,a,b\n1,x,y\n2,y,y\n3,x,y\n4,y,x\n")
    (tmp_path / "l.csv").write_text("id,label\n1,x\n2,y\n3,x\n")
    done = run("bounds", tmp_path / "p.csv", "--labels", tmp_path / "l.csv", "--json", "--realizations", "3")
    assert json.loads(done.stdout)["items"] == 3


@pytest.mark.parametrize("wrong", [("--rounds", "0"), ("--realizations", "-1"), ("--seed", "-1")])
def test_wrong_usage_exits_with_2(clear: Path, wrong: tuple[str, str]) -> None:
    assert run("bounds", clear, *wrong).returncode == 2


def test_a_missing_file_exits_with_3_and_one_model_with_1(tmp_path: Path) -> None:
    assert run("bounds", tmp_path / "nothing.csv").returncode == 3
    (tmp_path / "one.csv").write_text("a,label\nx,x\ny,x\n")
    assert run("bounds", tmp_path / "one.csv").returncode == 1
