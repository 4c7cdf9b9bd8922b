"""What somebody says about an item: a class, several classes, a grade for each answer, or which of two is better.

A plain class is the usual label, and stays a plain string or number everywhere. All other labels are a `Label`: a
grade from 0 (wrong) to 1 (right) for some answers, and a grade for all other answers, where that is known. An
answer without a grade may be right or wrong: it counts as the worst.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from modelpicker.encoding import ClassName, check_one_kind, plain
from modelpicker.errors import InputError, brief
from modelpicker.kernels.primitives import Floats

LabelKind: TypeAlias = Literal["classes", "grades", "preference"]
KINDS: tuple[LabelKind, ...] = ("classes", "grades", "preference")
# Losses are whole multiples of this, so that sums of them are exact in any order.
STEP = 2.0**-20
# What a label is cut to in a sentence.
LONGEST_WORDS = 160


@dataclass(frozen=True, slots=True)
class Label:
    """A label that is more than one class.

    Make one with `any_of`, `graded`, `ranked`, `all_wrong`, `better` or `equal`.

    >>> Label.graded({"Paris": 1, "Paris, France": 0.8, "Lyon": 0})
    Label(kind='grades', grades=(('Paris', 1.0), ('Paris, France', 0.8), ('Lyon', 0.0)), otherwise=None)
    >>> Label.any_of("spam", "advert").losses(["spam", "ham", None])
    array([0., 1., 1.])
    """

    kind: LabelKind
    grades: tuple[tuple[ClassName, float], ...]
    """Answers with their grades, each answer once."""
    otherwise: float | None
    """The grade of all other answers; None if it is not known."""

    @classmethod
    def any_of(cls, *classes: ClassName) -> Self:
        """Each of these classes is right, all others are wrong.

        >>> import modelpicker as mp
        >>> mp.Label.any_of("spam", "scam").losses(["spam", "ham"])
        array([0., 1.])
        """
        if not classes:
            raise InputError("any_of: name at least one class; if all answers are wrong, use Label.all_wrong().")
        return cls("classes", _checked((name, 1.0) for name in classes), 0.0)

    @classmethod
    def graded(cls, grades: Mapping[Any, float], otherwise: float | None = None) -> Self:
        """A grade from 0 (wrong) to 1 (right) for each answer; True and False are 1 and 0.

        Args:
            grades: by answer.
            otherwise: the grade of answers that are not named; by default they count as the worst.

        >>> import modelpicker as mp
        >>> mp.Label.graded({"Paris": 1, "France": 0.5}, otherwise=0).losses(["Paris", "France", "Rome"])
        array([0. , 0.5, 1. ])
        """
        rest = None if otherwise is None else _grade("all others", otherwise)
        return cls("grades", _checked(grades.items()), rest)

    @classmethod
    def ranked(cls, *answers: ClassName | Sequence[ClassName]) -> Self:
        """All answers to an item, the best first; those in one list are equally good.

        The grade of an answer is the share of the others that it beats; an equal one counts half.

        >>> Label.ranked("Paris", ["Lyon", "Nice"]).grades
        (('Paris', 1.0), ('Lyon', 0.25), ('Nice', 0.25))
        """
        groups = [[group] if isinstance(group, int | str) else list(group) for group in answers]
        names = [name for group in groups for name in group]
        if len(names) < 2 or len(set(names)) < len(names):
            raise InputError(f"ranked {brief(answers)}: name at least two answers, each of them once.")
        grades, left = [], len(names)
        for group in groups:
            left -= len(group)
            beaten = left + (len(group) - 1) / 2.0
            grades += [(name, beaten / (len(names) - 1)) for name in group]
        return cls("grades", _checked(grades), None)

    @classmethod
    def all_wrong(cls) -> Self:
        """No model has it right.

        >>> import modelpicker as mp
        >>> mp.Label.all_wrong().losses(["Paris", "Rome"])
        array([1., 1.])
        """
        return cls("grades", (), 0.0)

    @classmethod
    def better(cls, answer: ClassName, than: ClassName) -> Self:
        """One answer is better than another; nothing is said about the others.

        >>> import modelpicker as mp
        >>> mp.Label.better("Paris", than="Rome").losses(["Paris", "Rome"])
        array([0., 1.])
        """
        return cls("preference", _two(answer, than, 1.0, 0.0), None)

    @classmethod
    def equal(cls, answer: ClassName, other: ClassName) -> Self:
        """Two answers are equally good; nothing is said about the others.

        >>> import modelpicker as mp
        >>> mp.Label.equal("Paris", "paris").losses(["Paris", "paris"])
        array([0.5, 0.5])
        """
        return cls("preference", _two(answer, other, 0.5, 0.5), None)

    def losses(self, answers: Sequence[ClassName | None]) -> Floats:
        """The loss of each answer, from 0 to 1; NaN where it is not known. An abstention (None) loses 1.

        >>> import modelpicker as mp
        >>> mp.Label.graded({"Paris": 1}).losses(["Paris", "Rome"])  # nan: the grade is not known
        array([ 0., nan])
        """
        known = dict(self.grades)
        found = [
            1.0
            if answer is None
            else 1.0 - grade
            if (grade := known.get(answer, self.otherwise)) is not None
            else np.nan
            for answer in answers
        ]
        return np.round(np.array(found, dtype=np.float64) / STEP) * STEP

    def coded(self, code_of: Callable[[ClassName], int]) -> Self:
        """The same label, of codes in the place of classes and answers."""
        return type(self)(self.kind, tuple((code_of(name), grade) for name, grade in self.grades), self.otherwise)

    def to_json(self) -> dict[str, Any]:
        """The label as a document; `read_label` reads it again.

        >>> import modelpicker as mp
        >>> mp.Label.any_of("spam", "scam").to_json()
        {'kind': 'classes', 'grades': [['spam', 1.0], ['scam', 1.0]], 'otherwise': 0.0}
        """
        grades = [[answer, grade] for answer, grade in self.grades]
        return {"kind": self.kind, "grades": grades, "otherwise": self.otherwise}


AnyLabel: TypeAlias = ClassName | Label
"""What somebody may say about an item."""
LabelGiven: TypeAlias = AnyLabel | Mapping[str, Any]
"""The same, or the document of a label."""


def read_label(value: object, where: str = "label") -> AnyLabel | None:
    """A label from a document or from Python: a class, a `Label`, the document of one, or None for a skip."""
    if isinstance(value, Label):
        return value
    if not isinstance(value, Mapping):
        return plain(value, where)
    try:
        kind, otherwise = value["kind"], value.get("otherwise")
        pairs = [(answer, grade) for answer, grade in value["grades"]]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{where}: {brief(value)} is not a label. It needs `kind`, and `grades` with pairs."
        ) from error
    grades = _checked(pairs)
    if kind not in KINDS:
        raise InputError(f"{where}: {brief(kind)} is not a kind of label; there are {', '.join(KINDS)}.")
    read = Label(kind, grades, None if otherwise is None else _grade("all others", otherwise))
    fault = _fault(read)
    if fault:
        raise InputError(f"{where}: {fault}")
    return read


def classes_of(label: AnyLabel) -> tuple[ClassName, ...]:
    """The classes that a label says are right; grades and preferences name none."""
    if not isinstance(label, Label):
        return (label,)
    return tuple(name for name, _ in label.grades) if label.kind == "classes" else ()


def as_document(label: AnyLabel | None) -> Any:
    """A label as JSON can hold it: a class stays as it is."""
    return label.to_json() if isinstance(label, Label) else label


def label_text(label: AnyLabel) -> str:
    """A label in one cell of a table: a class as it is, all others as JSON."""
    return json.dumps(label.to_json(), ensure_ascii=False) if isinstance(label, Label) else str(label)


def label_words(label: AnyLabel) -> str:
    """A label in a sentence, for people; of long grades, the beginning."""
    if not isinstance(label, Label):
        return repr(label)
    if label.kind == "classes":
        return " or ".join(repr(name) for name, _ in label.grades)
    if label.kind == "grades":
        grades = ", ".join(f"{brief(answer)} {grade:g}" for answer, grade in label.grades)
        rest = "" if label.otherwise is None else f"{'all others' if grades else 'all answers'} {label.otherwise:g}"
        return _cut(", ".join(part for part in (grades, rest) if part))
    (best, first), (other, _) = sorted(label.grades, key=lambda pair: -pair[1])
    return _cut(f"{brief(best)} {'equal to' if first == 0.5 else 'better than'} {brief(other)}")


def _cut(words: str) -> str:
    return words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 1]}…"


def _fault(label: Label) -> str:
    """What is wrong with a label of this kind."""
    if label.kind == "classes" and (
        not label.grades or label.otherwise != 0.0 or {g for _, g in label.grades} != {1.0}
    ):
        return "several classes have the grade 1 each, and all others 0."
    if label.kind == "preference":
        found = sorted(grade for _, grade in label.grades)
        if found not in ([0.0, 1.0], [0.5, 0.5]) or label.otherwise is not None:
            return "a preference has two answers with the grades 1 and 0, or 0.5 each."
    if label.kind == "grades" and not label.grades and label.otherwise is None:
        return "no answer has a grade; give at least one, or skip the item."
    return ""


def _checked(pairs: Iterable[tuple[object, object]]) -> tuple[tuple[ClassName, float], ...]:
    """Answers with their grades, checked, each answer once."""
    found: dict[ClassName, float] = {}
    for answer, grade in pairs:
        name = plain(answer, "answer")
        if name is None:
            raise InputError("an answer that is None has no grade: an abstention is always wrong.")
        value = _grade(brief(name), grade)
        if found.setdefault(name, value) != value:
            raise InputError(f"answer {brief(name)} has two grades, {found[name]:g} and {value:g}.")
    check_one_kind(list(found), "answers")
    return tuple(found.items())


def _grade(answer: str, grade: object) -> float:
    """A grade, checked."""
    if isinstance(grade, np.generic):
        grade = grade.item()
    if not isinstance(grade, int | float) or not 0.0 <= grade <= 1.0:
        raise InputError(f"the grade of {answer} is {brief(grade)}; grades go from 0 (wrong) to 1 (right).")
    return float(grade)


def _two(answer: ClassName, other: ClassName, first: float, second: float) -> tuple[tuple[ClassName, float], ...]:
    if answer == other:
        raise InputError(f"a preference is between two different answers; both are {brief(answer)}.")
    return _checked([(answer, first), (other, second)])
