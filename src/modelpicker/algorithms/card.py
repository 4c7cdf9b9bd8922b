"""A picker of a stream as a notebook shows it: which model leads, what was seen, and how the models stand."""

from typing import TYPE_CHECKING

import numpy as np

from modelpicker.html_pages import html_bar, html_card, html_table, html_tiles, safe

if TYPE_CHECKING:
    from modelpicker.algorithms.base import Algorithm

MOST_MODELS = 10


def algorithm_card(picker: "Algorithm") -> str:
    """The card."""
    facts = {"rounds": f"{picker.rounds:,}", "labels": f"{picker.labels_used:,}", "seed": str(picker.seed)}
    parts = [html_tiles({"algorithm": picker.name, **facts})]
    if not picker.labels_used:
        models = f"{len(picker.models):,} models"
        return html_card(
            "No label yet", f"<p>It chooses among {models}. Call observe(row) for each item.</p>", *parts
        )
    sure = picker.certificate()
    parts.append(f'<p class="sure {"proved" if sure.gap < 1.0 else "open"}">{safe(sure.sentence)}</p>')
    return html_card(f"{picker.recommended} is the best so far", *parts, _standing(picker))


def _standing(picker: "Algorithm") -> str:
    losses = picker.losses - picker.losses.min()
    order = np.argsort(losses, kind="stable")[:MOST_MODELS]
    top = float(losses[order].max()) or 1.0
    rows = [
        (safe(picker.models[at]), f"{losses[at]:,.1f}", html_bar(float(losses[at]) / top)) for at in order.tolist()
    ]
    more = f", the first {len(order):,} of {len(losses):,}" if len(losses) > len(order) else ""
    return html_table(f"Estimated mistakes more than the best{more}", ("model", "more mistakes", ""), rows)
