"""What somebody says about a round, as kernels take it: the code of a class, or the loss of every model."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from modelpicker.encoding import ClassName, Row, check_same_kind, encode_label
from modelpicker.kernels.primitives import GRADED, NOT_RUN, SKIPPED, Codes, Floats, Grades
from modelpicker.label import AnyLabel, Label, read_label
from modelpicker.losses import Loss


class ToldLabel(NamedTuple):
    """The label of one round."""

    code: int
    """A class, NOBODY, SKIPPED or GRADED."""
    losses: tuple[float, ...] = ()
    """The loss of every model, NaN where it is not known, if the code is GRADED."""


def tell(label: object, row: Row, loss: Loss, where: str) -> ToldLabel:
    """The label of a round with this row: a class, a `Label`, the document of one, or None for a skip."""
    known = read_label(label, where)
    if known is None:
        return ToldLabel(SKIPPED)
    if loss.plain and not isinstance(known, Label):
        return ToldLabel(encode_label(known, row.classes))
    check_answers(known, row.classes[:1], where)
    answers = [None if code < 0 else row.classes[code] for code in row.codes]
    return ToldLabel(GRADED, tuple(loss.losses(known, answers).tolist()))


def losses_by(told: ToldLabel, codes: npt.NDArray[Any]) -> Floats:
    """What a label says about every model of a row: its loss, NaN where it is not known."""
    lost: Floats = np.array(told.losses) if told.code == GRADED else (codes != told.code).astype(np.float64)
    lost[codes == NOT_RUN] = np.nan
    return lost


def check_answers(label: AnyLabel, classes: Sequence[ClassName], where: str) -> None:
    """Refuse a label whose answers are strings where the models' are numbers, or the other way round."""
    answers = [answer for answer, _ in label.grades] if isinstance(label, Label) else [label]
    for answer in answers[:1]:
        check_same_kind(answer, classes, where)


def grade_rows(labels: list[AnyLabel], rows: Codes, names: Sequence[ClassName], loss: Loss) -> Grades:
    """The loss of every model by each of these labels, a row each.

    Rows with the same label are looked up together. Codes stand for `names`; below 0, for an abstention.
    """
    places: dict[AnyLabel, list[int]] = {}
    for place, label in enumerate(labels):
        places.setdefault(label, []).append(place)
    graded = np.empty(rows.shape, dtype=np.float32)
    for label, same in places.items():
        codes, answers = np.unique(rows[same], return_inverse=True)
        losses = loss.losses(label, [None if code < 0 else names[code] for code in codes.tolist()])
        graded[same] = losses[answers.reshape(len(same), -1)]
    return graded
