"""Where tasks are done: threads of this process, or the workers of a Dask cluster. The numbers are the same."""

import logging
import os
import signal
import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from modelpicker.errors import InputError, ModelPickerError
from modelpicker.extras import require

# A task whose worker dies this often has probably killed it.
MOST_DEATHS = 20
# Realizations a task.
CHUNK = 10
# Seconds to wait for the workers of a cluster.
PATIENCE = 30.0


Done = TypeVar("Done")
TaskOf = TypeVar("TaskOf", bound=Hashable, contravariant=True)
DoneBy = TypeVar("DoneBy", covariant=True)
AnyTask = TypeVar("AnyTask", bound=Hashable)


EngineName: TypeAlias = Literal["threads", "dask"]


class Workforce(NamedTuple):
    """Who does the work: it changes no number."""

    engine: str = "threads"
    workers: int | None = None
    scheduler: str | None = None
    chunk: int = CHUNK


class Doable(Protocol[TaskOf, DoneBy]):
    """Everything that tasks need, whatever process they run in."""

    def play(self, task: TaskOf, /) -> DoneBy:
        """Do a task."""


class Engine(Protocol[AnyTask, DoneBy]):
    """Does tasks, in any order."""

    def run(self, tasks: Sequence[AnyTask], ahead: int | None = None) -> Iterator[tuple[AnyTask, DoneBy]]:
        """Each task with what came of it, as they are done; at most `ahead` are started before they are taken."""


class Threads(Generic[AnyTask, Done]):
    """All cores of this process: compiled kernels leave the interpreter's lock alone."""

    def __init__(self, job: Doable[AnyTask, Done], workers: int) -> None:
        self.job = job
        self.pool = ThreadPoolExecutor(workers, thread_name_prefix="modelpicker")

    def run(self, tasks: Sequence[AnyTask], ahead: int | None = None) -> Iterator[tuple[AnyTask, Done]]:
        """Each task with what came of it."""
        rest = iter(tasks)
        waiting: dict[Future[Done], AnyTask] = {}

        def begin(some: Iterable[AnyTask]) -> None:
            waiting.update({self.pool.submit(self.job.play, task): task for task in some})

        begin(islice(rest, ahead))
        try:
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield waiting.pop(future), future.result()
                del future
                begin(islice(rest, len(done)))
        finally:
            for future in waiting:
                future.cancel()

    def close(self) -> None:
        """Wait for what is being done, and do no more."""
        self.pool.shutdown(cancel_futures=True)


class Dask(Generic[AnyTask, Done]):
    """The workers of a Dask cluster; one that dies costs time, not results."""

    def __init__(self, job: Doable[AnyTask, Done], client: Any, *, deaf: bool) -> None:
        from distributed import WorkerPlugin

        class Holder(WorkerPlugin):  # type: ignore[misc]  # its types are not looked at
            """Gives every worker the job, once; also those that come later."""

            def __init__(self, job: Doable[AnyTask, Done]) -> None:
                self.job = job

            def setup(self, worker: Any) -> None:  # noqa: ARG002  # as Dask calls it
                if deaf:  # Ctrl-C in a terminal reaches all processes, but is meant for us
                    with suppress(ValueError):
                        signal.signal(signal.SIGINT, signal.SIG_IGN)

        self.client = client
        self.name = f"modelpicker-{os.getpid()}-{time.time_ns()}"
        client.register_plugin(Holder(job), name=self.name)

    def run(self, tasks: Sequence[AnyTask], ahead: int | None = None) -> Iterator[tuple[AnyTask, Done]]:
        """Each task with what came of it."""
        from distributed import KilledWorker, as_completed

        rest = iter(tasks)
        waiting = {self._submit(task): task for task in islice(rest, ahead)}
        deaths: dict[AnyTask, int] = {}
        done = as_completed(waiting)
        try:
            for future in done:
                task = waiting.pop(future)
                try:
                    found = future.result()
                except KilledWorker as error:
                    deaths[task] = deaths.get(task, 0) + 1
                    if deaths[task] > MOST_DEATHS:
                        raise ModelPickerError(
                            f"{deaths[task]} workers died of {task}; do the workers have enough memory?"
                        ) from error
                    again = self._submit(task)
                    waiting[again] = task
                    done.add(again)
                else:
                    del future
                    yield task, found
                    for begun in islice(rest, 1):
                        more = self._submit(begun)
                        waiting[more] = begun
                        done.add(more)
        except OSError as error:
            raise ModelPickerError(
                f"the Dask scheduler is gone: {error}. Run it again: what was written to a folder is kept."
            ) from error
        finally:
            with suppress(Exception):
                self.client.cancel(list(waiting))

    def _submit(self, task: AnyTask) -> Any:
        return self.client.submit(play_on_worker, self.name, task, pure=False)

    def close(self) -> None:
        """Let the workers forget the job, if they are still there."""
        with suppress(Exception):
            self.client.unregister_worker_plugin(self.name)


def play_on_worker(name: str, task: Hashable) -> Any:
    """Do a task of the job that this worker holds."""
    from distributed import get_worker

    return get_worker().plugins[name].job.play(task)


@contextmanager
def open_engine(
    name: str, job: Doable[AnyTask, Done], workers: int | None, scheduler: str | None
) -> Iterator[Engine[AnyTask, Done]]:
    """The engine of this name, closed at the end."""
    if name == "threads" and scheduler is None:
        threads = Threads(job, workers or cores())
        try:
            yield threads
        finally:
            threads.close()
    elif name == "dask":
        with _client(workers, scheduler) as client:
            engine = Dask(job, client, deaf=scheduler is None)
            try:
                yield engine
            finally:
                engine.close()
    elif name == "threads":
        raise InputError(f"scheduler={scheduler!r} is for engine='dask'; threads have none.")
    else:
        raise InputError(f"there is no engine {name!r}; there are 'threads' and 'dask'.")


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _client(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """A client of the cluster at an address, or of one on this machine that ends with it."""
    require("dask")
    from distributed import Client, LocalCluster

    if scheduler is None:
        with (
            LocalCluster(
                n_workers=workers or cores(),
                threads_per_worker=1,
                dashboard_address=None,
                silence_logs=logging.ERROR,
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {scheduler}: {error}.") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise InputError(
                f"the Dask scheduler at {scheduler} has no workers; start some and try again."
            ) from error
        yield client
