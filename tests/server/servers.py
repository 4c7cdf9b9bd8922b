"""Real servers for tests: in a thread of this process, or in one of their own that can be killed."""

import asyncio
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx2

from modelpicker import Client
from modelpicker.server.app import create_app
from modelpicker.server.configuration import Configuration
from modelpicker.server.network.run import Server, listen

API = "/api/v1"

Result = TypeVar("Result")


def wait_until(happened: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for something that will happen."""
    stop = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < stop, "it did not happen"
        time.sleep(0.01)


def finished(work: Coroutine[Any, Any, Result]) -> Result:
    """What comes of asynchronous work; in a thread of its own, as a browser keeps the loop of the tests' thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


class Running:
    """A server that answers."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx2.Client(base_url=url, timeout=30)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def client(self, token: str | None = None, **options: Any) -> Client:
        return Client(self.url, token, **options)

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return self.http.get(f"{API}{path}", **options)

    def post(self, path: str, body: Any = None, **options: Any) -> httpx2.Response:
        return self.http.post(f"{API}{path}", json=body, **options)


@contextmanager
def serving(storage: str, **settings: Any) -> Iterator[Running]:
    """A server in a thread of this process."""
    configuration = Configuration(storage=storage, port=0, **settings)
    app = create_app(configuration)
    listener = listen(configuration)
    server = Server(app, configuration)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    running = Running(f"http://127.0.0.1:{listener.getsockname()[1]}")
    while not server.started:
        time.sleep(0.01)
    try:
        yield running
    finally:
        running.http.close()
        app.state.service.stopping.set()
        server.should_exit = True
        thread.join(30)


class Process:
    """A server in a process of its own."""

    def __init__(self, *options: str, port: int = 0) -> None:
        command = [sys.executable, "-m", "modelpicker", "serve", "--port", str(port), *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.lines: list[str] = []
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            found = re.search(r'(?:is on |"url": ")(http://[^\s"]+)', line)
            if found:
                break
        else:
            raise RuntimeError("".join(self.lines))
        self.running = Running(found[1])
        threading.Thread(target=self._drain, daemon=True).start()

    def _drain(self) -> None:
        assert self.process.stderr is not None
        self.lines.extend(self.process.stderr)

    def kill(self) -> None:
        """As a power failure would."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """As an operator would; what it exits with."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        self.running.http.close()
        if self.process.poll() is None:
            self.kill()
        if self.process.stderr is not None:
            self.process.stderr.close()
