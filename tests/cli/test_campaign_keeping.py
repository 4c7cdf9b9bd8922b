"""Campaigns on the command line: checked, upgraded, written to files and brought back."""

import json
import shlex
from pathlib import Path

import pytest

from modelpicker.campaigns.storage.schema import SCHEMA
from tests.cli.campaigning import DIVIDED, EVERY, begin, call, document, lines, sql, three_items
from tests.cli.running import run

SWAPPED = "UPDATE snapshots SET body = (SELECT body FROM snapshots WHERE campaign = 2)"


@pytest.fixture
def tickets(tmp_path: Path) -> Path:
    return three_items(tmp_path)


def corrected(folder: Path, name: str, label: str) -> None:
    """A campaign whose state was kept, for it was rebuilt after a correction."""
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
        assert "restore a backup" in (done.stdout + done.stderr).lower()
    assert not (tmp_path / "out.jsonl").exists()


def test_settings_that_were_changed_are_named_by_every_verb_and_by_verify(tmp_path: Path) -> None:
    corrected(tmp_path, "first", "spam")
    corrected(tmp_path, "second", "ham")
    sql(tmp_path, "UPDATE campaigns SET settings = replace(settings, 'roberta', 'robert') WHERE id = 1")
    for arguments in ("best first", "show first", "tell first k1 ham", "export first out.jsonl"):
        done = call(tmp_path, *arguments.split())
        assert done.returncode == 1
        assert "settings of campaign 'first' were changed in the storage" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    listed = call(tmp_path, "list")
    assert listed.returncode == 0
    assert "settings of campaign 'first' were changed in the storage" in " ".join(listed.stderr.split())
    assert [line.split()[0] for line in listed.stdout.splitlines() if line][1:] == ["first", "second"]
    done = call(tmp_path, "verify")
    assert done.returncode == 1
    first, second = done.stdout.splitlines()
    assert first.startswith("first: the settings of campaign 'first' were changed")
    assert second == "second: 3 items, 1 label: the state is that of its events, to the last bit."
    verdicts = json.loads(call(tmp_path, "verify", "--json").stdout)["campaigns"]
    assert [(one["labels"], one["repaired"], len(one["wrong"])) for one in verdicts] == [
        (None, False, 1),
        (1, False, 0),
    ]


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
    assert json.loads(done.stdout) == {"storage": url, "before": SCHEMA, "after": SCHEMA}
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


def test_a_backup_is_made_checked_and_restored(tickets: Path) -> None:
    call(tickets, "tokens", "create", "Mia", "--role", "owner")
    best, tokens = document(tickets, "best", "tickets"), document(tickets, "tokens", "list")
    said = call(tickets, "backup", "backup.db")
    assert said.returncode == 0
    assert "to backup.db: 1 campaign, 1 token" in said.stderr
    assert not said.stdout
    call(tickets, "tell", "tickets", "k0", "spam")
    call(tickets, "tokens", "revoke", "Mia")
    for path in tickets.glob("modelpicker.db*"):
        path.unlink()
    (tickets / "backup.db").rename(tickets / "modelpicker.db")
    assert call(tickets, "verify", "--check").returncode == 0
    assert (document(tickets, "best", "tickets"), document(tickets, "tokens", "list")) == (best, tokens)


def test_a_backup_says_what_it_holds(tickets: Path) -> None:
    made = document(tickets, "backup", "backup.db")
    assert made == {
        "storage": f"sqlite:///{tickets / 'modelpicker.db'}",
        "path": "backup.db",
        "bytes": (tickets / "backup.db").stat().st_size,
        "schema": SCHEMA,
        "campaigns": 1,
        "tokens": 0,
    }


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        ("backup there.db", 4, "pass --force"),
        ("backup backup.db --storage sqlite:///nowhere.db", 3, "there is no storage"),
        ("backup backup.db --storage postgresql://u:s3cret@host/db", 1, "pg_dump --format=custom"),
        ("backup modelpicker.db --force", 1, "is the storage itself"),
        ("backup no/backup.db", 1, "its folder exists"),
        ("backup", 2, "Missing argument"),
        ("storage copy sqlite:///modelpicker.db", 4, "holds campaigns or tokens already"),
        ("storage copy sqlite:///new.db --storage sqlite:///nowhere.db", 3, "there is no storage"),
        ("storage copy new.db", 1, "that is sqlite:///new.db"),
        ("storage copy memory://", 1, "gone with the process"),
    ],
)
def test_a_backup_or_copy_that_cannot_be_made_is_said_and_leaves_nothing(
    tickets: Path, arguments: str, code: int, complaint: str
) -> None:
    (tickets / "there.db").write_text("precious")
    before = {path.name for path in tickets.iterdir()}
    done = call(tickets, *arguments.split())
    assert done.returncode == code
    assert complaint in done.stderr
    assert "s3cret" not in done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name for path in tickets.iterdir()} == before
    assert (tickets / "there.db").read_text() == "precious"


