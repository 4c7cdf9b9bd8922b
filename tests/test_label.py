"""Labels that are more than one class, and what mistakes cost."""

import json
import math

import numpy as np
import pytest

from modelpicker import InputError, Label, Loss
from modelpicker.label import read_label
from modelpicker.losses import read_loss

LABELS = [
    Label.any_of("spam", "advert"),
    Label.graded({"a": 1, "b": 0.25}),
    Label.graded({"a": True, "b": False}, otherwise=0),
    Label.all_wrong(),
    Label.better("a", than="b"),
    Label.equal("a", "b"),
]


@pytest.mark.parametrize("label", LABELS)
def test_a_label_survives_json(label: Label) -> None:
    assert read_label(json.loads(json.dumps(label.to_json()))) == label


def test_an_answer_without_a_grade_is_not_known_and_an_abstention_is_wrong() -> None:
    losses = Label.better("a", than="b").losses(["a", "b", "c", None])
    assert losses[[0, 1, 3]].tolist() == [0.0, 1.0, 1.0]
    assert math.isnan(losses[2])
    assert Label.all_wrong().losses(["a", None]).tolist() == [1.0, 1.0]
    assert Label.equal("a", "b").losses(["a", "b"]).tolist() == [0.5, 0.5]


def test_sums_of_losses_do_not_depend_on_their_order() -> None:
    losses = Label.graded({str(n): n / 997 for n in range(997)}).losses([str(n) for n in range(997)])
    assert losses.sum() == losses[::-1].sum() == math.fsum(losses)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Label.any_of(), "at least one class"),
        (lambda: Label.graded({"a": 2}), "from 0"),
        (lambda: Label.graded({"a": math.nan}), "from 0"),
        (lambda: Label.graded({None: 1}), "always wrong"),
        (lambda: Label.better("a", than="a"), "two different answers"),
        (lambda: Label.ranked("a"), "at least two answers"),
        (lambda: Label.ranked("a", ["b", "a"]), "each of them once"),
        (lambda: Label.any_of("a", 1), "string"),
        (lambda: read_label({"kind": "grades", "grades": []}), "no answer has a grade"),
        (lambda: read_label({"kind": "preference", "grades": [["a", 1]]}), "two answers"),
        (lambda: read_label({"kind": "classes", "grades": [["a", 0.5]], "otherwise": 0}), "grade 1 each"),
        (lambda: read_label({"kind": "stars", "grades": [["a", 0.5]]}), "is not a kind of label"),
        (lambda: read_label({"kind": "grades", "grades": [["a", 0.5], ["a", 1]]}), "two grades"),
        (lambda: read_label({"grades": 3}), "not a label"),
        (lambda: Loss.of("f1"), "pass"),
        (lambda: Loss.of({"a": 1, "b": {"a": 1}}), "pass"),
        (lambda: Loss.weights({"a": -1}), "number from 0"),
        (lambda: Loss.costs({"a": {"a": 1}}), "must cost 0"),
        (lambda: Loss.balanced({}), "at least one class"),
        (
            lambda: Loss.weights({"a": 2}).losses(Label.better("a", than="b"), ["a", "b"]),
            "says nothing about weighted accuracy",
        ),
    ],
)
def test_bad_labels_and_losses_are_refused_by_name(make: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()  # type: ignore[operator]


def test_the_grade_of_a_rank_is_the_share_of_the_others_that_are_beaten() -> None:
    assert Label.ranked("a", "b", "c").grades == (("a", 1.0), ("b", 0.5), ("c", 0.0))
    assert Label.ranked(["a", "b"], "c").grades == (("a", 0.75), ("b", 0.75), ("c", 0.0))
    assert Label.ranked(["a", "b"]).grades == (("a", 0.5), ("b", 0.5))
    assert Label.ranked("a", "b").losses(["b", "a", None, "c"])[:3].tolist() == [1.0, 0.0, 1.0]


def test_costs_are_divided_by_the_dearest_mistake() -> None:
    loss = Loss.of({"spam": {"ham": 8, None: 2}, "ham": {"spam": 1}})
    assert loss.losses("spam", ["spam", "ham", "other", None]).tolist() == [0.0, 1.0, 0.125, 0.25]
    assert loss.losses("ham", ["spam", "ham", None]).tolist() == [0.125, 0.0, 0.125]
    assert loss.losses(Label.any_of("spam", "ham"), ["spam", "ham", "other"]).tolist() == [0.0, 0.0, 0.125]


def test_the_mean_of_balanced_losses_is_the_balanced_error() -> None:
    labels, said = ["a"] * 6 + ["b"] * 2, ["a", "a", "a", "b", "b", "a", "a", "b"]
    loss = Loss.balanced({"a": 6, "b": 2})
    mean = np.mean([loss.losses(label, [answer])[0] for label, answer in zip(labels, said, strict=True)])
    assert mean * loss.unit == pytest.approx((2 / 6 + 1 / 2) / 2, abs=1e-5)


def test_a_loss_survives_json() -> None:
    for loss in (Loss(), Loss.weights({"a": 3}), Loss.costs({0: {1: 2, None: 1}}), Loss.balanced({"a": 1, "b": 4})):
        assert read_loss(json.loads(json.dumps(loss.to_json()))) == loss


def test_by_how_much_an_answer_may_lose_more_is_found_over_all_labels() -> None:
    classes: list[str] = ["spam", "ham", "other"]
    for loss in (
        Loss.weights({"spam": 4, "ham": 0.5}),
        Loss.costs({"spam": {"ham": 8, None: 2}, "strange": {"ham": 3, "other": 0.5}}),
        Loss.balanced({"spam": 1, "ham": 3}),
    ):
        answers = [*classes, None]
        every = [loss.losses(label, answers) for label in [*classes, "strange", "unheard of"]]
        most = np.max([losses[:, None] - losses for losses in every], axis=0)
        assert loss.reach(classes).tolist() == np.maximum(most, 0.0).tolist()
