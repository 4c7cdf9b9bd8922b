"""What Label Studio tells as it happens: annotations that were made, changed and deleted.

What was said before is found in the history of the item, where every answer is signed with its annotation and its
time. So the same event twice changes nothing, and neither does an old one that comes late, whatever was restarted.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from modelpicker.campaigns.annotating.annotation import Annotation, answering, find_item
from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.events.history import ANSWERED, HistoryRecord
from modelpicker.campaigns.input.validation import LONGEST_NOTE
from modelpicker.campaigns.results.labels import is_settled
from modelpicker.errors import ConflictError
from modelpicker.label import label_text

EventResult = Literal["taken", "removed", "known", "stale", "conflict", "ignored"]
Change = Callable[[Campaign], Any]
SIGNED = re.compile(r"/annotation-(\S+)(?: (.*))?$")
DELETED = "deleted"


class Plan(NamedTuple):
    """What an event comes to: changes, each in a transaction of its own, and what is said about them."""

    result: EventResult
    item: int | None
    changes: list[Change]
    otherwise: Change | None = None
    """What is done if one of the changes contradicts what is there."""


def plan_annotation(campaign: Campaign, one: Annotation) -> Plan:
    """What to do with an annotation that was made or changed."""
    number = find_item(campaign, one.mark)
    said = [record for record in campaign.history(number) if record["kind"] in ANSWERED]
    name, times = _name(one.by), list(_times(said, _name(one.by)))
    if DELETED in times or any(one.at < time for time in times):
        return Plan("stale", number, [])
    noted: Change = lambda campaign: _note(campaign, number, one)  # noqa: E731
    opinions = campaign.opinions(number)
    if campaign.settings.overlap != 1:
        if is_settled(said, opinions, campaign.settings.overlap_rule):
            return Plan("conflict", number, [noted])
        own = any(person_of(opinion.by) == person_of(one.by) for opinion in opinions)
        return Plan("taken", number, answering(campaign, number, one, replace=own), noted)
    standing = said[-1] if said and said[-1]["kind"] != "retract" else None
    own = standing is not None and (_name(standing["by"]) == name or person_of(standing["by"]) == person_of(one.by))
    return Plan("taken", number, answering(campaign, number, one, replace=own), noted)


def plan_removal(campaign: Campaign, annotation: object) -> Plan:
    """What to do when an annotation was deleted: its answer is taken back, if it stands."""
    name = str(annotation)
    for answer in campaign.labels():
        for by in [opinion.by for opinion in answer.opinions] or [answer.by]:
            if _name(by) == name:
                return _taking_back(campaign, answer.id, str(by))
    return Plan("ignored", None, [])


def _taking_back(campaign: Campaign, number: int, by: str) -> Plan:
    opinions = campaign.opinions(number)
    if opinions and is_settled(campaign.history(number), opinions, campaign.settings.overlap_rule):
        return Plan("conflict", number, [])
    signed = f"{by.partition(' ')[0]} {DELETED}"
    return Plan("removed", number, [lambda campaign: campaign.retract(number, annotator=signed)])


def _note(campaign: Campaign, number: int, one: Annotation) -> None:
    """Flag an item on which somebody says something that is not taken."""
    label = "cannot tell" if one.label is None else label_text(campaign.as_stored(number, one.label) or "")
    text = f"In Label Studio {person_of(one.by)} says: {label}"
    campaign.note(number, text[:LONGEST_NOTE], flagged=True, annotator=one.by)


def _name(by: str | None) -> str | None:
    """Which annotation an answer is signed with; None if it does not come from Label Studio."""
    found = SIGNED.search(by or "")
    return None if found is None else found[1]


def _times(said: Iterable[HistoryRecord], name: str | None) -> Iterable[str]:
    """The times of an annotation that are known."""
    for record in said:
        found = SIGNED.search(record["by"] or "")
        if found is not None and found[1] == name:
            yield found[2] or ""


def perform(change: Change, otherwise: Change | None, campaign: Campaign) -> bool:
    """Make a change; where that contradicts what is there, note it instead. Whether it was made."""
    try:
        change(campaign)
    except ConflictError as error:
        if otherwise is None:
            raise
        try:
            otherwise(campaign)
        except ConflictError:
            raise error from None
        return False
    return True
