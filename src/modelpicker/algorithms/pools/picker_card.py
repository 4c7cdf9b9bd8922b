"""A pool as a notebook shows it: which model leads, what is proven, and how many more labels it takes."""

from typing import TYPE_CHECKING

from modelpicker.html_pages import html_bar, html_card, html_table, html_tiles, safe

if TYPE_CHECKING:
    from modelpicker.algorithms.pools.picker import PoolPicker

MOST_MODELS = 10


def pool_card(pool: "PoolPicker") -> str:
    """The card."""
    facts = {
        "items": f"{len(pool):,}",
        "models differ on": f"{pool.contested:,}",
        "labels": f"{pool.labels_used:,}",
    }
    to_go = None if pool.done else pool.labels_to_go()
    if to_go is not None:
        facts["to go"] = to_go.words
    sure = pool.certificate(pool.confidence)
    title = f"Use {pool.recommended}" if pool.certified else f"{pool.recommended} is the best so far"
    if not pool.labels_used and not pool.certified:
        title = "No label yet"
    return html_card(
        title,
        f'<p class="sure {"proved" if pool.certified else "open"}">{safe(sure.sentence)}</p>',
        html_tiles(facts),
        "" if pool.done else "<p>pool.ask() says which item to label next; pool.tell(item, label) takes it.</p>",
        _standing(pool),
    )


def _standing(pool: "PoolPicker") -> str:
    standing = sorted(pool.standing.items(), key=lambda entry: entry[1])
    shown = standing[:MOST_MODELS]
    top = max((behind for _, behind in shown), default=0.0) or 1.0
    rows = [(safe(model), f"{behind:.1%}", html_bar(behind / top)) for model, behind in shown]
    more = f", the first {len(shown):,} of {len(standing):,}" if len(standing) > len(shown) else ""
    return html_table(
        f"How much accuracy each model is behind, by labels and guesses{more}", ("model", "behind", ""), rows
    )
