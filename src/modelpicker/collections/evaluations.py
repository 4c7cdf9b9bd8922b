"""Results of evaluation tools as a collection: answers, and labels or grades, and what models cost."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from modelpicker.collections.collection import ModelCollection
from modelpicker.collections.column_roles import Reading, check_columns
from modelpicker.collections.evaluation_records import EvaluatedItem, EvaluationRecords, ModelAnswers
from modelpicker.collections.label_checks import listed_models
from modelpicker.collections.measurements import Measurements
from modelpicker.collections.tables import BATCH_ROWS, Table, explained, quoted
from modelpicker.collections.vocabulary import MISSING
from modelpicker.collections.wide_tables import CollectionReader
from modelpicker.encoding import Array
from modelpicker.errors import InputError
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN

ID, TEXT, LABEL, REFERENCE = "id", "text", "label", "reference"
# Names that are not a model's.
TAKEN = (ID, TEXT, LABEL)
# Scores that an error or a note names.
MOST_NAMED = 6
# Costs and seconds are told with that many digits.
DIGITS = 3
# A table may have that many cells, or that many for each answer.
FEW_CELLS, MOST_HOLES = 10_000_000, 100
# The code of a reference that no model said.
UNSAID = -3


class Cells(NamedTuple):
    """The answers of all models to the items that are kept."""

    models: list[str]
    items: Array
    """Places of the items."""
    codes: Array
    """Items by models: places in the texts; -1 for no answer, -2 for a model that was not run."""
    grades: npt.NDArray[np.float32] | None
    """The chosen score, NaN where there is none."""


class Truth(NamedTuple):
    """What says which answers are right."""

    labels: list[str | None] | None
    """References."""
    grades: npt.NDArray[np.float32] | None
    """Scores, where no references are used as labels."""
    notes: list[str]


def collect_records(records: EvaluationRecords, reading: Reading, tool: str) -> ModelCollection:
    """The collection of the records of a tool.

    A model that has no record of an item was not run on it. Of several repetitions the most frequent answer counts,
    with the mean score. `label` names the score that is used, or "reference".
    """
    records.check_task()
    columns, beside = _chosen_models(records, reading)
    _check_filled(records, columns)
    score = _choose_score(records, [column for _, column in columns], reading.label)
    cells, notes = _cells(records, columns, score, reading)
    cells, truth = _find_truth(records, cells, reading, score, tool)
    prices = {kind: found for kind in ("cost", "latency") if (found := _prices(columns, kind))}
    notes = [_heading(records, tool, len(cells.models)), *notes, *_failures(columns, reading), *truth.notes]
    notes += [*_others(columns, score), *_price_notes(prices)]
    shown = {
        name: _one_each(column, _rows_of(records, cells.items), len(cells.items), None)[0]
        for name, column in beside
    }
    read = _read(_table(records, cells, truth.labels, shown), cells, truth.labels is not None, reading)
    made = ModelCollection.of_codes(
        read.predictions, read.labels, read.models, read.classes, read.fields, (*notes, *read.notes)
    )
    return made.with_measured(Measurements(truth.grades, score or "", prices))


def _check_filled(records: EvaluationRecords, columns: Sequence[tuple[str, ModelAnswers]]) -> None:
    """An error if nearly no model was run on nearly any item: such a table would be all holes."""
    answers, cells = sum(len(column.items) for _, column in columns), len(records.items) * len(columns)
    if cells > max(FEW_CELLS, MOST_HOLES * answers):
        raise InputError(
            f"{records.path} has {answers:,} answers of {len(columns):,} models to {len(records.items):,} items: "
            "hardly any item was run with two models. Are these results of the same items?"
        )


def _find_truth(
    records: EvaluationRecords, cells: Cells, reading: Reading, score: str | None, tool: str
) -> tuple[Cells, Truth]:
    """Labels or grades; and the answers, of which equal ones with other grades are told apart."""
    if reading.labels_elsewhere:
        return cells, Truth(None, None, [])
    labels = _labels_of(records, cells, reading, score)
    if labels is not None:
        return cells, Truth(labels, None, [_labels_note(cells, labels, score, tool)])
    if score is None:
        return cells, Truth(None, None, [f"{tool} gives neither scores nor references that can be labels."])
    codes, again = _told_apart(records, cells)
    notes = [
        f"score {quoted(score)} of {tool} is used as the grade of each answer, not the references; labels are "
        "looked up there."
    ]
    bare = int(np.isnan(np.asarray(cells.grades)).all(axis=1).sum())
    if bare:
        notes.append(f"{bare:,} of {len(codes):,} items have no such score.")
    if again:
        notes.append(f"in {again:,} items equal answers have different scores: they count as different answers.")
    return cells._replace(codes=codes), Truth(None, cells.grades, notes)


def _read(table: Table, cells: Cells, labelled: bool, reading: Reading) -> ModelCollection:
    """The table as a collection, read as any other table is."""
    check_columns(table, reading.fields)
    told = Reading(
        models=cells.models,
        fields=[name for name in table.columns if name not in (ID, LABEL, *cells.models)],
        classes=reading.classes,
        normalise=reading.normalise,
        text=True,
        id=ID,
        label=LABEL if labelled else None,
        same=reading.same,
    )
    with explained(table.path):
        return CollectionReader(table, told).read()


def _heading(records: EvaluationRecords, tool: str, models: int) -> str:
    tasks = list(dict.fromkeys(item.task for item in records.items))
    task = f", task {quoted(tasks[0])}" if len(tasks) == 1 and tasks[0] else ""
    return f"results of {tool}{task}: {models} models."


def _chosen_models(
    records: EvaluationRecords, reading: Reading
) -> tuple[list[tuple[str, ModelAnswers]], list[tuple[str, ModelAnswers]]]:
    """The models that were asked for, by their names; and those that are fields of items, as a judge is."""
    named = {f"model {name}" if name in TAKEN else name: column for name, column in records.models().items()}
    roles = reading.said()
    for name, role in roles.items():
        if role == "model" and name not in named:
            raise InputError(f"{records.path} has no model {quoted(name)}; it has {listed_models(tuple(named))}.")
    wanted = [str(name) for name in reading.models or named if roles.get(str(name), "model") == "model"]
    if not wanted:
        raise InputError(f"{records.path}: every model is left out.")
    shown = [name for name in named if roles.get(name) == "shown"]
    return [(name, named[name]) for name in wanted], [(name, named[name]) for name in shown]


def _choose_score(records: EvaluationRecords, columns: Sequence[ModelAnswers], label: str | None) -> str | None:
    """The score to use: the one that was asked for, else the first that is a grade for every model."""
    names = dict.fromkeys(name for column in columns for name in column.scores)
    if label == REFERENCE and REFERENCE not in names:
        if not any(item.references for item in records.items):
            raise InputError(f"{records.path} gives no references.", parameter="label")
        return None
    if label is not None and label not in names:
        offered = [*names, *([REFERENCE] if any(item.references for item in records.items) else [])]
        listed = ", ".join(map(quoted, offered[:MOST_NAMED])) or "none"
        raise InputError(
            f"{records.path} has no score {quoted(label)} (label); there are {listed}.", parameter="label"
        )
    for name in names if label is None else [label]:
        fault = _score_fault(columns, name)
        if not fault:
            return name
        if label is not None:
            raise InputError(f"{records.path}: score {quoted(name)} {fault}", parameter="label")
    return None


def _score_fault(columns: Sequence[ModelAnswers], name: str) -> str:
    """Why a score cannot be a grade; empty if it can."""
    for column in columns:
        found = np.frombuffer(column.score(name), dtype=np.float64)
        known = found[~np.isnan(found)]
        if not len(known):
            return f"is missing for model {quoted(column.model)}."
        if known.min() < 0.0 or known.max() > 1.0:
            worst = float(known.min() if known.min() < 0.0 else known.max())
            return f"has the value {worst:g}; grades go from 0 (wrong) to 1 (right)."
    return ""


def _cells(
    records: EvaluationRecords,
    columns: Sequence[tuple[str, ModelAnswers]],
    score: str | None,
    reading: Reading,
) -> tuple[Cells, list[str]]:
    """The items that some model was run on, and what is special about them."""
    counts = np.array([np.bincount(column.items, minlength=len(records.items)) for _, column in columns])
    items = np.flatnonzero(counts.any(axis=0))
    run = counts[:, items] > 0
    names = [name for name, _ in columns]
    _check_shared(records, names, run)
    notes = _gaps(names, run)
    repeated = int(counts.max())
    if repeated > 1:
        kept = "the most frequent answer counts" + (", with the mean score." if score is not None else ".")
        notes.append(f"items were run up to {repeated} times: {kept}")
    codes = np.full((len(items), len(columns)), NOT_RUN, dtype=np.int64)
    grades = None if score is None else np.full(codes.shape, np.nan, dtype=np.float32)
    row = _rows_of(records, items)
    for place, (_, column) in enumerate(columns):
        codes[:, place], found = _one_each(column, row, len(items), score)
        if grades is not None and found is not None:
            grades[:, place] = found
    if reading.missing == "not-run":  # then what is not an answer says nothing about a model
        silent = codes == ABSTAINED
        codes[silent] = NOT_RUN
        if grades is not None:
            grades[silent] = np.nan
    return Cells(names, items, codes, grades), notes


def _check_shared(records: EvaluationRecords, names: Sequence[str], run: npt.NDArray[np.bool_]) -> None:
    """An error if some model was run on nothing that another one was run on: then nothing compares it."""
    if len(names) < 2:
        return
    shared = (run & (run.sum(axis=0) > 1)).sum(axis=1)
    if shared.all():
        return
    alone = int(np.argmin(shared))
    raise InputError(
        f"{records.path}: model {quoted(names[alone])} was run on {int(run[alone].sum()):,} of {run.shape[1]:,} "
        "items, and on none of them was another model run. Are these results of the same items? Leave models out "
        "with --ignore (ignore=)."
    )


def _gaps(names: Sequence[str], run: npt.NDArray[np.bool_]) -> list[str]:
    """That models were not run on some items."""
    gaps = int((~run).any(axis=0).sum())
    if not gaps:
        return []
    missing = {name: int((~run[place]).sum()) for place, name in enumerate(names)}
    worst = [f"{name} on {count:,}" for name, count in Counter(missing).most_common(3) if count]
    more = sum(count > 0 for count in missing.values()) - len(worst)
    listed = ", ".join(worst) + (f", and {more:,} more models" if more else "")
    return [
        f"on {gaps:,} of {run.shape[1]:,} items, not every model was run (not run: {listed}). There, nothing is "
        "known of a model that was not run. --ignore (ignore=) leaves a model out."
    ]


def _rows_of(records: EvaluationRecords, items: Array) -> Array:
    """The row of each item; -1 for one that is left out."""
    row = np.full(len(records.items), -1, dtype=np.int64)
    row[items] = np.arange(len(items))
    return row


def _one_each(
    column: ModelAnswers, row: Array, items: int, score: str | None
) -> tuple[Array, npt.NDArray[np.float32] | None]:
    """One answer for each item that is kept, and one grade."""
    rows = row[np.frombuffer(column.items, dtype=np.int64)]
    said = np.frombuffer(column.codes, dtype=np.int64)
    codes = np.full(items, NOT_RUN, dtype=np.int64)
    again = np.bincount(rows[rows >= 0], minlength=items) > 1
    codes[rows[rows >= 0]] = said[rows >= 0]
    several: dict[int, list[int]] = {}
    for place in np.flatnonzero((rows >= 0) & again[rows]).tolist():
        several.setdefault(int(rows[place]), []).append(int(said[place]))
    for place, heard in several.items():
        codes[place] = Counter(code for code in heard if code >= 0 or max(heard) < 0).most_common(1)[0][0]
    if score is None:
        return codes, None
    values = np.frombuffer(column.score(score), dtype=np.float64).copy()
    values[said < 0] = 0.0
    known = (rows >= 0) & ~np.isnan(values)
    sums = np.bincount(rows[known], weights=values[known], minlength=items)
    numbers = np.bincount(rows[known], minlength=items)
    means = np.divide(sums, numbers, out=np.full(items, np.nan), where=numbers > 0)
    return codes, means.astype(np.float32)


def _failures(columns: Sequence[tuple[str, ModelAnswers]], reading: Reading) -> list[str]:
    """That some answers are errors."""
    failed = {name: column.failed for name, column in columns if column.failed}
    if not failed:
        return []
    listed = ", ".join(f"{name} {count:,}" for name, count in Counter(failed).most_common(3))
    if reading.missing == "not-run":
        return [f"{sum(failed.values()):,} answers are errors: nothing is known about the model there ({listed})."]
    return [
        f"{sum(failed.values()):,} answers are errors, and count as wrong ({listed}). With --missing not-run "
        "(missing=), they count as not run."
    ]


def _labels_of(
    records: EvaluationRecords, cells: Cells, reading: Reading, score: str | None
) -> list[str | None] | None:
    """The references as labels, if they are what scores say, or if there are no scores; None if they cannot be."""
    references = [records.items[place].references for place in cells.items.tolist()]
    if not any(references) or (reading.label is not None and reading.label not in (REFERENCE, score)):
        return None
    code_of = {text: code for code, text in enumerate(records.texts)}
    labels = [_nearest(found, cells.codes[row], code_of) for row, found in enumerate(references)]
    codes = np.array(
        [code_of.get(label, UNSAID) if label is not None else UNSAID for label in labels], dtype=np.int64
    )
    right = cells.codes == codes[:, None]
    if score is None:
        if right.any() or reading.label == REFERENCE or reading.free or reading.normalise:
            return labels
        return None
    grades = np.nan_to_num(np.asarray(cells.grades), nan=-1.0)
    agrees = np.where(cells.codes < 0, True, grades == right.astype(np.float32)).all()
    return labels if agrees and reading.label != score and right.any() else None


def _nearest(references: Sequence[str], said: Array, code_of: Mapping[str, int]) -> str | None:
    """Of several references the one that most models say."""
    if len(references) < 2:
        return next(iter(references), None)
    return max(references, key=lambda text: int((said == code_of.get(text, UNSAID)).sum()))


def _labels_note(cells: Cells, labels: Sequence[str | None], score: str | None, tool: str) -> str:
    known = sum(label is not None for label in labels)
    how = f"they say what score {quoted(score)} says" if score is not None else "answers are compared exactly"
    return f"the references of {tool} are the labels of {known:,} of {len(cells.items):,} items; {how}."


def _others(columns: Sequence[tuple[str, ModelAnswers]], score: str | None) -> list[str]:
    """Which other scores there are."""
    names = dict.fromkeys(name for _, column in columns for name in column.scores if name != score)
    listed = ", ".join(list(names)[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
    return [f"other scores, for --label (label=): {listed}."] if names else []


def _told_apart(records: EvaluationRecords, cells: Cells) -> tuple[Array, int]:
    """Codes in which equal answers to an item with other grades are other answers; how many items have some."""
    grades = np.asarray(cells.grades)
    codes = cells.codes.copy()
    places = {text: code for code, text in enumerate(records.texts)}
    rows = np.flatnonzero(_may_differ(cells.codes, grades)).tolist()
    for row in rows:
        seen: dict[int, list[str]] = {}
        for place, (code, grade) in enumerate(zip(cells.codes[row].tolist(), grades[row].tolist(), strict=True)):
            heard = seen.setdefault(code, [])
            heard += [] if str(grade) in heard else [str(grade)]  # as text, in which NaN equals NaN
            number = heard.index(str(grade))
            if code >= 0 and number:
                text = f"{records.texts[code]} ({number + 1})"
                codes[row, place] = places.setdefault(text, len(records.texts))
                records.texts += [text] if codes[row, place] == len(records.texts) else []
    return codes, len(rows)


def _may_differ(codes: Array, grades: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Rows in which two models give the same answer and have different grades."""
    differs = np.zeros(len(codes), dtype=bool)
    for place in range(1, codes.shape[1]):
        same = (codes[:, :place] == codes[:, place : place + 1]) & (codes[:, place : place + 1] >= 0)
        equal = (grades[:, :place] == grades[:, place : place + 1]) | (
            np.isnan(grades[:, :place]) & np.isnan(grades[:, place : place + 1])
        )
        differs |= (same & ~equal).any(axis=1)
    return differs


