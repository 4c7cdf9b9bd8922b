"""Storages: events are the truth, snapshots make opening quick, and other schemas are refused."""

import json
import sqlite3
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

import modelpicker as mp
from modelpicker.campaigns.events.event_store import EventStore
from modelpicker.campaigns.events.recent_events import Stored
from modelpicker.campaigns.state import transactions
from modelpicker.campaigns.storage import schema
from modelpicker.campaigns.storage.database import Storage, find_storage
from modelpicker.campaigns.storage.upgrade import upgrade
from modelpicker.campaigns.storage.verify import check_file, verify
from tests.campaigns.servers import Server
from tests.campaigns.streams import MODELS, check, play, rebuilt, state, stream, without_times


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def change(url: str, statement: str, *values: object) -> None:
    """Meddle with a file behind the back of modelpicker."""
    connection = sqlite3.connect(path_of(url))
    assert connection.execute(statement, values).rowcount != 0, f"there was nothing to meddle with: {statement}"
    connection.commit()
    connection.close()


def test_campaigns_are_found_by_their_names(url: str) -> None:
    for name in ("tickets", "Bilder 2.0", "a-b_c"):
        mp.create_campaign(url, name, models=3, budget=10)
    assert [one.name for one in mp.list_campaigns(url)] == ["Bilder 2.0", "a-b_c", "tickets"]
    with pytest.raises(mp.ConflictError, match="there already is a campaign 'tickets'"):
        mp.create_campaign(url, "tickets", models=2)
    with pytest.raises(mp.NotFoundError, match=r"there is no campaign 'no'.*it has: Bilder 2.0, a-b_c, tickets"):
        mp.open_campaign(url, "no")


def test_a_campaign_is_opened_with_the_settings_it_was_made_with(url: str) -> None:
    made = mp.create_campaign(
        url,
        "settings",
        models=["a", "b"],
        classes=["x", "y"],
        budget=7,
        expected_rounds=70,
        seed=2**127,
        options={"query_scale": 2.5, "predict": "leader"},
    )
    opened = mp.open_campaign(url, "settings")
    assert opened.settings == made.settings
    assert (opened.models, opened.classes, opened.budget) == (("a", "b"), ("x", "y"), 7)
    assert opened.created == made.created


