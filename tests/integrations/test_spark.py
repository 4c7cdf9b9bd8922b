"""Spark: the filter, and a real Structured Streaming query that is killed between and within its batches."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import modelpicker as mp
from modelpicker.integrations.spark import CampaignSink, compared_models, keep_contested

ROOT = Path(__file__).parents[2]
HAS_SPARK = importlib.util.find_spec("pyspark") is not None
HAS_JAVA = bool(shutil.which("java") or os.environ.get("JAVA_HOME"))
real_spark = pytest.mark.skipif(
    not (HAS_SPARK and HAS_JAVA), reason="NO SPARK: it needs pip install 'modelpicker[spark]' and Java 17 or 21"
)
MODELS = [f"model-{place}" for place in range(5)]


def rows(items: int, seed: int = 0) -> pa.Table:
    """Items with an id and what five models say."""
    made = mp.synthetic_collection(items, 5, 3, [0.92, 0.9, 0.8, 0.7, 0.6], seed=seed)
    names = np.array(["ant", "bee", "cat", None], dtype=object)
    columns = {name: names[made.predictions[:, place]].tolist() for place, name in enumerate(MODELS)}
    return pa.table({"id": [f"item {place}" for place in range(items)], **columns})


def kept(table: pa.Table, models: list[str], **more: bool) -> list[str]:
    found = keep_contested(models, **more)(table.to_batches(max_chunksize=7))
    return [item for batch in found for item in batch.column("id").to_pylist()]


@pytest.mark.parametrize("models", [MODELS, MODELS[:2], MODELS[3:], MODELS[:1]])
@pytest.mark.parametrize("not_run", [False, True])
def test_the_filter_drops_the_rows_on_which_the_models_agree(models: list[str], not_run: bool) -> None:
    table = rows(400)
    draw = np.random.default_rng(1)
    for name in MODELS:
        cells = [None if draw.random() < 0.1 else cell for cell in table[name].to_pylist()]
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(cells, pa.string()))
    said = list(zip(*(table[name].to_pylist() for name in models), strict=True))
    expected = [
        item
        for item, row in zip(table["id"].to_pylist(), said, strict=True)
        if len(set(row)) > 1 or (not_run and None in row)
    ]
    assert kept(table, models, not_run=not_run) == expected


def test_a_stale_filter_lets_pass_what_a_new_one_does() -> None:
    table = rows(400)
    for fewer in (MODELS[:4], MODELS[1:3], MODELS[2:]):
        assert set(kept(table, fewer)) <= set(kept(table, MODELS))


def campaign_of(folder: Path, **more: Any) -> mp.Campaign:
    given: dict[str, Any] = {"algorithm": "race", "options": {"tolerance": 0.05}, **more}
    made = mp.create_campaign(f"sqlite:///{folder}/picker.db", "rows", models=MODELS, seed=3, **given)
    assert isinstance(made, mp.Campaign)
    return made


@pytest.mark.parametrize(
    "more",
    [
        {"algorithm": "model-picker", "options": {}},
        {"options": {"exploration": 0.01}},
        {"budget": 50, "expected_rounds": 1000},
        {"label_noise": 0.05},
    ],
)
def test_rows_are_dropped_only_where_their_number_does_not_matter(tmp_path: Path, more: dict[str, Any]) -> None:
    assert compared_models(campaign_of(tmp_path, **more)) == []


def test_rows_are_dropped_in_a_race(tmp_path: Path) -> None:
    assert compared_models(campaign_of(tmp_path)) == MODELS


def test_rows_that_were_chosen_by_too_few_models_are_not_asked_about(tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path)
    sink = CampaignSink(campaign.storage.url, "rows", str(tmp_path / "decisions"), "id")
    table = rows(20)
    assert sink._ask(campaign, table, MODELS[:3]) is None
    assert campaign.rounds == 0
    asked = sink._ask(campaign, table, MODELS)
    assert asked is not None
    # What was asked about before is found again, whoever is in the race by now.
    assert sink._ask(campaign, table, MODELS[:3]) == asked
    assert campaign.rounds == 20


def test_a_race_over_the_rows_that_pass_is_not_lost_more_often() -> None:
    """Half of the streams have a best model that is ahead by more than the tolerance; 5 % may be wrong."""
    wrong, runs = 0, 60
    for seed in range(runs):
        draw = np.random.default_rng(seed)
        labels = draw.integers(0, 3, 3_000)
        accuracies = np.array([0.85, 0.79, 0.78, 0.6]) if seed % 2 else np.array([0.85, 0.8, 0.8, 0.8])
        codes = np.where(draw.random((3_000, 4)) < accuracies, labels[:, None], draw.integers(0, 3, (3_000, 4)))
        race = mp.Race(4, seed=seed, tolerance=0.04, confidence=0.95)
        for start in range(0, 3_000, 150):  # the filter is as old as the batch
            part = codes[start : start + 150]
            some = part[:, [int(model) for model in race.racing]]
            passed = np.flatnonzero((some != some[:, :1]).any(axis=1))
            mp.run_stream(race, part[passed], labels[start : start + 150][passed])
            if race.won is not None:
                break
        true = (accuracies * 2 + 1) / 3
        wrong += race.won is not None and bool(true.max() - true[int(race.recommended)] >= 0.04)
    assert wrong <= 0.05 * runs


def play(folder: Path, *death: object) -> int:
    """Run the query in a process group of its own; how it ended."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.integrations.spark_query", str(folder), *map(str, death)],
        cwd=folder,
        env=environment,
        start_new_session=True,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert death or done.returncode == 0, done.stderr[-3000:]
    return done.returncode


