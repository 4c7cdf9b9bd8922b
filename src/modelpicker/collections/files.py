"""Collections from files and by name."""

from collections.abc import Sequence
from pathlib import Path

from modelpicker.algorithms.encoding import ClassName
from modelpicker.collections import arrays
from modelpicker.collections.collection import ModelCollection
from modelpicker.collections.labels import ARRAYS, add_labels
from modelpicker.collections.long import is_long, read_long
from modelpicker.collections.shipped import SHIPPED, shipped_collection
from modelpicker.collections.tables import ENDINGS, explained, open_table
from modelpicker.collections.wide import Reading, WideReader
from modelpicker.errors import InputError, NotFoundError


def open_collection(
    source: str | Path,
    labels: str | Path | None = None,
    *,
    models: Sequence[str] | None = None,
    fields: Sequence[str] = (),
    classes: Sequence[ClassName] | None = None,
    normalise: bool = False,
    text: bool = False,
) -> ModelCollection | WideReader:
    """A collection that need not fit into memory: `run_stream` plays what this gives, batch by batch.

    Args:
        source: a file (.parquet, .arrow, .csv, .jsonl, .npz, .npy), a folder with predictions.npy and oracle.npy,
            or the name of a collection that ships.
        labels: a file with the labels, by `id`, `key` or `item` if both files have that column, else row by row.
        models: the columns that are models; by default all that are not known to be something else.
        fields: columns that are not models, but should be shown to a person.
        classes: the classes that may occur; by default whatever models and labels say.
        normalise: take answers that differ only in white space, capitals or punctuation at the ends for the same.
        text: take all answers for strings, also those that look like numbers.
    """
    reading = Reading(models, tuple(fields), classes, normalise, text)
    found = _open(source, reading)
    if labels is not None:
        return add_labels(found, Path(labels), normalise, text)
    return found


def load_collection(
    source: str | Path,
    labels: str | Path | None = None,
    *,
    models: Sequence[str] | None = None,
    fields: Sequence[str] = (),
    classes: Sequence[ClassName] | None = None,
    normalise: bool = False,
    text: bool = False,
) -> ModelCollection:
    """A collection from a file, a folder, or one that ships; arguments as for `open_collection`.

    >>> load_collection("digits").models[0]
    'nearest-centroid'
    """
    found = open_collection(
        source, labels, models=models, fields=fields, classes=classes, normalise=normalise, text=text
    )
    if isinstance(found, WideReader):
        with explained(found.table.path):
            return found.read()
    return found


def _exists(path: Path) -> bool:
    """Whether there is anything of that name; a name that cannot be one names nothing."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _open(source: str | Path, reading: Reading) -> ModelCollection | WideReader:
    path = Path(source)
    there = _exists(path)
    if str(source) in SHIPPED and not there:
        return shipped_collection(str(source))
    if not there:
        raise NotFoundError(
            f"{source} is neither a file nor a folder, nor a collection that ships ({', '.join(SHIPPED)})."
        )
    if path.is_dir():
        return arrays.read_folder(path, reading)
    ending = path.suffix.lower()
    if ending in ARRAYS:
        return arrays.read_array_file(path, reading)
    if ending not in ENDINGS:
        known = ", ".join([*ENDINGS, *ARRAYS])
        raise InputError(f"{path} has an ending that says nothing here; known are {known}.")
    table = open_table(path)
    with explained(path):
        return read_long(table, reading) if is_long(table) else WideReader(table, reading)
