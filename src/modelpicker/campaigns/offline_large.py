"""A pool of files larger than memory: scanned in parallel, then picked from as any other pool."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from modelpicker.collections.column_name_hints import IDENTITIES
from modelpicker.collections.column_roles import Reading
from modelpicker.collections.files import several_files
from modelpicker.collections.label_checks import check_common
from modelpicker.collections.labels import is_result, open_labels, read_labels
from modelpicker.collections.long_tables import as_long
from modelpicker.collections.partitions import Partition, PartitionFound, PartitionScan
from modelpicker.collections.scanned import ScannedCollection, ScannedItems, ScanWatch
from modelpicker.collections.table_files import open_files
from modelpicker.collections.tables import check_readable
from modelpicker.errors import InputError, brief
from modelpicker.experiments.engines import Workforce, cores, open_engine

# Parts that are scanned before what they found is stored, for each worker.
AHEAD = 3


def refuse_with_engine(options: Mapping[str, bool]) -> None:
    """An error if something was asked for that needs all items in memory."""
    given = next((name for name, said in options.items() if said), None)
    if given is not None:
        raise InputError(
            f"{given} needs all items in memory, but an engine keeps only those on which models differ. Leave one "
            "of them out.",
            parameter=given,
        )


def scan_items(source: object, reading: Reading, how: Workforce, watch: ScanWatch | None = None) -> ScannedItems:
    """The items of files, scanned by an engine; their labels are those that the files have.

    Args:
        source: a file, a folder of files, or a pattern.
        reading: how the files are read.
        how: who does the work.
        watch: is told how many parts are done, and of how many.
    """
    if not isinstance(source, str | Path):
        raise InputError(f"source {brief(source)}: an engine scans files; pass a file, a folder or a pattern.")
    paths = several_files(source)
    if not paths:
        check_readable(Path(source))
        paths = [Path(source)]
    table = open_files(source, paths)
    if as_long(table) is not None:
        raise InputError(
            f"{source} has one row per answer; an engine scans tables with one row per item. Read it without an "
            "engine, or save it in the wide form: modelpicker collections convert."
        )

    def scan(job: PartitionScan, parts: Sequence[Partition]) -> Iterator[tuple[Partition, PartitionFound]]:
        with open_engine(how.engine, job, how.workers, how.scheduler) as engine:
            yield from engine.run(parts, ahead=AHEAD * (how.workers or cores()))

    return ScannedCollection(table, reading, scan, watch).items


def with_told(items: ScannedItems, labels: Any, reading: Reading) -> ScannedItems:
    """The same items with labels from elsewhere, each of which is looked up when it is asked for.

    Args:
        items: of a scan.
        labels: a mapping by ids, or by places where the items have no ids; a file; or one label per item.
        reading: how a file of labels is read.
    """
    identity = next((name for name in IDENTITIES if name in items.fields), None)
    if isinstance(labels, Mapping):
        told = {str(key): label for key, label in labels.items()}
        return items.with_labels(lambda item: told.get(_key(items, identity, item)), list(told.values()))
    path = Path(labels) if isinstance(labels, str | Path) else Path("labels")
    if isinstance(labels, str | Path) and is_result(path):
        raise InputError(f"{path} has the answers of an earlier pick, which an engine cannot use. Leave it out.")
    words = any(isinstance(name, str) for name in items.classes)
    found = read_labels(open_labels(labels, reading), tuple(items.fields), reading, reading.as_text or words)
    names = found.names
    said = items.source.vocabulary.names_in(items.models)
    told_names = [name for name in names if name is not None]
    if not told_names:
        raise InputError(f"{path} has no label for any of the items.")
    check_common(str(path), said, set(told_names), len(told_names))
    if found.identity is not None:
        by_item = {str(item): name for item, name in zip(found.items, names, strict=True) if item is not None}
        field = found.identity
        return items.with_labels(lambda item: by_item.get(_key(items, field, item)), names)
    if len(names) != len(items):
        raise InputError(
            f"{path} has {len(names):,} labels, but there are {len(items):,} items; give one per item."
        )
    return items.with_labels(lambda item: names[item], names)


def _key(items: ScannedItems, identity: str | None, item: int) -> str:
    """What an item is called: its id, or its place."""
    return str(item if identity is None else items.fields[identity][item])
