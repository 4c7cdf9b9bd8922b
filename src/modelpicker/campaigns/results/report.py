"""A report on a pick as plain data, and its sentences: what a page, or a person who checks it, is told.

Nothing here may import SQLAlchemy or Arrow: a `Pick` that came over HTTP has a report too.
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version

from modelpicker.campaigns.results.course import Course
from modelpicker.campaigns.results.pick import Pick
from modelpicker.certificates.wording import how_certain, points
from modelpicker.encoding import ModelName

LIBRARIES = ("modelpicker", "numpy")
# What a name is cut to in a sentence: nobody reads a page of one name.
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class AnnotatorCounts:
    """Who answered, and how often; what was taken back or replaced does not count."""

    name: str
    labels: int
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class ProofGoal:
    """What should be proven."""

    gap: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Report:
    """A pick with all that is needed to trust it, and to repeat it."""

    title: str
    """The campaign, or the file."""
    pick: Pick
    goal: ProofGoal | None = None
    contested: int | None = None
    """On how many items models differ; None if that is not known."""
    known: int = 0
    """How many of the labels were known before: they cost nothing."""
    looked_up: bool = False
    """Whether the labels were looked up in a file: nobody was asked."""
    annotators: tuple[AnnotatorCounts, ...] = ()
    corrected: int = 0
    """How many answers were replaced or taken back."""
    began: str = ""
    """When the first answer came, in UTC; empty if that is not known."""
    ended: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What the pick was made with, by name."""
    repeat: str = ""
    """The commands that repeat it."""
    made: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="minutes"))
    versions: Mapping[str, str] = field(
        default_factory=lambda: {name: version(name) for name in LIBRARIES} | {"Python": platform.python_version()}
    )

    @property
    def course(self) -> Course | None:
        """How the pick came about."""
        return self.pick.course

    @property
    def proved(self) -> bool:
        """Whether anything is proven about the pick."""
        return self.pick.named and self.pick.certificate.gap < 1.0

    # The sentences.

    @property
    def headline(self) -> str:
        """The pick, in one sentence."""
        pick, name = self.pick, in_a_sentence(self.pick.model)
        if not pick.named:
            return "There is no pick yet."
        if pick.certified:
            return f"Use {name}."
        others = [one for one in pick.tied if one != pick.model] if pick.model in pick.tied else []
        if others:
            more = in_a_sentence(others[0]) if len(others) == 1 else f"{len(others):,} other models"
            return f"{name} and {more} are level so far."
        return f"{name} is the best so far."

    @property
    def certainty(self) -> str:
        """How certain the pick is, in two lines; or that nothing is proven yet."""
        pick = self.pick
        if not pick.named:
            return pick.no_label_sentence
        if not self.proved:
            wanted = "" if self.goal is None else f" The goal: {goal_in_words(self.goal)}."
            rests_on = count(pick.labels_used, "label")
            return f"{pick.certificate.sentence}\nThe pick is an estimate from {rests_on}.{wanted}"
        sentence = replace_name(pick.certificate.sentence, pick.model)
        if pick.reached is False and self.goal is not None:
            return f"{sentence}\nThe goal: {goal_in_words(self.goal)}."
        return sentence

    @property
    def came(self) -> str:
        """How the labels came."""
        return "looked up" if self.looked_up else "bought"

    @property
    def cost(self) -> str:
        """What it cost."""
        pick = self.pick
        bought = pick.labels_used - self.known
        told = count(bought, "label") if bought else "No label"
        parts = [f"{told} {'were' if bought > 1 else 'was'} {self.came}"]
        if self.known:
            parts.append(f"{self.known:,} more {'was' if self.known == 1 else 'were'} known before")
        if pick.skipped:
            parts.append(f"{count(pick.skipped, 'item')} {'was' if pick.skipped == 1 else 'were'} skipped")
        if pick.pending:
            parts.append(
                f"{count(pick.pending, 'item')} still {'waits' if pick.pending == 1 else 'wait'} for a label"
            )
        if pick.conflicts:
            differ = "is in conflict" if pick.conflicts == 1 else "are in conflict"
            them = "it" if pick.conflicts == 1 else "them"
            parts.append(f"{count(pick.conflicts, 'item')} {differ}: people labelled {them} differently")
        if pick.references:
            # A pool learns from labels that nobody asked for; a stream does not.
            how = "known without asking" if pick.certificate.kind == "pool" else "kept for reference only"
            are = "is" if pick.references == 1 else "are"
            parts.append(f"{count(pick.references, 'more label')} {are} {how}")
        if self.corrected:
            parts.append(f"{count(self.corrected, 'answer')} {'was' if self.corrected == 1 else 'were'} corrected")
        budget = "" if pick.budget is None else f" The budget is {count(pick.budget, 'label')}."
        return f"{'; '.join(parts)}.{budget}"

    @property
    def saving(self) -> str:
        """What it saved against labelling everything; nothing is promised that is not so."""
        pick = self.pick
        if not pick.rounds:
            return "There are no items yet."
        told = pick.labelled + pick.references
        if told >= pick.rounds:
            return f"All {count(pick.rounds, 'item')} were labelled: nothing was saved."
        saved = f"Labelling all {count(pick.rounds, 'item')} would take {_more(pick.rounds - told)}."
        if self.contested == 0:
            saved += " The models never differ, so no label can tell them apart."
        elif self.contested is not None:
            saved += f" Models differ on {self.contested:,} of them"
            left = self.contested - pick.labelled
            saved += f"; labelling only those would take {_more(left)}." if left > 0 else "."
        if not pick.certified:
            saved += " The pick is not certified, so this is not a saving yet."
        return saved

    @property
    def saved_share(self) -> float | None:
        """The share of the items whose labels were not needed; None before the pick is certified."""
        if not self.pick.certified or not self.pick.rounds:
            return None
        return 1.0 - (self.pick.labelled + self.pick.references) / self.pick.rounds


def goal_in_words(goal: ProofGoal) -> str:
    """What should be proven about a pick."""
    near = f"within {points(goal.gap)} of the best model" if goal.gap else "as good as the best model"
    return f"{near} ({how_certain(goal.confidence)})"


def _more(labels: int) -> str:
    return f"{labels:,} more label{'' if labels == 1 else 's'}"


def in_a_sentence(model: ModelName) -> str:
    """A name as a sentence can hold it."""
    return cut(model, LONGEST_NAME)


def cut(text: object, most: int) -> str:
    """A text of that many characters at most."""
    shown = str(text)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def replace_name(sentence: str, model: ModelName) -> str:
    """The same sentence with a very long name cut."""
    return sentence.replace(str(model), in_a_sentence(model)) if len(str(model)) > LONGEST_NAME else sentence


def count(number: int, what: str, many: str = "s") -> str:
    """A number of things: 1 label, 2 labels; `many` is the ending of more than one."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}{many}"
