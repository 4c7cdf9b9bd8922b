"""Arrays in files: .npy, .npz, and folders in the layout of the paper's authors.

Nothing is ever unpickled, and nothing is unpacked before its size is known to be sane.
"""

import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from modelpicker.algorithms.encoding import ClassName
from modelpicker.collections.codes import ABSTAINED, Array, smallest_type
from modelpicker.collections.collection import ModelCollection
from modelpicker.collections.tables import check_readable, quoted
from modelpicker.collections.vocabulary import in_order, uniform
from modelpicker.collections.wide import Reading, merged_note
from modelpicker.errors import FileError, InputError, NotFoundError, brief

# What an archive may unpack to: this much, or so many times its own size.
SMALL_ARCHIVE = 2**28
LARGEST_RATIO = 200
LARGEST_ARCHIVE = 2**33
# The authors' ImageNet file has so many columns, of which these repeat others.
IMAGENET_COLUMNS, IMAGENET_REPEATED = 105, (22, 55, 92)
PREDICTIONS, PROBABILITIES, LABELS, FIELDS = "predictions", "probabilities", ("labels", "label", "oracle"), "fields"


def read_folder(folder: Path, reading: Reading) -> ModelCollection:
    """A folder with predictions.npy and, if labels are known, oracle.npy."""
    if not (folder / "predictions.npy").exists():
        raise NotFoundError(f"{folder} is a folder without predictions.npy; pass a file, or such a folder.")
    predictions = read_npy(folder / "predictions.npy")
    labels = read_npy(folder / "oracle.npy") if (folder / "oracle.npy").exists() else None
    arrays: dict[str, Array] = {PREDICTIONS: predictions}
    if labels is not None:
        arrays["labels"] = labels
    collection = _collect(folder, arrays, reading)
    repeated = _repeated(collection)
    if not repeated:
        return collection
    kept = [place for place in range(len(collection.models)) if place not in repeated]
    listed = ", ".join(
        f"{collection.models[copy]} (as {collection.models[first]})" for copy, first in repeated.items()
    )
    return ModelCollection.of_codes(
        collection.predictions[:, kept],
        collection.labels,
        [collection.models[place] for place in kept],
        collection.classes,
        collection.fields,
        (*collection.notes, f"{len(repeated)} columns repeat others and were left out: {listed}."),
    )


def _repeated(collection: ModelCollection) -> dict[int, int]:
    """The columns that repeat others, each with the one that it repeats."""
    first: dict[bytes, int] = {}
    repeated: dict[int, int] = {}
    for place, column in enumerate(collection.predictions.T):
        earlier = first.setdefault(column.tobytes(), place)
        if earlier != place:
            repeated[place] = earlier
    if len(collection.models) == IMAGENET_COLUMNS:
        same = {place: _another(collection, place) for place in IMAGENET_REPEATED}
        known = {place: other for place, other in same.items() if other is not None}
        return known if len(known) == len(IMAGENET_REPEATED) else repeated
    return repeated


def _another(collection: ModelCollection, place: int) -> int | None:
    """A column that is the same as this one."""
    columns = collection.predictions.T
    others = (other for other in range(len(columns)) if other != place)
    return next((other for other in others if np.array_equal(columns[other], columns[place])), None)


def read_array_file(path: Path, reading: Reading) -> ModelCollection:
    """A .npz archive of named arrays, or the predictions alone in a .npy file."""
    check_readable(path)
    if path.suffix.lower() == ".npy":
        return _collect(path, {PREDICTIONS: read_npy(path)}, reading)
    return _collect(path, dict(read_npz(path)), reading)


def read_npy(path: Path) -> Array:
    """One array, never unpickled."""
    check_readable(path)
    with _explained(path), path.open("rb") as file:
        return _read_array(file, path.stat().st_size, str(path))


def read_npz(path: Path) -> Iterator[tuple[str, Array]]:
    """The arrays of an archive, by name; refused before it is unpacked if it would grow beyond reason."""
    with path.open("rb") as file:
        if not file.read(4).startswith(b"PK"):
            raise InputError(f"{path} ends in .npz, but by its first bytes it is no zip archive.")
    with _explained(path), zipfile.ZipFile(path) as archive:
        entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
        _check_size(path, sum(entry.file_size for entry in entries))
        for entry in entries:
            name = entry.filename.removesuffix(".npy")
            with archive.open(entry) as file:
                yield name, _read_array(file, entry.file_size, f"{path}, array {quoted(name)}")


