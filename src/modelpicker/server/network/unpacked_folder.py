"""A folder that is sent as a zip archive: unpacked with limits, into a place of its own."""

import shutil
import zipfile
from pathlib import Path, PurePosixPath

from modelpicker.errors import InputError
from modelpicker.server.api.problems import Problem

MOST_FILES = 10_000
# What programs put beside the files that they pack.
LITTER = "__MACOSX"


def unpack_folder(archive: Path, largest: int) -> Path:
    """The folder in an archive; if there is just one folder in it, that one.

    Args:
        archive: a zip archive. The folder is made beside it.
        largest: how many bytes all files may have together.
    """
    folder = archive.with_suffix("")
    folder.mkdir()
    with zipfile.ZipFile(archive) as packed:
        files = [entry for entry in packed.infolist() if not entry.is_dir() and not _is_litter(entry.filename)]
        check_size(files, largest)
        for entry in files:
            place = folder.joinpath(*_parts(entry.filename))
            place.parent.mkdir(parents=True, exist_ok=True)
            with packed.open(entry) as source, place.open("xb") as target:
                shutil.copyfileobj(source, target)
    inside = list(folder.iterdir())
    if not inside:
        raise InputError(f"{archive} has no files.")
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def check_size(files: list[zipfile.ZipInfo], largest: int) -> None:
    """Refuse an archive that would become a huge one; no member can become larger than it says."""
    if len(files) > MOST_FILES:
        raise Problem(413, f"The archive has {len(files):,} files; {MOST_FILES:,} are taken.")
    size = sum(entry.file_size for entry in files)
    if size > largest:
        raise Problem(413, f"The file would unpack to {size:,} bytes; {largest:,} are taken.")


def _is_litter(name: str) -> bool:
    return any(part == LITTER or (part.startswith(".") and part not in (".", "..")) for part in name.split("/"))


def _parts(name: str) -> tuple[str, ...]:
    """Where a member goes, below the folder; an error if it is meant to go elsewhere."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or any(part in ("..", "/") or ":" in part or "\0" in part for part in parts):
        raise InputError(f"the archive has a member called {name[:80]!r}, which is outside of its folder.")
    return parts
