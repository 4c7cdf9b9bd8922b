"""The cache of machine code: found again, never stale, never in the way.

Each test runs a copy of the package in a process of its own, as a user's would.
"""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import modelpicker

PACKAGE = Path(str(modelpicker.__file__)).parent
RUN = """
import sys, numpy as np, modelpicker as mp
assert "numba" not in sys.modules
trace = mp.run_stream(mp.LabelEfficient(3, 0, probability=0.5), np.tile([0, 1, 1], (50, 1)), np.ones(50, int))
import numba
hits = sum(sum(d.stats.cache_hits.values()) for d in [mp.LabelEfficient.kernel.stream.dispatcher()])
print(trace.labels_used, trace.winner, hits)
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a copy of the package that holds no machine code yet."""
    folder = tmp_path / "site"
    shutil.copytree(PACKAGE, folder / "modelpicker", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run(site: Path, home: Path | str, script: str = RUN, limit_files: bool = False) -> list[str]:
    """What the script prints, run on that copy by a user with that home."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))) if limit_files else None,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def machine_code(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.nbc"))


def make_read_only(site: Path) -> None:
    """Put a file where the package would keep its cache: not even root can write there."""
    folder = site / "modelpicker" / "algorithms" / "__pycache__"
    shutil.rmtree(folder, ignore_errors=True)
    folder.write_text("in the way")


def test_machine_code_is_kept_beside_the_package_and_found_again(site: Path, tmp_path: Path) -> None:
    first = run(site, tmp_path)
    assert first[2] == "0"
    assert machine_code(site)
    assert run(site, tmp_path) == [*first[:2], "1"]


def test_where_the_package_is_read_only_the_users_cache_folder_serves(site: Path, tmp_path: Path) -> None:
    make_read_only(site)
    home = tmp_path / "home"
    first = run(site, home)
    assert not machine_code(site)
    assert machine_code(home / ".cache" / "modelpicker")
    assert run(site, home) == [*first[:2], "1"]


def test_where_nothing_is_writable_it_runs_without_a_cache(site: Path) -> None:
    make_read_only(site)
    assert run(site, "/dev/null")[2] == "0"


def test_on_a_full_disk_it_runs_all_the_same(site: Path, tmp_path: Path) -> None:
    assert run(site, tmp_path, limit_files=True)[2] == "0"


def test_broken_machine_code_is_made_anew(site: Path, tmp_path: Path) -> None:
    first = run(site, tmp_path)
    for file in [*machine_code(site), *site.rglob("*.nbi")]:
        file.write_bytes(file.read_bytes()[:100])
    assert run(site, tmp_path)[:2] == first[:2]


def test_a_change_in_a_file_that_a_kernel_calls_into_is_noticed(site: Path, tmp_path: Path) -> None:
    run(site, tmp_path)
    helper = site / "modelpicker" / "algorithms" / "kernels.py"
    text = helper.read_text()
    before = helper.stat()
    changed = text.replace("return differing == 0", "return differing >= 0")  # everybody always agrees
    assert changed != text
    helper.write_text(changed)
    os.utime(helper, ns=(before.st_atime_ns, before.st_mtime_ns))
    shutil.rmtree(site / "modelpicker" / "__pycache__", ignore_errors=True)
    for compiled in (site / "modelpicker" / "algorithms").glob("__pycache__/*.pyc"):
        compiled.unlink()
    assert run(site, tmp_path)[0] == "0"


TWO_ALIKE = """
import numpy as np, modelpicker as mp
from modelpicker.algorithms import kernels
from modelpicker.algorithms.engine import Kernel
from alike import Never, Always
rows, labels = np.tile([0, 1, 1], (50, 1)), np.ones(50, int)
for kind in {order}:
    print(mp.run_stream(kind(3, 0, probability=0.5), rows, labels).labels_used)
"""

ALIKE = """
from modelpicker.algorithms.engine import Kernel
from modelpicker.algorithms.kernels import count_mistakes, fewest_mistakes
from modelpicker.algorithms.label_efficient import LabelEfficient

def never(state, settings, t, row, coins, scale, scratch):
    return 0.0, 0

def always(state, settings, t, row, coins, scale, scratch):
    return 1.0, 0

class Never(LabelEfficient):
    kernel = Kernel(never, fewest_mistakes, count_mistakes)

class Always(LabelEfficient):
    kernel = Kernel(always, fewest_mistakes, count_mistakes)
"""


def test_kernels_of_one_shape_and_one_file_are_kept_apart(site: Path, tmp_path: Path) -> None:
    (site / "alike.py").write_text(ALIKE)
    assert run(site, tmp_path, TWO_ALIKE.format(order="(Never,)")) == ["0"]
    assert run(site, tmp_path, TWO_ALIKE.format(order="(Always,)")) == ["50"]
    assert run(site, tmp_path, TWO_ALIKE.format(order="(Always, Never)")) == ["50", "0"]


def test_an_algorithm_typed_at_a_prompt_compiles_without_a_cache(site: Path, tmp_path: Path) -> None:
    script = ALIKE + TWO_ALIKE.replace("from alike import Never, Always", "").format(order="(Always, Never)")
    assert run(site, tmp_path, script) == ["50", "0"]