def _check_size(path: Path, unpacked: int) -> None:
    packed = path.stat().st_size
    if unpacked > SMALL_ARCHIVE and (unpacked > LARGEST_RATIO * packed or unpacked > LARGEST_ARCHIVE):
        raise InputError(
            f"{path} holds {packed / 1e6:,.1f} MB and would unpack to {unpacked / 1e6:,.0f} MB, like no "
            "collection; if it is one, save it as Parquet."
        )


def _read_array(file: IO[bytes], size: int, where: str) -> Array:
    """An array whose header agrees with the size of its file, and which holds plain numbers or strings."""
    start = file.read(6)
    if start != np.lib.format.MAGIC_PREFIX:
        raise InputError(f"{where} is not a NumPy array by its first bytes.")
    version = tuple(file.read(2))
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise InputError(f"{where} is of a NumPy format that is not known here: {version}.")
    shape, fortran, dtype = readers[version](file)
    if dtype.hasobject:
        raise InputError(f"{where} holds pickled Python objects, which are never loaded; save numbers or strings.")
    if dtype.kind not in "buifUS":
        raise InputError(f"{where} is of type {dtype}; save numbers or strings.")
    count = int(np.prod(shape, dtype=object))
    if count * dtype.itemsize > size:
        raise InputError(f"{where} is cut short: its header promises {count * dtype.itemsize:,} bytes.")
    content = file.read(count * dtype.itemsize)
    if len(content) < count * dtype.itemsize:
        raise InputError(f"{where} is cut short: {len(content):,} of {count * dtype.itemsize:,} bytes are there.")
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what reading an array can raise into one sentence."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise InputError(f"{path} is damaged or cut short ({brief(str(error))}); write it again.") from error
    except InputError:
        raise
    except ValueError as error:
        raise InputError(
            f"{path} has a header that makes no sense ({brief(str(error))}); write it again."
        ) from error
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except MemoryError as error:
        raise FileError(
            f"{path} does not fit into memory; save it as Parquet, which is read in batches."
        ) from error


def _collect(path: Path, arrays: Mapping[str, Array], reading: Reading) -> ModelCollection:
    """A collection from arrays that are named predictions or probabilities, labels, models, classes, fields."""
    if PREDICTIONS not in arrays and PROBABILITIES not in arrays:
        found = ", ".join(arrays) or "nothing"
        raise InputError(f"{path} has no array named predictions or probabilities, only {found}.")
    models = [str(name) for name in arrays["models"].tolist()] if "models" in arrays else None
    noted = arrays["classes"].tolist() if "classes" in arrays else None
    labels = next((arrays[name] for name in LABELS if name in arrays), None)
    fields = _fields(path, arrays[FIELDS]) if FIELDS in arrays else None
    values = arrays.get(PREDICTIONS, arrays.get(PROBABILITIES))
    try:
        if values is not None and values.ndim == 3:
            classes = reading.classes or noted
            return ModelCollection.from_probabilities(values, labels, models, classes, fields=fields)
        if values is None or values.ndim != 2 or 0 in values.shape:
            raise InputError(
                f"predictions have shape {getattr(values, 'shape', ())}; they should be items by models."
            )
        if labels is not None:
            labels = _as_column(labels, len(values))
        if noted is not None and values.dtype.kind in "iu":  # as `save` writes them: codes, and what they stand for
            return ModelCollection(values, labels, models, noted, fields=fields)
        return _by_name(values, labels, models, reading, fields)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _as_column(labels: Array, items: int) -> Array:
    column = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if column.shape != (items,):
        raise InputError(f"there are {items} rows of predictions, but labels of shape {labels.shape}.")
    return column


