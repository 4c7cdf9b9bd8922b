"""The cache of machine code: found again, never stale, never in the way.

Each test runs a copy of the package in a process of its own, as a user's would.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import modelpicker as mp
from modelpicker.algorithms.run_modes import STREAM
from modelpicker.algorithms.runner import Kernel, play_rounds, runner
from modelpicker.kernels import compiler
from modelpicker.kernels.compiler import Function, with_parts
from modelpicker.kernels.primitives import Mistakes, count_mistakes, no_mistakes, smallest_loss
from tests.kernels.sites import copy_package

RUN = """
import sys, numpy as np, modelpicker as mp
assert "numba" not in sys.modules
trace = mp.run_stream(mp.LabelEfficient(3, 0, probability=0.5), np.tile([0, 1, 1], (50, 1)), np.ones(50, int))
from modelpicker.algorithms.run_modes import STREAM
from modelpicker.algorithms.runner import runner
hits = sum(runner(mp.LabelEfficient.kernel, STREAM).play.dispatcher().stats.cache_hits.values())
print(trace.labels_used, trace.winner, hits)
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a copy of the package that holds no machine code yet."""
    return copy_package(tmp_path / "site")


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
    folder = site / "modelpicker" / "kernels" / "__pycache__"
    shutil.rmtree(folder, ignore_errors=True)
    folder.write_text("in the way")


def test_machine_code_is_kept_beside_the_package_and_found_again(site: Path, tmp_path: Path) -> None:
    first = run(site, tmp_path)
    assert first[2] == "0"
    assert machine_code(site)
    assert run(site, tmp_path) == [*first[:2], "1"]


@pytest.mark.slow
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


@pytest.mark.slow
def test_on_a_full_disk_it_runs_all_the_same(site: Path, tmp_path: Path) -> None:
    assert run(site, tmp_path, limit_files=True)[2] == "0"


@pytest.mark.slow
def test_broken_machine_code_is_made_anew(site: Path, tmp_path: Path) -> None:
    first = run(site, tmp_path)
    written = [*machine_code(site), *site.rglob("*.nbi")]
    assert len(written) >= 2
    for file in written:
        file.write_bytes(file.read_bytes()[:100])
    assert run(site, tmp_path)[:2] == first[:2]


def test_a_change_in_a_file_that_a_kernel_calls_into_is_noticed(site: Path, tmp_path: Path) -> None:
    run(site, tmp_path)
    helper = site / "modelpicker" / "kernels" / "primitives.py"
    text = helper.read_text()
    before = helper.stat()
    changed = text.replace("return differing == 0", "return differing >= 0")  # everybody always agrees
    assert changed != text
    helper.write_text(changed)
    os.utime(helper, ns=(before.st_atime_ns, before.st_mtime_ns))
    shutil.rmtree(site / "modelpicker" / "__pycache__", ignore_errors=True)
    for compiled in (site / "modelpicker" / "kernels").glob("__pycache__/*.pyc"):
        compiled.unlink()
    assert run(site, tmp_path)[0] == "0"


def test_machine_code_that_nobody_used_for_long_is_removed_when_new_is_made(tmp_path: Path) -> None:
    old, used = tmp_path / "old", tmp_path / "used"
    for folder in (old, used):
        folder.mkdir()
        (folder / "kernel.nbc").write_bytes(b"code")
    long_ago = time.time() - (compiler.KEPT_DAYS + 1) * 86_400
    os.utime(old, (long_ago, long_ago))
    compiler.prune(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["used"]


@pytest.mark.slow
def test_a_kernel_that_is_used_again_is_not_removed(site: Path, tmp_path: Path) -> None:
    first = run(site, tmp_path)
    kernels = site / "modelpicker" / "kernels" / "__pycache__" / "kernels"
    long_ago = time.time() - (compiler.KEPT_DAYS + 1) * 86_400
    kept = list(kernels.iterdir())
    assert kept
    for folder in kept:
        os.utime(folder, (long_ago, long_ago))
    assert run(site, tmp_path) == [*first[:2], "1"]
    assert [folder for folder in kept if folder.stat().st_mtime < long_ago + 86_400] == []


@pytest.mark.parametrize("version", ["0.67.2", "0.69.0", "1.0"])
def test_another_numba_is_refused_with_the_command_that_helps(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modelpicker.extras.version", lambda _: version)
    with pytest.raises(mp.UntestedVersionError, match=re.escape(f"numba {version} is installed: pip install")):
        compiler.CompiledKernel(plain, {}, "a test")(1.0)


def plain(value: float) -> float:
    return value


UPGRADE = """
import pathlib, sys, modelpicker as mp
from modelpicker.algorithms import label_efficient
picker = mp.LabelEfficient(2, probability=0.5)
if {upgrade}:
    file = pathlib.Path(label_efficient.__file__)
    file.write_text(file.read_text().replace("else scale, FOLLOW", "else scale / 2, FOLLOW"))
