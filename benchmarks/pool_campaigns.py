"""Campaigns on pools: how long a large file takes to come in, to be opened, and to give the next question.

    python -m benchmarks.pool_campaigns [--items N] [--models K] [--contested SHARE] [--people P] [--labels L]
                                        [--think S] [--storage URL]

The items come from a Parquet file with an id and a text. The campaign is opened in another process. Then people
label it at once, each in a thread: take a question, think for a while, tell. Then it is opened once more, and found
again from all its events. Seconds; the machine should be idle.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

import modelpicker as mp
from benchmarks.pools import large_pool
from modelpicker.campaigns.state.states import rebuild
from modelpicker.campaigns.storage.database import open_storage

TEXT = "Something that a person reads before they say what it is, of a usual length: about two hundred characters. "
NAME = "benchmark"


def write_items(path: Path, rows: npt.NDArray[np.int8]) -> None:
    """The file that is taken in."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {f"model {place}": pa.array(rows[:, place]) for place in range(rows.shape[1])}
    numbers = range(len(rows))
    texts = {"id": [f"item-{n}" for n in numbers], "text": [f"{n}: {TEXT}{TEXT}" for n in numbers]}
    pq.write_table(pa.table({**texts, **columns}), path)


def open_it(url: str) -> None:
    """In a process of its own: open the campaign, say how it stands, take a question; print how long each took."""
    started = time.perf_counter()
    campaign = mp.open_campaign(url, NAME)
    campaign.counts()
    opened = time.perf_counter()
    campaign.warm_up()
    warm = time.perf_counter()
    campaign.pending(1, lease=1, annotator="first")
    asked = time.perf_counter()
    times = {"open": opened - started, "kernels": warm - opened, "first question": asked - warm}
    print(json.dumps(times | {"memory (MB)": most_memory()}))


def most_memory() -> float:
    """The most that this process has taken, in MB; what is asked of the system elsewhere counts its parent too."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def label_it(url: str, truth: npt.NDArray[np.int8], people: int, labels: int, think: float) -> dict[str, float]:
    """Several people label at once; how long they waited for questions, and for their labels to be taken in."""
    campaign = mp.open_campaign(url, NAME)
    campaign.warm_up()
    campaign.pending(1, lease=0.001)
    waits: dict[str, list[float]] = {"question": [], "label": []}

    def person(who: int) -> None:
        draw = np.random.default_rng(who)
        for _ in range(labels // people):
            time.sleep(float(draw.exponential(think)))
            started = time.perf_counter()
            queries = campaign.pending(1, lease=600, annotator=f"person {who}")
            waits["question"].append(time.perf_counter() - started)
            if not queries:
                return
            started = time.perf_counter()
            campaign.tell(queries[0].id, int(truth[queries[0].id]), annotator=f"person {who}")
            waits["label"].append(time.perf_counter() - started)

    threads = [threading.Thread(target=person, args=(who,)) for who in range(people)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {
        f"{what}, {name}": float(np.percentile(found, share))
        for what, found in waits.items()
        for name, share in (("median", 50), ("99 %", 99))
    } | {"labels": float(len(waits["label"]))}


def find_again(url: str) -> float:
    """How long it takes to find the state from all events, which opening does not.

    It continues from a kept state.
    """
    campaign = mp.open_campaign(url, NAME)
    started = time.perf_counter()
    with campaign.looking() as store:
        head = store.head()
        rebuild(store, campaign.settings, head.events, head.rebuilt)
    return time.perf_counter() - started


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--contested", type=float, default=0.3)
    parser.add_argument("--people", type=int, default=10)
    parser.add_argument("--labels", type=int, default=300)
    parser.add_argument("--think", type=float, default=2.0)
    parser.add_argument("--storage", default="")
    parser.add_argument("--open", default="")
    given = parser.parse_args()
    if given.open:
        open_it(given.open)
        return
    with tempfile.TemporaryDirectory() as folder:
        url = given.storage or f"sqlite:///{folder}/pool.db"
        rows, truth = large_pool(given.items, given.models, 10, given.contested)
        write_items(Path(folder) / "items.parquet", rows)
        started = time.perf_counter()
        # It ends by labels: the tolerance is so small that nothing is proven meanwhile.
        campaign = mp.create_campaign(url, NAME, pool=Path(folder) / "items.parquet", tolerance=1e-4)
        found = {"taken in": time.perf_counter() - started}
        campaign.storage.close()
        command = [sys.executable, "-m", "benchmarks.pool_campaigns", "--open", url]
        opened = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ))
        found |= json.loads(opened.stdout)
        found |= label_it(url, truth, given.people, given.labels, given.think)
        opened = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ))
        found["open, labelled"] = json.loads(opened.stdout)["open"]
        found["found from all events"] = find_again(url)
        size = Path(folder, "pool.db").stat().st_size / 2**20 if not given.storage else 0.0
        open_storage(url).close()
    print(f"{given.items:,} items, {given.models} models, {given.people} people; the file has {size:,.0f} MB\n")
    print("| | |\n|---|---|")
    for name, value in found.items():
        print(f"| {name} | {value:,.3f} |")


if __name__ == "__main__":
    main()
