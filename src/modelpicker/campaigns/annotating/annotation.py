"""What people said in another tool, taken in: what is new, what is there already, and what cannot be."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from modelpicker.campaigns.annotating.task import MARK
from modelpicker.campaigns.annotators import person_of
from modelpicker.campaigns.campaign import Campaign
from modelpicker.campaigns.events.history import as_time
from modelpicker.encoding import ClassName
from modelpicker.errors import ConflictError, InputError, ModelPickerError, NotFoundError, brief
from modelpicker.label import AnyLabel, LabelGiven


@dataclass(frozen=True, slots=True)
class ItemMark:
    """Which item an annotation is about, as its task or its row says."""

    id: int | None = None
    key: str | None = None
    made: str | None = None
    """When the campaign was made that the task is of; None if nothing is known about that."""
    campaign: str = ""
    answers: tuple[ClassName, ...] = ()
    text: str | None = None
    """What a person typed: a key, or the id of an item."""

    @classmethod
    def read(cls, found: object, where: str) -> Self:
        """The mark that came back with a task."""
        if not isinstance(found, Mapping):
            raise InputError(
                f"{where} has no {MARK!r} field, which says which item it is. Take annotations of tasks that "
                "`modelpicker tasks` wrote; or pass a table with the columns id and label."
            )
        number, key = found.get("id"), found.get("key")
        if not (isinstance(number, int) and not isinstance(number, bool)) and not isinstance(key, str):
            raise InputError(f"{where}: {brief(found)} names no item.")
        answers = found.get("answers") or ()
        if not isinstance(answers, Sequence) or not all(isinstance(one, str | int) for one in answers):
            raise InputError(f"{where}: the answers {brief(answers)} are not a list of answers.")
        made, name = found.get("made"), found.get("campaign")
        return cls(
            number if isinstance(number, int) else None,
            key if isinstance(key, str) else None,
            made if isinstance(made, str) else None,
            name if isinstance(name, str) else "",
            tuple(answers),
        )

    @property
    def words(self) -> str:
        """What the item is called, for people."""
        return self.text or self.key or str(self.id)


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one person said about one item."""

    mark: ItemMark
    label: LabelGiven | None
    """None if they skipped it."""
    by: str | None
    at: str = ""
    """When, in any form that can be sorted; of two by the same person the later one holds."""


@dataclass(slots=True)
class TakenAnnotations:
    """What came of annotations."""

    labels: int = 0
    skips: int = 0
    known: int = 0
    """Those that were there already."""
    empty: int = 0
    """Tasks that nobody has annotated yet."""
    problems: list[tuple[str, ModelPickerError]] = field(default_factory=list)
    """Items that could not be labelled, and why; all others were."""

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "labels": self.labels,
            "skips": self.skips,
            "known": self.known,
            "empty": self.empty,
            "problems": [
                {"item": item, "type": type(error).__name__, "message": str(error)} for item, error in self.problems
            ],
        }


def find_item(campaign: Campaign, mark: ItemMark) -> int:
    """The number of the item that a mark names; an error that names it, if it is not in the campaign."""
    if mark.text is not None:
        return _find_typed(campaign, mark.text)
    if mark.key is not None:
        return campaign.number_of(mark.key)
    if mark.made not in (None, as_time(campaign.created)):
        raise NotFoundError(
            f"item {mark.id} is of another campaign, {brief(mark.campaign)}, and has no key by which "
            f"{campaign.name!r} could know it."
        )
    return campaign.number_of(mark.id if mark.id is not None else "")


def _find_typed(campaign: Campaign, text: str) -> int:
    """The item that somebody means: its key, or else its id."""
    try:
        return campaign.number_of(text)
    except NotFoundError:
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise
        return campaign.number_of(int(text))


def take_annotations(campaign: Campaign, found: Iterable[Annotation], *, replace: bool = False) -> TakenAnnotations:
    """Take in what people said: labels, and skips.

    Twice the same changes nothing. What cannot be taken is listed, and the rest is taken. Where one person labels
    an item, and the annotations of several differ, none of them is taken. Of one person's, the last one holds.

    Args:
        campaign: of this machine.
        found: the annotations, in the order in which they were given.
        replace: whether an answer of the same person takes the place of their other one.
    """
    taken = TakenAnnotations()
    for number, said in _by_item(campaign, found, taken).items():
        try:
            for one in _chosen(campaign, number, said):
                _take(campaign, number, one, replace, taken)
        except ModelPickerError as error:
            taken.problems.append((said[0].mark.words, error))
    return taken


def _by_item(
    campaign: Campaign, found: Iterable[Annotation], taken: TakenAnnotations
) -> dict[int, list[Annotation]]:
    """The last annotation of every person, by the number of the item."""
    last: dict[int, dict[str, Annotation]] = {}
    for one in found:
        try:
            number = find_item(campaign, one.mark)
        except ModelPickerError as error:
            taken.problems.append((one.mark.words, error))
            continue
        said = last.setdefault(number, {})
        before = said.get(person_of(one.by))
        if before is None or before.at <= one.at:
            said[person_of(one.by)] = one
    return {number: list(said.values()) for number, said in last.items()}


def _chosen(campaign: Campaign, number: int, said: list[Annotation]) -> list[Annotation]:
    """The annotations to take: all of them where several people label, else what they agree on."""
    if campaign.settings.overlap != 1:
        return said
    labels = {campaign.as_stored(number, one.label): one for one in said if one.label is not None}
    if len(labels) > 1:
        people = "; ".join(f"{one.by or 'somebody'}: {brief(label)}" for label, one in labels.items())
        raise ConflictError(
            f"people say different things ({people}), and this campaign asks one person per item. Settle it with "
            "`modelpicker tell`, or make a campaign with an overlap."
        )
    return list(labels.values()) or said[:1]


def _take(campaign: Campaign, number: int, one: Annotation, replace: bool, taken: TakenAnnotations) -> None:
    """Take in one annotation, and count what came of it."""
    before = campaign.events
    for step in answering(campaign, number, one, replace=replace):
        step(campaign)
    if campaign.events == before:
        taken.known += 1
    elif one.label is None:
        taken.skips += 1
    else:
        taken.labels += 1


def answering(
    campaign: Campaign, number: int, one: Annotation, *, replace: bool
) -> list[Callable[[Campaign], Any]]:
    """What has to be done, in transactions of their own, so that what somebody said holds.

    Where several people label an item that has its label, a person's other opinion is taken back before: otherwise
    it would take the place of the label that all of them gave.
    """
    own = opinion_of(campaign, number, one.by)
    steps: list[Callable[[Campaign], Any]] = []
    label: AnyLabel | None = None if one.label is None else campaign.as_stored(number, one.label)
    if own is not None and own != (label,) and replace and campaign.label_of(number) is not None:
        steps.append(lambda campaign: campaign.retract(number, annotator=one.by))
    steps.append(lambda campaign: campaign.tell(number, one.label, replace=replace, annotator=one.by))
    return steps


def opinion_of(campaign: Campaign, number: int, by: str | None) -> tuple[AnyLabel | None] | None:
    """What a person says about an item that several people label; None if they said nothing."""
    for one in campaign.opinions(number):
        if person_of(one.by) == person_of(by):
            return (one.label,)
    return None
