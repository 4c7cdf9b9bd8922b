"""`mp.pick` on a pool: every form of source and labels, every way to end, and what is not valid."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from tests.campaigns.test_pick import LABELS, SOURCES, made, names, unlabelled


def as_labels_file(truth: mp.ModelCollection, folder: Path) -> Path:
    rows = "".join(f"{key},{name}\n" for key, name in zip(truth.fields["id"], names(truth), strict=True))
    (folder / "labels.csv").write_text(f"id,label\n{rows}")
    return folder / "labels.csv"


ALL_LABELS: dict[str, Callable[[mp.ModelCollection, Path], Any]] = {**LABELS, "file": as_labels_file}


@pytest.mark.parametrize("labels", ALL_LABELS)
@pytest.mark.parametrize("source", SOURCES)
def test_every_source_and_every_form_of_labels_gives_the_pick_of_the_pool(
    tmp_path: Path, source: str, labels: str
) -> None:
    truth = made()
    pool = mp.PoolPicker(truth, seed=3)
    expected = mp.run_pool(pool)
    found = mp.pick(SOURCES[source](unlabelled(truth), tmp_path), ALL_LABELS[labels](truth, tmp_path), seed=3)
    assert (found.model, found.labels_used, found.certificate) == (
        expected.winner,
        expected.labels_used,
        expected.certificate,
    )
    assert found.certificate.kind == "pool"
    assert (found.reached, found.certified, found.state.name) == (True, True, "certified")
    assert (found.rounds, found.skipped, found.pending) == (400, 0, 0)
    assert found.labels_saved == 400 - found.labels_used
    assert {entry.model: entry.gap for entry in found.standing} == pool.standing
    assert found.standing[0].model == found.model


def test_labels_that_came_with_the_source_are_used_by_default() -> None:
    truth = made()
    assert mp.pick(truth) == mp.pick(unlabelled(truth), names(truth)) == mp.pick(truth, setting="pool")


def test_the_tolerance_is_one_per_cent_unless_somebody_says_otherwise() -> None:
    truth = made()
    assert mp.pick(truth) == mp.pick(truth, tolerance=0.01)
    loose = mp.pick(truth, tolerance=0.2)
    assert loose.labels_used < mp.pick(truth).labels_used
    assert loose.certificate.gap <= 0.2


def test_a_budget_is_kept_and_the_state_says_so() -> None:
    truth = made()
    asked: list[int] = []

    def ask(item: dict[str, Any]) -> str:
        asked.append(item["item"])
        return str(names(truth)[item["item"]])

    known, told = mp.pick(truth, budget=7), mp.pick(unlabelled(truth), ask, budget=7)
    assert known == told
    assert (told.labels_used, len(asked), len(set(asked))) == (7, 7, 7)
    assert (told.state.name, told.reached, told.budget) == ("budget-spent", False, 7)


def test_an_item_that_somebody_is_asked_about_comes_with_its_fields() -> None:
    truth = made()
    seen: list[dict[str, Any]] = []

    def ask(item: dict[str, Any]) -> None:
        seen.append(item)

    found = mp.pick(unlabelled(truth), ask)
    assert all(item == {"item": item["item"], "id": f"i{item['item']}"} for item in seen)
    assert (found.labels_used, found.skipped, found.reached) == (0, len(seen), False)
    assert (found.state.name, found.tied) == ("all-items-asked", ("a", "b", "c"))
    assert found.document()["pick"] is None


def test_a_missing_label_that_is_asked_for_counts_at_its_worst_and_is_no_error() -> None:
    """Half of the labels are missing; a model with a label on every item would be proven."""
    truth = made()
    some = {f"i{number}": names(truth)[number] for number in range(0, 400, 2)}
    found = mp.pick(unlabelled(truth), some)
    assert found.skipped > 0
    assert not found.reached
    right = truth.predictions == np.asarray(truth.labels)[:, None]
    shortfall = right.mean(axis=0).max() - right.mean(axis=0)[truth.models.index(str(found.model))]
    assert found.certificate.gap >= shortfall
    assert mp.pick(truth).reached


def test_no_label_at_all_is_an_error() -> None:
    with pytest.raises(mp.InputError, match="there are no labels"):
        mp.pick(unlabelled(made()))


def test_models_that_are_all_the_same_need_no_label_and_are_named() -> None:
    found = mp.pick(mp.ModelCollection([["x", "x"], ["y", "y"]], ["x", "y"], ["one", "other"]))
    assert (found.labels_used, found.reached, found.certificate.gap) == (0, True, 0.0)
    assert found.certificate.sentence.endswith("(certain).\nOf these 2 items. You can stop.")
    assert set(found.tied) == {"one", "other"}
    assert found.remark.startswith("one and other give the same answer to every item")
    assert found.document()["pick"] == found.model


def test_models_that_differ_on_fewer_items_than_is_allowed_are_certified_at_once() -> None:
    rows = [["x", "x"]] * 199 + [["x", "y"]]
    found = mp.pick(mp.ModelCollection(rows, ["x"] * 200))
    assert (found.labels_used, found.reached, found.certificate.items) == (0, True, 1)


def test_a_copy_of_the_best_model_is_said_by_name() -> None:
    truth = made()
    codes = np.column_stack([truth.predictions, truth.predictions[:, 0]])
    found = mp.pick(mp.ModelCollection.of_codes(codes, truth.labels, [*truth.models, "copy"], truth.classes))
    assert set(found.tied) == {"a", "copy"}
    assert "a and copy give the same answer" in found.remark


def test_one_model_is_no_choice() -> None:
    with pytest.raises(mp.InputError, match="has one model, model-0; there must be two"):
        mp.pick(mp.ModelCollection([["x"], ["y"]], ["x", "y"]))


def test_a_label_that_no_model_predicts_makes_all_wrong() -> None:
    truth = made(60)
    found = mp.pick(unlabelled(truth), lambda item: "yak")
    assert found.labels_used > 0
    assert found.reached
    assert found.certificate.gap <= 0.01


def test_answers_of_an_earlier_stream_are_all_used_and_nobody_is_asked(tmp_path: Path) -> None:
    truth = made()
    path = tmp_path / "x.parquet"
    unlabelled(truth).save(path)
    from modelpicker.campaigns.file_campaign import Feeder, begin_file_campaign, fingerprint_of
    from modelpicker.campaigns.offline import Goal
    from modelpicker.campaigns.sources import FileSource
    from modelpicker.certificates.certificate import Certified

    whole = mp.load_collection(path)
    source = FileSource(str(path), fingerprint_of(whole), {})
    begun = begin_file_campaign(
        f"sqlite:///{tmp_path}/x.pick.db",
        "x",
        whole,
        source,
        Goal(None, None, Certified()),
        algorithm="model-picker",
        options={},
        seed=0,
    )
    feeder = Feeder(begun, whole, use_known=False)
    while feeder.feed() == "query":
        for query in begun.pending():
            begun.tell(query.id, names(truth)[query.id])
    told = begun.best().labels_used
    found = mp.pick(path, tmp_path / "x.pick.db")
    assert found.labels_used == told
    assert found.skipped == 0
    assert mp.pick(path, tmp_path / "x.pick.db", budget=5).labels_used == 5


@pytest.mark.parametrize(
    "given",
    [
        {"algorithm": "race"},
        {"options": {"query_scale": 2.0}},
        {"shuffle": True},
        {"kind": "population"},
        {"play_unlabelled": True},
    ],
)
def test_what_only_a_stream_has_means_a_stream_and_contradicts_a_pool(given: dict[str, Any]) -> None:
    truth = made()
    assert mp.pick(truth, **given) == mp.pick(truth, setting="stream", **given)
    assert mp.pick(truth, **given).certificate.kind != "pool"
    with pytest.raises(mp.InputError, match=f"{next(iter(given))} is for a stream"):
        mp.pick(truth, setting="pool", **given)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"setting": "puddle"}, "'pool' or 'stream'"),
        ({"labels": {"i9999": "cat"}}, "i9999"),
        ({"labels": ["cat"]}, "400"),
        ({"labels": lambda item: 3}, "label of item"),
        ({"budget": 0}, "budget"),
        ({"tolerance": 2.0}, "gap"),
        ({"confidence": 1.5}, "confidence"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_makes_no_sense_is_named(arguments: dict[str, Any], match: str) -> None:
    truth = made()
    with pytest.raises(mp.ModelPickerError, match=match):
        mp.pick(unlabelled(truth), **({"labels": names(truth)} | arguments))


def judged_table(items: int = 400) -> dict[str, list[Any]]:
    """Three models, the labels, and a judge that is right on nine of ten items."""
    random = np.random.default_rng(5)
    names = np.array(["ham", "spam", "other"])
    truth = random.integers(0, 3, items)

    def says(accuracy: float) -> list[str]:
        wrong = (truth + random.integers(1, 3, items)) % 3
        return [str(name) for name in names[np.where(random.random(items) < accuracy, truth, wrong)]]

    models: dict[str, list[Any]] = {"good": says(0.8), "fair": says(0.74), "poor": says(0.5)}
    return {**models, "cheap": says(0.9), "label": names[truth].tolist()}


def test_a_judge_is_a_column_of_a_file_a_model_of_a_collection_a_function_or_a_list(tmp_path: Path) -> None:
    table = judged_table()
    file = tmp_path / "tickets.csv"
    lines = zip(*table.values(), strict=True)
    file.write_text("\n".join([",".join(table), *(",".join(line) for line in lines)]) + "\n")
    alone = {name: values for name, values in table.items() if name != "cheap"}
    given: dict[str, Any] = {"tolerance": 0.02, "seed": 1}
    picks = [
        mp.pick(file, judge="cheap", **given),
        mp.pick(table, judge="cheap", **given),
        mp.pick(mp.load_collection(file), judge="cheap", **given),
        mp.pick(alone, judge=table["cheap"], **given),
        mp.pick(alone, judge=lambda item: table["cheap"][item["item"]], **given),
    ]
    assert {pick.model for pick in picks} == {"good"}
    assert len({pick.labels_used for pick in picks}) == 1
    assert all("cheap" not in {entry.model for entry in pick.standing} for pick in picks)
    assert picks[0].labels_used < mp.pick(alone, **given).labels_used


def test_a_judge_that_cannot_be_used_is_refused() -> None:
    table = judged_table(40)
    with pytest.raises(mp.InputError, match="no column"):
        mp.pick(mp.ModelCollection([["a", "b"]] * 3, ["a"] * 3), judge="cheap")
    with pytest.raises(mp.InputError, match="only a pool"):
        mp.pick(table, judge="cheap", setting="stream")
    with pytest.raises(mp.InputError, match="3 answers, but the pool has 40 items"):
        mp.pick(table, judge=["ham"] * 3)
    two = {name: table[name] for name in ("good", "cheap", "label")}
    with pytest.raises(mp.InputError, match="one model"):
        mp.pick(two, judge="cheap")
