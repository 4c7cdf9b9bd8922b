"""The plugin of pytest, in pytest runs of its own."""

from importlib.metadata import entry_points

import pyarrow  # a run inside this process would import its C code again, which it refuses
import pytest

import modelpicker.evaluations

pytest_plugins = ["pytester"]

TEST = """
SCORES = {{"prod": [1] * 80 + [0] * 20, "new": {new}}}

def test_new_model(assert_not_worse):
    found = assert_not_worse(SCORES, "prod", "new", 0.05, scores=True{more})
    assert found.passed or {undecided}
"""
INSTALLED = any(one.name == "modelpicker" for one in entry_points(group="pytest11"))
LOADED = (pyarrow, modelpicker.evaluations)
PLUGIN = [] if INSTALLED else ["-p", "modelpicker.integrations.pytest_plugin"]


@pytest.mark.parametrize(
    ("new", "more", "outcome", "says"),
    [
        ("[1] * 85 + [0] * 15", "", "passed", ""),
        (
            "[1] * 60 + [0] * 40",
            "",
            "failed",
            "FAIL: new is worse than prod by more than 5 points on these 100 items.",
        ),
        ("[1] * 9 + [None] * 91", "", "failed", "UNDECIDED: it is not proven yet"),
        ("[1] * 9 + [None] * 91", ", undecided='skip'", "skipped", ""),
        ("[1] * 9 + [None] * 91", ", undecided='pass'", "passed", ""),
        ("[1] * 80 + [0] * 20", ", undecided='maybe'", "failed", "undecided 'maybe': pass fail, skip, pass."),
        (
            "[1] * 80 + [0] * 20",
            ", require='better'",
            "failed",
            "FAIL: new is not better than prod by more than 5 points",
        ),
    ],
)
def test_a_test_passes_only_if_the_gate_does(
    pytester: pytest.Pytester, new: str, more: str, outcome: str, says: str
) -> None:
    pytester.makepyfile(TEST.format(new=new, more=more, undecided="pass" in more))
    done = pytester.runpytest_inprocess(*PLUGIN, "-p", "no:cacheprovider")
    done.assert_outcomes(**{outcome: 1})
    assert says in done.stdout.str().replace("\nE  ", " ")


def test_the_fixture_says_what_it_is_for(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("")
    shown = pytester.runpytest_inprocess(*PLUGIN, "--fixtures").stdout.str()
    assert "assert_not_worse" in shown
    assert "Fail unless a challenger is certified" in shown
