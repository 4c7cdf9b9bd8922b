"""The columns of data frames: pandas, polars, Arrow, whatever narwhals knows, and mappings of arrays.

What becomes of each column is decided elsewhere, by the same rules as for files.
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from modelpicker.errors import InputError, brief

if TYPE_CHECKING:
    import pyarrow as pa

Columns: TypeAlias = "dict[str, pa.Array]"

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
BACKENDS = get_args(Backend)

# Columns that are not models, whatever they hold; capitals do not matter.
LABEL = "label"
IDENTITIES = ("id", "key", "item")
NOT_MODELS = (*IDENTITIES, "text", "image", "url")
# What a table with columns of its own has, and no array or list.
MARKS = ("columns", "column_names", "__dataframe__", "__arrow_c_stream__", "__narwhals_dataframe__")


def as_columns(source: object) -> "Columns | None":
    """The columns of a table by name; None if it is not a table, but an array, a list or a path."""
    source = _as_table(source)
    if isinstance(source, Mapping):
        return _same_length({str(name): _as_array(str(name), values) for name, values in source.items()})
    if not any(hasattr(type(source), mark) for mark in MARKS):
        return None
    frame = _as_frame(source)
    if frame is None:
        return None
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(f"column {brief(twice)} occurs twice; names must differ.")
    return {name: _as_array(name, frame.get_column(own)) for name, own in zip(names, frame.columns, strict=True)}


def make_frame(columns: Mapping[str, Any], backend: Backend | None = None) -> Any:
    """A data frame of columns: of pandas if it is installed, else an Arrow table, unless the backend is named."""
    import narwhals as nw
    import pyarrow as pa

    chosen = backend or ("pandas" if find_spec("pandas") else "pyarrow")
    if chosen not in BACKENDS:
        raise InputError(f"backend={brief(backend)}: pass one of {', '.join(BACKENDS)}.", parameter="backend")
    if find_spec(chosen) is None:
        raise InputError(
            f"backend={brief(backend)}: it is not installed: pip install {chosen}", parameter="backend"
        )
    table = pa.table({name: pa.array(list(values), from_pandas=True) for name, values in columns.items()})
    return nw.from_arrow(table, backend=chosen).to_native()


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns; None where a row has no such cell."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _as_table(source: Any) -> Any:
    """A dataset of Hugging Face as an Arrow table, with the names of its classes; anything else as it is.

    It is known by what it can do: its library need not be imported.
    """
    if not type(source).__module__.startswith("datasets."):
        return source
    if isinstance(source, Mapping):
        raise InputError(
            f"a dataset with several splits: pass one, such as dataset[{next(iter(source), 'test')!r}]."
        )
    if not hasattr(source, "__len__"):
        raise InputError("a dataset that is streamed: pass one that is here, without streaming=True.")
    table = source.with_format("arrow")[:]
    for name, feature in source.features.items():
        names = getattr(feature, "names", None)
        if names is not None and hasattr(feature, "int2str"):  # -1 stands for no label there
            said = [names[code] if code is not None and code >= 0 else None for code in table[name].to_pylist()]
            table = table.set_column(table.column_names.index(name), name, [said])
    return table


def _as_frame(source: object) -> Any:
    """A table as narwhals has it; None for what is none."""
    import narwhals as nw
    import pyarrow as pa

    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    try:
        frame: Any = nw.from_native(source, pass_through=True)
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    except Exception as error:  # whatever the library of the frame raises, such as for a name that occurs twice
        raise InputError(f"the data frame cannot be read: {error}.") from error
    return frame if isinstance(frame, nw.DataFrame) else None


def _as_array(name: str, values: Any) -> "pa.Array":
    """One column as Arrow has it; NaN, None and pd.NA are missing cells."""
    import pyarrow as pa

    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
        raise InputError(
            f"column {brief(name)}: {brief(values)} is not a column; pass a list or an array of values."
        )
    try:
        if isinstance(values, pa.Array | pa.ChunkedArray):
            made: Any = values
        elif hasattr(values, "to_arrow"):
            made = values.to_arrow()
        else:
            plain = values if hasattr(values, "dtype") and np.ndim(values) == 1 else list(values)
            made = pa.array(plain, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        why = str(error).splitlines()[0]
        raise InputError(
            f"column {brief(name)} cannot be read ({why}); let it hold strings or whole numbers."
        ) from error
    if isinstance(made, pa.ChunkedArray):
        made = made.combine_chunks()
        made = pa.concat_arrays(made.chunks) if isinstance(made, pa.ChunkedArray) else made
    return made


def _same_length(columns: Columns) -> Columns:
    """Columns of one table have as many cells each."""
    lengths = {name: len(column) for name, column in columns.items()}
    first = next(iter(lengths), "")
    other = next((name for name in lengths if lengths[name] != lengths[first]), None)
    if other is not None:
        raise InputError(
            f"column {brief(first)} has {lengths[first]:,} values, but {brief(other)} has {lengths[other]:,}; "
            "pass as many for each."
        )
    return columns


def matrix_of(columns: Columns, names: Sequence[str]) -> npt.NDArray[Any]:
    """Some columns side by side: whole numbers if all are, else anything; -1 or None where a cell is missing."""
    import pyarrow as pa

    found = [columns[name] for name in names]
    if all(pa.types.is_integer(column.type) for column in found):
        return np.stack([column.fill_null(-1).to_numpy(zero_copy_only=False) for column in found], axis=1)
    matrix = np.empty((len(found[0]) if found else 0, len(found)), dtype=object)
    for place, column in enumerate(found):
        matrix[:, place] = [None if value != value else value for value in column.to_pylist()]
    return matrix


def pick_columns(columns: Columns, models: Sequence[object]) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None]:
    """The predictions of known models and the labels, if there is a column for them.

    Models that have numbers for names are the columns in order, without those that are no models by their names.
    """
    names = [str(model) for model in models]
    if not set(names) <= columns.keys() and names == [str(place) for place in range(len(names))]:
        names = [name for name in columns if name.lower() not in (LABEL, *NOT_MODELS)]
        if len(names) != len(models):
            raise InputError(
                f"there are {len(models)} models, but {len(names)} columns that may be models: {brief(names)}; "
                "name the models as their columns."
            )
    missing = [name for name in names if name not in columns]
    if missing:
        raise InputError(
            f"no column is called {brief(missing[0])}, as a model is; there are {brief(list(columns))}."
        )
    label = next((name for name in columns if name.lower() == LABEL and name not in names), None)
    return matrix_of(columns, names), None if label is None else matrix_of(columns, [label])[:, 0]
