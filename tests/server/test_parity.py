"""A campaign over HTTP comes to what a campaign in this process does, to the last bit."""

import random
import uuid
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.algorithms import ALGORITHMS
from modelpicker.campaigns import Campaign, Pick, create_campaign
from modelpicker.campaigns.storage.database import open_storage
from tests.server.describing import Api
from tests.server.servers import API, Running
from tests.shared_data import load

STATUS = {mp.InputError: 422, mp.NotFoundError: 404, mp.ConflictError: 409}


class Twins:
    """A campaign on a server and one in this process: what is done is done to both, and must come to the same."""

    def __init__(self, server: Running, name: str, **settings: Any) -> None:
        self.server = server
        self.api = Api.of(server.http)
        self.path = f"/campaigns/{name}"
        self.here: Campaign = create_campaign(f"memory://{uuid.uuid4().hex}", name, **settings)
        server.post("/campaigns", {"name": name, **settings}).raise_for_status()

    def do(self, method: str, path: str, body: Any, call: Callable[[Campaign], Any]) -> tuple[Any, Any] | None:
        """What both say; None if both refuse, which they must do in the same words."""
        answer = self.server.http.request(method, f"{API}{self.path}{path}", json=body)
        self.api.check(answer)
        expected = _outcome(call, self.here)
        if isinstance(expected, mp.ModelPickerError):
            assert (answer.status_code, answer.json()["detail"]) == (STATUS[type(expected)], str(expected))
            return None
        assert answer.is_success, answer.text
        return answer.json(), expected

    def ask(self, row: Any, item: Any = None, key: str | None = None) -> bool:
        """Whether the label is asked for."""
        body = {"predictions": spelt(row), "item": item, "key": key}
        made = self.do("POST", "/rounds", body, lambda here: here.ask(row, item=item, key=key))
        if made is None:
            return False
        assert decided(made[0]) == made[1]
        return bool(made[1].query)

    def ask_many(self, rows: list[Any], items: Any = None, keys: Any = None) -> None:
        body = {"predictions": [spelt(row) for row in rows], "items": items, "keys": keys}
        made = self.do("POST", "/rounds/batch", body, lambda here: here.ask_many(rows, items=items, keys=keys))
        if made is not None:
            assert [decided(one) for one in made[0]["decisions"]] == list(made[1])

    def tell(self, called: int | str, label: Any, *, replace: bool, by: str | None = None) -> None:
        body = {"id": called, "label": label, "replace": replace, "annotator": by}
        self.do("POST", "/labels", body, lambda here: here.tell(called, label, replace=replace, annotator=by))

    def tell_many(self, pairs: list[tuple[int | str, Any]], *, replace: bool) -> None:
        body = {"labels": pairs, "replace": replace}
        self.do("POST", "/labels/batch", body, lambda here: here.tell_many(pairs, replace=replace))

    def skip(self, called: int | str, *, replace: bool) -> None:
        self.do(
            "POST", "/skips", {"id": called, "replace": replace}, lambda here: here.skip(called, replace=replace)
        )

    def retract(self, called: int | str) -> None:
        self.do("POST", "/retractions", {"id": called}, lambda here: here.retract(called))

    def join(self, model: int | str) -> None:
        made = self.do("POST", "/models", {"model": model}, lambda here: here.join(model))
        assert made is None or made[0]["models"] == list(self.here.models)

    def leave(self, model: int | str) -> None:
        made = self.do("DELETE", f"/models/{model}", None, lambda here: here.leave(str(model)))
        assert made is None or made[0]["models"] == list(self.here.models)

    def check(self) -> None:
        """The same history, queries and standing."""
        get = self._get
        assert self.here.best().rounds > 0
        assert list(untimed(pages(get))) == list(untimed(self.here.history()))
        waiting = [
            (one["id"], one["key"], one["item"], tuple(one["classes"]))
            for one in get("/queries", most=1000)["queries"]
        ]
        assert waiting == [(one.id, one.key, one.item, one.classes) for one in self.here.pending(1000)]
        assert (
            without(get("/standing"), "event", "weighted", "low", "high", "weight") == self.here.best().document()
        )
        found = get("")
        assert found["models"] == list(self.here.models)
        assert (found["rounds"], found["labels_used"]) == (self.here.best().rounds, self.here.best().labels_used)

    def _get(self, path: str, **values: Any) -> Any:
        answer = self.server.get(f"{self.path}{path}", params=values)
        self.api.check(answer)
        return answer.raise_for_status().json()


