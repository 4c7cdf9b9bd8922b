"""Settings in the storage: whatever decides has a checksum, and is refused when it does not fit the events."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import modelpicker as mp
from modelpicker.campaigns.export import export_campaign, import_campaign
from modelpicker.campaigns.settings import settings_checksum
from modelpicker.campaigns.storage.database import Storage, find_storage, open_storage
from modelpicker.campaigns.storage.schema import SCHEMA, campaigns, events, snapshots
from modelpicker.campaigns.storage.upgrade import upgrade
from modelpicker.campaigns.storage.verify import all_names, verify, verify_named
from tests.campaigns.streams import MODELS, check, play, state, stream
from tests.campaigns.test_upgrading import OLD

# Every field of the stored settings, and another value for it that would make sense.
OTHER: dict[str, Any] = {
    "models": ["ant", "bee", "dog", "cat"],
    "classes": [0, 1, 2, 3, 4],
    "algorithm": "label-efficient",
    "options": {"query_scale": 2.0, "predict": "leader"},
    "seed": "2",
    "budget": 61,
    "budget_way": "cap",
    "expected_rounds": 201,
    "stop_when": {"gap": 0.02, "confidence": 0.95, "kind": "stream"},
    "overlap": 2,
    "overlap_rule": "majority",
    "ask_for": "grades",
    "same": "normalised",
    "missing": "not-run",
}
ABSENT: dict[str, Any] = {"classes": None, "budget": None, "expected_rounds": None, "stop_when": None}
CHANGES = [*OTHER.items(), *ABSENT.items(), ("window", 500)]
NAMES = [f"{name} to {json.dumps(value)[:12]}" for name, value in CHANGES]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Those storages that somebody else can write to."""
    if request.param == "postgresql":
        yield request.getfixturevalue("database")
        return
    place = f"sqlite:///{tmp_path}/campaigns.db"
    yield place
    open_storage(place, create=True).close()


def begin(url: str) -> mp.Campaign:
    """A campaign with every setting, in which something was decided and answered."""
    campaign = mp.create_campaign(
        url,
        "tickets",
        models=MODELS,
        classes=[0, 1, 2, 3],
        seed=1,
        budget=60,
        expected_rounds=200,
        options={"query_scale": 2.0},
        stop_when=mp.Certified(gap=0.01),
    )
    predictions, labels = stream(40)
    campaign.ask_many(predictions[:20])
    campaign.ask(predictions[20].tolist())
    campaign.ask_many(predictions[21:])
    campaign.tell_many({query.id: int(labels[query.id]) for query in campaign.pending()})
    return campaign


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[mp.Campaign]:
    """A campaign for all tests of changes: making one takes longer than they do."""
    server = request.param == "postgresql"
    folder = tmp_path_factory.mktemp("shared")
    url = request.getfixturevalue("server").database() if server else f"sqlite:///{folder}/campaigns.db"
    campaign = begin(url)
    campaign.tell(next(record["id"] for record in campaign.history() if record.get("query") is False), 1)
    keep(campaign)
    yield campaign
    campaign.storage.close()


def keep(campaign: mp.Campaign) -> None:
    """Have the state kept now."""
    with campaign.reading() as (_, projection):
        document = projection.document()
    with campaign.exclusive() as log:
        log.keep(document)


@pytest.fixture
def campaign(shared: mp.Campaign) -> Iterator[mp.Campaign]:
    """The same, in order again once a test is over."""
    before = rows(shared.storage)
    yield shared
    with shared.storage.writing() as connection:
        for table in (snapshots, events, campaigns):
            keys = list(table.primary_key)
            for row in before[table.name]:
                mine = sa.and_(*(column == row[column.name] for column in keys))
                connection.execute(sa.update(table).where(mine).values(row))
    assert verify(shared, repair=False).wrong == []
    assert rows(shared.storage) == before


def rows(storage: Storage) -> dict[str, list[dict[str, Any]]]:
    """What is in the tables that tests change."""
    with storage.reading() as connection:
        return {
            table.name: [
                dict(row._mapping) for row in connection.execute(sa.select(table).order_by(*table.primary_key))
            ]
            for table in (campaigns, events, snapshots)
        }


