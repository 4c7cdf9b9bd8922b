"""What a server keeps of campaigns that nobody uses: many of them, each used once, over HTTP.

    python -m benchmarks.idle_campaigns [--campaigns 10000] [--rounds 100]

Each campaign is created, asked a batch of rounds, told some labels, and looked at (standing and charts), by several
clients at once. The server's memory (RSS of its process) is printed along the way: after the first tenth it should
not grow any more, as what is kept of idle campaigns has a bound.
"""

import argparse
import json
import random
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from typing import Any

import psutil

from benchmarks.service import Running, serving

MODELS = 20
CLASSES = 10
LABELS = 5
CLIENTS = 4
STEPS = 10


class Client:
    """One connection to the server."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=600)  # the first compiles

    def call(self, method: str, path: str, document: object = None) -> Any:
        """One request; what is answered, which must be a success."""
        body = None if document is None else json.dumps(document)
        self._connection.request(method, f"/api/v1/campaigns{path}", body, {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        found = json.loads(answer.read())
        if answer.status >= 300:
            raise SystemExit(f"{method} {path}: {found}")
        return found

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


def use(client: Client, number: int, rounds: int) -> None:
    """Everything that a campaign is used for, once."""
    draw, name = random.Random(number), f"campaign-{number}"  # noqa: S311  # not a secret
    client.call("POST", "", {"name": name, "models": MODELS, "seed": number})
    rows = [[draw.randrange(CLASSES) for _ in range(MODELS)] for _ in range(rounds)]
    texts = [{"text": f"item {place} of {name}, with a few words to read"} for place in range(rounds)]
    made = client.call("POST", f"/{name}/rounds/batch", {"predictions": rows, "items": texts})["decisions"]
    for decision in [one for one in made if one["query"]][:LABELS]:
        client.call("POST", f"/{name}/labels", {"id": decision["id"], "label": draw.randrange(CLASSES)})
    client.call("GET", f"/{name}/standing")
    client.call("GET", f"/{name}/charts")


def use_some(port: int, numbers: range, rounds: int) -> None:
    """Use some campaigns, one after the other."""
    with closing(Client(port)) as client:
        for number in numbers:
            use(client, number, rounds)


def memory_mb(running: Running) -> float:
    """The memory of the server's process."""
    return float(psutil.Process(running.process.pid).memory_info().rss) / 2**20


def main() -> None:
    """Use many campaigns once, and print what the server's memory comes to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--campaigns", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(f"sqlite:///{folder}/campaigns.db") as running:
        print(f"campaigns        0   {memory_mb(running):6.0f} MB", flush=True)
        started = time.perf_counter()
        step = max(CLIENTS, options.campaigns // STEPS)
        with ThreadPoolExecutor(CLIENTS) as pool:
            for first in range(0, options.campaigns, step):
                last = min(options.campaigns, first + step)
                parts = [range(first + client, last, CLIENTS) for client in range(CLIENTS)]
                list(pool.map(lambda part: use_some(running.port, part, options.rounds), parts))
                print(f"campaigns {last:8,d}   {memory_mb(running):6.0f} MB", flush=True)
        seconds = time.perf_counter() - started
        print(f"{options.campaigns / seconds:.0f} campaigns a second, {options.rounds} rounds each")


if __name__ == "__main__":
    main()
