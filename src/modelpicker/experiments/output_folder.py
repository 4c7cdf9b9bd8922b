"""The folder of a comparison: what was asked for, every run, tables, figures and the report."""

import json
import platform
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from modelpicker.collections.writers import replacing
from modelpicker.errors import ConflictError, FileError, InputError

FORMAT = "modelpicker comparison 1"
SETTINGS = "settings.json"
LOCK = ".lock"


class Folder:
    """A folder that belongs to one comparison."""

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        self.path = path
        self.settings = settings

    @property
    def runs(self) -> Path:
        """Where the runs are."""
        return self.path / "runs"

    @classmethod
    @contextmanager
    def open(cls, path: Path, identity: dict[str, Any]) -> Iterator[Self]:
        """A new folder, or the one of the same comparison; nobody else may use it meanwhile."""
        wanted = {"format": FORMAT, "version": version("modelpicker"), **json.loads(json.dumps(identity))}
        folder = cls(path, wanted)
        try:
            refuse_others(path, (SETTINGS,), but=("runs", LOCK))
            folder.runs.mkdir(parents=True, exist_ok=True)
            (path / LOCK).touch()
        except OSError as error:
            raise FileError(f"{path} cannot be used: {error.strerror or error}; pass another folder.") from error
        with _held(path):
            folder._check()
            with replacing(path / SETTINGS) as unfinished:
                unfinished.write_text(json.dumps(wanted, indent=1, ensure_ascii=False), encoding="utf-8")
            yield folder

    def _check(self) -> None:
        """Refuse a folder that holds another comparison."""
        path = self.path / SETTINGS
        if not path.exists():
            return
        try:
            found = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{path} is damaged: {error}; pass another folder.") from error
        if not isinstance(found, dict):
            raise InputError(f"{path} is damaged: it is not a record of settings; pass another folder.")
        found.setdefault("setting", "stream")  # of a version that compared on streams only
        for name, value in _flat(self.settings).items():
            if _flat(found).get(name) != value:
                raise ConflictError(
                    f"{self.path} holds another comparison: its {name} is {_short(_flat(found).get(name))}, not "
                    f"{_short(value)}; pass another folder, or delete this one."
                )


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Keep other processes out."""
    try:
        import fcntl
    except ImportError:  # not on this system
        yield
        return
    with (path / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ConflictError(f"{path} is in use by another comparison; pass another folder.") from error
        yield


def refuse_others(path: Path, ours: Collection[str], but: Collection[str] = ()) -> None:
    """Leave alone a folder that holds things, none of which is ours, before anything is made in it."""
    if not path.is_dir() or any((path / name).exists() for name in ours):
        return
    others = sorted(entry.name for entry in path.iterdir() if entry.name not in but)
    if others:
        raise ConflictError(f"{path} holds other things ({others[0]}); pass an empty or a new folder.")


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings, those of the collection one by one."""
    collection = settings.get("collection") or {}
    return {**settings, "collection": None, **{f"collection's {name}": value for name, value in collection.items()}}


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def versions() -> dict[str, str]:
    """What the numbers were made with."""
    libraries = ("modelpicker", "numpy", "numba", "pyarrow")
    return {
        "python": platform.python_version(),
        "platform": sys.platform,
        **{name: version(name) for name in libraries},
    }
