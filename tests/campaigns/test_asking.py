"""Asking: each round is decided and recorded once, and decided as the bare picker would."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import modelpicker as mp
from modelpicker.algorithms import Algorithm
from modelpicker.algorithms.model_picker import ModelPicker
from modelpicker.algorithms.runner import MANY
from tests.campaigns.streams import MODELS, check, play, state, stream, without_times

KINDS: dict[str, Callable[[], Algorithm]] = {
    "model-picker": lambda: mp.ModelPicker(MODELS, 3, query_scale=2.0),
    "label-efficient": lambda: mp.LabelEfficient(MODELS, 3, probability=0.4),
    "vote-entropy": lambda: mp.VoteEntropy(MODELS, 3, classes=3),
    "structural-committee": lambda: mp.StructuralCommittee(MODELS, 3, beta=0.5, disagreement_scale=2.0),
    "importance-weighted": lambda: mp.ImportanceWeighted(MODELS, 3, query_scale=0.7),
    "efficient-active": lambda: mp.EfficientActive(MODELS, 3, c0=0.001),
    "race": lambda: mp.Race(MODELS, 3, tolerance=0.2),
}


class Insistent(ModelPicker):
    """An algorithm that is not modelpicker's own."""

    name = "insistent"


def test_a_decision_has_an_id_and_everything_about_it_is_on_record(url: str) -> None:
    campaign = mp.create_campaign(url, "tickets", models=["bert", "roberta"], classes=["spam", "ham"])
    decision = campaign.ask({"roberta": "ham", "bert": "spam"}, item={"text": "Dear Sir"}, key="msg-17")
    assert decision.id == decision.round == 0
    (record,) = mp.open_campaign(url, "tickets").history()
    assert record["key"] == "msg-17"
    assert record["item"] == {"text": "Dear Sir"}
    assert record["predictions"] == ["spam", "ham"]
    assert record["query"] == decision.query
    assert record["probability"] == decision.probability
    assert record["recommended"] == decision.recommended


def test_the_same_key_returns_the_same_decision_and_creates_nothing(url: str) -> None:
    campaign = mp.create_campaign(url, "tickets", models=2, seed=1)
    first = [campaign.ask([0, i % 2], key=f"item {i}") for i in range(10)]
    history = without_times(campaign)
    again = mp.open_campaign(url, "tickets")
    assert [again.ask([1, i % 2], key=f"item {i}") for i in range(10)] == first
    assert without_times(again) == history


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_budget_decisions_are_those_of_the_bare_picker(url: str, kind: str) -> None:
    bare = KINDS[kind]()
    campaign = mp.create_campaign(url, kind, models=MODELS, seed=3, algorithm=kind, options=bare.options)
    predictions, labels = stream(80)
    for row, label, decision in zip(predictions, labels, play(campaign, predictions, labels), strict=True):
        assert bare.observe(row) == decision
        if decision.query:
            bare.learn(decision.round, label)
    assert campaign.best().model == bare.recommended
    assert state(campaign)["picker"]["state"] == bare.state_dict()["state"]
    check(campaign, url)


def test_an_algorithm_of_ones_own_works_like_any_other(url: str) -> None:
    campaign = mp.create_campaign(url, "own", models=4, seed=3, algorithm=Insistent, options={"query_scale": 3.0})
    predictions, labels = stream(40)
    decisions = play(campaign, predictions, labels)
    bare = Insistent(4, 3, query_scale=3.0)
    trace = mp.run_stream(bare, predictions, labels)
    assert [decision.query for decision in decisions] == trace.queried.tolist()
    check(campaign, url)


def test_an_algorithm_that_cannot_be_imported_must_be_passed(url: str) -> None:
    class Local(ModelPicker):
        name = "local"

    mp.create_campaign(url, "own", models=2, algorithm=Local)
    with pytest.raises(mp.NotFoundError, match="pass the class: open_campaign"):
        mp.open_campaign(url, "own")
    assert mp.open_campaign(url, "own", algorithm=Local).best().rounds == 0


