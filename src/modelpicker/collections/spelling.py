"""How answers are spelt, and by what name users say what counts as the same answer."""

import math
import string
import unicodedata
from typing import Any

from modelpicker.errors import InputError, brief

EXACT, NORMALISED = "exact", "normalised"
MARKS = string.whitespace + """,;:!?'"`*_""" + "\u201c\u201d\u2018\u2019\u201e\u00ab\u00bb\u2026"
BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"))


def uniform(answer: str) -> str:
    """An answer without what language models add at random: white space, capitals, punctuation at the ends.

    >>> [uniform(answer) for answer in ("  Paris.", "**PARIS**", "“paris”", "(B)", "b)", "C++", ".5", "f(x)")]
    ['paris', 'paris', 'paris', 'b', 'b', 'c++', '.5', 'f(x)']
    """
    plain = answer if answer.isascii() else unicodedata.normalize("NFKC", answer)
    text = " ".join(plain.casefold().split())
    before = None
    while text != before and not (text[:1].isalnum() and text[-1:].isalnum()):
        before = text
        text = text.strip(MARKS).rstrip(".")
        text = text if text[:1] == "." and text[1:2].isdigit() else text.lstrip(".")
        for opening, closing in BRACKETS:
            paired = (
                text[:1] == opening and text[-1:] == closing and text.count(opening) == text.count(closing) == 1
            )
            alone = (closing not in text and text[:1] == opening) or (opening not in text and text[-1:] == closing)
            text = text[1:-1] if paired else text.strip(opening + closing) if alone else text
    return text


def check_same(given: Any) -> Any:
    """What counts as the same answer, as users say it."""
    if given is None or (isinstance(given, str) and given in (EXACT, NORMALISED)):
        return given or EXACT
    if callable(given):
        return given
    value = given.item() if hasattr(given, "item") else given
    if isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value < math.inf:
        return float(value)
    raise InputError(
        f'same={brief(given)}: pass "exact", "normalised", a tolerance such as 0.01, or a function of two answers '
        "that says whether they are the same.",
        parameter="same",
    )
