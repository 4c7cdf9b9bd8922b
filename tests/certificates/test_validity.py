"""Certificates are right as often as they say, whoever looks whenever."""

import math

import pytest
from benchmarks.validity import CASES, CONFIDENCE, Case, independent, label_efficient, upper_limit, wrong_streams

KINDS = ("stream", "population")
STATEMENTS = [pytest.param(case, kind, id=f"{case.name}-{kind}") for case in CASES for kind in case.kinds]


def test_every_case_is_judged_by_its_stream_and_all_but_adversaries_by_their_population() -> None:
    whole = {case.name for case in CASES if "adversary" not in case.name}
    assert len(whole) == 10
    assert [case.name for case in CASES if "stream" not in case.kinds] == []
    assert {case.name for case in CASES if "population" in case.kinds} == whole


@pytest.mark.slow
@pytest.mark.parametrize(("case", "kind"), STATEMENTS)
def test_hardly_any_stream_sees_a_false_statement(case: Case, kind: str) -> None:
    """Of 100 streams at 95 % confidence at most 11 may be wrong: more would be seen once in 200 times if 5 % were.
    Hardly any is. Seeds are fixed, so what passes passes again.
    """
    assert wrong_streams(case, kind, 100) <= 11


@pytest.mark.slow
@pytest.mark.parametrize(("case", "kind"), STATEMENTS)
def test_of_two_thousand_streams_of_each_kind_at_most_one_in_twenty_is_wrong(case: Case, kind: str) -> None:
    """By a 99 % limit on the binomial share: up to 77 of 2,000 may be wrong, and at most 29 are."""
    assert upper_limit(wrong_streams(case, kind, 2000), 2000) <= 1.0 - CONFIDENCE


@pytest.mark.parametrize("kind", KINDS)
def test_statements_of_little_confidence_are_wrong_now_and_then(kind: str) -> None:
    """Or the simulation could not see a false one: at 20 % confidence more than 2 % of 200 near ties are wrong, and
    no more than 80 %.
    """
    case = Case("near tie", independent([0.70, 0.71], 2, 1500), label_efficient(0.2))
    wrong = wrong_streams(case, kind, 200, confidence=0.2)
    assert 4 < wrong <= 160


def test_the_limit_of_a_share_is_that_of_clopper_and_pearson() -> None:
    """So few are seen just once in a hundred times, if the share is at the limit."""
    assert upper_limit(0, 300) == pytest.approx(1.0 - 0.01 ** (1.0 / 300.0), abs=1e-9)
    share = upper_limit(5, 100)
    assert sum(math.comb(100, n) * share**n * (1.0 - share) ** (100 - n) for n in range(6)) == pytest.approx(0.01)
