"""Is A really better than B? Two runs of an evaluation on the same items, compared item by item."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from modelpicker.certificates.certificate import check_confidence
from modelpicker.certificates.paired import items_to_go, share_interval, sign_test
from modelpicker.collections import ModelCollection
from modelpicker.encoding import ClassName
from modelpicker.errors import InputError, brief
from modelpicker.evaluations.difference import (
    Difference,
    describe,
    independent_items,
    pool_difference,
    population_difference,
)
from modelpicker.evaluations.gates import MOST_TO_GO
from modelpicker.evaluations.paired_items import PairedItems, pair_models, pair_scores, read_models
from modelpicker.evaluations.score_files import identity_of, open_scores, pair_score_columns, read_columns
from modelpicker.frames import IDENTITIES
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN

RunVerdict: TypeAlias = Literal["a", "b", "undecided"]
# Columns of scores that are taken where none is named.
SCORES = ("score", "correct")


@dataclass(frozen=True, slots=True)
class RunComparison:
    """What two runs on the same items say about each other; differences are those of A, less those of B.

    >>> import modelpicker as mp
    >>> found = mp.compare_runs("svm-gaussian", "nearest-centroid", source="digits")
    >>> found.verdict
    'a'
    """

    verdict: RunVerdict
    """Which is better in general; "undecided" if that is not proven."""
    a: str
    b: str
    items: int
    """How many items both runs have a result for."""
    a_wins: int
    """On how many of them A is better, ..."""
    b_wins: int
    """... on how many B, ..."""
    ties: int
    """... and on how many they are equally good."""
    difference: Difference
    """In general, of items like these: it holds at any time, as items come."""
    here: Difference
    """On exactly these items."""
    p_value: float
    """McNemar's exact test, two-sided, for a number of items that was fixed beforehand."""
    win_share: tuple[float, float]
    """Clopper and Pearson's interval of how often A is the better one, among items on which one of them is."""
    confidence: float
    loss: str
    items_to_go: int | None
    """About how many more items would tell; None if that cannot be told. 0: it is told."""
    sentence: str
    notes: tuple[str, ...]
    """What the readers of the files decided, such as which score is used."""

    def document(self) -> dict[str, Any]:
        """The result for programs."""
        found = {name: getattr(self, name) for name in self.__slots__}
        return found | {
            "difference": self.difference.document(),
            "here": self.here.document(),
            "win_share": list(self.win_share),
            "notes": list(self.notes),
        }


def compare_runs(
    a: object,
    b: object,
    *,
    source: object = None,
    names: tuple[str, str] | None = None,
    labels: object = None,
    loss: object = None,
    scores: bool = False,
    confidence: float = 0.95,
    **reading: Any,
) -> RunComparison:
    """Compare two runs on the same items: is one of them really better, or is it luck?

    Args:
        a: scores from 0 to 1 (or true and false), one per item; a file, a data frame or a collection with the
            answers
            of one model; or, with `source`, the name of a model.
        b: the same of the other run. Files are matched by their ids, else row by row.
        source: a file or a collection that has both models.
        names: what the runs are called; by default after their files.
        labels: what `load_collection` takes: the right answers, if the files do not have them.
        loss: what mistakes cost, as `pick` takes it.
        scores: the files have scores from 0 to 1 and not answers.
        confidence: of both intervals.
        reading: how files are read, as `load_collection` has it.

    >>> found = compare_runs([True] * 80 + [False] * 20, [True] * 50 + [False] * 50)
    >>> found.verdict, found.a_wins, found.b_wins, found.ties
    ('a', 30, 0, 70)
    """
    items = _pair(a, b, source, names, labels, loss, scores, reading)
    known = items.x[~items.unknown]
    if not len(known):
        raise InputError("there is no item with a label that both runs answer; pass labels=, or --labels FILE.")
    return compare_items(items, check_confidence(confidence))


def compare_items(items: PairedItems, confidence: float) -> RunComparison:
    """The comparison of two models on items; the challenger is A."""
    known = items.x[~items.unknown]
    # Agreement without a label says nothing for the population, but is no loss for anybody here.
    a_wins, b_wins = int((known < 0.0).sum()), int((known > 0.0).sum())
    general = population_difference(items, confidence, both=True)
    here = pool_difference(items, confidence, 0, both=True)
    verdict: RunVerdict = "a" if general.low > 0.0 else "b" if general.high < 0.0 else "undecided"
    to_go = 0 if verdict != "undecided" else _to_go(items, (1.0 - confidence) / 2.0)
    p_value = sign_test(a_wins, b_wins)
    return RunComparison(
        verdict,
        items.challenger,
        items.champion,
        len(known),
        a_wins,
        b_wins,
        len(known) - a_wins - b_wins,
        general,
        here,
        p_value,
        share_interval(a_wins, a_wins + b_wins, confidence),
        confidence,
        items.loss.name,
        to_go,
        _sentence(items, verdict, general, here, p_value, confidence, to_go),
        items.notes,
    )


