"""Picking from files larger than memory: time and memory by rows, beside merely reading the same columns.

    python -m benchmarks.large_files [--rows 1000000 10000000] [--models 50] [--engine threads] [--contested 0.1]

Every size is written to a folder of Parquet files first (strings, zstd, a million rows per file), which is removed
afterwards. The models agree on an item unless it is one of the hard ones: these are the share --contested. Reading
and scanning use the same number of threads. Memory is that of the process and its workers, without files' pages.
"""

import argparse
import multiprocessing
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import modelpicker as mp
from benchmarks.memory import Peak
from modelpicker.campaigns import offline_large
from modelpicker.collections.column_roles import Reading
from modelpicker.experiments.engines import Workforce

FILE_ROWS, PIECE = 1_000_000, 2**17
WORDS = pa.array([f"the class of number {number}" for number in range(10)])


def write_files(folder: Path, rows: int, models: int, contested: float) -> None:
    """The collection, a file after the other."""
    for number, first in enumerate(range(0, rows, FILE_ROWS)):
        draw = np.random.default_rng([7, number])
        tables = [
            some_rows(draw, min(PIECE, FILE_ROWS - start, rows - first - start), first + start, models, contested)
            for start in range(0, min(FILE_ROWS, rows - first), PIECE)
        ]
        parquet.write_table(pa.concat_tables(tables), folder / f"part-{number:05}.parquet", compression="zstd")


def some_rows(draw: np.random.Generator, count: int, first: int, models: int, contested: float) -> pa.Table:
    """Some items: easy ones, on which all models are right, and hard ones."""
    labels = draw.integers(0, 10, count, dtype=np.int8)
    hard = np.flatnonzero(draw.random(count) < contested)
    accuracies = np.linspace(0.3, 0.7, models, dtype=np.float32)
    right = draw.random((len(hard), models), dtype=np.float32) < accuracies
    said = np.where(right, labels[hard, None], draw.integers(0, 10, right.shape, dtype=np.int8))
    columns = {"id": pa.array(np.arange(first, first + count))}
    for model in range(models):
        codes = labels.copy()
        codes[hard] = said[:, model]
        columns[f"model-{model}"] = pa.DictionaryArray.from_arrays(pa.array(codes), WORDS)
    columns["label"] = pa.DictionaryArray.from_arrays(pa.array(labels), WORDS)
    return pa.table(columns)


def read_only(folder: Path, workers: int) -> float:
    """Seconds to read all columns and do nothing with them."""

    def read(path: Path) -> int:
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=2**20) as file:
            names = [name for name in file.schema_arrow.names if name != "id"]
            file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=2**20, read_dictionary=names)
            return sum(batch.num_rows for batch in file.iter_batches(2**16))

    started = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(read, sorted(folder.iterdir())))
    return time.perf_counter() - started


def memory_mb(process: str = "self") -> float:
    """Memory of a process and of those that it started, without pages of files."""
    found, total = [process], 0.0
    while found:
        one = found.pop()
        try:
            status = Path(f"/proc/{one}/status").read_text()
            own = re.search(r"RssAnon:\s+(\d+) kB", status)
            total += int(own[1]) / 1024 if own else 0.0
            for task in Path(f"/proc/{one}/task").iterdir():
                found += (task / "children").read_text().split()
        except OSError:  # it has ended
            continue
    return total


def measure(folder: Path, engine: str, workers: int, budget: int) -> None:
    """Scan and pick, and print what that took; in a process of its own."""
    mp.pick("digits", tolerance=0.05)  # compiled, or taken from the cache
    before, peak = memory_mb(), Peak(memory_mb, every=0.05)
    peak.start()
    started = time.perf_counter()
    items = offline_large.scan_items(str(folder), Reading(), Workforce(engine, workers))
    scanned, most = time.perf_counter() - started, peak.stop()
    peak = Peak(memory_mb, every=0.05)
    peak.start()
    started = time.perf_counter()
    pool = mp.PoolPicker(items, tolerance=0.01)
    trace = mp.run_pool(pool, budget=budget)
    picked, later = time.perf_counter() - started, peak.stop()
    print(
        f"  scan {scanned:8.1f} s   peak {most:6.0f} MB (before: {before:.0f})   kept {len(items.kept.places):,}\n"
        f"  pick {picked:8.1f} s   peak {later:6.0f} MB   {trace.labels_used:,} labels, {trace.stopped}, "
        f"{1e3 * picked / max(1, trace.labels_used):.0f} ms per label",
        flush=True,
    )


def rounds_of(sizes: list[int], options: argparse.Namespace) -> Iterator[tuple[int, Path]]:
    """Each size with a folder of its files, which is removed afterwards."""
    for rows in sizes:
        folder = Path(tempfile.mkdtemp(prefix="large-files-", dir=options.folder))
        try:
            started = time.perf_counter()
            write_files(folder, rows, options.models, options.contested)
            size = sum(path.stat().st_size for path in folder.iterdir())
            seconds = time.perf_counter() - started
            print(f"{rows:,} x {options.models}: {size / 1e6:,.0f} MB, written in {seconds:.0f} s", flush=True)
            yield rows, folder
        finally:
            shutil.rmtree(folder)


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--contested", type=float, default=0.1)
    parser.add_argument("--engine", default="threads")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("--folder", type=Path, default=None)
    options = parser.parse_args()
    for _, folder in rounds_of(options.rows, options):
        print(f"  read {read_only(folder, options.workers):8.1f} s   (nothing done with it)", flush=True)
        process = multiprocessing.get_context("spawn").Process(
            target=measure, args=(folder, options.engine, options.workers, options.budget)
        )
        process.start()
        process.join()


if __name__ == "__main__":
    main()
