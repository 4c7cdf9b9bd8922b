"""How much memory a long stream takes: 5,000,000 rounds of 100 models from a memory-mapped file of bytes.

    python -m benchmarks.memory [--rounds 5000000] [--models 100]

Prints the peak of the process's own memory (RssAnon of /proc: all but the pages of files) while the stream runs,
beside what it was before, and the time, beside that of merely reading the file.
"""

import argparse
import re
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import modelpicker as mp

LIMIT_MB = 500


def own_memory_mb() -> float:
    """Memory of this process that is not a file's."""
    found = re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def write_stream(file: Path, rounds: int, models: int) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    """Fill the file with predictions, a piece at a time; return the labels."""
    draw = np.random.default_rng(0)
    matrix = np.memmap(file, dtype=np.int8, mode="w+", shape=(rounds, models))
    labels = draw.integers(0, 10, rounds, dtype=np.int8)
    accuracies = np.linspace(0.5, 0.9, models)
    for start in range(0, rounds, 100_000):
        part = labels[start : start + 100_000, None]
        right = draw.random((len(part), models)) < accuracies
        matrix[start : start + len(part)] = np.where(right, part, draw.integers(0, 10, right.shape, dtype=np.int8))
    matrix.flush()
    return labels


class Peak(threading.Thread):
    """Watches memory: by default this process's own, every few milliseconds."""

    def __init__(self, look: Callable[[], float] = own_memory_mb, every: float = 0.005) -> None:
        super().__init__(daemon=True)
        self.look, self.every = look, every
        self.megabytes = 0.0
        self.done = threading.Event()

    def run(self) -> None:
        """Look until it is done."""
        while not self.done.wait(self.every):
            self.megabytes = max(self.megabytes, self.look())

    def stop(self) -> float:
        """The most that it was."""
        self.done.set()
        self.join()
        return self.megabytes


def main() -> None:
    """Make the file, run the stream, print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5_000_000)
    parser.add_argument("--models", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "predictions.bin"
        print(f"writing {options.rounds:,} x {options.models} predictions", flush=True)
        labels = write_stream(file, options.rounds, options.models)
        matrix = np.memmap(file, dtype=np.int8, mode="r", shape=(options.rounds, options.models))
        mp.run_stream(mp.ModelPicker(options.models), matrix[:10], labels[:10])
        started = time.perf_counter()
        matrix.max()
        reading = time.perf_counter() - started
        before, peak = own_memory_mb(), Peak()
        peak.start()
        started = time.perf_counter()
        trace = mp.run_stream(mp.ModelPicker(options.models), matrix, labels)
        seconds = time.perf_counter() - started
        peak.done.set()
        peak.join()
    print(f"own memory before     {before:8.0f} MB")
    print(f"own memory at peak    {peak.megabytes:8.0f} MB   (wanted: under {LIMIT_MB})")
    print(f"reading the file      {reading:8.2f} s")
    print(f"running the stream    {seconds:8.2f} s    ({trace.labels_used:,} labels of {len(trace):,} rounds)")


if __name__ == "__main__":
    main()