def _by_name(
    values: Array, labels: Array | None, models: list[str] | None, reading: Reading, fields: Any
) -> ModelCollection:
    """A collection from arrays whose entries are the classes themselves: numbers, or strings."""
    notes: list[str] = []
    parts = [values] if labels is None else [values, labels]
    if len({part.dtype.kind in "US" for part in parts}) > 1:
        raise InputError("predictions and labels are not of one type; save both as numbers or both as strings.")
    if values.dtype.kind in "US":
        cleaned = [_answers(part, reading.normalise) for part in parts]
        if reading.normalise:
            counts = [
                len(np.unique(np.concatenate([part.ravel() for part in group]))) for group in (parts, cleaned)
            ]
            notes.append(merged_note(counts[0], counts[1]))
        absent: ClassName = ""
    else:
        cleaned = [_whole_numbers(part, what) for part, what in zip(parts, ("predictions", "labels"), strict=False)]
        missing = int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0
        if missing:
            notes.append(f"{missing:,} of {values.size:,} cells are missing and taken as abstentions.")
        absent = ABSTAINED
    said = np.unique(np.concatenate([np.unique(part) for part in cleaned]))
    names: tuple[ClassName, ...] = tuple(reading.classes or in_order(said[said != absent].tolist()))
    codes = [_encode(part, said, names, absent) for part in cleaned]
    found = codes[1] if labels is not None else None
    count = values.shape[1]
    model_names = models or [f"model-{number}" for number in range(count)]
    if len(model_names) != count or len(set(model_names)) < count:
        raise InputError(f"there are {count} columns of predictions, but {len(set(model_names))} different models.")
    return ModelCollection.of_codes(codes[0], found, model_names, names, fields, notes)


def _encode(values: Array, said: Array, names: tuple[ClassName, ...], absent: object) -> Array:
    """Places in the list of classes."""
    place_of = {name: place for place, name in enumerate(names)} | {absent: ABSTAINED}
    for value in said.tolist():
        if value not in place_of:
            row = np.argwhere(values == value)
            if len(row):
                raise InputError(f"row {row[0][0] + 1:,}: {brief(value)} is not one of the {len(names)} classes.")
            place_of[value] = ABSTAINED
    table = np.array([place_of[value] for value in said.tolist()], dtype=smallest_type(len(names)))
    codes: Array = table[np.searchsorted(said, values)]
    return codes


def _answers(values: Array, normalise: bool) -> Array:
    text = np.char.decode(values, "utf-8") if values.dtype.kind == "S" else values
    if not normalise:
        return text
    distinct, places = np.unique(text, return_inverse=True)
    cleaned: Array = np.array([uniform(answer) for answer in distinct.tolist()])[places].reshape(text.shape)
    return cleaned


def _whole_numbers(values: Array, what: str) -> Array:
    """Class numbers; a missing one (NaN) is an abstention."""
    if values.dtype.kind == "f":
        known = np.where(np.isnan(values), ABSTAINED, values)
        wrong = ~np.isfinite(known) | (known != np.trunc(known)) | (abs(known) > 2**53)
        _refuse(wrong, values, what, "not a class number")
        values = known
    _refuse(
        values < ABSTAINED,
        values,
        what,
        "not a class number: these count from 0 or from 1, and -1 is an abstention",
    )
    return values.astype(np.int64)


def label_names(values: Array, normalise: bool) -> list[ClassName | None]:
    """Labels by name, from an array of numbers or strings of shape (n,) or (n, 1)."""
    column = _as_column(values, len(values) if values.ndim else 0)
    if column.dtype.kind in "US":
        return [answer or None for answer in _answers(column, normalise).tolist()]
    return [None if number == ABSTAINED else number for number in _whole_numbers(column, "labels").tolist()]


def _refuse(wrong: Array, values: Array, what: str, why: str) -> None:
    if wrong.any():
        place = tuple(int(number) for number in np.argwhere(wrong)[0])
        column = f", column {place[1] + 1:,}" if len(place) > 1 else ""
        raise InputError(f"{what}, row {place[0] + 1:,}{column}: {values[place]} is {why}.")


def _fields(path: Path, content: Array) -> dict[str, Any]:
    """Item fields, which are kept as JSON."""
    try:
        fields = json.loads(content.tobytes())
        if isinstance(fields, dict) and all(isinstance(values, list) for values in fields.values()):
            return fields
    except ValueError:
        pass
    raise InputError(f"{path}, array {quoted(FIELDS)} is not what `save` writes: a JSON object of lists, as bytes.")
