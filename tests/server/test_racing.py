"""Which models are still in the race, over HTTP; models that were not run."""

from pathlib import Path

import pyarrow as pa
import pytest

from modelpicker.errors import InputError
from tests.campaigns.test_pool_not_run import write
from tests.campaigns.test_racing import MODELS, play, race
from tests.server.servers import Running


def test_a_client_stops_paying_for_models_that_are_out(server: Running, name: str) -> None:
    with server.client() as client:
        campaign = client.create_campaign(
            name, models=MODELS, algorithm="race", options={"tolerance": 0.02}, missing="not-run"
        )
        play(campaign, 150)
        here = race(f"memory://{name}", name)
        play(here, 150)
        assert campaign.racing == here.racing != tuple(MODELS)
        assert campaign.best().calls == here.best().calls
        assert campaign.best().calls_sentence == here.best().calls_sentence
        many = campaign.ask_many([{"good": 0}, {"good": 1}])
        assert [made.racing for made in many] == [here.racing] * 2


def test_a_pool_takes_items_without_the_models_that_are_out(server: Running, name: str, tmp_path: Path) -> None:
    write(tmp_path / "first.csv", 60)
    write(tmp_path / "more.csv", 6, without=("bad",), first=60)
    with server.client() as client:
        campaign = client.create_campaign(name, pool=tmp_path / "first.csv", tolerance=0.2, missing="not-run")
        assert campaign.describe()["missing"] == "not-run"
        assert campaign.best().calls is None
        assert campaign.upload(tmp_path / "more.csv")["rounds"] == 6
        campaign.ask({"good": "ham", "fair": "spam"}, key="one")
        frame = {"id": ["two", "three"], "good": ["ham", "spam"], "fair": ["spam", None]}
        campaign.ask_many(pa.table(frame))
        assert campaign.best().calls == (66 + 3) * 3 - 6 - 1 - 2 - 1


def test_a_pool_whose_models_must_all_run_refuses_such_items(server: Running, name: str, tmp_path: Path) -> None:
    write(tmp_path / "first.csv", 20)
    write(tmp_path / "more.csv", 6, without=("bad",), first=20)
    with server.client() as client:
        campaign = client.create_campaign(name, pool=tmp_path / "first.csv")
        with pytest.raises(InputError, match="bad"):
            campaign.upload(tmp_path / "more.csv")
        with pytest.raises(InputError, match="no prediction of bad"):
            campaign.ask({"good": "ham", "fair": "spam"})
