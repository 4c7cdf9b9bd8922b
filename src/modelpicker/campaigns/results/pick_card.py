"""A pick as a notebook shows it: who, how certain, at what cost, and how the others stand."""

from collections.abc import Iterator

from modelpicker.campaigns.results.pick import Pick
from modelpicker.campaigns.results.report import Report
from modelpicker.campaigns.results.report_page import standing_rows
from modelpicker.html_pages import html_card, html_tiles, safe

MOST_MODELS = 10


def pick_card(pick: Pick) -> str:
    """The card."""
    return html_card(Report("", pick).headline, *_parts(pick))


def _parts(pick: Pick) -> Iterator[str]:
    report = Report("", pick)
    yield f'<p class="sure {"proved" if pick.certified else "open"}">{safe(report.certainty)}</p>'
    facts = {"labels": f"{pick.labels_used:,}", "of items": f"{pick.rounds:,}"}
    if report.saved_share is not None:
        facts["saved"] = f"{int(100 * report.saved_share)}%"
    if pick.budget is not None:
        facts["budget"] = f"{pick.budget:,}"
    if pick.to_go is not None and not pick.certified:
        facts["to go"] = pick.to_go.words
    yield html_tiles(facts)
    if not pick.certified and pick.state.next:
        yield f"<p>{safe(pick.state.next)}</p>"
    if pick.named:
        shown = pick.standing[:MOST_MODELS]
        yield f"<div class=scroll>{standing_rows(pick, shown)}</div>"
        if len(pick.standing) > len(shown):
            yield f"<p class=quiet>And {len(pick.standing) - len(shown):,} more models: see standing.</p>"
