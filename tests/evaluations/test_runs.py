"""Two runs on the same items: is one really better?"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from tests.cli.running import run
from tests.evaluations.test_gate import rows, write

RUN = "id,prediction,label\n"


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ([1] * 80 + [0] * 20, [1] * 50 + [0] * 50, "a"),
        ([True] * 50 + [False] * 50, [True] * 80 + [False] * 20, "b"),
        ([1] * 50 + [0] * 50, [1] * 48 + [0] * 52, "undecided"),
        ([0.5] * 100, [0.5] * 100, "undecided"),
    ],
)
def test_two_columns_of_scores(a: list[Any], b: list[Any], verdict: str) -> None:
    found = mp.compare_runs(a, b)
    assert found.verdict == verdict
    assert found.a_wins + found.b_wins + found.ties == found.items == 100
    assert found.here.certain
    assert found.difference.low <= found.here.estimate <= found.difference.high
    mirrored = mp.compare_runs(np.array(b), np.array(a))
    assert mirrored.verdict == {"a": "b", "b": "a"}.get(verdict, verdict)
    assert (mirrored.p_value, -mirrored.difference.low) == pytest.approx((found.p_value, found.difference.high))


def test_false_alarms_are_as_seldom_as_it_says() -> None:
    """100 pairs of equally good runs: 5 % of them may be called different; 12 would be 1 case in 100."""
    random = np.random.default_rng(5)
    alarms = 0
    for _ in range(100):
        a, b = random.random((2, 200)) < 0.8
        alarms += mp.compare_runs(a, b).verdict != "undecided"
    assert alarms < 12


def test_two_files_are_matched_by_their_ids(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(RUN + "".join(f"{i},yes,yes\n" for i in range(60)))
    (tmp_path / "b.csv").write_text(
        RUN + "".join(f"{i},{'yes' if i < 15 else 'no'},yes\n" for i in reversed(range(10, 70)))
    )
    found = mp.compare_runs(tmp_path / "a.csv", tmp_path / "b.csv")
    assert (found.a, found.b, found.verdict, found.items) == ("a", "b", "a", 50)


def test_two_models_of_one_file_and_of_a_collection() -> None:
    found = mp.compare_runs("svm-gaussian", "nearest-centroid", source="digits")
    assert (found.a, found.verdict, found.items) == ("svm-gaussian", "a", 1497)
    assert found.p_value < 1e-6


def test_an_ordinary_test_that_says_more_is_told_with_its_condition() -> None:
    order = np.random.default_rng(6).permutation(200)
    a, b = (np.array(one)[order] for one in ([1] * 15 + [0] * 185, [0] * 195 + [1] * 5))
    found = mp.compare_runs(a, b)
    assert found.verdict == "undecided"
    assert found.p_value < 0.05
    assert "only if the number of items was fixed before anybody looked" in found.sentence


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1, 0], [1], "B has 1 scores and A has 2"),
        ([1, 0], "b.csv", "pass two columns of scores, or two files"),
        ([None], [1], "there is no item with a label that both runs answer"),
        ([3], [1], "A, item 0: score 3 is not between 0 and 1"),
    ],
)
def test_bad_scores(a: Any, b: Any, message: str) -> None:
    with pytest.raises(mp.InputError, match=message):
        mp.compare_runs(a, b)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (RUN + "1,a,a\n2,b,b\n", RUN + "3,a,a\n4,b,b\n", "have no item in common"),
        (RUN + "1,a,a\n1,b,b\n", RUN + "1,a,a\n2,b,b\n", "Ids must differ"),
        (RUN + "1,a,a\n2,b,b\n", RUN + "1,a,b\n2,b,b\n", "has the label 'a' in first and 'b' in second"),
        (RUN + "1,a,a\n2,b,b\n", "id,m1,m2,label\n1,a,b,a\n2,b,a,b\n", "has 2 models"),
        (
            "prediction,label\na,a\nb,b\n",
            "prediction,label\na,a\nb,b\na,b\n",
            "no column tells which belong together",
        ),
    ],
)
def test_files_that_do_not_fit(tmp_path: Path, first: str, second: str, message: str) -> None:
    for name, text in (("first.csv", first), ("second.csv", second)):
        (tmp_path / name).write_text(text)
    with pytest.raises(mp.InputError, match=message):
        mp.compare_runs(tmp_path / "first.csv", tmp_path / "second.csv")


def test_the_command_line_answers_in_plain_english(tmp_path: Path) -> None:
    write(tmp_path / "r.csv", rows(390))
    done = run("compare-runs", "r.csv", "--models", "new,prod", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("new is really better.")
    assert "McNemar's exact test" in done.stdout
    document = json.loads(run("compare-runs", "r.csv", "--models", "prod,new", "--json", folder=tmp_path).stdout)
    assert (document["verdict"], document["a"]) == ("b", "prod")
    (tmp_path / "a.csv").write_text("id,score\n" + "".join(f"{i},{i % 2}\n" for i in range(50)))
    (tmp_path / "b.csv").write_text("id,score\n" + "".join(f"{i},0.5\n" for i in range(50)))
    document = json.loads(run("compare-runs", "a.csv", "b.csv", "--scores", "--json", folder=tmp_path).stdout)
    assert (document["verdict"], document["a_wins"], document["b_wins"]) == ("undecided", 25, 25)
    assert run("compare-runs", "r.csv", folder=tmp_path).returncode == 2
    assert run("compare-runs", "r.csv", "r.csv", "r.csv", folder=tmp_path).returncode == 2
    assert run("compare-runs", "r.csv", "nowhere.csv", folder=tmp_path).returncode != 0
