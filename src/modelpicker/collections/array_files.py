"""Arrays in files: .npy, .npz, and folders in the layout of the paper's authors.

Nothing is ever unpickled, and nothing is unpacked before its size is known to be sane.
"""

import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa

from modelpicker.collections.collection import ModelCollection, check_model_names, read_missing
from modelpicker.collections.column_name_hints import LABEL
from modelpicker.collections.column_roles import Reading
from modelpicker.collections.label_checks import identical_notes
from modelpicker.collections.tables import BATCH_ROWS, Table, check_readable, explained, quoted
from modelpicker.collections.vocabulary import MISSING
from modelpicker.collections.wide_tables import CollectionReader
from modelpicker.encoding import Array, ClassName
from modelpicker.errors import InputError, NotFoundError, brief
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN

# What an archive may unpack to: this much, or that many times its own size.
SMALL_ARCHIVE = 2**28
LARGEST_RATIO = 200
LARGEST_ARCHIVE = 2**33
# The authors' ImageNet file has that many columns, of which these repeat others.
IMAGENET_COLUMNS, IMAGENET_REPEATED = 105, (22, 55, 92)
PREDICTIONS, PROBABILITIES, LABELS = "predictions", "probabilities", ("labels", "label", "oracle")
META = "meta"
KNOWN = (PREDICTIONS, PROBABILITIES, *LABELS, META, "models", "classes")


def is_array_folder(folder: Path) -> bool:
    """Whether a folder is in the layout of the paper's authors."""
    return (folder / "predictions.npy").exists()


def read_folder(folder: Path, reading: Reading) -> ModelCollection:
    """A folder with predictions.npy and, if labels are known, oracle.npy."""
    if not is_array_folder(folder):
        raise NotFoundError(
            f"{folder} is a folder without predictions.npy, has no table (.parquet, .csv, .arrow), and has no "
            "results of an evaluation tool that is known; pass a file, or such a folder."
        )
    predictions = read_npy(folder / "predictions.npy")
    labels = read_npy(folder / "oracle.npy") if (folder / "oracle.npy").exists() else None
    arrays: dict[str, Array] = {PREDICTIONS: predictions}
    if labels is not None:
        arrays["labels"] = labels
    collection = _collect(folder, arrays, reading)
    repeated = {} if reading.models else _repeated(collection)
    if not repeated:
        return collection
    kept = [place for place, model in enumerate(collection.models) if model not in repeated]
    listed = ", ".join(f"{copy} (as {first})" for copy, first in repeated.items())
    notes = [note for note in collection.notes if note not in identical_notes(collection.identical)]
    return ModelCollection.of_codes(
        collection.predictions[:, kept],
        collection.labels,
        [collection.models[place] for place in kept],
        collection.classes,
        collection.fields,
        (*notes, f"{len(repeated)} columns repeat others and were left out: {listed}."),
    )


def _repeated(collection: ModelCollection) -> dict[str, str]:
    """The models that repeat others, each with the one that it repeats."""
    groups = collection.identical
    if len(collection.models) == IMAGENET_COLUMNS:
        left_out = {collection.models[place] for place in IMAGENET_REPEATED}
        pairs = [(left_out & set(group), [model for model in group if model not in left_out]) for group in groups]
        known = {copy: others[0] for copies, others in pairs if others for copy in sorted(copies)}
        if known.keys() == left_out:
            return known
    return {copy: group[0] for group in groups for copy in group[1:]}


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
            raise InputError(f"{path} ends in .npz, but by its first bytes it is not a zip archive.")
    with _explained(path), zipfile.ZipFile(path) as archive:
        entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
        if not entries.keys() & set(KNOWN):
            raise InputError(f"{path} has none of the arrays {', '.join(KNOWN[:3])}, only {brief(list(entries))}.")
        _check_size(path, sum(entry.file_size for name, entry in entries.items() if name in KNOWN))
        for name, entry in entries.items():
            if name not in KNOWN:
                continue
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
    try:
        shape, fortran, dtype = readers[version](file)
    except Exception as error:  # whatever a header of nonsense makes NumPy's parser do
        raise InputError(f"{where} has an invalid header ({brief(str(error))}); write it again.") from error
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
    """Turn what reading an array can raise, beside what any file can, into one sentence."""
    try:
        with explained(path):
            yield
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise InputError(f"{path} is damaged or cut short ({brief(str(error))}); write it again.") from error
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{path} is not valid ({brief(str(error))}); write it again.") from error


def _collect(path: Path, arrays: Mapping[str, Array], reading: Reading) -> ModelCollection:
    """A collection from arrays that are named predictions or probabilities, labels, models, classes."""
    meta = _read_meta(path, arrays[META]) if META in arrays else None
    values = arrays.get(PREDICTIONS, arrays.get(PROBABILITIES))
    if values is None:
        found = ", ".join(arrays) or "nothing"
        raise InputError(f"{path} has no array named predictions or probabilities, only {found}.")
    wanted = () if reading.labels_elsewhere else LABELS
    labels = next((arrays[name] for name in wanted if name in arrays), None)
    fields = meta["fields"] if meta else {}
    try:
        models, classes = (
            meta[name] if meta else _names(arrays[name]) if name in arrays else None
            for name in ("models", "classes")
        )
        if values.ndim == 3:
            likeliest = _from_probabilities(values, labels, models, reading.classes or classes)
            return read_missing(likeliest, reading.missing)
        if values.ndim != 2 or 0 in values.shape:
            raise InputError(f"predictions have shape {values.shape}; they should be items by models.")
        if labels is not None:
            labels = _as_column(labels, len(values))
        names = check_model_names(models, values.shape[1])
        if reading.missing == "not-run":
            values = _not_run(values)
        coded = classes is not None and (meta is not None or _are_places(values, classes))
        usual = replace(reading, labels_elsewhere=False, same_later=False, missing="abstained") == Reading()
        if coded and usual:
            return ModelCollection(values, labels, names, classes, fields=fields)
        absent = coded and bool((values == NOT_RUN).any())
        if coded:
            values = _named(values, classes or [])
            if labels is not None and labels.dtype.kind in "iuf":
                labels = _named(labels, classes or [])
        table = _as_table(path, values, labels, names, fields, classes if coded else None, absent)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return CollectionReader(table, reading).read()


