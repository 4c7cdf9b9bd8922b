"""A table larger than memory, scanned once in parallel: only the rows that decide are kept.

Parts of the table are scanned in any order, by threads or on other machines. What is known in the end does not
depend on that order: it is what reading the same rows from one file gives, to the last bit.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from modelpicker.algorithms.pools.kept_rows import KeptRows
from modelpicker.algorithms.pools.pool_input import contested_items, identical_models
from modelpicker.collections.collection import FieldValue
from modelpicker.collections.column_roles import Reading
from modelpicker.collections.partitions import (
    Partition,
    PartitionFound,
    PartitionScan,
    check_unchanged,
    divide,
    hash_ids,
    read_part,
)
from modelpicker.collections.scratch import KeptArray, ScratchFile, repeated
from modelpicker.collections.table_files import FilesTable
from modelpicker.collections.tables import cell
from modelpicker.collections.vocabulary import CodedColumn
from modelpicker.collections.wide_tables import CollectionReader, plain_values
from modelpicker.encoding import Array, ClassName, encode_labels, smallest_type
from modelpicker.errors import ConflictError, InputError, brief
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN, Ints

Scan: TypeAlias = Callable[[PartitionScan, Sequence[Partition]], Iterator[tuple[Partition, PartitionFound]]]
"""Scans parts, in any order, as they are done."""
ScanWatch: TypeAlias = Callable[[int, int], None]
"""Is told how many parts are done, and of how many."""

# Items whose fields are remembered.
REMEMBERED = 256
# Ids and rows that an error names.
MOST_IDS = 3
DIGITS = 12


class KeptPart(NamedTuple):
    """What a part left in the scratch file."""

    codes: KeptArray
    agreed: KeptArray
    labels: KeptArray
    places: Ints
    cells: list[Any]


class ScannedCollection(CollectionReader):
    """Files of which the rows that decide are kept, and all others are looked up when they are needed."""

    def __init__(self, table: FilesTable, reading: Reading, scan: Scan, watch: ScanWatch | None = None) -> None:
        self.files = table
        self._run = scan
        self._watch = watch
        self._found: dict[int, KeptPart] = {}
        self._scratch = ScratchFile()
        self._records: dict[int, tuple[dict[str, FieldValue], Array]] = {}
        super().__init__(table, reading)

    def _scan(self) -> int:
        """Scan all parts; what they found is put together in the order of the files."""
        reading, roles = self.reading, self.roles
        job = PartitionScan(
            self.models,
            roles.label,
            roles.id,
            self.table.metadata,
            reading.normalise,
            reading.as_text,
            reading.missing,
        )
        self.parts = divide(self.files.files, len(self.models))
        ids, count, waiting, following = ScratchFile(), 0, dict[int, dict[str, CodedColumn]](), 0
        rows = np.zeros(len(self.parts) + 1, dtype=np.int64)
        for part, found in self._run(job, self.parts):
            codes, agreed, labels = map(self._scratch.add, (found.codes, found.agreed, found.labels))
            self._found[part.number] = KeptPart(codes, agreed, labels, found.places, found.cells)
            rows[part.number + 1] = found.rows
            ids.add(found.ids)
            count += len(found.ids)
            waiting[part.number] = found.columns
            while following in waiting:
                self.vocabulary.merge(waiting.pop(following))
                following += 1
            if self._watch is not None:
                self._watch(len(self._found), len(self.parts))
        self.firsts = np.cumsum(rows)
        """The first item of each part, and how many there are."""
        if not self.firsts[-1]:
            raise InputError(f"{self.table.path} has columns but no rows.")
        self._check_ids(repeated(ids, count))
        return int(self.firsts[-1])

    def _check_ids(self, again: set[int]) -> None:
        """An error if an id occurs twice, in one file or in several; only then are the ids read again."""
        if not again or self.roles.id is None:
            return
        rows: dict[str, list[str]] = {}
        for file in self.files.files:
            row = 0
            for batch in file.batches([self.roles.id]):
                values = batch.column(0)
                known = values.drop_null()
                hashes = iter(hash_ids(known).tolist())
                for value in values.to_pylist():
                    row += 1
                    if value is not None and next(hashes) in again:
                        rows.setdefault(str(value), []).append(f"{file.path}, row {row:,}")
        twice = {text: found for text, found in rows.items() if len(found) > 1}
        if twice:
            named = [
                f"{brief(text)} is in {' and in '.join(found[:2])}"
                for text, found in list(twice.items())[:MOST_IDS]
            ]
            more = f", and {len(twice) - MOST_IDS:,} more ids are repeated" if len(twice) > MOST_IDS else ""
            raise InputError(
                f"{cell(self.table.path, None, self.roles.id)}: {'; '.join(named)}{more}. Ids must differ: keep "
                "one row of each. If this column does not tell items apart, list it in fields (--fields)."
            )

    def _find_identical(self) -> tuple[tuple[str, ...], ...]:
        """Keep the rows that decide, now that classes are known; models that agree on these are identical."""
        self.kept, self._kept_labels = self._keep()
        return tuple(tuple(map(str, group)) for group in identical_models(self.kept.codes, self.models))

    def _keep(self) -> tuple[KeptRows, Array]:
        """The rows that decide, with the codes of their classes, in a scratch file that is mapped into memory."""
        final, agreed, labels = ScratchFile(), ScratchFile(), ScratchFile()
        places = [np.zeros(0, dtype=np.int64)]
        dtype = smallest_type(len(self.classes))
        for number, first in enumerate(self.firsts[:-1].tolist()):
            part = self._found.pop(number)
            codes = np.array([self.vocabulary.empty, *map(self.vocabulary.code_of, part.cells)], dtype=np.int32)
            said = codes[self._scratch.get(part.codes)]
            agreed.add(codes.astype(dtype)[self._scratch.get(part.agreed)])
            stays = (said == NOT_RUN).any(axis=1)
            stays[contested_items(said)] = True
            final.add(said if stays.all() else said[stays])
            places.append(first + part.places[stays])
            labels.add(np.maximum(codes, ABSTAINED).astype(dtype)[self._scratch.get(part.labels)])
        kept = np.concatenate(places)
        rows = final.mapped(np.dtype(np.int32), (len(kept), len(self.models)))
        told = labels.mapped(dtype, (len(self) if self.roles.label else 0,))
        return KeptRows(kept, rows, agreed.mapped(dtype, (len(self),))), told

    @cached_property
    def items(self) -> "ScannedItems":
        """The items as a pool and whoever is asked need them."""
        labels = self._kept_labels if self.labelled else None
        return ScannedItems(self, self.classes, labels, self.labels_known)

    # Items that are looked up.

    def record(self, item: int) -> tuple[dict[str, FieldValue], Array]:
        """The fields of an item and what the models say about it, read where it stands."""
        if item not in self._records:
            if len(self._records) >= REMEMBERED:
                self._records.pop(next(iter(self._records)))
            self._records[item] = self._read(item)
        return self._records[item]

    def _read(self, item: int) -> tuple[dict[str, FieldValue], Array]:
        number = int(np.searchsorted(self.firsts, item, side="right")) - 1
        part, offset = self.parts[number], item - int(self.firsts[number])
        check_unchanged(part.path, part.stamp)
        fields = self.roles.fields
        for batch in read_part(part, [*self.models, *fields]):
            if offset >= batch.num_rows:
                offset -= batch.num_rows
                continue
            one = batch.slice(offset, 1)
            codes = [int(self.vocabulary.encode(one.column(place))[0]) for place in range(len(self.models))]
            shown = {name: plain_values(one.column(len(self.models) + at))[0] for at, name in enumerate(fields)}
            return shown, np.array(codes, dtype=np.int32)
        raise ConflictError(f"{part.path} has changed since it was scanned: item {item:,} is gone. Read it again.")


class LookedUpLabels:
    """Labels from elsewhere, by the id of an item or by its number: codes of classes."""

    def __init__(self, look_up: Callable[[int], ClassName | None], classes: Sequence[ClassName]) -> None:
        self._look_up = look_up
        self._codes = {name: code for code, name in enumerate(classes)}

    def __getitem__(self, item: int) -> int:
        name = self._look_up(item)
        return ABSTAINED if name is None else self._codes[name]


class ScannedRows:
    """What the models say, by item."""

    def __init__(self, kept: KeptRows) -> None:
        self._kept = kept

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, key: int | tuple[int, int]) -> Any:
        item, model = key if isinstance(key, tuple) else (key, slice(None))
        return self._kept.rows(np.array([item]))[0][model]


class ScannedField:
    """One field of the items, looked up item by item."""

    def __init__(self, source: ScannedCollection, name: str) -> None:
        self._source, self._name = source, name

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, item: int) -> FieldValue:
        fields, said = self._source.record(item)
        if not np.array_equal(said, ScannedRows(self._source.kept)[item]):
            raise ConflictError(
                f"item {item:,} has changed since its file was scanned: models say something else. Read it again."
            )
        return fields[self._name]


class ScannedItems:
    """What a pool and whoever labels need of a scanned collection: as a `ModelCollection` has it, item by item."""

    measured = None
    absent = False

    def __init__(
        self,
        source: ScannedCollection,
        classes: tuple[ClassName, ...],
        labels: "Array | LookedUpLabels | None",
        labelled: int,
    ) -> None:
        self.source = source
        self.kept = source.kept
        self.models = source.models
        self.classes = classes
        self.labels = labels
        self.labelled = labelled
        """How many labels there are."""
        self.notes = source.notes
        self.predictions = ScannedRows(source.kept)
        self.fields: Mapping[str, ScannedField] = {name: ScannedField(source, name) for name in source.roles.fields}

    def __len__(self) -> int:
        return len(self.source)

    def with_labels(self, look_up: Callable[[int], ClassName | None], names: Sequence[ClassName | None]) -> Self:
        """The same items with labels that are looked up by item; `names` are all that may be found."""
        known = encode_labels(np.array(names, dtype=object), self.classes).classes
        told = sum(name is not None for name in names)
        return type(self)(self.source, known, LookedUpLabels(look_up, known), told)

    @cached_property
    def fingerprint(self) -> str:
        """Twelve digits that stand for the rows that decide, where they are, and the names."""
        content = [list(self.models), list(self.source.classes), len(self)]
        digest = hashlib.sha256(json.dumps(content).encode())
        for start in range(0, len(self.kept.places), 2**16):
            digest.update(np.ascontiguousarray(self.kept.places[start : start + 2**16]).data)
            digest.update(np.ascontiguousarray(self.kept.codes[start : start + 2**16]).data)
        return digest.hexdigest()[:DIGITS]