def decisions(folder: Path) -> list[dict[str, Any]]:
    """All decisions, in the order of the rounds; files that were begun and not finished are no Parquet files."""
    found = sorted((folder / "decisions").rglob("*.parquet"))
    whole = [row for path in found if path.name[0] != "." for row in parquet.read_table(path).to_pylist()]
    return sorted(whole, key=lambda row: int(row["round"]))


def write_batches(folder: Path, files: int = 6, items: int = 200) -> pa.Table:
    """The rows in files, which Spark takes one by one, the oldest first."""
    whole = rows(files * items)
    (folder / "rows").mkdir(parents=True)
    for place in range(files):
        path = folder / "rows" / f"{place}.parquet"
        parquet.write_table(whole.slice(place * items, items), path)
        os.utime(path, (1_700_000_000 + place, 1_700_000_000 + place))
    return whole


@real_spark
@pytest.mark.slow
def test_a_query_that_is_killed_asks_about_every_item_once(tmp_path: Path) -> None:
    quiet, killed = tmp_path / "quiet", tmp_path / "killed"
    for folder in (quiet, killed):
        whole = write_batches(folder)
        campaign_of(folder)
    play(quiet)
    for batch, moment in enumerate(("chosen", "asked", "written", "returned")):
        assert play(killed, moment, batch) == -9
    play(killed)
    expected = kept(whole, MODELS)
    assert [row["key"] for row in decisions(quiet)] == expected
    assert decisions(killed) == decisions(quiet)
    campaign = mp.open_campaign(f"sqlite:///{killed}/picker.db", "rows")
    assert campaign.rounds == len(expected)
    counts = [
        json.loads(parquet.read_schema(path).metadata[b"modelpicker"])
        for path in sorted((killed / "decisions").rglob("batch-*.parquet"))
    ]
    assert [one["rows"] for one in counts] == [200] * 6
    assert sum(one["asked"] for one in counts) == len(expected)


@real_spark
@pytest.mark.slow
def test_labels_between_batches_narrow_the_race(tmp_path: Path) -> None:
    """The query is started for each file, as a job that runs now and then; beaten models stop mattering."""
    write_batches(tmp_path, files=3, items=2_000)
    campaign = campaign_of(tmp_path)
    truth = mp.synthetic_collection(6_000, 5, 3, [0.92, 0.9, 0.8, 0.7, 0.6], seed=0).labels
    assert truth is not None
    waiting = [tmp_path / "rows" / f"{place}.parquet" for place in (1, 2)]
    for path in waiting:
        path.rename(tmp_path / path.name)
    for place in range(3):
        if place:
            (tmp_path / f"{place}.parquet").rename(tmp_path / "rows" / f"{place}.parquet")
        play(tmp_path)
        for query in campaign.pending():
            campaign.tell(query.id, ["ant", "bee", "cat"][int(truth[int(str(query.key).split()[1])])])
    passed = [row["key"] for row in decisions(tmp_path)]
    assert len(passed) == len(set(passed)) == campaign.rounds
    assert set(campaign.racing) < set(MODELS)
    assert campaign.best().model in MODELS[:2]


@real_spark
@pytest.mark.slow
def test_rows_without_a_model_or_a_key_end_the_query_with_a_reason(tmp_path: Path) -> None:
    campaign_of(tmp_path)
    (tmp_path / "rows").mkdir()
    parquet.write_table(rows(10).drop_columns(["model-2"]), tmp_path / "rows" / "0.parquet")
    with pytest.raises(AssertionError, match="the rows have no column 'model-2'"):
        play(tmp_path)
