"""Pools in storages: backups, copies, damage, full disks, interruptions: nothing is lost, nothing made up."""

import json
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

import modelpicker as mp
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.storage.backup import back_up
from modelpicker.campaigns.storage.copy import copy_storage
from modelpicker.campaigns.storage.database import find_storage, open_storage
from modelpicker.campaigns.storage.schema import answers, events, keys, snapshots
from modelpicker.campaigns.storage.statements import driver
from modelpicker.campaigns.storage.verify import verify
from tests.campaigns.pools import collection, label, make, truth
from tests.campaigns.servers import Server
from tests.campaigns.streams import check, state, without_times


def eventful(url: str, name: str = "pool") -> mp.Campaign:
    """A pool to which everything happened that can happen."""
    items, campaign = collection(), make(url, name, budget=60, tolerance=0.0)
    campaign.tell("item 3", truth(items, 3))
    label(campaign, items, 30)
    campaign.skip(campaign.pending(1)[0].id)
    campaign.ask(["ham", "spam", "egg", "jam"], key="single")
    told = [one.id for one in campaign.answers() if one.state == "labelled"]
    campaign.tell(told[4], "toast", replace=True, annotator="bob")
    campaign.retract(told[6])
    campaign.retract(3)
    campaign.tell(3, truth(items, 3))
    campaign.pending(4, lease=600, annotator="cid")
    return campaign


def same(one: mp.Campaign, other: mp.Campaign) -> None:
    """Two campaigns are the same, and continue in the same way."""
    assert state(one) == state(other)
    assert list(one.history()) == list(other.history())
    assert one.waiting() == other.waiting()
    assert one.best() == other.best()
    assert [query.id for query in one.pending(9)] == [query.id for query in other.pending(9)]


def test_a_pool_that_everything_happened_to_is_found_from_its_events(url: str) -> None:
    check(eventful(url), url)


def test_a_backup_has_the_pool(file_url: str, tmp_path: Path) -> None:
    campaign = eventful(file_url)
    back_up(campaign.storage, tmp_path / "backup.db")
    url = f"sqlite:///{tmp_path}/backup.db"
    twin = mp.open_campaign(url, "pool")
    check(twin, url)
    same(twin, campaign)
    twin.storage.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_copy_has_the_pool(url: str, kind: str, tmp_path: Path, server: Server) -> None:
    campaign = eventful(url)
    place = f"sqlite:///{tmp_path}/copy.db" if kind == "sqlite" else server.database()
    target = open_storage(place, create=True)
    copy_storage(campaign.storage, target)
    twin = mp.open_campaign(place, "pool")
    check(twin, place)
    same(twin, campaign)
    target.close()


