"""Storages that older versions made: refused with the command that upgrades them, and whole afterwards.

`old/` has a storage as each schema but the last made it, and what its campaign was then, exported.
"""

import gzip
import json
from pathlib import Path

import pytest

import modelpicker as mp
from modelpicker.campaigns.storage import schema
from modelpicker.campaigns.storage.database import find_storage
from modelpicker.campaigns.storage.upgrade import upgrade
from tests.campaigns.streams import check

OLD = Path(__file__).parent / "old"
VERSIONS = sorted(file.name.removesuffix(".db.gz") for file in OLD.glob("*.db.gz"))


@pytest.fixture(params=VERSIONS)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """An old schema, and a storage of it."""
    (tmp_path / "old.db").write_bytes(gzip.decompress((OLD / f"{request.param}.db.gz").read_bytes()))
    return request.param, f"sqlite:///{tmp_path}/old.db"


def test_there_is_a_storage_of_every_schema_but_the_last() -> None:
    assert [f"{number:04}" for number in range(1, int(schema.SCHEMA))] == VERSIONS


def test_an_old_storage_is_refused_with_the_command_that_upgrades_it(old: tuple[str, str]) -> None:
    with pytest.raises(mp.SchemaError, match=f"schema {old[0]}.*modelpicker storage upgrade --storage"):
        mp.open_campaign(old[1], "tickets")


def test_nothing_is_lost_when_an_old_storage_is_upgraded(old: tuple[str, str]) -> None:
    version, url = old
    storage = find_storage(url)
    assert upgrade(storage) == (version, schema.SCHEMA)
    storage.close()
    campaign = mp.open_campaign(url, "tickets")
    lines = (OLD / f"{version}.jsonl").read_text(encoding="utf-8").splitlines()
    assert list(campaign.history()) == [json.loads(line) for line in lines[1:]]
    check(campaign, url)
    before = campaign.best()
    assert campaign.ask(dict.fromkeys(campaign.models, 1), key="new").id == before.rounds
    check(campaign, url)
    campaign.storage.close()


def test_a_pool_of_schema_0004_goes_on_with_nothing_lost(tmp_path: Path) -> None:
    (tmp_path / "old.db").write_bytes(gzip.decompress((OLD / "0004.db.gz").read_bytes()))
    url = f"sqlite:///{tmp_path}/old.db"
    storage = find_storage(url)
    upgrade(storage)
    storage.close()
    campaign = mp.open_campaign(url, "pool")
    lines = (OLD / "0004-pool.jsonl").read_text(encoding="utf-8").splitlines()
    assert list(campaign.history()) == [json.loads(line) for line in lines[1:]]
    assert (campaign.settings.overlap, campaign.best().conflicts, campaign.agreement().items) == (1, 0, 0)
    check(campaign, url)
    (query, *_) = campaign.pending(9, lease=60, annotator="dan")
    campaign.tell(query.id, "ham", annotator="dan")
    check(campaign, url)
    imported = mp.import_campaign(url, OLD / "0004-pool.jsonl", "again")
    check(imported, url)
    campaign.storage.close()
