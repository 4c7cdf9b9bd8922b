"""Processes killed at random moments: nothing acknowledged is lost, nothing is there twice."""

import multiprocessing
import random
import threading
import time
from typing import Any

import pytest

import modelpicker as mp
from tests.campaigns import killing
from tests.campaigns.servers import Server, postgres
from tests.campaigns.streams import check, state, without_times


def said(record: dict[str, Any]) -> str | None:
    """What a record of the history acknowledges, as `killing` writes it down; None for the items it began with."""
    match record["kind"]:
        case "ask":
            return f"ask {record['id']} {record['query']} {record['probability']!r}"
        case "label":
            return f"label {record['id']} {record['label']}"
        case "opinion":
            return f"opinion {record['id']} {record['label']} {record['by']}"
        case "question" | "skip":
            return f"{record['kind']} {record['id']}"
        case "fields" if record["key"].startswith("new"):
            return f"item {record['key']}"
        case "item" | "fields" | "feed" | "fed":
            return None
    raise AssertionError(record)


def examine(url: str, survival: killing.Survival, memory: str, kind: str = "stream") -> None:
    """All that was acknowledged is there, once, and everything is as if nobody had ever been killed."""
    campaign = mp.open_campaign(url, killing.NAME)
    history = without_times(campaign)
    found = [text for text in map(said, history) if text is not None]
    assert len(found) == len(set(found))
    assert len(survival.acknowledged) > survival.kills
    assert survival.acknowledged <= set(found)
    _, create, work = killing.KINDS[kind]
    undisturbed = create(memory)
    work(undisturbed, 0, survival.rounds, lambda _: None)
    assert without_times(undisturbed) == history
    assert state(undisturbed) == state(campaign)
    check(campaign, url)


def run_killing(url: str, kills: int, seed: int, longest: float, kind: str = "stream") -> killing.Survival:
    """In a process of its own: it forks, and must not have threads or open storages."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(killing.survive, (url, kills, seed, longest, kind))


def test_sqlite_survives_thirty_kills(file_url: str, memory: str) -> None:
    killing.create(file_url).storage.close()
    survival = run_killing(file_url, 30, 0, 0.06)
    assert survival.kills == 30
    examine(file_url, survival, memory)


@pytest.mark.slow
def test_postgresql_survives_forty_kills_of_its_clients(server: Server, memory: str) -> None:
    url = server.database()
    killing.create(url).storage.close()
    survival = run_killing(url, 40, 1, 0.15)
    assert survival.kills == 40
    examine(url, survival, memory)


def test_a_pool_in_sqlite_survives_ten_kills(file_url: str, memory: str) -> None:
    killing.create_pool(file_url).storage.close()
    survival = run_killing(file_url, 10, 0, 0.15, "pool")
    assert survival.kills == 10
    examine(file_url, survival, memory, "pool")


@pytest.mark.slow
def test_a_pool_that_two_people_label_survives_six_kills(file_url: str, memory: str) -> None:
    killing.create_overlap(file_url).storage.close()
    survival = run_killing(file_url, 6, 2, 0.15, "overlap")
    assert survival.kills == 6
    examine(file_url, survival, memory, "overlap")


@pytest.mark.slow
def test_a_pool_that_two_people_label_survives_forty_kills_of_clients_of_postgresql(
    server: Server, memory: str
) -> None:
    url = server.database()
    killing.create_overlap(url).storage.close()
    survival = run_killing(url, 40, 3, 0.25, "overlap")
    assert survival.kills == 40
    examine(url, survival, memory, "overlap")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_file_that_is_asked_about_survives_twenty_kills(
    kind: str, file_url: str, server: Server, memory: str
) -> None:
    url = file_url if kind == "sqlite" else server.database()
    killing.create_with_file(url).storage.close()
    survival = run_killing(url, 20, 0, 0.15, "file")
    assert survival.kills == 20
    examine(url, survival, memory, "file")


@pytest.mark.slow
def test_a_pool_in_postgresql_survives_twenty_kills_of_its_clients(server: Server, memory: str) -> None:
    url = server.database()
    killing.create_pool(url).storage.close()
    survival = run_killing(url, 20, 1, 0.25, "pool")
    assert survival.kills == 20
    examine(url, survival, memory, "pool")


@pytest.mark.slow
def test_postgresql_killed_and_started_again_goes_on_with_nothing_lost(memory: str) -> None:
    """The server itself dies six times under load; its client retries what failed, by key and by id."""
    draw = random.Random(3)  # moments, not secrets
    with postgres() as own:
        url = own.database()
        campaign = killing.create(url)
        said: set[str] = set()
        complaints: list[str] = []
        enough, done = threading.Event(), threading.Event()
        first = 0

        def say(line: str) -> None:
            nonlocal first
            if line.startswith("next"):
                first = int(line.split()[1])
            else:
                said.add(line)

        def stubborn() -> None:
            while not enough.is_set() or not done.is_set():
                try:
                    killing.work(campaign, first, first + 1, say)
                    if enough.is_set():
                        done.set()
                except mp.StorageError as error:
                    complaints.append(str(error))
                    time.sleep(0.05)

        worker = threading.Thread(target=stubborn)
        worker.start()
        for _ in range(6):
            time.sleep(draw.uniform(0.02, 0.3))
            own.kill()
            own.start()
        enough.set()
        worker.join(timeout=120)
        assert done.is_set()
        assert complaints
        assert all("Nothing acknowledged was lost" in complaint for complaint in complaints)
        examine(url, killing.Survival(6, said, first), memory)
        campaign.storage.close()


@pytest.mark.slow
def test_sqlite_survives_a_thousand_more(file_url: str, memory: str) -> None:
    killing.create(file_url).storage.close()
    survival = run_killing(file_url, 1_000, 5, 0.08)
    assert survival.kills == 1_000
    examine(file_url, survival, memory)
