"""What a stream of a million items per second would take: a filter, Spark around it, and the place that decides.

    python -m benchmarks.large_streams [--rows 1000000] [--models 20] [--contested 0.05] [--spark]

Everything is measured in one run, in seconds of processor time: reading the rows and doing nothing, the filter in
this process, `ask_many` with keys in memory and on SQLite; with --spark the same rows through Spark.
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import modelpicker as mp
from modelpicker.integrations.spark import keep_contested

WORDS = pa.array([f"class {number}" for number in range(10)])
ASKED = 20_000


def write_rows(path: Path, rows: int, models: int, contested: float) -> None:
    """Items with a key; the models differ on a share of them."""
    draw = np.random.default_rng(0)
    labels = draw.integers(0, 10, rows, dtype=np.int8)
    hard = draw.random(rows) < contested
    columns: dict[str, Any] = {"key": pa.array([f"item {number}" for number in range(rows)])}
    for model in range(models):
        wrong = hard & (draw.random(rows) < 0.5)
        codes = np.where(wrong, draw.integers(0, 10, rows), labels).astype(np.int8)
        columns[f"model-{model}"] = pa.DictionaryArray.from_arrays(pa.array(codes), WORDS).dictionary_decode()
    parquet.write_table(pa.table(columns), path, row_group_size=100_000)


def used() -> float:
    """Seconds of processor time of this process and of all that it started, Java's too."""
    found, ticks = ["self"], 0
    while found:
        one = found.pop()
        try:
            ticks += sum(map(int, Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[11:15]))
            for task in Path(f"/proc/{one}/task").iterdir():
                found += (task / "children").read_text().split()
        except OSError:  # it has ended
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def rate(what: str, rows: int, action: Callable[[], object]) -> None:
    """Print rows per second of one core's time: the best of three, so that other work matters little."""
    seconds = []
    for _ in range(3):
        started = used()
        action()
        seconds.append(used() - started)
    print(f"{what:44} {rows / max(0.01, min(seconds)):12,.0f} rows per core and second", flush=True)


def ask(storage: str, table: pa.Table, models: list[str]) -> Callable[[], object]:
    """Ask about rows in a campaign that is new each time, a thousand in one transaction."""
    runs = iter(range(100))

    def play() -> None:
        campaign = mp.create_campaign(storage, f"run {next(runs)}", models=models, algorithm="race")
        for start in range(0, len(table), 1_000):
            campaign.ask_many(table.slice(start, 1_000))

    return play


def measure_spark(path: Path, rows: int, models: list[str]) -> None:
    """The same rows through Spark."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    frame = session.read.parquet(str(path))

    def write(chosen: Any) -> None:
        chosen.write.format("noop").mode("overwrite").save()

    rate("Spark: read", rows, lambda: write(frame))
    same = frame.mapInArrow(lambda batches: batches, frame.schema)
    rate("Spark: to Python and back", rows, lambda: write(same))
    filtered = frame.mapInArrow(keep_contested(models), frame.schema)
    rate("Spark: filter", rows, lambda: write(filtered))
    session.stop()


def main() -> None:
    """Measure every part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--contested", type=float, default=0.05)
    parser.add_argument("--spark", action="store_true")
    options = parser.parse_args()
    models = [f"model-{place}" for place in range(options.models)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_rows(path, options.rows, options.models, options.contested)
        table = parquet.read_table(path)
        batches = table.to_batches(max_chunksize=10_000)
        kept = pa.Table.from_batches(keep_contested(models)(batches))
        print(f"{options.rows:,} rows of {options.models} models, {len(kept):,} of them contested\n")
        read = [*models, "key"]
        rate("PyArrow: read", options.rows, lambda: parquet.read_table(path, columns=read, use_threads=False))
        rate("filter", options.rows, lambda: sum(one.num_rows for one in keep_contested(models)(batches)))
        some = kept.slice(0, ASKED)
        rate("ask_many, in memory", len(some), ask("memory://large-streams", some, models))
        rate("ask_many, SQLite", len(some), ask(f"sqlite:///{folder}/picker.db", some, models))
        size = sum(one.stat().st_size for one in Path(folder).glob("picker.db*"))
        print(f"{'stored on SQLite':44} {size / 3 / len(some):12.0f} bytes per round")
        if options.spark:
            measure_spark(path, options.rows, models)


if __name__ == "__main__":
    main()
