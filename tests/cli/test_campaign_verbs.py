"""Campaigns on the command line: made, described and changed; failures and their exit codes."""

import json
from pathlib import Path

import pytest

from tests.cli.campaigning import DIVIDED, EVERY, begin, call, document, lines, three_items


@pytest.fixture
def tickets(tmp_path: Path) -> Path:
    return three_items(tmp_path)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return three_items(tmp_path_factory.mktemp("untouched"))


def test_a_campaign_from_its_creation_to_its_copy(tmp_path: Path) -> None:
    made = call(tmp_path, "create", "tickets", "--models", "bert,roberta", *EVERY)
    assert made.returncode == 0
    assert "Created tickets in sqlite:///" in made.stderr
    items = [{"predictions": DIVIDED, "item": {"text": f"message {n}"}, "key": f"m{n}"} for n in range(5)]
    (tmp_path / "items.jsonl").write_text(lines(*items))
    asked = call(tmp_path, "ask", "tickets", "items.jsonl", "--all-at-once")
    assert [json.loads(line)["query"] for line in asked.stdout.splitlines()] == [True] * 5
    labelled = call(tmp_path, "label", "tickets", typed="ham\nspam\nham\ns\nham\n")
    assert "message 4" in labelled.stderr
    best = document(tmp_path, "best", "tickets")
    assert (best["pick"], best["labels_used"], best["skipped"], best["pending"]) == ("roberta", 4, 1, 0)
    assert [entry["estimate"] for entry in best["standing"]] == [1.0, 3.0]
    for name in ("out.jsonl", "out.parquet"):
        records = document(tmp_path, "export", "tickets", name)["records"]
        assert records == 5 + 5  # items and answers
        copied = document(tmp_path, "import", name, "--name", f"copy of {name}")
        assert copied["standing"] == best["standing"]
        call(tmp_path, "export", f"copy of {name}", "again.jsonl", "--force")
        first, again = ((tmp_path / file).read_text().splitlines() for file in ("out.jsonl", "again.jsonl"))
        assert first[1:] == again[1:]
    verified = document(tmp_path, "verify")
    assert [entry["name"] for entry in verified["campaigns"]] == [
        "copy of out.jsonl",
        "copy of out.parquet",
        "tickets",
    ]
    assert all(entry["wrong"] == [] for entry in verified["campaigns"])


def test_show_and_list_say_what_a_campaign_is_made_with(tmp_path: Path) -> None:
    more = ("--classes", "0,1,2", "--budget", "1500", "--expected-rounds", "40000", "--seed", "7")
    begin(tmp_path, models="3", more=more)
    shown = document(tmp_path, "show", "tickets")
    assert (shown["models"], shown["classes"], shown["seed"]) == ([0, 1, 2], [0, 1, 2], 7)
    assert (shown["algorithm"], shown["budget"], shown["expected_rounds"]) == ("model-picker", 1500, 40000)
    text = call(tmp_path, "show", "tickets").stdout
    assert "3: 0, 1, 2" in text
    assert "1,500 labels, spread over 40,000 items" in text
    assert document(tmp_path, "list")["campaigns"][0]["rounds"] == 0
    assert "1,500" in call(tmp_path, "list").stdout


def test_the_storage_is_that_of_the_option_the_variable_the_file_or_the_folder(tmp_path: Path) -> None:
    def made(*arguments: str, **variables: str) -> set[str]:
        before = {path.name for path in tmp_path.glob("*.db")}
        assert call(tmp_path, "create", "x", "--models", "2", *arguments, **variables).returncode == 0
        return {path.name for path in tmp_path.glob("*.db")} - before

    assert made() == {"modelpicker.db"}
    (tmp_path / "modelpicker.toml").write_text('storage = "sqlite:///file.db"\n')
    assert made() == {"file.db"}
    assert made(MODELPICKER_STORAGE="sqlite:///variable.db") == {"variable.db"}
    assert made("--storage", "sqlite:///option.db", MODELPICKER_STORAGE="sqlite:///variable.db") == {"option.db"}


@pytest.mark.parametrize(("settings", "complaint"), [("storage = 5", "pass a URL as a string"), ("=", "be read")])
def test_settings_that_make_no_sense_are_pointed_out(tmp_path: Path, settings: str, complaint: str) -> None:
    (tmp_path / "modelpicker.toml").write_text(settings)
    done = call(tmp_path, "list")
    assert done.returncode == 1
    assert done.stderr.startswith("modelpicker: modelpicker.toml")
    assert complaint in done.stderr


