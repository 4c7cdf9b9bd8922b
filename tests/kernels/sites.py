"""Copies of the package that hold no machine code yet."""

import shutil
from pathlib import Path

import modelpicker

PACKAGE = Path(str(modelpicker.__file__)).parent


def copy_package(folder: Path) -> Path:
    """Copy the package into a folder, with its byte code, which takes a second to make, but no machine code."""

    def left_out(place: str, _: list[str]) -> set[str]:
        return {"kernels"} if Path(place).name == "__pycache__" else set()

    shutil.copytree(PACKAGE, folder / "modelpicker", ignore=left_out)
    return folder
