"""What is compiled is said while it happens, on standard error or in a log; what comes from the cache is not."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernels.sites import copy_package

PLAY = """
import numpy as np, modelpicker as mp
rows, labels = np.tile([0, 0, 1], (50, 1)), np.ones(50, int)
def play():
    print(mp.run_stream(mp.LabelEfficient(3, 0, probability=0.5), rows, labels).winner)
"""
LOGGED = "import logging\nlogging.basicConfig(level=logging.INFO)\n" + PLAY + "play()\n"
AT_ONCE = (
    "import logging\nlogging.basicConfig(level=logging.INFO)\n"
    + PLAY
    + """
import threading
threads = [threading.Thread(target=play) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
)
SERVED = "from modelpicker.server.logs import set_up\nset_up('json')\n" + PLAY + "play()\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a copy of the package that holds no machine code yet."""
    return copy_package(tmp_path / "site")


def run(site: Path, *arguments: str) -> tuple[str, list[str]]:
    """What a Python process writes to standard output, and what it says about compiling on standard error."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={"PATH": os.environ["PATH"], "HOME": str(site), "PYTHONPATH": str(site)},
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if "compil" in line]


@pytest.mark.slow
def test_the_command_line_says_once_on_a_machine_what_it_compiles(site: Path) -> None:
    rows = "".join(f"{'xyx'[i % 3]},{'xxy'[i % 3]},x\n" for i in range(60))
    (site / "answers.csv").write_text(f"first,second,label\n{rows}")
    verb = ("-m", "modelpicker", "pick", "answers.csv", "--json", "--algorithm", "label-efficient")
    document, said = run(site, *verb)
    assert json.loads(document)["pick"] in ("first", "second")
    assert said.count("compiling label-efficient, once on this machine") == 1
    assert sum(line.startswith("compiled label-efficient in ") and line.endswith(" s") for line in said) == 1
    again, nothing = run(site, *verb)
    assert json.loads(again)["pick"] == json.loads(document)["pick"]
    assert nothing == []


def test_the_library_is_silent_for_whoever_does_not_listen(site: Path) -> None:
    printed, said = run(site, "-c", PLAY + "play()\n")
    assert (printed, said) == ("2\n", [])


def test_threads_that_need_the_same_kernel_announce_it_once_and_a_later_process_does_not(site: Path) -> None:
    printed, said = run(site, "-c", AT_ONCE)
    assert printed.split() == ["2"] * 4
    assert sum("compiling label-efficient" in line for line in said) == 1
    assert sum("compiled label-efficient" in line for line in said) == 1
    assert said.count("INFO:modelpicker.compiling:compiling label-efficient, once on this machine") == 1
    assert run(site, "-c", LOGGED) == ("2\n", [])


def test_the_servers_log_has_it_in_its_own_form(site: Path) -> None:
    _, said = run(site, "-c", SERVED)
    assert "compiling label-efficient, once on this machine" in [json.loads(line)["event"] for line in said]


@pytest.mark.slow
def test_where_nothing_can_be_kept_it_does_not_promise_once(site: Path) -> None:
    shutil.rmtree(site / "modelpicker" / "kernels" / "__pycache__", ignore_errors=True)
    (site / "modelpicker" / "kernels" / "__pycache__").write_text("in the way")
    (site / ".cache").write_text("in the way")
    for _ in range(2):
        _, said = run(site, "-c", LOGGED)
        assert any("compiling label-efficient, each time" in line for line in said)
