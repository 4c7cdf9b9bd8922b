"""Collections to files; the ending says how."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from modelpicker.collections.collection import ModelCollection
from modelpicker.collections.column_name_hints import LABEL, NOT_MODELS, ROW_NUMBERS
from modelpicker.collections.column_roles import Role
from modelpicker.collections.tables import BATCH_ROWS, quoted
from modelpicker.collections.vocabulary import MISSING
from modelpicker.encoding import Array, Missing
from modelpicker.errors import FileError, InputError, UnclearColumnsError, brief
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN


def save_collection(collection: ModelCollection, path: Path) -> None:
    """Write a collection; the file is there whole, or not at all."""
    writers: dict[str, Callable[[ModelCollection, Path], None]] = {
        ".npz": _save_npz,
        ".parquet": _save_parquet,
        ".arrow": _save_arrow,
        ".csv": _save_csv,
        ".jsonl": _save_json,
    }
    ending = path.suffix.lower()
    if ending not in writers:
        raise InputError(f"{path}: cannot write {ending or 'a file without ending'}; use {', '.join(writers)}.")
    with replacing(path) as unfinished:
        writers[ending](collection, unfinished)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside the one to be written, which takes its place once it is finished."""
    unfinished = path.with_name(f".{path.stem}.unfinished-{os.getpid()}{path.suffix}")
    try:
        yield unfinished
        unfinished.replace(path)
    except UnicodeEncodeError as error:
        raise InputError(f"{path} cannot be written: {brief(error.object)} is not valid text.") from error
    except (OSError, pa.ArrowException) as error:
        number = getattr(error, "errno", None)
        raise FileError(f"{path} cannot be written: {os.strerror(number) if number else error}.") from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _save_npz(collection: ModelCollection, path: Path) -> None:
    meta = {"models": collection.models, "classes": collection.classes, "fields": dict(collection.fields)}
    arrays: dict[str, Any] = {
        "predictions": collection.predictions,
        "meta": np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8),
    }
    if collection.labels is not None:
        arrays["labels"] = collection.labels
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def as_table(collection: ModelCollection, silent: str = "") -> pa.Table:
    """The collection in wide form: item fields, models, label; class names in the cells.

    A cell is missing where a model abstained. But if some were not run, theirs are the cells that are missing, and
    `silent` stands for an abstention, or -1 among whole numbers.
    """
    names: dict[str, Any] = {name: pa.array(values) for name, values in collection.fields.items()}
    kind = pa.int64() if all(isinstance(name, int) for name in collection.classes) else pa.string()
    classes = pa.array(collection.classes, kind)
    for place, model in enumerate(collection.models):
        if model in names or model.lower() == LABEL:
            raise InputError(f"model {quoted(model)} is named as another column of the table would be; rename it.")
        said = collection.predictions[:, place]
        names[model] = _run_cells(said, classes, silent) if collection.absent else _cells(said, classes)
    if collection.labels is not None:
        names[LABEL] = _cells(collection.labels, classes)
    noted = {"models": collection.models, "fields": list(collection.fields), "classes": collection.classes}
    if collection.absent:
        noted[MISSING] = ["not-run"]
    return pa.table(names).replace_schema_metadata({"modelpicker": json.dumps(noted)})


def _cells(codes: Array, classes: pa.Array) -> pa.Array:
    """The class names of codes; missing where a model abstained."""
    places = pa.array(np.where(codes == ABSTAINED, 0, codes), mask=codes == ABSTAINED)
    return classes.take(places)


def _run_cells(codes: Array, classes: pa.Array, silent: str) -> pa.Array:
    """The class names of codes, and what stands for an abstention; missing where the model was not run."""
    mark = pa.array([ABSTAINED if pa.types.is_integer(classes.type) else silent], classes.type)
    named = pa.concat_arrays([classes, mark])
    places = np.where(codes < 0, len(classes), codes)
    return named.take(pa.array(places, mask=codes == NOT_RUN))


def _save_parquet(collection: ModelCollection, path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(as_table(collection), path, compression="zstd", write_page_checksum=True)


def _save_arrow(collection: ModelCollection, path: Path) -> None:
    table = as_table(collection)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=BATCH_ROWS)


def _save_csv(collection: ModelCollection, path: Path) -> None:
    from pyarrow import csv

    _check_plain(collection)
    csv.write_csv(as_table(collection, str(ABSTAINED)), path)
    _check_back(collection, path)


def _save_json(collection: ModelCollection, path: Path) -> None:
    _check_plain(collection)
    with path.open("w", encoding="utf-8") as file:
        for batch in as_table(collection).to_batches(2**12):
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())
    _check_back(collection, path)


def _check_back(collection: ModelCollection, path: Path) -> None:
    """Refuse to write what would be read as something else: "1" as a number, "NA" as an abstention."""
    from modelpicker.collections.files import load_collection

    back = None
    missing: Missing = "not-run" if collection.absent else "abstained"
    with suppress(InputError):
        try:
            back = load_collection(path, missing=missing)
        except UnclearColumnsError as error:  # its reader has to say what these are, and can
            doubtful: dict[str, Role] = {
                column["name"]: "model" if column["name"] in collection.models else "shown"
                for column in error.columns
            }
            back = load_collection(path, columns=doubtful, missing=missing)
    if back is None or back.models != collection.models or not _same_cells(collection, back):
        raise InputError(
            f"as {path.suffix} these names of models and classes would be read as something else; use .parquet."
        )


def _same_cells(collection: ModelCollection, back: ModelCollection) -> bool:
    """Whether all predictions and labels name the same classes; the classes may be in another order."""
    place_of = {name: place for place, name in enumerate(collection.classes)}
    places = np.array([*(place_of.get(name, len(place_of)) for name in back.classes), NOT_RUN, ABSTAINED])
    pairs = [(collection.predictions, back.predictions)]
    if collection.labels is not None and back.labels is not None:
        pairs.append((collection.labels, back.labels))
    same = (collection.labels is None) == (back.labels is None)
    return same and all(np.array_equal(before, places[after]) for before, after in pairs)


def _check_plain(collection: ModelCollection) -> None:
    """Refuse names that a file without notes of its own could not give back."""
    for name in collection.models:
        if name.lower() in NOT_MODELS or name in ROW_NUMBERS:
            raise InputError(f"model {quoted(name)} would be taken for an item field; rename it, or use .parquet.")
    models = set(collection.models)
    for name in collection.fields:
        if name.lower() not in NOT_MODELS and name not in models:
            raise InputError(
                f"item field {quoted(name)} would be taken for a model; use .parquet, or call it "
                f"one of {', '.join(NOT_MODELS)}."
            )
