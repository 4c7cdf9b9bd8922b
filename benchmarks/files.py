"""How long collections take to make, write and read, and how much memory a large Parquet file takes to be played.

    python -m benchmarks.files [--rounds 2000000] [--models 50]

Times stand beside that of writing and reading the bare matrix with NumPy; memory beside the size of the text.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import modelpicker as mp
from benchmarks.memory import Peak, own_memory_mb
from modelpicker.collections.presets import preset_collection

PIECE = 100_000
WORDS = np.array([f"the class of number {number}" for number in range(10)])


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came of them."""
    started = time.perf_counter()
    found = action()
    return time.perf_counter() - started, found


def measure_files(folder: Path) -> None:
    """Make the largest preset, and write it to each kind of file and read it back."""
    seconds, collection = timed(lambda: preset_collection("imagenet-like"))
    n, k = collection.predictions.shape
    print(f"making {n:,} x {k} x {len(collection.classes):,}   {seconds:6.2f} s\n")
    print(f"{'file':12} {'MB':>7} {'write':>8} {'read':>8}")
    write = timed(lambda: np.save(folder / "bare.npy", collection.predictions))[0]
    read = timed(lambda: np.load(folder / "bare.npy"))[0]
    print(f"{'bare .npy':12} {(folder / 'bare.npy').stat().st_size / 1e6:7.1f} {write:6.2f} s {read:6.2f} s")
    for ending in (".npz", ".parquet", ".arrow", ".csv", ".jsonl"):
        path = folder / f"x{ending}"
        write, _ = timed(partial(collection.save, path))
        read, back = timed(partial(mp.load_collection, path))
        same = "" if back.fingerprint == collection.fingerprint else "   DIFFERS"
        print(f"{ending:12} {path.stat().st_size / 1e6:7.1f} {write:6.2f} s {read:6.2f} s{same}")


def write_parquet(path: Path, rounds: int, models: int) -> None:
    """A file of strings, written piece by piece."""
    draw = np.random.default_rng(0)
    accuracies = np.linspace(0.5, 0.9, models)
    writer = None
    for _ in range(0, rounds, PIECE):
        labels = draw.integers(0, 10, PIECE)
        right = draw.random((PIECE, models)) < accuracies
        codes = np.where(right, labels[:, None], draw.integers(0, 10, right.shape))
        columns = {f"model-{model}": WORDS[codes[:, model]] for model in range(models)}
        table = pa.table(columns | {"label": WORDS[labels]})
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def measure_stream(path: Path, rounds: int, models: int) -> None:
    """Play the file batch by batch, and say what memory that took."""
    write_parquet(path, rounds, models)
    pa.default_memory_pool().release_unused()
    mp.run_stream(mp.ModelPicker(2), [[0, 1]], [0])
    whole = rounds * models * len(WORDS[0])
    before, peak = own_memory_mb(), Peak()
    peak.start()
    opening, source = timed(lambda: mp.open_collection(path))
    playing, trace = timed(lambda: mp.run_stream(mp.ModelPicker(source.models), source))
    peak.done.set()
    peak.join()
    packed = path.stat().st_size
    print(f"\n{rounds:,} x {models} strings in Parquet: {packed / 1e6:,.0f} MB, as text {whole / 1e6:,.0f} MB")
    print(f"own memory before     {before:8.0f} MB")
    print(f"own memory at peak    {peak.megabytes:8.0f} MB")
    print(f"learning the classes  {opening:8.2f} s")
    print(f"playing the stream    {playing:8.2f} s    ({trace.labels_used:,} labels of {len(trace):,} rounds)")


def main() -> None:
    """Measure files, then a stream that is never whole in memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=2_000_000)
    parser.add_argument("--models", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure_files(Path(folder))
        measure_stream(Path(folder) / "large.parquet", options.rounds, options.models)


if __name__ == "__main__":
    main()
