"""What a campaign is made with, said once: names, types, ranges, defaults, and one sentence for each setting.

The checks, the stored document and the export, the API's schema, the command line's options and the page's form are
made from this list. The signatures of `create_campaign`, here and in the client, repeat its names and defaults so
that editors can show them; a test compares. No NumPy here: `modelpicker --help` reads it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from modelpicker.certificates.stop_rule import CONFIDENCE, GAP, STOP_RULE
from modelpicker.errors import InputError, brief
from modelpicker.options import LARGEST_SEED, Option, count

# This many different people may label one item.
MOST_PEOPLE = 100

AskFor: TypeAlias = Literal["class", "grades", "preference"]
"""What people are asked for."""
OverlapRule: TypeAlias = Literal["all", "majority"]
"""When the labels of several people are the label of an item."""

SETTINGS: tuple[Option, ...] = (
    Option("models", list, "The models: their names, or how many there are."),
    Option("classes", list, "The classes that may occur. By default, whatever models and labels say.", None),
    count(
        "budget",
        "At most this many labels are bought. By default, as many as the algorithm asks for.",
        default=None,
    ),
    Option(
        "budget_way",
        str,
        "How the budget is kept: paced spreads it over the stream; with cap the algorithm asks as it would without "
        "one, until it is spent.",
        "paced",
        choices=("paced", "cap"),
        title="How the budget is kept",
    ),
    count(
        "expected_rounds",
        "How many items will come in all, as far as you know: a budget is spread over them.",
        default=None,
        title="Expected items",
    ),
    Option(
        "stop_when",
        dict,
        "No label is asked for while the pick is certified to be this close to the best model. By default, it does "
        "not stop for that.",
        None,
        title="Stop when certified within (%)",
        parts=STOP_RULE,
    ),
    Option(
        "overlap",
        float,
        "How many different people label each item: 2 or more, or a share such as 0.2 of the items that two people "
        "label. Each of their labels counts against the budget.",
        1,
        low=0,
        high=MOST_PEOPLE,
        above=True,
        title="People per item",
        wanted=f"a whole number from 1 to {MOST_PEOPLE}, or a share between 0 and 1",
    ),
    Option(
        "overlap_rule",
        str,
        "When several people label an item, what makes their answers its label. all: all of them say the same. "
        "majority: more than half of them say the same; then nobody else is asked. Otherwise the owner settles it.",
        "all",
        choices=get_args(OverlapRule),
        title="Its label is what these say",
    ),
    Option(
        "ask_for",
        str,
        "What people are asked for: the class of an item; a grade for each of the different answers to it; or "
        "which of two answers is better.",
        "class",
        choices=get_args(AskFor),
        title="Ask for",
    ),
    Option(
        "same",
        str,
        "What counts as the same answer to an item: exact; normalised, where capitals, white space and punctuation "
        "at the ends do not matter; or a number: answers that are numbers and at most this far apart.",
        "exact",
        wanted="exact, normalised, or a number from 0",
        title="The same answer",
    ),
    Option(
        "missing",
        str,
        "What it means that a prediction is missing. abstained: the model has no answer, which counts as wrong. "
        "not-run: the model was not run for this item, and nothing is known about it.",
        "abstained",
        choices=("abstained", "not-run"),
        title="A missing prediction",
    ),
    Option(
        "seed",
        int,
        "The seed of all randomness: the same seed and the same predictions give the same decisions.",
        0,
        low=0,
        high=LARGEST_SEED,
    ),
    Option("algorithm", str, "Decides which labels are asked for, and which model is recommended.", "model-picker"),
    Option("options", dict, "Options of the algorithm; those left out keep their defaults.", None),
)
BY_NAME = {option.name: option for option in SETTINGS}


def check_overlap(overlap: object) -> float:
    """How many people label an item, as a whole number; or a share below 1."""
    number: float = BY_NAME["overlap"].check(overlap)
    if number >= 1 and number != int(number):
        raise InputError(f"overlap={brief(overlap)}: pass {BY_NAME['overlap'].range}.", parameter="overlap")
    return number if number < 1 else int(number)


def check_stored_same(same: object) -> str | float:
    """What counts as the same answer, as a campaign can store it."""
    from modelpicker.collections.spelling import check_same  # which needs NumPy

    checked: str | float = check_same(same)
    if callable(checked):
        raise InputError(
            "same: a campaign is stored, and a function cannot be. Apply it to the items first: "
            "pool=mp.merge_answers(collection, same).",
            parameter="same",
        )
    return checked


def loss_of(ask_for: str) -> str:
    """What the labels that are asked for say about models, as a pool calls it."""
    return "accuracy" if ask_for == "class" else ask_for


def is_tolerance(same: object) -> bool:
    """Whether answers are numbers that may differ by so much: then they are read as they are written."""
    return isinstance(same, int | float) and not isinstance(same, bool)


# The goal of a campaign on a pool, and which settings go with a pool: how it picks is settled.
TOLERANCE = replace(
    GAP,
    name="tolerance",
    help="How much less accurate than the best model the pick may be: 0.01 is 1 % of accuracy.",
)
POOL_GOAL = (TOLERANCE, CONFIDENCE)
POOL_SETTINGS = frozenset(
    {"models", "classes", "budget", "overlap", "overlap_rule", "ask_for", "same", "missing", "seed"}
)
POOL_ALGORITHM = "pool-picker"
# Those that have checks of their own. The others are one value each, and checked by what is said above.
CHECKED_APART = frozenset({"models", "classes", "stop_when", "overlap", "same", "seed", "algorithm", "options"})
PLAIN = tuple(option for option in SETTINGS if option.name not in CHECKED_APART)
# Those that the first version stored. Campaigns of older versions may lack any other, which then has its default.
FIRST = frozenset({"models", "classes", "algorithm", "options", "seed", "budget", "expected_rounds"})
ADDED_LATER = {option.name: option.default for option in SETTINGS if option.name not in FIRST}

# The option of a pool that names its judge; and the field of the items that holds what a judge says who is given as
# a list or a function.
JUDGE = "judge"
# The same of the slices; they may be a field that is shown.
SLICE = "slice"


def check_judge_name(name: object, models: Sequence[object] = ()) -> str | None:
    """The name of the field that holds what the judge says; None if there is no judge. It must not be a model."""
    if isinstance(name, str) and name in map(str, models):
        raise InputError(f"judge={brief(name)} is a model as well; choose one of the two.", parameter="judge")
    if name is None or (isinstance(name, str) and name.strip()):
        return name
    raise InputError(
        f"judge={brief(name)}: pass the name of the column, or of the field of the items, that holds what the "
        "judge says.",
        parameter="judge",
    )


def check_slice_name(name: object, models: Sequence[object] = (), judge: str | None = None) -> str | None:
    """The name of the field that says what slice an item is in; None if there are no slices."""
    if name is None:
        return None
    if not isinstance(name, str) or not name.strip():
        raise InputError(
            f"slice={brief(name)}: pass the name of the column, or of the field of the items, that says what slice "
            "they are in.",
            parameter="slice",
        )
    if name in map(str, models):
        raise InputError(f"slice={brief(name)} is a model; name another column.", parameter="slice")
    if name == judge:
        raise InputError(
            f"slice={brief(name)} is the judge as well, which annotators may not see; name another column.",
            parameter="slice",
        )
    return name


def refuse_slice_of_stream(chosen: object) -> None:
    """A stream has no slices."""
    if chosen is not None:
        raise InputError(
            "slice goes with pool= only; pass the items as a pool, or leave it out.", parameter="slice"
        )


# The options of a campaign that are stored beside those of its algorithm, where they are given.
COSTS = ("loss", "price", "label_noise")


def refuse_judge_of_stream(judge: object) -> None:
    """A stream has no judge yet."""
    if judge is not None:
        raise InputError(
            f"judge={brief(judge)}: only a pool can use a judge, as its proof has to know what the judge says "
            "about "
            "all items. Leave it out, or take the items as a pool.",
            parameter="judge",
        )
