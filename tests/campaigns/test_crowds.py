"""Many at once: processes and threads on one campaign, without errors, and each round decided once."""

import multiprocessing
import multiprocessing.pool
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import modelpicker as mp
from modelpicker.campaigns.storage import database
from modelpicker.campaigns.storage.database import open_storage
from tests.campaigns.pools import collection, truth
from tests.campaigns.servers import Server
from tests.campaigns.streams import check, stream

EACH = 25


def crowd(members: int) -> multiprocessing.pool.Pool:
    """Processes of their own, which need not all import everything again."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "sqlalchemy.dialects.sqlite", "psycopg"])
    return context.Pool(members)


def crowd_member(url: str, who: int) -> list[tuple[str, int]]:
    """Ask, lease, tell and skip, along with all the others; what was leased, and what was asked."""
    campaign = mp.open_campaign(url, "crowd")
    predictions, _ = stream(EACH, seed=who)
    done: list[tuple[str, int]] = []
    for place, row in enumerate(predictions.tolist()):
        done.append(("ask", campaign.ask(row, key=f"{who}/{place}").id))
        for query in campaign.pending(1, lease=600, annotator=f"member {who}"):
            done.append(("lease", query.id))
            campaign.skip(query.id) if place % 5 == 0 else campaign.tell(query.id, 0)
    campaign.close()
    return done


def examine(url: str, members: int, done: list[list[tuple[str, int]]]) -> None:
    """Every round was decided for one asker, and every query given to one annotator."""
    campaign = mp.open_campaign(url, "crowd")
    asked = sorted(number for each in done for what, number in each if what == "ask")
    leased = [number for each in done for what, number in each if what == "lease"]
    assert asked == list(range(members * EACH))
    assert len(leased) == len(set(leased)) > members
    pick = campaign.best()
    assert pick.labels_used + pick.skipped == len(leased)
    assert pick.labels_used + pick.pending <= 200
    check(campaign, url)


@pytest.mark.slow
def test_sixteen_processes_work_on_one_file_without_errors(file_url: str) -> None:
    mp.create_campaign(file_url, "crowd", models=4, budget=200).storage.close()
    with crowd(16) as pool:
        done = pool.starmap(crowd_member, [(file_url, who) for who in range(16)])
    examine(file_url, 16, done)


def test_many_writers_work_on_one_postgresql(server: Server) -> None:
    url = server.database()
    mp.create_campaign(url, "crowd", models=4, budget=200).storage.close()
    with crowd(6) as pool:
        done = pool.starmap(crowd_member, [(url, who) for who in range(6)])
    examine(url, 6, done)


def _row(key: str | None) -> int:
    """The place of an item of a file, by its key: row-1 of …"""
    return int(str(key).split()[0].removeprefix("row-")) - 1


def file_member(url: str, who: int) -> list[int]:
    """Label what a stream asks about of a file, along with all the others."""
    items, done = collection(400), []
    with mp.open_campaign(url, "crowd") as campaign:
        for _ in range(EACH):
            for query in campaign.pending(5, lease=600, annotator=f"member {who}"):
                campaign.tell(query.id, truth(items, _row(query.key)), annotator=f"member {who}")
                done.append(query.id)
    return done


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_several_processes_are_asked_about_one_file(kind: str, file_url: str, server: Server) -> None:
    url = file_url if kind == "sqlite" else server.database()
    campaign = mp.create_campaign(
        url, "crowd", models=4, algorithm="label-efficient", options={"probability": 1.0}, classes=None
    )
    items = collection(400)
    campaign.ask_file(mp.ModelCollection.of_codes(items.predictions, None, ["0", "1", "2", "3"], items.classes))
    campaign.storage.close()
    with crowd(6) as pool:
        done = pool.starmap(file_member, [(url, who) for who in range(6)])
    labelled = [number for each in done for number in each]
    assert len(labelled) == len(set(labelled)) > 50
    campaign = mp.open_campaign(url, "crowd")
    assert campaign.counts().labels == len(labelled)
    assert campaign.counts().waiting <= 6
    check(campaign, url)


def pool_member(url: str, who: int) -> list[int]:
    """Label a pool along with all the others, and add an item now and then; what was labelled."""
    campaign = mp.open_campaign(url, "crowd")
    items, done = collection(400), []
    for place in range(EACH):
        if place % 10 == 3:
            campaign.ask(["ham", "spam", "egg", "ham"], key=f"{who}/{place}")
        for query in campaign.pending(2, lease=600, annotator=f"member {who}")[:1]:
            done.append(query.id)
            said = truth(items, query.id) if query.id < 400 else "ham"
            campaign.skip(query.id) if place % 5 == 0 else campaign.tell(query.id, said)
    campaign.close()
    return done


def examine_pool(url: str, members: int, done: list[list[int]]) -> None:
    """Every item was given to one annotator, and every answer is there."""
    campaign = mp.open_campaign(url, "crowd")
    answered = [number for each in done for number in each]
    assert len(answered) == len(set(answered)) > members
    assert campaign.rounds == 400 + members * 3
    counts = campaign.counts()
    assert counts.labels + counts.skipped == len(answered)
    assert counts.labels + counts.waiting <= 150
    check(campaign, url)


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_many_processes_label_one_pool_without_errors(kind: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue("file_url") if kind == "sqlite" else request.getfixturevalue("server").database()
    pool = collection(400)
    mp.create_campaign(url, "crowd", pool=pool, budget=150, tolerance=0.0).storage.close()
    with crowd(6) as members:
        done = members.starmap(pool_member, [(url, who) for who in range(6)])
    examine_pool(url, 6, done)


def overlap_member(url: str, who: int) -> list[int]:
    """Label a pool of which two people label each item; the third process is often wrong."""
    campaign = mp.open_campaign(url, "crowd")
    items, done = collection(200), []
    for _ in range(EACH):
        for query in campaign.pending(1, lease=600, annotator=f"member {who}/process"):
            said = "toast" if who == 2 and query.id % 2 else truth(items, query.id)
            campaign.tell(query.id, said, annotator=f"member {who}/process")
            done.append(query.id)
    campaign.close()
    return done


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_many_processes_give_each_item_to_two_of_them(kind: str, request: pytest.FixtureRequest) -> None:
    """Nobody is given an item twice, nobody is refused, and no item has a third opinion."""
    url = request.getfixturevalue("file_url") if kind == "sqlite" else request.getfixturevalue("server").database()
    made = mp.create_campaign(url, "crowd", pool=collection(200), budget=101, tolerance=0.0, overlap=2)
    made.storage.close()
    with crowd(4) as members:
        done = members.starmap(overlap_member, [(url, who) for who in range(4)])
    campaign = mp.open_campaign(url, "crowd")
    assert all(len(each) == len(set(each)) for each in done)
    rows = campaign.labels()
    people = [[str(one.by) for one in row.opinions] for row in rows]
    assert all(len(each) == len(set(each)) <= 2 for each in people)
    assert sum(map(len, people)) == sum(map(len, done)) == campaign.labels_bought <= 100
    assert campaign.counts().conflicts == len(campaign.conflicts())
    assert campaign.counts().labels > 10
    check(campaign, url)


def test_threads_may_label_one_pool(url: str) -> None:
    items = collection(200)
    campaign = mp.create_campaign(url, "threads", pool=items, tolerance=0.0)

    def work(who: int) -> list[int]:
        done = []
        for _ in range(6):
            (query,) = campaign.pending(1, lease=600, annotator=f"{who}")
            campaign.tell(query.id, truth(items, query.id))
            done.append(query.id)
        return done

    with ThreadPoolExecutor(8) as threads:
        done = [number for each in threads.map(work, range(8)) for number in each]
    assert len(set(done)) == 48
    check(campaign, url)


def test_threads_may_share_a_campaign(url: str) -> None:
    campaign = mp.create_campaign(url, "threads", models=4, seed=1)
    predictions, _ = stream(80)
    with ThreadPoolExecutor(8) as threads:
        decisions = list(threads.map(lambda row: campaign.ask(row), predictions.tolist()))
        list(threads.map(lambda one: campaign.tell(one.id, 0), [one for one in decisions if one.query]))
    assert sorted(decision.id for decision in decisions) == list(range(80))
    check(campaign, url)


def test_threads_may_each_have_a_handle_of_their_own(file_url: str) -> None:
    mp.create_campaign(file_url, "handles", models=4, seed=1).close()
    predictions, _ = stream(40)

    def ask(row: list[int]) -> int:
        return mp.open_campaign(file_url, "handles").ask(row).id

    with ThreadPoolExecutor(20) as threads:
        assert sorted(threads.map(ask, predictions.tolist())) == list(range(40))


def test_one_of_many_who_make_the_same_campaign_does(url: str) -> None:
    def make(_: int) -> bool:
        try:
            mp.create_campaign(url, "the one", models=2)
        except mp.ConflictError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(make, range(8))) == 1


def make_storage(url: str, who: int) -> str:
    return mp.create_campaign(url, f"campaign {who}", models=2).name


def test_several_processes_may_make_the_storage_at_once(tmp_path: Path, server: Server) -> None:
    with crowd(6) as pool:
        for url in (f"sqlite:///{tmp_path}/new.db", server.database()):
            assert len(pool.starmap(make_storage, [(url, who) for who in range(6)])) == 6
            assert len(mp.list_campaigns(url)) == 6
            open_storage(url).close()


def test_a_campaign_is_not_shared_with_a_fork(file_url: str) -> None:
    campaign = mp.create_campaign(file_url, "fork", models=2)
    campaign._process += 1
    with pytest.raises(mp.StorageError, match="open it again after a fork"):
        campaign.best()


def test_a_reader_is_not_held_up_by_a_writer(file_url: str) -> None:
    campaign = mp.create_campaign(file_url, "readers", models=2)
    campaign.ask([0, 1])
    other = mp.open_campaign(file_url, "readers")
    holding, release = threading.Event(), threading.Event()

    def hold() -> None:
        with campaign.storage.writing():
            holding.set()
            release.wait(10)

    writer = threading.Thread(target=hold)
    writer.start()
    try:
        assert holding.wait(10)
        assert other.best().rounds == 1
    finally:
        release.set()
        writer.join()


@pytest.mark.slow
def test_whoever_does_nothing_in_the_midst_of_a_change_holds_others_up_for_a_while_only(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a process does that is frozen, or cut off from PostgreSQL."""
    monkeypatch.setattr(database, "FROZEN", 1)
    url = server.database()
    campaign = mp.create_campaign(url, "frozen", models=2)
    campaign.ask([0, 1])
    other = mp.open_campaign(url, "frozen")
    holding, release = threading.Event(), threading.Event()

    def hold() -> None:
        with campaign.together():
            campaign.ask([1, 0])
            holding.set()
            release.wait(30)

    with ThreadPoolExecutor(1) as pool:
        frozen = pool.submit(hold)
        assert holding.wait(10)
        assert other.ask([0, 0]).id == 1
        release.set()
        with pytest.raises(mp.StorageError, match="Nothing acknowledged was lost: try again"):
            frozen.result()
    assert campaign.ask([0, 1]).id == 2
    check(campaign, url)


def test_a_process_takes_a_bounded_number_of_connections(server: Server) -> None:
    url = server.database()
    campaign = mp.create_campaign(url, "connections", models=2)
    begun = threading.Barrier(2 * database.CONNECTIONS + 1)

    def look(_: int) -> int:
        with campaign.storage.reading():
            begun.wait(30)
        return campaign.ask([0, 1]).id

    with ThreadPoolExecutor(3 * database.CONNECTIONS) as pool:
        busy = [pool.submit(look, number) for number in range(2 * database.CONNECTIONS)]
        begun.wait(30)
        assert sorted(one.result() for one in busy) == list(range(2 * database.CONNECTIONS))
    with campaign.storage.reading() as connection:
        counted = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        assert connection.exec_driver_sql(counted).scalar_one() <= 2 * database.CONNECTIONS
