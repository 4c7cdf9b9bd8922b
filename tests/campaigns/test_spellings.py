"""With a rule for what counts as the same answer, a label may be spelt in any of those ways, everywhere."""

from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.label import AnyLabel, Label

MODELS = ["ada", "ben", "cat"]
ROWS = [["Paris", "paris.", "Lyon"], ["Rome", "ROME", "Oslo"], ["Bern", "Oslo", "Lima"], ["Oslo", "Rome", "oslo"]]
CAPITALS = ["Paris", "Lyon", "Rome", "Oslo", "Bern", "Lima"]
SPELT = ["PARIS", "rome!", "lima", "OSLO."]
KEPT = ["Paris", "Rome", "Lima", "Oslo"]


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A storage of its own."""
    return f"memory://{request.node.name}"


def items(**more: Any) -> mp.ModelCollection:
    return mp.ModelCollection(ROWS, models=MODELS, **more)


def campaign_of(storage: str, **more: Any) -> mp.Campaign:
    return mp.create_campaign(
        storage, "capitals", **{"pool": items(), "same": "normalised", "tolerance": 0.0, **more}
    )


def told(campaign: mp.Campaign) -> list[AnyLabel | None]:
    return [answer.label for answer in sorted(campaign.answers(), key=lambda answer: answer.id)]


@pytest.mark.parametrize("given", ["warm", "warm by place", "labels in the file"])
def test_labels_that_exist_already_are_read_by_the_rule(name: str, tmp_path: Path, given: str) -> None:
    file = tmp_path / "capitals.csv"
    rows = [",".join([*row, label]) for row, label in zip(ROWS, SPELT, strict=True)]
    file.write_text("\n".join([",".join([*MODELS, "label"]), *rows]))
    ways: dict[str, dict[str, Any]] = {
        "warm": {"warm": SPELT},
        "warm by place": {"warm": dict(enumerate(SPELT))},
        "labels in the file": {"pool": str(file), "use_labels": True},
    }
    campaign = campaign_of(name, **ways[given])
    assert told(campaign) == KEPT
    assert campaign.best().model == "ada"


def test_more_items_with_labels_are_read_by_the_rule_too(name: str) -> None:
    campaign = campaign_of(name)
    more = mp.ModelCollection([["Lima", "lima.", "Bern"]], labels=["lima."], models=MODELS)
    campaign.add_items(more, use_labels=True)
    assert told(campaign) == ["Lima"]


@pytest.mark.parametrize("judge", ["says", SPELT])
def test_a_judge_says_what_the_models_say(name: str, judge: Any) -> None:
    campaign = campaign_of(
        name, pool=items(fields={"says": SPELT} if isinstance(judge, str) else None), judge=judge
    )
    assert [record["judge"] for record in campaign.history() if record["kind"] == "item"] == KEPT


def test_closed_classes_take_every_spelling_of_predictions_and_labels(name: str) -> None:
    campaign = campaign_of(name, classes=CAPITALS)
    campaign.tell(2, "PARIS!")  # which no model says there
    campaign.tell(0, Label.any_of("lyon.", "rome"))
    assert told(campaign) == [Label.any_of("Lyon", "Rome"), "Paris"]
    with pytest.raises(mp.InputError, match="'Madrid' is not one of the classes"):
        campaign.tell(1, "Madrid")


def test_an_answer_that_no_model_gives_keeps_the_spelling_it_had_first(name: str) -> None:
    campaign = campaign_of(name, overlap=2)
    asked = campaign.pending(1, lease=60, annotator="mia")[0].id
    campaign.tell(asked, "Madrid", annotator="mia")
    campaign.tell(asked, "madrid.", annotator="tom")
    assert campaign.counts().conflicts == 0
    campaign.tell(asked, "MADRID", annotator="mia")  # said before
    assert told(campaign) == ["Madrid"]


def test_a_conflict_is_settled_in_any_spelling_and_once(name: str) -> None:
    campaign = campaign_of(name, overlap=2)
    asked = campaign.pending(1, lease=60, annotator="mia")[0].id
    first, second = (ROWS[asked][0], ROWS[asked][2]) if asked != 3 else ("Oslo", "Rome")
    campaign.tell(asked, first.upper(), annotator="mia")
    campaign.tell(asked, f"{second}!", annotator="tom")
    assert campaign.counts().conflicts == 1
    campaign.settle(asked, f" {first.lower()} ")
    campaign.settle(asked, first)
    assert told(campaign) == [first]


def test_numbers_within_the_tolerance_are_one_label(name: str) -> None:
    pool = mp.ModelCollection([["3.14", "3.141", "2.7"], ["1.0", "2.0", "2.001"]], models=MODELS)
    campaign = campaign_of(name, pool=pool, same=0.01, warm=["3.139", None])
    assert told(campaign) == ["3.14"]


@pytest.mark.parametrize("way", ["list", "mapping", "function", "file"])
def test_pick_takes_labels_and_warm_labels_in_any_spelling(tmp_path: Path, way: str) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("label\n" + "".join(f"{label}\n" for label in SPELT))
    labels: Any = {
        "list": SPELT,
        "mapping": dict(enumerate(SPELT)),
        "function": lambda asked: SPELT[asked["item"]],
        "file": str(file),
    }[way]
    pick = mp.pick(
        items(), labels, same="normalised", tolerance=0.0, warm=["PARIS", None, None, None], judge=list(SPELT)
    )
    assert pick.model == "ada"
    assert pick.references == 1
    assert pick.judge is not None
    assert pick.judge.agreed == pick.judge.labels > 0


def test_costs_by_class_are_refused_where_each_item_has_a_spelling_of_its_own(name: str) -> None:
    pool = mp.ModelCollection([["Spam", "ham"], ["spam.", "ham"]], models=["ada", "ben"])
    for make in (
        lambda: mp.create_campaign(name, "spam", pool=pool, same="normalised", loss={"spam": 5}),
        lambda: mp.pick(pool, ["spam", "ham"], same="normalised", loss={"spam": 5}),
    ):
        with pytest.raises(mp.InputError, match=r"'spam'.*'[Ss]pam\.?'.*normalise=True"):
            make()
    closed = mp.create_campaign(
        name, "spam", pool=pool, same="normalised", loss={"spam": 5}, classes=["spam", "ham"]
    )
    closed.tell(0, "SPAM")
    assert told(closed) == ["spam"]


def test_balanced_counts_the_labels_that_exist_already(name: str) -> None:
    rows = [["a", "b"], ["b", "a"], ["a", "b"], ["b", "a"]]
    pool = mp.ModelCollection(rows, models=["ada", "ben"])
    warm = ["a", "a", "b", None]
    campaign = mp.create_campaign(name, "balanced", pool=pool, loss="balanced", warm=warm)
    assert campaign.settings.costs.loss == mp.Loss.balanced({"a": 2, "b": 1})
    pick = mp.pick(pool, lambda asked: "a", loss="balanced", warm=warm)
    assert pick.certificate.loss == "balanced accuracy"
    with pytest.raises(
        mp.InputError, match=r"none of the 4 items has a label.*warm=.*Loss\.balanced.*--loss 'balanced"
    ):
        mp.create_campaign(name, "without", pool=pool, loss="balanced")


@pytest.mark.parametrize(
    ("loss", "why"),
    [
        ({"Spam": 5}, r"'Spam', but the items say 'spam'"),
        ({"spam": {"Ham": 5}}, r"'Ham', but the items say 'ham'"),
        ({"fraud": 5}, r"none of the classes that it names occurs, such as 'fraud'"),
    ],
)
def test_a_loss_must_name_the_classes_as_the_items_do(name: str, loss: Any, why: str) -> None:
    pool = mp.ModelCollection([["spam", "ham"], ["ham", "spam"]], models=["ada", "ben"])
    for make in (
        lambda: mp.create_campaign(name, "spam", pool=pool, loss=loss),
        lambda: mp.pick(pool, ["spam", "ham"], loss=loss),
    ):
        with pytest.raises(mp.InputError, match=why):
            make()
    # Classes that only labels have may be named beside others, and numbers by text.
    assert mp.pick(pool, ["spam", "ham"], loss={"spam": 5, "fraud": 9}).certificate.loss == "weighted accuracy"
    numbers = mp.ModelCollection([[0, 1], [1, 0]], models=["ada", "ben"])
    assert mp.create_campaign(name, "numbers", pool=numbers, loss={"1": 5}).settings.costs.loss.dearest == 5


def test_a_label_that_is_there_is_named_in_words(name: str) -> None:
    campaign = campaign_of(name, ask_for="grades")
    asked = campaign.pending(1)[0]
    campaign.tell(asked.id, Label.graded({str(answer).upper(): 0.5 for answer in asked.candidates}))
    with pytest.raises(mp.ConflictError, match=r"labelled '\w+' 0.5, .* before; .* all answers 0 is right"):
        campaign.tell(asked.id, Label.all_wrong())
