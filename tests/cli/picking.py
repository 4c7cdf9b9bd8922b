"""A file to pick from, somebody who answers, and what their campaign has in the end."""

import json
from pathlib import Path
from typing import Any

import numpy as np

import modelpicker as mp
from tests.cli.running import run


def write_words(folder: Path) -> Path:
    """A file x.parquet of words, with labels and ids."""
    collection = mp.synthetic_collection(120, ["a", "b", "c"], ["cat", "dog", "emu"], [0.5, 0.7, 0.9], seed=4)
    shown = mp.ModelCollection.of_codes(
        collection.predictions,
        collection.labels,
        collection.models,
        collection.classes,
        {"id": [f"item-{n}" for n in range(120)]},
    )
    shown.save(folder / "x.parquet")
    return folder


def answer(folder: Path, answers: str, *more: str) -> dict[str, Any]:
    """What a session at the terminal comes to."""
    done = run("pick", "x.parquet", "--as", "stream", "--ask", "--json", *more, answers=answers, folder=folder)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def truths(folder: Path) -> list[str]:
    """The labels that are asked for, in order, as a person would type them."""
    collection = mp.load_collection(folder / "x.parquet")
    trace = mp.run_stream(mp.ModelPicker(collection.models), collection)
    return [str(collection.classes[code]) for code in np.asarray(collection.labels)[trace.queried]]


def campaign_of(folder: Path, name: str = "x") -> mp.Campaign:
    return mp.open_campaign(f"sqlite:///{folder}/{name}.pick.db", name)


def labels_told(folder: Path, name: str = "x") -> list[Any]:
    """The answers that count, by their rounds; None for a skip."""
    told: dict[int, Any] = {}
    with campaign_of(folder, name) as campaign:
        for record in campaign.history():
            if record["kind"] in ("label", "skip"):
                told[record["id"]] = record.get("label")
            elif record["kind"] == "retract":
                told.pop(record["id"])
    return [told[number] for number in sorted(told)]


def rounds_of(folder: Path, name: str = "x") -> list[tuple[bool, float]]:
    """Which rounds were queried, and with what probability."""
    with campaign_of(folder, name) as campaign:
        return [(one["query"], one["probability"]) for one in campaign.history() if one["kind"] == "ask"]
