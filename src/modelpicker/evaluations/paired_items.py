"""Two models on the same items: what one loses more than the other on each, as far as labels say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from modelpicker.campaigns.offline_pool import find_loss, known_grades
from modelpicker.certificates.pool_scores import Flags
from modelpicker.collections import ModelCollection
from modelpicker.collections.column_roles import Reading
from modelpicker.collections.files import load_with
from modelpicker.encoding import ClassName
from modelpicker.errors import InputError, brief
from modelpicker.frames import IDENTITIES
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN, Floats
from modelpicker.label import AnyLabel, Label, read_label
from modelpicker.losses import ACCURATE, GRADES, PREFERENCE, Loss


@dataclass(frozen=True)
class PairedItems:
    """A champion and a challenger on the same items."""

    champion: str
    challenger: str
    x: Floats
    """The loss of the challenger minus that of the champion; NaN where it is not known."""
    least: Floats
    """The least that x can be, and ..."""
    most: Floats
    """... the most: 0 where both models say the same."""
    contested: Flags
    """The items that a label might tell the two apart on: those on which they answer differently."""
    labelled: Flags
    unheard: Flags
    """The items that one of the two was not run on: no label says who is better there."""
    loss: Loss = ACCURATE
    ids: tuple[object, ...] = ()
    """What the items are called; empty if they have no ids."""
    notes: tuple[str, ...] = ()
    whole: ModelCollection | None = field(default=None, repr=False)
    """Where the answers come from; None where scores were given."""

    def __len__(self) -> int:
        return len(self.x)

    @property
    def unknown(self) -> Flags:
        """The items whose label is needed and missing."""
        return np.isnan(self.x)

    @property
    def askable(self) -> Flags:
        """Those of them that a label would tell."""
        return self.unknown & ~self.unheard

    @property
    def unheard_limits(self) -> tuple[float, float]:
        """The least and the most that x can be in sum over the items that one of the two was not run on."""
        return float(self.least[self.unheard].sum()), float(self.most[self.unheard].sum())

    @property
    def complete(self) -> bool:
        """Whether the difference is known on every item."""
        return not bool(self.unknown.any())

    @property
    def counted(self) -> bool:
        """Whether x is -1, 0 or 1, so that differences are whole numbers of items."""
        return self.loss.whole

    def answers(self, place: int) -> tuple[ClassName | None, ClassName | None]:
        """What champion and challenger say about an item."""
        if self.whole is None:
            return None, None
        columns = [self.whole.models.index(name) for name in (self.champion, self.challenger)]
        first, second = self.whole.predictions[place, columns].tolist()
        names = (*self.whole.classes, None)
        return names[first], names[second]

    def told(self, place: int, label: AnyLabel | None) -> Self:
        """The same with one more label; None: nobody can tell."""
        if label is None:
            return self
        x, labelled = self.x.copy(), self.labelled.copy()
        x[place] = _label_difference(self.loss, label, self.answers(place), f"item {place}")
        labelled[place] = not np.isnan(x[place])
        return replace(self, x=x, labelled=labelled)


def pair_scores(
    champion: object, challenger: object, names: tuple[str, str], ids: Sequence[object] = ()
) -> PairedItems:
    """Two columns of scores from 0 to 1; None or NaN in one of them makes the item unknown."""
    first, second = _as_scores(champion, names[0]), _as_scores(challenger, names[1])
    if len(first) != len(second):
        raise InputError(
            f"{names[0]} has {len(first):,} scores and {names[1]} has {len(second):,}; give both "
            "for the same items."
        )
    if not len(first):
        raise InputError("there are no items; give one score per item.")
    x = first - second
    known = ~np.isnan(x)
    whole = bool(np.isin(np.concatenate([first[known], second[known]]), (0.0, 1.0)).all())
    least, most = np.where(known, x, -1.0), np.where(known, x, 1.0)
    every = np.ones(len(x), dtype=np.bool_)  # whether two models differ is not known before both have a score
    loss = ACCURATE if whole else Loss(GRADES)
    return PairedItems(*names, x, least, most, every, known, np.zeros_like(every), loss, tuple(ids))


def _as_scores(values: Any, name: str) -> Floats:
    """One column of scores as numbers."""
    try:
        cells = list(values)
        made = np.array([np.nan if cell is None else _score(cell) for cell in cells], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: the scores cannot be read ({error}); pass numbers from 0 to 1.") from error
    wrong = np.flatnonzero((made < 0.0) | (made > 1.0))
    if len(wrong):
        place = int(wrong[0])
        raise InputError(
            f"{name}, item {place}: score {brief(cells[place])} is not between 0 and 1; divide by "
            "the highest score."
        )
    return made


def _score(cell: object) -> float:
    words = {"true": 1.0, "false": 0.0, "c": 1.0, "i": 0.0}
    if isinstance(cell, str):
        text = cell.strip().lower()
        return words[text] if text in words else float(text) if text else np.nan
    return float(cell)  # type: ignore[arg-type]  # the check itself


def pair_models(
    source: object, champion: str, challenger: str, labels: object, loss: object, reading: Mapping[str, Any]
) -> PairedItems:
    """Two models of a file or a collection, with labels from it or from elsewhere."""
    if str(champion) == str(challenger):
        raise InputError(f"champion and challenger are both {brief(champion)}; name two models.")
    graded: Sequence[AnyLabel | None] | None
    graded = labels if isinstance(labels, list | tuple) and any(isinstance(one, Label) for one in labels) else None
    bare = None if graded is not None or callable(labels) else labels
    whole = read_models(source, (str(champion), str(challenger)), bare, reading)
    for name in (champion, challenger):
        if str(name) not in whole.models:
            raise InputError(
                f"there is no model {brief(str(name))}; there are {brief(list(whole.models))}.", parameter="models"
            )
    places = [whole.models.index(str(name)) for name in (champion, challenger)]
    grade_of = None if labels is not None else known_grades(whole)
    if grade_of is not None:  # the results of an evaluation tool say how good answers are
        graded = [grade_of(item) for item in range(len(whole))]
        loss = GRADES if loss is None else loss
    found = _unlabelled(whole, places, find_loss(loss, whole))
    return _with_labels(found, whole, places, graded)


def read_models(
    source: object, names: tuple[str, ...], labels: object, reading: Mapping[str, Any]
) -> ModelCollection:
    """The collection; of a table, only the named columns are taken for models."""
    read = Reading(**{name: value for name, value in reading.items() if value is not None})
    if isinstance(source, ModelCollection):
        if labels is None:
            return source
        from modelpicker.collections.labels import add_labels

        found = add_labels(source, labels, read) if isinstance(labels, str | Path) else source.with_labels(labels)
        return found if isinstance(found, ModelCollection) else found.read()
    try:
        return load_with(source, labels, read)
    except InputError:
        if read.models is not None or not names:
            raise
    return load_with(source, labels, replace(read, models=list(names)))


def _unlabelled(whole: ModelCollection, places: list[int], loss: Loss) -> PairedItems:
    """The items, before any label is known."""
    codes = np.asarray(whole.predictions[:, places], dtype=np.int64)
    first, second = codes[:, 0], codes[:, 1]
    if loss.plain:
        most, least = (first >= 0).astype(np.float64), -(second >= 0).astype(np.float64)
        if not loss.whole or loss.name == PREFERENCE:
            most, least = np.ones(len(codes)), -np.ones(len(codes))
    else:
        reach = loss.reach(whole.classes)
        most, least = reach[second, first], -reach[first, second]
    unheard = (codes == NOT_RUN).any(axis=1)
    most, least = np.where(unheard, 1.0, most), np.where(unheard, -1.0, least)  # losses are from 0 to 1
    differ = (first != second) | unheard
    identity = next((name for name in whole.fields if name.lower() in IDENTITIES), None)
    return PairedItems(
        str(whole.models[places[0]]),
        str(whole.models[places[1]]),
        np.where(differ, np.nan, 0.0),
        np.where(differ, least, 0.0),
        np.where(differ, most, 0.0),
        differ & ~unheard,
        np.zeros(len(codes), dtype=np.bool_),
        unheard,
        loss,
        () if identity is None else tuple(whole.fields[identity]),
        whole.notes,
        whole,
    )


def _with_labels(
    found: PairedItems, whole: ModelCollection, places: list[int], graded: Sequence[AnyLabel | None] | None
) -> PairedItems:
    """The same with the labels that there are."""
    x, labelled = found.x.copy(), found.labelled.copy()
    if graded is not None:
        if len(graded) != len(found):
            raise InputError(f"there are {len(graded):,} labels, but {len(found):,} items; pass one per item.")
        for place, label in enumerate(graded):
            if label is not None and not found.unheard[place]:
                x[place] = _label_difference(found.loss, label, found.answers(place), f"item {place}")
                labelled[place] = not np.isnan(x[place])
        return replace(found, x=x, labelled=labelled)
    if whole.labels is None:
        return found
    labels = np.asarray(whole.labels, dtype=np.int64)
    codes = np.asarray(whole.predictions[:, places], dtype=np.int64)
    told = (labels != ABSTAINED) & ~found.unheard
    if found.loss.plain:
        if found.loss.name == PREFERENCE:
            raise InputError("a class is not a preference; pass labels such as mp.Label.better(…).")
        lost = (codes != labels[:, None]).astype(np.float64)
    else:
        lost = 1.0 - found.loss.scores(whole.classes)[labels[:, None], codes]
    return replace(found, x=np.where(told, lost[:, 1] - lost[:, 0], x), labelled=told)


def _label_difference(
    loss: Loss, label: AnyLabel, answers: tuple[ClassName | None, ClassName | None], where: str
) -> float:
    """What the challenger loses more than the champion; NaN if the label does not say."""
    if answers[0] == answers[1]:
        return 0.0
    told = read_label(label, where)
    lost = loss.losses(told if told is not None else label, list(answers))
    return float(lost[1] - lost[0])
