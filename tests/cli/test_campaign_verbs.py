"""Campaigns on the command line: made, described, changed, checked and kept; failures and their exit codes."""

import io
import json
import shlex
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
import typer

from modelpicker import cli
from modelpicker.campaigns import storage as storages
from tests.cli.running import run

VERBS = typer.main.get_command(cli.app)  # made once: that takes longer than most verbs
# Every round on which models disagree is bought, so that a test knows which.
EVERY = ("--option", "query_scale=1e6")
DIVIDED = {"bert": "spam", "roberta": "ham"}
SWAPPED = "UPDATE snapshots SET body = (SELECT body FROM snapshots WHERE campaign = 2)"


def call(
    folder: Path, *arguments: str | Path, typed: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a verb as `run` does, but in this process, for another takes a second to start."""
    opened: dict[tuple[int, str], storages.Storage] = {}  # a new process has opened none
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code: object = 0
    with tempfile.TemporaryFile("w+", encoding="utf-8") as answers, pytest.MonkeyPatch.context() as patch:
        answers.write(typed)
        answers.seek(0)
        patch.chdir(folder)
        patch.delenv("MODELPICKER_STORAGE", raising=False)
        for name, value in variables.items():
            patch.setenv(name, value)
        patch.setattr(storages, "_opened", opened)
        patch.setattr(cli, "app", VERBS)
        patch.setattr("sys.argv", ["modelpicker", *map(str, arguments)])
        for name, stream in (("stdin", answers), ("stdout", out), ("stderr", err)):
            patch.setattr(f"sys.{name}", stream)
        try:
            cli.main()
        except SystemExit as end:
            code = end.code
        finally:
            for storage in opened.values():
                storage.engine.dispose()
    assert isinstance(code, int)
    out.seek(0)
    err.seek(0)
    return subprocess.CompletedProcess(arguments, code, out.read(), err.read())


def document(folder: Path, *arguments: str | Path, typed: str = "") -> Any:
    """What a verb that succeeds prints for programs."""
    done = call(folder, *arguments, "--json", typed=typed)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def lines(*entries: object) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def begin(folder: Path, *entries: object, models: str = "bert,roberta", more: tuple[str, ...] = ()) -> Path:
    """A campaign called tickets that was asked about some items."""
    assert call(folder, "create", "tickets", "--models", models, *EVERY, *more).returncode == 0
    if entries:
        assert call(folder, "ask", "tickets", typed=lines(*entries)).returncode == 0
    return folder


def sql(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / "modelpicker.db")
    with connection:
        connection.execute(statement)
    connection.close()


@pytest.fixture
def tickets(tmp_path: Path) -> Path:
    return three_items(tmp_path)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return three_items(tmp_path_factory.mktemp("untouched"))


def three_items(folder: Path) -> Path:
    """A campaign of three items, of which the first two are queries."""
    agreed = {"bert": "ham", "roberta": "ham", "key": "k2"}
    return begin(folder, {**DIVIDED, "key": "k0", "text": "hello"}, {**DIVIDED, "key": "17"}, agreed)


def test_a_campaign_from_its_creation_to_its_copy(tmp_path: Path) -> None:
    made = call(tmp_path, "create", "tickets", "--models", "bert,roberta", *EVERY)
    assert made.returncode == 0
    assert "Created tickets in sqlite:///" in made.stderr
    items = [{"predictions": DIVIDED, "item": {"text": f"message {n}"}, "key": f"m{n}"} for n in range(5)]
    (tmp_path / "items.jsonl").write_text(lines(*items))
    asked = call(tmp_path, "ask", "tickets", "items.jsonl")
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
    assert "1,500 labels over 40,000 items" in text
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
        (1, "create x --models a,b --expected-rounds 9", "paces a budget"),
        (1, "create x --models a,b --option query_scale=wide", "query_scale='wide' is not a number"),
        (1, "create x --models a,b --storage x.db", "that is sqlite:///x.db"),
        (1, "create x --models a,b --storage mysql://host/x", "is of no known kind"),
        (1, "create x --models a,b --storage sqlite:///no/x.db", "does not exist; make it first"),
        (2, "create x", "--models"),
        (2, "create x --models a,b --option query_scale", "NAME=VALUE"),
        (2, "create x --models a,b --algorithm magic", "magic is not known"),
        (2, "create x --models a,b --budget 0", "--budget"),
        (2, "create x --models a,b --seed -1", "--seed"),
        (2, "tell tickets k0", "pass the label as well"),
        (2, "label tickets --lease 0", "--lease"),
        (2, "skip tickets", "ID"),
        (2, "best tickets --colour blue", "--colour"),
        (3, "best nosuch", "there is no campaign 'nosuch'"),
        (3, "best tickets --storage sqlite:///none.db", "there is no storage sqlite:///"),
        (3, "list --storage sqlite:///none.db", "there is no storage sqlite:///"),
        (3, "label nosuch", "there are tickets"),
        (3, "verify nosuch", "there are tickets"),
        (3, "tell tickets nokey spam", "nothing was asked with the key 'nokey'"),
        (3, "tell tickets 3 spam", "there is no round 3"),
        (3, "leave tickets gpt", "there is no model 'gpt'"),
        (3, "import none.jsonl", "there is no file none.jsonl"),
        (4, "create tickets --models a,b", "there is a campaign 'tickets' already"),
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
    assert joined["tied"] == ["bert", "gpt"]
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


def corrected(folder: Path, name: str, label: str) -> None:
    """A campaign whose state was kept, for it was learned anew after a correction."""
    call(folder, "create", name, "--models", "bert,roberta", *EVERY)
    call(folder, "ask", name, typed=lines(*({**DIVIDED, "key": f"k{n}"} for n in range(3))))
    call(folder, "tell", name, "k0", "nothing")
    call(folder, "tell", name, "k0", label, "--replace")


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("UPDATE snapshots SET body = x'00' WHERE campaign = 1", "the snapshot is damaged"),
        (SWAPPED, "the snapshot differs from the events"),
        ("UPDATE campaigns SET rebuilt = 0 WHERE id = 1", "the campaign's row differs from the events"),
        ("DELETE FROM keys WHERE campaign = 1", "the table of keys differs from the events"),
        ("UPDATE answers SET label = '\"ham\"'", "the table of answers differs from the events"),
    ],
)
def test_verify_repairs_what_is_found_from_events_unless_it_only_checks(
    tmp_path: Path, damage: str, found: str
) -> None:
    corrected(tmp_path, "first", "spam")
    corrected(tmp_path, "second", "ham")
    best = document(tmp_path, "best", "first")
    sql(tmp_path, damage)
    for _ in range(2):
        checked = call(tmp_path, "verify", "--check")
        assert checked.returncode == 1
        assert f"first: 3 items, 1 label: {found}.\n" in checked.stdout
    repaired = call(tmp_path, "verify", "first")
    assert repaired.returncode == 0
    assert f"{found} (repaired)." in repaired.stdout
    assert document(tmp_path, "verify", "first", "--check")["campaigns"][0]["wrong"] == []
    assert document(tmp_path, "best", "first") == best
    assert document(tmp_path, "tell", "first", "k0", "spam")["labels_used"] == 1


def test_a_damaged_snapshot_is_not_believed(tmp_path: Path) -> None:
    corrected(tmp_path, "first", "spam")
    sql(tmp_path, "UPDATE snapshots SET body = x'00'")
    assert document(tmp_path, "best", "first")["pick"] == "bert"


@pytest.mark.parametrize(
    "damage",
    ["UPDATE events SET body = x'00' WHERE number = 2", "DELETE FROM events WHERE number = 2"],
)
def test_damaged_events_are_an_error_that_asks_for_a_backup(tmp_path: Path, damage: str) -> None:
    corrected(tmp_path, "first", "spam")
    sql(tmp_path, damage)
    for arguments in (("verify",), ("export", "first", "out.jsonl")):
        done = call(tmp_path, *arguments)
        assert done.returncode == 1
        assert "bring back a backup" in (done.stdout + done.stderr).lower()
    assert not (tmp_path / "out.jsonl").exists()


def test_a_file_that_is_no_storage_is_refused(tmp_path: Path) -> None:
    (tmp_path / "modelpicker.db").write_bytes(b"my notes " * 1000)
    for verb in (("list",), ("verify",), ("create", "x", "--models", "2")):
        done = call(tmp_path, *verb)
        assert done.returncode == 1
        assert "database" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert (tmp_path / "modelpicker.db").read_bytes() == b"my notes " * 1000
    (tmp_path / "modelpicker.db").unlink()
    sql(tmp_path, "CREATE TABLE cats (name)")
    assert "is a database of something else" in call(tmp_path, "create", "x", "--models", "2").stderr


@pytest.mark.parametrize("verb", ["list", "best tickets", "verify", "create x --models 2"])
def test_a_storage_of_an_older_schema_is_refused_with_the_command_that_upgrades_it(
    tickets: Path, verb: str
) -> None:
    sql(tickets, "UPDATE alembic_version SET version_num = '0000'")
    done = call(tickets, *verb.split())
    url = f"sqlite:///{tickets / 'modelpicker.db'}"
    assert done.returncode == 5
    assert done.stderr.endswith(f"then run: modelpicker storage upgrade --storage {url}\n")


def test_a_storage_of_a_newer_schema_asks_for_a_newer_modelpicker(tickets: Path) -> None:
    sql(tickets, "UPDATE alembic_version SET version_num = '9999'")
    done = run("list", folder=tickets)
    assert done.returncode == 5
    assert "pip install --upgrade modelpicker" in done.stderr


def test_a_storage_of_this_schema_needs_no_upgrade(tickets: Path) -> None:
    done = run("storage", "upgrade", "--json", folder=tickets)
    url = f"sqlite:///{tickets / 'modelpicker.db'}"
    assert json.loads(done.stdout) == {"storage": url, "before": "0001", "after": "0001"}
    assert run("storage", "upgrade", "--storage", "sqlite:///none.db", folder=tickets).returncode == 3


def test_a_schema_that_is_not_known_cannot_be_upgraded(tickets: Path) -> None:
    sql(tickets, "UPDATE alembic_version SET version_num = '9999'")
    done = run("storage", "upgrade", folder=tickets)
    assert done.returncode == 5
    assert "Traceback" not in done.stderr


def test_the_command_that_upgrades_can_be_pasted_into_a_shell(tmp_path: Path) -> None:
    folder = tmp_path / "my campaigns"
    folder.mkdir()
    begin(folder)
    sql(folder, "UPDATE alembic_version SET version_num = '0000'")
    said = call(folder, "list").stderr
    command = shlex.split(said.partition("then run: ")[2])
    assert command == ["modelpicker", "storage", "upgrade", "--storage", f"sqlite:///{folder / 'modelpicker.db'}"]


def test_a_storage_has_one_name_in_all_documents(tickets: Path) -> None:
    assert document(tickets, "verify")["storage"] == document(tickets, "show", "tickets")["storage"]
