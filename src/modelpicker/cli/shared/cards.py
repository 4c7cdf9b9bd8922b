"""Free answers as cards at the terminal: numbered, shuffled, without model names; one key each."""

import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, NamedTuple

from modelpicker.cli.shared.prompts import COMMANDS, HELP, QUIT, read_line, shown
from modelpicker.cli.shared.terminal import WIDTH, say, visible
from modelpicker.errors import brief

if TYPE_CHECKING:
    from modelpicker.label import Label

# The keys of grades: right and wrong, or stars.
GRADES = {"y": 1.0, "n": 0.0, **{str(stars): stars / 5 for stars in range(6)}}
ALL_WRONG, DIFFERENCE, EQUAL = "w", "d", "="
LONGEST_ANSWER = 4_000
# Words of an answer that are compared with those of another.
MOST_WORDS = 2_000
TYPED = "   ".join(f"{key} {what}" for key, what in COMMANDS.items())


class Judged(NamedTuple):
    """What somebody said about the answers on the cards, or a command."""

    command: str | None = None
    label: "Label | None" = None


def judge(head: str, fields: Mapping[str, Any], answers: Sequence[int | str], ask_for: str) -> Judged:
    """Ask for grades of all answers, or for the better of two, until it makes sense; the end of the input quits."""
    offer, explain, read = _GRADES if ask_for == "grades" else _PREFERENCE
    say("", head, *shown(fields), *_cards(answers), offer, f"       {TYPED}")
    given = ""
    while True:
        text = _read(answers, given, ask_for)
        if text is None:
            say("")
            return Judged(command=QUIT)
        command = COMMANDS.get(text)
        if command == HELP:
            say(*explain)
        elif command is not None:
            return Judged(command=command)
        elif text.startswith(DIFFERENCE):
            say(*_difference(text, answers))
        else:
            label, given, wrong = read(text, given, answers)
            if label is not None:
                return Judged(label=label)
            say(*([visible(wrong)] if wrong else []))


def _read(answers: Sequence[int | str], given: str, ask_for: str) -> str | None:
    """What was typed, without spaces; the prompt says which answer comes next."""
    while True:
        next_one = f"[{len(given) + 1}] " if ask_for == "grades" and len(answers) > 1 else ""
        print(f"{next_one}> ", end="", file=sys.stderr, flush=True)
        text = read_line()
        if text is None or text:
            return text if text is None else text.lower()


def _read_grades(text: str, given: str, answers: Sequence[int | str]) -> "tuple[Label | None, str, str]":
    """The label, if all answers have a grade; what was given so far; and what is wrong."""
    from modelpicker.label import Label

    if text == ALL_WRONG:
        return Label.all_wrong(), "", ""
    marks = text.replace(" ", "").replace(",", "")
    strange = next((mark for mark in marks if mark not in GRADES), None)
    if strange is not None:
        return None, given, f"{brief(strange)} is not a grade: y right, n wrong, or 0 to 5 stars. ? says more."
    if len(given) + len(marks) > len(answers):
        left = len(answers) - len(given)
        return None, given, f"{len(marks)} grades, but {left} answer{'' if left == 1 else 's'} left to grade."
    given += marks
    if len(given) < len(answers):
        return None, given, ""
    return Label.graded({answer: GRADES[mark] for answer, mark in zip(answers, given, strict=True)}), given, ""


def _read_preference(text: str, _: str, answers: Sequence[int | str]) -> "tuple[Label | None, str, str]":
    """The label; nothing; and what is wrong."""
    from modelpicker.label import Label

    first, second = answers
    found = {"1": (first, second), "2": (second, first)}.get(text)
    if found is not None:
        return Label.better(*found), "", ""
    if text == EQUAL:
        return Label.equal(first, second), "", ""
    return None, "", f"{brief(text)} is not an answer: 1 or 2 is better, or = for equal. ? says more."


_REST = (
    "s skips the item: nobody can tell. u goes back to your last answer.",
    "m says how the models stand, and whether you may stop.",
    "q quits; run the same command to continue. Every answer is saved at once.",
)
_GRADES = (
    "grade, one key per answer, then Enter: y right, n wrong, 0 to 5 stars   w all wrong   d difference",
    (
        "Type one key for each answer in their order, such as yn3, then Enter. Or one at a time.",
        "y right, n wrong, 0 to 5 stars: 0 is wrong, 5 is right. w: all answers are wrong.",
        "d shows how answers 1 and 2 differ; d 1 3 compares others.",
        *_REST,
    ),
    _read_grades,
)
_PREFERENCE = (
    "which is better:  1   2   = equal   d difference",
    (
        "Type 1 or 2 for the better answer, or = if they are equally good, then Enter.",
        "d shows how they differ.",
        *_REST,
    ),
    _read_preference,
)


def _cards(answers: Sequence[int | str]) -> list[str]:
    """Each answer under its number, with its own line breaks; a very long one is cut."""
    lines = []
    for number, answer in enumerate(answers, 1):
        text = str(answer)
        more = f"… ({len(text) - LONGEST_ANSWER:,} more characters)" if len(text) > LONGEST_ANSWER else ""
        first = f"  [{number}] "
        for line in (text[:LONGEST_ANSWER] + more).splitlines() or [""]:
            lines += textwrap.wrap(
                visible(line), WIDTH - 2, initial_indent=first, subsequent_indent=" " * len(first)
            ) or [first]
            first = " " * len(first)
    return lines


def _difference(text: str, answers: Sequence[int | str]) -> list[str]:
    """How two answers differ, word by word: [-only in the first-] and {+only in the second+}."""
    numbers = [int(number) for number in re.findall(r"\d{1,6}", text)] or [1, 2]
    if len(numbers) != 2 or not all(1 <= number <= len(answers) for number in numbers):
        return [f"d and two numbers from 1 to {len(answers)} compare two answers, such as d 1 2."]
    first, second = (str(answers[number - 1]).split()[:MOST_WORDS] for number in numbers)
    parts = []
    for kind, start, end, other, until in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append(" ".join(first[start:end]))
            continue
        parts += [f"[-{' '.join(first[start:end])}-]"] if end > start else []
        parts += [f"{{+{' '.join(second[other:until])}+}}"] if until > other else []
    return textwrap.wrap(visible(" ".join(parts)), WIDTH - 2, initial_indent="  ", subsequent_indent="  ")
