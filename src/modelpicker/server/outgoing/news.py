"""What is news of a campaign: it is certified, its budget is spent, drift was noticed, labels are waited for."""

import time
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from modelpicker.campaigns import Campaign, Pick
from modelpicker.campaigns.events.history import as_time

NewsKind: TypeAlias = Literal["certified", "budget-spent", "drift", "waiting-for-labels"]
PROVED = ("certified", "won")


def look(campaign: Campaign, idle: float) -> tuple[dict[str, Any], Pick]:
    """What is to be remembered of a campaign, and its pick.

    Args:
        campaign: that is looked at.
        idle: after how many seconds without any event the campaign counts as waiting for labels.
    """
    event, pick = campaign.best_at()
    waits = pick.state.name == "waiting-for-labels" and time.time() - campaign.changed_at > idle
    return {"state": pick.state.name, "drifted": campaign.drifted, "waited": event if waits else None}, pick


def news_between(name: str, before: dict[str, Any] | None, now: dict[str, Any], pick: Pick) -> list[dict[str, Any]]:
    """What is new since a campaign was last looked at; a campaign that nobody has seen is all new."""
    before = before or {"state": "running", "drifted": None, "waited": None}
    found: list[NewsKind] = []
    if now["state"] in PROVED and before["state"] not in PROVED:
        found.append("certified")
    if now["state"] == "budget-spent" != before["state"]:
        found.append("budget-spent")
    if now["drifted"] is not None and before["drifted"] is None:
        found.append("drift")
    if now["waited"] is not None and now["waited"] != before["waited"]:
        found.append("waiting-for-labels")
    return [_document(name, kind, pick) for kind in found]


def _document(name: str, kind: NewsKind, pick: Pick) -> dict[str, Any]:
    """One piece of news, for programs and for people."""
    return {
        "type": f"campaign.{kind}",
        "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
        "text": _text(name, kind, pick),
        "data": {
            "campaign": name,
            "pick": pick.model if pick.named else None,
            "labels_used": pick.labels_used,
            "budget": pick.budget,
            "pending": pick.pending,
            "state": pick.state.document(),
        },
    }


def _text(name: str, kind: NewsKind, pick: Pick) -> str:
    """The news in a sentence or two."""
    labels = "1 label" if pick.labels_used == 1 else f"{pick.labels_used:,} labels"
    best = f"{pick.model} is picked, after {labels}. " if pick.named else ""
    if kind == "drift":
        return f"{name}: drift was noticed. {pick.remark or best}".strip()
    proof = f" {' '.join(pick.certificate.sentence.splitlines())}" if kind == "certified" else ""
    return f"{name}: {pick.state.title.lower()}. {best}{pick.state.reason}{proof} {pick.state.next}"


def mark_of(campaign: Campaign) -> str:
    """What tells a campaign from others, whatever it is called."""
    return as_time(campaign.created)
