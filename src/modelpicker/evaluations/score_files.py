"""Columns of scores, from files and data frames."""

from collections.abc import Sequence
from pathlib import Path

from modelpicker.collections.data_frames import frame_table
from modelpicker.collections.evaluation_tools import is_evaluation
from modelpicker.collections.tables import Table, check_ending, exists, open_table
from modelpicker.errors import InputError, NotFoundError, brief
from modelpicker.evaluations.paired_items import PairedItems, pair_scores
from modelpicker.frames import IDENTITIES


def open_scores(source: object) -> Table:
    """A file or a data frame as a table."""
    if isinstance(source, str | Path):
        path = Path(source)
        if not exists(path):
            raise NotFoundError(f"{path} does not exist; pass a file with one column of scores per model.")
        if path.is_dir() or is_evaluation(path):
            raise InputError(
                f"{path}: the results of an evaluation tool say themselves what their scores are. Leave --scores "
                "(scores=) out; --label (label=) chooses one of several scores."
            )
        check_ending(path)
        return open_table(path)
    found = frame_table(source)
    if found is None:
        raise InputError(
            f"source {brief(source)}: pass a file or a data frame with one column of scores per model."
        )
    return found


def read_columns(table: Table, names: Sequence[str]) -> list[list[object]]:
    """Some columns as lists."""
    for name in names:
        if name not in table.columns:
            raise InputError(
                f'{table.path} has no column "{name}"; it has {", ".join(table.columns)}.', parameter="models"
            )
    columns: list[list[object]] = [[] for _ in names]
    wanted = list(dict.fromkeys(names))
    for batch in table.batches(wanted):
        for place, name in enumerate(names):
            columns[place].extend(batch.column(wanted.index(name)).to_pylist())
    return columns


def identity_of(table: Table, named: str | None = None) -> str | None:
    """The column that tells items apart."""
    if named is not None and named not in table.columns:
        raise InputError(
            f'{table.path} has no column "{named}"; it has {", ".join(table.columns)}.', parameter="id"
        )
    return named or next((name for name in table.columns if name.lower() in IDENTITIES), None)


def pair_score_columns(source: object, champion: str, challenger: str) -> PairedItems:
    """Two columns of scores of one table."""
    if champion == challenger:
        raise InputError(f"champion and challenger are both {brief(champion)}; name two columns.")
    table = open_scores(source)
    identity = identity_of(table)
    names = [champion, challenger] + ([] if identity is None else [identity])
    columns = read_columns(table, names)
    return pair_scores(columns[0], columns[1], (champion, challenger), columns[2] if identity else ())
