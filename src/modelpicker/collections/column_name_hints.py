"""What the name of a column says about it. A name alone never decides: it only makes somebody look."""

import re
from typing import NamedTuple

from modelpicker.frames import IDENTITIES, LABEL, NOT_MODELS

__all__ = ["IDENTITIES", "LABEL", "NOT_MODELS", "ROW_NUMBERS", "hint_of"]

# What data frames call the numbers of their rows when they are written to a file.
ROW_NUMBERS = ("", "Unnamed: 0", "__index_level_0__")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Names under which labels are often kept, without what separates their words.
LIKE_LABELS = _words(
    "labels truth target targets gold golden y ytrue truelabel goldlabel groundtruth gt answer correctanswer "
    "goldanswer oracle class trueclass expected reference category annotation"
)
# Text that people read.
TEXTS = _words(
    "question prompt query context passage document doc sentence title headline body message msg comment comments "
    "note notes remark remarks description input instruction instructions content review tweet post utterance "
    "conversation dialogue history premise hypothesis summary article email mail subject story paragraph caption "
    "explanation rationale reasoning abstract transcript snippet turn"
)
# The last word of a name such as image_url.
LINKS = _words("url uri link href path file filename image img photo picture video audio")
KEYS = _words("id ids uuid guid hash idx index key")
NUMBERS = _words(
    "confidence conf score scores prob probs probability proba logit logits logprob logprobs weight margin entropy "
    "loss latency duration seconds ms cost price tokens length len count rank timestamp date time datetime at meta "
    "metadata split fold"
)
# The whole name.
OTHERS = _words(
    "subset partition dataset info extra tag tags lang language locale topic domain difficulty annotator author "
    "user username created updated year version source status row number nr no agreement temperature seed"
)
PARTS = re.compile(r"[_\s.]+|(?<=[a-z0-9])(?=[A-Z])")


class Hint(NamedTuple):
    """What a name suggests."""

    role: str
    why: str


def hint_of(name: str) -> Hint | None:
    """What a column is likely to be by its name, if not a model."""
    parts = [part.lower() for part in PARTS.split(name) if part]
    whole = re.sub(r"[\W_]+", "", name).lower()
    if not parts or name.lower() in (LABEL, *NOT_MODELS):
        return None
    if whole in LIKE_LABELS:
        return Hint("label", "Labels are often kept under this name.")
    why = "The name suggests that it is not a model."
    last = parts[-1]
    if whole.rstrip("0123456789") in TEXTS or last in LINKS:
        return Hint("shown", why)
    if last in KEYS:
        return Hint("id", why)
    return Hint("left out", why) if last in NUMBERS or whole in OTHERS else None
