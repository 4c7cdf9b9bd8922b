"""Which models are still in the race, and models that were not run."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.campaigns.export import export_campaign, import_campaign
from modelpicker.errors import InputError

MODELS = ["good", "fair", "bad"]


def items(rounds: int = 400) -> tuple[list[list[int]], list[int]]:
    draw = np.random.default_rng(3)
    labels = draw.integers(0, 3, rounds)
    right = draw.random((rounds, 3)) < [0.9, 0.8, 0.2]
    return np.where(right, labels[:, None], (labels[:, None] + 1) % 3).tolist(), labels.tolist()


def play(campaign: Any, rounds: int = 400) -> None:
    """Run only models that are still in the race."""
    rows, labels = items(rounds)
    racing = campaign.racing
    for row, label in zip(rows, labels, strict=True):
        said = {model: code for model, code in zip(MODELS, row, strict=True) if model in racing}
        decision = campaign.ask(said)
        racing = decision.racing
        if decision.query:
            campaign.tell(decision.id, label)


def race(storage: str, name: str = "race", **more: Any) -> Any:
    return mp.create_campaign(
        storage, name, models=MODELS, algorithm="race", options={"tolerance": 0.02}, missing="not-run", **more
    )


def test_callers_stop_paying_for_models_that_are_out() -> None:
    campaign = race("memory://racing")
    assert campaign.racing == tuple(MODELS)
    play(campaign)
    pick = campaign.best()
    assert "bad" not in campaign.racing
    assert pick.racing == campaign.racing
    assert pick.model == "good"
    assert pick.calls is not None
    assert 400 < pick.calls < 1_000
    assert f"{pick.calls:,} of 1,200 calls of models were made" in pick.calls_sentence
    assert pick.document()["racing"] == list(pick.racing)
    assert pick.calls_sentence.split(". ")[0] in campaign.report()


def test_a_campaign_with_models_left_out_decides_as_the_bare_picker() -> None:
    campaign, picker = race("memory://racing-same"), mp.Race(MODELS, tolerance=0.02)
    play(campaign)
    racing = picker.racing
    for row, label in zip(*items(), strict=True):
        said = [code if model in racing else mp.NOT_RUN for model, code in zip(MODELS, row, strict=True)]
        decision = picker.observe(said)
        racing = decision.racing
        if decision.query:
            picker.learn(decision.round, label)
    assert campaign.best().labels_used == picker.labels_used
    assert campaign.certificate(kind="population") == picker.certificate(kind="population")
    assert campaign.best().calls == picker.calls


def test_it_is_the_same_after_a_restart_and_after_a_round_trip_through_a_file(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/picker.db"
    campaign = race(storage)
    play(campaign, 150)
    again = mp.open_campaign(storage, "race")
    assert again.best() == campaign.best()
    export_campaign(campaign, tmp_path / "race.jsonl")
    other = import_campaign(f"sqlite:///{tmp_path}/other.db", tmp_path / "race.jsonl")
    assert other.best() == campaign.best()
    assert other.best().calls == campaign.best().calls
    told = [json.loads(line) for line in (tmp_path / "race.jsonl").read_text().splitlines()]
    assert any(mp.NOT_RUN in one.get("predictions", ()) for one in told)


def test_many_rounds_at_once_take_what_one_takes() -> None:
    rows, _ = items(60)
    for row in rows[20:]:
        row[2] = mp.NOT_RUN
    one, many = race("memory://racing-one"), race("memory://racing-many")
    by_one = [one.ask(row) for row in rows]
    by_many = many.ask_many(np.array(rows))
    assert [made.query for made in by_one] == [made.query for made in by_many]
    assert one.best() == many.best()
    assert by_many[0].racing == by_one[-1].racing


@pytest.mark.parametrize("missing", ["abstained", "not-run"])
def test_what_none_stands_for_is_the_setting(missing: Any) -> None:
    campaign = mp.create_campaign(
        f"memory://none-{missing}",
        "a",
        models=MODELS,
        algorithm="label-efficient",
        options={"probability": 1.0},
        missing=missing,
    )
    decision = campaign.ask([0, 0, None])
    assert decision.query == (missing == "abstained")
    assert campaign.settings.missing == missing


def test_an_empty_cell_of_a_file_is_a_model_that_was_not_run(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("good,fair,bad\na,b,\na,,\na,a,b\n")
    campaign = race("memory://empty-cells")
    campaign.ask_file(tmp_path / "items.csv", at_once=True)
    told = [one["predictions"] for one in campaign.history() if one["kind"] == "ask"]
    assert told == [["a", "b", mp.NOT_RUN], ["a", mp.NOT_RUN, mp.NOT_RUN], ["a", "a", "b"]]
    assert campaign.best().calls == 6


def test_without_the_setting_a_model_that_is_missing_is_refused() -> None:
    campaign = mp.create_campaign("memory://refused", "a", models=MODELS)
    with pytest.raises(InputError, match="no prediction of bad; pass one of every model"):
        campaign.ask({"good": 0, "fair": 1})
    with pytest.raises(InputError, match="'worse' is not a model"):
        race("memory://strange").ask({"good": 0, "worse": 1})


def test_a_pick_takes_empty_cells_as_not_run_if_told_so(tmp_path: Path) -> None:
    rows, labels = items(300)
    path = tmp_path / "items.csv"
    lines = [
        f"c{a},c{b},{f'c{c}' if place < 40 else ''},c{y}"
        for place, ((a, b, c), y) in enumerate(zip(rows, labels, strict=True))
    ]
    path.write_text("\n".join(["good,fair,bad,label", *lines]))
    wrong = mp.pick(path, algorithm="model-picker", tolerance=0.3)
    unknown = mp.pick(path, algorithm="model-picker", tolerance=0.3, missing="not-run")
    assert wrong.calls == wrong.rounds * 3
    assert unknown.calls == 300 * 2 + 40
    assert unknown.certificate.gap > wrong.certificate.gap
    assert "29% were saved" in unknown.calls_sentence
    with pytest.raises(InputError, match="missing='empty'"):
        mp.pick(path, missing="empty")  # type: ignore[arg-type]