def edit(storage: Storage, change: Callable[[dict[str, Any]], object], *, checksum: bool = False) -> None:
    """Change stored settings behind the back of modelpicker, with their checksum or without."""
    with storage.writing() as connection:
        document = json.loads(connection.execute(sa.select(campaigns.c.settings)).scalar_one())
        change(document)
        values = {"settings": json.dumps(document)}
        values |= {"checksum": settings_checksum(document)} if checksum else {}
        connection.execute(sa.update(campaigns).values(values))


def test_the_table_of_changes_has_every_field_that_is_stored(memory: str) -> None:
    assert begin(memory).settings.document().keys() == OTHER.keys()


@pytest.mark.parametrize(("field", "value"), CHANGES, ids=NAMES)
def test_a_change_of_any_setting_is_refused_and_reported(campaign: mp.Campaign, field: str, value: object) -> None:
    edit(campaign.storage, lambda document: document.update({field: value}))
    with pytest.raises(
        mp.StorageError, match=r"settings of campaign 'tickets' were changed.*Restore a backup.*verify"
    ):
        mp.open_campaign(campaign.storage.place, "tickets")
    for verdict in (verify_named(campaign.storage, "tickets"), verify(campaign)):
        assert "settings of campaign 'tickets' were changed" in verdict.wrong[0]
        assert not verdict.repaired


@pytest.mark.parametrize("kept", [True, False], ids=["snapshot", "no snapshot"])
@pytest.mark.parametrize(("field", "value"), CHANGES, ids=NAMES)
def test_settings_that_were_changed_with_their_checksum_do_not_fit_the_events(
    campaign: mp.Campaign, field: str, value: object, kept: bool
) -> None:
    if not kept:
        with campaign.exclusive() as log:
            log.keep({})
    edit(campaign.storage, lambda document: document.update({field: value}), checksum=True)
    with pytest.raises(mp.StorageError, match=r"campaign 'tickets': .*settings.*restore a backup.*verify"):
        mp.open_campaign(campaign.storage.place, "tickets").best()
    for verdict in (verify_named(campaign.storage, "tickets"), verify(campaign)):
        assert "settings" in verdict.wrong[0]
        assert not verdict.repaired


def test_settings_that_are_written_differently_but_say_the_same_are_fine(url: str) -> None:
    campaign = begin(url)
    with campaign.storage.writing() as connection:
        document = json.loads(connection.execute(sa.select(campaigns.c.settings)).scalar_one())
        text = json.dumps(dict(reversed(document.items())), indent=3)
        connection.execute(sa.update(campaigns).values(settings=text))
    check(mp.open_campaign(url, "tickets"), url)


@pytest.mark.parametrize("value", [None, "", "0" * 16])
def test_a_checksum_that_is_missing_or_wrong_is_refused(campaign: mp.Campaign, value: str | None) -> None:
    with campaign.storage.writing() as connection:
        connection.execute(sa.update(campaigns).values(checksum=value))
    with pytest.raises(mp.StorageError, match="do not match their checksum"):
        mp.open_campaign(campaign.storage.place, "tickets")
    assert verify(campaign).wrong


def test_other_campaigns_are_verified_beside_one_that_was_changed(url: str) -> None:
    campaign = begin(url)
    edit(campaign.storage, lambda document: document.update(seed="7"))
    play(mp.create_campaign(url, "whole", models=4, seed=2), *stream(20))
    assert verify_named(campaign.storage, "whole").wrong == []
    assert verify_named(campaign.storage, "tickets").wrong
    check(mp.open_campaign(url, "whole"), url)


def test_a_campaign_whose_algorithm_cannot_be_imported_is_reported_and_the_others_are_verified(url: str) -> None:
    campaign = begin(url)
    document = json.loads(json.dumps(campaign.settings.document()))
    document["algorithm"] = "nowhere_to_be_found:Own"
    with campaign.storage.writing() as connection:
        row = {"settings": json.dumps(document), "checksum": settings_checksum(document)}
        connection.execute(sa.update(campaigns).values(**row))
    play(mp.create_campaign(url, "whole", models=4, seed=2), *stream(20))
    verdicts = [verify_named(campaign.storage, name) for name in all_names(campaign.storage)]
    assert [verdict.name for verdict in verdicts] == ["tickets", "whole"]
    assert "nowhere_to_be_found" in verdicts[0].wrong[0]
    assert (verdicts[0].rounds, verdicts[0].labels, verdicts[0].repaired) == (40, None, False)
    assert verdicts[1].wrong == []


