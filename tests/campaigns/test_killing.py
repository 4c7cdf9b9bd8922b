"""Processes killed at random moments: nothing acknowledged is lost, nothing is there twice."""

import multiprocessing
import random
import threading
import time

import pytest

import modelpicker as mp
from tests.campaigns import killing
from tests.campaigns.servers import Server, postgres
from tests.campaigns.streams import check, state, without_times


def examine(url: str, rounds: int, survival: killing.Survival, memory: str) -> None:
    """All that was acknowledged is there, once, and everything is as if nobody had ever been killed."""
    campaign = mp.open_campaign(url, killing.NAME)
    history = without_times(campaign)
    found = []
    for record in history:
        if record["kind"] == "ask":
            found.append(f"ask {record['id']} {record['query']} {record['probability']!r}")
        elif record["kind"] == "label":
            found.append(f"label {record['id']} {record['label']}")
        else:
            found.append(f"skip {record['id']}")
    assert len(found) == len(set(found))
    assert survival.acknowledged <= set(found)
    undisturbed = killing.create(memory, rounds)
    killing.work(undisturbed, rounds, 0, lambda _: None)
    assert without_times(undisturbed) == history
    assert state(undisturbed) == state(campaign)
    check(campaign, url)


def run_killing(url: str, rounds: int, kills: int, seed: int, longest: float) -> killing.Survival:
    """In a process of its own: it forks, and must not have threads or open storages."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(killing.survive, (url, rounds, kills, seed, longest))


def test_sqlite_survives_three_hundred_kills(file_url: str, memory: str) -> None:
    rounds = 3_000
    killing.create(file_url, rounds).storage.close()
    survival = run_killing(file_url, rounds, 300, 0, 0.06)
    assert survival.kills >= 250  # those that came after the end of a worker's life do not count
    examine(file_url, rounds, survival, memory)


def test_postgresql_survives_forty_kills_of_its_clients(server: Server, memory: str) -> None:
    rounds = 500
    url = server.database()
    killing.create(url, rounds).storage.close()
    survival = run_killing(url, rounds, 40, 1, 0.15)
    assert survival.kills >= 30
    examine(url, rounds, survival, memory)


def test_postgresql_killed_and_started_again_goes_on_with_nothing_lost(memory: str) -> None:
    """The server itself dies six times under load; its client retries what failed, by key and by id."""
    rounds = 400
    draw = random.Random(3)  # noqa: S311  # moments, not secrets
    with postgres() as own:
        url = own.database()
        campaign = killing.create(url, rounds)
        said: set[str] = set()
        complaints: list[str] = []
        done = threading.Event()

        def stubborn() -> None:
            first = 0
            while first < rounds:
                try:

                    def say(line: str) -> None:
                        nonlocal first
                        if line.startswith("next"):
                            first = int(line.split()[1])
                        else:
                            said.add(line)

                    killing.work(campaign, rounds, first, say)
                except mp.StorageError as error:
                    complaints.append(str(error))
                    time.sleep(0.05)
            done.set()

        worker = threading.Thread(target=stubborn)
        worker.start()
        kills = 0
        while kills < 6 and not done.wait(draw.uniform(0.02, 0.15)):
            own.kill()
            own.start()
            kills += 1
        worker.join(timeout=120)
        assert done.is_set()
        assert kills >= 4
        assert complaints
        assert all("Nothing acknowledged was lost" in complaint for complaint in complaints)
        examine(url, rounds, killing.Survival(kills, said), memory)
        campaign.storage.close()


@pytest.mark.slow
def test_sqlite_survives_a_thousand_more(file_url: str, memory: str) -> None:
    rounds = 12_000
    killing.create(file_url, rounds).storage.close()
    survival = run_killing(file_url, rounds, 1_000, 5, 0.08)
    assert survival.kills >= 900
    examine(file_url, rounds, survival, memory)
