"""Storage files are for their owner alone; one that others may open is named, with the command that repairs it."""

import gzip
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import modelpicker as mp
from modelpicker.campaigns.storage.database import open_storage
from tests.campaigns.test_upgrading import OLD
from tests.cli.running import run, run_process
from tests.server.servers import Process

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    return {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in folder.iterdir()}


def warned(text: str) -> list[str]:
    return [line for line in text.splitlines() if "chmod 600" in line]


def test_files_are_for_their_owner_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    campaign = mp.create_campaign(f"sqlite:///{tmp_path}/campaigns.db", "private", models=2)
    campaign.ask([0, 1])
    assert modes(tmp_path) == dict.fromkeys(("campaigns.db", "campaigns.db-wal", "campaigns.db-shm"), "0o600")
    campaign.storage.close()


def test_a_file_that_a_link_leads_to_is_private_too(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
    campaign = mp.create_campaign(f"sqlite:///{tmp_path}/link.db", "private", models=2)
    assert stat.S_IMODE((tmp_path / "real.db").stat().st_mode) == 0o600
    campaign.storage.close()


def test_a_loop_of_links_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "loop.db").symlink_to(tmp_path / "loop.db")
    with pytest.raises(mp.StorageError, match="cannot be opened"):
        mp.create_campaign(f"sqlite:///{tmp_path}/loop.db", "private", models=2)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o666, 0o620])
def test_a_file_that_others_may_open_is_named_with_its_mode_and_the_command(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "my campaigns.db"
    storage = ("--storage", f"sqlite:///{file}")
    made = run("create", "tickets", "--models", "2", *storage)
    assert (made.returncode, warned(made.stderr)) == (0, [])
    file.chmod(mode)
    done = run("best", "tickets", "--json", *storage)
    assert done.returncode == 0
    (line,) = warned(done.stderr)
    assert line.startswith(f"modelpicker: warning: other users of this machine may open {file} (mode {mode:04o})")
    assert line.endswith(f"chmod 600 '{file}'")
    assert json.loads(done.stdout)["rounds"] == 0


@pytest.mark.slow
def test_every_process_says_it_until_it_is_mended(tmp_path: Path) -> None:
    file = tmp_path / "campaigns.db"
    mp.create_campaign(f"sqlite:///{file}", "tickets", models=2).storage.close()
    for mode, times in ((0o644, 1), (0o644, 1), (0o600, 0)):
        file.chmod(mode)
        assert len(warned(run_process("list", "--storage", f"sqlite:///{file}").stderr)) == times


def test_a_server_says_it_in_its_log_once(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/campaigns.db"
    mp.create_campaign(storage, "tickets", models=2).storage.close()
    (tmp_path / "campaigns.db").chmod(0o644)
    with Process("--storage", storage, "--log-format", "json") as process:
        for _ in range(3):
            assert process.running.get("/campaigns").status_code == 200
        assert process.stop() == 0
    assert len(warned("".join(process.lines))) == 1
    assert all(line.startswith("{") for line in process.lines)


def test_the_log_beside_the_file_is_named_too(tmp_path: Path) -> None:
    file = tmp_path / "campaigns.db"
    campaign = mp.create_campaign(f"sqlite:///{file}", "tickets", models=2)
    for name in ("campaigns.db", "campaigns.db-wal", "campaigns.db-shm"):
        (tmp_path / name).chmod(0o644)
    (line,) = warned(run_process("list", "--storage", f"sqlite:///{file}").stderr)
    assert line.endswith(f"chmod 600 {file} {file}-wal {file}-shm")
    campaign.storage.close()


def test_the_library_warns_once_by_logging_and_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    url = f"sqlite:///{tmp_path}/campaigns.db"
    mp.create_campaign(url, "tickets", models=2).storage.close()
    (tmp_path / "campaigns.db").chmod(0o644)
    with caplog.at_level("WARNING"):
        for _ in range(3):
            assert mp.open_campaign(url, "tickets").best().rounds == 0
            open_storage(url).close()
    assert len(warned(caplog.text)) == 1


def test_what_is_no_file_is_not_warned_of(memory: str, caplog: pytest.LogCaptureFixture) -> None:
    mp.create_campaign(memory, "tickets", models=2)
    assert warned(caplog.text) == []


def test_an_old_storage_stays_as_open_as_it_was(tmp_path: Path) -> None:
    """Whose business that is, its owner knows: it is said, not changed."""
    file = tmp_path / "old.db"
    file.write_bytes(gzip.decompress((OLD / "0002.db.gz").read_bytes()))
    file.chmod(0o640)
    done = run_process("storage", "upgrade", "--storage", f"sqlite:///{file}")
    assert done.returncode == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert len(warned(run_process("list", "--storage", f"sqlite:///{file}").stderr)) == 1