@pytest.mark.parametrize(
    ("what", "moment"),
    [
        *((what, moment) for what in ("add items", "ask", "tell") for moment in ("add", "move", "index")),
        ("add items", "keep"),  # the others are too few events for a state to be kept
    ],
)
def test_an_interruption_at_any_moment_leaves_everything_as_it_was(
    url: str, monkeypatch: pytest.MonkeyPatch, what: str, moment: str
) -> None:
    items, campaign = collection(), make(url)
    label(campaign, items, 10)
    query = campaign.pending(1)[0]
    more = collection(700, 1, 120)
    before = state(campaign), without_times(campaign)
    actions: dict[str, Callable[[], object]] = {
        "add items": lambda: campaign.add_items(more),
        "ask": lambda: campaign.pending(5),
        "tell": lambda: campaign.tell(query.id, "ham"),
    }
    whole = getattr(EventStore, moment)

    def broken(*arguments: object) -> None:
        whole(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(EventStore, moment, broken)
    with pytest.raises(KeyboardInterrupt):
        actions[what]()
    monkeypatch.undo()
    assert (state(campaign), without_times(campaign)) == before
    actions[what]()
    assert without_times(campaign) != before[1]
    check(campaign, url)


def test_a_campaign_is_made_with_all_its_items_or_not_at_all(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make(url, "there")

    def broken(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(EventStore, "move", broken)
    with pytest.raises(KeyboardInterrupt):
        make(url)
    monkeypatch.undo()
    assert [one.name for one in mp.list_campaigns(url)] == ["there"]
    check(make(url), url)


def test_a_full_disk_in_the_middle_of_a_file_leaves_everything_as_it_was(file_url: str) -> None:
    campaign = make(file_url)
    campaign.tell(campaign.pending(1)[0].id, "ham")
    before = state(campaign), without_times(campaign)
    with campaign.storage.reading() as connection:
        pages = driver(connection).execute("PRAGMA page_count").fetchone()[0]
        driver(connection).execute(f"PRAGMA max_page_count={pages + 2}")
    with pytest.raises(mp.StorageError, match=r"the disk is full. Nothing was lost"):
        campaign.add_items(collection(5_000, 1, 120))
    with campaign.storage.reading() as connection:
        driver(connection).execute("PRAGMA max_page_count=1000000")
    assert (state(campaign), without_times(campaign)) == before
    campaign.add_items(collection(5_000, 1, 120))
    check(campaign, file_url)


@pytest.mark.parametrize("kind", ["items", "fields", "question"])
def test_a_damaged_event_is_found_and_not_repaired(file_url: str, kind: str) -> None:
    campaign = eventful(file_url)
    with campaign.storage.writing() as connection:
        row = connection.execute(sa.select(events.c.number, events.c.body).where(events.c.kind == kind)).first()
        assert row is not None
        body = bytearray(row.body)
        body[-3] ^= 1
        connection.execute(sa.update(events).where(events.c.number == row.number).values(body=bytes(body)))
    verdict = verify(campaign)
    assert not verdict.repaired
    assert "checksum is wrong" in verdict.wrong[0]


def test_a_missing_question_is_found(file_url: str) -> None:
    campaign = eventful(file_url)
    with campaign.storage.writing() as connection:
        connection.execute(sa.delete(events).where(events.c.kind == "question"))
    assert "missing" in verify(campaign).wrong[0]


@pytest.mark.parametrize("table", [answers, keys, snapshots], ids=["answers", "keys", "snapshots"])
def test_what_is_found_from_the_events_is_mended(file_url: str, table: sa.Table) -> None:
    campaign = eventful(file_url)
    right = state(campaign)
    with campaign.storage.writing() as connection:
        if table is answers:
            connection.execute(sa.update(answers).values(asked=7))
        elif table is keys:
            connection.execute(sa.delete(keys).where(keys.c.key == "single"))
        else:
            EventStore(connection, campaign._number).keep({"version": 1})
    assert verify(campaign).repaired
    check(campaign, file_url)
    assert state(campaign) == right


def test_a_kept_state_that_differs_in_one_bit_is_told(file_url: str) -> None:
    items, campaign = collection(900), make(file_url, items=900, tolerance=0.0)
    label(campaign, items, 130)
    with campaign.storage.writing() as connection:
        store = EventStore(connection, campaign._number)
        kept = store.snapshot()
        assert kept is not None
        kept["pool"]["label_model"]["weights"][0][0] += 1e-15
        store.keep(kept)
    assert verify(campaign, repair=False).wrong == ["the snapshot differs from the events"]


def test_other_settings_in_the_storage_are_refused(file_url: str) -> None:
    eventful(file_url).storage.close()
    storage = find_storage(file_url)
    with storage.writing() as connection:
        text, checksum = connection.exec_driver_sql("SELECT settings, checksum FROM campaigns").one()
        document = json.loads(text)
        assert document["algorithm"] == "pool-picker"
        document["options"]["tolerance"] = 0.5
        connection.exec_driver_sql("UPDATE campaigns SET settings = ?", (json.dumps(document),))
        assert checksum != zlib.crc32(text.encode())
    storage.close()
    with pytest.raises(mp.StorageError, match="do not match their checksum"):
        mp.open_campaign(file_url, "pool")


NO_DRAW = {"trial": 9, "playing": [], "expected": "", "variance": ""}


def spoilt(kind: str, change: Callable[[dict[str, object]], object]) -> Callable[[list[str]], list[str]]:
    """The lines of an export, the first record of a kind changed."""

    def spoil(lines: list[str]) -> list[str]:
        place = next(n for n, line in enumerate(lines) if n and json.loads(line)["kind"] == kind)
        record = json.loads(lines[place])
        change(record)
        return [*lines[:place], json.dumps(record), *lines[place + 1 :]]

    return spoil


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda lines: lines[:1] + lines[2:], "item 0 was expected"),
        (lambda lines: lines[:-1], "there should be"),
        (lambda lines: [lines[0].replace('"confidence": 0.95', '"confidence": 2.0'), *lines[1:]], "confidence=2.0"),
        (lambda lines: [lines[0].replace('"tolerance": 0.0', '"other": 0.0'), *lines[1:]], "options are"),
        (lambda lines: [lines[0].replace('"budget": 60', '"budget": 61'), *lines[1:]], "match their checksum"),
        (
            spoilt("item", lambda record: record.update(predictions=["ham"])),
            "1 predictions, but there are 4",
        ),
        (spoilt("item", lambda record: record.update(kind="ask")), "do not go with such a campaign"),
        (spoilt("fields", lambda record: record.update(id=500)), "there is no item 500"),
        (spoilt("fields", lambda record: record.update(item=["x"])), "pass its fields by name"),
        (spoilt("question", lambda record: record.update(id=500)), "there is no item 500"),
        (spoilt("question", lambda record: record.update(id=3)), "cannot have|has no question|do not fit"),
        (spoilt("question", lambda record: record.update(leader="elk")), "cannot be read"),
        (
            spoilt(
                "question",
                lambda record: record.update(draw=NO_DRAW),
            ),
            "cannot have been drawn",
        ),
        (spoilt("question", lambda record: record.update(draw={"trial": 0})), "cannot be read"),
        (spoilt("label", lambda record: record.update(id=119)), "cannot have had such an answer"),
    ],
)
def test_a_damaged_export_is_refused_and_leaves_nothing_behind(
    memory: str, tmp_path: Path, spoil: Callable[[list[str]], list[str]], complaint: str
) -> None:
    path = tmp_path / "out.jsonl"
    eventful(memory).export(path)
    path.write_text("\n".join(spoil(path.read_text().splitlines())))
    with pytest.raises(mp.ModelPickerError, match=complaint):
        mp.import_campaign(memory, path, "copy")
    assert [one.name for one in mp.list_campaigns(memory)] == ["pool"]


def test_streams_and_pools_share_a_storage(url: str) -> None:
    pool = eventful(url)
    stream = mp.create_campaign(url, "stream", models=2)
    stream.ask([0, 1], key="item 3")
    found = {one.name: (one.algorithm, one.rounds, one.models) for one in mp.list_campaigns(url)}
    assert found == {"pool": ("pool-picker", 121, 4), "stream": ("model-picker", 1, 2)}
    check(pool, url)
    check(stream, url)
    with pytest.raises(mp.ConflictError, match="on a stream, and not on a pool"), stream.writing() as change:
        _ = change.pool
