"""The gate: states of labels, what is asked for, every verdict, bad input; in Python and on the command line."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from tests.cli.running import run

ITEMS = 400


def rows(good: int, *, labelled: int = ITEMS, seed: int = 0) -> dict[str, list[Any]]:
    """Items on which prod is right on 320, and new on `good`; that many of them, at random, have labels."""
    random = np.random.default_rng(seed)
    label = random.choice(["a", "b"], ITEMS).tolist()
    other = {"a": "b", "b": "a"}
    right = {"prod": random.permutation(ITEMS) < 320, "new": random.permutation(ITEMS) < good}
    said = {
        name: [told if ok else other[told] for told, ok in zip(label, rights, strict=True)]
        for name, rights in right.items()
    }
    known = random.permutation(ITEMS) < labelled
    return {
        "id": [f"t{i}" for i in range(ITEMS)],
        **said,
        "label": [t if k else None for t, k in zip(label, known, strict=True)],
    }


def write(path: Path, columns: dict[str, list[Any]]) -> Path:
    lines = [",".join(columns)]
    lines += [
        ",".join("" if cell is None else str(cell) for cell in row) for row in zip(*columns.values(), strict=True)
    ]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize(
    ("good", "options", "verdict"),
    [
        (320, {}, "pass"),
        (317, {}, "pass"),
        (316, {}, "pass"),
        (315, {}, "fail"),
        (315, {"gap": 0.0125}, "pass"),
        (319, {"gap": 0.0}, "fail"),
        (320, {"gap": 0.0}, "pass"),
        (320, {"require": "better"}, "fail"),
        (321, {"require": "better"}, "pass"),
        (324, {"require": "better", "gap": 0.01}, "fail"),
        (325, {"require": "better", "gap": 0.01}, "pass"),
        (320, {"of": "population"}, "undecided"),
        (380, {"of": "population"}, "pass"),
        (380, {"of": "population", "require": "better"}, "pass"),
        (260, {"of": "population"}, "fail"),
        (260, {"of": "population", "require": "better"}, "fail"),
    ],
)
def test_with_all_labels_a_pool_is_counted_and_a_population_is_proved(
    good: int, options: dict[str, Any], verdict: str
) -> None:
    found = mp.gate(rows(good), "prod", "new", **options)
    assert found.verdict == verdict
    assert found.exit_code == {"pass": 0, "fail": 1, "undecided": 6}[verdict]
    assert (found.difference.certain, found.labels_needed) == (options.get("of") != "population", 0)
    if found.of == "pool":
        assert found.difference.low == found.difference.high == pytest.approx((good - 320) / ITEMS)
    assert (found.labels_to_go == 0) == (verdict != "undecided")


@pytest.mark.parametrize("of", ["pool", "population"])
@pytest.mark.parametrize(("good", "verdict"), [(395, "pass"), (200, "fail"), (318, "undecided")])
def test_some_labels_at_random_decide_what_is_clear(good: int, verdict: str, of: Any) -> None:
    found = mp.gate(rows(good, labelled=150), "prod", "new", 0.03, of=of)
    assert found.verdict == verdict
    assert found.difference.sentence.endswith(("chosen at random.", "random sample."))
    assert not found.difference.anytime
    assert bool(found.label_next) == (verdict == "undecided")


def test_without_labels_nothing_is_known_and_it_says_what_to_label() -> None:
    columns = rows(320, labelled=0)
    found = mp.gate(columns, "prod", "new")
    assert (found.verdict, found.labels_to_go) == ("undecided", None)
    assert len(found.label_next) == found.labels_needed == found.differing
    assert set(found.label_next) <= set(columns["id"])
    assert found.population is not None
    assert found.population.sentence == "In general, nothing is proven yet about new and prod."


def test_labels_in_the_order_that_it_names_hold_at_any_time() -> None:
    bare, known = rows(200, labelled=0), rows(200)
    told = dict(zip(known["id"], known["label"], strict=True))
    for _ in range(100):
        found = mp.gate(bare, "prod", "new", 0.05)
        if found.verdict != "undecided":
            break
        for item in found.label_next[:3]:
            bare["label"][bare["id"].index(item)] = told[item]
    assert found.verdict == "fail"
    assert found.difference.anytime
    assert found.difference.sentence.endswith("(95% confidence for each limit).")
    assert 0 < found.labels_needed < found.differing


def test_a_function_is_asked_until_it_is_decided() -> None:
    columns = rows(300)
    told = columns.pop("label")
    asked: list[int] = []

    def ask(fields: dict[str, Any]) -> Any:
        asked.append(fields["item"])
        return None if len(asked) == 3 else told[fields["item"]]

    found = mp.gate(columns, "prod", "new", 0.02, labels=ask)
    assert found.verdict == "fail"
    assert len(asked) == len(set(asked)) < found.differing
    assert mp.gate(rows(300), "prod", "new", 0.02).verdict == "fail"


def test_verdicts_on_a_pool_are_wrong_as_seldom_as_they_say() -> None:
    """All orders of 8 contested items, 4 of them labelled: a wrong verdict in 20 % at most, whatever the truth."""
    decided = 0
    for better in range(9):
        wrong, truth = 0, "pass" if 8 - 2 * better <= 4 else "fail"
        places = list(itertools.combinations(range(8), better))
        for wins in places:
            new = [float(place in wins) for place in range(8)]
            known = [place in (1, 2, 4, 7) for place in range(8)]
            scores = {
                "prod": [1.0 - one if told else None for one, told in zip(new, known, strict=True)],
                "new": [one if told else None for one, told in zip(new, known, strict=True)],
            }
            verdict = mp.gate(scores, "prod", "new", 0.5, scores=True, confidence=0.8).verdict
            wrong += verdict not in (truth, "undecided")
            decided += verdict != "undecided"
        assert wrong <= 0.2 * len(places)
    assert decided > 0


def test_labels_of_contested_items_alone_say_nothing_in_general() -> None:
    columns = rows(300)
    both = zip(columns["prod"], columns["new"], columns["label"], strict=True)
    columns["label"] = [label if a != b and i % 2 else None for i, (a, b, label) in enumerate(both)]
    assert mp.gate(columns, "prod", "new").population is None
    with pytest.raises(mp.InputError, match="they say nothing about other items"):
        mp.gate(columns, "prod", "new", of="population")


def test_other_losses_are_named_and_counted() -> None:
    found = mp.gate(rows(320), "prod", "new", 0.05, loss={"a": 5, "b": 1})
    assert found.loss == "weighted accuracy"
    assert "in weighted accuracy" in found.difference.sentence
    labels = [mp.Label.graded({"x": 0.5, "y": 1.0})] * 20
    graded = mp.gate({"prod": ["y"] * 20, "new": ["x"] * 20}, "prod", "new", 0.4, labels=labels, loss="grades")
    assert (graded.verdict, graded.difference.low) == ("fail", -0.5)
    balanced = mp.gate(rows(320), "prod", "new", 0.05, loss="balanced")
    assert balanced.difference.certain


def test_scores_are_compared_as_they_are() -> None:
    found = mp.gate({"prod": [1, 0.5, 1, 0.25], "new": [1, 0.75, 1.0, 0.5]}, "prod", "new", scores=True)
    assert found.difference.low == found.difference.high == pytest.approx(0.125)
    assert (found.challenger_wins, found.champion_wins, found.loss) == (2, 0, "grades")


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("prod", "nwe"), {}, "no column \"nwe\"|no model 'nwe'"),
        (("prod", "prod"), {}, "champion and challenger are both 'prod'"),
        (("prod", "new", -0.1), {}, "gap"),
        (("prod", "new", 1.5), {}, "gap"),
        (("prod", "new"), {"require": "best"}, "require 'best': pass not-worse or better"),
        (("prod", "new"), {"of": "world"}, "of 'world': pass pool or population"),
        (("prod", "new"), {"confidence": 1.0}, "confidence"),
        (("prod", "new"), {"scores": True}, "prod: the scores cannot be read"),
        (("prod", "new"), {"scores": True, "loss": "grades"}, "leave out labels and loss, or scores"),
        (("prod", "new"), {"loss": "macro-f1"}, "macro-F1"),
        (("prod", "new"), {"labels": len, "of": "population"}, "pass labels and not a function"),
        (("prod", "new"), {"labels": [mp.Label.any_of("a")]}, "there are 1 labels, but 400 items"),
    ],
)
def test_bad_input_names_the_value_at_fault(
    arguments: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(mp.InputError, match=message):
        mp.gate(rows(320), *arguments, **options)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"prod": [1, 2], "new": [1, 1]}, "prod, item 1: score 2 is not between 0 and 1"),
        ({"prod": [], "new": []}, "there are no items"),
        ({"prod": [1]}, 'has no column "new"'),
    ],
)
def test_scores_that_make_no_sense_are_named(scores: dict[str, list[float]], message: str) -> None:
    with pytest.raises(mp.InputError, match=message):
        mp.gate(scores, "prod", "new", scores=True)


def test_the_command_line_ends_with_the_verdict_and_writes_summaries(tmp_path: Path) -> None:
    command = ("gate", "r.csv", "--champion", "prod", "--challenger", "new")
    write(tmp_path / "r.csv", rows(320))
    done = run(*command, "--markdown", "m.md", folder=tmp_path, GITHUB_STEP_SUMMARY=str(tmp_path / "s.md"))
    assert (done.returncode, done.stdout.splitlines()[0]) == (
        0,
        "PASS: new is not worse than prod by more than 1 point on these 400 items.",
    )
    summary = (tmp_path / "m.md").read_text("utf-8")
    assert summary.startswith("### ✅ passed: new against prod\n\n| | |\n|---|---|\n")
    assert (tmp_path / "s.md").read_text("utf-8") == summary
    assert run(*command, "--require", "better", folder=tmp_path).returncode == 1
    done = run(*command, "--of", "population", "--json", folder=tmp_path)
    assert done.returncode == 6
    document = json.loads(done.stdout)
    assert (document["verdict"], document["exit_code"]) == ("undecided", 6)
    assert document["labels_to_go"] > 0
    write(tmp_path / "r.csv", rows(320, labelled=40))
    done = run(*command, folder=tmp_path)
    assert done.returncode == 6
    assert "Label these next, in this order: t" in done.stdout
    assert run("gate", "r.csv", "--champion", "prod", folder=tmp_path).returncode == 2
    assert run(*command[:-1], "nwe", folder=tmp_path).returncode == 1
    assert run("gate", "nowhere.csv", *command[2:], folder=tmp_path).returncode == 3
    assert run(*command, "--markdown", "no/m.md", folder=tmp_path).returncode == 1


def test_the_summary_cannot_be_broken_by_names() -> None:
    found = mp.gate({"a|b": [1, 1], "<img src=x>": [1, 0]}, "a|b", "<img src=x>", scores=True)
    assert "<img" not in found.markdown()
    assert "&lt;img src=x> against a\\|b" in found.markdown()
