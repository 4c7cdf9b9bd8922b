"""A pick in every state, continued by every road: `pick` itself, `label`, a server, and a program.

Whoever answers, the rounds and the pick are those of `mp.pick` with the same labels, and no road is a dead end.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from tests.cli.running import run
from tests.server.servers import serving


def write_twenty(folder: Path) -> str:
    """Twenty rows of models that are often wrong, so that there is much to ask."""
    made = mp.synthetic_collection(20, ["a", "b", "c"], ["cat", "dog", "emu"], [0.3, 0.4, 0.5], seed=SEED)
    names = [[made.classes[code] for code in row] for row in made.predictions]
    labels = [made.classes[code] for code in np.asarray(made.labels)]
    lines = [f"item-{n},{','.join(map(str, row))},{labels[n]}\n" for n, row in enumerate(names)]
    (folder / "twenty.csv").write_text(f"id,a,b,c,label\n{''.join(lines)}")
    return "twenty.csv"


def write_agreeing(folder: Path) -> str:
    """Models that agree on every item but the last, about which nobody need be asked yet."""
    (folder / "agreeing.csv").write_text("a,b,label\n" + "cat,cat,cat\n" * 9 + "cat,,cat\n")
    return "agreeing.csv"


SEED = 3
SOURCES: dict[str, Callable[[Path], str]] = {"twenty": write_twenty, "digits": lambda _: "digits"}
# How each state comes about: what is typed at the command line, and how many answers are given.
STATES: dict[str, tuple[dict[str, Any], int | None]] = {
    "fresh": ({}, 0),
    "interrupted": ({}, 3),
    "with a budget": ({"budget": 5}, 3),
    "budget-spent": ({"budget": 5}, None),
    "certified": ({"tolerance": 0.6}, None),
    "won": ({"algorithm": "race", "tolerance": 0.4}, None),
    "all-items-asked": ({}, None),
}
OVER = ("budget-spent", "certified", "won", "all-items-asked")


class Sitting:
    """A file, what is asked about it, and the true answers in order."""

    def __init__(self, folder: Path, source: str, goal: dict[str, Any]) -> None:
        self.folder, self.source, self.goal = folder, source, goal
        path = folder / source if (folder / source).exists() else source
        whole = mp.load_collection(path)
        self.name = Path(source).stem
        self.labels = [whole.classes[code] for code in np.asarray(whole.labels)]
        self.asked: list[int] = []
        self.expected = mp.pick(path, self._note, setting="stream", **goal)

    def _note(self, item: dict[str, Any]) -> Any:
        self.asked.append(item["item"])
        return self.labels[item["item"]]

    def typed(self, first: int = 0, last: int | None = None) -> str:
        return "".join(f"{self.labels[place]}\n" for place in self.asked[first:last])

    def pick(self, typed: str) -> dict[str, Any]:
        options = {"budget": "--budget", "tolerance": "--stop-gap", "algorithm": "--algorithm"}
        more = [text for name, value in self.goal.items() for text in (options[name], str(value))]
        done = run(
            "pick", self.source, "--as", "stream", "--ask", *more, "--json", answers=typed, folder=self.folder
        )
        assert done.returncode == 0, done.stderr
        result: dict[str, Any] = json.loads(done.stdout)
        return result

    @property
    def storage(self) -> str:
        return f"sqlite:///{self.folder}/{self.name}.pick.db"

    def check_finished(self) -> None:
        """The campaign is where the library gets to with the same labels."""
        with mp.open_campaign(self.storage, self.name) as campaign:
            found = campaign.best()
        assert (found.rounds, found.labels_used) == (self.expected.rounds, self.expected.labels_used)
        assert (found.model, found.standing) == (self.expected.model, self.expected.standing)
        assert (found.certificate, found.state) == (self.expected.certificate, self.expected.state)


def by_pick(sitting: Sitting, given: int) -> None:
    sitting.pick(sitting.typed(given))


def by_label(sitting: Sitting, given: int) -> None:
    done = run(
        "label", sitting.name, "--storage", sitting.storage, answers=sitting.typed(given), folder=sitting.folder
    )
    assert done.returncode == 0, done.stderr


def by_label_without_the_file(sitting: Sitting, given: int) -> None:
    """Only what waits can be answered; then it is said what continues."""
    path, away = sitting.folder / sitting.source, sitting.folder / "away"
    if not path.exists():  # a collection that ships is never away
        by_label(sitting, given)
        return
    path.rename(away)
    waits = given < len(sitting.asked)
    typed = sitting.typed(given)
    done = run("label", sitting.name, "--storage", sitting.storage, answers=typed, folder=sitting.folder)
    away.rename(path)
    assert done.returncode == 0
    assert f"Its file cannot be continued here: {sitting.source} does not exist." in done.stderr
    if waits:
        assert f"Continue with: modelpicker pick {sitting.source} --as stream" in " ".join(done.stdout.split())
    sitting.pick(sitting.typed(given + waits))


def by_server(sitting: Sitting, given: int) -> None:
    """Somebody answers on the page, which the API serves; `pick` feeds on."""
    waits = given < len(sitting.asked)
    with serving(sitting.storage) as server:
        campaign = server.client().campaign(sitting.name)
        answer_what_waits(campaign, sitting)
        state = campaign.best().state
        if waits and sitting.expected.labels_used > given + 1:
            assert state.next == f"Continue with: modelpicker pick {sitting.source} --as stream"
    sitting.pick(sitting.typed(given + waits))


def by_program(sitting: Sitting, given: int) -> None:
    with mp.open_campaign(sitting.storage, sitting.name) as campaign:
        answer_what_waits(campaign, sitting)
    sitting.pick(sitting.typed(given + (given < len(sitting.asked))))


def answer_what_waits(campaign: Any, sitting: Sitting) -> None:
    for query in campaign.pending():
        campaign.tell(query.id, sitting.labels[int(query.key.removeprefix("row-")) - 1], annotator="else")


ROADS = {
    "pick": by_pick,
    "label": by_label,
    "label without the file": by_label_without_the_file,
    "server": by_server,
    "program": by_program,
}


# On the small file every state and every road; on the large one each of them once. Those that play the large one
# to its end take long: the quick tests do so once.
LONG = ("fresh", "all-items-asked")
TABLE = [
    pytest.param(state, road, size, marks=[pytest.mark.slow] if size == "digits" and state in LONG else [])
    for state in STATES
    for road in ROADS
    for size in SOURCES
    if size == "twenty" or road == "pick" or state == "with a budget"
]


@pytest.mark.parametrize(("state", "road", "size"), TABLE)
def test_every_state_goes_on_by_every_road(tmp_path: Path, state: str, road: str, size: str) -> None:
    goal, answers = STATES[state]
    sitting = Sitting(tmp_path, SOURCES[size](tmp_path), goal)
    first = sitting.pick(sitting.typed(0, answers))
    given = first["labels_used"]
    if state in OVER:
        assert first["state"]["name"] == sitting.expected.state.name
        assert first["stopped"] != "quit"
        sitting.check_finished()
    else:
        assert (first["stopped"], first["pending"], given) == ("quit", 1, answers)
    ROADS[road](sitting, given)
    sitting.check_finished()
    again = sitting.pick("cat\n0\n")  # after the end nothing is asked
    assert again["labels_used"] == sitting.expected.labels_used
    sitting.check_finished()


def test_the_states_are_those_that_they_are_called(tmp_path: Path) -> None:
    for state in OVER:
        sitting = Sitting(tmp_path, "digits", STATES[state][0])
        assert sitting.expected.state.name == state


def test_where_models_agree_nothing_is_asked_and_that_is_said(tmp_path: Path) -> None:
    source = write_agreeing(tmp_path)
    sitting = Sitting(tmp_path, source, {})
    assert sitting.asked == []  # the coins of this seed do not ask about the last item either
    told = sitting.pick("cat\n")
    assert (told["pick"], told["labels_used"], told["stopped"]) == (None, 0, "end")
    assert told["state"]["name"] == "all-items-asked"
    said = run("label", "agreeing", "--storage", sitting.storage, folder=tmp_path)
    assert (said.returncode, "All items asked: " in said.stdout) == (0, True)


def test_label_goes_on_where_pick_was_left_and_pick_where_label_was(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, write_twenty(tmp_path), {})
    assert len(sitting.asked) > 4
    sitting.pick(sitting.typed(0, 1))
    place = ("twenty", "--storage", sitting.storage)
    said = run("label", *place, answers=f"u\n{sitting.typed(0, 2)}q\n", folder=tmp_path)  # takes back pick's answer
    assert said.returncode == 0
    assert "twenty · item " in said.stderr
    sitting.pick(sitting.typed(2))
    with mp.open_campaign(sitting.storage, "twenty") as campaign:
        assert campaign.best().labels_used >= 3
        told = {record["id"]: record["label"] for record in campaign.history() if record["kind"] == "label"}
    assert all(label == sitting.labels[number] for number, label in told.items())


def test_a_person_on_the_page_and_one_at_the_terminal_are_not_asked_about_the_same_item(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, "digits", {})
    sitting.pick("")
    with serving(sitting.storage) as server:
        (query,) = server.client().campaign("digits").pending(1, lease=60, annotator="page")
        said = run("pick", "digits", "--as", "stream", answers="1\nq\n", folder=tmp_path)
    assert f"item {query.id + 1} of" not in said.stderr
    assert "1 label" in said.stdout


def test_show_names_the_file_and_what_goes_on(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, write_twenty(tmp_path), {"budget": 8})
    sitting.pick(sitting.typed(0, 2))
    shown = run("show", "twenty", "--storage", sitting.storage, folder=tmp_path).stdout
    assert "seen of twenty.csv; to continue: modelpicker pick twenty.csv --as stream" in shown
    assert "budget      8 labels, as a cap\n" in shown
    document = json.loads(run("show", "twenty", "--storage", sitting.storage, "--json", folder=tmp_path).stdout)
    assert document["budget_way"] == "cap"
    assert document["source"]["file"] == "twenty.csv"


def test_pick_of_the_current_folder(tmp_path: Path) -> None:
    folder = tmp_path / "votes"
    folder.mkdir()
    np.save(folder / "predictions.npy", np.array([[0, 1], [1, 0], [0, 1]]))
    np.save(folder / "oracle.npy", np.array([0, 0, 0]))
    done = run("pick", ".", "--as", "stream", folder=folder)
    assert done.returncode == 0, done.stderr
    (folder / "oracle.npy").unlink()
    asked = run("pick", ".", "--as", "stream", answers="q\n", folder=folder)
    assert asked.returncode == 0, asked.stderr
    assert (tmp_path / "votes.pick.db").exists()


def test_an_empty_file_that_a_crash_left_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("text,a,b\none,cat,dog\ntwo,dog,cat\n")
    (tmp_path / "x.pick.db").touch()
    done = run("pick", "x.csv", "--as", "stream", "--models", "a,b", answers="1\n1\n", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.pick.db").stat().st_size > 0


def test_beginning_again_is_never_a_dead_end(tmp_path: Path) -> None:
    rows = "".join(f"text {i},{'cat,dog' if i % 2 else 'dog,cat'}\n" for i in range(30))
    (tmp_path / "x.csv").write_text(f"text,a,b\n{rows}")
    ask = ("pick", "x.csv", "--as", "stream", "--models", "a,b", "--option", "query_scale=1e6")
    assert run(*ask, "--budget", "2", answers="1\n" * 2, folder=tmp_path).returncode == 0
    for budget in ("3", "4"):
        refused = run(*ask, "--budget", budget, folder=tmp_path)
        assert refused.returncode == 4
        more = re.findall(r"add (--labels \S+ --out \S+)\.", " ".join(refused.stderr.split()))
        done = run(*ask, "--budget", budget, *more[0].split(), answers="1\n" * 2, folder=tmp_path)
        assert done.returncode == 0, done.stderr


def test_a_closed_standard_input_is_the_end_of_the_input(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("text,a,b\none,cat,dog\ntwo,dog,cat\n")
    command = f"exec {sys.executable} -m modelpicker pick x.csv --models a,b --json <&-"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout)
