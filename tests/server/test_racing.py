"""Which models are still in the race, over HTTP; models that were not run."""

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