def test_many_at_once_are_decided_as_one_by_one(url: str) -> None:
    predictions, _ = stream(300, models=5)
    one = mp.create_campaign(url, "one", models=5, seed=2, budget=30, expected_rounds=300)
    many = mp.create_campaign(url, "many", models=5, seed=2, budget=30, expected_rounds=300)
    singly = [one.ask(row) for row in predictions.tolist()]
    together = [
        decision for start in range(0, 300, 60) for decision in many.ask_many(predictions[start : start + 60])
    ]
    assert together == singly
    assert state(one) == state(many)
    check(many, url)


def test_compiled_and_interpreted_decisions_are_equal_to_the_last_bit(memory: str) -> None:
    predictions, labels = stream(25_000, models=5)
    slow = mp.create_campaign(memory, "slow", models=5, budget=200, expected_rounds=25_000)
    fast = mp.create_campaign(memory, "fast", models=5, budget=200, expected_rounds=25_000)
    for start in range(0, 25_000, 1_000):
        rows = predictions[start : start + 1_000]
        singly = [slow.ask(row) for row in rows[:3].tolist()] + list(slow.ask_many(rows[3:]))
        together = fast.ask_many(rows)
        assert list(together) == singly
        told = {decision.id: int(labels[decision.id]) for decision in together if decision.query}
        slow.tell_many(told)
        fast.tell_many(told)
    assert state(slow) == state(fast)


def test_keys_that_are_known_and_keys_given_twice_are_asked_once(url: str) -> None:
    campaign = mp.create_campaign(url, "keys", models=2, seed=5)
    campaign.ask([0, 1], key="b")
    decisions = campaign.ask_many([[0, 1], [1, 1], [0, 1], [1, 0]], keys=["a", "b", "a", None])
    assert [decision.id for decision in decisions] == [1, 0, 1, 2]
    assert decisions[0] == decisions[2]
    assert decisions[-1].round == 2
    assert [decision.round for decision in decisions[1:3]] == [0, 1]
    assert decisions.queried.tolist() == [decision.query for decision in decisions]
    assert decisions.probability.tolist() == [decision.probability for decision in decisions]
    assert campaign.best().rounds == 3
    assert len(campaign.ask_many([])) == 0
    check(campaign, url)


def test_predictions_may_come_in_any_form(memory: str) -> None:
    matrix = np.array([[0, 1, 1], [2, -1, 0], [1, 1, 1]])
    names = np.array(["x", "y", "z", None], dtype=object)[matrix]
    forms = {
        "codes": matrix,
        "floats": matrix.astype(float),
        "small": matrix.astype(np.int8),
        "table": pa.table(dict(zip("abc", names.T.tolist(), strict=True))),
        "codes without names": mp.ModelCollection(matrix, models=list("abc"), classes=[0, 1, 2]),
        "names": names,
        "lists": names.tolist(),
        "mappings": [dict(zip("abc", row, strict=True)) for row in names.tolist()],
        "frame": pd.DataFrame(names, columns=list("abc"), dtype=object),
        "frame in another order": pd.DataFrame(names, columns=list("abc"), dtype=object)[["c", "a", "b"]],
        "collection": mp.ModelCollection(matrix, models=list("abc"), classes=["x", "y", "z"]),
    }
    histories = {}
    for name, form in forms.items():
        campaign = mp.create_campaign(memory, name, models=list("abc"), classes=["x", "y", "z"])
        campaign.ask_many(form)
        histories[name] = without_times(campaign)
    assert all(history == histories["lists"] for history in histories.values())
    assert histories["lists"][1]["predictions"] == ["z", None, "x"]


def test_classes_are_whatever_is_said_unless_they_are_given(memory: str) -> None:
    campaign = mp.create_campaign(memory, "open", models=2)
    campaign.ask(["a new class", "another"])
    campaign.ask([3, 4_000_000_000])
    assert [record["predictions"] for record in campaign.history()] == [
        ["a new class", "another"],
        [3, 4_000_000_000],
    ]
    campaign.ask_many(np.array([[7, 2**40], [-1, 7]]))
    assert list(campaign.history())[-2]["predictions"] == [7, 2**40]


