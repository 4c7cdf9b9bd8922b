"""Campaigns on pools: what is asked is decided when somebody is ready to answer, and kept to the last bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.algorithms.pools.pool_state import error_share
from modelpicker.campaigns.results.dashboard import Dashboard
from modelpicker.campaigns.state.states import as_pool
from tests.campaigns.pools import collection, label, make, truth
from tests.campaigns.streams import check, state, without_times


def test_a_pool_is_labelled_until_its_pick_is_certified(url: str) -> None:
    items, campaign = collection(), make(url)
    assert (campaign.rounds, campaign.models, campaign.best().state.name) == (120, items.models, "running")
    done = label(campaign, items)
    pick = campaign.best()
    assert 0 < len(done) < 120
    assert len(done) == len(set(done)) == pick.labels_used == campaign.counts().labels
    assert (pick.state.name, pick.certified, pick.reached, pick.certificate.kind) == (
        "certified",
        True,
        True,
        "pool",
    )
    assert pick.certificate == campaign.certificate()
    assert campaign.certificate(kind="stream") == campaign.certificate()
    assert items.labels is not None
    right = (items.predictions == items.labels[:, None]).sum(axis=0)
    assert right[items.models.index(str(pick.model))] >= right.max() - 0.02 * 120
    assert campaign.pending(1, lease=60) == []
    check(campaign, url)


def test_it_asks_what_a_pool_picker_with_the_same_share_of_the_error_asks(memory: str) -> None:
    items, campaign = collection(), make(memory)
    pool = mp.PoolPicker(collection(labelled=False), seed=3, tolerance=0.02)
    pool.error_share = error_share(0)
    while not pool.certified:
        (item,) = pool.ask(1)
        (query,) = campaign.pending(1)
        assert query.id == item
        pool.tell(item, truth(items, item))
        campaign.tell(query.id, truth(items, item))
    assert campaign.best().model == pool.recommended
    assert campaign.best().certified


def test_questions_come_with_what_is_shown_of_the_item_and_nothing_of_the_label(url: str) -> None:
    campaign = make(url)
    query = campaign.pending(1)[0]
    assert query.key == f"item {query.id}"
    assert query.item == {"id": f"item {query.id}", "text": f"text {query.id}"}
    assert 1 <= len(query.classes) <= 3


def test_open_questions_are_given_before_new_ones_are_asked(url: str) -> None:
    campaign = make(url)
    first = [query.id for query in campaign.pending(3, lease=600, annotator="ann")]
    assert [query.id for query in campaign.pending(3, lease=600, annotator="ann")] == first
    others = [query.id for query in campaign.pending(3, lease=600, annotator="bob")]
    assert not set(first) & set(others)
    campaign.release(*first)
    assert [query.id for query in campaign.pending(2, lease=600, annotator="cid")] == first[:2]
    assert [query.id for query in campaign.pending()] == [*first, *others]
    assert campaign.counts().waiting == 6
    assert [query.id for query in campaign.waiting(2)] == first[:2]
    check(campaign, url)


def test_looking_at_what_waits_asks_nothing(memory: str) -> None:
    campaign = make(memory)
    before = campaign.events
    assert campaign.pending() == campaign.waiting(5) == []
    assert campaign.events == before


def test_a_budget_is_never_passed_and_a_skip_gives_its_label_back(url: str) -> None:
    items, campaign = collection(), make(url, budget=5, tolerance=0.0)
    queries = campaign.pending(50, lease=600, annotator="ann")
    assert len(queries) == 5
    assert campaign.pending(1, lease=600, annotator="bob") == []
    status = campaign.best().state
    assert (status.name, status.reason) == (
        "waiting-for-labels",
        "The whole budget of 5 labels was asked for: 5 items wait for a label.",
    )
    campaign.skip(queries[0].id)
    (more,) = campaign.pending(50, lease=600, annotator="bob")
    for query in [*queries[1:], more]:
        campaign.tell(query.id, truth(items, query.id))
    assert campaign.best().state.name == "budget-spent"
    assert campaign.pending(1) == []
    with pytest.raises(mp.ConflictError, match="the budget is spent by now"):
        campaign.tell(queries[0].id, "ham", replace=True)
    check(campaign, url)


def test_when_everything_was_asked_it_says_so(memory: str) -> None:
    campaign = mp.create_campaign(memory, "few", pool=[["a", "b"], ["b", "a"], ["a", "a"]], tolerance=0.0)
    queries = campaign.pending(10)
    assert len(queries) == 2
    assert campaign.best().state.reason == (
        "All items on which models differ were asked about: 2 items wait for a label."
    )
    for query in queries:
        campaign.skip(query.id)
    assert campaign.best().state.name == "all-items-asked"


def test_models_that_agree_on_everything_are_certainly_equal_and_nothing_is_asked(memory: str) -> None:
    campaign = mp.create_campaign(memory, "same", pool=[["a", "a"], ["b", "b"]])
    assert campaign.pending(5, lease=60) == []
    pick = campaign.best()
    assert (pick.certified, pick.certificate.gap) == (True, 0.0)
    assert pick.certificate.certain
    assert "model-0 and model-1 give the same answer to every item" in pick.remark


def test_a_label_that_nobody_asked_for_is_learned_by_id_and_by_key(url: str) -> None:
    items, campaign = collection(), make(url)
    campaign.tell("item 7", truth(items, 7))
    campaign.tell(7, truth(items, 7))
    campaign.tell(9, truth(items, 9))
    assert campaign.counts().references == 2
    assert campaign.best().labels_used == 0
    with pytest.raises(mp.ConflictError, match="pass replace=True"):
        campaign.tell(7, "another")
    with pytest.raises(mp.ConflictError, match="nothing to skip"):
        campaign.skip(11)
    assert not {7, 9} & set(label(campaign, items))
    check(campaign, url)


def test_labels_of_the_file_are_used_only_if_somebody_says_so(url: str) -> None:
    items = collection(40)
    without = mp.create_campaign(url, "without", pool=items)
    assert without.counts().references == 0
    assert without.answers() == []
    with_labels = mp.create_campaign(url, "with", pool=items, use_labels=True)
    assert with_labels.counts().references == 40
    assert with_labels.best().certificate.gap == 0.0
    check(with_labels, url)


def test_a_replaced_label_gives_what_the_right_label_would_have_given(url: str) -> None:
    """Questions stay; all that is learned from their labels is as if the first answer had been right."""
    items = collection()
    wrong, right = make(url, "wrong"), make(url, "right")
    queries = wrong.pending(12)
    assert [query.id for query in right.pending(12)] == [query.id for query in queries]
    for place, query in enumerate(queries):
        said = truth(items, query.id)
        right.tell(query.id, said)
        wrong.tell(query.id, "toast" if place == 4 else said)
    wrong.tell(queries[4].id, truth(items, queries[4].id), replace=True)
    assert state(wrong) == state(right)
    check(wrong, url)


def test_a_label_taken_back_waits_again_and_nothing_is_left_of_it(url: str) -> None:
    items = collection()
    back, never = make(url, "back"), make(url, "never")
    queries = back.pending(8)
    never.pending(8)
    for query in queries[1:]:
        never.tell(query.id, truth(items, query.id))
    for query in queries:
        back.tell(query.id, truth(items, query.id))
    back.retract(queries[0].id, lease=60, annotator="ann")
    assert state(back) == state(never)
    assert [query.id for query in back.waiting()] == [queries[0].id]
    assert back.leased_by(queries[0].id) == "ann"
    check(back, url)
    back.tell(queries[0].id, truth(items, queries[0].id))
    label(back, items)
    assert back.best().certified
    check(back, url)


def test_a_label_that_nobody_asked_for_and_was_taken_back_can_be_asked_about_again(url: str) -> None:
    items, campaign = collection(), make(url, tolerance=0.0)
    first = campaign.pending(1)[0].id
    campaign.tell(first, truth(items, first))
    free = next(place for place in range(120) if place != first and len(set(items.predictions[place])) > 1)
    campaign.tell(free, "toast")
    label(campaign, items, 30)
    campaign.retract(free)
    assert campaign.label_of(free) is None
    check(campaign, url)
    rest = [query.id for query in campaign.pending(100)]
    assert free in rest
    for item in rest:
        campaign.tell(item, truth(items, item))
    check(campaign, url)
    assert campaign.best().certificate.gap == 0.0


def test_a_false_label_does_not_certify_a_model_for_good(url: str) -> None:
    """All labels wrong, certified; then put right one by one: the pick is the one that the right labels give."""
    items, campaign = collection(60), make(url, items=60, tolerance=0.0)
    asked: list[int] = []
    while queries := campaign.pending(5):
        for query in queries:
            asked.append(query.id)
            campaign.tell(query.id, "toast")
    assert len(state(campaign)["pool"]["learned"]) == len(asked)
    for item in asked:
        campaign.tell(item, truth(items, item), replace=True)
    check(campaign, url)
    label(campaign, items)
    pick = campaign.best()
    assert items.labels is not None
    right = (items.predictions == items.labels[:, None]).sum(axis=0)
    assert pick.certified
    assert right[items.models.index(str(pick.model))] == right.max()
    check(campaign, url)


def test_items_that_are_added_are_asked_about_and_the_certificate_speaks_of_all(url: str) -> None:
    campaign = make(url)
    both = mp.ModelCollection(
        [[*row] for part in (collection(), collection(200, 1, 120)) for row in _names(part)],
        labels=[
            truth(part, place) for part in (collection(), collection(200, 1, 120)) for place in range(len(part))
        ],
        models=collection().models,
    )
    label(campaign, both)
    assert campaign.best().certified
    added = campaign.add_items(collection(200, 1, 120))
    assert (added.new, added.known, campaign.rounds) == (200, 0, 320)
    assert campaign.add_items(collection(200, 1, 120)).known == 200
    assert not campaign.best().certified
    check(campaign, url)
    assert any(item >= 120 for item in label(campaign, both))
    pick = campaign.best()
    assert pick.certified
    assert "Of these 320 items" in pick.certificate.sentence
    check(campaign, url)


def _names(items: mp.ModelCollection) -> list[list[str | None]]:
    return [[None if code < 0 else str(items.classes[code]) for code in row] for row in items.predictions.tolist()]


def test_items_added_in_parts_give_the_pool_that_items_added_together_give(url: str) -> None:
    whole = collection(90)
    together = mp.create_campaign(url, "together", pool=whole, seed=3)
    parts = mp.create_campaign(url, "parts", pool=whole.take(range(10)), seed=3)
    parts.add_items(whole.take(range(10, 60)))
    parts.best()
    for row, place in zip(_names(whole)[60:], range(60, 90), strict=True):
        parts.ask(row, item={"id": f"item {place}", "text": f"text {place}"}, key=f"item {place}")
    ours, theirs = state(together)["pool"], state(parts)["pool"]
    assert ours == theirs
    assert [query.id for query in together.pending(9)] == [query.id for query in parts.pending(9)]
    check(parts, url)


def test_the_error_of_all_growths_together_is_what_was_promised() -> None:
    assert sum(error_share(growths) for growths in range(100_000)) < 1.0


def test_bets_begin_anew_when_items_come_and_only_growths_after_bets_cost_error(memory: str) -> None:
    campaign = make(memory)
    more = collection(10, 1, 120)
    for place, row in enumerate(_names(more)):
        campaign.ask(row, key=f"item {120 + place}")
    assert state(campaign)["growths"] == 0
    label(campaign, _joined(collection(), more), 60)
    assert state(campaign)["pool"]["proof"]["drawn"]
    campaign.ask(["ham", "spam", "egg", "ham"])
    kept = state(campaign)
    assert (kept["growths"], kept["pool"]["share"]) == (1, error_share(1))
    assert set(kept["pool"]["proof"]["money"]) == {1.0}
    assert kept["pool"]["proof"]["drawn"] == kept["pool"]["proof"]["draws"] == []


def _joined(*parts: mp.ModelCollection) -> mp.ModelCollection:
    return mp.ModelCollection(
        [row for part in parts for row in _names(part)],
        labels=[truth(part, place) for part in parts for place in range(len(part))],
        models=parts[0].models,
    )


def test_a_single_item_is_added_once_and_says_whether_it_was_asked_about(url: str) -> None:
    campaign = make(url)
    decision = campaign.ask(["ham", "spam", None, "egg"], item={"text": "new"}, key="new")
    assert (decision.id, decision.query, decision.probability) == (120, False, 0.0)
    assert decision.recommended in campaign.models
    assert campaign.ask({"ant": "ham", "bee": "spam", "cat": None, "dog": "egg"}, key="new") == decision
    with pytest.raises(mp.ConflictError, match=r"'new' stands for two items with different predictions"):
        campaign.ask(["ham", "ham", None, "egg"], key="new")
    items = collection()
    asked = next(one for one in campaign.pending(2) if one.id < len(items))
    assert campaign.ask(_names(items)[asked.id], key=asked.key).query
    many = campaign.ask_many([["ham"] * 4, ["egg"] * 4, ["ham"] * 4], keys=["a", "b", "a"])
    assert [one.id for one in many] == [121, 122, 121]
    assert many.queried.tolist() == [False] * 3
    assert campaign.ask_many([]).ids == []
    check(campaign, url)


def test_new_classes_may_come_with_new_items_and_labels(url: str) -> None:
    items, campaign = collection(), make(url)
    assert set(campaign.known_classes()) == {"egg", "ham", "spam"}
    campaign.tell(campaign.pending(1)[0].id, "toast")
    label(campaign, items, 10)
    campaign.ask(["jam", "ham", "spam", "toast"])
    assert set(campaign.known_classes()) == {"egg", "ham", "spam", "toast", "jam"}
    check(campaign, url)
    label(campaign, items, 3)
    check(campaign, url)


def test_classes_that_were_given_are_held_to(memory: str) -> None:
    campaign = make(memory, classes=["egg", "ham", "spam", "toast"])
    assert campaign.known_classes() == ["egg", "ham", "spam", "toast"]
    query = campaign.pending(1)[0]
    with pytest.raises(mp.InputError, match="is not one of the classes"):
        campaign.tell(query.id, "jam")
    with pytest.raises(mp.InputError, match="is not one of the classes"):
        campaign.ask(["jam", "ham", "ham", "ham"])
    with pytest.raises(mp.InputError, match="is not one of the classes"):
        make(memory, "other", classes=["egg", "ham"])


def test_a_state_is_kept_and_opening_goes_on_from_it(file_url: str) -> None:
    items, campaign = collection(900), make(file_url, items=900, tolerance=0.0)
    label(campaign, items, 140)
    before = [query.id for query in mp.open_campaign(file_url, "pool").pending(5)]
    check(campaign, file_url)
    assert before == [query.id for query in campaign.waiting()]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_an_exported_pool_is_the_same_pool_elsewhere(url: str, memory: str, tmp_path: Path, ending: str) -> None:
    items, campaign = collection(), make(url, budget=100)
    label(campaign, items, 25)
    campaign.add_items(collection(30, 1, 120))
    label(campaign, _joined(items, collection(30, 1, 120)), 5)
    answers = [one for one in campaign.answers() if one.state == "labelled"]
    campaign.tell(answers[2].id, "toast", replace=True)
    campaign.skip(campaign.pending(1)[0].id)
    campaign.pending(3, lease=600, annotator="ann")
    campaign.export(tmp_path / f"pool.{ending}")
    other = mp.import_campaign(memory, tmp_path / f"pool.{ending}", "other")
    assert without_times(other) == without_times(campaign)
    assert state(other) == state(campaign)
    assert other.best() == campaign.best()
    check(other, memory)
    assert [query.id for query in other.pending(6)][3:] != []


def test_a_pool_has_a_dashboard(memory: str) -> None:
    items, campaign = collection(), make(memory)
    board = Dashboard(campaign)
    assert board.charts()["labels"] == {"rounds": [0], "queries": [0], "labels": [0]}
    label(campaign, items, 20)
    campaign.pending(2)
    shown, charts = board.standing(), board.charts()
    assert (shown["labels_used"], shown["rounds"], shown["pending"]) == (20, 120, 2)
    assert charts["labels"]["labels"][-1] == 20
    assert charts["labels"]["queries"][-1] == 22
    assert len(charts["weights"]["values"]) == len(charts["weights"]["models"]) == 4
    assert charts["weights"]["labels"] == sorted(charts["weights"]["labels"])
    assert charts["disagreement"]["items"][0]["item"]["text"].startswith("text ")
    assert charts["disagreement"]["rounds"] == 120


def test_all_that_happened_to_an_item_is_told(memory: str) -> None:
    campaign = make(memory)
    item = campaign.pending(1)[0].id
    campaign.tell(item, "ham", annotator="ann")
    campaign.tell(item, "spam", replace=True)
    campaign.retract(item)
    assert [record["kind"] for record in campaign.history(item)] == [
        "item",
        "fields",
        "question",
        "label",
        "label",
        "retract",
    ]


def test_the_models_are_compared_before_the_transaction_of_a_group(memory: str) -> None:
    items = collection()
    with make(memory) as campaign:
        for _ in range(3):
            query = campaign.pending(1)[0]
            campaign.tell(query.id, truth(items, query.id))
        with campaign.together(), campaign.reading_state() as (_, known):
            assert not as_pool(known).picker._stale
            assert len(campaign.pending(1)) == 1


def test_progress_is_told_every_few_thousand_items_and_never_goes_back(memory: str) -> None:
    codes = np.random.default_rng(0).integers(0, 3, (9_000, 2))
    seen: list[tuple[int, int]] = []
    campaign = mp.create_campaign(
        memory, "large", pool=codes, progress=lambda done, total: seen.append((done, total))
    )
    assert {total for _, total in seen} == {9_000}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert max(np.diff([0, *(done for done, _ in seen)])) <= 4_096
    assert seen[-1] == (campaign.rounds, 9_000)


def test_changes_are_made_together_or_not_at_all(url: str) -> None:
    campaign = make(url)

    def fail_half_way() -> None:
        with campaign.together() as group:
            campaign.ask(["ham", "spam", "egg", "ham"])
            query = campaign.pending(1)[0]
            campaign.tell(query.id, "ham")
            assert (group.added.rounds, group.added.queries, group.added.labels) == (1, 1, 1)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert (campaign.rounds, campaign.counts().waiting, campaign.counts().labels) == (120, 0, 0)
    check(campaign, url)


class TestBadInput:
    """What does not make sense is refused, and says what to do."""

    @pytest.mark.parametrize(
        ("more", "complaint"),
        [
            ({"algorithm": "race"}, "algorithm='race' does not go with a pool"),
            ({"expected_rounds": 10}, "expected_rounds=10 does not go with a pool"),
            ({"budget_way": "cap"}, "budget_way='cap' does not go with a pool"),
            ({"stop_when": mp.Certified()}, "stop_when=.* does not go with a pool"),
            ({"options": {"window": 3}}, "options=.* does not go with a pool"),
            ({"tolerance": 1.0}, "tolerance=1.0"),
            ({"confidence": 1}, "confidence=1"),
            ({"budget": 0}, "budget=0"),
            ({"models": ["ant"]}, "at least two models"),
            ({"models": ["ant", "elk"]}, "no predictions of 'elk'"),
            ({"models": 3}, "there are 3 models, but the items have predictions of 4"),
            ({"seed": -1}, "seed"),
        ],
    )
    def test_settings(self, memory: str, more: dict[str, Any], complaint: str) -> None:
        make(memory, "there", items=3)
        with pytest.raises(mp.InputError, match=complaint):
            make(memory, **more)
        assert [one.name for one in mp.list_campaigns(memory)] == ["there"]

    @pytest.mark.parametrize("name", ["tolerance", "confidence"])
    def test_what_goes_with_a_pool_does_not_go_with_a_stream(self, memory: str, name: str) -> None:
        with pytest.raises(mp.InputError, match=f"{name}=0.1 goes with pool= only"):
            mp.create_campaign(memory, "stream", models=2, **{name: 0.1})  # type: ignore[arg-type]
        with pytest.raises(mp.InputError, match="pass the models of the stream, or pool="):
            mp.create_campaign(memory, "stream")

    def test_some_of_the_models_may_be_chosen(self, memory: str) -> None:
        campaign = make(memory, models=["dog", "bee"])
        assert campaign.models == ("dog", "bee")
        items = collection()
        with campaign.reading_state() as (_, found):
            names = [items.models.index(name) for name in ("dog", "bee")]
            here = as_pool(found).picker
            mine = [
                [None if code < 0 else here.classes[code] for code in row] for row in here.source.codes.tolist()
            ]
        assert mine == [[row[place] for place in names] for row in _names(items)]

    def test_sources(self, memory: str, tmp_path: Path) -> None:
        with pytest.raises(mp.NotFoundError, match="does not exist"):
            mp.create_campaign(memory, "none", pool=tmp_path / "none.csv")
        with pytest.raises(mp.InputError):
            mp.create_campaign(memory, "none", pool=[])
        with pytest.raises(mp.InputError, match="at least two models"):
            mp.create_campaign(memory, "none", pool=[["a"], ["b"]])
        with pytest.raises(mp.InputError):
            mp.create_campaign(memory, "none", pool=7)
        with pytest.raises(mp.ConflictError, match="two items with different predictions"):
            mp.create_campaign(
                memory, "none", pool=mp.ModelCollection([["a", "b"], ["b", "b"]], fields={"id": ["x", "x"]})
            )
        assert mp.list_campaigns(memory) == []

    def test_a_second_file_must_have_the_same_models(self, url: str, tmp_path: Path) -> None:
        campaign = make(url)
        before = state(campaign)
        (tmp_path / "other.csv").write_text(
            "id,text,ant,bee,cow\n1,a,ham,spam,ham\n2,b,egg,spam,ham\n", encoding="utf-8"
        )
        for source in (tmp_path / "other.csv", [["a", "b"]], mp.load_collection("digits")):
            with pytest.raises(mp.InputError):
                campaign.add_items(source)
        assert state(campaign) == before
        check(campaign, url)

    def test_a_file_is_read_with_its_keys(self, url: str, tmp_path: Path) -> None:
        rows = "\n".join(
            f"t{n},text {n},{'ham' if n % 3 else 'spam'},{'ham' if n % 2 else 'spam'},ham" for n in range(50)
        )
        (tmp_path / "items.csv").write_text(f"id,text,bert,gpt,label\n{rows}\n", encoding="utf-8")
        seen: list[tuple[int, int]] = []
        campaign = mp.create_campaign(
            url, "file", pool=tmp_path / "items.csv", progress=lambda done, total: seen.append((done, total))
        )
        assert seen[-1] == (50, 50)
        assert campaign.models == ("bert", "gpt")
        campaign.tell("t4", "ham")
        assert campaign.label_of(4) == "ham"
        assert campaign.pending(1)[0].item is not None
        assert "label" not in (campaign.pending(1)[0].item or {})
        check(campaign, url)

    def test_ids_and_kinds(self, memory: str) -> None:
        campaign = make(memory)
        with pytest.raises(mp.NotFoundError, match="there is no round 120"):
            campaign.tell(120, "ham")
        with pytest.raises(mp.NotFoundError, match="the key 'nobody'"):
            campaign.tell("nobody", "ham")
        with pytest.raises(mp.InputError, match="kind='population'"):
            campaign.certificate(kind="population")
        with pytest.raises(mp.ConflictError, match="the models of a pool cannot change"):
            campaign.join("elk")
        with pytest.raises(mp.ConflictError, match="the models of a pool cannot change"):
            campaign.leave("ant")
        with pytest.raises(mp.InputError):
            campaign.pending(0)
        with pytest.raises(mp.InputError):
            campaign.tell(3, 7)
        with pytest.raises(mp.ConflictError, match="no answer to take back"):
            campaign.retract(5)


def test_codes_of_other_sizes_fit_when_many_classes_come(memory: str) -> None:
    """More than 127 classes need larger codes than the items before them."""
    campaign = mp.create_campaign(memory, "sizes", pool=np.array([[0, 1], [1, 0], [1, 1]]), tolerance=0.0)
    campaign.tell(campaign.pending(1)[0].id, 1)
    campaign.ask_many([[place, place + 1] for place in range(300)])
    assert campaign.rounds == 303
    assert len(campaign.pending(20)) == 20
    check(campaign, memory)


def test_a_looser_goal_is_reached_at_once_where_the_labels_allow_it_and_survives_a_restart(url: str) -> None:
    items = collection()
    campaign = make(url, tolerance=0.0)
    label(campaign, items, 60)
    assert not campaign.best().certified
    before = state(campaign)["growths"]
    campaign.revise(stop_when=mp.Certified(gap=0.9, confidence=0.8))
    assert (campaign.best().certified, campaign.pending(1, lease=9)) == (True, [])
    assert campaign.best().certificate.confidence == 0.8
    campaign.revise(stop_when=mp.Certified(gap=0.01))
    label(campaign, items, 5)
    after = state(campaign)
    assert after["growths"] >= before
    opened = mp.open_campaign(url, "pool")
    opened.forget()
    assert state(opened) == after
    campaign.revise(stop_when=None)
    assert campaign.best().state.name == "running"


def test_a_paused_pool_asks_nothing_and_takes_no_items_and_a_raised_budget_asks_again(url: str) -> None:
    items = collection()
    campaign = make(url, budget=3)
    label(campaign, items)
    assert campaign.best().state.name == "budget-spent"
    with pytest.raises(mp.ConflictError, match="bought or asked for already"):
        campaign.revise(budget=2)
    campaign.revise(budget=5, paused=True)
    assert (campaign.best().state.name, campaign.pending(1, lease=9), campaign.budget) == ("paused", [], 5)
    with pytest.raises(mp.ConflictError, match="paused"):
        campaign.add_items(collection(3, 1, 500))
    campaign.revise(paused=False)
    assert len(label(campaign, items)) == 2
    campaign.revise(archived=True)
    with pytest.raises(mp.ConflictError, match="archived"):
        campaign.tell(0, "ham")
    assert campaign.best().state.name == "archived"
