"""Early stopping in a plain loop."""

import json
from typing import Any

import numpy as np
import pytest

import modelpicker as mp

MODELS = ("good", "fair", "bad", "awful")
RIGHT = np.random.default_rng(0).random((2_000, 4)) < (0.9, 0.8, 0.6, 0.3)


def score(item: Any, model: Any) -> bool:
    return bool(RIGHT[item.item, MODELS.index(model)])


def play(evaluation: Any, most: int = 10_000) -> list[tuple[Any, ...]]:
    ran = []
    for item in evaluation:
        ran.append(item.models)
        for model in item.models:
            item.score(model, score(item, model))
        if len(ran) == most:
            break
    return ran


def test_beaten_models_are_no_longer_run_and_it_ends_with_a_proof() -> None:
    evaluation = mp.worth_running(range(2_000), MODELS, tolerance=0.02)
    ran = play(evaluation)
    assert (evaluation.model, evaluation.certified, evaluation.racing) == ("good", True, ())
    assert ran[0] == MODELS
    assert "awful" not in ran[-1]
    assert evaluation.calls == sum(map(len, ran)) < 2_500
    assert evaluation.calls_saved == 8_000 - evaluation.calls
    assert evaluation.certificate.gap <= 0.02
    assert list(evaluation) == []


def test_a_loop_that_is_left_early_goes_on_where_it_was() -> None:
    whole, parts = (mp.worth_running(range(2_000), MODELS, tolerance=0.02) for _ in range(2))
    play(whole)
    for _ in range(1_000):
        play(parts, most=7)
    assert parts.calls == whole.calls
    assert parts.state_dict() == whole.state_dict()


def test_an_exception_in_a_call_loses_no_scores() -> None:
    evaluation = mp.worth_running(range(2_000), MODELS, tolerance=0.02)
    places = []

    def fail() -> None:
        for item in evaluation:
            places.append(item.place)
            item.score("good", True)
            raise ConnectionError

    with pytest.raises(ConnectionError):
        fail()
    for item in evaluation:
        assert item.place == places[0]
        assert item.models == ("fair", "bad", "awful")
        break


def test_it_goes_on_in_another_process() -> None:
    whole, first = (mp.worth_running(range(2_000), MODELS, tolerance=0.02, seed=3) for _ in range(2))
    play(whole)
    play(first, most=40)
    state = json.loads(json.dumps(first.state_dict()))
    second = mp.worth_running(range(2_000), MODELS, tolerance=0.02, seed=3, resume=state)
    assert second.calls == first.calls > 0
    play(second)
    assert second.state_dict() == whole.state_dict()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 4}, "another evaluation: its seed is 3, here it is 4"),
        ({"models": ("good", "fair")}, "its models"),
        ({"items": range(5)}, "its items is 2000, here it is 5"),
        ({"resume": 7}, "not the state of an evaluation"),
    ],
)
def test_a_state_of_something_else_is_refused(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"items": range(2_000), "models": MODELS, "seed": 3}
    first = mp.worth_running(**given)
    play(first, most=3)
    with pytest.raises(mp.StateError, match=message):
        mp.worth_running(**{**given, "resume": first.state_dict(), **changes})
    damaged = first.state_dict()
    damaged["scores"][1][0] += 1
    with pytest.raises(mp.StateError, match="damaged"):
        mp.worth_running(**given, resume=damaged)


def test_scores_and_models_that_make_no_sense_are_named() -> None:
    evaluation = mp.worth_running(["x", "y"], ["a", "b"])
    item = next(iter(evaluation))
    wrongs: list[Any] = [2, -0.1, float("nan"), "right"]
    for wrong in wrongs:
        with pytest.raises(mp.InputError, match="pass a number from 0"):
            item.score("a", wrong)
    with pytest.raises(mp.NotFoundError, match="'c' is not one of the models to run on it"):
        item.score("c", 1)
    item.score("a", 1)
    with pytest.raises(mp.ConflictError, match="a has a score already"):
        item.score("a", 0)
    with pytest.raises(mp.InputError, match="has no score for b"):
        for _ in evaluation:
            pass


@pytest.mark.parametrize(
    ("items", "models", "message"),
    [
        (iter([1]), ["a", "b"], "pass a list"),
        ("text", ["a", "b"], "pass a list"),
        ([1], ["a"], "there is one model|two"),
        ([1], ["a", "a"], "twice|differ"),
    ],
)
def test_bad_beginnings(items: Any, models: list[str], message: str) -> None:
    with pytest.raises(mp.InputError, match=message):
        mp.worth_running(items, models)


def test_no_items_and_unknown_scores() -> None:
    assert list(mp.worth_running([], ["a", "b"])) == []
    evaluation = mp.worth_running([1, 2, 3], ["a", "b"])
    for item in evaluation:
        item.score("a", 1)
        item.score("b", None)
    assert (evaluation.finished, evaluation.certified, evaluation.calls) == (True, False, 6)


def test_the_winner_is_wrong_as_seldom_as_it_says() -> None:
    """40 evaluations of two models, one 15 % better, at 90 %: more than 9 wrong would be 1 case in 100."""
    wrong = 0
    for seed in range(40):
        right = np.random.default_rng(seed).random((800, 2)) < (0.65, 0.8)
        evaluation = mp.worth_running(range(800), ["worse", "better"], tolerance=0.05, confidence=0.9, seed=seed)
        for item in evaluation:
            for place, model in enumerate(("worse", "better")):
                if model in item.models:
                    item.score(model, bool(right[item.item, place]))
        wrong += evaluation.certified and evaluation.model == "worse"
    assert wrong <= 9
