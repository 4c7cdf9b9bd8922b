"""Free answers that arrive over time, at the terminal: they are graded, compared, or have a price for mistakes."""

import json
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from tests.campaigns.answers import collection, grade_of, said_of
from tests.campaigns.streams import check
from tests.cli.running import run
from tests.cli.test_label_kinds import cards, grade_all

STORE = ("--storage", "sqlite:///x.db")
MODELS = "ada,ben,cat,dan"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with free answers to twelve items, `free.csv`."""
    collection(12).save(tmp_path / "free.csv")
    return tmp_path


def begin(folder: Path, *options: str) -> None:
    done = run("create", "free", "--models", MODELS, *options, *STORE, folder=folder)
    assert done.returncode == 0, done.stderr


def test_a_file_of_answers_is_graded_in_a_race(folder: Path) -> None:
    begin(folder, "--ask-for", "grades", "--algorithm", "race", "--option", "tolerance=0.2")
    assert run("ask", "free", "free.csv", *STORE, folder=folder).returncode == 0
    typed = ""
    for _ in range(3):
        done = run("label", "free", "--by", "mia", *STORE, answers=f"{typed}q\n", folder=folder)
        assert done.returncode == 0, done.stderr
        shown = cards(done.stderr)
        assert not any(model in done.stderr.partition("\n")[0] for model in ("ben", "cat", "dan"))
        typed = f"{grade_all(shown[-1])}\n"
    campaign = mp.open_campaign(f"sqlite:///{folder}/x.db", "free")
    told = [one.label for one in campaign.answers() if one.label is not None]
    assert len(told) == 2
    assert all(isinstance(label, mp.Label) and label.kind == "grades" for label in told)
    assert "mean grade" in " ".join(run("best", "free", *STORE, folder=folder).stdout.split())
    check(campaign, f"sqlite:///{folder}/x.db")


def test_answers_come_as_lines_and_labels_as_documents(folder: Path) -> None:
    begin(folder, "--ask-for", "grades", "--algorithm", "label-efficient", "--option", "probability=1")
    items = collection(12)
    lines = "".join(
        json.dumps({"key": f"k{place}", "predictions": dict(zip(items.models, said, strict=True))}) + "\n"
        for place, said in enumerate([[*said_of(items, place), *said_of(items, place)][:4] for place in range(3)])
    )
    assert run("ask", "free", *STORE, answers=lines, folder=folder).returncode == 0
    label: Any = mp.Label.graded({answer: grade_of(answer) for answer in said_of(items, 0)}).to_json()
    assert run("tell", "free", "k0", json.dumps(label), *STORE, folder=folder).returncode == 0
    piped = json.dumps({"key": "k1", "label": mp.Label.all_wrong().to_json()}) + "\n"
    assert run("tell", "free", *STORE, answers=piped, folder=folder).returncode == 0
    refused = run("tell", "free", "k2", "spam", *STORE, folder=folder)
    assert refused.returncode == 1
    assert "a grade for each answer" in " ".join(refused.stderr.split())
    found = json.loads(run("best", "free", "--json", *STORE, folder=folder).stdout)
    assert (found["labels_used"], found["certificate"]["loss"]) == (2, "grades")


def test_a_preference_takes_one_key_per_item(folder: Path) -> None:
    begin(folder, "--ask-for", "preference", "--algorithm", "label-efficient", "--option", "probability=1")
    done = run("label", "free", "--items", "free.csv", *STORE, answers="1\n=\nu\n2\nq\n", folder=folder)
    assert done.returncode == 0, done.stderr
    assert all(len(two) == 2 for two in cards(done.stderr))
    assert "no model beats" in " ".join(done.stdout.split())
    campaign = mp.open_campaign(f"sqlite:///{folder}/x.db", "free")
    assert campaign.counts().labels == 2
    check(campaign, f"sqlite:///{folder}/x.db")


def test_a_loss_may_be_typed_or_in_a_file_and_is_shown(folder: Path) -> None:
    (folder / "costs.json").write_text('{"spam": {"ham": 5}}', encoding="utf-8")
    begin(folder, "--loss", "costs.json")
    shown = run("show", "free", *STORE, folder=folder).stdout
    assert "5 for answering ham where spam is right" in " ".join(shown.split())
    again = run("create", "typed", "--models", MODELS, "--loss", '{"spam": 5}', *STORE, folder=folder)
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--loss", "balanced"), 1, "mp.Loss.balanced"),
        (("--loss", "grades"), 1, "pass ask_for='grades'"),
        (("--loss", "{spam"), 2, "is not JSON"),
        (("--loss", '{"spam": 5}', "--ask-for", "grades"), 1, "a loss of its own"),
        (("--ask-for", "stars"), 2, "stars"),
        (("--price", '{"ada": 1}'), 1, "give a price for every model"),
        (("--price", '{"ada": 1, "ben": 1, "cat": 1, "dan": 1}'), 1, "only race uses prices"),
        (("--label-noise", "0.5"), 1, "below 0.5"),
        (("--label-noise", "0.1", "--stop-gap", "0"), 1, "a gap that is never closed"),
    ],
)
def test_what_makes_no_sense_makes_no_campaign(
    folder: Path, options: tuple[str, ...], code: int, words: str
) -> None:
    done = run("create", "free", "--models", MODELS, *options, *STORE, folder=folder)
    assert (done.returncode, words in " ".join(done.stderr.replace("│", " ").split())) == (code, True), done.stderr