def _to_go(items: PairedItems, error: float) -> int | None:
    x = independent_items(items)
    found = [items_to_go(x, 0.0, error, MOST_TO_GO), items_to_go(-x, 0.0, error, MOST_TO_GO)]
    return min((one for one in found if one is not None), default=None)


def _sentence(
    items: PairedItems,
    verdict: RunVerdict,
    general: Difference,
    here: Difference,
    p_value: float,
    confidence: float,
    to_go: int | None,
) -> str:
    """The answer in plain words."""
    sure = f"{100.0 * confidence:.12g}%"
    first, second = items.challenger, items.champion
    if verdict != "undecided":
        winner = first if verdict == "a" else second
        return f"{winner} is really better. {general.sentence}"
    said = describe(items, here.estimate, here.estimate)
    told = f"Not proven: on these items {first} is {said}, but that may be luck."
    if not here.estimate:
        told = f"Not proven: on these items {first} is {said}."
    if p_value <= 1.0 - confidence:
        told += (
            f" McNemar's test would call it better (p = {p_value:.2g}), but only if the number of items was fixed "
            f"before anybody looked. The {sure} interval holds at any time, and it contains 0."
        )
    if to_go:
        told += f" About {to_go:,} more items like these would probably tell."
    return told


def _pair(
    a: object,
    b: object,
    source: object,
    names: tuple[str, str] | None,
    labels: object,
    loss: object,
    scores: bool,
    reading: Mapping[str, Any],
) -> PairedItems:
    """The items with both runs: B is the champion, A the challenger."""
    if source is not None:
        if not (isinstance(a, str) and isinstance(b, str)):
            raise InputError("with source, pass the names of two of its models.")
        if scores:
            return pair_score_columns(source, b, a)
        return pair_models(source, b, a, labels, loss, reading)
    if _is_column(a) and _is_column(b):
        first, second = names or ("A", "B")
        return pair_scores(b, a, (second, first))
    if _is_column(a) or _is_column(b):
        raise InputError("pass two columns of scores, or two files; not one of each.")
    called = names or _names_of(a, b)
    if scores:
        return _pair_score_files(a, b, called, reading)
    runs = [_read_run(one, reading) for one in (a, b)]
    if labels is None and any(_is_graded(run) for run in runs):
        return _pair_graded(runs[0], runs[1], called)
    whole = _joined(runs[0], runs[1], called, own_labels=labels is None)
    return pair_models(whole, called[1], called[0], labels, loss, reading)


def _is_column(value: object) -> bool:
    if isinstance(value, ModelCollection) or hasattr(value, "columns") or hasattr(value, "column_names"):
        return False
    listed = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
    return listed or hasattr(value, "to_list")


def _names_of(a: object, b: object) -> tuple[str, str]:
    """What two runs are called: by their files if these have different names."""
    found = [Path(one).stem if isinstance(one, str | Path) else "" for one in (a, b)]
    if all(found) and found[0] == found[1]:
        found = [f"{Path(str(one)).parent.name}/{Path(str(one)).stem}" for one in (a, b)]
    return (found[0], found[1]) if all(found) and found[0] != found[1] else ("A", "B")


def _read_run(source: object, reading: Mapping[str, Any]) -> ModelCollection:
    """The answers of one run."""
    whole = read_models(source, (), None, reading)
    if len(whole.models) != 1:
        raise InputError(
            f"{brief(source) if isinstance(source, str | Path) else 'the run'} has {len(whole.models)} models "
            f"({brief(list(whole.models))}); name one with --models (models=), or compare two of "
            "one file with source=."
        )
    return whole


def _is_graded(run: ModelCollection) -> bool:
    """Whether an evaluation tool gave scores that no label says."""
    return not run.labelled and run.measured is not None and run.measured.graded > 0


def _pair_graded(first: ModelCollection, second: ModelCollection, names: tuple[str, str]) -> PairedItems:
    """Two runs by the scores of an evaluation tool; what such a tool's labels say is what its score says."""
    used = [run.measured.score if run.measured is not None else "" for run in (first, second)]
    if not all(used) or used[0] != used[1]:
        said = [f"{name} has {brief(score) if score else 'none'}" for name, score in zip(names, used, strict=True)]
        raise InputError(
            f"the two runs have different scores: {' and '.join(said)}. Name one that both have with --label "
            "(label=), or pass --labels FILE (labels=)."
        )
    pairs, ids = _match(_keys(first), _keys(second), len(first), len(second), names)
    a, b = _score_of(first), _score_of(second)
    found = pair_scores([b[other] for _, other in pairs], [a[one] for one, _ in pairs], (names[1], names[0]), ids)
    return replace(found, notes=(*first.notes, *second.notes))


