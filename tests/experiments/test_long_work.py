"""Interrupted, killed, damaged, crowded out: what has been run is kept, and going on gives the same results."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import modelpicker as mp
from modelpicker.experiments.run_store import Ledger
from modelpicker.experiments.tasks import Block, ComparisonCell, Job, Task
from tests.experiments.test_comparing import SMALL, assert_equal, small
from tests.experiments.test_playing import collection

SCRIPT = """
import sys
import modelpicker as mp
from tests.experiments.test_playing import collection
mp.compare(collection(), ["label-efficient"], [40, 80], stream_size=200, realizations=4000, out=sys.argv[1])
"""


def runs_in(folder: Path) -> int:
    ledger = Ledger(folder / "runs", 1)
    return sum(int((finals[:, 0] >= 0).sum()) for finals in ledger.finals.values())


def test_a_comparison_that_is_cut_short_goes_on_and_gives_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut off at every few tasks, until it is through."""
    whole, play, left = small(), Job.play, [0]
    played: list[tuple[ComparisonCell, int]] = []

    def play_some(self: Job, task: Task) -> Block:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        played.extend((cell, number) for cell in task.cells for number in task.numbers)
        return play(self, task)

    monkeypatch.setattr(Job, "play", play_some)
    cuts = 0
    while cuts < 100:
        left[0] = 7
        try:
            results = small(out=tmp_path / "out", workers=1)
            break
        except KeyboardInterrupt:
            cuts += 1
    assert cuts > 1
    assert_equal(results, whole)
    # A task that is done while another one fails may be done again, but hardly any is.
    assert len(played) - len(set(played)) <= 0.1 * len(played)
    left[0] = 0
    assert_equal(small(out=tmp_path / "out"), whole)


@pytest.mark.slow
def test_a_killed_process_loses_seconds_at_most(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)], cwd=Path(__file__).parents[2])
    try:
        deadline = time.monotonic() + 60
        while not list((folder / "runs").glob("part-*")) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = runs_in(folder)
    assert kept > 0
    for leftover in (folder / "runs").glob(".part*"):
        assert "unfinished" in leftover.name
    arguments: tuple[Any, ...] = (collection(), ["label-efficient"], [40, 80], 200, 4000)
    assert_equal(mp.compare(*arguments, out=folder), mp.compare(*arguments))


def test_another_comparison_does_not_get_mixed_in(tmp_path: Path) -> None:
    small(out=tmp_path / "out")
    with pytest.raises(
        mp.ConflictError, match=r"holds another comparison: its seed is 5, not 6; pass another folder"
    ):
        small(out=tmp_path / "out", seed=6)
    with pytest.raises(mp.ConflictError, match="its budgets is"):
        small(out=tmp_path / "out", budgets=[40])
    with pytest.raises(mp.ConflictError, match="its collection's fingerprint is"):
        mp.compare(collection(seed=1), **SMALL, out=tmp_path / "out")


def test_an_algorithm_whose_code_has_changed_is_another_one(tmp_path: Path) -> None:
    from tests.experiments.test_honest import Crippled

    class Mine(mp.ModelPicker):
        kernel = mp.ModelPicker.kernel

    small(methods=[mp.Method("mine", Mine)], out=tmp_path / "out")
    small(methods=[mp.Method("mine", Mine)], out=tmp_path / "out")
    Mine.kernel = Crippled.kernel
    with pytest.raises(mp.ConflictError, match="its methods is"):
        small(methods=[mp.Method("mine", Mine)], out=tmp_path / "out")


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(mp.ConflictError, match=r"holds other things \(thesis.tex\)"):
        small(out=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["thesis.tex"]


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(mp.FileError, match="cannot be used"):
        small(out=tmp_path / "out")


def test_two_processes_do_not_write_to_one_folder(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    from modelpicker.experiments.output_folder import Folder

    with (
        Folder.open(tmp_path / "out", {}),
        pytest.raises(mp.ConflictError, match="in use by another comparison"),
    ):
        small(out=tmp_path / "out")


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    whole = small(out=tmp_path / "out")
    part = next((tmp_path / "out/runs").glob("part-*"))
    part.write_bytes(part.read_bytes()[:-20])
    with pytest.raises(
        mp.FileError, match=rf"{part.name} cannot be read.*Delete it: its runs will be played again"
    ):
        small(out=tmp_path / "out")
    part.unlink()
    assert_equal(small(out=tmp_path / "out"), whole)


def test_damaged_settings_are_named(tmp_path: Path) -> None:
    small(out=tmp_path / "out")
    for damage in ("{", "[]"):
        (tmp_path / "out/settings.json").write_text(damage)
        with pytest.raises(mp.InputError, match=r"settings.json is damaged"):
            small(out=tmp_path / "out")


def test_a_full_disk_is_one_sentence_and_what_was_written_is_kept(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    script = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (4096, {resource.RLIM_INFINITY}))\n"
    script += "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + SCRIPT.replace("4000", "40")
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, str(tmp_path / "out")],  # no module is to be cut off in its cache
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "FileError" in done.stderr
    assert "cannot be written: File too large" in done.stderr
    assert not list((tmp_path / "out/runs").glob("part-*"))
    assert not list((tmp_path / "out/runs").glob(".part-*"))
    mp.compare(collection(), ["label-efficient"], [40, 80], stream_size=200, realizations=40, out=tmp_path / "out")


def test_a_task_that_fails_stops_the_comparison_and_keeps_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = Job.play

    def play_or_fail(self: Job, task: Task) -> Block:
        if 25 in task.numbers:
            raise MemoryError
        return play(self, task)

    monkeypatch.setattr(Job, "play", play_or_fail)
    with pytest.raises(MemoryError):
        small(out=tmp_path / "out", workers=1)
    assert runs_in(tmp_path / "out") > 0


PEAK = """
import resource, sys
import modelpicker as mp
found = mp.synthetic_collection(20_000, 4, 3, [0.5, 0.6, 0.7, 0.8])
method = mp.Method("a tenth", mp.LabelEfficient, fixed=0.1)
mp.compare(found, [method], [100], stream_size=20_000, realizations=int(sys.argv[1]), workers=1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_realizations_times_rounds() -> None:
    """Records of 16 bytes a round, kept for 270 more streams of 20,000 rounds, would be 86 MB; 60 are allowed."""
    pytest.importorskip("resource")
    peaks = [
        int(subprocess.run([sys.executable, "-c", PEAK, runs], capture_output=True, text=True, check=True).stdout)
        for runs in ("30", "300")
    ]
    assert peaks[1] - peaks[0] < 60_000  # kilobytes


def test_threads_are_gone_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def interrupt(self: Job, task: Task) -> Block:
        seen.append(threading.current_thread().name)
        raise KeyboardInterrupt

    monkeypatch.setattr(Job, "play", interrupt)
    with pytest.raises(KeyboardInterrupt):
        small()
    assert seen
    assert all(name.startswith("modelpicker") for name in seen)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("modelpicker")]


def test_settings_say_how_the_numbers_were_made(tmp_path: Path) -> None:
    results = small(out=tmp_path / "out")
    written = json.loads((tmp_path / "out/results.json").read_text())
    assert written["seed"] == 5
    assert written["collection"]["fingerprint"] == collection().fingerprint
    assert written["versions"]["modelpicker"] == mp.__version__
    assert written["rows"] == results.document()["rows"]
    assert (tmp_path / "out/results.csv").read_text().count("\n") == 1 + len(results.rows)
