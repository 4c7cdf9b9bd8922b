"""A real `modelpicker serve` in a process of its own, which can be killed and started again."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")


class Serving:
    """A server on this machine, its storage in a folder."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.storage = f"sqlite:///{folder}/campaigns.db"
        self.options = options
        self.log = folder / "server.log"
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, on the port that it had before, and wait until it listens."""
        command = [sys.executable, "-m", "modelpicker", "serve", "--port", str(self.port)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, "--storage", self.storage, *self.options],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONWARNINGS": "ignore"},
            )
            assert self.process.stderr is not None
            for line in self.process.stderr:
                log.write(line)
                found = ADDRESS.search(line.decode())
                if found:
                    self.port = int(found[1])
                    return
        raise AssertionError(f"the server did not start:\n{self.log.read_text()}")

    def kill(self) -> None:
        """End it at once, as a crash would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Serving]:
    """A server for as long as the context lasts."""
    server = Serving(folder, *options)
    server.start()
    try:
        yield server
    finally:
        server.kill()
