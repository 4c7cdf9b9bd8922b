"""What counts as the same answer: exact, normalised, a number within a tolerance, or a function of the user's."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.collections.same_answers import SameAnswers, merge_answers


def rows(collection: mp.ModelCollection) -> list[list[int | str | None]]:
    """The answers of a collection by name."""
    names = [*collection.classes, None]
    return [[names[code] for code in row] for row in collection.predictions.tolist()]


def told(collection: mp.ModelCollection) -> list[int | str | None]:
    """The labels of a collection by name."""
    names = [*collection.classes, None]
    assert collection.labels is not None
    return [names[code] for code in collection.labels.tolist()]


def test_exact_answers_stay_as_they_are() -> None:
    collection = mp.ModelCollection([["Paris", "paris"]])
    assert merge_answers(collection) is collection


def test_the_most_frequent_spelling_stands_for_its_group_and_of_equals_that_of_the_first_model() -> None:
    collection = mp.ModelCollection(
        [
            ["paris.", "Paris", "Paris", "Lyon", None],
            ["  LYON", "lyon", None, "Paris", "“Paris”"],
            ["a", "b", "c", "d", "e"],
        ]
    )
    assert rows(merge_answers(collection, "normalised")) == [
        ["Paris", "Paris", "Paris", "Lyon", None],
        ["  LYON", "  LYON", None, "Paris", "Paris"],
        ["a", "b", "c", "d", "e"],
    ]


def test_answers_of_nothing_but_punctuation_are_not_all_the_same() -> None:
    assert rows(merge_answers(mp.ModelCollection([["...", "!!!", "..."]]), "normalised")) == [["...", "!!!", "..."]]


def test_numbers_within_the_tolerance_of_the_smallest_are_the_same_and_text_is_normalised() -> None:
    collection = mp.ModelCollection(
        [["1.00", "1.01", "1.02", "1.03"], ["5", "5.0", "five", "Five."], ["1e3", "1000.004", "nan", "inf"]]
    )
    assert rows(merge_answers(collection, 0.01)) == [
        ["1.00", "1.00", "1.02", "1.02"],
        ["5", "5", "five", "five"],
        ["1e3", "1e3", "nan", "inf"],
    ]


def test_whole_numbers_are_compared_as_numbers() -> None:
    collection = mp.ModelCollection([[10, 11, 20]])
    assert rows(merge_answers(collection, 1)) == [[10, 10, 20]]


def test_a_function_is_asked_about_two_answers_of_one_item_and_the_first_match_wins() -> None:
    asked: list[tuple[str, str]] = []

    def same(one: str, other: str) -> bool:
        asked.append((one, other))
        return one[0] == other[0]

    collection = mp.ModelCollection([["ab", "ac", "b", "ad"], ["x", "x", "x", "x"]])
    assert rows(merge_answers(collection, same)) == [["ab", "ab", "b", "ab"], ["x"] * 4]
    assert asked == [("ab", "ac"), ("ab", "b"), ("ab", "ad")]


def test_labels_go_through_the_same_rule() -> None:
    collection = mp.ModelCollection([["Paris", "Lyon"], ["Rome", "Oslo"]], labels=["PARIS!", "Oslo"])
    assert told(merge_answers(collection, "normalised")) == ["Paris", "Oslo"]
    numbers = mp.ModelCollection([["1.5", "2.5"], ["1", "2"]], labels=["2.503", "2"])
    assert told(merge_answers(numbers, 0.01)) == ["2.5", "2"]


@pytest.mark.parametrize("same", ["fuzzy", -1, float("nan"), float("inf"), True, [], {}])
def test_a_rule_that_makes_no_sense_is_refused(same: Any) -> None:
    with pytest.raises(mp.InputError, match="same="):
        merge_answers(mp.ModelCollection([["a", "b"]]), same)


def test_a_function_that_gives_no_truth_value_is_refused() -> None:
    with pytest.raises(mp.InputError, match="True or False"):
        merge_answers(mp.ModelCollection([["a", "b"]]), lambda one, other: "maybe")  # type: ignore[arg-type, return-value]


def test_fast_groups_agree_with_a_plain_loop_on_random_answers() -> None:
    generator = np.random.default_rng(5)
    for tolerance in (0.0, 0.25, 1.0):
        values = [
            [f"{number / 4:g}" for number in row] for row in generator.integers(0, 12, size=(200, 6)).tolist()
        ]
        expected = []
        for row in values:
            group, first = {}, None
            for value in sorted(map(float, row)):
                first = value if first is None or value > first + tolerance else first
                group[value] = first
            best = {
                key: max(
                    (name for name in row if group[float(name)] == key),
                    key=lambda name: (row.count(name), -row.index(name)),
                )
                for key in group.values()
            }
            expected.append([best[group[float(name)]] for name in row])
        assert rows(merge_answers(mp.ModelCollection(values), tolerance)) == expected


def test_a_label_that_is_near_two_answers_is_the_nearest() -> None:
    assert SameAnswers(1.0).find("1.6", ["1", "2"]) == "2"
    assert SameAnswers(1.0).find("9", ["1", "2"]) == "9"


def test_a_label_that_a_model_said_is_right_for_that_model_though_another_group_is_nearer() -> None:
    rows = [["1.000", "1.008", "1.011"]] * 3
    found = mp.merge_answers(mp.ModelCollection(rows, ["1.008", "1.011", "1.006"]), 0.01)
    assert [found.classes[code] for code in found.labels.tolist()] == ["1.000", "1.011", "1.000"]  # type: ignore[union-attr]
    assert (found.predictions[:, 0] == found.predictions[:, 1]).all()


def test_a_file_of_numbers_is_read_with_a_tolerance(tmp_path: Path) -> None:
    file = tmp_path / "sums.csv"
    file.write_text("id,a,b,label\n1,3.14,3.141,3.1415\n2,2.5,2.6,2.5\n3,1,1.0,2\n")
    collection = mp.load_collection(file, same=0.01)
    assert rows(collection) == [["3.14", "3.14"], ["2.5", "2.6"], ["1", "1"]]
    assert told(collection) == ["3.14", "2.5", "2"]


def test_pick_counts_answers_that_are_the_same_as_right(tmp_path: Path) -> None:
    file = tmp_path / "capitals.csv"
    lines = [f"{place},Paris.,Lyon,paris" if place % 2 else f"{place},PARIS,Paris,paris" for place in range(40)]
    file.write_text("\n".join(["id,good,bad,label", *lines]))
    found = mp.pick(file, same="normalised", tolerance=0.0)
    assert (found.model, found.certificate.gap) == ("good", 0.0)
    answers = mp.load_collection(file, ignore=["label"])
    assert mp.pick(answers, ["paris"] * 40, same="normalised", tolerance=0.0).model == "good"
    assert mp.pick(answers, dict.fromkeys(range(40), "paris"), same="normalised", tolerance=0.0).model == "good"
    assert mp.pick(answers, lambda item: "paris", same="normalised", tolerance=0.0).model == "good"
