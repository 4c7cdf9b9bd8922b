"""Collections from files and by name."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from modelpicker.collections import array_files
from modelpicker.collections.collection import ModelCollection
from modelpicker.collections.column_roles import Reading, Role
from modelpicker.collections.data_frames import frame_table
from modelpicker.collections.evaluation_tools import ENDINGS as EVALUATIONS
from modelpicker.collections.evaluation_tools import read_evaluation
from modelpicker.collections.labels import add_labels
from modelpicker.collections.long_tables import as_long, read_long
from modelpicker.collections.same_answers import SameAnswer, merge_answers
from modelpicker.collections.shipped import SHIPPED, shipped_collection
from modelpicker.collections.spelling import EXACT
from modelpicker.collections.table_files import files_of_folder, files_of_pattern, is_pattern, open_files
from modelpicker.collections.tables import ARRAYS, Table, check_ending, ending_of, exists, explained, open_table
from modelpicker.collections.wide_tables import CollectionReader
from modelpicker.encoding import ClassName, Missing
from modelpicker.errors import InputError, NotFoundError, brief


def open_collection(
    source: object,
    labels: object = None,
    *,
    models: Sequence[str] | None = None,
    fields: Sequence[str] = (),
    classes: Sequence[ClassName] | None = None,
    normalise: bool = False,
    text: bool = False,
    label: str | None = None,
    id: str | None = None,
    ignore: Sequence[str] = (),
    columns: Mapping[str, Role] | None = None,
    same: SameAnswer = EXACT,
    missing: Missing = "abstained",
    task: str | None = None,
) -> ModelCollection | CollectionReader:
    """A collection that need not fit into memory: `run_stream` plays what this gives, batch by batch.

    Args:
        source: a file (.parquet, .arrow, .csv, .jsonl, .json, .xlsx, .npz, .npy), a folder with predictions.npy and
            oracle.npy, the results of an evaluation tool (a file or a folder), the name of a collection that ships;
            or a data frame (pandas, polars, Arrow), or a mapping of arrays. A folder of Parquet, CSV or Arrow
            files, or a pattern such as "folder/*.parquet", is one collection, in the order of the files' names.
        labels: a file or a data frame with the labels, by `id`, `key` or `item` if both have that column, else row
            by row; or an array or a list of them.
        models: the columns that are models; by default all that are not known to be something else.
        fields: columns that are not models, but should be shown to a person.
        classes: the classes that may occur; by default whatever models and labels say.
        normalise: take answers that differ only in white space, capitals or punctuation at the ends for the same.
        text: take all answers for strings, also those that look like numbers.
        label: the column that holds the labels, if it is not called so. Of the results of an evaluation tool the
            score to use, or "reference".
        id: the column that tells items apart, if it is not called `id`, `key` or `item`.
        ignore: columns that are left out.
        columns: roles by column: "model", "shown", "id", "label" or "left out". Columns that are not named here
            keep the role that they have otherwise.
        same: what counts as the same answer to an item: "exact", "normalised", a tolerance for numbers, or a
            function of two answers, as `merge_answers` has it. The whole source is then read into memory.
        missing: what a prediction that is missing or empty stands for. "abstained": the model has no answer, which
            counts as wrong. "not-run": it was not run for this item, and nothing is known about it. Then -1 is an
            abstention all the same, but not in an array that has no -2.
        task: of the results of an evaluation tool the task to take, if there are several; or a pattern: "mmlu*".

    >>> import modelpicker as mp
    >>> source = mp.open_collection("digits")
    >>> len(source), len(source.models)
    (1497, 58)
    """
    return open_with(
        source,
        labels,
        Reading(
            models, fields, classes, normalise, text, label, id, ignore, dict(columns or {}), same, missing, task
        ),
    )


def open_with(source: object, labels: object, reading: Reading) -> ModelCollection | CollectionReader:
    """The same, with all that is said about how to read it in one object."""
    reading = replace(reading, labels_elsewhere=labels is not None)
    table = None if isinstance(source, str | Path) else frame_table(source)
    if table is None:
        found = _open(_as_path(source), reading)
    else:
        with explained(table.path):
            found = _read_table(table, reading)
    found = found if labels is None else add_labels(found, labels, reading)
    return merge_answers(_read(found), reading.same) if reading.free else found


def load_collection(
    source: object,
    labels: object = None,
    *,
    models: Sequence[str] | None = None,
    fields: Sequence[str] = (),
    classes: Sequence[ClassName] | None = None,
    normalise: bool = False,
    text: bool = False,
    label: str | None = None,
    id: str | None = None,
    ignore: Sequence[str] = (),
    columns: Mapping[str, Role] | None = None,
    same: SameAnswer = EXACT,
    missing: Missing = "abstained",
    task: str | None = None,
) -> ModelCollection:
    """A collection from a file, a folder, or one that ships; arguments as for `open_collection`.

    >>> load_collection("digits").models[0]
    'nearest-centroid'
    """
    return load_with(
        source,
        labels,
        Reading(
            models, fields, classes, normalise, text, label, id, ignore, dict(columns or {}), same, missing, task
        ),
    )


def load_with(source: object, labels: object, reading: Reading) -> ModelCollection:
    """The same, with all that is said about how to read it in one object."""
    return _read(open_with(source, labels, reading))


def _read(found: ModelCollection | CollectionReader) -> ModelCollection:
    """A collection in memory."""
    if isinstance(found, CollectionReader):
        with explained(found.table.path):
            return found.read()
    return found


def _as_path(value: object) -> str | Path:
    if not isinstance(value, str | Path):
        raise InputError(
            f"source {brief(value)}: pass the path of a file or a data frame; mp.ModelCollection(...) takes arrays."
        )
    return value


def _read_table(table: Table, reading: Reading) -> ModelCollection | CollectionReader:
    """A table in wide or in long form."""
    long = as_long(table)
    return CollectionReader(table, reading) if long is None else read_long(long, reading)


def several_files(source: object) -> list[Path]:
    """The files of a pattern, or of a folder of tables; none if a source is something else."""
    if is_pattern(source):
        return files_of_pattern(str(source))
    folder = Path(source) if isinstance(source, str | Path) else None
    if folder is None or not exists(folder) or not folder.is_dir() or array_files.is_array_folder(folder):
        return []
    return files_of_folder(folder)


def _open(source: str | Path, reading: Reading) -> ModelCollection | CollectionReader:
    path = Path(source)
    if is_pattern(source):
        return _read_table(open_files(source, several_files(source)), reading)
    there = exists(path)
    if str(source) in SHIPPED and not there:
        return shipped_collection(str(source), reading)
    if not there:
        near = get_close_matches(str(source), SHIPPED, 1)
        meant = f" Did you mean {near[0]}?" if near else f" Collections that ship are {', '.join(SHIPPED)}."
        raise NotFoundError(f"{source} does not exist.{meant}")
    ending = ending_of(path)
    if ending in ARRAYS:
        return array_files.read_array_file(path, reading)
    if (path.is_dir() and not array_files.is_array_folder(path)) or ending in EVALUATIONS:
        found = read_evaluation(path, reading)
        if found is not None:
            return found
    if paths := several_files(path):
        return _read_table(open_files(source, paths), reading)
    if path.is_dir():
        return array_files.read_folder(path, reading)
    check_ending(path)
    table = open_table(path)
    with explained(path):
        return _read_table(table, reading)
