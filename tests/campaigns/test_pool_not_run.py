"""Campaigns on pools whose models were not all run on all items: made, grown, exported, rebuilt."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.campaigns.export import export_campaign, import_campaign
from modelpicker.errors import ConflictError, InputError

MODELS = ("good", "fair", "bad")


def rows(items: int, seed: int = 0) -> tuple[list[list[str]], list[str]]:
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 3, items)
    right = draw.random((items, 3)) < [0.95, 0.7, 0.4]
    codes = np.where(right, labels[:, None], (labels[:, None] + 1) % 3)
    names = np.array(["ham", "spam", "news"], dtype=object)
    return names[codes].tolist(), names[labels].tolist()


def write(path: Path, items: int, without: tuple[str, ...] = (), first: int = 0) -> list[str]:
    """A file of items; those models have no column."""
    said, labels = rows(items, first)
    kept = [place for place, name in enumerate(MODELS) if name not in without]
    lines = [",".join(["id", *(MODELS[place] for place in kept)])]
    lines += [",".join([f"m{first + n}", *(row[place] for place in kept)]) for n, row in enumerate(said)]
    path.write_text("\n".join(lines) + "\n")
    return labels


def label(campaign: Any, labels: list[str], most: int) -> None:
    for _ in range(most):
        waiting = campaign.pending(1)
        if not waiting:
            return
        campaign.tell(waiting[0].id, labels[waiting[0].id])


def test_items_are_added_without_the_models_that_are_out_of_the_race(tmp_path: Path) -> None:
    labels = write(tmp_path / "first.csv", 200)
    more = write(tmp_path / "more.csv", 12, without=("bad",), first=200)
    storage = f"sqlite:///{tmp_path / 'x.db'}"
    campaign = mp.create_campaign(
        storage, "a", pool=tmp_path / "first.csv", tolerance=0.1, missing="not-run", seed=1
    )
    label(campaign, labels, 40)
    assert "bad" not in campaign.racing
    added = campaign.add_items(tmp_path / "more.csv")
    assert added.new == 12
    campaign.ask({"good": "ham", "fair": "spam"}, key="m300")
    campaign.ask_many([["ham", "ham", mp.NOT_RUN], ["ham", None, "ham"]], keys=["m301", "m302"])
    assert campaign.ask({"good": "ham", "fair": "spam"}, key="m300").id == 212  # the same again
    with pytest.raises(ConflictError, match="m300"):
        campaign.ask({"good": "ham", "fair": "spam", "bad": "ham"}, key="m300")
    pick = campaign.best()
    assert (pick.rounds, pick.calls) == (215, 215 * 3 - 12 - 1 - 1 - 1)
    assert "15 calls" not in pick.calls_sentence
    assert "630 of 645 calls of models were made" in pick.calls_sentence
    label(campaign, [*labels, *more, "ham", "ham", "ham"], 120)
    done = campaign.best()
    assert (done.model, done.certified) == ("good", True)
    # All of it comes back: from the storage, and from an export.
    again = mp.open_campaign(storage, "a").best()
    assert again.document() == done.document()
    export_campaign(campaign, tmp_path / "x.jsonl")
    there = import_campaign(f"sqlite:///{tmp_path / 'y.db'}", tmp_path / "x.jsonl", name="b")
    assert there.settings.missing == "not-run"
    assert there.best().document() == done.document()
    assert campaign.report().count("calls of models were made") >= 1


def test_what_a_missing_prediction_means_is_said_when_it_begins(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,a,b\n1,x,y\n2,,y\n3,y,-1\n")
    plain = mp.create_campaign("memory://pool-not-run", "plain", pool=tmp_path / "x.csv")
    with pytest.raises(InputError, match="no prediction of b"):
        plain.ask({"a": "x"})
    write(tmp_path / "more.csv", 3, without=("good",))
    assert plain.best().calls is None
    for name, source in {
        "file": tmp_path / "x.csv",
        "opened": mp.open_collection(tmp_path / "x.csv"),
        "matrix": [["x", "y"], [None, "y"], ["y", "x"]],
    }.items():
        campaign = mp.create_campaign("memory://pool-not-run", name, pool=source, missing="not-run")
        assert campaign.best().calls in (4, 5), name
    with pytest.raises(InputError, match="missing"):
        mp.create_campaign("memory://pool-not-run", "wrong", pool=tmp_path / "x.csv", missing="gone")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"have no predictions of|models are|no column"):
        campaign.add_items(tmp_path / "more.csv")  # which has none of the models


def test_a_pool_that_no_label_can_certify_says_so() -> None:
    said, labels = rows(60)
    half = [[good, fair, mp.NOT_RUN if n % 2 else bad] for n, (good, fair, bad) in enumerate(said)]
    campaign = mp.create_campaign("memory://pool-not-run", "half", pool=mp.ModelCollection(half, models=MODELS))
    label(campaign, labels, 60)
    pick = campaign.best()
    assert not pick.certified
    assert (
        "No number of labels can prove the pick: too many models were not run (bad on 30 of 60 items)"
        in pick.remark
    )
