"""What people say about an item, checked: it is what the campaign asks for, and about answers that models gave.

A label is stored in one form, so that two people who say the same agree: grades are in the order of the answers,
each answer of the item has its own, and if all are 0 it is `Label.all_wrong()`.
"""

from collections.abc import Mapping, Sequence, Sized

from modelpicker.campaigns.input.rows import ClassCodes
from modelpicker.campaigns.settings import CampaignSettings
from modelpicker.collections.same_answers import SameAnswers
from modelpicker.encoding import ClassName, check_same_kind
from modelpicker.errors import InputError, brief
from modelpicker.label import AnyLabel, Label, classes_of, read_label

# More grades than any item has answers.
MOST_GRADES = 10_000
# What a campaign asks for, and how that is said.
WANTED = {
    "class": "a class; or several of which each is right, as Label.any_of(…)",
    "grades": "a grade for each answer, as Label.graded({answer: grade}), or Label.all_wrong()",
    "preference": "which of two answers is better, as Label.better(answer, than) or Label.equal(answer, other)",
}


def check_label(
    given: object,
    settings: CampaignSettings,
    vocabulary: ClassCodes,
    said: Sequence[ClassName],
    stored: Sequence[ClassName],
    number: int,
    before: Sequence[ClassName] = (),
) -> AnyLabel | None:
    """A label that fits the campaign and the item; None for a skip.

    Args:
        given: a class, a `Label`, the document of one, or None.
        settings: of the campaign.
        vocabulary: the classes that it takes.
        said: the different answers to the item.
        stored: those of the items that are stored with it: one of them shows the kind of all.
        number: of the item.
        before: classes that were said about the item before, which no model may answer: they keep their spelling.
    """
    label = _read(given, settings.ask_for, number)
    if label is None:
        return None
    if isinstance(label, Label) and label.kind != "classes":
        return _about_answers(label, settings.rule, said, number)
    answers = [*said, *before]
    names = [_class(name, settings.rule, vocabulary, answers, stored, number) for name in classes_of(label)]
    different = sorted(dict.fromkeys(names), key=str)
    return different[0] if len(different) == 1 else Label.any_of(*different)


def stored_label(
    given: object, settings: CampaignSettings, number: int, *, reference: bool = False
) -> AnyLabel | None:
    """A label from a file that is imported. The label of a reference may be a class in any campaign."""
    label = _read(given, "class" if reference and not isinstance(given, Mapping) else settings.ask_for, number)
    names = () if label is None else classes_of(label)
    known = [ClassCodes(settings.classes, settings.rule).name(name, f"label of {number}") for name in names]
    return label if isinstance(label, Label) or not known else known[0]


def _read(given: object, asks: str, number: int) -> AnyLabel | None:
    """A label of the kind that is asked for."""
    where = f"label of {number}"
    grades = given.get("grades") if isinstance(given, Mapping) else given.grades if isinstance(given, Label) else ()
    if isinstance(grades, Sized) and len(grades) > MOST_GRADES:
        raise InputError(f"{where}: {len(grades):,} grades are more than any item has answers.", parameter="label")
    label = read_label(given, where)
    kind = "class" if not isinstance(label, Label) or label.kind == "classes" else label.kind
    if label is not None and kind != asks:
        raise InputError(
            f"{where}: this campaign asks for {WANTED[asks]}; {brief(given)} is not.", parameter="label"
        )
    return label


def _class(
    name: ClassName,
    rule: SameAnswers,
    vocabulary: ClassCodes,
    said: Sequence[ClassName],
    stored: Sequence[ClassName],
    number: int,
) -> ClassName:
    """A class that the campaign takes, spelt as the models spell it."""
    found = vocabulary.name(rule.find(name, said), f"label of {number}")
    if found is None:
        raise InputError(
            f"label of {number}: {brief(name)} stands for a skip, and is not a class.", parameter="label"
        )
    check_same_kind(found, stored[:1], f"label of {number}")
    return found


def _about_answers(label: Label, rule: SameAnswers, said: Sequence[ClassName], number: int) -> Label:
    """Grades, or a preference, of answers that models gave; in the order of the answers."""
    grades: dict[ClassName, float] = {}
    for name, grade in label.grades:
        answer = rule.find(name, said)
        if answer not in said:
            raise InputError(f"label of {number}: no model answers {brief(name)} there.", parameter="label")
        if grades.setdefault(answer, grade) != grade:
            raise InputError(
                f"label of {number}: {brief(answer)} has two grades; answers that count as the same have one.",
                parameter="label",
            )
    if label.kind == "preference":
        if len(grades) < 2:
            raise InputError(f"label of {number}: both answers count as the same.", parameter="label")
        return Label("preference", tuple(sorted(grades.items(), key=lambda pair: str(pair[0]))), None)
    if label.otherwise is not None:
        grades = {answer: grades.get(answer, label.otherwise) for answer in said}
    if not any(grades.values()) and len(grades) == len(said):
        return Label.all_wrong()
    return Label("grades", tuple(sorted(grades.items(), key=lambda pair: str(pair[0]))), None)