print(mp.run_stream(picker, [[0, 1]], [0]).probability[0])
"""


@pytest.mark.slow
def test_a_file_that_changes_after_it_was_imported_does_not_spoil_the_cache(site: Path, tmp_path: Path) -> None:
    assert run(site, tmp_path, UPGRADE.format(upgrade=True)) == ["0.5"]
    assert run(site, tmp_path, UPGRADE.format(upgrade=False)) == ["0.25"]


DTYPE = """
import numpy as np
from modelpicker.kernels.compiler import CompiledKernel
from modelpicker.kernels.primitives import agreed
print(CompiledKernel(agreed, {{}}, "agreement")(np.array([1, 1], dtype=np.{dtype})))
"""


@pytest.mark.slow
def test_machine_code_of_other_types_is_not_taken_for_ours(site: Path, tmp_path: Path) -> None:
    """Two processes that write at once can leave an index that points at the code of the other's types."""
    run(site, tmp_path, DTYPE.format(dtype="int32"))
    assert run(site, tmp_path, DTYPE.format(dtype="int64")) == ["True"]
    one, other = machine_code(site)
    exchanged = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(exchanged)
    assert run(site, tmp_path, DTYPE.format(dtype="int64")) == ["True"]


UNSIGNED = """
import numpy as np, modelpicker as mp
rows = np.array([[255, 1, 1], [3, 255, 1]] * 3, dtype=np.uint8)
print(*mp.run_stream(mp.LabelEfficient(3, probability=1.0), rows, [255] * 6).losses)
"""


def test_with_numbas_compiler_switched_off_it_runs_interpreted(site: Path, tmp_path: Path) -> None:
    script = "import os\nos.environ['NUMBA_DISABLE_JIT'] = '1'\n" + UNSIGNED
    assert run(site, tmp_path, script) == ["3.0", "3.0", "6.0"]


EVIDENCE = """
import numpy as np, modelpicker as mp
draw = np.random.default_rng(2)
labels = draw.integers(0, 3, 60)
rows = np.where(draw.random((60, 5)) < 0.6, labels[:, None], draw.integers(0, 3, (60, 5)))
picker = mp.LabelEfficient(5, probability=0.4)
mp.run_stream(picker, rows, labels, stop_when=mp.Certified(gap=0.01))
print(picker.recorder.document())
"""


@pytest.mark.slow
def test_with_numbas_compiler_switched_off_evidence_is_the_same(site: Path, tmp_path: Path) -> None:
    """NumPy adds two truth values to one; a certificate that counted so would promise too much."""
    switched_off = "import os\nos.environ['NUMBA_DISABLE_JIT'] = '1'\n" + EVIDENCE
    assert run(site, tmp_path, switched_off) == run(site, tmp_path, EVIDENCE)


TWO_ALIKE = """
import numpy as np, modelpicker as mp
from alike import Never, Always
rows, labels = np.tile([0, 1, 1], (50, 1)), np.ones(50, int)
for kind in {order}:
    print(mp.run_stream(kind(3, 0, probability=0.5), rows, labels).labels_used)
"""

