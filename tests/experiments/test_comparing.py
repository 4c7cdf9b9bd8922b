"""A whole comparison: its metrics against sums by hand, and the same numbers whoever does the work."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import modelpicker as mp
from modelpicker.experiments.metrics import METRICS, percentile
from modelpicker.experiments.plan import usual_budgets
from tests.experiments.test_playing import collection

SMALL: dict[str, Any] = {
    "methods": ["model-picker", "structural-committee", "label-efficient"],
    "budgets": [40, 80],
    "stream_size": 200,
    "realizations": 30,
    "seed": 5,
}


def small(**changes: Any) -> mp.Results:
    return mp.compare(collection(), **{**SMALL, **changes})


@pytest.fixture(scope="module")
def results() -> mp.Results:
    return small()


def assert_equal(one: mp.Results, other: mp.Results) -> None:
    """To the last bit."""
    assert one.rows
    assert one.outcomes.keys() == {row["method"] for row in one.rows}
    assert one.curves.keys() == {(row["method"], row["budget"]) for row in one.rows}
    assert one.rows == other.rows
    assert one.curves.keys() == other.curves.keys()
    for key, curve in one.curves.items():
        for name, values in curve.items():
            assert np.array_equal(values, other.curves[key][name], equal_nan=True), (key, name)
    for method, found in one.outcomes.items():
        assert np.array_equal(found.labels, other.outcomes[method].labels)
        assert np.array_equal(found.gaps, other.outcomes[method].gaps)


def test_a_frame_has_a_row_a_method_and_budget_with_all_metrics(results: mp.Results) -> None:
    frame = results.to_frame()
    assert len(frame) == 6
    assert list(zip(frame["method"], frame["budget"], strict=True))[:3] == [
        ("model-picker", 40),
        ("model-picker", 80),
        ("structural-committee", 40),
    ]
    for metric in METRICS:
        assert frame[metric].notna().all()
        assert (frame[f"{metric}_se"] >= 0).all()
    assert set(frame["budget_rule"]) == {"expected"}


def test_without_pandas_a_frame_is_a_table_of_pyarrow(monkeypatch: pytest.MonkeyPatch, results: mp.Results) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(results.to_frame(), pa.Table)
    assert results.curves_to_frame().num_rows == 6 * len(results.rounds)


@pytest.mark.parametrize("change", [{"workers": 1}, {"workers": 3, "chunk": 1}, {"chunk": 7}, {"chunk": 1000}])
def test_the_numbers_do_not_depend_on_workers_and_chunks(results: mp.Results, change: dict[str, int]) -> None:
    assert_equal(results, small(**change))


def test_the_order_of_methods_and_budgets_changes_nothing(results: mp.Results) -> None:
    one, other = results, small(methods=SMALL["methods"][::-1], budgets=[80, 40])
    assert len(one.rows) == len(other.rows) == 6
    for row in one.rows:
        assert other.row(row["method"], row["budget"]) == row


def test_other_methods_change_nothing(results: mp.Results) -> None:
    alone, together = small(methods=["structural-committee"]), results
    assert alone.rows == [together.row("structural-committee", budget) for budget in (40, 80)]


def test_seeds_decide_everything(results: mp.Results) -> None:
    assert small().rows == results.rows != small(seed=6).rows


@pytest.mark.slow
def test_labels_land_within_two_in_a_hundred_or_are_marked() -> None:
    results = mp.compare(collection(), budgets=[5, 10, 20, 40, 80, 160, 200], stream_size=200, realizations=40)
    for row in results.rows:
        assert row["mark"] or abs(row["queries"] - row["budget"]) <= 0.02 * row["budget"], row
    assert results.row("model-picker", 5)["mark"] == "least"
    assert results.row("structural-committee", 200)["mark"] == "most"


def test_metrics_are_the_sums_over_the_runs_that_were_written(tmp_path: Path) -> None:
    results = small(out=tmp_path / "out", budget_rule="hard")
    runs = pa.concat_tables(pq.read_table(path) for path in sorted((tmp_path / "out/runs").glob("*.parquet")))
    assert len(results.rows) == 6
    for row in results.rows:
        mine = [
            run
            for run in runs.to_pylist()
            if (run["method"], run["value"], run["most"]) == (row["method"], row["value"], row["budget"])
        ]
        assert sorted(run["realization"] for run in mine) == list(range(30))
        last = {name: np.array([run[name][-1] for run in mine]) for name in ("queries", "gap", "regret")}
        assert last["queries"].max() <= row["budget"]
        assert row["queries"] == pytest.approx(last["queries"].mean(), rel=1e-12)
        assert row["queries_se"] == pytest.approx(last["queries"].std(ddof=1) / np.sqrt(30), rel=1e-12)
        assert row["identification_probability"] == (last["gap"] == 0).mean()
        assert row["accuracy_gap"] == pytest.approx(last["gap"].mean() / 200, rel=1e-12)
        assert row["accuracy_gap_p90"] == sorted(last["gap"])[26] / 200
        assert row["regret"] == pytest.approx(last["regret"].mean(), rel=1e-12)
        assert row["asked"] >= row["queries"]
        curve = results.curves[row["method"], row["budget"]]
        early = np.array([run["regret"][9] for run in mine])
        assert curve["regret"][9] == pytest.approx(early.mean(), rel=1e-12)
        assert results.rounds[9] == 20


def test_the_rules_agree_where_no_run_goes_over(results: mp.Results) -> None:
    expected, hard = results, small(budget_rule="hard")
    for label in SMALL["methods"]:
        assert np.array_equal(np.minimum(expected.outcomes[label].labels, [40, 80]), hard.outcomes[label].labels)
        within = expected.outcomes[label].labels <= [40, 80]
        same = expected.outcomes[label].gaps == hard.outcomes[label].gaps
        assert 0 < within.sum() < within.size
        assert same[within].all()


def test_under_the_hard_rule_a_row_is_marked_by_what_was_bought() -> None:
    """Efficient active asks for as many labels as the budget on average; its runs of many are cut."""
    results = small(methods=["efficient-active", "label-efficient"], budget_rule="hard")
    row = results.row("efficient-active", 80)
    assert abs(row["asked"] - 80) <= 1.6
    assert row["queries"] < 78.4
    assert row["mark"] == "cut"
    for row in results.rows:
        assert row["mark"] or abs(row["queries"] - row["budget"]) <= 0.02 * row["budget"]


@pytest.mark.slow
def test_a_subclass_is_not_taken_for_what_it_comes_from() -> None:
    from tests.experiments.test_honest import Crippled

    class Mine(mp.ModelPicker):
        kernel = Crippled.kernel

    results = small(methods=[Mine, mp.ModelPicker])
    assert results.methods == ["Mine", "model-picker"]
    assert results.settings["methods"][0]["algorithm"].startswith("tests.")


def test_tasks_stay_small_whatever_the_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C waits for the task at hand, and a killed process loses it."""
    from modelpicker.experiments.tasks import Job, Task

    played, play = [], Job.play

    def watch(self: Job, task: Task) -> Any:
        played.append(task)
        return play(self, task)

    whole = small()
    monkeypatch.setattr(Job, "play", watch)
    monkeypatch.setattr("modelpicker.experiments.comparison.WORK", 200 * 6 * 10)
    assert_equal(small(), whole)
    assert max(task.runs for task in played) == 10