def _outcome(call: Callable[[Campaign], Any], campaign: Campaign) -> Any:
    try:
        return call(campaign)
    except mp.ModelPickerError as error:
        return error


def spelt(row: Any) -> Any:
    """Predictions as JSON has them: names are strings there."""
    return {str(model): said for model, said in row.items()} if isinstance(row, dict) else row


def decided(made: dict[str, Any]) -> mp.Decision:
    return mp.Decision(made["id"], made["query"], made["probability"], made["prediction"], made["recommended"])


def untimed(records: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Records without what two clocks disagree on."""
    return (without(record, "at") for record in records)


def without(document: dict[str, Any], *names: str) -> dict[str, Any]:
    kept = {name: value for name, value in document.items() if name not in names}
    if "standing" in kept:
        kept["standing"] = [without(entry, *names) for entry in kept["standing"]]
    return kept


def pages(get: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """The history, some events at a time."""
    after: int | None = 0
    while after is not None:
        page = get("/history", after=after, most=17)
        yield from page["records"]
        after = page["next"]


class Chance:
    """Somebody who does all kinds of things, some of which are not valid."""

    def __init__(self, twins: Twins, classes: list[int | str], seed: int) -> None:
        self.twins, self.classes, self.draw = twins, classes, random.Random(seed)
        self.joined = 0

    def act(self) -> None:
        names = ("one", "one", "one", "many", "answer", "answer", "answer", "answers", "undo", "change")
        getattr(self, f"_{self.draw.choice(names)}")()

    def _row(self) -> Any:
        models = self.twins.here.models
        said = [self.draw.choice([*self.classes * 3, None, -1]) for _ in models]
        form = self.draw.randrange(20)
        if form < 10:
            return dict(zip(models, said, strict=True))
        return said if form < 19 else said[1:]  # somebody forgot a model

    def _key(self) -> str | None:
        return self.draw.choice([None, f"key-{self.draw.randrange(60)}"])

    def _one(self) -> None:
        self.twins.ask(
            self._row(), self.draw.choice([None, {"text": "häß\0lich", "deep": [1.5, {"a": None}]}]), self._key()
        )

    def _many(self) -> None:
        rows = [self._row() for _ in range(self.draw.choice([0, 1, 5, 40]))]
        keys = self.draw.choice([None, [self._key() for _ in rows]])
        self.twins.ask_many(rows, self.draw.choice([None, [{"n": n} for n, _ in enumerate(rows)]]), keys)

    def _called(self) -> int | str:
        """A round, mostly one that waits; or a key."""
        waiting = [query.id for query in self.twins.here.pending()]
        others: list[int | str] = [self.draw.randrange(200), f"key-{self.draw.randrange(60)}", -1, 10**30]
        return self.draw.choice([*waiting, *others][: self.draw.choice([5, 300])])

    def _label(self) -> Any:
        return self.draw.choice([*self.classes * 3, 0, "none of these", -1])

    def _answer(self) -> None:
        self.twins.tell(
            self._called(), self._label(), replace=self.draw.random() < 0.2, by=self.draw.choice([None, "ann"])
        )

    def _answers(self) -> None:
        pairs = [(self._called(), self._label()) for _ in range(self.draw.choice([0, 1, 3]))]
        self.twins.tell_many(pairs, replace=self.draw.random() < 0.5)

    def _undo(self) -> None:
        if self.draw.random() < 0.5:
            self.twins.skip(self._called(), replace=self.draw.random() < 0.5)
        else:
            self.twins.retract(self._called())

    def _change(self) -> None:
        models = self.twins.here.models
        if self.draw.random() < 0.5:
            self.joined += 1
            self.twins.join(
                self.draw.choice([f"late/{self.joined}", 100 + self.joined, f"{200 + self.joined}", models[0]])
            )
        else:
            self.twins.leave(self.draw.choice([*models, "nobody"]))


KINDS: dict[str, tuple[dict[str, Any], list[int | str]]] = {
    "names": ({"models": ["ant", "bee", "cat"]}, ["x", "y", "z"]),
    "numbers": ({"models": 4}, [0, 1, 7]),
    "declared": ({"models": ["a/b", "b c", "ü"], "classes": ["no", "yes"]}, ["no", "yes"]),
}
BUDGETS = {"free": {}, "budget": {"budget": 30}, "planned": {"budget": 20, "expected_rounds": 150}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("algorithm", "budget"), list(zip(ALGORITHMS, cycle(BUDGETS), strict=False)))
def test_whatever_is_done_both_come_to_the_same(
    server: Running, name: str, algorithm: str, budget: str, kind: str
) -> None:
    settings, classes = KINDS[kind]
    twins = Twins(server, name, **settings, **BUDGETS[budget], algorithm=algorithm, seed=7)
    chance = Chance(twins, classes, seed=len(algorithm) + len(kind))
    for _ in range(45):
        chance.act()
    twins.check()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_however_long_it_goes_on_both_come_to_the_same(
    server: Running, name: str, algorithm: str, budget: str, kind: str
) -> None:
    settings, classes = KINDS[kind]
    twins = Twins(server, name, **settings, **BUDGETS[budget], algorithm=algorithm, seed=2**100)
    chance = Chance(twins, classes, seed=len(budget))
    for _ in range(4):
        for _ in range(60):
            chance.act()
        twins.check()


@pytest.mark.parametrize("budget", [None, 150])
def test_a_recorded_stream_is_decided_the_same(server: Running, name: str, budget: int | None) -> None:
    predictions, labels = load("emocontext")
    settings = {"models": predictions.shape[1], "budget": budget, "seed": 11}
    here = create_campaign(f"memory://{name}", name, models=predictions.shape[1], budget=budget, seed=11)
    there = server.client().create_campaign(name, **settings)
    for start in range(0, len(predictions), 700):
        rows = predictions[start : start + 700]
        made = there.ask_many(rows.tolist())
        assert made == list(here.ask_many(rows))
        told = [(one.id, int(labels[one.id])) for one in made if one.query]
        there.tell_many(told)
        here.tell_many(told)
    assert there.best() == here.best()
    assert 50 < there.best().labels_used <= (budget or len(predictions))


def test_without_a_budget_the_service_decides_as_a_bare_picker(server: Running, name: str) -> None:
    draw = random.Random(3)
    picker = mp.ModelPicker(["a", "b", "c"], seed=5)
    campaign = server.client().create_campaign(name, models=["a", "b", "c"], seed=5)
    for _ in range(80):
        row = [draw.choice(["x", "y"]) for _ in range(3)]
        made = campaign.ask(row)
        assert made == picker.observe(row)
        if made.query:
            campaign.tell(made.id, "x")
            picker.learn(made.round, "x")
    assert [entry.estimate for entry in sorted(campaign.best().standing, key=lambda one: str(one.model))] == (
        picker.losses.tolist()
    )


def test_a_pick_that_came_over_the_wire_is_the_same_object(server: Running, name: str) -> None:
    twins = Twins(server, name, models=["a", "b", "c"], budget=10)
    assert [twins.ask(["x", "y", "x"]) for _ in range(4)].count(True) > 0
    twins.tell(twins.here.pending()[0].id, "x", replace=False)
    found = server.client().campaign(name).best()
    assert isinstance(found, Pick)
    assert found == twins.here.best()
    open_storage(twins.here.storage.url).close()
