"""Ids must differ: the same id twice within one file is an error that names the rows."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from modelpicker.collections.tables import Table, cell
from modelpicker.encoding import Array
from modelpicker.errors import InputError, brief

# Ids and rows that an error names.
MOST_IDS, MOST_ROWS = 3, 4


class Identities:
    """The ids of a table, batch by batch; eight bytes are kept of each, so that a long table fits into memory."""

    def __init__(self, table: Table, column: str) -> None:
        self.table, self.column = table, column
        self._hashes: list[Array] = []

    def add(self, values: pa.Array) -> None:
        """Take note of the ids of a batch; an item without one is like no other."""
        self._hashes.append(np.fromiter(map(hash, _texts(values.drop_null())), dtype=np.int64))

    def check(self) -> None:
        """An error if an id occurs twice; only then is the column read again."""
        hashes = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *self._hashes]))
        again = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
        if again:
            found = (text for batch in self.table.batches([self.column]) for text in _texts(batch.column(0)))
            rows: dict[str, list[int]] = {}
            for row, text in enumerate(found, start=1):
                if text is not None and hash(text) in again:
                    rows.setdefault(text, []).append(row)
            refuse_repeated(cell(self.table.path, None, self.column), rows)


def check_different(where: str, ids: Iterable[object]) -> None:
    """An error if an id occurs twice among some that are in memory."""
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(ids, start=1):
        if value is not None:
            rows.setdefault(str(value), []).append(row)
    refuse_repeated(where, rows)


def refuse_repeated(where: str, rows: Mapping[str, Sequence[int]]) -> None:
    """An error that names the first ids that occur in several rows."""
    twice = {text: found for text, found in rows.items() if len(found) > 1}
    if not twice:
        return
    named = [f"{brief(text)} is in {_listed(found)}" for text, found in list(twice.items())[:MOST_IDS]]
    more = f", and {len(twice) - MOST_IDS:,} more ids are repeated" if len(twice) > MOST_IDS else ""
    raise InputError(
        f"{where}: {', '.join(named)}{more}. Ids must differ: keep one row of each. If this column does not tell "
        "items apart, list it in fields (--fields)."
    )


def _listed(rows: Sequence[int]) -> str:
    shown = [f"{row:,}" for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        return f"rows {', '.join(shown)}, …"
    return f"rows {', '.join(shown[:-1])} and {shown[-1]}"


def _texts(values: pa.Array) -> list[str | None]:
    """Ids as text; None for a missing one."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kind = values.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)):
        return [None if value is None else str(value) for value in values.to_pylist()]
    texts: list[str | None] = values.cast(pa.large_string()).to_pylist()
    return texts
