"""Files of predictions as rounds of a campaign."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.input.batches import Batch, batch_of
from modelpicker.collections.column_roles import Reading
from modelpicker.collections.files import open_with
from modelpicker.errors import InputError, brief

ROUNDS_AT_ONCE = 2_000


def batches_of(path: str | Path, campaign: Campaign, reading: Reading | None = None) -> Iterator[Batch]:
    """The items of a file, in order; a column `key` or `id` has their keys.

    The campaign knows its models, so no column is in doubt. The others are shown with the items, except what models
    said that have left. `reading.columns` may say otherwise: that one is the id, or is left out.
    """
    reading = reading or Reading()
    now, hidden = campaign.known_models()
    models = [str(model) for model in now]
    for name, role in reading.columns.items():
        if role == "model" and name not in models:
            raise InputError(f"column {brief(name)} cannot be a model: this campaign has no model of that name.")
    for found in open_with(path, None, replace(reading, models=models)).batches(fields=True):
        for start in range(0, len(found), ROUNDS_AT_ONCE):
            some = found.take(range(start, min(len(found), start + ROUNDS_AT_ONCE)))
            yield batch_of(some, hidden, reading.columns)
