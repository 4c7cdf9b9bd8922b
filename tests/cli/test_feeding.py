"""The items of a file are kept for a stream, and asked about as labels come."""

import re
from pathlib import Path

import pytest

import modelpicker as mp
from tests.campaigns.pools import collection, truth
from tests.cli.campaigning import EVERY, call, document, lines

ITEMS = 30
MODELS = "ant,bee,cat,dog"


def begin(folder: Path, *more: str, name: str = "items.csv") -> mp.Campaign:
    """A stream, and a file of items for it."""
    collection(ITEMS).save(folder / name)
    assert call(folder, "create", "tickets", "--models", MODELS, *more).returncode == 0
    return mp.open_campaign(f"sqlite:///{folder}/modelpicker.db", "tickets")


def answers(folder: Path) -> list[str]:
    """What a person types: the questions are those of a campaign that asks about one item after the other."""
    items, said = collection(ITEMS), []
    with mp.create_campaign(f"sqlite:///{folder}/same.db", "same", models=MODELS.split(",")) as same:
        for place in range(ITEMS):
            row = [None if code < 0 else items.classes[code] for code in items.predictions[place].tolist()]
            decision = same.ask(row)
            if decision.query:
                said.append(truth(items, place))
                same.tell(decision.id, said[-1])
    return said


def test_labelling_a_file_asks_as_if_items_came_one_by_one(tmp_path: Path) -> None:
    campaign, typed = begin(tmp_path), answers(tmp_path)
    done = call(tmp_path, "label", "tickets", "--items", "items.csv", typed="".join(f"+{one}\n" for one in typed))
    assert done.returncode == 0, done.stderr
    assert campaign.rounds == ITEMS
    assert [one.label for one in campaign.answers()] == typed
    assert campaign.counts().waiting == 0
    (tmp_path / "other").mkdir()
    other = begin(tmp_path / "other")
    document(tmp_path / "other", "ask", "tickets", "items.csv", "--all-at-once")
    assert other.counts().waiting > len(typed), "without labels, more is asked"


def test_the_same_command_goes_on_where_it_stopped(tmp_path: Path) -> None:
    campaign = begin(tmp_path, *EVERY)
    shown = []
    for typed in ("ham\nq\n", "ham\nham\nq\n"):
        done = call(tmp_path, "label", "tickets", "--items", "items.csv", typed=typed)
        shown += re.findall(r"text: text (\d+)", done.stderr)
    assert len(shown) == 5
    assert shown[1] == shown[2]
    assert campaign.counts().labels == 3


@pytest.mark.parametrize("name", ["items.csv", "items.jsonl"])
def test_asking_keeps_the_items_and_labelling_goes_through_them(tmp_path: Path, name: str) -> None:
    campaign = begin(tmp_path, *EVERY)
    if name.endswith("jsonl"):
        items = collection(ITEMS)
        rows = [[None if c < 0 else items.classes[c] for c in row] for row in items.predictions.tolist()]
        (tmp_path / name).write_text(lines(*(dict(zip(MODELS.split(","), row, strict=True)) for row in rows)))
    done = call(tmp_path, "ask", "tickets", name)
    assert f"{ITEMS} items of {name} have not been asked about yet." in done.stderr
    assert "label tickets" in done.stderr
    assert campaign.waiting_items() == {name: ITEMS}
    again = document(tmp_path, "ask", "tickets", name)
    assert (again["new"], again["known"], again["waiting"]) == (0, ITEMS, {name: ITEMS})
    assert call(tmp_path, "label", "tickets", typed="ham\n" * ITEMS).returncode == 0
    assert (campaign.rounds, campaign.waiting_items()) == (ITEMS, {})


def test_a_paused_stream_says_so_at_once_and_what_to_do(tmp_path: Path) -> None:
    begin(tmp_path)
    assert call(tmp_path, "revise", "tickets", "--pause").returncode == 0
    for arguments in (("ask", "tickets", "items.csv"), ("label", "tickets", "--items", "items.csv")):
        done = call(tmp_path, *arguments)
        assert done.returncode == 4, done.stderr
        assert "the campaign is paused" in done.stderr
        assert "--resume" in done.stderr


def test_a_wrong_line_is_named(tmp_path: Path) -> None:
    campaign = begin(tmp_path, "--classes", "ham,spam")
    agreed = dict.fromkeys(MODELS.split(","), "ham")
    (tmp_path / "x.jsonl").write_text(lines(agreed, agreed, {**agreed, "ant": "jam"}, agreed))
    done = call(tmp_path, "ask", "tickets", "x.jsonl")
    assert done.returncode == 1
    assert "x.jsonl, row 3: " in done.stderr
    (tmp_path / "y.jsonl").write_text(lines(agreed) + "no JSON\n")
    done = call(tmp_path, "ask", "tickets", "y.jsonl")
    assert "line 2 is not JSON" in done.stderr
    assert campaign.waiting_items() == {"y.jsonl": 1}


def test_options_of_files_and_pools_are_refused_where_they_mean_nothing(tmp_path: Path) -> None:
    begin(tmp_path)
    for arguments in (("--all-at-once",), ("--id", "x"), ("items.csv", "--use-labels"), ("x.jsonl", "--id", "y")):
        done = call(tmp_path, "ask", "tickets", *arguments)
        assert done.returncode == 2, done.stderr
