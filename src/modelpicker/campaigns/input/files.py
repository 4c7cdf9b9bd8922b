"""Files of predictions as rounds of a campaign."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.input.batches import Batch, batch_of
from modelpicker.collections import open_collection
from modelpicker.collections.column_roles import Role
from modelpicker.errors import InputError, brief

ROUNDS_AT_ONCE = 2_000


def batches_of(path: str | Path, campaign: Campaign, columns: Mapping[str, Role] | None = None) -> Iterator[Batch]:
    """The items of a file, in order; a column `key` or `id` has their keys.

    The campaign knows its models, so no column is in doubt. The others are shown with the items, except what models
    said that have left. `columns` may say otherwise: that one is the id, or is left out.
    """
    with campaign.reading() as (_, projection):
        models = [str(model) for model in projection.picker.models]
        hidden = {str(model) for model in (*campaign.settings.models, *(one.model for one in projection.changes))}
    chosen = dict(columns or {})
    for name, role in chosen.items():
        if role == "model" and name not in models:
            raise InputError(f"column {brief(name)} cannot be a model: this campaign has no model of that name.")
    for found in open_collection(path, models=models, columns=chosen).batches(fields=True):
        for start in range(0, len(found), ROUNDS_AT_ONCE):
            some = found.take(range(start, min(len(found), start + ROUNDS_AT_ONCE)))
            yield batch_of(some, hidden, chosen)