def _score_of(run: ModelCollection) -> list[float]:
    """The score of each answer; NaN where it is not known."""
    codes = run.predictions[:, 0]
    if run.measured is not None and run.measured.grades is not None:
        scores = run.measured.grades[:, 0].astype(np.float64)
    else:
        labels = np.full(len(run), ABSTAINED) if run.labels is None else run.labels
        scores = np.where(labels == ABSTAINED, np.nan, codes == labels)
    return [float(score) for score in np.where(codes == NOT_RUN, np.nan, scores)]


def _joined(
    first: ModelCollection, second: ModelCollection, names: tuple[str, str], *, own_labels: bool
) -> ModelCollection:
    """One collection of both runs, on the items that both have."""
    pairs, keys = _match(_keys(first), _keys(second), len(first), len(second), names)
    runs = (_answers(first), _answers(second))
    told = [_labels(whole) if own_labels else [None] * len(whole) for whole in (first, second)]
    words = any(isinstance(name, str) for whole in (first, second) for name in whole.classes)
    rows: list[list[ClassName | None]] = []
    labels: list[ClassName | None] = []
    for one, other in pairs:
        row = [_spelt(runs[0][one], words), _spelt(runs[1][other], words)]
        label, again = _spelt(told[0][one], words), _spelt(told[1][other], words)
        if label is not None and again is not None and label != again:
            raise InputError(
                f"item {brief(keys[len(rows)])} has the label {brief(label)} in {names[0]} and {brief(again)} in "
                f"{names[1]}; which is right? Pass --labels FILE (labels=)."
            )
        rows.append(row)
        labels.append(again if label is None else label)
    known = any(label is not None for label in labels)
    return ModelCollection(
        np.array(rows, dtype=object),
        labels if known else None,
        list(names),
        fields={"id": [str(key) for key in keys]},
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
    )


def _keys(whole: ModelCollection) -> list[str] | None:
    identity = next((name for name in whole.fields if name.lower() in IDENTITIES), None)
    return None if identity is None else [str(key) for key in whole.fields[identity]]


def _match(
    first: list[str] | None, second: list[str] | None, one: int, other: int, names: tuple[str, str]
) -> tuple[list[tuple[int, int]], list[object]]:
    """Which rows belong together, and what the items are called."""
    if first is None or second is None:
        if one != other:
            raise InputError(
                f"{names[0]} has {one:,} items and {names[1]} has {other:,}, and no column tells which belong "
                "together; add a column id to both (or name it with --id)."
            )
        return [(place, place) for place in range(one)], list(range(one))
    for keys, name in ((first, names[0]), (second, names[1])):
        if len(set(keys)) < len(keys):
            twice = next(key for key, times in Counter(keys).items() if times > 1)
            raise InputError(f"{name}: item {brief(twice)} occurs twice; ids must differ.")
    places = {key: place for place, key in enumerate(second)}
    found = [(place, places[key]) for place, key in enumerate(first) if key in places]
    if not found:
        raise InputError(
            f"{names[0]} and {names[1]} have no item in common: {brief(first[0])}, {brief(second[0])}."
        )
    return found, [first[place] for place, _ in found]


def _answers(whole: ModelCollection) -> list[ClassName | None]:
    names = (*whole.classes, None)
    return [names[code] for code in whole.predictions[:, 0].tolist()]


def _labels(whole: ModelCollection) -> list[ClassName | None]:
    names = (*whole.classes, None)
    return [None] * len(whole) if whole.labels is None else [names[code] for code in whole.labels.tolist()]


def _spelt(name: ClassName | None, words: bool) -> ClassName | None:
    return str(name) if words and name is not None else name


def _pair_score_files(a: object, b: object, names: tuple[str, str], reading: Mapping[str, Any]) -> PairedItems:
    """Two files with a column of scores each."""
    columns, keys = [], []
    for source in (a, b):
        table = open_scores(source)
        identity = identity_of(table, reading.get("id"))
        wanted = list(reading.get("models") or ()) or _score_column(table.columns, identity, str(table.path))
        if len(wanted) != 1:
            raise InputError(f"{table.path}: name one column of scores with --models (models=), not {len(wanted)}.")
        found = read_columns(table, wanted + ([] if identity is None else [identity]))
        columns.append(found[0])
        keys.append(None if identity is None else [str(key) for key in found[1]])
    pairs, ids = _match(keys[0], keys[1], len(columns[0]), len(columns[1]), names)
    first, second = [columns[0][one] for one, _ in pairs], [columns[1][other] for _, other in pairs]
    return pair_scores(second, first, (names[1], names[0]), ids)


def _score_column(columns: Sequence[str], identity: str | None, path: str) -> list[str]:
    others = [name for name in columns if name != identity]
    found = others if len(others) == 1 else [name for name in others if name.lower() in SCORES]
    if len(found) != 1:
        raise InputError(
            f"{path}: which column has the scores? Name it with --models (models=); there are {others}."
        )
    return found
