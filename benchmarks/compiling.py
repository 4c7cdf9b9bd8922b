"""What compiling costs, once on a machine: CPU seconds for the first call of each kind, by algorithm.

Each measurement is a fresh process on a copy of the package without machine code. The same process is run again,
with the machine code of the first; the difference is what compiling costs. The least of a few is taken, because CPU
seconds are longer on a machine that others use too.

python -m benchmarks.compiling [--source SRC] [ALGORITHM ...]
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import modelpicker

LIMIT_SECONDS = 8.0
REPEATS = 2

PREPARE = """
import sys
import numpy as np
import modelpicker as mp
options = {
    "label-efficient": {"probability": 0.5},
    "vote-entropy": {"classes": 4},
    "structural-committee": {"beta": 0.3},
    "efficient-active": {"c0": 0.001},
}
name, folder = sys.argv[1:]
kinds = [getattr(mp, kind) for kind in mp.__all__]
algorithm = next(kind for kind in kinds if getattr(kind, "name", "") == name and kind is not mp.Algorithm)
picker = algorithm(6, seed=0, **options.get(name, {}))
chance = np.random.default_rng(0)
labels = chance.integers(0, 4, 30_000)
rows = np.where(chance.random((30_000, 6)) < np.linspace(0.6, 0.9, 6), labels[:, None], 0)
"""
RUN = "mp.run_stream(picker, rows, labels)\n"
JOBS = {
    "run_stream": RUN,
    "stop_when": "mp.run_stream(picker, rows, labels, stop_when=mp.Certified(gap=0.001))\n",
    "certificate": RUN + "picker.certificate(kind='stream')\n",
    "ask_many": """
models = [str(model) for model in range(6)]
campaign = mp.create_campaign(
    f"sqlite:///{folder}/{name}.db", name, models=models, algorithm=name, options=options.get(name)
)
campaign.ask_many(rows)
campaign.close()
""",
    "compare": """
collection = mp.ModelCollection(rows[:500], labels[:500])
mp.compare(collection, methods=[name], budgets=[20], stream_size=200, realizations=4, seed=0)
""",
}
ALGORITHMS = (
    "model-picker",
    "race",
    "label-efficient",
    "vote-entropy",
    "structural-committee",
    "importance-weighted",
    "efficient-active",
)


def cpu_seconds(site: Path, algorithm: str, job: str) -> float:
    """CPU seconds that a process takes for a job, its children's included."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-c", PREPARE + JOBS[job], algorithm, folder],
            env=os.environ | {"PYTHONPATH": str(site)},
            cwd=folder,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{algorithm}, {job}: failed")
    return used.ru_utime + used.ru_stime


def compiling_seconds(package: Path, algorithm: str, job: str) -> float:
    """What a first call costs more than a later one."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder)
        shutil.copytree(package, site / "modelpicker", ignore=shutil.ignore_patterns("__pycache__"))
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(site)], check=True)
        cold = cpu_seconds(site, algorithm, job)
        return cold - cpu_seconds(site, algorithm, job)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("algorithms", nargs="*", default=ALGORITHMS, metavar="ALGORITHM")
    parser.add_argument("--source", type=Path, default=Path(str(modelpicker.__file__)).parents[1])
    given = parser.parse_args()
    package = given.source / "modelpicker"
    print(f"CPU seconds (wanted: at most {LIMIT_SECONDS:.0f})", *(f"{job:>11}" for job in JOBS))
    for algorithm in given.algorithms:
        print(f"{algorithm:<31}", end="", flush=True)
        for job in JOBS:
            stops_itself = algorithm == "race" and job == "stop_when"
            shown = "-"
            if not stops_itself:
                shown = f"{min(compiling_seconds(package, algorithm, job) for _ in range(REPEATS)):.1f}"
            print(f" {shown:>11}", end="", flush=True)
        print()


if __name__ == "__main__":
    main()
