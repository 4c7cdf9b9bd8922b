"""SQLite's log: whoever leaves last moves it into the file, so that a copy of the file alone has everything."""

import gzip
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import modelpicker as mp
from modelpicker.campaigns.storage.database import Storage, open_storage
from modelpicker.server.access.tokens import Tokens, create_token
from tests.campaigns.streams import check, state, stream
from tests.campaigns.test_upgrading import OLD
from tests.cli.running import run_process
from tests.server.servers import Process, serving, wait_until

SCRIPT = """
import modelpicker as mp
campaign = mp.create_campaign("sqlite:///campaigns.db", "tickets", models=4, seed=1)
campaign.ask_many([[0, 1, 2, 0]] * 50)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "campaigns.db"


def in_log(file: Path) -> int:
    """How much of a storage is in its log."""
    log = file.with_name(f"{file.name}-wal")
    return log.stat().st_size if log.exists() else 0


@contextmanager
def copied(file: Path) -> Iterator[str]:
    """The storage that a copy of the file alone is."""
    folder = file.parent / "copied"
    folder.mkdir()
    shutil.copy(file, folder / "copy.db")
    url = f"sqlite:///{folder}/copy.db"
    yield url
    open_storage(url).close()


def begin(file: Path, name: str = "tickets") -> mp.Campaign:
    campaign = mp.create_campaign(f"sqlite:///{file}", name, models=4, seed=1)
    campaign.ask_many(stream(50)[0])
    return campaign


def test_everything_is_in_the_log_at_first(file: Path) -> None:
    campaign = begin(file)
    assert in_log(file) > 0
    campaign.storage.close()


def test_a_closed_storage_is_its_file(file: Path) -> None:
    campaign = begin(file)
    right = state(campaign)
    secret = create_token(campaign.storage, "Mia", "owner")
    campaign.storage.close()
    assert in_log(file) == 0
    with copied(file) as url:
        twin = mp.open_campaign(url, "tickets")
        assert state(twin) == right
        assert Tokens(twin.storage).find(secret) is not None
        check(twin, url)


def test_the_last_campaign_to_be_closed_leaves_the_file_in_order(file: Path) -> None:
    first, second = begin(file), begin(file, "second")
    first.close()
    first.close()
    assert in_log(file) > 0, "one is still open"
    with second:
        second.ask([0, 1, 2, 0])
    assert in_log(file) == 0
    with copied(file) as url:
        assert [one.rounds for one in mp.list_campaigns(url)] == [51, 50]


def test_a_campaign_that_nobody_holds_any_longer_keeps_nobody_from_being_the_last(file: Path) -> None:
    begin(file)
    campaign = begin(file, "second")
    campaign.close()
    assert in_log(file) == 0


def test_a_script_that_closes_nothing_leaves_the_file_in_order(file: Path) -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], cwd=file.parent, check=True)
    assert in_log(file) == 0
    with copied(file) as url:
        assert mp.open_campaign(url, "tickets").best().rounds == 50


def test_a_verb_leaves_the_file_in_order(file: Path) -> None:
    where = ("--storage", f"sqlite:///{file}")
    assert run_process("create", "tickets", "--models", "2", *where).returncode == 0
    assert run_process("ask", "tickets", *where, answers="[0, 1]\n[1, 0]\n").returncode == 0
    assert in_log(file) == 0
    with copied(file) as url:
        assert mp.open_campaign(url, "tickets").best().rounds == 2


def test_an_upgrade_leaves_the_file_in_order(file: Path) -> None:
    file.write_bytes(gzip.decompress((OLD / "0002.db.gz").read_bytes()))
    assert run_process("storage", "upgrade", "--storage", f"sqlite:///{file}").returncode == 0
    assert in_log(file) == 0
    with copied(file) as url:
        assert mp.open_campaign(url, "tickets").best().rounds == 60


@pytest.mark.parametrize("begin_with", ["BEGIN", "BEGIN IMMEDIATE"], ids=["reads", "writes"])
def test_whoever_closes_while_another_is_at_work_neither_waits_nor_fails_nor_loses_anything(
    file: Path, begin_with: str
) -> None:
    campaign = begin(file)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute(begin_with)
        before = other.execute("SELECT count(*) FROM events").fetchall()
        campaign.ask([0, 1, 2, 0]) if begin_with == "BEGIN" else None
        rounds = campaign.rounds
        assert not campaign.storage.checkpoint()
        campaign.close()
        campaign.storage.close()
        assert other.execute("SELECT count(*) FROM events").fetchall() == before
        other.execute("COMMIT")
        assert mp.open_campaign(f"sqlite:///{file}", "tickets").best().rounds == rounds
        open_storage(f"sqlite:///{file}").close()
    assert in_log(file) == 0


def test_another_process_goes_on_while_this_one_leaves(file: Path) -> None:
    url = f"sqlite:///{file}"
    begin(file).close()
    here, there = Storage(url), Storage(url)
    for storage in (here, there):
        storage.prepare(create=False)
    with there.writing() as connection:
        connection.exec_driver_sql("UPDATE campaigns SET name = 'renamed'")
    assert here.checkpoint()
    here.close()
    with there.reading() as connection:
        assert connection.exec_driver_sql("SELECT name FROM campaigns").scalar() == "renamed"
    with there.writing() as connection:
        connection.exec_driver_sql("UPDATE campaigns SET name = 'tickets'")
    there.close()
    check(mp.open_campaign(url, "tickets"), url)
    open_storage(url).close()


def test_a_storage_whose_file_is_gone_is_closed_all_the_same(file: Path) -> None:
    campaign = begin(file)
    for path in file.parent.iterdir():
        path.unlink()
    campaign.close()
    campaign.storage.close()
    assert not list(file.parent.iterdir())


def test_other_storages_have_nothing_to_move(url: str) -> None:
    campaign = mp.create_campaign(url, "any", models=2)
    assert campaign.storage.checkpoint() == url.startswith("sqlite")
    campaign.close()


# Servers.


@pytest.mark.parametrize("stop", ["SIGTERM", "SIGINT"])
def test_a_server_that_is_stopped_leaves_everything_in_the_file(file: Path, stop: str) -> None:
    url = f"sqlite:///{file}"
    secret = create_token(open_storage(url, create=True), "Mia", "owner")
    open_storage(url).close()
    with Process("--storage", url, "--tokens") as process:
        campaign = process.running.client(secret).create_campaign("tickets", models=4, seed=1)
        campaign.ask_many(stream(50)[0].tolist())
        assert in_log(file) > 0
        process.process.send_signal(getattr(signal, stop))
        assert process.process.wait(60) == 0
    assert in_log(file) == 0
    with copied(file) as place:
        twin = mp.open_campaign(place, "tickets")
        assert twin.best().rounds == 50
        assert Tokens(twin.storage).find(secret) is not None
        check(twin, place)


def test_a_server_that_is_killed_loses_nothing(file: Path) -> None:
    url = f"sqlite:///{file}"
    with Process("--storage", url) as process:
        process.running.client().create_campaign("tickets", models=4, seed=1).ask_many(stream(50)[0].tolist())
        process.kill()
    assert in_log(file) > 0
    check(mp.open_campaign(url, "tickets"), url)
    open_storage(url).close()
    assert in_log(file) == 0


def test_a_server_moves_the_log_into_the_file_when_nobody_writes_for_a_while(file: Path) -> None:
    with serving(f"sqlite:///{file}", quiet=0.2) as server:
        campaign = server.client().create_campaign("tickets", models=4, seed=1)
        for rounds in (50, 100):
            campaign.ask_many(stream(50)[0].tolist())
            wait_until(lambda: in_log(file) == 0)
            with copied(file) as url:
                assert mp.open_campaign(url, "tickets").best().rounds == rounds
            shutil.rmtree(file.parent / "copied")
    open_storage(f"sqlite:///{file}").close()


def test_a_server_leaves_the_log_alone_before_that(file: Path) -> None:
    with serving(f"sqlite:///{file}") as server:
        server.client().create_campaign("tickets", models=4, seed=1).ask_many(stream(50)[0].tolist())
        assert in_log(file) > 0
    assert in_log(file) == 0
    open_storage(f"sqlite:///{file}").close()
