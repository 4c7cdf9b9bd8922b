"""How a pool reads labels: as the code of a class, and as the scores of all models where a label says more."""

from typing import Any, NamedTuple

import numpy as np

from modelpicker.algorithms.pools.gain import UNKNOWABLE, GradedItems
from modelpicker.algorithms.told_labels import check_answers
from modelpicker.certificates.pool_scores import Flags
from modelpicker.encoding import ClassName
from modelpicker.errors import brief
from modelpicker.kernels.primitives import NOBODY, Codes, Floats
from modelpicker.label import AnyLabel, Label
from modelpicker.losses import PREFERENCE, Loss

# An answer that scores less is not the one that the guess learns from.
RIGHT_ENOUGH = 0.5


class ReadLabel(NamedTuple):
    """A label as a pool keeps it."""

    code: int
    """Of the class that is right, or of the best answer: the guess learns from it."""
    scores: Floats | None = None
    """One less the loss, one per model; None: a model is right if it says the class, else wrong."""

    def same(self, other: "ReadLabel") -> bool:
        """Whether two labels say the same."""
        if self.scores is None or other.scores is None:
            return self.code == other.code and self.scores is other.scores
        return np.array_equal(self.scores, other.scores, equal_nan=True)


UNKNOWABLE_LABEL = ReadLabel(UNKNOWABLE)


class PoolLabels:
    """Reads labels, for the classes and the loss of a pool."""

    def __init__(self, loss: Loss, classes: tuple[ClassName, ...]) -> None:
        loss.check_classes(len(classes))
        self.loss = loss
        self.classes = classes
        self._codes = {name: code for code, name in enumerate(classes)}
        self.worth = np.zeros((0, 0)) if loss.plain else loss.scores(classes)
        """How right an answer is if a class is the label, for the guess; empty: right or wrong."""
        self.lead = None if loss.plain else loss.reach(classes)
        """By how much an answer may score less than another; None: by 1."""

    def read(self, label: AnyLabel, row: Codes, absent: Flags | None, where: str) -> ReadLabel:
        """The label of an item of which the models say this; models that are absent were not run on it."""
        check_answers(label, self.classes[:1], where)
        all_ran = absent is None or not absent.any()
        if not isinstance(label, Label) and self.loss.plain and all_ran:
            return ReadLabel(self._codes.get(label, NOBODY))
        said, places = np.unique(row, return_inverse=True)
        answers = [self.classes[code] if code >= 0 else None for code in said.tolist()]
        losses = self.loss.losses(label, answers)
        scores = (1.0 - losses)[places]
        if absent is not None:
            scores = np.where(absent, np.nan, scores)
        if not isinstance(label, Label):
            return ReadLabel(self._codes.get(label, NOBODY), scores)
        if label.kind == PREFERENCE and len({grade for _, grade in label.grades}) == 1:
            return ReadLabel(NOBODY, scores)  # two equal answers: neither is the right one
        return ReadLabel(self._best(said, np.bincount(places), losses), scores)

    def _best(self, said: Codes, models: Any, losses: Floats) -> int:
        """The code of the best answer, that of most models if there are several; NOBODY if none is good."""
        known = np.where(np.isnan(losses) | (said < 0), 1.0, losses)
        best = int(np.lexsort((-models, known))[0])
        return int(said[best]) if known[best] <= 1.0 - RIGHT_ENOUGH else NOBODY

    def words(self, label: ReadLabel) -> str:
        """A label in words, for errors."""
        if label.code == UNKNOWABLE and label.scores is None:
            return "one that nobody can label"
        if label.scores is not None and self.loss.plain:
            return "one with other grades"
        return brief(self.classes[label.code]) if label.code >= 0 else "a class that no model predicts"


def graded_items(learned: list[int], graded: dict[int, Floats], worth: Floats, models: int) -> GradedItems:
    """What the kernels are told about labels that are more than one class."""
    slots = np.full(len(learned), -1, dtype=np.int64)
    if not graded:
        return GradedItems(slots, np.zeros((0, models)), worth)
    at = {place: slot for slot, place in enumerate(graded)}
    for t, place in enumerate(learned):
        slots[t] = at.get(place, -1)
    return GradedItems(slots, np.array(list(graded.values())), worth)