@pytest.mark.parametrize(
    ("code", "arguments", "complaint"),
    [
        (1, "create x --models a", "at least two models"),
        (1, "create x --models 1", "at least two models"),
        (1, "create x --models a,b,a", "'a' is given twice"),
        (1, "create x --models a,b --classes u,u", "'u' is given twice"),
        (1, "create ../x --models a,b", "campaign name '../x'"),
        (1, "create x --models a,b --option query_scale=wide", "query_scale='wide' is not a number"),
        (1, "create x --models a,b --storage x.db", "that is sqlite:///x.db"),
        (1, "create x --models a,b --storage mysql://host/x", "is of no known kind"),
        (1, "create x --models a,b --storage sqlite:///no/x.db", "does not exist; make it first"),
        (2, "create x", "--models"),
        (2, "create x --models a,b --option query_scale", "NAME=VALUE"),
        (2, "create x --models a,b --algorithm magic", "there is no algorithm 'magic'"),
        (2, "create x --models a,b --budget 0", "--budget"),
        (2, "create x --models a,b --seed -1", "--seed"),
        (2, "tell tickets k0", "pass the label as well"),
        (2, "label tickets --lease 0", "--lease"),
        (2, "skip tickets", "ID"),
        (2, "best tickets --colour blue", "--colour"),
        (3, "best nosuch", "there is no campaign 'nosuch'"),
        (3, "best tickets --storage sqlite:///none.db", "there is no storage sqlite:///"),
        (3, "list --storage sqlite:///none.db", "there is no storage sqlite:///"),
        (3, "label nosuch", "it has: tickets"),
        (3, "verify nosuch", "it has: tickets"),
        (3, "tell tickets nokey spam", "nothing was asked with the key 'nokey'"),
        (3, "tell tickets 3 spam", "there is no round 3"),
        (3, "leave tickets gpt", "there is no model 'gpt'"),
        (3, "import none.jsonl", "there is no file none.jsonl"),
        (4, "create tickets --models a,b", "there already is a campaign 'tickets'"),
        (4, "skip tickets k2", "was not queried"),
        (4, "retract tickets k0", "has no answer to take back"),
        (4, "join tickets bert", "takes part already"),
        (4, "leave tickets bert", "there would be one model"),
    ],
)
def test_a_failure_has_its_exit_code_says_why_and_changes_nothing(
    untouched: Path, code: int, arguments: str, complaint: str
) -> None:
    done = call(untouched, *arguments.split())
    assert done.returncode == code
    assert complaint in done.stderr
    assert not done.stdout
    shown = document(untouched, "show", "tickets")
    assert (shown["rounds"], shown["pending"], shown["models"]) == (3, 2, ["bert", "roberta"])
    assert [path.name for path in untouched.glob("*.db")] == ["modelpicker.db"]


def test_an_option_that_the_algorithm_does_not_take_is_wrong_usage(tmp_path: Path) -> None:
    done = call(tmp_path, "create", "x", "--models", "a,b", "--option", "colour=blue")
    assert "model-picker does not take colour" in " ".join(done.stderr.split())
    assert done.returncode == 2


def test_models_join_and_leave(tickets: Path) -> None:
    call(tickets, "tell", "tickets", "k0", "spam")
    joined = document(tickets, "join", "tickets", "gpt")
    assert joined["tied"] == ["bert"]
    assert [entry["since"] for entry in joined["standing"] if entry["model"] == "gpt"] == [3]
    assert call(tickets, "ask", "tickets", typed=lines(DIVIDED)).returncode == 1
    assert call(tickets, "ask", "tickets", typed=lines({**DIVIDED, "gpt": "ham"})).returncode == 0
    left = document(tickets, "leave", "tickets", "bert")
    assert [entry["model"] for entry in left["standing"]] == ["gpt", "roberta"]
    assert document(tickets, "show", "tickets")["models"] == ["roberta", "gpt"]


def test_list_counts_the_models_that_take_part_now(tickets: Path) -> None:
    call(tickets, "join", "tickets", "gpt")
    assert document(tickets, "list")["campaigns"][0]["models"] == 3


def test_models_that_are_numbers_leave_and_join_as_numbers(tmp_path: Path) -> None:
    begin(tmp_path, models="3")
    assert document(tmp_path, "leave", "tickets", "2")["left"] == 2
    assert call(tmp_path, "join", "tickets", "1").returncode == 4