@pytest.mark.parametrize("name", ["", " ", "a/b", "x" * 101, "-a", "a\nb", 7, None, "a "])
def test_names_must_be_harmless(memory: str, name: object) -> None:
    with pytest.raises(mp.InputError, match="campaign name"):
        mp.create_campaign(memory, name, models=2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"models": 1}, "at least two models"),
        ({"models": ["a", "a"]}, "given twice"),
        ({"models": "ab"}, "pass how many models"),
        ({"budget": 0}, "budget=0 is not a count"),
        ({"budget": 1.5}, "budget=1.5 is not a count"),
        ({"budget": 2**60}, "out of range"),
        ({"expected_rounds": 0}, "expected_rounds=0"),
        ({"budget": 5, "expected_rounds": -1}, "expected_rounds=-1"),
        ({"classes": []}, "empty list"),
        ({"classes": ["a", "a"]}, "'a' is given twice"),
        ({"classes": ["a", 1]}, "is a string and 1"),
        ({"classes": "ab"}, "pass a list of names"),
        ({"classes": ["a", None]}, "leave it out"),
        ({"seed": -1}, "seed -1 is out of range"),
        ({"algorithm": "nothing"}, "there is no algorithm 'nothing'"),
        ({"algorithm": int}, "there is no algorithm"),
        ({"options": {"beta": 1}}, "does not take beta"),
        ({"options": {"query_scale": -1}}, "query_scale=-1"),
        ({"options": 3}, "pass them by name"),
    ],
)
def test_settings_that_make_no_sense_are_refused(memory: str, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(mp.InputError, match=complaint):
        mp.create_campaign(memory, "bad", **{"models": 2, **options})


@pytest.mark.parametrize(
    ("place", "error", "complaint"),
    [
        ("mysql://localhost/x", mp.InputError, "no known kind; pass sqlite:///file.db"),
        ("campaigns.db", mp.InputError, "that is sqlite:///campaigns.db"),
        (7, mp.InputError, "not a URL"),
        ("sqlite:////no/such/folder/x.db", mp.StorageError, "the folder of .* does not exist"),
        ("postgresql://nobody:secret@127.0.0.1:1/x?connect_timeout=2", mp.StorageError, "cannot be reached"),
    ],
)
def test_places_that_are_none_are_refused(place: Any, error: type, complaint: str) -> None:
    with pytest.raises(error, match=complaint) as caught:
        mp.create_campaign(place, "x", models=2)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("place", ["postgresql://u:se/cr@et@host/db", "postgresql://u@host/db?password=se/cr"])
def test_secrets_are_never_shown(place: str) -> None:
    assert "cr" not in Storage(place.replace("postgresql", "postgresql+psycopg")).url


def test_a_file_that_is_taken_away_is_missed_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/campaigns.db"
    campaign = mp.create_campaign(url, "gone", models=2)
    campaign.ask([0, 1])
    for path in tmp_path.iterdir():
        path.rename(path.with_name(f"moved-{path.name}"))
    with pytest.raises(mp.StorageError, match="removed or replaced"):
        campaign.ask([0, 1])
    with pytest.raises(mp.NotFoundError):
        mp.open_campaign(url, "gone")
    for path in tmp_path.iterdir():
        path.rename(path.with_name(path.name.removeprefix("moved-")))
    assert mp.open_campaign(url, "gone").best().rounds == 1


@pytest.mark.parametrize("name", [5, None, "no\0name", "\ud800", "../x"])
def test_names_that_cannot_be_are_not_found(url: str, name: Any) -> None:
    mp.create_campaign(url, "there", models=2)
    with pytest.raises(mp.NotFoundError, match="there is no campaign"):
        mp.open_campaign(url, name)


def test_nothing_is_made_by_looking(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/no.db"
    for look in (lambda: mp.list_campaigns(url), lambda: mp.open_campaign(url, "x"), lambda: find_storage(url)):
        with pytest.raises(mp.NotFoundError, match="there is no storage"):
            look()
    assert not list(tmp_path.iterdir())


def test_a_closed_campaign_can_be_opened_again(url: str) -> None:
    with mp.create_campaign(url, "closed", models=2, seed=1) as campaign:
        campaign.ask([0, 1], key="a")
    campaign.close()
    with pytest.raises(mp.StorageError, match="was closed; open it again"):
        campaign.best()
    assert mp.open_campaign(url, "closed").best().rounds == 1


def test_sqlite_writes_ahead_and_syncs_everything(file_url: str) -> None:
    campaign = mp.create_campaign(file_url, "pragmas", models=2)
    with campaign.storage.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


def test_opening_goes_through_a_bounded_number_of_events(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the history: what is read on opening is a snapshot and the few events after it."""
    campaign = mp.create_campaign(url, "long", models=3, seed=1)
    predictions, labels = stream(700, models=3)
    play(campaign, predictions[:400], labels[:400])
    campaign.ask_many(predictions[400:])
    read: list[int] = []
    page = EventStore.page

    def counted(self: EventStore, after: int, upto: int) -> list[Stored]:
        found = page(self, after, upto)
        read.extend(stored.number for stored in found)
        return found

    monkeypatch.setattr(EventStore, "page", counted)
    opened = mp.open_campaign(url, "long")
    assert opened.best().rounds == 700
    assert 0 < len(read) <= transactions.EVENTS_KEPT < 700
    assert state(opened) == state(campaign)


def test_a_damaged_or_missing_snapshot_is_found_again_from_the_events(file_url: str) -> None:
    campaign = mp.create_campaign(file_url, "snapshots", models=3, seed=1)
    predictions, labels = stream(300, models=3)
    play(campaign, predictions, labels)
    right = state(campaign)
    damages = (
        "UPDATE snapshots SET body = x'00'",
        "UPDATE snapshots SET body = zeroblob(length(body))",
        "UPDATE snapshots SET body = 'text'",
        "UPDATE snapshots SET body = 5",
        "DELETE FROM snapshots",
    )
    for damage in damages:
        change(file_url, damage)
        assert state(mp.open_campaign(file_url, "snapshots")) == right
        verdict = verify(campaign)
        expected = [] if damage.startswith("DELETE") else ["the snapshot is damaged"]  # one need not be there
        assert (verdict.wrong, verdict.repaired) == (expected, bool(expected))
        assert verify(campaign).wrong == []


def test_verify_tells_a_snapshot_that_differs_in_one_bit(file_url: str) -> None:
    campaign = mp.create_campaign(file_url, "bit", models=3, seed=1)
    play(campaign, *stream(300, models=3))
    with campaign.exclusive() as opened:
        document = opened.snapshot() or {}
        picker = mp.ModelPicker.from_state_dict(document["picker"])
        picker.state.losses[0] = np.nextafter(picker.state.losses[0], np.inf)
        document["picker"] = picker.state_dict()
        opened.keep(document)
    assert verify(campaign, repair=False).wrong == ["the snapshot differs from the events"]
    assert verify(campaign, repair=False).wrong
    assert verify(campaign).repaired
    check(campaign, file_url)


def test_verify_finds_tables_that_differ_from_the_events_and_mends_them(file_url: str) -> None:
    campaign = mp.create_campaign(file_url, "tables", models=3, seed=1)
    predictions, labels = stream(100, models=3)
    campaign.ask_many(predictions, keys=[f"k{number}" for number in range(100)])
    campaign.tell_many({query.id: int(labels[query.id]) for query in campaign.pending(5)})
    before = state(campaign), without_times(campaign), campaign.pending()
    for damage in ("DELETE FROM keys", "UPDATE answers SET state = 2", "DELETE FROM answers"):
        change(file_url, damage)
        assert verify(campaign, repair=False).wrong
        assert verify(campaign).repaired
        assert (state(campaign), without_times(campaign), campaign.pending()) == before
    check(campaign, file_url)


@pytest.mark.parametrize(
    "damage",
    ["UPDATE campaigns SET rebuilt = 0", "UPDATE campaigns SET rounds = 5", "UPDATE campaigns SET rebuilt = 7"],
)
def test_a_campaigns_row_that_differs_from_its_events_is_found_and_repaired(file_url: str, damage: str) -> None:
    campaign = mp.create_campaign(file_url, "row", models=4, seed=1)
    play(campaign, *stream(40))
    first = next(record["id"] for record in campaign.history() if record["kind"] == "label")
    campaign.tell(first, 2, replace=True)
    right = state(campaign)
    change(file_url, damage)
    change(file_url, "DELETE FROM snapshots")
    assert "the campaign's row differs from the events" in verify(campaign).wrong
    assert state(mp.open_campaign(file_url, "row")) == right
    check(campaign, file_url)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE campaigns SET settings = '{'",
        "UPDATE campaigns SET settings = '{}'",
        "UPDATE campaigns SET settings = '[]'",
        "UPDATE campaigns SET rounds = 'many'",
        "UPDATE events SET body = 'text'",
        "UPDATE answers SET label = '{', state = 1",
    ],
)
def test_rows_that_make_no_sense_are_a_clear_error(file_url: str, damage: str) -> None:
    campaign = mp.create_campaign(file_url, "rows", models=["a", "b"], seed=1)
    campaign.ask([0, 1])
    change(file_url, damage)
    with pytest.raises(mp.StorageError, match=r"damaged|backup|repairs"):
        mp.open_campaign(file_url, "rows").tell(0, 1)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE events SET body = zeroblob(length(body)) WHERE number = 3",
        "UPDATE events SET kind = 'nothing' WHERE number = 3",
        "DELETE FROM events WHERE number = 3",
        "DELETE FROM events WHERE number = (SELECT max(number) FROM events)",
    ],
)
def test_damaged_events_are_found_and_only_a_backup_helps(file_url: str, damage: str) -> None:
    campaign = mp.create_campaign(file_url, "events", models=3, seed=1)
    for row in stream(10, models=3)[0].tolist():
        campaign.ask(row)
    change(file_url, damage)
    verdict = verify(campaign)
    assert "backup" in verdict.wrong[0]
    assert not verdict.repaired


def test_the_file_itself_is_checked(file_url: str) -> None:
    campaign = mp.create_campaign(file_url, "file", models=3, seed=1)
    campaign.ask_many(stream(5_000, models=3)[0])
    assert check_file(campaign.storage) == []
    campaign.storage.close()
    path = path_of(file_url)
    content = bytearray(path.read_bytes())
    content[5_000:9_000] = b"\xff" * 4_000
    path.write_bytes(content)
    assert check_file(Storage(file_url)) != []


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"SQLite format 3\0" + b"\xff" * 8_000, b"x"])
def test_a_file_that_is_no_storage_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "strange.db"
    path.write_bytes(content)
    for look in (mp.list_campaigns, lambda url: mp.create_campaign(url, "x", models=2)):
        with pytest.raises(mp.StorageError):
            look(f"sqlite:///{path}")
    assert path.read_bytes() == content


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/other.db"
    change(url, "CREATE TABLE customers (id INTEGER)")
    with pytest.raises(mp.StorageError, match="a database of something else"):
        mp.create_campaign(url, "x", models=2)


def test_statements_are_prepared_unless_the_url_says_otherwise(server: Server) -> None:
    """A pooler may give every transaction another connection, on which nothing has been prepared."""
    url, prepared = server.database(), {}
    mark = "&" if "?" in url else "?"
    for threshold in ("2", "none"):
        campaign = mp.create_campaign(f"{url}{mark}prepare_threshold={threshold}", threshold, models=2)
        for _ in range(6):
            campaign.ask([0, 1])
        with campaign.storage.reading() as connection:
            counted = "SELECT count(*) FROM pg_prepared_statements"
            prepared[threshold] = connection.exec_driver_sql(counted).scalar_one()
        campaign.storage.close()
    assert prepared["2"] > 0 == prepared["none"]
    with pytest.raises(mp.InputError, match="is not a URL: invalid literal"):
        mp.list_campaigns(f"{url}{mark}prepare_threshold=never")


@pytest.mark.parametrize(
    ("version", "advice"), [("0000", "modelpicker storage upgrade --storage"), ("9999", "newer modelpicker")]
)
def test_another_schema_is_refused_with_what_to_do(file_url: str, version: str, advice: str) -> None:
    mp.create_campaign(file_url, "old", models=2).storage.close()
    change(file_url, "UPDATE alembic_version SET version_num = ?", version)
    with pytest.raises(mp.SchemaError, match=advice) as caught:
        mp.open_campaign(file_url, "old")
    assert caught.value.exit_code == 5
    change(file_url, "UPDATE alembic_version SET version_num = ?", schema.SCHEMA)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_migrations_make_the_tables_that_the_code_expects(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    """A new storage is made at once; going through all migrations must give the very same tables."""
    places = []
    for _ in range(2):
        if kind == "postgresql":
            server: Server = request.getfixturevalue("server")
            places.append(server.database())
        else:
            places.append(f"sqlite:///{tmp_path}/{uuid.uuid4().hex}.db")
    at_once = mp.create_campaign(places[0], "x", models=2).storage
    by_steps = Storage(places[1].replace("postgresql://", "postgresql+psycopg://"))
    assert upgrade(by_steps) == (None, schema.SCHEMA)
    assert upgrade(by_steps) == (schema.SCHEMA, schema.SCHEMA)
    assert tables(at_once) == tables(by_steps)
    for storage in (at_once, by_steps):
        storage.close()


def tables(storage: Storage) -> dict[str, Any]:
    """All there is to know about the tables."""
    with storage.reading() as connection:
        seen = sa.inspect(connection)
        return {
            name: json.loads(
                json.dumps(
                    [
                        sorted(seen.get_columns(name), key=lambda column: str(column["name"])),
                        seen.get_pk_constraint(name)["constrained_columns"],
                        seen.get_indexes(name),
                        seen.get_foreign_keys(name),
                    ],
                    default=str,
                )
            )
            for name in sorted(seen.get_table_names())
        }


def test_upgrading_what_is_up_to_date_changes_no_event(file_url: str) -> None:
    campaign = mp.create_campaign(file_url, "bytes", models=MODELS, seed=1)
    play(campaign, *stream(50))
    right = rebuilt(campaign)
    before = sqlite3.connect(path_of(file_url)).execute("SELECT * FROM events ORDER BY number").fetchall()
    assert upgrade(find_storage(file_url)) == (schema.SCHEMA, schema.SCHEMA)
    assert sqlite3.connect(path_of(file_url)).execute("SELECT * FROM events ORDER BY number").fetchall() == before
    assert rebuilt(mp.open_campaign(file_url, "bytes")) == right
