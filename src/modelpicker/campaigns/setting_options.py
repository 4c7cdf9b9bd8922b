"""What a campaign is made with, said once: names, types, ranges, defaults, and one sentence for each setting.

The checks, the stored document and the export, the API's schema, the command line's options and the page's form are
made from this list. The signatures of `create_campaign`, here and in the client, repeat its names and defaults so
that editors can show them; a test compares. No NumPy here: `modelpicker --help` reads it.
"""

from dataclasses import replace

from modelpicker.certificates.stop_rule import CONFIDENCE, GAP, STOP_RULE
from modelpicker.errors import InputError, brief
from modelpicker.options import LARGEST_SEED, Option, count

# So many different people may label one item.
MOST_PEOPLE = 100

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
        "missing",
        str,
        "What it means that a prediction is missing. abstained: the model has no answer, which counts as wrong. "
        "not-run: the model was not run for this item, and nothing is known of it.",
        "abstained",
        choices=("abstained", "not-run"),
        title="A missing prediction",
    ),
    Option(
        "seed",
        int,
        "What all randomness is drawn from: the same seed and the same predictions give the same decisions.",
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


# The goal of a campaign on a pool, and which settings go with a pool: how it picks is settled.
TOLERANCE = replace(
    GAP,
    name="tolerance",
    help="How much less accurate than the best model the pick may be: 0.01 is 1 % of accuracy.",
)
POOL_GOAL = (TOLERANCE, CONFIDENCE)
POOL_SETTINGS = frozenset({"models", "classes", "budget", "overlap", "seed"})
POOL_ALGORITHM = "pool-picker"
# Those that have checks of their own. The others are one value each, and checked by what is said above.
CHECKED_APART = frozenset({"models", "classes", "stop_when", "overlap", "seed", "algorithm", "options"})
PLAIN = tuple(option for option in SETTINGS if option.name not in CHECKED_APART)
# Those that the first version stored. Campaigns of older versions may lack any other, which then has its default.
FIRST = frozenset({"models", "classes", "algorithm", "options", "seed", "budget", "expected_rounds"})
ADDED_LATER = {option.name: option.default for option in SETTINGS if option.name not in FIRST}