def _prices(columns: Sequence[tuple[str, ModelAnswers]], kind: str) -> dict[str, float]:
    """The mean per answer for each model; empty unless all models have it and some is above 0."""
    found = {}
    for name, column in columns:
        values = np.frombuffer(column.cost if kind == "cost" else column.latency, dtype=np.float64)
        known = values[~np.isnan(values)]
        if not len(known):
            return {}
        found[name] = math.fsum(known.tolist()) / len(known)
    return found if any(found.values()) else {}


def _price_notes(prices: Mapping[str, Mapping[str, float]]) -> list[str]:
    """What models cost, in one sentence."""
    if not prices:
        return []
    names = list(next(iter(prices.values())))
    units = {"cost": "", "latency": " s"}
    listed = ", ".join(
        f"{name} {' and '.join(f'{prices[kind][name]:.{DIGITS}g}{units[kind]}' for kind in prices)}"
        for name in names[:MOST_NAMED]
    )
    more = ", …" if len(names) > MOST_NAMED else ""
    options = " or ".join(f"--price {kind}" for kind in prices)
    return [f"{' and '.join(prices)} per item on average: {listed}{more}. {options} takes it into account."]


def _ids(items: Sequence[EvaluatedItem]) -> list[str]:
    """What the items are called: with their task, if there are several tasks."""
    several = len({item.task for item in items}) > 1
    prefixes = [f"{item.task}/" if several else "" for item in items]
    names = [f"{prefix}{item.name}" for prefix, item in zip(prefixes, items, strict=True)]
    if len(set(names)) == len(names):
        return names
    return [f"{prefix}{item.key}" for prefix, item in zip(prefixes, items, strict=True)]


