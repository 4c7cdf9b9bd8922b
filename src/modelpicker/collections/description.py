"""What can be said about a collection before any label is bought, and what more once labels are known."""

from dataclasses import dataclass

import numpy as np

from modelpicker.collections.collection import ModelCollection
from modelpicker.encoding import Array
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN
from modelpicker.theory.hardness import hardness_of

# Items that are compared at a time, so that memory does not grow with the collection.
BLOCK = 2**14


@dataclass(frozen=True)
class DescribedHardness:
    """The paper's measures of how hard it is to find the best model (section on stochastic data).

    With the best model i*, Δ_j is how much less accurate model j is, and θ_j how often one of the two is right and
    the other wrong. λ is the smallest Δ_j² / θ_j: the theorems promise fewer mistakes where it is large.
    """

    best: str
    tied: tuple[str, ...]
    """Models that are as accurate as the best; then Δ and λ are 0."""
    gap: float
    """Δ, the smallest Δ_j."""
    closeness: float
    """λ."""
    rival: str
    """The model j at which λ is attained."""
    rival_gap: float
    """Its Δ_j."""
    rival_difference: float
    """Its θ_j."""


@dataclass(frozen=True)
class Description:
    """A collection in numbers."""

    name: str
    items: int
    models: int
    classes: int
    fingerprint: str
    labelled: int
    disagreement: float
    """The share of items on which at least two models differ; on the others no label can matter."""
    divided_rounds: int
    """How many items that is: the rounds that a picker may ask for."""
    telling_rounds: int | None
    """The labelled items on which some models are right and others wrong: only these labels tell models apart."""
    pairwise: float
    """The share of items on which two models drawn at random differ."""
    identical: tuple[tuple[str, ...], ...]
    """Groups of models that say the same of every item."""
    abstentions: dict[str, int]
    """How often each model abstains, of those that ever do."""
    not_run: dict[str, int]
    """On how many items each model was not run, of those of which that is so. On these it differs from none."""
    unsaid: tuple[int | str, ...]
    """Classes that some label has and no model ever says."""
    unlabelled: tuple[int | str, ...]
    """Classes that models say and no label has, where every item is labelled."""
    accuracies: dict[str, float] | None
    hardness: DescribedHardness | None
    notes: tuple[str, ...]
    score: str = ""
    """What an evaluation tool calls its grades, where these are used instead of labels."""
    graded: int = 0
    """How many items have such grades."""
    grades: dict[str, float] | None = None
    """The mean grade of each model."""


def describe(collection: ModelCollection, name: str = "") -> Description:
    """Count everything that `modelpicker collections show` prints."""
    said = np.unique(collection.predictions)
    labels = collection.labels
    told = np.unique(labels) if labels is not None else np.empty(0, dtype=np.int64)
    complete = collection.labelled == len(collection)
    classes = collection.classes
    divided, telling = _rounds(collection)
    accuracies, measured = collection.accuracies, collection.measured
    graded = 0 if measured is None or collection.labelled else measured.graded
    means = (
        dict(zip(collection.models, measured.means(collection.predictions), strict=True))
        if measured is not None and graded
        else None
    )
    return Description(
        name=name,
        items=len(collection),
        models=len(collection.models),
        classes=len(classes),
        fingerprint=collection.fingerprint,
        labelled=collection.labelled,
        disagreement=divided / len(collection),
        divided_rounds=divided,
        telling_rounds=telling if labels is not None else None,
        pairwise=_pairwise(collection.predictions),
        identical=collection.identical,
        abstentions=_counts(collection, ABSTAINED),
        not_run=_counts(collection, NOT_RUN),
        unsaid=tuple(classes[code] for code in np.setdiff1d(told, said) if code >= 0),
        unlabelled=tuple(classes[code] for code in np.setdiff1d(said, told) if code >= 0) if complete else (),
        accuracies=None if accuracies is None else dict(zip(collection.models, accuracies.tolist(), strict=True)),
        hardness=hardness(collection),
        notes=collection.notes,
        score=measured.score if measured is not None and graded else "",
        graded=graded,
        grades=means,
    )


def _counts(collection: ModelCollection, code: int) -> dict[str, int]:
    """How often a code stands for a model, by model; only models of which it ever does."""
    counts = (collection.predictions == code).sum(axis=0).tolist()
    return {model: count for model, count in zip(collection.models, counts, strict=True) if count}


def _rounds(collection: ModelCollection) -> tuple[int, int]:
    """How many items divide the models, and on how many the known label does."""
    divided = telling = 0
    for start in range(0, len(collection), BLOCK):
        codes = collection.predictions[start : start + BLOCK]
        run = codes != NOT_RUN
        own = np.where(run, codes, codes.max(axis=1, keepdims=True))  # the largest is of a model that was run
        divided += int((own != own[:, :1]).any(axis=1).sum())
        if collection.labels is not None:
            labels = collection.labels[start : start + BLOCK]
            right = (codes == labels[:, None]) & (labels != ABSTAINED)[:, None]
            telling += int((right.any(axis=1) & (~right & run).any(axis=1)).sum())
    return divided, telling


def _pairwise(codes: Array) -> float:
    """The share of items on which two different models differ, over all pairs: counted class by class.

    Of a pair only the items count that both were run on.
    """
    models = codes.shape[1]
    if models < 2:
        return 0.0
    same = pairs = 0
    for start in range(0, len(codes), BLOCK):
        rows = np.sort(codes[start : start + BLOCK], axis=1)
        # A run of m equal answers makes m (m - 1) ordered pairs that agree.
        edges = np.ones((len(rows), models + 1), dtype=bool)
        edges[:, 1:-1] = rows[:, 1:] != rows[:, :-1]
        runs = np.diff(np.flatnonzero(edges[:, :-1].ravel()), append=rows.size)
        same += int((runs * (runs - 1)).sum())
        absent = (rows == NOT_RUN).sum(axis=1)
        same -= int((absent * (absent - 1)).sum())
        run = models - absent
        pairs += int((run * (run - 1)).sum())
    return float(1.0 - same / max(1, pairs))


def hardness(collection: ModelCollection) -> DescribedHardness | None:
    """The paper's λ, Δ and θ on the labelled items; None without labels, or with one model, or models not run."""
    if collection.absent or collection.labels is None or not collection.labelled or len(collection.models) < 2:
        return None
    known = collection.labels != ABSTAINED
    found = hardness_of(collection.predictions[known], collection.labels[known])
    names = collection.models
    return DescribedHardness(
        best=names[found.best],
        tied=tuple(names[model] for model in found.tied),
        gap=found.gap,
        closeness=found.closeness,
        rival=names[found.rival],
        rival_gap=float(found.gaps[found.rival]),
        rival_difference=float(found.differences[found.rival]),
    )