ALIKE = """
from modelpicker.algorithms.runner import Kernel
from modelpicker.kernels.primitives import count_mistakes, smallest_loss
from modelpicker.algorithms.label_efficient import LabelEfficient

def decide(state, settings, t, row, coins, scale, scratch):
    return 0.0, 0

class Never(LabelEfficient):
    kernel = Kernel(decide, smallest_loss, count_mistakes)

def decide(state, settings, t, row, coins, scale, scratch):
    return SURE, 0

class Always(LabelEfficient):
    kernel = Kernel(decide, smallest_loss, count_mistakes)
"""


@pytest.mark.slow
def test_kernels_of_one_shape_and_one_file_are_kept_apart(site: Path, tmp_path: Path) -> None:
    (site / "sure.py").write_text("SURE = 1.0\n")
    (site / "alike.py").write_text("from sure import SURE\n" + ALIKE)
    assert run(site, tmp_path, TWO_ALIKE.format(order="(Never,)")) == ["0"]
    assert run(site, tmp_path, TWO_ALIKE.format(order="(Always,)")) == ["50"]
    assert run(site, tmp_path, TWO_ALIKE.format(order="(Always, Never)")) == ["50", "0"]
    (site / "sure.py").write_text("SURE = 0.0\n")  # a constant from another file
    assert run(site, tmp_path, TWO_ALIKE.format(order="(Always, Never)")) == ["0", "0"]


@pytest.mark.slow
def test_an_algorithm_typed_at_a_prompt_compiles(site: Path, tmp_path: Path) -> None:
    script = (
        "SURE = 1.0\n"
        + ALIKE
        + TWO_ALIKE.replace("from alike import Never, Always", "").format(order="(Always, Never)")
    )
    assert run(site, tmp_path, script) == ["50", "0"]


PARTS = """
import numpy as np
from modelpicker.kernels.compiler import CompiledKernel
def share(one, other):
    return one / other
def shares(values):
    total = 0.0
    for i in range(len(values)):
        total += share(1.0, values[i])
    return total + share(1.0, values[0])
kernel = CompiledKernel(shares, {}, "shares")
print(kernel(np.array([1.0, 2.0])))
try:
    kernel(np.array([0.0]))
except ZeroDivisionError:
    print("refused")
"""


def test_what_a_part_of_a_kernel_raises_reaches_python_also_from_the_cache(site: Path, tmp_path: Path) -> None:
    (site / "shares.py").write_text(PARTS)
    for _ in range(2):
        assert run(site, tmp_path, "import shares") == ["2.5", "refused"]


def test_each_function_of_a_kernel_is_copied_once_however_many_call_it() -> None:
    made: list[str] = []

    def noted(copy: Function, original: Function) -> Function:
        made.append(original.__name__)
        return copy

    with_parts(play_rounds, runner(mp.Race.kernel, STREAM).calls, noted)
    assert {"rank", "power", "look_at"} <= set(made)
    assert len(made) == len(set(made))


def countdown(t: int) -> int:
    return countdown(t - 1) if t > 0 else 0


def test_what_cannot_be_compiled_is_refused_at_once() -> None:
    outer = 1.0

    def inner(state: object) -> float:
        return outer

    with pytest.raises(TypeError, match="uses no variable of another function"):
        Kernel(inner, smallest_loss, count_mistakes)
    with pytest.raises(TypeError, match="calls itself"):
        Kernel(countdown, smallest_loss, count_mistakes)
    with pytest.raises(TypeError, match="plain function"):
        Kernel(len, smallest_loss, count_mistakes)


def losses(state: Mistakes) -> float:
    return float(state.losses[0])


def test_a_helper_may_have_the_name_of_an_attribute() -> None:
    kernel = Kernel(losses, smallest_loss, count_mistakes)
    assert kernel.parts["decide"](no_mistakes(2)) == 0.0