def test_verifying_a_campaign_that_does_not_exist_is_an_error(url: str) -> None:
    campaign = begin(url)
    with pytest.raises(mp.NotFoundError, match="there is no campaign 'other'"):
        verify_named(campaign.storage, "other")


def flip(place: int) -> Callable[[bytes], bytes]:
    """Change one byte, counted from the end: codes of classes come last, then queried flags, …"""
    return lambda body: bytes([*body[:-place], body[-place] ^ 1, *body[len(body) - place + 1 :]])


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("rounds", {"body": flip(1)}),  # the last model's prediction
        ("rounds", {"body": flip(len(MODELS) + 1)}),  # whether it was queried
        ("rounds", {"body": flip(len(MODELS) + 2)}),  # what was predicted
        ("rounds", {"body": flip(len(MODELS) + 10)}),  # the probability
        ("rounds", {"round": 7}),
        ("rounds", {"at": 7}),
        ("rounds", {"kind": "answer"}),
        ("answer", {"body": lambda body: body.replace(b'"label": ', b'"label": 1')}),
        ("answer", {"body": lambda body: body.replace(b'"round": ', b'"round": 1')}),
        ("answer", {"kind": "reference"}),
        ("answer", {"round": 7}),
        ("answer", {"at": 7}),
        ("reference", {"kind": "answer"}),
    ],
)
def test_any_change_of_an_event_is_found_and_nothing_is_repaired_from_it(
    campaign: mp.Campaign, kind: str, values: dict[str, Any]
) -> None:
    with campaign.storage.writing() as connection:
        first = sa.select(sa.func.min(events.c.number)).where(events.c.kind == kind)
        number = connection.execute(first).scalar_one()
        mine = events.c.number == number
        body = connection.execute(sa.select(events.c.body).where(mine)).scalar_one()
        changed = {name: new(bytes(body)) if callable(new) else new for name, new in values.items()}
        assert changed.get("body") != bytes(body)
        connection.execute(sa.update(events).where(mine).values(changed))
    verdict = verify(campaign)
    assert f"event {number} of the campaign" in verdict.wrong[0]
    assert "backup" in verdict.wrong[0]
    assert not verdict.repaired


def test_a_state_that_was_kept_by_another_campaign_is_refused_and_repaired_from_the_events(url: str) -> None:
    campaign = begin(url)
    right = state(campaign)
    other = mp.create_campaign(url, "other", models=4, seed=9)
    other.ask_many(stream(30)[0])
    for one in (campaign, other):
        keep(one)
    with campaign.storage.writing() as connection:
        foreign = sa.select(snapshots.c.body).order_by(snapshots.c.campaign.desc()).limit(1)
        body = connection.execute(foreign).scalar_one()
        first = sa.select(sa.func.min(snapshots.c.campaign)).scalar_subquery()
        connection.execute(sa.update(snapshots).where(snapshots.c.campaign == first).values(body=body))
    with pytest.raises(mp.StorageError, match=r"the state that was kept last was made with other settings.*verify"):
        mp.open_campaign(url, "tickets").best()
    assert verify(campaign).repaired
    assert state(mp.open_campaign(url, "tickets")) == right


# Moving: the checksum goes along.


@pytest.mark.parametrize(("field", "value"), OTHER.items(), ids=list(OTHER))
def test_an_export_whose_settings_were_changed_is_refused(
    memory: str, tmp_path: Path, field: str, value: object
) -> None:
    export_campaign(begin(memory), tmp_path / "out.jsonl")
    header, *records = (tmp_path / "out.jsonl").read_text().splitlines()
    changed = json.loads(header) | {field: value}
    if field == "algorithm":
        changed["options"] = {"probability": 0.5}
    (tmp_path / "out.jsonl").write_text("\n".join([json.dumps(changed), *records]))
    with pytest.raises(mp.InputError, match=r"checksum|settings|stop_when"):
        import_campaign(memory, tmp_path / "out.jsonl", "copy")
    assert [one.name for one in mp.list_campaigns(memory)] == ["tickets"]