def test_a_storage_is_copied_whole(tickets: Path) -> None:
    call(tickets, "tokens", "create", "Mia", "--role", "owner")
    made = document(tickets, "storage", "copy", "sqlite:///new.db")
    assert (made["campaigns"], made["tokens"]) == (1, 1)
    assert made["destination"] == f"sqlite:///{tickets / 'new.db'}"
    there = ("--storage", "sqlite:///new.db")
    assert document(tickets, "best", "tickets", *there) == document(tickets, "best", "tickets")
    assert document(tickets, "tokens", "list", *there) == document(tickets, "tokens", "list")
    assert call(tickets, "verify", "--check", *there).returncode == 0


def test_an_export_overwrites_only_by_force_and_knows_its_endings(tmp_path: Path) -> None:
    begin(tmp_path, DIVIDED)
    (tmp_path / "out.jsonl").write_text("precious")
    assert call(tmp_path, "export", "tickets", "out.jsonl").returncode == 4
    assert (tmp_path / "out.jsonl").read_text() == "precious"
    assert document(tmp_path, "export", "tickets", "out.jsonl", "--force")["records"] == 1
    for name, complaint in (("out.csv", "choose one of these endings"), ("no/out.jsonl", "No such file")):
        done = call(tmp_path, "export", "tickets", name)
        assert done.returncode == 1
        assert complaint in done.stderr
    assert call(tmp_path, "import", "out.jsonl").returncode == 4
    assert call(tmp_path, "import", "out.jsonl", "--name", "no/name").returncode == 1


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign in which much happened, and its export."""
    folder = tmp_path_factory.mktemp("exported")
    begin(folder, {**DIVIDED, "key": "k0"}, {**DIVIDED, "key": "k1"}, more=("--budget", "9"))
    for arguments in ("tell tickets k0 ham", "join tickets gpt", "export tickets whole.jsonl"):
        assert call(folder, *arguments.split()).returncode == 0
    return folder


HALF = "\ud800"


@pytest.mark.parametrize(
    ("place", "changes"),
    [
        (0, {"format": "something else"}),
        (0, {"models": "bert"}),
        (0, {"created": "yesterday"}),
        (0, {"seed": None}),
        (1, {"event": 7}),
        (1, {"id": 4}),
        (1, {"predictions": ["spam"]}),
        (1, {"recommended": "nobody"}),
        (3, {"id": 4}),
        (3, {"kind": "magic"}),
        (3, {"label": ["ham"]}),
        (0, {"budget": "many"}),
        (0, {"options": None}),
        (1, {"key": HALF}),
        (2, {"pace": []}),
        (4, {"heir_of": "nobody"}),
        (1, {"probability": -1.0}),
        (3, {"id": -1}),
    ],
)
def test_a_damaged_file_leaves_nothing_behind(exported: Path, place: int, changes: dict[str, object]) -> None:
    entries = [json.loads(line) for line in (exported / "whole.jsonl").read_text().splitlines()]
    (exported / "out.jsonl").write_text(lines(*entries[:place], entries[place] | changes, *entries[place + 1 :]))
    before = document(exported, "list")
    done = call(exported, "import", "out.jsonl", "--name", f"copy {place} {'-'.join(changes)}")
    assert done.returncode == 1
    assert done.stderr.startswith("modelpicker: out.jsonl")
    assert document(exported, "list") == before


def test_a_file_that_was_cut_off_leaves_nothing_behind(exported: Path) -> None:
    for name, ending in (("cut.jsonl", "Was it cut off?"), ("cut.parquet", "is not a Parquet file")):
        call(exported, "export", "tickets", name)
        (exported / name).write_bytes((exported / name).read_bytes()[:-9])
        done = call(exported, "import", name, "--name", "copy")
        assert done.returncode == 1
        assert ending in done.stderr
    assert call(exported, "show", "copy").returncode == 3
