"""Comparisons on pools: every method on the same files, played once and read off at every budget."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.pools import needed

import modelpicker as mp
from modelpicker.algorithms.pools.model_selector import ModelSelector
from modelpicker.algorithms.pools.peers import PoolRun
from modelpicker.experiments.figures import Section, draw_figures, sheets_of
from modelpicker.experiments.metrics import METRICS, OF_STREAMS
from modelpicker.experiments.plan import plan_comparison, usual_pool_budgets
from modelpicker.experiments.pool_methods import POOL_METHODS, PoolMethod
from modelpicker.experiments.realizations import Pool, draw, key_of
from modelpicker.experiments.report import write_report
from modelpicker.experiments.tasks import EVALUATION
from tests.experiments.test_comparing import small as small_streams
from tests.experiments.test_playing import collection

OWN = [name for name, method in POOL_METHODS.items() if isinstance(method, PoolMethod)]
SMALL: dict[str, Any] = {
    "budgets": [5, 20, 40],
    "stream_size": 100,
    "realizations": 12,
    "seed": 5,
    "setting": "pool",
}


def small(**changes: Any) -> mp.Results:
    return mp.compare(collection(), **{**SMALL, **changes})


@pytest.fixture(scope="module")
def results() -> mp.Results:
    return small()


def rows_of(results: mp.Results) -> list[dict[str, Any]]:
    """The rows with null for what is not a number, so that they can be compared."""
    rows: list[dict[str, Any]] = results.document()["rows"]
    return rows


def the_file(number: int) -> Any:
    found = collection()
    return draw(Pool(found.predictions, np.asarray(found.labels, dtype=np.int32)), 100, 5, EVALUATION, number)


def plays(name: str, most: int) -> list[tuple[Any, PoolRun]]:
    """Every file of `SMALL`, and what a method does on it, without the harness."""
    method = POOL_METHODS[name]
    assert isinstance(method, PoolMethod)
    rule = method.make()
    files = [the_file(number) for number in range(12)]
    return [
        (file, rule.play(file.rows, file.labels, 5, most, key_of(5, EVALUATION, number, name)))
        for number, file in enumerate(files)
    ]


def test_all_methods_for_pools_are_compared_by_default(results: mp.Results) -> None:
    assert results.methods == ["pool-picker", "model-selector", "coda", "race", "label-efficient"]
    assert results.setting == results.settings["setting"] == "pool"
    assert results.settings["remarks"] == []
    assert [(row["method"], row["budget"]) for row in results.rows[:4]] == [
        ("pool-picker", 5),
        ("pool-picker", 20),
        ("pool-picker", 40),
        ("model-selector", 5),
    ]


def test_a_frame_has_the_columns_of_streams_and_no_regret(results: mp.Results) -> None:
    frame = results.to_frame()
    assert list(frame.columns) == list(small_streams().to_frame().columns)
    for metric in METRICS:
        assert frame[metric].isna().all() == (metric in OF_STREAMS)
        assert frame[f"{metric}_se"].isna().all() == (metric in OF_STREAMS)
    assert frame[frame["method"] != "race"]["value"].isna().all()
    assert frame[frame["method"] == "race"]["value"].notna().all()
    assert all(row["regret"] is None for row in rows_of(results))
    assert results.curves_to_frame()["round"].unique().tolist() == [100]


@pytest.mark.parametrize("name", OWN)
def test_metrics_are_those_of_the_method_played_by_hand(results: mp.Results, name: str) -> None:
    """A single play up to the largest budget gives the row of every budget."""
    found = plays(name, 40)
    for budget in (5, 20, 40):
        labels = np.array([min(budget, len(run.items)) for _, run in found])
        gaps = np.array(
            [
                file.mistakes[run.recommended[bought]] - file.mistakes.min()
                for (file, run), bought in zip(found, labels, strict=True)
            ]
        )
        row = results.row(name, budget)
        assert row["queries"] == pytest.approx(labels.mean(), rel=1e-12)
        assert row["identification_probability"] == (gaps == 0).mean()
        assert row["accuracy_gap"] == pytest.approx(gaps.mean() / 100, rel=1e-12)
        assert row["accuracy_gap_se"] == pytest.approx(gaps.std(ddof=1) / np.sqrt(12) / 100, rel=1e-12)
        assert row["accuracy_gap_p90"] == sorted(gaps)[10] / 100


@pytest.mark.parametrize("rule", ["expected", "hard"])
def test_race_is_what_it_is_on_streams(rule: str) -> None:
    """The same files in the same order with the same coins; only regret is left out."""
    pool = small(methods=["race"], budget_rule=rule)
    stream = small(methods=["race"], budget_rule=rule, setting="stream")
    assert len(pool.rows) == 3
    for one, other in zip(rows_of(pool), rows_of(stream), strict=True):
        kept = {name: value for name, value in other.items() if not name.startswith(OF_STREAMS)}
        assert {name: one[name] for name in kept} == kept


@pytest.mark.parametrize(
    "change", [{"workers": 1}, {"workers": 3, "chunk": 1}, {"budgets": [40, 5, 20]}, {"methods": OWN[::-1]}]
)
def test_the_numbers_do_not_depend_on_who_does_the_work(results: mp.Results, change: dict[str, Any]) -> None:
    other = small(**{"methods": OWN, **change})
    assert len(other.rows) == 3 * len(OWN)
    by_key = {(row["method"], row["budget"]): row for row in rows_of(results)}
    for row in rows_of(other):
        assert row == by_key[row["method"], row["budget"]]


def test_one_budget_alone_gives_the_same_row(results: mp.Results) -> None:
    alone = small(budgets=[20], methods=OWN)
    assert rows_of(alone) == [row for row in rows_of(results) if row["budget"] == 20 and row["method"] != "race"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_numbers_of_dask_are_those_of_threads(results: mp.Results) -> None:
    assert rows_of(small(engine="dask", workers=1)) == rows_of(results)


def test_a_file_with_few_disagreements_leaves_the_pick_as_it_is() -> None:
    """Two models differ on three items of 40; files of 20 have none to three of them, and the budget is 10.

    Nobody can buy more, and who has seen all of them knows the best model; where there are none, both are best.
    """
    codes = np.zeros((40, 2), dtype=int)
    codes[[3, 17, 30], 1] = 1
    pool = mp.ModelCollection(codes, np.zeros(40, dtype=int))
    results = mp.compare(pool, budgets=[1, 10], stream_size=20, realizations=30, setting="pool")
    assert "coda" in results.methods
    for name in OWN:
        row = results.row(name, 10)
        assert row["mark"] == "done"
        assert row["queries"] <= 3
        assert row["identification_probability"] == 1.0
    assert results.outcomes["label-efficient"].labels[:, 1].min() == 0


def test_items_without_labels_are_left_out() -> None:
    found = collection()
    labels = np.asarray(found.labels).astype(np.int64)
    labels[:100] = -1
    results = mp.compare(found.with_labels(labels), ["pool-picker", "model-selector"], **SMALL)
    assert results.settings["collection"]["items"] == 300
    assert {row["mark"] for row in results.rows} <= {"", "done"}


def test_coda_is_left_out_where_classes_are_many() -> None:
    many = mp.synthetic_collection(60, 3, 25, [0.5, 0.6, 0.7], seed=1)
    plan = plan_comparison(many, setting="pool")
    assert [method.label for method in plan.job.methods] == [name for name in POOL_METHODS if name != "coda"]
    assert plan.remarks == ("coda is left out: it compares 2 to 20 classes, and here are 25.",)
    with pytest.raises(mp.InputError, match="method coda: coda compares 2 to 20 classes, and here are 25"):
        mp.compare(many, ["coda"], setting="pool")


def test_options_and_copies_of_methods() -> None:
    bold = PoolMethod("bold", ModelSelector, {"epsilon": 0.3})
    patient = mp.Method("patient", mp.Race, fixed=10.0)
    results = small(methods=["model-selector", bold, patient, mp.Race])
    assert results.methods == ["model-selector", "bold", "patient", "race"]
    assert results.settings["methods"][1]["options"] == {"epsilon": 0.3}
    assert results.row("patient", 20)["mark"] == "fixed"
    assert results.factor(0.1, "bold").method == "bold"


BAD: list[tuple[dict[str, Any], str]] = [
    ({"setting": "river"}, "setting='river' is not known; pass one of 'stream', 'pool'"),
    ({"methods": ["model-picker"]}, "'model-picker' is for streams; with setting='pool' there are pool-picker, "),
    ({"methods": [mp.VoteEntropy]}, "is for streams; with setting='pool' there are pool-picker, "),
    ({"methods": [mp.Method("mine", mp.ModelPicker)]}, "'mine' is for streams"),
    ({"methods": ["pool-pickr"]}, "there is no method 'pool-pickr'; with setting='pool' there are pool-picker, "),
    ({"methods": [7]}, "there is no method 7"),
    ({"methods": "pool-picker"}, "pass a list"),
    ({"methods": []}, "no methods to compare; on pools there are"),
    ({"methods": ["coda", "coda"]}, "coda is given twice"),
    ({"methods": ["pool-picker"], "setting": "stream"}, "'pool-picker' is for pools; pass setting='pool'"),
    ({"methods": [PoolMethod("x", ModelSelector)], "setting": "stream"}, "'x' is for pools"),
    ({"methods": [PoolMethod("x", ModelSelector, {"beta": 1})]}, "method x does not take its options"),
    ({"methods": [PoolMethod("x", ModelSelector, {"epsilon": 0.7})]}, "epsilon=0.7 is out of range"),
    ({"methods": [POOL_METHODS["pool-picker"].with_options({"tolerance": -1})]}, "-1"),
    ({"budgets": [101]}, "budget 101 is more than the 100 items of a pool"),
    ({"budgets": [0]}, "budget=0 is not a count"),
]


@pytest.mark.parametrize(("changes", "complaint"), BAD)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(mp.InputError, match=complaint):
        small(**changes)


def test_collections_that_cannot_be_compared_on() -> None:
    found = collection()
    with pytest.raises(mp.InputError, match="has no labels to judge methods by"):
        mp.compare(mp.ModelCollection(found.predictions), **SMALL)
    with pytest.raises(mp.InputError, match="one model only"):
        mp.compare(mp.ModelCollection(found.predictions[:, :1], found.labels), **SMALL)
    with pytest.raises(mp.InputError, match="agree on every labelled item"):
        mp.compare(mp.ModelCollection(found.predictions[:, [0, 0]], found.labels), **SMALL)


def test_usual_budgets_of_pools_begin_with_few_labels() -> None:
    for expected in (1.0, 3.0, 12.0, 150.0, 2_500.0):
        budgets = usual_pool_budgets(expected)
        assert all(1 <= budget <= max(1, expected) for budget in budgets)
        assert list(budgets) == sorted(set(budgets))
    assert usual_pool_budgets(2_500.0)[0] == 5
    assert usual_pool_budgets(2_500.0)[-1] == 400


def test_a_folder_is_gone_on_with_and_knows_its_setting(tmp_path: Path, results: mp.Results) -> None:
    first = small(out=tmp_path / "out")
    assert rows_of(first) == rows_of(small(out=tmp_path / "out")) == rows_of(results)
    small(methods=["race"], out=tmp_path / "race")
    with pytest.raises(mp.ConflictError, match='its setting is "pool", not "stream"'):
        small(methods=["race"], setting="stream", out=tmp_path / "race")


def test_a_folder_of_a_version_that_knew_streams_only_is_one_of_streams(tmp_path: Path) -> None:
    before = small(methods=["race"], setting="stream", out=tmp_path / "out")
    settings = tmp_path / "out/settings.json"
    known = json.loads(settings.read_text())
    assert known.pop("setting") == "stream"
    settings.write_text(json.dumps(known))
    assert small(methods=["race"], setting="stream", out=tmp_path / "out").rows == before.rows


def test_figures_and_report_speak_of_files_and_not_of_regret(tmp_path: Path, results: mp.Results) -> None:
    section = Section("here", results, 20)
    sheets = sheets_of(section)
    assert "regret-by-round" not in sheets
    assert {"identification", "accuracy-gap", "accuracy-gap-p90", "accuracies", "overview"} <= set(sheets)
    draw_figures(sheets["overview"])
    write_report(tmp_path / "report.html", "here", [section], {}, "modelpicker compare")
    page = (tmp_path / "report.html").read_text()
    body = page[: page.index("<script>")]
    assert "12 files (pools) of 100 items" in body
    assert "pool-picker" in body
    assert "egret" not in body


def test_the_factor_is_that_of_pool_picker(results: mp.Results) -> None:
    assert results.factor(0.5).method == "pool-picker"
    assert small_streams().factor(0.5).method == "model-picker"


@pytest.mark.parametrize(
    ("share", "level", "first", "for_good"),
    [
        ([0.0, 0.5, 0.9, 0.7, 0.9], 0.9, 2, 4),
        ([0.0, 0.5, 0.9, 0.9, 0.9], 0.9, 2, 2),
        ([0.0, 0.9, 0.9, 0.9, 0.7], 0.9, 1, np.inf),
        ([0.0, 0.1, 0.2, 0.3, 0.4], 0.9, np.inf, np.inf),
        ([1.0, 1.0, 1.0, 1.0, 1.0], 0.9, 0, 0),
    ],
)
def test_the_benchmark_counts_labels_to_the_first_time_and_for_good(
    share: list[float], level: float, first: float, for_good: float
) -> None:
    assert needed(np.array(share), level) == (first, for_good)