def _read_meta(path: Path, content: Array) -> dict[str, Any]:
    """What `save` writes beside the codes, as JSON: the names of models and classes, and item fields."""
    try:
        meta = json.loads(content.tobytes())
        names = [meta["models"], meta["classes"], *meta["fields"].values()]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        names = [None]
    if not all(isinstance(entries, list) for entries in names):
        raise InputError(f"{path}, array {quoted(META)} is not what `save` writes; write it again.")
    return dict(meta)


def _names(values: Array) -> list[Any]:
    """Names from an array of strings or numbers."""
    return _text(values).ravel().tolist()


def _text(values: Array) -> Array:
    """An array of bytes as one of strings; others as they are."""
    try:
        return np.char.decode(values, "utf-8") if values.dtype.kind == "S" else values
    except UnicodeDecodeError as error:
        raise InputError("strings are not written in UTF-8; save them as Unicode.") from error


def _are_places(values: Array, classes: Sequence[ClassName]) -> bool:
    """Whether numbers are places in the list of classes: they can be nothing else if classes are strings."""
    return values.dtype.kind in "iuf" and all(isinstance(name, str) for name in classes)


def _from_probabilities(
    values: Array, labels: Array | None, models: Sequence[str] | None, classes: Sequence[ClassName] | None
) -> ModelCollection:
    """The most likely classes; labels name classes."""
    collection = ModelCollection.from_probabilities(values, None, models, classes)
    if labels is None:
        return collection
    told = _cells(_as_column(labels, len(values))).to_pylist()
    return collection.with_labels([None if label is None or label != label else label for label in told])


def _as_column(labels: Array, items: int) -> Array:
    column = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if column.shape != (items,):
        raise InputError(f"there are {items} rows of predictions, but labels of shape {labels.shape}.")
    return column


def _named(codes: Array, classes: Sequence[ClassName]) -> Array:
    """The names that codes stand for."""
    known = np.where(np.isnan(codes), ABSTAINED, codes) if codes.dtype.kind == "f" else codes
    if known.max() >= len(classes) or known.min() < NOT_RUN or (known != np.trunc(known)).any():
        raise InputError(f"{known.max()} or {known.min()} is not a place in the {len(classes)} classes.")
    absent = bool((known == NOT_RUN).any())
    silent = None if not absent else "" if isinstance(classes[0], str) else ABSTAINED
    names: Array = np.array([*classes, None, silent], dtype=object)[known.astype(np.int64)]
    return names


def _not_run(codes: Array) -> Array:
    """An array in which what is missing stands for models not run; one that has some of these as it is."""
    if codes.dtype.kind not in "if" or codes.ndim != 2 or (codes == NOT_RUN).any():
        return codes
    found: Array = np.where((codes == ABSTAINED) | (codes != codes), NOT_RUN, codes)
    return found


def _as_table(
    path: Path,
    values: Array | None,
    labels: Array | None,
    models: Sequence[str],
    fields: Mapping[str, Any],
    classes: Sequence[ClassName] | None,
    absent: bool = False,
) -> Table:
    """Arrays as a table in wide form, read as any other; `absent`: what is missing, `save` wrote as not run."""
    columns = {name: pa.array(entries, from_pandas=False) for name, entries in fields.items()}
    if values is not None:
        for place, name in enumerate(models):
            if name in columns or name.lower() == LABEL:
                raise InputError(f"model {quoted(name)} is named as another column would be; rename it.")
            columns[name] = _cells(values[:, place])
    if labels is not None:
        columns[LABEL] = _cells(labels)
    rows = pa.table(columns)

    def read(wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from rows.select(list(wanted)).to_batches(BATCH_ROWS)

    noted: dict[str, list[Any]] = {"models": list(models), "fields": list(fields)}
    if classes is not None:
        noted["classes"] = list(classes)
    if absent:
        noted[MISSING] = ["not-run"]
    return Table(path, tuple(columns), read, metadata=noted)


def _cells(values: Array) -> pa.Array:
    """A column; arrays of strings have no missing cells, so that empty ones stand for them."""
    values = _text(values)
    if values.dtype.kind == "U":
        try:
            return pa.array([text or None for text in values.tolist()], pa.string())
        except (ValueError, SystemError) as error:
            raise InputError("strings hold what is not text; write them again.") from error
    if values.dtype.kind == "f":
        values = values.astype(np.float64)
    return pa.array(values.astype(values.dtype.newbyteorder("=")))


def label_table(path: Path) -> Table:
    """A file with an array of labels, as a table of one column."""
    if path.suffix.lower() == ".npy":
        values = read_npy(path)
    else:
        check_readable(path)
        found = dict(read_npz(path))
        named = next((found[name] for name in LABELS if name in found), None)
        if named is None:
            raise InputError(f"{path} has no array named labels, only {', '.join(found) or 'nothing'}.")
        values = named
    if values.ndim not in (1, 2) or values.shape[1:] not in ((), (1,)):
        raise InputError(f"{path} has labels of shape {values.shape}; save one per item.")
    return _as_table(path, None, values.reshape(-1), (), {}, None)