def _table(
    records: EvaluationRecords, cells: Cells, labels: Sequence[str | None] | None, shown: Mapping[str, Array]
) -> Table:
    """The answers as a wide table; `shown` are codes of answers that are fields of the items."""
    items = [records.items[place] for place in cells.items.tolist()]
    columns: dict[str, pa.Array] = {ID: pa.array(_ids(items), pa.string())}
    if any(item.text is not None for item in items):
        columns[TEXT] = pa.array([item.text for item in items], pa.string())
    extra = dict.fromkeys(name for item in items for name in item.fields if name not in (*TAKEN, *cells.models))
    for name in extra:
        values = [item.fields.get(name) for item in items]
        plain = len({type(value) for value in values if value is not None}) < 2
        columns[name] = pa.array(values if plain else [None if v is None else str(v) for v in values])
    texts = pa.array([*records.texts, ""], pa.string())  # the last is an abstention: one that was not run is null
    for name, codes in shown.items():
        columns[name] = texts.take(pa.array(codes, mask=codes < 0))
    for name, codes in zip(cells.models, cells.codes.T, strict=True):
        places = np.where(codes == ABSTAINED, len(records.texts), codes)
        columns[name] = texts.take(pa.array(places, mask=codes == NOT_RUN))
    if labels is not None:
        columns[LABEL] = pa.array(labels, pa.string())
    rows = pa.table(columns)

    def read(wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from rows.select(list(wanted)).to_batches(BATCH_ROWS)

    return Table(records.path, tuple(columns), read, metadata={MISSING: ["not-run"]})
