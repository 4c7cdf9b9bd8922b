"""The way of a small file through the code: which files `pick` goes through, and how often it changes files.

A *switch* is a call whose caller, the nearest function of the project on the stack, is in another file of the
project. The way back is not counted again. What runs only because a module is imported is left out. It is a fresh
process, on a machine on which the kernels are compiled. Linux itself counts how often the CSV is opened (inotify):
that includes what libraries in C++ open.

python -m benchmarks.walks
"""

import ctypes
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import modelpicker

PACKAGE = Path(str(modelpicker.__file__)).parent
ROWS = 20
OPENED, READ, CLOSED = 0x20, 0x01, 0x10  # of <sys/inotify.h>
EVENT_BYTES = 16  # of an event that has no name


@dataclass
class Walk:
    """What was seen."""

    entries: Counter[str] = field(default_factory=Counter)  # calls from other files, in the order of the first
    switches: int = 0


@contextmanager
def recorded(folder: Path) -> Iterator[Walk]:
    """Record the calls between files of a folder, in all threads."""
    walk = Walk()
    prefix = f"{folder}{os.sep}"

    def nearest(frame: FrameType | None) -> FrameType | None:
        while frame is not None and not frame.f_code.co_filename.startswith(prefix):
            frame = frame.f_back
        return frame

    def profile(frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event != "call" or not path.startswith(prefix) or is_import(frame):
            return
        caller = nearest(frame.f_back)
        came_from = caller.f_code.co_filename if caller else ""
        if came_from != path:
            walk.entries[path.removeprefix(prefix)] += 1
            walk.switches += caller is not None

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield walk
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def is_import(frame: FrameType | None) -> bool:
    """Whether a frame runs because some module is imported just now."""
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    importer = frame.f_back if frame else None
    return importer is not None and "importlib" in importer.f_code.co_filename


def count_opens(path: Path, act: Callable[[], object]) -> int:
    """How often any process opens a file meanwhile (two at one instant are one); only Linux can tell."""
    system = ctypes.CDLL(None, use_errno=True)
    watch = system.inotify_init()
    if watch < 0 or system.inotify_add_watch(watch, os.fsencode(path), OPENED | READ | CLOSED) < 0:
        raise OSError(ctypes.get_errno(), "cannot watch", str(path))
    try:
        act()
        os.set_blocking(watch, False)
        events = os.read(watch, 1 << 20)
    except BlockingIOError:
        return 0
    finally:
        os.close(watch)
    masks = (int.from_bytes(events[at + 4 : at + 8], sys.byteorder) for at in range(0, len(events), EVENT_BYTES))
    return sum(bool(mask & OPENED) for mask in masks)


def write_csv(path: Path) -> None:
    """A small collection with labels: three models, of which one is better."""
    classes = "spam", "ham", "other"
    rows = [(classes[i % 3], classes[i % 3], classes[i % 2], classes[(i // 4) % 3]) for i in range(ROWS)]
    lines = ["id,label,large,small,tiny", *(f"item-{i},{','.join(row)}" for i, row in enumerate(rows))]
    path.write_text("\n".join(lines) + "\n")


def table(walk: Walk) -> str:
    """The walk in figures."""
    lines = [
        f"files of the project    {len(walk.entries):5,}",
        f"switches between them   {walk.switches:5,}",
        "",
        "files in the order in which they are first entered, and how often from another",
        *(f"  {path:<40} {times:5,}" for path, times in walk.entries.items()),
    ]
    return "\n".join(lines)


def walk_pick(path: str) -> None:
    """Pick, and print what was seen; what `pick` itself prints is thrown away."""
    from modelpicker.cli import main as cli

    printed = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.argv = ["modelpicker", "pick", path, "--as", "stream"]
    with recorded(PACKAGE) as walk:
        try:
            cli()
        except SystemExit as end:
            if end.code:
                raise
    sys.stdout.flush()
    os.dup2(printed, 1)
    print(table(walk))


def run_again() -> str:
    """What a fresh process prints of its walk, and how often it opened its CSV."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "twenty.csv"
        write_csv(path)
        command = [sys.executable, "-m", "benchmarks.walks", str(path)]
        printed: list[str] = []

        def act() -> None:
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(done.stderr)
            printed.append(done.stdout)

        if sys.platform == "linux":
            printed.append(f"\nThe CSV is opened {count_opens(path, act)} times.\n")
        else:
            act()
    return "".join(printed)


def main() -> None:
    """Print a table."""
    if sys.argv[1:]:
        walk_pick(sys.argv[1])
        return
    run_again()  # compiles what is not compiled yet
    print(f"modelpicker pick, a CSV of {ROWS} rows")
    print(run_again(), end="")


if __name__ == "__main__":
    main()