def test_an_export_of_an_older_version_has_no_checksum_and_is_taken(url: str) -> None:
    campaign = import_campaign(url, OLD / "0001.jsonl")
    check(campaign, url)


# Upgrading: the settings are taken as they are.


@pytest.fixture
def upgraded(url: str, tmp_path: Path) -> Iterator[Storage]:
    """A storage of the schema before there were checksums, upgraded."""
    source = tmp_path / "source.db"
    source.write_bytes(gzip.decompress((OLD / "0002.db.gz").read_bytes()))
    if url.startswith("sqlite"):
        source.rename(tmp_path / "campaigns.db")
        storage = find_storage(url)
    else:
        storage = find_storage(url)
        upgrade(storage, "0002")
        fill(storage, sa.create_engine(f"sqlite:///{source}"))
    assert upgrade(storage) == ("0002", SCHEMA)
    yield storage
    storage.close()


def fill(storage: Storage, source: sa.Engine) -> None:
    """Copy the rows of an old storage."""
    names = ("campaigns", "events", "answers", "keys", "snapshots", "samples", "tokens")
    old, new = sa.MetaData(), sa.MetaData()
    with source.connect() as here, storage.writing() as there:
        for name in names:
            rows = [dict(row._mapping) for row in here.execute(sa.select(sa.Table(name, old, autoload_with=here)))]
            there.execute(sa.insert(sa.Table(name, new, autoload_with=there)), rows)
    source.dispose()


def test_an_upgraded_campaign_goes_on_and_is_covered_from_then_on(upgraded: Storage) -> None:
    url = upgraded.place
    lines = (OLD / "0002.jsonl").read_text(encoding="utf-8").splitlines()
    campaign = mp.open_campaign(url, "tickets")
    assert list(campaign.history()) == [json.loads(line) for line in lines[1:]]
    check(campaign, url)
    campaign.ask_many(stream(20)[0])
    check(campaign, url)
    assert verify_named(upgraded, "other").wrong == []


@pytest.mark.parametrize("checksum", [True, False])
def test_settings_that_are_changed_after_the_upgrade_are_refused(upgraded: Storage, checksum: bool) -> None:
    """No event says with which settings it was decided, but the state that was kept does."""
    with upgraded.writing() as connection:
        mine = campaigns.c.name == "tickets"
        document = json.loads(connection.execute(sa.select(campaigns.c.settings).where(mine)).scalar_one())
        document["seed"] = "4"
        values = {"settings": json.dumps(document)}
        values |= {"checksum": settings_checksum(document)} if checksum else {}
        connection.execute(sa.update(campaigns).where(mine).values(values))
    with pytest.raises(mp.StorageError, match="settings"):
        mp.open_campaign(upgraded.place, "tickets").best()
    verdict = verify_named(upgraded, "tickets")
    assert "settings" in verdict.wrong[0]
    assert not verdict.repaired


def test_settings_that_were_damaged_before_the_upgrade_stop_nobody_else(tmp_path: Path) -> None:
    path = tmp_path / "campaigns.db"
    path.write_bytes(gzip.decompress((OLD / "0002.db.gz").read_bytes()))
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE campaigns SET settings = '{' WHERE name = 'other'")
    engine.dispose()
    storage = find_storage(f"sqlite:///{path}")
    assert upgrade(storage) == ("0002", SCHEMA)
    assert mp.open_campaign(storage.place, "tickets").best().rounds == 60
    with pytest.raises(mp.StorageError, match="settings of campaign 'other' are damaged"):
        mp.open_campaign(storage.place, "other")
    storage.close()


def test_one_damaged_campaign_hides_no_other_from_the_list(url: str) -> None:
    begin(url)
    mp.create_campaign(url, "other", models=2)
    storage = open_storage(url)
    with storage.writing() as connection:
        changed = campaigns.update().where(campaigns.c.name == "tickets")
        connection.execute(changed.values(settings=sa.func.replace(campaigns.c.settings, '"bee"', '"eel"')))
    damaged, other = sorted(mp.list_campaigns(url), key=lambda one: one.name != "tickets")
    assert (other.name, other.models, other.damage) == ("other", 2, "")
    assert "tickets" in damaged.damage
    assert (damaged.models, damaged.algorithm) == (0, "")
    with pytest.raises(mp.ModelPickerError, match="tickets"):
        mp.open_campaign(url, "tickets")