@pytest.mark.parametrize(
    ("predictions", "complaint"),
    [
        ([0, 1, 2], "3 predictions, but there are 2 models"),
        ({"a": 0}, "no prediction of b"),
        ({"a": 0, "b": 1, "c": 1}, "'c' is not a model"),
        ([0, float("nan")], "prediction of b: NaN"),
        ([0, 0.5], "prediction of b: 0.5 is not a whole number"),
        ([0, -3], "prediction of b: -3 is not a class"),
        (["x", 1], "'x' is a string and 1 a whole number"),
        ("ab", "are no predictions"),
        (None, "are no predictions"),
        ([[0], 1], "prediction of a"),
    ],
)
def test_predictions_that_make_no_sense_change_nothing(memory: str, predictions: object, complaint: str) -> None:
    campaign = mp.create_campaign(memory, "bad", models=["a", "b"])
    campaign.ask([0, 1])
    before = state(campaign)
    with pytest.raises(mp.InputError, match=complaint):
        campaign.ask(predictions)
    with pytest.raises(mp.InputError):
        campaign.ask_many([[0, 1], predictions])
    assert state(campaign) == before
    assert campaign.best().rounds == 1


@pytest.mark.parametrize(
    ("extra", "complaint"),
    [
        ({"key": ""}, "empty"),
        ({"key": "x" * 501}, "too long"),
        ({"key": 17}, "not a string"),
        ({"key": "a\0b"}, "null character"),
        ({"key": "\ud800"}, "half a character"),
        ({"item": "text"}, "pass its fields by name"),
        ({"item": {1: 2}}, "pass its fields by name"),
        ({"item": {"x": float("nan")}}, "cannot be stored as JSON"),
        ({"item": {"x": object()}}, "cannot be stored as JSON"),
    ],
)
def test_keys_and_items_that_cannot_be_stored_are_refused(
    memory: str, extra: dict[str, object], complaint: str
) -> None:
    campaign = mp.create_campaign(memory, "bad", models=2)
    with pytest.raises(mp.InputError, match=complaint):
        campaign.ask([0, 1], **extra)  # type: ignore[arg-type]
    assert campaign.best().rounds == 0


def test_items_of_any_content_come_back_as_they_were(url: str) -> None:
    campaign = mp.create_campaign(url, "items", models=2)
    item = {
        "text": "né\0\ud800\u2028 <script>",
        "long": "x" * 100_000,
        "deep": {"a": [1, None, {"b": 1.5}]},
        "": True,
    }
    campaign.ask([0, 1], item=item)
    campaign.ask_many([[0, 1], [1, 0]], items=[None, item])
    assert [record["item"] for record in campaign.history()] == [item, None, item]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"items": [{}]}, "2 rounds but 1 items"),
        ({"keys": ["a", "b", "c"]}, "2 rounds but 3 keys"),
        ({"keys": "ab"}, "pass a list"),
    ],
)
def test_items_and_keys_must_be_one_a_round(memory: str, options: dict[str, object], complaint: str) -> None:
    campaign = mp.create_campaign(memory, "bad", models=2)
    with pytest.raises(mp.InputError, match=complaint):
        campaign.ask_many([[0, 1], [1, 0]], **options)  # type: ignore[arg-type]


def test_a_row_of_a_data_frame_is_taken_by_the_names_of_its_models(memory: str) -> None:
    campaign = mp.create_campaign(memory, "series", models=["a", "b"])
    campaign.ask(pd.DataFrame({"b": ["of b"], "a": ["of a"]}).iloc[0])
    assert next(campaign.history())["predictions"] == ["of a", "of b"]


@pytest.mark.parametrize("kind", ["uint8", "int8", "uint16", "int32", "int64", "bool", "float32"])
def test_codes_may_be_of_any_type(memory: str, kind: str) -> None:
    campaign = mp.create_campaign(memory, "types", models=3)
    campaign.ask_many(np.array([[0, 1, 1], [1, 0, 1]], dtype=kind))
    assert [record["predictions"] for record in campaign.history()] == [[0, 1, 1], [1, 0, 1]]


