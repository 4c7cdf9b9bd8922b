"""Losses, prices and wrong labels on the command line: pick, create, show, best and report."""

import json
import shlex
from pathlib import Path

import pytest

from modelpicker.campaigns.pick_command import pick_command
from tests.cli.campaigning import call, document

PRICES = '{"good": 3, "fair": 1, "poor": 0.5}'
WEIGHTS = '{"spam": 5}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A file with labels, and one without."""
    head, rows, bare = "id,good,fair,poor,label\n", "", ""
    for n in range(60):
        label = "spam" if n % 3 else "ham"
        other = "ham" if label == "spam" else "spam"
        said = [other if n % every == 0 else label for every in (20, 7, 2)]
        rows += f"m{n},{','.join(said)},{label}\n"
        bare += f"m{n},{','.join(said)}\n"
    (tmp_path / "items.csv").write_text(head + rows)
    (tmp_path / "bare.csv").write_text("id,good,fair,poor\n" + bare)
    (tmp_path / "loss.json").write_text(WEIGHTS)
    (tmp_path / "price.json").write_text(PRICES)
    return tmp_path


@pytest.mark.parametrize(
    ("options", "loss"),
    [
        (("--loss", WEIGHTS), "weighted accuracy"),
        (("--loss", "loss.json"), "weighted accuracy"),
        (("--loss", '{"spam": {"ham": 2}}'), "cost"),
        (("--loss", "balanced"), "balanced accuracy"),
        (("--loss", "accuracy", "--price", "price.json"), "accuracy"),
        (("--price", PRICES, "--label-noise", "0.01"), "accuracy"),
    ],
)
def test_pick_names_the_loss_and_its_result_is_reported_and_repeated(
    folder: Path, options: tuple[str, ...], loss: str
) -> None:
    goal = ("--tolerance", "0.1", *options)
    found = document(folder, "pick", "items.csv", *goal, "--out", "out.jsonl")
    assert found["certificate"]["loss"] == loss
    said = call(folder, "pick", "items.csv", *goal).stdout
    if "--price" in options:
        assert "Price: good 3, fair 1, poor 0.5 per item." in said
        assert found["saved_per_item"] is not None
    if loss != "accuracy":
        assert f"Loss: {'mean cost' if loss == 'cost' else loss}" in said
    assert call(folder, "report", "out.jsonl", "--out", "out.html").returncode == 0
    page = (folder / "out.html").read_text()
    assert ("Macro-F1 (estimated, not certified)" in page) == (loss == "accuracy")
    assert ("<td>loss</td>" in page) == (loss != "accuracy")
    again = json.loads((folder / "out.jsonl").read_text().splitlines()[0])
    assert {"loss", "price", "label_noise"} & set(again["options"])


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        (("--loss", WEIGHTS), {"Loss": "weighted accuracy (a mistake costs 5 where spam is right, 1 elsewhere)"}),
        (("--loss", "balanced", "--label-noise", "0.01"), {"Loss": "balanced accuracy"}),
        (("--label-noise", "0.02"), {"Label noise": "each label is wrong with a probability of at most 2%"}),
        (("--algorithm", "race", "--price", PRICES, "--label-noise", "0"), {"Price": "good 3, fair 1, poor 0.5"}),
    ],
)
def test_a_stream_takes_costs_and_its_result_is_reported_and_repeated(
    folder: Path, options: tuple[str, ...], facts: dict[str, str]
) -> None:
    goal = ("--as", "stream", "--tolerance", "0.2", *options)
    found = document(folder, "pick", "items.csv", *goal, "--out", "out.jsonl")
    noise = float(options[-1]) if "--label-noise" in options else 0.0
    assert found["certificate"]["label_noise"] == found["options"].get("label_noise", 0.0) == noise
    said = " ".join(call(folder, "pick", "items.csv", *goal).stdout.split())
    done = call(folder, "report", "out.jsonl", "--out", "out.html")
    assert done.returncode == 0, done.stderr
    page = (folder / "out.html").read_text()
    for name, words in facts.items():
        assert f"{name}: {words}" in said
        assert f"<td>{name.lower()}</td>" in page
    header = json.loads((folder / "out.jsonl").read_text().splitlines()[0])
    typed = shlex.split(pick_command(header, ["good", "fair", "poor"]))[1:]
    again = document(folder, *typed)
    assert [again[part] for part in ("pick", "certificate", "labels_used")] == [
        found[part] for part in ("pick", "certificate", "labels_used")
    ]


def test_a_person_labels_a_stream_with_costs_and_goes_on_without_naming_them(folder: Path) -> None:
    options = ("--as", "stream", "--loss", WEIGHTS, "--label-noise", "0.01")
    begun = document(folder, "pick", "bare.csv", *options, typed="spam\nq\n")
    on = document(folder, "pick", "bare.csv", typed="spam\nq\n")
    for found in (begun, on):
        assert (found["certificate"]["loss"], found["options"]["label_noise"]) == ("weighted accuracy", 0.01)
    assert on["labels_used"] == 2
    assert call(folder, "pick", "bare.csv", *options, typed="q\n").returncode == 0
    for other in (("--loss", "accuracy"), ("--label-noise", "0.1")):
        refused = call(folder, "pick", "bare.csv", "--as", "stream", *other, typed="q\n")
        said = " ".join(refused.stderr.split())
        assert (refused.returncode, f"Leave {other[0]} out to continue" in said) == (4, True), said


