"""`mp.pick`: the main job as a function, for every form of source and of labels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp

CLASSES = ["cat", "dog", "emu"]


def made(items: int = 400, seed: int = 0) -> mp.ModelCollection:
    collection = mp.synthetic_collection(items, ["a", "b", "c"], CLASSES, [0.9, 0.75, 0.5], seed=seed)
    ids = [f"i{number}" for number in range(items)]
    return mp.ModelCollection(
        [[collection.classes[code] for code in row] for row in collection.predictions],
        [collection.classes[code] for code in np.asarray(collection.labels)],
        collection.models,
        collection.classes,
        fields={"id": ids},
    )


def names(collection: mp.ModelCollection) -> list[str]:
    return [str(collection.classes[code]) for code in np.asarray(collection.labels)]


def unlabelled(collection: mp.ModelCollection) -> mp.ModelCollection:
    return mp.ModelCollection.of_codes(
        collection.predictions, None, collection.models, collection.classes, collection.fields
    )


def as_file(collection: mp.ModelCollection, folder: Path) -> Path:
    collection.save(folder / "x.parquet")
    return folder / "x.parquet"


def as_frame(collection: mp.ModelCollection, _: Path) -> Any:
    import pandas as pd

    frame = pd.DataFrame({"id": list(collection.fields["id"])})
    for place, model in enumerate(collection.models):
        frame[model] = [collection.classes[code] for code in collection.predictions[:, place]]
    return frame


SOURCES: dict[str, Callable[[mp.ModelCollection, Path], Any]] = {
    "collection": lambda collection, _: collection,
    "file": as_file,
    "frame": as_frame,
}
LABELS: dict[str, Callable[[mp.ModelCollection, Path], Any]] = {
    "list": lambda truth, _: names(truth),
    "array": lambda truth, _: np.array(names(truth), dtype=object),
    "mapping": lambda truth, _: dict(zip(truth.fields["id"], names(truth), strict=True)),
    "function": lambda truth, _: lambda item: names(truth)[item["item"]],
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("source", SOURCES)
def test_every_source_and_every_form_of_labels_gives_the_same_pick(
    tmp_path: Path, source: str, labels: str
) -> None:
    truth = made()
    expected = mp.run_stream(mp.ModelPicker(truth.models, seed=3), truth)
    found = mp.pick(
        SOURCES[source](unlabelled(truth), tmp_path), LABELS[labels](truth, tmp_path), setting="stream", seed=3
    )
    assert isinstance(found, mp.Pick)
    assert (found.model, found.labels_used, found.rounds) == (expected.winner, expected.labels_used, 400)
    assert [entry.estimate for entry in found.standing] == sorted(expected.losses.tolist())
    assert (found.state.name, found.reached, found.skipped) == ("all-items-asked", None, 0)


def test_it_is_the_pick_of_a_campaign_that_was_asked_and_told_the_same(memory: str) -> None:
    truth = made()
    campaign = mp.create_campaign(memory, "c", models=truth.models, seed=3)
    for row, label in zip(truth.predictions, names(truth), strict=True):
        decision = campaign.ask([truth.classes[code] for code in row])
        if decision.query:
            campaign.tell(decision.id, label)
    theirs, ours = campaign.best(), mp.pick(truth, setting="stream", seed=3)
    assert (theirs.model, theirs.standing, theirs.tied) == (ours.model, ours.standing, ours.tied)
    assert theirs.certificate == ours.certificate


@pytest.mark.parametrize("algorithm", ["model-picker", "race", "label-efficient", mp.VoteEntropy])
def test_a_budget_is_kept_with_known_labels_and_with_a_function(algorithm: Any) -> None:
    truth = made()
    asked: list[int] = []

    def ask(item: dict[str, Any]) -> str:
        asked.append(item["item"])
        return str(names(truth)[item["item"]])

    known = mp.pick(truth, budget=7, algorithm=algorithm)
    told = mp.pick(unlabelled(truth), ask, budget=7, algorithm=algorithm)
    assert known.labels_used == told.labels_used == len(asked) == 7
    assert known.standing == told.standing
    assert known.rounds == told.rounds == asked[-1] + 1
    assert known.state.name == told.state.name == "budget-spent"


@pytest.mark.parametrize("algorithm", ["race", "model-picker"])
def test_a_tolerance_is_a_goal_that_is_reached_or_not(algorithm: str) -> None:
    truth = made(4_000)
    found = mp.pick(
        truth, tolerance=0.05, algorithm=algorithm, options={} if algorithm == "race" else {"query_scale": 8.0}
    )
    assert (found.reached, found.model) == (True, "a")
    assert found.rounds < 4_000
    assert found.certificate.gap <= 0.05
    assert found.state.name == ("won" if algorithm == "race" else "certified")
    missed = mp.pick(truth.take(range(60)), tolerance=0.001, algorithm="model-picker")
    assert (missed.reached, missed.state.name) == (False, "all-items-asked")


def test_items_without_labels_are_left_out_unless_asked_for() -> None:
    truth = made()
    some = {f"i{number}": names(truth)[number] for number in range(0, 400, 4)}
    found = mp.pick(unlabelled(truth), some, algorithm="race")
    assert found.rounds <= 100
    assert found.skipped == 0
    every = mp.pick(unlabelled(truth), some, algorithm="race", play_unlabelled=True)
    assert every.skipped > 0


def test_a_function_may_not_know_and_shuffling_is_an_order() -> None:
    truth = made()
    seen: list[dict[str, Any]] = []
    found = mp.pick(unlabelled(truth), lambda item: seen.append(item), seed=2, shuffle=True)
    assert (found.labels_used, found.skipped) == (0, len(seen))
    assert seen[0]["id"] == f"i{seen[0]['item']}"
    places = [item["item"] for item in seen]
    assert places != sorted(places)


def test_a_long_stretch_without_labels_is_played_with_its_queries_missing() -> None:
    """Pieces are played together; one of them may have no label at all."""
    truth = made()
    some = mp.ModelCollection.of_codes(
        np.tile(truth.predictions, (50, 1)),
        np.concatenate([np.full(49 * len(truth), -1), np.asarray(truth.labels)]),
        truth.models,
        truth.classes,
    )
    found = mp.pick(some, play_unlabelled=True)
    assert found.skipped > 0


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"labels": None}, "there are no labels"),
        ({"labels": {"i9999": "cat"}}, "i9999"),
        ({"labels": ["cat"]}, "400"),
        ({"budget": 0}, "budget"),
        ({"budget": 2.5}, "budget"),
        ({"tolerance": 2.0}, "gap"),
        ({"confidence": 1.5}, "confidence"),
        ({"algorithm": "nonesuch"}, "nonesuch"),
        ({"options": {"colour": 1}}, "colour"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_makes_no_sense_is_named(arguments: dict[str, Any], match: str) -> None:
    truth = made()
    given = {"labels": names(truth)} | arguments
    with pytest.raises(mp.ModelPickerError, match=match):
        mp.pick(unlabelled(truth), **given)


def test_nothing_to_choose_from_is_an_error() -> None:
    with pytest.raises(mp.InputError, match="there must be two"):
        mp.pick(mp.ModelCollection([["x"], ["y"]], ["x", "y"]))
    with pytest.raises(mp.InputError, match="nothing to choose"):
        mp.pick(mp.ModelCollection([["x", "x"], ["y", "y"]], ["x", "y"]), setting="stream")