def test_percentile_and_its_error() -> None:
    """The 90th percentile of 400 uniforms has a standard error of 0.015; the mean of 300 estimates is near it.

    One estimate varies by about a third, so their mean does by 2 %; 15 % is allowed, and the seed is fixed.
    """
    value, error = percentile(np.arange(100)[:, None], 0.9)
    assert (value[0], error[0]) == (89.0, 3.0)
    draws = np.random.default_rng(2).random((400, 300))
    values, errors = percentile(draws, 0.9)
    truth = np.sqrt(0.9 * 0.1 / 400)
    assert values.std() == pytest.approx(truth, rel=0.15)
    assert errors.mean() == pytest.approx(truth, rel=0.15)


def test_one_realization_has_no_standard_errors() -> None:
    results = small(realizations=1)
    assert np.isnan(results.rows[0]["queries_se"])
    assert results.document()["rows"][0]["queries_se"] is None


def test_items_without_labels_are_left_out() -> None:
    found = collection()
    labels = np.asarray(found.labels).astype(np.int64)
    labels[:100] = -1
    results = mp.compare(found.with_labels(labels), **SMALL)
    assert results.settings["collection"]["items"] == 300


def test_a_method_may_be_fixed_or_made_to_measure() -> None:
    methods = [
        mp.Method("eager", mp.ModelPicker, options={"predict": "leader"}),
        mp.Method("plain", mp.ModelPicker, fixed=1.0),
        mp.VoteEntropy,
    ]
    results = small(methods=methods)
    assert results.methods == ["eager", "plain", "vote-entropy"]
    assert results.row("plain", 40)["value"] == results.row("plain", 80)["value"] == 1.0
    assert results.row("plain", 40)["mark"] == "fixed"
    eager = results.row("eager", 80)
    assert eager["sampled_regret"] == eager["regret"]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"methods": ["model-pickr"]}, "there is no method 'model-pickr'; there are model-picker"),
    ({"methods": []}, "no methods to compare"),
    ({"methods": "model-picker"}, "pass a list"),
    ({"methods": ["vote-entropy", "vote-entropy"]}, "vote-entropy is given twice"),
    ({"budgets": [0]}, "budget=0 is not a count"),
    ({"budgets": [10.5]}, "budget=10.5 is not a count"),
    ({"budgets": []}, "no budgets"),
    ({"budgets": 50}, "pass a list of numbers"),
    ({"budgets": [20, 20]}, "budget 20 is given twice"),
    ({"budgets": [201]}, "budget 201 is more than the 200 items of a stream"),
    ({"stream_size": 401}, "stream_size=401, but only 400 items have labels"),
    ({"stream_size": 0}, "stream_size=0 is not a count"),
    ({"realizations": 0}, "realizations=0 is not a count"),
    ({"seed": -1}, "seed -1 is out of range"),
    ({"budget_rule": "soft"}, "budget_rule='soft' is not known"),
    ({"tuning": "luck"}, "tuning='luck' is not known"),
    ({"engine": "horses"}, "there is no engine 'horses'"),
    ({"scheduler": "tcp://x"}, "is for engine='dask'"),
    ({"workers": 0}, "workers=0 is not a count"),
    ({"chunk": 0}, "chunk=0 is not a count"),
]