def test_the_command_that_repeats_a_pick_gives_the_same_pick(folder: Path) -> None:
    options = ("--loss", "balanced", "--price", PRICES, "--label-noise", "0.01", "--tolerance", "0.1")
    first = document(folder, "pick", "items.csv", *options, "--out", "out.jsonl")
    header = json.loads((folder / "out.jsonl").read_text().splitlines()[0])
    words = shlex.split(pick_command(header, ["good", "fair", "poor"]))[1:]
    again = document(folder, *words)
    assert {**again, "out": None} == {**first, "out": None}


def test_a_journal_keeps_its_costs_and_refuses_others(folder: Path) -> None:
    options = ("--loss", WEIGHTS, "--price", PRICES, "--label-noise", "0.01")
    begun = call(folder, "pick", "bare.csv", *options, "--tolerance", "0", typed="spam\nspam\nq\n")
    assert begun.returncode == 0, begun.stderr
    header = json.loads((folder / "bare.pool.jsonl").read_text().splitlines()[0])
    assert (header["loss"]["name"], header["price"]["fair"], header["label_noise"]) == (
        "weighted accuracy",
        1.0,
        0.01,
    )
    on = document(folder, "pick", "bare.csv", typed="ham\nq\n")
    assert (on["labels_used"], on["certificate"]["loss"]) == (3, "weighted accuracy")
    assert on["options"]["price"] == json.loads(PRICES)
    same = call(folder, "pick", "bare.csv", *options, typed="q\n")
    assert same.returncode == 0, same.stderr
    for other in (
        ("--loss", "accuracy"),
        ("--price", '{"good": 1, "fair": 1, "poor": 1}'),
        ("--label-noise", "0.1"),
    ):
        refused = call(folder, "pick", "bare.csv", *other, typed="q\n")
        assert (refused.returncode, f"Leave {other[0]} out to continue" in " ".join(refused.stderr.split())) == (
            4,
            True,
        )
    assert call(folder, "report", "bare.pool.jsonl", "--out", "bare.html").returncode == 0
    page = (folder / "bare.html").read_text()
    assert "weighted accuracy (a mistake costs 5 where spam is right" in page
    assert "Macro-F1" not in page


def test_a_campaign_is_created_shown_and_reported_with_its_costs(folder: Path) -> None:
    made = call(
        folder, "create", "t", "--pool", "items.csv", "--loss", "balanced", "--price", "price.json",
        "--label-noise", "0.02", "--use-labels", "--tolerance", "0.1",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert "Loss: balanced accuracy" in made.stderr
    shown = call(folder, "show", "t").stdout
    assert "loss        balanced accuracy (a mistake costs" in shown
    assert "price       good 3, fair 1, poor 0.5 per item" in shown
    assert "label noise each label is wrong with a probability of at most 2%" in shown
    assert "balanced accuracy" in call(folder, "best", "t").stdout
    assert set(document(folder, "show", "t")["options"]) == {
        "tolerance", "confidence", "loss", "price", "label_noise",
    }  # fmt: skip
    plain = call(folder, "create", "plain", "--pool", "items.csv", "--use-labels")
    assert plain.returncode == 0
    for name, there in (("t", False), ("plain", True)):
        assert call(folder, "report", name, "--out", f"{name}.html").returncode == 0
        assert ("Macro-F1 (estimated, not certified)" in (folder / f"{name}.html").read_text()) == there


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--loss", "macro-f1"), 1, "estimated, and cannot be certified"),
        (("--loss", '{"spam": '), 2, "is not JSON"),
        (("--loss", "none.json"), 2, "cannot be read"),
        (("--loss", '{"spam": -1}'), 1, "must be a number from 0"),
        (("--price", "3"), 2, "pass something like"),
        (("--price", '{"good": 1}'), 1, "give a price for every model"),
        (("--label-noise", "0.7"), 2, "less than or equal to 0.5"),
        (("--label-noise", "0.5"), 1, "below 0.5"),
        (("--price", PRICES, "--as", "stream"), 1, "only race uses prices"),
        (("--label-noise", "0.6", "--as", "stream"), 2, "less than or equal to 0.5"),
    ],
)
def test_costs_that_make_no_sense_are_refused(
    folder: Path, options: tuple[str, ...], code: int, words: str
) -> None:
    done = call(folder, "pick", "items.csv", *options)
    assert (done.returncode, words in " ".join(done.stderr.replace("│", "").split())) == (code, True), done.stderr


def test_balanced_accuracy_without_labels_says_what_is_missing(folder: Path) -> None:
    done = call(folder, "pick", "bare.csv", "--loss", "balanced", typed="q\n")
    assert (done.returncode, "has a label" in " ".join(done.stderr.split())) == (1, True)
    assert not (folder / "bare.pool.jsonl").exists()
