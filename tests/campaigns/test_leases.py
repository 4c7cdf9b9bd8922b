"""Leases: nobody is given what another is labelling, and a late answer still counts if it is the first."""

import time
from datetime import timedelta

import pytest

import modelpicker as mp
from tests.campaigns.streams import check, state, without_times


def waiting(url: str, queries: int = 6) -> mp.Campaign:
    """A campaign with some queries that wait."""
    campaign = mp.create_campaign(url, "leases", models=2, seed=1)
    number = 0
    while campaign.best().pending < queries:
        campaign.ask([0, 1], item={"number": number}, key=f"item {number}")
        number += 1
    return campaign


def test_queries_wait_in_the_order_of_their_rounds_with_what_an_annotator_needs(url: str) -> None:
    campaign = waiting(url)
    queries = campaign.pending()
    assert [query.id for query in queries] == sorted(query.id for query in queries)
    assert [query.item for query in queries] == [{"number": query.id} for query in queries]
    assert [query.key for query in queries] == [f"item {query.id}" for query in queries]
    assert all(query.leased_until is None for query in queries)
    assert [query.id for query in campaign.pending(2)] == [query.id for query in queries[:2]]


def test_two_annotators_are_never_given_the_same_item(url: str) -> None:
    waiting(url)
    ann, bob = mp.open_campaign(url, "leases"), mp.open_campaign(url, "leases")
    given = [
        query.id
        for _ in range(3)
        for query in (
            *ann.pending(1, lease=60, annotator=f"ann {time.monotonic()}"),
            *bob.pending(1, lease=60, annotator=f"bob {time.monotonic()}"),
        )
    ]
    assert len(given) == len(set(given)) == 6
    assert ann.pending(1, lease=60) == []


def test_who_asks_again_is_given_the_same_again(url: str) -> None:
    campaign = waiting(url)
    first = campaign.pending(2, lease=60, annotator="ann")
    again = campaign.pending(2, lease=timedelta(minutes=5), annotator="ann")
    assert [query.id for query in again] == [query.id for query in first]
    assert all(query.leased_by == "ann" for query in again)
    assert (again[0].leased_until or 0) > (first[0].leased_until or 0)


def test_an_expired_lease_goes_to_somebody_else_and_the_first_answer_counts(url: str) -> None:
    campaign = waiting(url, queries=2)
    (late,) = campaign.pending(lease=0.05, annotator="late")
    time.sleep(0.1)
    (quick,) = campaign.pending(lease=60, annotator="quick")
    assert late.id == quick.id
    campaign.tell(late.id, 0, annotator="late")
    campaign.tell(quick.id, 0, annotator="quick")
    with pytest.raises(mp.ConflictError):
        campaign.tell(quick.id, 1, annotator="quick")
    assert campaign.best().labels_used == 1
    check(campaign, url)


def test_what_is_released_or_retracted_can_be_given_at_once(url: str) -> None:
    campaign = waiting(url, queries=1)
    (query,) = campaign.pending(lease=600, annotator="ann")
    assert campaign.pending(lease=600, annotator="bob") == []
    campaign.release(query.id)
    (query,) = campaign.pending(lease=600, annotator="bob")
    campaign.tell(query.id, 1)
    campaign.retract(query.id)
    assert len(campaign.pending(lease=600, annotator="cid")) == 1


def test_leases_are_no_part_of_the_history(url: str) -> None:
    campaign = waiting(url)
    before = state(campaign), without_times(campaign)
    assert len(campaign.pending(3, lease=60)) == 3
    assert (state(campaign), without_times(campaign)) == before


@pytest.mark.parametrize("lease", [0, -1, float("nan"), float("inf"), "60", True])
def test_a_lease_must_be_a_time(memory: str, lease: object) -> None:
    campaign = waiting(memory, queries=1)
    with pytest.raises(mp.InputError, match="for how many seconds"):
        campaign.pending(lease=lease)  # type: ignore[arg-type]
    with pytest.raises(mp.InputError, match="most="):
        campaign.pending(0)


@pytest.mark.slow
def test_any_number_of_queries_can_be_leased_and_released(memory: str) -> None:
    campaign = mp.create_campaign(
        memory, "many", models=2, algorithm="label-efficient", options={"probability": 1.0}
    )
    campaign.ask_many([[0, 1]] * 40_000)
    leased = campaign.pending(2**53, lease=60)
    assert len(leased) == 40_000
    campaign.release(*(query.id for query in leased))
    assert len(campaign.pending(50_000, lease=60)) == 40_000
