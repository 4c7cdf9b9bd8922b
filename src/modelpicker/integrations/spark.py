"""Spark: every batch of a Structured Streaming query is asked about in a campaign, each item once.

    query = stream.writeStream.foreachBatch(foreach_batch("postgresql://…", "tickets", "decisions"))
    query.option("checkpointLocation", "checkpoint").start()

A batch is one transaction of the campaign, and its items have keys: a batch that Spark plays again after a crash
finds its decisions, and asks about nothing twice. In a race, executors drop the rows on which all models that are
still in it agree (docs/how-to/spark.md has the proof that this spoils no statement).
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from modelpicker.campaigns import Campaign, open_campaign
from modelpicker.errors import ConflictError, FileError, InputError, brief
from modelpicker.extras import require

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RowFilter: TypeAlias = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

# How often the rows of a batch are chosen again, if models come back into the race meanwhile.
MOST_CHOICES = 20
# What Spark calls a query, wherever it is started again from its checkpoint.
QUERY_ID = "sql.streaming.queryId"


def keep_contested(models: Sequence[str], *, not_run: bool = False) -> RowFilter:
    """A filter for `DataFrame.mapInArrow`: it drops the rows on which all these models say the same.

    Args:
        models: the columns that are compared.
        not_run: whether an empty cell is one of a model that was not run: then its row is kept.
    """
    names = list(models)

    def kept(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            differs = _differ([batch.column(name) for name in names], not_run)
            yield batch.filter(differs)

    return kept


def _differ(columns: Sequence[pa.Array], not_run: bool) -> pa.Array:
    """On which rows some cells differ; two that are empty do not."""
    first = columns[0]
    found = pc.is_null(first, nan_is_null=True) if not_run else pa.array([False] * len(first))
    for column in columns[1:]:
        empty = pc.xor(pc.is_null(column), pc.is_null(first))
        found = pc.or_(found, pc.or_(empty, pc.fill_null(pc.not_equal(column, first), False)))
        if not_run:
            found = pc.or_(found, pc.is_null(column, nan_is_null=True))
    return found


def foreach_batch(storage: str, name: str, decisions: str | Path, *, key: str = "key") -> "CampaignSink":
    """What `writeStream.foreachBatch` calls: it asks about the rows of each batch, and writes down the decisions.

    Args:
        storage: of the campaign, such as "sqlite:///picker.db". Only the driver uses it.
        name: of the campaign, which is a stream. A column per model has its predictions.
        decisions: a folder. Each batch is a Parquet file in it, one row per item that was asked about.
        key: the column that tells items apart: an item is asked about once, however often it comes.
    """
    require("spark")
    return CampaignSink(storage, name, str(decisions), key)


@dataclass(frozen=True)
class CampaignSink:
    """Asks about the rows of each batch; the query may be stopped at any moment and started again."""

    storage: str
    name: str
    decisions: str
    key: str

    def __call__(self, batch: "DataFrame", batch_id: int) -> None:
        """Ask about a batch, unless that was done before, and write down what was decided."""
        campaign = _opened(self.storage, self.name)
        columns = [*map(str, campaign.models), self.key]
        missing = next((column for column in columns if column not in batch.columns), None)
        if missing is not None:
            raise InputError(
                f"the rows have no column {brief(missing)}; campaign {self.name!r} needs one per model, and "
                f"{brief(self.key)} for the key. There are {', '.join(batch.columns[:12])}."
            )
        batch = batch.persist()
        try:
            self._decide(campaign, batch, self._place(batch, batch_id))
        finally:
            batch.unpersist()

    def _place(self, batch: "DataFrame", batch_id: int) -> Path:
        """Where the decisions of a batch are written: each query counts its batches from 0."""
        context = getattr(batch.sparkSession, "sparkContext", None)
        query = context.getLocalProperty(QUERY_ID) if context is not None else None
        folder = Path(self.decisions) / f"query={query or 'unknown'}"
        with _explained(folder):
            folder.mkdir(parents=True, exist_ok=True)
        return folder / f"batch-{batch_id:09}.parquet"

    def _decide(self, campaign: Campaign, batch: "DataFrame", place: Path) -> None:
        """Choose the rows, ask about them, and write down what was decided."""
        rows, chosen = batch.count(), _read_choice(place)
        for _ in range(MOST_CHOICES):
            if chosen is None:
                chosen = compared_models(campaign)
                _write_choice(place, chosen)
            kept = self._kept(campaign, batch, chosen)
            decided = self._ask(campaign, kept, chosen)
            if decided is not None:
                write_decisions(place, decided, rows=rows, kept=kept.num_rows)
                return
            chosen = None
        raise ConflictError(
            f"campaign {self.name!r}: models came back into the race {MOST_CHOICES} times while a batch was read. "
            "Start the query again; let its batches be smaller."
        )

    def _kept(self, campaign: Campaign, batch: "DataFrame", chosen: Sequence[str] | None) -> pa.Table:
        """The rows that are asked about."""
        if chosen:
            filtered = keep_contested(chosen, not_run=campaign.settings.missing == "not-run")
            batch = batch.mapInArrow(filtered, batch.schema)
        kept = batch.toArrow()
        if kept[self.key].null_count:
            raise InputError(f"a row has no {brief(self.key)}: without one, it could be asked about twice.")
        return kept

    def _ask(self, campaign: Campaign, kept: pa.Table, chosen: Sequence[str]) -> pa.Table | None:
        """Ask about the rows in one transaction; None if they were chosen by models that are too few by now."""
        keys = kept[self.key].cast(pa.string()).to_pylist()
        if not keys:
            return decision_table([], [], ([], [], [], []))
        shown = kept.drop_columns([self.key]) if self.key not in ("key", "id") else kept
        with campaign.grouped() as group:
            fresh = len(group.store.rounds_of(set(keys))) < len(set(keys))
            if fresh and chosen and not set(map(str, campaign.racing)) <= set(chosen):
                return None
            made = campaign.ask_many(shown, keys=keys)
            return decision_table(keys, made.ids, made.columns())


def compared_models(campaign: Campaign) -> list[str]:
    """The models of which rows are dropped where they all agree; none, if every row is to be asked about.

    Only a race can do without the rows on which all models in it agree. And nothing may depend on how many rows
    there are: no budget that is spread over them, no watch for drift, no wrong labels.
    """
    settings = campaign.settings
    race = settings.kind.name == "race" and not settings.options.get("exploration")
    if not race or settings.budget is not None or settings.costs.label_noise:
        return []
    return [str(model) for model in campaign.racing]


def decision_table(keys: Sequence[str], rounds: Sequence[int], columns: tuple[list[Any], ...]) -> pa.Table:
    """One row per item that was asked about, in the order of the rounds."""
    query, probability, prediction, recommended = columns
    table = pa.table(
        {
            "key": pa.array(keys, pa.string()),
            "round": pa.array(list(rounds), pa.int64()),
            "query": pa.array(query, pa.bool_()),
            "probability": pa.array(probability, pa.float64()),
            "prediction": pa.array([None if one is None else str(one) for one in prediction], pa.string()),
            "recommended": pa.array([str(one) for one in recommended], pa.string()),
        }
    )
    return table.sort_by("round")


def write_decisions(place: Path, decided: pa.Table, *, rows: int, kept: int) -> None:
    """Write the file of a batch, which is there once it is whole."""
    counts = {"rows": rows, "asked": kept, "dropped": rows - kept}
    with _explained(place):
        part = place.with_name(f".{place.name}.{os.getpid()}")
        parquet.write_table(decided.replace_schema_metadata({"modelpicker": json.dumps(counts)}), part)
        part.replace(place)


def _read_choice(place: Path) -> list[str] | None:
    """By which models the rows of a batch were chosen when it was played before; None if it was not."""
    try:
        found: list[str] = json.loads(_choice_of(place).read_text())
    except (OSError, ValueError):
        return None
    return found


def _write_choice(place: Path, chosen: Sequence[str]) -> None:
    """Note by which models the rows of a batch are chosen, before any of them is asked about."""
    with _explained(place):
        part = _choice_of(place).with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(list(chosen)))
        part.replace(_choice_of(place))


def _choice_of(place: Path) -> Path:
    return place.with_name(f"_{place.stem}.models.json")


@contextmanager
def _explained(place: Path) -> Iterator[None]:
    """Turn a failure to write into one sentence."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{place} cannot be written: {error.strerror or error}.") from error


@cache
def _opened(storage: str, name: str) -> Campaign:
    """The campaign, opened once in this process."""
    found = open_campaign(storage, name)
    if not isinstance(found, Campaign):
        raise InputError(f"campaign {name!r} is a pool; a stream of batches needs a campaign on a stream.")
    return found
