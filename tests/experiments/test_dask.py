"""A real Dask cluster of real processes, some of which are killed."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.experiments.engines import Dask
from tests.experiments.test_comparing import SMALL, assert_equal, small
from tests.experiments.test_playing import collection

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's own, such as ports that are taken


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as made:
        yield made


@pytest.mark.slow
def test_the_numbers_are_those_of_threads(cluster: Any) -> None:
    one = small()
    assert_equal(one, small(engine="dask", scheduler=cluster.scheduler_address))
    assert_equal(one, small(engine="dask", scheduler=cluster.scheduler_address, chunk=3))


@pytest.mark.slow
def test_killed_workers_cost_time_not_results(cluster: Any) -> None:
    """Workers are killed for as long as the comparison runs, with the signal that cannot be caught."""
    killed: list[int] = []
    done = threading.Event()

    def kill_now_and_then() -> None:
        while not done.wait(0.7):
            workers = [worker for worker in cluster.workers.values() if getattr(worker, "pid", None)]
            if workers and len(killed) < 3:
                victim = workers[len(killed) % len(workers)].pid
                try:
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)
                except ProcessLookupError:
                    continue

    arguments = {**SMALL, "realizations": 300}
    whole = mp.compare(collection(), **arguments)
    killer = threading.Thread(target=kill_now_and_then)
    killer.start()
    try:
        results = mp.compare(collection(), **arguments, engine="dask", scheduler=cluster.scheduler_address, chunk=2)
    finally:
        done.set()
        killer.join()
    assert killed
    assert_equal(results, whole)


@pytest.mark.slow
def test_the_workers_forget_the_job_afterwards(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Client

    def jobs(client: Any) -> list[str]:
        """The jobs that workers hold."""
        held = client.run(lambda dask_worker: [name for name in dask_worker.plugins if "modelpicker" in name])
        return [name for names in held.values() for name in names]

    during, run = [], Dask.run

    def watched(self: Dask[Any, Any], tasks: Any, ahead: int | None = None) -> Any:
        during.append(len(jobs(self.client)))
        return run(self, tasks, ahead)

    monkeypatch.setattr(Dask, "run", watched)
    small(engine="dask", scheduler=cluster.scheduler_address)
    assert min(during) == 2  # both workers held it
    with Client(cluster) as client:
        deadline = time.monotonic() + 20
        while jobs(client) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert jobs(client) == []


def test_no_scheduler_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelpicker.experiments.engines.PATIENCE", 1.0)
    with pytest.raises(mp.InputError, match=r"no Dask scheduler answers at tcp://127.0.0.1:9"):
        small(engine="dask", scheduler="tcp://127.0.0.1:9")


def test_a_scheduler_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr("modelpicker.experiments.engines.PATIENCE", 1.0)
    with (
        LocalCluster(n_workers=0, dashboard_address=None) as empty,
        pytest.raises(mp.InputError, match="has no workers; start some"),
    ):
        small(engine="dask", scheduler=empty.scheduler_address)
