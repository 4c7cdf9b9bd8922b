"""Seconds until `pick` and `label` ask their first question, on a machine that has compiled nothing yet, and later.

    python -m benchmarks.first_question [--source SRC] [--large]

Each is a real process at a pseudo-terminal, on a copy of the package without machine code (cold), and again when
the machine code is there (warm). `--large` adds a file of 1,000,000 items and 50 models.
"""

import argparse
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil

import modelpicker
import modelpicker as mp
from benchmarks.cold_server import copy_of

ASKED = b"skip"
LIMIT = 120.0


class Seconds(NamedTuple):
    """Until the first question: by the clock, and those of the processor, which a busy machine changes less."""

    clock: float
    cpu: float


def first_question(site: Path, arguments: list[str]) -> Seconds:
    """How long a verb takes until it asks its first question at a terminal; then it is ended."""
    person, terminal = pty.openpty()
    environment = os.environ | {
        "PYTHONPATH": str(site),
        "XDG_CACHE_HOME": str(site / "cache"),
        "TERM": "dumb",
        "COLUMNS": "200",
    }
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "modelpicker", *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=environment,
        cwd=site,
        start_new_session=True,
    )
    os.close(terminal)
    said = b""
    try:
        while ASKED not in said:
            if not select.select([person], [], [], LIMIT)[0]:
                raise SystemExit(f"no question in {LIMIT:.0f} s: {said.decode()}")
            said += os.read(person, 65_536)
        used = psutil.Process(process.pid).cpu_times()
        return Seconds(time.perf_counter() - began, used.user + used.system)
    except OSError:  # it ended
        raise SystemExit(said.decode()) from None
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
        os.close(person)


def files(folder: Path, *, large: bool) -> dict[str, Path]:
    """Predictions without labels."""
    wanted = {name: mp.load_collection(name) for name in ("digits", "cifar10")}
    if large:
        wanted["1,000,000 x 50"] = mp.synthetic_collection(1_000_000, 50, 10, np.linspace(0.7, 0.9, 50).tolist(), 0)
    made = {}
    for name, collection in wanted.items():
        made[name] = folder / f"{name.replace(',', '').replace(' ', '-')}.parquet"
        mp.ModelCollection(collection.predictions, None, collection.models, collection.classes).save(made[name])
    return made


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=Path(str(modelpicker.__file__)).parents[1])
    parser.add_argument("--large", action="store_true")
    given = parser.parse_args()
    print(f"{'seconds until the first question':<34}{'cold':>8}{'CPU':>8}{'warm':>8}{'CPU':>8}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        found = files(folder, large=given.large)
        rows: dict[str, list[str]] = {f"pick {name}": ["pick", str(file)] for name, file in found.items()}
        storage = ["--storage", f"sqlite:///{folder}/label.db"]
        for name, file in found.items():
            kept = name.replace(",", "").replace(" ", "-")
            mp.create_campaign(storage[1], kept, pool=str(file)).close()
            rows[f"label {name}"] = ["label", kept, *storage]
        rows["pick digits, as a stream"] = ["pick", str(found["digits"]), "--as", "stream"]
        for number, (name, arguments) in enumerate(rows.items()):
            site = copy_of(given.source, folder / f"site-{number}")
            out = ["--out", str(folder / f"{number}")] if arguments[0] == "pick" else []
            end = ".db" if "stream" in arguments else ".jsonl"
            seconds = []
            for turn in range(2):
                more = [out[0], f"{out[1]}-{turn}{end}"] if out else []
                seconds.append(first_question(site, [*arguments, *more]))
                if not turn:
                    _compile(site)
            shown = "".join(f"{one.clock:>8.2f}{one.cpu:>8.2f}" for one in seconds)
            print(f"{name:<34}{shown}", flush=True)


def _compile(site: Path) -> None:
    """Have compiled what pools need."""
    code = "import modelpicker as mp; mp.run_pool(mp.PoolPicker([[0, 1], [1, 0]] * 20, tolerance=0.0), [0] * 40)"
    environment = os.environ | {"PYTHONPATH": str(site), "XDG_CACHE_HOME": str(site / "cache")}
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=site, check=True, capture_output=True)


if __name__ == "__main__":
    main()
