"""A process that is killed again and again while it works on a campaign, and takes up its work each time.

The parent never opens the storage: it forks workers, reads what they say was acknowledged, and kills them.
"""

import os
import random
import signal
import time
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import modelpicker as mp
from tests.campaigns.pools import collection, truth
from tests.campaigns.streams import MODELS, Matrix, stream

NAME = "killed"
BUDGET = 1_000
MOST = 40_000  # rounds that there are to work on
AFTERWARDS = 20  # rounds that are worked on in peace, after the last kill


class Survival(NamedTuple):
    """What came of it."""

    kills: int
    acknowledged: set[str]
    rounds: int


@cache
def material() -> tuple[Matrix, Matrix]:
    """What is worked on, made once."""
    return stream(MOST)


def create(url: str) -> mp.Campaign:
    """The campaign that is worked on."""
    return mp.create_campaign(url, NAME, models=MODELS, seed=7, budget=BUDGET, expected_rounds=5_000)


def work(campaign: mp.Campaign, first: int, last: int, say: Callable[[str], object]) -> None:
    """Ask and tell from some round on, as if nothing about that round had been done; `say` what is acknowledged."""
    predictions, labels = material()
    number = first
    while number < last:
        together = 7 if number % 50 == 0 else 1
        rows = predictions[number : number + together].tolist()
        keys = [f"item {number + place}" for place in range(len(rows))]
        items = [{"text": key} for key in keys]
        if together == 1:
            decisions = [campaign.ask(rows[0], item=items[0], key=keys[0])]
        else:
            decisions = list(campaign.ask_many(rows, items=items, keys=keys))
        for decision in decisions:
            say(f"ask {decision.id} {decision.query} {decision.probability!r}")
        for decision in decisions:
            if decision.query and decision.id % 11 == 5:
                campaign.skip(decision.id)
                say(f"skip {decision.id}")
            elif decision.query:
                campaign.tell(decision.id, int(labels[decision.id]))
                say(f"label {decision.id} {labels[decision.id]}")
        number += together
        say(f"next {number}")


POOL_ITEMS = 2_500


@cache
def pool_material() -> mp.ModelCollection:
    """The items of a pool, made once; the kernels are compiled, for every worker would have to otherwise."""
    small = mp.PoolPicker(collection(20))
    small.tell(small.ask(1)[0], "ham")
    small.ask(1)
    return collection(POOL_ITEMS)


def create_pool(url: str) -> mp.Campaign:
    """The campaign on a pool that is worked on."""
    return mp.create_campaign(url, NAME, pool=pool_material(), seed=7, tolerance=0.0)


def label_pool(campaign: mp.Campaign, first: int, last: int, say: Callable[[str], object]) -> None:
    """Label a pool until there are that many answers; what is done depends only on what is in the storage."""
    items = pool_material()
    while True:
        counts = campaign.counts()
        number = counts.labels + counts.skipped
        say(f"next {number}")
        if number >= last:
            return
        if number % 40 == 20:
            campaign.ask(["ham", "spam", "egg", "ham"], item={"text": f"{number}"}, key=f"new {number}")
            say(f"item new {number}")
        query = campaign.pending(3 if number % 7 == 0 else 1, lease=1e6, annotator="worker")[0]
        say(f"question {query.id}")
        if query.id % 11 == 5:
            campaign.skip(query.id)
            say(f"skip {query.id}")
        else:
            said = truth(items, query.id) if query.id < POOL_ITEMS else "ham"
            campaign.tell(query.id, said)
            say(f"label {query.id} {said}")


def create_overlap(url: str) -> mp.Campaign:
    """The campaign on a pool of whose items two people label each."""
    return mp.create_campaign(url, NAME, pool=pool_material(), seed=7, tolerance=0.0, overlap=2)


