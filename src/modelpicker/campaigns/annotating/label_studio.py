"""What people said in Label Studio: its annotations, as an export or a webhook has them, as labels."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from modelpicker.campaigns.annotating.annotation import Annotation, ItemMark
from modelpicker.campaigns.annotating.asked import Asked
from modelpicker.campaigns.annotating.task import MARK
from modelpicker.encoding import ClassName
from modelpicker.errors import InputError, brief
from modelpicker.label import Label, LabelGiven

LABEL = "label"
"""What the control is called that asks for a class."""
STARS = 5
"""Of a rating: one star is the grade 0, all of them are 1."""
PLACE = re.compile(r"_(\d+)$")
EQUAL = "equal"


def annotations_of(asked: Asked, task: Mapping[str, Any], found: Sequence[Any], where: str) -> Iterator[Annotation]:
    """What people said about one task; drafts, and annotations without a result, are left out."""
    data = task.get("data")
    if not isinstance(data, Mapping):
        raise InputError(f"{where}: a task of Label Studio has its fields in `data`; this one has none.")
    mark = ItemMark.read(data.get(MARK), where)
    for one in found:
        if not isinstance(one, Mapping):
            raise InputError(f"{where}: {brief(one)} is not an annotation.")
        skipped, result = bool(one.get("was_cancelled")), one.get("result")
        if not skipped and not result:
            continue
        label = None if skipped else label_of(asked, mark, result, where)
        yield Annotation(mark, label, signature(one), time_of(one))


def signature(annotation: Mapping[str, Any]) -> str:
    """Who annotated, which annotation it is, and as of when: updates and deletions are known by that.

    >>> signature({"id": 17, "completed_by": {"id": 3}, "updated_at": "2026-11-18T21:15:01Z"})
    'label-studio-3/annotation-17 2026-11-18T21:15:01Z'
    """
    who = annotation.get("completed_by")
    if isinstance(who, Mapping):
        who = who.get("id", who.get("email"))
    person = "label-studio" if who is None else f"label-studio-{str(who).replace('/', '-')}"
    number = annotation.get("id")
    return person if number is None else f"{person}/annotation-{number} {time_of(annotation)}".rstrip()


def time_of(annotation: Mapping[str, Any]) -> str:
    """When an annotation was last changed."""
    return str(annotation.get("updated_at") or annotation.get("created_at") or "")[:40]


def label_of(asked: Asked, mark: ItemMark, result: object, where: str) -> LabelGiven:
    """The label that the results of one annotation come to."""
    if not isinstance(result, Sequence) or isinstance(result, str):
        raise InputError(f"{where}: the result {brief(result)} is not a list.")
    regions = [_Region(one, where) for one in result]
    if asked.ask_for == "grades":
        return _grades(mark, regions, where)
    if asked.ask_for == "preference":
        return _preference(mark, regions, where)
    return _classes(asked, regions, where)


class _Region:
    """One result: which control gave it, and what."""

    def __init__(self, found: object, where: str) -> None:
        if not isinstance(found, Mapping) or not isinstance(found.get("value"), Mapping):
            raise InputError(f"{where}: {brief(found)} is not a result of Label Studio.")
        self.control, self.kind = str(found.get("from_name", "")), str(found.get("type", ""))
        self.value: Mapping[str, Any] = found["value"]

    @property
    def choices(self) -> list[str]:
        """What was chosen."""
        found = self.value.get("choices") if self.kind == "choices" else None
        return [str(one) for one in found] if isinstance(found, Sequence) and not isinstance(found, str) else []


def _classes(asked: Asked, regions: Sequence[_Region], where: str) -> LabelGiven:
    """The class that was chosen, or several."""
    found = {region.control: region.choices for region in regions if region.choices}
    if len(found) > 1 and LABEL in found:
        found = {LABEL: found[LABEL]}
    if len(found) != 1:
        kinds = ", ".join(sorted({f"{region.control} ({region.kind})" for region in regions})) or "nothing"
        raise InputError(
            f"{where}: this campaign asks for a class, from one Choices control; the annotation has {kinds}. If "
            f"there are several, call the one with the class {LABEL!r}."
        )
    (chosen,) = found.values()
    return asked.label(chosen)


def _grades(mark: ItemMark, regions: Sequence[_Region], where: str) -> LabelGiven:
    """A grade for each answer that has stars."""
    grades: dict[ClassName, float] = {}
    for region in regions:
        place, stars = PLACE.search(region.control), region.value.get("rating")
        if region.kind != "rating" or place is None:
            continue
        if int(place[1]) >= len(mark.answers):
            raise InputError(f"{where}: {region.control!r} rates an answer that the task does not have.")
        if isinstance(stars, bool) or not isinstance(stars, int | float) or not 1 <= stars <= STARS:
            raise InputError(f"{where}: {brief(stars)} is not a rating from 1 to {STARS} stars.")
        grades[mark.answers[int(place[1])]] = (stars - 1) / (STARS - 1)
    if not grades:
        raise InputError(f"{where}: this campaign asks for grades; the annotation has no rating of an answer.")
    return Label.graded(grades)


def _preference(mark: ItemMark, regions: Sequence[_Region], where: str) -> LabelGiven:
    """Which of two answers is better."""
    if len(mark.answers) != 2:
        raise InputError(f"{where}: the task has {len(mark.answers)} answers; two are compared.")
    one, other = mark.answers
    equal = any(region.choices for region in regions if region.control == EQUAL)
    sides = {region.value.get("selected") for region in regions if region.kind == "pairwise"}
    if equal and not sides:
        return Label.equal(one, other)
    if equal or sides not in ({"left"}, {"right"}):
        raise InputError(
            f"{where}: this campaign asks which of two answers is better; the annotation does not say one thing."
        )
    return Label.better(one, other) if sides == {"left"} else Label.better(other, one)
