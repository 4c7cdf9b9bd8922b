"""How far people agree: against published examples, cases worked out by hand, and brute force."""

import random
from itertools import combinations, product

import pytest

import modelpicker as mp
from modelpicker.campaigns.results.agreement import agreement_of
from tests.campaigns.pools import make

# Fleiss (1971) as Wikipedia tells it: fourteen people put ten items into five classes; kappa is 0.210.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def test_fleiss_own_example_gives_his_kappa() -> None:
    items = []
    for row in FLEISS:
        said = [label for label, count in enumerate(row) for _ in range(count)]
        items.append({f"person {place:02}": label for place, label in enumerate(said)})
    found = agreement_of(items)
    assert found.kappa == pytest.approx(0.20993, abs=1e-5)
    assert (found.items, found.agreed) == (10, 0.1)


def test_cohens_example_of_fifty_grants_gives_his_kappa() -> None:
    """Two readers of fifty proposals: both say yes to 20, no to 15; kappa is 0.4."""
    both = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    (pair,) = agreement_of([{"ann": one, "bob": other} for one, other in both]).pairs
    assert pair.kappa == pytest.approx(0.4)
    assert (pair.annotators, pair.items, pair.agreed) == (("ann", "bob"), 50, 0.7)


def test_three_items_by_hand() -> None:
    """Pairs that agree: all, none, 1 of 3, so 4/9; said: 4 spam, 2 ham, 1 cannot tell, so chance is 21/49."""
    found = agreement_of(
        [
            {"ann": "spam", "bob": "spam"},
            {"ann": "spam", "bob": "ham"},
            {"ann": "spam", "bob": "ham", "cid": None},
        ]
    )
    assert found.kappa == pytest.approx(((1 + 0 + 0) / 3 - 21 / 49) / (1 - 21 / 49))
    found = agreement_of([{"ann": "spam", "bob": "spam"}, {"ann": "ham", "bob": "ham", "cid": "spam"}])
    assert found.kappa == pytest.approx(((1 + 1 / 3) / 2 - 13 / 25) / (1 - 13 / 25))
    assert [(one.label, one.opinions) for one in found.classes] == [("spam", 3), ("ham", 2)]
    assert found.classes[0].kappa == pytest.approx(found.classes[1].kappa)


@pytest.mark.parametrize(
    ("items", "kappa"),
    [
        ([], None),
        ([{"ann": "spam", "bob": "spam"}], None),
        ([{"ann": None, "bob": None}] * 3, None),
        ([{"ann": "spam", "bob": "spam"}, {"ann": "ham", "bob": "ham"}], 1.0),
        ([{"ann": "spam", "bob": "ham"}, {"ann": "ham", "bob": "spam"}], -1.0),
        ([{"ann": 1, "bob": "1"}, {"ann": "1", "bob": 1}], -1.0),
    ],
)
def test_kappa_is_none_where_it_is_undefined(items: list[dict[str, str | int | None]], kappa: float | None) -> None:
    found = agreement_of(items)
    assert found.kappa == kappa
    assert all(pair.kappa == kappa for pair in found.pairs)
    assert all(one.kappa == kappa for one in found.classes)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_what_going_through_every_pair_gives(seed: int) -> None:
    draw = random.Random(seed)  # cases, not secrets
    people = ["ann", "bob", "cid", "dan"]
    items = [
        {one: draw.choice(["a", "b", None]) for one in draw.sample(people, draw.randint(2, 4))} for _ in range(15)
    ]
    found = agreement_of(items)
    shares = [[x == y for x, y in combinations(list(said.values()), 2)] for said in items]
    seen = sum(sum(pairs) / len(pairs) for pairs in shares) / len(items)
    told = [label for said in items for label in said.values()]
    chance = sum(x == y for x, y in product(told, told)) / len(told) ** 2
    assert found.kappa == pytest.approx((seen - chance) / (1 - chance))
    for pair in found.pairs:
        one, other = pair.annotators
        both = [(said[one], said[other]) for said in items if one in said and other in said]
        by_chance = sum(x == y for (x, _), (_, y) in product(both, both)) / len(both) ** 2
        agreed = sum(x == y for x, y in both) / len(both)
        assert pair.items == len(both)
        assert pair.agreed == pytest.approx(agreed)
        assert pair.kappa is None or pair.kappa == pytest.approx((agreed - by_chance) / (1 - by_chance))
        assert (pair.kappa is None) == (by_chance == 1.0)


def test_a_campaign_tells_how_far_its_people_agree(memory: str) -> None:
    campaign = make(memory, overlap=2, tolerance=0.0)
    for place, query in enumerate(campaign.pending(6)):
        campaign.tell(query.id, "ham" if place % 2 else "spam", annotator="mia/desk 1")
        if place < 4:
            campaign.tell(query.id, "ham", annotator="tom")
    found = campaign.agreement()
    assert (found.items, found.agreed) == (4, 0.5)
    assert [(pair.annotators, pair.kappa) for pair in found.pairs] == [(("mia", "tom"), 0.0)]
    assert found.document() == {
        "items": 4,
        "agreed": 0.5,
        "kappa": found.kappa,
        "pairs": [{"annotators": ["mia", "tom"], "items": 4, "agreed": 0.5, "kappa": 0.0}],
        "classes": [
            {"label": "ham", "opinions": 6, "kappa": found.classes[0].kappa},
            {"label": "spam", "opinions": 2, "kappa": found.classes[1].kappa},
        ],
    }
    campaign.settle(campaign.conflicts()[0].id, "spam")
    assert campaign.agreement() == found
    assert isinstance(found, mp.Agreement)
