"""Many models: memory, time per round and size of the state with 100, 1,000 and 10,000 models.

    python -m benchmarks.many_models [--models 100 1000 10000] [--only race model-picker pool] [--before CHECKOUT]

Every case runs in a process of its own, so that its peak memory is its own. `observe` and `learn` are interpreted,
one round at a time, after a stream of some hundred rounds that is compiled. With --before, the same cases run with
the source of another checkout in turns with this one. Times are the processor's, so that it matters little if the
machine is busy.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from benchmarks.memory import Peak, own_memory_mb

Array = npt.NDArray[Any]

STREAMED, STEPS, CLASSES = 400, 40, 10
ITEMS, QUESTIONS = 2_000, 25
METHODS = ("model-picker", "race", "pool")
COLUMNS = (
    ("memory above base, MB", "memory"),
    ("run_stream, ms per round", "streamed"),
    ("observe or ask, ms: median", "observe"),
    ("slowest", "slowest_observe"),
    ("learn or tell, ms: median", "learn"),
    ("slowest ", "slowest_learn"),
    ("state, MB", "size"),
    ("save, s", "save"),
    ("load, s", "load"),
    ("certificate, ms", "certificate"),
)


def make_rows(rounds: int, models: int, seed: int = 0) -> tuple[Array, Array]:
    """Models of 50 to 90 % whose mistakes are partly shared; in bytes."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, CLASSES, rounds)
    rows = np.empty((rounds, models), dtype=np.int8)
    accuracies = np.linspace(0.5, 0.9, models, dtype=np.float32)
    for place, label in enumerate(labels.tolist()):
        hardness = 0.5 * draw.random() + 0.5 * draw.random(models, dtype=np.float32)
        rows[place] = np.where(hardness < accuracies, label, draw.integers(0, CLASSES, models))
    return rows, labels


def clocked(times: list[float], call: Callable[[], Any]) -> Any:
    """Call, and note how many milliseconds that took."""
    begun = time.thread_time()
    found = call()
    times.append(1e3 * (time.thread_time() - begun))
    return found


def summed_up(observed: list[float], learned: list[float]) -> dict[str, float]:
    """Median and slowest."""
    return {
        "observe": float(np.median(observed)),
        "slowest_observe": max(observed),
        "learn": float(np.median(learned)) if learned else float("nan"),
        "slowest_learn": max(learned, default=float("nan")),
    }


def saved(state_of: Callable[[], Any], load: Callable[[Any], Any]) -> dict[str, float]:
    """What saving as JSON and loading takes."""
    begun = time.thread_time()
    text = json.dumps(state_of())
    saving = time.thread_time() - begun
    begun = time.thread_time()
    load(json.loads(text))
    return {"size": len(text) / 1e6, "save": saving, "load": time.thread_time() - begun}


def stream_case(method: str, models: int) -> dict[str, float]:
    """A picker: a compiled stream, then single rounds, then it is saved."""
    rows, labels = make_rows(STREAMED + STEPS, models)
    kind: Any = {"race": mp.Race, "model-picker": mp.ModelPicker}[method]
    mp.run_stream(kind(2), rows[:10, :2], labels[:10])
    mp.PoolPicker(mp.ModelCollection(rows[:9, :2], labels[:9])).ask(1)
    base, peak = own_memory_mb(), Peak()
    peak.start()
    picker = kind(models)
    begun = time.thread_time()
    mp.run_stream(picker, rows[:STREAMED], labels[:STREAMED])
    streamed = 1e3 * (time.thread_time() - begun) / STREAMED
    observed: list[float] = []
    learned: list[float] = []
    for row, label in zip(rows[STREAMED:], labels[STREAMED:].tolist(), strict=True):
        decision = clocked(observed, partial(picker.observe, row))
        if decision.query:
            clocked(learned, partial(picker.learn, decision.round, label))
    proving: list[float] = []
    for _ in range(3):
        clocked(proving, picker.certificate)
    found = saved(picker.state_dict, kind.from_state_dict)
    peak.done.set()
    peak.join()
    return {
        "memory": peak.megabytes - base,
        "streamed": streamed,
        **summed_up(observed, learned),
        **found,
        "certificate": min(proving),
    }


def pool_case(models: int) -> dict[str, float]:
    """A pool: questions and answers, then it is saved."""
    rows, labels = make_rows(ITEMS, models)
    collection = mp.ModelCollection(rows)
    mp.PoolPicker(mp.ModelCollection(rows[:9, :2])).ask(1)
    base, peak = own_memory_mb(), Peak()
    peak.start()
    pool = mp.PoolPicker(collection, confidence=0.95, tolerance=0.01)
    asked: list[float] = []
    told: list[float] = []
    for _ in range(QUESTIONS):
        item = clocked(asked, partial(pool.ask, 1))[0]
        clocked(told, partial(pool.tell, item, int(labels[item])))
    found = saved(pool.state_dict, lambda blob: mp.PoolPicker.from_state_dict(blob, collection))
    proving: list[float] = []
    clocked(proving, partial(pool.certificate, 0.95))
    peak.done.set()
    peak.join()
    return {"memory": peak.megabytes - base, **summed_up(asked, told), **found, "certificate": min(proving)}


def run_case(method: str, models: int, checkout: Path | None) -> dict[str, float] | str:
    """A case in a process of its own; why not, if it did not finish."""
    place = Path(__file__).parent.parent
    paths = [str((checkout or place) / "src"), str(place)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "benchmarks.many_models", "--case", method, "--models", str(models)]
    try:
        done = subprocess.run(
            command, env=environment, cwd=place, capture_output=True, text=True, check=True, timeout=900
        )
    except subprocess.TimeoutExpired:
        return "not finished in 15 minutes"
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().splitlines()
        return last[-1] if last else f"ended with {error.returncode}"
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def shown(found: dict[str, float] | str) -> str:
    """The cells of a row."""
    if isinstance(found, str):
        return f"{found} |" + " |" * (len(COLUMNS) - 1)
    return " | ".join(f"{found[field]:,.3g}" if field in found else "-" for _, field in COLUMNS) + " |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--models", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--only", choices=METHODS, nargs="+", default=list(METHODS))
    parser.add_argument("--before", type=Path)
    parser.add_argument("--case", choices=METHODS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.case:
        models = given.models[0]
        found = pool_case(models) if given.case == "pool" else stream_case(given.case, models)
        print(json.dumps(found))
        return
    print(f"| | k | | {' | '.join(name for name, _ in COLUMNS)} |")
    print("|---|---|---|" + "---|" * len(COLUMNS))
    for method in given.only:
        for models in given.models:
            for name, checkout in (("before", given.before), ("now", None)):
                if name == "now" or checkout is not None:
                    print(
                        f"| {method} | {models:,} | {name} | {shown(run_case(method, models, checkout))}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