def label_overlap(campaign: mp.Campaign, first: int, last: int, say: Callable[[str], object]) -> None:
    """Two people label a pool in turn, disagree now and then, and somebody settles it."""
    items = pool_material()
    while True:
        for conflict in campaign.conflicts():
            campaign.settle(conflict.id, truth(items, conflict.id), annotator="boss")
            say(f"label {conflict.id} {truth(items, conflict.id)}")
        number = campaign.labels_bought
        say(f"next {number}")
        if number >= last:
            return
        person = ("ann", "bob")[number % 2]
        query = campaign.pending(1, lease=1e6, annotator=person)[0]
        wrong = person == "bob" and query.id % 5 == 0
        said = "toast" if wrong else truth(items, query.id)
        campaign.tell(query.id, said, annotator=person)
        say(f"opinion {query.id} {said} {person}")


@cache
def file_material() -> mp.ModelCollection:
    """The items of a file, made once."""
    return collection(POOL_ITEMS)


def create_with_file(url: str) -> mp.Campaign:
    """A stream that asks about the items of a file as labels come."""
    campaign = mp.create_campaign(
        url, NAME, models=MODELS, seed=7, algorithm="label-efficient", options={"probability": 0.5}
    )
    campaign.ask_file(file_material())
    return campaign


def label_file(campaign: mp.Campaign, first: int, last: int, say: Callable[[str], object]) -> None:
    """Label what is asked until there are that many answers; what is done depends only on what is in the
    storage."""
    items = file_material()
    while (number := campaign.counts().labels) < last:
        say(f"next {number}")
        query = campaign.pending(1, lease=1e6, annotator="worker")[0]
        label = truth(items, int(str(query.key).split()[-1]))
        campaign.tell(query.id, label)
        say(f"label {query.id} {label}")
    say(f"next {number}")


KINDS = {
    "stream": (material, create, work),
    "pool": (pool_material, create_pool, label_pool),
    "overlap": (pool_material, create_overlap, label_overlap),
    "file": (file_material, create_with_file, label_file),
}


def survive(url: str, kills: int, seed: int, longest: float = 0.06, kind: str = "stream") -> Survival:
    """Kill workers at random moments, as often as that; then let one work in peace for a while.

    One kill in three may come before the worker has done anything; the others wait until it has been heard, for on
    a slow machine hardly any worker would get to work before its end.
    """
    draw = random.Random(seed)  # moments, not secrets
    prepare, _, labour = KINDS[kind]
    prepare()
    acknowledged: set[str] = set()
    first = killed = 0
    last = MOST
    while first < last:
        if killed == kills and last == MOST:
            last = min(MOST, first + AFTERWARDS)
        reading, writing = os.pipe()
        worker = os.fork()
        if worker == 0:
            _child(url, labour, first, last, reading, writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as said:
            heard = b""
            if killed < kills:
                heard = b"".join(said.readline() for _ in range(draw.choice((0, 2, 5))))
                time.sleep(draw.uniform(0.0, longest))
                os.kill(worker, signal.SIGKILL)
            lines = [line.decode().strip() for line in (heard + said.read()).split(b"\n")[:-1]]
        _, status = os.waitpid(worker, 0)
        killed += os.WIFSIGNALED(status)
        if not os.WIFSIGNALED(status) and os.waitstatus_to_exitcode(status) != 0:
            raise AssertionError(f"a worker failed: {lines[-1:]}")
        acknowledged.update(line for line in lines if not line.startswith("next"))
        first = max([first, *(int(line.split()[1]) for line in lines if line.startswith("next"))])
    return Survival(killed, acknowledged, first)


def _child(
    url: str,
    labour: Callable[[mp.Campaign, int, int, Callable[[str], object]], None],
    first: int,
    last: int,
    reading: int,
    writing: int,
) -> None:
    """A worker, to its end; whatever happens it does not come back."""
    code = 1
    try:
        os.close(reading)
        labour(mp.open_campaign(url, NAME), first, last, lambda line: os.write(writing, f"{line}\n".encode()))
        code = 0
    except BaseException as error:
        os.write(writing, f"failed: {error!r}\n".encode())
    finally:
        os._exit(code)
