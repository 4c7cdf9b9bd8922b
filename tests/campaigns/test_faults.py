"""Full disks, files that may not be written, interruptions: a clear error, nothing lost, and it continues."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import modelpicker as mp
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.storage.statements import driver
from tests.campaigns.streams import MODELS, check, play, state, stream, without_times
from tests.unprivileged import unprivileged


def test_a_full_disk_loses_nothing_and_work_goes_on_when_there_is_room(small_disk: Path) -> None:
    url = f"sqlite:///{small_disk}/campaigns.db"
    campaign = mp.create_campaign(url, "full", models=4, seed=1)
    filling = small_disk / "filling"
    filling.write_bytes(b"x" * 600_000)
    item = {"text": "x" * 10_000}
    told: list[mp.Decision] = []

    def ask_on() -> None:
        for number in range(1_000):
            told.append(campaign.ask([0, 1, 2, 0], item=item, key=str(number)))

    with pytest.raises(mp.StorageError, match=r"the disk is full. Nothing was lost"):
        ask_on()
    filling.unlink()
    assert [campaign.ask([0, 1, 2, 0], item=item, key=str(one.id)) for one in told] == told
    assert campaign.best().rounds == len(told)
    campaign.ask([0, 1, 2, 0], item=item)
    check(campaign, url)
    campaign.storage.close()


def test_a_full_disk_is_met_the_same_way_in_the_middle_of_a_batch(file_url: str) -> None:
    """SQLite is told that the disk ends here, and says so itself."""
    campaign = mp.create_campaign(file_url, "full", models=4, seed=1)
    predictions, labels = stream(2_000)
    play(campaign, predictions[:20], labels[:20])
    before = state(campaign), without_times(campaign)
    with campaign.storage.reading() as connection:
        pages = driver(connection).execute("PRAGMA page_count").fetchone()[0]
        driver(connection).execute(f"PRAGMA max_page_count={pages + 2}")
    with pytest.raises(mp.StorageError, match=r"the disk is full. Nothing was lost"):
        campaign.ask_many(predictions, items=[{"text": "x" * 100}] * 2_000)
    with campaign.storage.reading() as connection:
        driver(connection).execute("PRAGMA max_page_count=1000000")
    assert (state(campaign), without_times(campaign)) == before
    campaign.ask_many(predictions)
    check(campaign, file_url)


def test_a_disk_that_may_not_be_written_to_is_named_and_work_goes_on_when_it_may(small_disk: Path) -> None:
    url = f"sqlite:///{small_disk}/campaigns.db"
    campaign = mp.create_campaign(url, "locked", models=4, seed=1)
    campaign.ask([0, 1, 2, 0])
    campaign.storage.engine.dispose()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    try:
        with pytest.raises(
            mp.StorageError, match=r"may be written to. Nothing was lost|read-only. Nothing was lost"
        ):
            campaign.ask([0, 1, 2, 0])
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    campaign.ask([0, 1, 2, 0])
    assert campaign.best().rounds == 2
    check(campaign, url)
    campaign.storage.close()


def test_permissions_are_named() -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folder is closed to others than root
        url, file = f"sqlite:///{folder}/campaigns.db", Path(folder) / "campaigns.db"
        mp.create_campaign(url, "locked", models=2).storage.close()
        file.chmod(0o400)
        with unprivileged(Path(folder)), pytest.raises(mp.StorageError, match=r"check the permissions"):
            mp.create_campaign(url, "another", models=2)
        file.chmod(0o600)
        with unprivileged(Path(folder)):
            assert [one.name for one in mp.list_campaigns(url)] == ["locked"]


def test_a_file_that_is_damaged_while_in_use_is_a_clear_error(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/campaigns.db"
    campaign = mp.create_campaign(url, "damaged", models=4, seed=1)
    play(campaign, *stream(200))
    campaign.storage.close()
    path = tmp_path / "campaigns.db"
    backup = tmp_path / "backup.db"
    shutil.copy(path, backup)
    content = bytearray(path.read_bytes())
    content[4_096:] = os.urandom(len(content) - 4_096)
    path.write_bytes(content)
    with pytest.raises(mp.StorageError, match=r"damaged|backup"):
        mp.open_campaign(url, "damaged").ask([0, 1, 2, 0])
    for extra in ("-wal", "-shm"):
        (tmp_path / f"campaigns.db{extra}").unlink(missing_ok=True)
    restored = tmp_path / "restored.db"
    shutil.copy(backup, restored)
    assert mp.open_campaign(f"sqlite:///{restored}", "damaged").best().rounds == 200


@pytest.mark.parametrize("moment", ["add", "move", "keep", "index"])
def test_an_interruption_at_any_moment_leaves_everything_as_it_was(
    url: str, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    campaign = mp.create_campaign(url, "interrupted", models=MODELS, seed=1, budget=50)
    predictions, labels = stream(600)
    play(campaign, predictions[:30], labels[:30])
    before = state(campaign), without_times(campaign)
    whole = getattr(EventStore, moment)

    def broken(*arguments: object) -> None:
        whole(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(EventStore, moment, broken)
    with pytest.raises(KeyboardInterrupt):
        campaign.ask_many(predictions)
    monkeypatch.undo()
    assert (state(campaign), without_times(campaign)) == before
    campaign.ask_many(predictions)
    check(campaign, url)
