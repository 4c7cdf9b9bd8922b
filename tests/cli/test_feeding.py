"""Files are fed to a stream as labels come: while somebody labels here, or somewhere else."""

import json
import re
import signal
from pathlib import Path

import pytest

import modelpicker as mp
from tests.campaigns.pools import collection, truth
from tests.cli.campaigning import EVERY, call, document, lines
from tests.cli.running import listen_for, start_session

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
    done = call(tmp_path, "label", "tickets", "--items", "items.csv", typed="".join(f"{one}\n" for one in typed))
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


@pytest.mark.parametrize("name", ["items.csv", pytest.param("items.jsonl", marks=pytest.mark.slow)])
def test_asking_waits_for_labels_and_goes_on_by_itself(tmp_path: Path, name: str) -> None:
    campaign = begin(tmp_path, *EVERY)
    if name.endswith("jsonl"):
        items = collection(ITEMS)
        rows = [[None if c < 0 else items.classes[c] for c in row] for row in items.predictions.tolist()]
        (tmp_path / name).write_text(lines(*(dict(zip(MODELS.split(","), row, strict=True)) for row in rows)))
    with start_session(tmp_path, "ask", "tickets", name) as process:
        said = listen_for(process, "--all-at-once does not wait")
        assert "1 item waits for a label. The next items are decided when it is there." in said
        assert "label tickets --items" in said
        first = campaign.rounds
        assert 0 < first < ITEMS
        while process.poll() is None:
            for query in campaign.waiting():
                campaign.tell(query.id, "ham")
        assert process.wait(60) == 0
    assert campaign.rounds == ITEMS


@pytest.mark.slow
def test_an_interrupted_file_goes_on_without_keys_too(tmp_path: Path) -> None:
    campaign = begin(tmp_path, *EVERY)
    mp.ModelCollection([["ham", "spam", "ham", "egg"]] * 4, models=MODELS.split(",")).save(tmp_path / "bare.csv")
    for labels in range(3):
        with start_session(tmp_path, "ask", "tickets", "bare.csv") as process:
            listen_for(process, "waits for a label")
            assert campaign.rounds == labels + 1
            process.send_signal(signal.SIGINT)
            assert "Stopped. Everything that was decided is saved." in listen_for(process, "saved")
            assert process.wait(60) == 130
        campaign.tell(labels, "ham")
    (tmp_path / "bare.csv").write_text((tmp_path / "bare.csv").read_text() + "egg,ham,ham,ham\n")
    made = document(tmp_path, "ask", "tickets", "bare.csv", "--all-at-once")
    assert made["new"] == 5, "another content is another file"


def test_a_wrong_line_is_named_and_those_before_it_are_decided(tmp_path: Path) -> None:
    campaign = begin(tmp_path, "--classes", "ham,spam")
    agreed = dict.fromkeys(MODELS.split(","), "ham")
    (tmp_path / "x.jsonl").write_text(lines(agreed, agreed, {**agreed, "ant": "jam"}, agreed))
    done = call(tmp_path, "ask", "tickets", "x.jsonl")
    assert done.returncode == 1
    assert "line 3: " in done.stderr
    assert [json.loads(line)["query"] for line in done.stdout.splitlines()] == [False, False]
    assert campaign.rounds == 2


def test_items_that_need_no_label_are_decided_without_waiting(tmp_path: Path) -> None:
    campaign = begin(tmp_path, "--budget", "1", *EVERY)
    query = campaign.ask(["ham", "spam", "egg", "ham"])
    campaign.tell(query.id, "ham")
    done = document(tmp_path, "ask", "tickets", "items.csv")
    assert (done["new"], done["pending"]) == (ITEMS, 0)
    assert not any(one["query"] for one in done["decisions"])


def test_options_of_files_and_pools_are_refused_where_they_mean_nothing(tmp_path: Path) -> None:
    begin(tmp_path)
    for arguments in (("--all-at-once",), ("--id", "x"), ("items.csv", "--use-labels"), ("x.jsonl", "--id", "y")):
        done = call(tmp_path, "ask", "tickets", *arguments)
        assert done.returncode == 2, done.stderr
