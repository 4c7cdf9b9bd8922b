"""Permissions bind everybody but root; tests that need them bound step down from root for a while."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65_534


@contextmanager
def unprivileged(folder: Path) -> Iterator[None]:
    """Go on as a user who owns the folder and its files, and is not root.

    What is imported late must have been imported before: that user may not be able to read this Python.
    """
    if os.geteuid() != 0:
        yield
        return
    for path in (folder, *folder.iterdir()):
        os.chown(path, NOBODY, -1)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
