"""Files of predictions as rounds of a campaign."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.input.batches import Batch, batch_of
from modelpicker.campaigns.input.pool_source import models_there
from modelpicker.collections import ModelCollection
from modelpicker.collections.column_roles import Reading
from modelpicker.collections.files import open_with
from modelpicker.collections.wide_tables import CollectionReader
from modelpicker.errors import InputError, brief

ROUNDS_AT_ONCE = 2_000


def batches_of(path: str | Path, campaign: Campaign, reading: Reading | None = None) -> Iterator[Batch]:
    """The items of a file, in order; a column `key` or `id` has their keys.

    The campaign knows its models, so no column is in doubt. The others are shown with the items, except what models
    said that have left. `reading.columns` may say otherwise: that one is the id, or is left out.
    """
    reading = reading or Reading()
    yield from batches_in(open_file(path, campaign, reading), campaign, reading)


def open_file(path: object, campaign: Campaign, reading: Reading) -> ModelCollection | CollectionReader:
    """A file, or a data frame, whose models are those of a campaign."""
    models = [str(model) for model in campaign.known_models()[0]]
    for name, role in reading.columns.items():
        if role == "model" and name not in models:
            raise InputError(f"column {brief(name)} cannot be a model: this campaign has no model of that name.")
    missing = campaign.settings.missing
    there = models if missing == "abstained" else models_there(path, models)
    return open_with(path, None, replace(reading, models=there, missing=missing))


def batches_in(opened: ModelCollection | CollectionReader, campaign: Campaign, reading: Reading) -> Iterator[Batch]:
    """The same for a file that is open."""
    _, hidden = campaign.known_models()
    for found in opened.batches(fields=True):
        for start in range(0, len(found), ROUNDS_AT_ONCE):
            some = found.take(range(start, min(len(found), start + ROUNDS_AT_ONCE)))
            yield batch_of(some, hidden, reading.columns)
