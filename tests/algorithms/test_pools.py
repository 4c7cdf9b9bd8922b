"""Pools: what PoolPicker asks, learns, recommends and proves, through its public face."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelpicker as mp
from modelpicker.algorithms.pools import picker as pool_module
from modelpicker.algorithms.pools.label_model import foresee, guess, new_label_model, prepare_guesses


def made(items: int = 200, models: int = 6, seed: int = 0, classes: int = 4) -> mp.ModelCollection:
    accuracies = np.linspace(0.55, 0.9, models).tolist()
    return mp.synthetic_collection(items, models, classes, accuracies, seed=seed)


def labels_of(collection: mp.ModelCollection) -> list[Any]:
    return [collection.classes[code] for code in np.asarray(collection.labels).tolist()]


def gap_of(collection: mp.ModelCollection, model: object) -> float:
    """By how much a model of a labelled collection is less accurate than the best."""
    accuracies = np.asarray(collection.accuracies)
    return float(accuracies.max() - accuracies[collection.models.index(str(model))])


def play(pool: mp.PoolPicker, labels: list[Any], n: int) -> list[int]:
    """Answer that many questions, one by one."""
    asked: list[int] = []
    for _ in range(n):
        for item in pool.ask(1):
            pool.tell(item, labels[item])
            asked.append(item)
    return asked


# What it takes.


def test_a_matrix_a_collection_and_a_frame_ask_the_same_questions() -> None:
    collection = made()
    codes, labels = np.asarray(collection.predictions), labels_of(collection)
    frame = pd.DataFrame({name: codes[:, j] for j, name in enumerate(collection.models)})
    asked = [play(mp.PoolPicker(source, seed=3), labels, 12) for source in (codes, collection, frame)]
    assert asked[0] == asked[1] == asked[2]


def test_a_frame_has_models_by_name_and_labels_of_its_own() -> None:
    frame = pd.DataFrame({"id": [7, 8], "a": ["x", "y"], "b": ["y", "y"], "label": ["y", "y"]})
    pool = mp.PoolPicker(frame)
    assert pool.models == ("a", "b")
    assert mp.run_pool(pool).winner == "b"


def test_names_given_are_names_returned() -> None:
    pool = mp.PoolPicker([[0, 1], [1, 0]], ["old", "new"])
    assert pool.recommended in ("old", "new")
    assert pool.certificate().model == pool.recommended


@pytest.mark.parametrize(
    ("predictions", "models", "words"),
    [
        ([[0], [1]], None, "at least two models"),
        ([], None, "empty|dimensions"),
        ([0, 1, 2], None, "one row per item"),
        ([[0, float("nan")]], None, "NaN"),
        ([[0, 1.5]], None, "whole number"),
        ([[0, -3]], None, "-3"),
        ([[0, 1]], ["a"], "at least two"),
        ([[0, 1]], ["a", "b", "c"], "3 models"),
        ([[0, 1]], ["a", "a"], "twice"),
        ([[0, "x"]], None, "string"),
    ],
)
def test_predictions_that_make_no_sense_are_refused(predictions: Any, models: Any, words: str) -> None:
    with pytest.raises(mp.InputError, match=words):
        mp.PoolPicker(predictions, models)


@pytest.mark.parametrize(
    "options", [{"seed": -1}, {"confidence": 1.0}, {"confidence": 0.0}, {"tolerance": -0.1}, {"tolerance": 1.0}]
)
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(mp.InputError):
        mp.PoolPicker([[0, 1]], **options)


# What it asks.


def test_only_items_on_which_models_differ_are_asked_about_and_each_once() -> None:
    collection = made(120)
    codes = np.asarray(collection.predictions)
    pool = mp.PoolPicker(collection, tolerance=0.0)
    asked = pool.ask(1000)
    assert sorted(asked) == np.flatnonzero((codes != codes[:, :1]).any(axis=1)).tolist()
    assert len(set(asked)) == len(asked) == pool.contested
    assert sorted(pool.open_items) == sorted(asked)
    assert pool.ask(1) == []
    assert not pool.done


def test_the_same_seed_and_answers_give_the_same_questions_and_another_seed_others() -> None:
    collection = made()
    labels = labels_of(collection)
    runs = [play(mp.PoolPicker(collection, seed=seed), labels, 25) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "1", None])
def test_a_number_of_questions_that_makes_no_sense_is_refused(n: Any) -> None:
    with pytest.raises(mp.InputError):
        mp.PoolPicker([[0, 1]]).ask(n)


def test_without_disagreement_there_is_nothing_to_ask_and_that_is_certain() -> None:
    pool = mp.PoolPicker([["a", "a"], ["b", "b"]], ["x", "y"])
    assert pool.ask(5) == []
    assert pool.done
    assert pool.labels_used == 0
    certificate = pool.certificate()
    assert certificate.gap == 0.0
    assert certificate.certain
    assert "(certain)." in certificate.sentence
    assert pool.identical == (("x", "y"),)


def test_models_that_all_abstain_do_not_disagree() -> None:
    assert mp.PoolPicker([[None, None], [None, "a"]]).contested == 1


def test_items_asked_together_find_the_best_nearly_as_fast_as_one_by_one() -> None:
    """On digits both name the best model of the file after 40 labels, in each of five seeds."""
    collection = mp.load_collection("digits")
    labels = labels_of(collection)
    for seed in range(5):
        pool = mp.PoolPicker(collection, seed=seed, tolerance=0.0)
        for _ in range(4):
            for item in pool.ask(10):
                pool.tell(item, labels[item])
        assert gap_of(collection, pool.recommended) < 0.005


# What it learns.


def test_an_unasked_label_is_used_and_the_item_is_not_asked_about() -> None:
    collection = made(80)
    labels = labels_of(collection)
    pool = mp.PoolPicker(collection, tolerance=0.0)
    item = mp.PoolPicker(collection, tolerance=0.0).ask(1)[0]
    pool.tell(item, labels[item])
    assert pool.labels_used == 1
    assert item not in pool.ask(1000)


def test_labels_that_exist_already_give_a_head_start() -> None:
    collection = mp.load_collection("digits")
    labels = labels_of(collection)
    fresh = mp.PoolPicker(collection)
    mp.run_pool(fresh)
    helped = mp.PoolPicker(collection)
    for item in range(0, len(collection), 2):
        helped.tell(item, labels[item])
    bought = mp.run_pool(helped).labels_used
    assert bought < fresh.labels_used / 2


def test_late_labels_in_any_order_end_in_the_same_counts() -> None:
    collection = made(60)
    labels = labels_of(collection)
    pools = [mp.PoolPicker(collection, tolerance=0.0) for _ in range(2)]
    asked = pools[0].ask(1000)
    pools[1].ask(1000)
    for item in asked:
        pools[0].tell(item, labels[item])
    for item in reversed(asked):
        pools[1].tell(item, labels[item])
    for pool in pools:
        assert pool.done
        assert pool.certificate().gap == 0.0
        assert "(certain)." in pool.certificate().sentence
        assert gap_of(collection, pool.recommended) == 0.0


def test_a_label_told_twice_alike_is_ignored_and_a_different_one_refused() -> None:
    pool = mp.PoolPicker([["a", "b"], ["a", "a"]])
    for item in (0, 1):
        pool.tell(item, "a")
        pool.tell(item, "a")
        with pytest.raises(mp.ConflictError, match=f"item {item}"):
            pool.tell(item, "b")
        with pytest.raises(mp.ConflictError):
            pool.tell(item, None)
    assert pool.labels_used == 2


def test_an_item_that_nobody_could_label_may_be_labelled_after_all() -> None:
    pool = mp.PoolPicker([["a", "b"]] * 3)
    pool.tell(0, None)
    pool.tell(0, None)
    assert pool.labels_used == 0
    pool.tell(0, "a")
    assert pool.labels_used == 1


def test_skips_count_at_their_worst_and_are_not_asked_again() -> None:
    pool = mp.PoolPicker([["a", "b"]] * 10, tolerance=0.0)
    while True:
        items = pool.ask(1)
        if not items:
            break
        pool.tell(items[0], None if items[0] < 4 else "a")
    certificate = pool.certificate()
    assert pool.done
    assert pool.labels_used == 6
    assert pool.recommended == 0
    assert certificate.items == 0  # ahead by six, and four skips cannot make up for that
    lost = mp.PoolPicker([["a", "b"]] * 10, tolerance=0.0)
    for item in range(10):
        lost.tell(item, None)
    assert lost.done
    assert lost.certificate().gap == 1.0


def test_a_class_that_no_model_predicts_is_a_label_on_which_all_are_wrong() -> None:
    pool = mp.PoolPicker([["a", "b"]] * 3, tolerance=0.0)
    for item in range(3):
        pool.tell(item, "zebra")
    assert pool.done
    assert pool.certificate().gap == 0.0


@pytest.mark.parametrize(("item", "error"), [(2, mp.NotFoundError), (-1, mp.NotFoundError), (True, mp.InputError)])
def test_items_that_do_not_exist_are_refused(item: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        mp.PoolPicker([["a", "b"]] * 2).tell(item, "a")


@pytest.mark.parametrize("item", ["0", 0.0, None, [0]])
def test_what_is_no_number_of_an_item_is_refused(item: Any) -> None:
    with pytest.raises(mp.InputError, match="item"):
        mp.PoolPicker([["a", "b"]] * 2).tell(item, "a")


def test_a_number_among_strings_is_a_mix_up() -> None:
    pool = mp.PoolPicker([["a", "b"]] * 2)
    with pytest.raises(mp.InputError, match="label of item 0"):
        pool.tell(0, 1)
    assert pool.labels_used == 0


# What it proves.


def test_the_certificate_is_of_exactly_these_items() -> None:
    collection = mp.load_collection("digits")
    pool = mp.PoolPicker(collection, tolerance=0.02)
    trace = mp.run_pool(pool)
    certificate = trace.certificate
    assert trace.stopped == "certified"
    assert certificate.kind == "pool"
    assert certificate.rounds == len(collection)
    assert certificate.gap <= 0.02
    assert certificate.confidence == 0.95
    assert certificate.sentence.startswith(f"Proven: {certificate.model} is at most ")
    assert certificate.sentence.endswith("(95% confidence).\nOf these 1,497 items.")


def test_a_higher_confidence_than_was_worked_for_proves_less() -> None:
    pool = mp.PoolPicker(mp.load_collection("digits"), tolerance=0.02)
    mp.run_pool(pool)
    assert pool.certificate(0.5).gap <= pool.certificate(0.95).gap < pool.certificate(0.999999).gap


def test_what_is_certain_is_so_at_any_confidence() -> None:
    pool = mp.PoolPicker([["a", "b"]] * 4 + [["a", "a"]] * 96, tolerance=0.05)
    assert pool.done
    assert pool.ask(1) != []
    assert pool.certificate(0.999).gap == 0.04
    assert "(certain)." in pool.certificate().sentence


def test_false_certificates_are_rare_for_somebody_who_looks_after_each_label() -> None:
    """200 files of near ties; 5 % are allowed to be false, so 22 of them have a chance below 1e-3 at most."""
    assert false_certificates(range(200)) <= 22


@pytest.mark.slow
def test_false_certificates_are_rare_in_two_thousand_files() -> None:
    """100 are expected at most; 135 has a chance below 1e-3 if the error is 5 %."""
    assert false_certificates(range(200, 2200)) <= 135


def false_certificates(seeds: range) -> int:
    """In how many files a certificate was ever wrong, whenever one looks."""
    false = 0
    for seed in seeds:
        random = np.random.default_rng(seed)
        truth = random.integers(0, 2, 60)
        right = random.random((60, 4)) < np.array([0.7, 0.72, 0.7, 0.55])
        codes = np.where(right, truth[:, None], 1 - truth[:, None])
        accurate = right.mean(axis=0)
        pool = mp.PoolPicker(codes, seed=seed, tolerance=0.03)
        wrong = False
        while not pool.done:
            item = pool.ask(1)[0]
            pool.tell(item, int(truth[item]))
            gap = pool.certificate(pool.confidence).gap
            wrong = wrong or bool(accurate.max() - accurate[pool.recommended_index] > gap + 1e-9)
        false += wrong
    return false


# How it is kept.


def test_a_saved_pool_goes_on_to_the_last_bit() -> None:
    collection = made(300)
    labels = labels_of(collection)
    pool = mp.PoolPicker(collection, seed=5)
    play(pool, labels, 30)
    late = pool.ask(3)
    pool.tell(late[0], None)
    blob = json.loads(json.dumps(pool.state_dict()))
    again = mp.PoolPicker.from_state_dict(blob, collection)
    assert again.labels_used == pool.labels_used
    assert again.open_items == pool.open_items
    for one in (pool, again):
        one.tell(late[1], labels[late[1]])
    assert play(pool, labels, 20) == play(again, labels, 20)
    assert pool.certificate() == again.certificate()
    assert pool.state_dict() == again.state_dict()


def test_a_state_is_refused_over_other_predictions_and_when_it_is_damaged() -> None:
    pool = mp.PoolPicker(made(50))
    blob = pool.state_dict()
    with pytest.raises(mp.StateError, match="other predictions"):
        mp.PoolPicker.from_state_dict(blob, made(50, seed=1))
    with pytest.raises(mp.StateError, match="version"):
        mp.PoolPicker.from_state_dict({**blob, "version": 99}, made(50))
    damages: list[Any] = [
        {},
        [],
        {**blob, "learned": [[10**6, 0]]},
        {**blob, "proof": {}},
        {**blob, "asked": "x"},
    ]
    for damaged in damages:
        with pytest.raises(mp.StateError):
            mp.PoolPicker.from_state_dict(damaged, made(50))


# Whole pools.


def test_run_pool_writes_down_every_label_and_stops_at_the_budget() -> None:
    collection = mp.load_collection("digits")
    trace = mp.run_pool(mp.PoolPicker(collection, tolerance=0.0), budget=15)
    assert trace.stopped == "budget"
    assert trace.labels_used == len(trace) == len(trace.items) == 15
    assert len(trace.recommended) == 15
    assert collection.models[trace.recommended[-1]] == trace.winner


def test_labels_come_from_an_array_a_list_a_mapping_or_a_function() -> None:
    collection = made(80)
    names = labels_of(collection)
    sources: list[Any] = [
        None,
        np.asarray(collection.labels),
        names,
        dict(enumerate(names)),
        lambda item: names[item],
    ]
    traces = [mp.run_pool(mp.PoolPicker(collection), labels) for labels in sources]
    assert len({tuple(trace.items.tolist()) for trace in traces}) == 1


def test_missing_labels_are_items_that_nobody_can_label() -> None:
    collection = made(80)
    names = labels_of(collection)
    trace = mp.run_pool(
        mp.PoolPicker(collection, tolerance=0.0), [None if place % 2 else name for place, name in enumerate(names)]
    )
    assert len(trace.skipped) > 0
    assert (trace.skipped % 2 == 1).all()
    assert (trace.items % 2 == 0).all()
    assert trace.stopped == "end"


@pytest.mark.parametrize("labels", ["x", 3, [0, 1], np.zeros(7, dtype=np.int64)])
def test_labels_that_do_not_fit_are_refused(labels: Any) -> None:
    with pytest.raises(mp.InputError):
        mp.run_pool(mp.PoolPicker(made(40)), labels)


def test_a_pool_without_labels_says_so() -> None:
    with pytest.raises(mp.InputError, match="no labels"):
        mp.run_pool(mp.PoolPicker([[0, 1]]))
    with pytest.raises(mp.InputError, match="not a pool"):
        mp.run_pool(mp.ModelPicker(2))  # type: ignore[arg-type]


def test_an_error_of_whoever_tells_leaves_the_pool_as_it_was() -> None:
    def fail(item: int) -> int:
        raise RuntimeError("the telephone rang")

    pool = mp.PoolPicker(made(40))
    with pytest.raises(RuntimeError, match="telephone"):
        mp.run_pool(pool, fail)
    assert pool.labels_used == 0
    assert len(pool.open_items) == 1


def test_a_large_pool_is_looked_at_in_samples_and_still_finds_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "MOST_CELLS", 1)  # a thousand items at a time
    collection = made(6000, models=5)
    pool = mp.PoolPicker(collection, tolerance=0.02)
    assert pool.contested > 2_000
    trace = mp.run_pool(pool)
    assert trace.stopped == "certified"
    assert gap_of(collection, trace.winner) <= trace.certificate.gap


def test_a_sampled_pool_is_saved_and_goes_on_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "MOST_CELLS", 1)
    collection = made(4000, models=4)
    labels = labels_of(collection)
    pool = mp.PoolPicker(collection, tolerance=0.0)
    play(pool, labels, 10)
    again = mp.PoolPicker.from_state_dict(json.loads(json.dumps(pool.state_dict())), collection)
    assert play(pool, labels, 10) == play(again, labels, 10)


def test_a_pool_that_was_saved_with_a_larger_sample_goes_on_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    collection = made(4000, models=4)
    labels = labels_of(collection)
    monkeypatch.setattr(pool_module, "MOST_CELLS", 6_000)
    pool = mp.PoolPicker(collection, tolerance=0.0)
    play(pool, labels, 10)
    saved = json.loads(json.dumps(pool.state_dict()))
    monkeypatch.setattr(pool_module, "MOST_CELLS", 1)
    again = mp.PoolPicker.from_state_dict(saved, collection)
    assert len(again._found.worth) == len(again._sample) == 1_500
    assert play(pool, labels, 10) == play(again, labels, 10)


@pytest.mark.parametrize("classes", [2, 5, 600])
def test_a_guess_is_the_mean_of_the_regressions_to_the_last_bit(classes: int) -> None:
    random = np.random.default_rng(classes)
    model = new_label_model(7, classes)
    for name in ("weights", "by_class", "biases"):
        getattr(model, name)[...] += random.normal(size=getattr(model, name).shape)
    for evidence in ([0.2, 0.3, 0.5], [0.001, 0.499, 0.5]):
        model.evidence[:] = evidence
        prepare_guesses(model)
        for row in random.integers(-1, classes, (50, 7)).astype(np.int32):
            mixed = np.zeros(7)
            for place, share in enumerate(evidence):
                if share > 0.01:
                    foresee(model, place, row)
                    mixed += share * model.chances
            guess(model, row)
            assert model.mixed.tolist() == mixed.tolist()


def test_a_file_that_was_opened_is_read(tmp_path: Path) -> None:
    collection = made(50)
    collection.save(tmp_path / "x.parquet")
    pool = mp.PoolPicker(mp.open_collection(tmp_path / "x.parquet"))
    assert len(pool) == 50
    assert mp.run_pool(pool).winner in collection.models


def test_looking_changes_nothing() -> None:
    collection = mp.load_collection("digits")
    labels = labels_of(collection)
    quiet, watched = (mp.PoolPicker(collection, seed=2) for _ in range(2))
    asked: list[list[int]] = [[], []]
    for _ in range(60):
        for place, pool in enumerate((quiet, watched)):
            asked[place] += play(pool, labels, 1)
        assert watched.certificate(0.9).gap <= 1.0
        assert len(watched.standing) == len(collection.models)
        assert watched.done in (True, False)
    assert asked[0] == asked[1]
    assert quiet.certificate() == watched.certificate()


def test_looking_between_the_labels_of_a_batch_changes_nothing() -> None:
    collection = made(300, models=12)
    labels = labels_of(collection)
    quiet, watched = (mp.PoolPicker(collection, seed=4, tolerance=0.0) for _ in range(2))
    for _ in range(8):
        batches = [pool.ask(10) for pool in (quiet, watched)]
        assert batches[0] == batches[1]
        for item in batches[0]:
            quiet.tell(item, labels[item])
            watched.tell(item, labels[item])
            assert watched.recommended in collection.models
    assert quiet.state_dict() == watched.state_dict()


def test_more_labels_than_the_fit_remembers_all_count() -> None:
    """The second model is ahead on the first 1,000 labels only; the fit sees the last 1,000."""
    codes = np.tile(np.array([[0, 1]]), (2_600, 1))
    pool = mp.PoolPicker(codes, tolerance=0.0)
    for item in range(2_000):
        pool.tell(item, 1 if item < 1_000 else item % 2)
    assert pool.recommended == 1
    assert pool.standing[0] > 0.35


def test_a_column_of_a_shuffled_frame_is_read_by_place() -> None:
    random = np.random.default_rng(0)
    truth = random.integers(0, 2, 60)
    columns = {name: np.where(random.random(60) < q, truth, 1 - truth) for name, q in (("a", 0.9), ("b", 0.7))}
    frame = pd.DataFrame({**columns, "label": truth}, index=random.permutation(60))
    own = mp.run_pool(mp.PoolPicker(frame, tolerance=0.0))
    given = mp.run_pool(mp.PoolPicker(frame, tolerance=0.0), frame["label"])
    assert own.items.tolist() == given.items.tolist()
    assert own.winner == given.winner == "a"


def test_names_of_a_collection_choose_its_models_and_other_names_rename_them() -> None:
    collection = made(60, models=4)
    backwards = mp.PoolPicker(collection, list(reversed(collection.models)), tolerance=0.0)
    assert mp.run_pool(backwards).winner == mp.run_pool(mp.PoolPicker(collection, tolerance=0.0)).winner
    assert mp.PoolPicker(collection, list(collection.models[:2])).models == collection.models[:2]
    assert mp.PoolPicker(collection, ["w", "x", "y", "z"]).models == ("w", "x", "y", "z")
    with pytest.raises(mp.InputError, match="no model 'x'"):
        mp.PoolPicker(collection, [collection.models[0], "x"])


def test_run_pool_begins_with_what_was_asked_about_before() -> None:
    pool = mp.PoolPicker([[0, 1]] * 3, tolerance=0.0)
    pool.ask(3)
    trace = mp.run_pool(pool, [0, 0, 0])
    assert pool.done
    assert trace.winner == 0


def test_an_awaited_label_does_not_make_an_audit_buy_everything() -> None:
    pool = mp.PoolPicker([[0, 1]] * 3 + [[0, 0]] * 200, tolerance=0.0, audit=0.05, seed=1)
    pool.ask(3)
    assert len(pool.ask(50)) < 25


def test_minus_one_is_a_skip_also_as_a_float() -> None:
    collection = made(60)
    codes = np.asarray(collection.predictions)
    labels = np.asarray(collection.labels).astype(np.float64)
    labels[::2] = -1.0
    trace = mp.run_pool(mp.PoolPicker(codes, tolerance=0.0), labels)
    assert len(trace.items) == trace.labels_used
    assert len(trace.skipped) > 0


def test_a_state_knows_the_classes_and_the_items_on_which_all_agree() -> None:
    blob = mp.PoolPicker([["a", "a"]] * 3 + [["a", "b"]] * 3).state_dict()
    for other in ([["b", "b"]] * 3 + [["a", "b"]] * 3, [["x", "x"]] * 3 + [["x", "y"]] * 3):
        with pytest.raises(mp.StateError, match="other predictions"):
            mp.PoolPicker.from_state_dict(blob, other)


@pytest.mark.parametrize("code", [0.5, True, "a", -1, 9])
def test_a_code_that_is_no_place_among_the_classes_is_refused(code: Any) -> None:
    with pytest.raises(mp.InputError, match="place"):
        mp.PoolPicker([[0, 1]] * 2).tell_code(0, code)


def test_a_number_of_models_must_be_that_of_the_columns() -> None:
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 1]})
    assert mp.PoolPicker(frame, 2).models == ("a", "b")
    with pytest.raises(mp.InputError, match="5 models"):
        mp.PoolPicker(frame, 5)


def test_a_looser_goal_is_reached_sooner_and_no_model_that_is_certified_blocks_the_pick() -> None:
    """A certified model that is not the pick once stayed on trial for ever: `digits` took 566 labels at 5 %.

    By chance a looser goal may take a few labels more, so that only half as many again are an error.
    """
    digits = mp.load_collection("digits")
    needed = []
    for tolerance in (0.01, 0.03, 0.05, 0.1):
        pool = mp.PoolPicker(digits, seed=0, tolerance=tolerance)
        mp.run_pool(pool)
        assert pool.certified
        assert gap_of(digits, pool.recommended) <= tolerance
        needed.append(pool.labels_used)
    assert all(later <= 1.5 * needed[0] for later in needed[1:]), needed


def test_the_default_tolerance_still_looks_for_the_best_model_itself() -> None:
    """Of 12 files of `digits`, at most 2 may end with another model than the best; it was 0 of 50 in a trial."""
    digits = mp.load_collection("digits")
    codes, truth = np.asarray(digits.predictions), np.asarray(digits.labels)
    missed = 0
    for seed in range(12):
        items = np.random.default_rng(seed).permutation(len(codes))[:800]
        pool = mp.PoolPicker(codes[items], seed=seed)
        mp.run_pool(pool, truth[items])
        right = (codes[items] == truth[items, None]).sum(axis=0)
        missed += int(right[pool.recommended_index] < right.max())
    assert missed <= 2