@pytest.mark.parametrize(("changes", "complaint"), BAD)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(mp.InputError, match=complaint.replace("(", r"\(")):
        small(**changes)


def test_collections_that_cannot_be_compared_on() -> None:
    found = collection()
    with pytest.raises(mp.InputError, match="has no labels to judge methods by"):
        mp.compare(mp.ModelCollection(found.predictions), **SMALL)
    with pytest.raises(mp.InputError, match="one model only"):
        mp.compare(mp.ModelCollection(found.predictions[:, :1], found.labels), **SMALL)
    with pytest.raises(mp.InputError, match="agree on every labelled item"):
        mp.compare(mp.ModelCollection(found.predictions[:, [0, 0]], found.labels), **SMALL)
    with pytest.raises(mp.NotFoundError, match="nowhere"):
        mp.compare("nowhere.csv", **SMALL)


def test_usual_budgets_suit_the_collection() -> None:
    for expected in (1.0, 3.0, 12.0, 150.0, 2_500.0, 9_900.0):
        budgets = usual_budgets(expected)
        assert budgets
        assert all(1 <= budget <= max(1, expected) for budget in budgets)
        assert list(budgets) == sorted(set(budgets))
    assert len(usual_budgets(2_500.0)) == 10


@pytest.mark.slow
def test_two_models_that_nearly_always_agree() -> None:
    """They differ on one item of 100, so there is one label to buy in the streams of 50 that have it.

    Whoever buys it knows the better model, and in the other streams both are. Structural committee never gives a
    first disagreement a chance: it has to guess.
    """
    codes = np.zeros((100, 2), dtype=int)
    codes[3, 1] = 1
    results = mp.compare(mp.ModelCollection(codes, np.zeros(100, dtype=int)), realizations=20)
    assert [row["budget"] for row in results.rows] == [1] * 7
    shares = {row["method"]: row["identification_probability"] for row in results.rows}
    assert 0.3 <= shares.pop("structural-committee") < 1.0
    assert set(shares.values()) == {1.0}
    assert {row["queries"] for row in results.rows if row["method"] in shares} == {0.55}
