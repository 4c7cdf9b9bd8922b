"""The shared collections, where they are to be had."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

FOLDER = Path(os.environ.get("MODELPICKER_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))


def need(path: str) -> Path:
    """A file of the shared data, or a loud skip."""
    found = FOLDER / path
    if not found.exists():
        pytest.skip(f"NO SHARED DATA: {found} is absent; set MODELPICKER_TEST_DATA to run this test")
    return found


def load(name: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Predictions and labels of a shared collection."""
    predictions: npt.NDArray[Any] = np.load(need(f"{name}/predictions.npy"))
    labels: npt.NDArray[Any] = np.load(need(f"{name}/oracle.npy"))
    return predictions.astype(np.int64), labels.reshape(-1).astype(np.int64)