def test_asking_again_is_safe_even_after_models_have_changed(url: str) -> None:
    campaign = mp.create_campaign(url, "again", models=["a", "b", "c"], seed=1)
    rows, keys = [["x", "y", "z"], ["x", "x", "y"]], ["one", "two"]
    first = list(campaign.ask_many(rows, keys=keys))
    campaign.join("d")
    assert list(campaign.ask_many(rows, keys=keys)) == first
    assert campaign.ask(rows[0], key="one") == first[0]
    mixed = campaign.ask_many([*rows, ["x", "y", "x", "y"]], keys=[*keys, "three"])
    assert list(mixed)[:2] == first
    assert mixed[2].id == 2
    check(campaign, url)


def test_what_is_handed_out_can_be_changed_without_changing_the_campaign(memory: str) -> None:
    campaign = mp.create_campaign(memory, "copies", models=2, seed=1, budget=50, expected_rounds=50)
    campaign.ask([0, 1], item={"text": "as it was", "deep": [1]})
    before = without_times(campaign)
    (query,) = campaign.pending()
    assert query.item is not None
    query.item["text"] = "changed"
    for record in campaign.history():
        record["item"]["deep"].append(2)
        record["pace"][0] = 49.0
    assert without_times(campaign) == before
    check(campaign, memory)


def test_items_may_not_be_nested_without_end(memory: str) -> None:
    campaign = mp.create_campaign(memory, "deep", models=2)
    deep: dict[str, object] = {}
    for _ in range(60):
        deep = {"deeper": deep}
    with pytest.raises(mp.InputError, match="nested more than 50 deep"):
        campaign.ask([0, 1], item=deep)


def test_a_query_knows_what_models_say_of_it_and_of_nothing_else(memory: str) -> None:
    campaign = mp.create_campaign(
        memory, "said", models=3, algorithm="label-efficient", options={"probability": 1.0}
    )
    campaign.ask_many([["x", "y", "x"], ["p", "q", None]])
    assert [query.classes for query in campaign.pending()] == [("x", "y"), ("p", "q")]


def test_a_batch_may_have_more_classes_than_there_are_models_in_every_storage(url: str) -> None:
    check_a_batch_of_many_classes(url, "model-picker")


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["vote-entropy", "structural-committee", "importance-weighted"])
def test_a_batch_may_have_more_classes_than_there_are_models(memory: str, algorithm: str) -> None:
    """A storage knows nothing about algorithms: each is tried in one of them."""
    check_a_batch_of_many_classes(memory, algorithm)


def check_a_batch_of_many_classes(url: str, algorithm: str) -> None:
    """One by one, together, and together at compiled speed: the same decisions, and the same state."""
    draw = np.random.default_rng(0)
    rows = [
        [None if code > 480 else f"class {code}" for code in row]
        for row in draw.integers(0, 500, (300, 3)).tolist()
    ]
    campaigns = [mp.create_campaign(url, f"{way}", models=3, algorithm=algorithm, seed=2) for way in range(3)]
    singly = [campaigns[0].ask(row) for row in rows]
    assert list(campaigns[1].ask_many(rows)) == singly
    with campaigns[2].reading() as (_, projection):
        kernel = projection.runner
        interpreted, kernel._interpreted = kernel._interpreted, MANY
    assert list(campaigns[2].ask_many(rows)) == singly
    kernel._interpreted = interpreted
    assert kernel.play.ready
    labels = {one.id: one.prediction or "class 1" for one in singly if one.query}
    for campaign in campaigns:
        campaign.tell_many(labels)
        campaign.retract(next(iter(labels)))
        check(campaign, url)
    assert state(campaigns[0]) == state(campaigns[1]) == state(campaigns[2])


def test_a_large_batch_knows_the_keys_of_an_earlier_one_whatever_they_are_made_of(url: str) -> None:
    campaign = mp.create_campaign(url, "keys", models=4, seed=1)
    predictions, _ = stream(2_000)
    keys = [f"{number} \"\\'%s{{,}}é🦉" if number % 2 else f"key-{number}" for number in range(2_000)]
    first = campaign.ask_many(predictions[:1_500], keys=keys[:1_500])
    again = campaign.ask_many(predictions[500:], keys=keys[500:])
    assert list(again)[:1_000] == list(first)[500:]
    assert [one.id for one in again] == list(range(500, 2_000))
    assert [campaign.number_of(key) for key in (keys[1], keys[1_999])] == [1, 1_999]
    check(campaign, url)
