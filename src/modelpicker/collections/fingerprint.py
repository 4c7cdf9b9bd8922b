"""Twelve digits that stand for the content of a collection."""

import hashlib
import json
from collections.abc import Sequence

from modelpicker.encoding import Array, ClassName

VERSION = "modelpicker collection 1"
DIGITS = 12


class Fingerprint:
    """Predictions and labels, taken in piece by piece, and names: equal content, equal digits."""

    def __init__(self) -> None:
        self._predictions = hashlib.sha256()
        self._labels = hashlib.sha256()
        self._items = 0
        self._labelled = False

    def add(self, predictions: Array, labels: Array | None) -> None:
        """The next items; codes are of the smallest type for the number of classes."""
        self._predictions.update(_bytes(predictions))
        self._items += len(predictions)
        if labels is not None:
            self._labels.update(_bytes(labels))
            self._labelled = True
        else:
            self._labels.update(b"\xff" * predictions.itemsize * len(predictions))

    def digits(self, models: Sequence[str], classes: Sequence[ClassName]) -> str:
        """The digits, once all items have been added."""
        labels = self._labels.hexdigest() if self._labelled else None
        content = [VERSION, list(models), list(classes), self._items, self._predictions.hexdigest(), labels]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:DIGITS]


def _bytes(codes: Array) -> memoryview:
    little: Array = codes.astype(codes.dtype.newbyteorder("<"), copy=False)
    return little.data
