"""`revise`, `rename` and `delete` on the command line."""

from pathlib import Path

import pytest

from tests.cli.campaigning import EVERY, begin, call, document, lines, three_items


@pytest.fixture
def tickets(tmp_path: Path) -> Path:
    return three_items(tmp_path)


def test_budget_goal_pause_and_archive_change_and_show_says_so(tickets: Path) -> None:
    told = document(tickets, "revise", "tickets", "--budget", "7", "--stop-gap", "0.2", "--pause", "--by", "mia")
    assert told["revised"] == ["budget", "paused", "stop_when"]
    assert (told["budget"], told["state"]["name"]) == (7, "paused")
    shown = call(tickets, "show", "tickets").stdout
    assert "7 labels" in shown
    assert "Paused" in shown
    refused = call(tickets, "ask", "tickets", typed='{"bert": "spam", "roberta": "ham"}\n')
    assert refused.returncode == 4
    assert "paused" in refused.stderr
    document(tickets, "revise", "tickets", "--resume", "--no-budget", "--no-goal")
    found = document(tickets, "show", "tickets")
    assert (found["budget"], found["stop_when"], found["paused"]) == (None, None, False)
    assert document(tickets, "revise", "tickets", "--archive")["state"]["name"] == "archived"
    assert call(tickets, "tell", "tickets", "0", "spam").returncode == 4
    assert document(tickets, "revise", "tickets", "--bring-back")["state"]["name"] == "waiting-for-labels"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ((), 2),
        (("--budget", "3", "--no-budget"), 2),
        (("--stop-gap", "0.1", "--no-goal"), 2),
        (("--budget", "-1"), 2),
        (("--stop-gap", "7"), 2),
        (("--budget", "1"), 4),  # two are asked for
    ],
)
def test_what_makes_no_sense_is_refused(tickets: Path, given: tuple[str, ...], code: int) -> None:
    assert call(tickets, "revise", "tickets", *given).returncode == code


def test_a_campaign_is_renamed_and_deleted_once_its_name_is_typed(tickets: Path) -> None:
    assert document(tickets, "rename", "tickets", "mail")["campaign"] == "mail"
    assert call(tickets, "show", "tickets").returncode == 3
    wrong = call(tickets, "delete", "mail", typed="tickets\n")
    assert wrong.returncode == 2
    assert "3 items and 0 labels" in wrong.stderr
    assert document(tickets, "show", "mail")["rounds"] == 3
    assert call(tickets, "delete", "mail", typed="mail\n").returncode == 0
    assert call(tickets, "show", "mail").returncode == 3
    three_items(tickets)
    assert document(tickets, "delete", "tickets", "--yes") == {"deleted": "tickets"}
    assert document(tickets, "list")["campaigns"] == []


def test_guidelines_are_text_or_a_file_from_the_start_and_later(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("Spam is what nobody asked for.\n")
    made = document(tmp_path, "create", "told", "--models", "2", "--guidelines", "rules.md")
    assert made["guidelines"] == "Spam is what nobody asked for."
    document(tmp_path, "revise", "told", "--guidelines", "Be kind.")
    assert document(tmp_path, "show", "told")["guidelines"] == "Be kind."
    assert call(tmp_path, "revise", "told", "--guidelines", "x" * 10_001).returncode == 1


def test_finishing_withdraws_what_waits_and_going_on_brings_it_back(tmp_path: Path) -> None:
    document(tmp_path, "create", "done", "--models", "2", *EVERY)
    call(tmp_path, "ask", "done", typed=lines(["a", "b"], ["b", "a"]))
    assert document(tmp_path, "revise", "done", "--finished")["pending"] == 0
    assert document(tmp_path, "show", "done")["pending"] == 0
    assert document(tmp_path, "revise", "done", "--no-finished")["pending"] == 2


def test_what_was_so_already_is_not_called_a_change(tmp_path: Path) -> None:
    begin(tmp_path)
    done = call(tmp_path, "revise", "tickets", "--no-finished")
    assert done.stdout.startswith("Nothing changed: the settings were like this already. ")
    assert document(tmp_path, "revise", "tickets", "--no-finished", "--pause")["revised"] == ["paused"]
