"""Campaigns on streams whose labels are more than right and wrong: grades, preferences, costs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.errors import ConflictError, InputError
from tests.campaigns.streams import check, state

MODELS = ["small", "large", "huge"]
SAID = ["Paris", "Lyon", "paris.", None]
COSTS = {"spam": {"ham": 4, "odd": 1}, "ham": {"spam": 2}}
ALGORITHMS: dict[str, dict[str, Any]] = {
    "model-picker": {},
    "label-efficient": {"probability": 0.8},
    "vote-entropy": {"query_scale": 3.0},
    "structural-committee": {"beta": 0.3},
    "importance-weighted": {},
    "efficient-active": {"c0": 0.001},
    "race": {"tolerance": 0.2},
}


def rows(number: int, said: list[Any], seed: int = 0) -> list[list[Any]]:
    """What three models say about that many items."""
    draw = np.random.default_rng(seed)
    return [[said[place] for place in draw.integers(0, len(said), 3)] for _ in range(number)]


def label_for(kind: str, number: int, said: list[Any]) -> Any:
    """A label of the kind that is asked for; now and then a skip."""
    answers = sorted({name for name in said if name is not None})
    if number % 9 == 8 or (kind == "preference" and len(answers) < 2):
        return None
    if kind == "number":
        return number % 3
    if kind == "class":
        return mp.Label.any_of("ham", "odd") if number % 5 == 0 else ["spam", "ham", "odd"][number % 3]
    if kind == "grades":
        return (
            mp.Label.all_wrong()
            if number % 7 == 0
            else mp.Label.graded({name: (len(name) + number) % 4 / 3 for name in answers})
        )
    return mp.Label.better(*answers[:2]) if number % 2 else mp.Label.equal(*answers[:2])


def play(campaign: mp.Campaign, asked: list[list[Any]], kind: str, *, late: bool = False) -> None:
    """Ask about every item, and tell every label at once, or all of them at the end in another order."""
    waiting = []
    for row in asked:
        decision = campaign.ask(row)
        if decision.query:
            waiting.append((decision.id, label_for(kind, decision.id, row)))
            if not late:
                campaign.tell(*waiting.pop())
    for number, label in reversed(waiting):
        campaign.tell(number, label)


@pytest.mark.parametrize("kind", ["class", "grades", "preference"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_learns_every_kind_of_label(memory: str, algorithm: str, kind: Any) -> None:
    """What is learned live is equal to the last bit to what the events say, and to what the bare picker learns."""
    said = ["spam", "ham", "odd", None] if kind == "class" else SAID
    loss = COSTS if kind == "class" else None
    campaign = mp.create_campaign(
        memory,
        "c",
        models=MODELS,
        algorithm=algorithm,
        options=ALGORITHMS[algorithm],
        ask_for=kind,
        loss=loss,
        seed=3,
    )
    asked = rows(50, said)
    bare = campaign.settings.make(MODELS)
    assert bare.loss.name == {"class": "cost"}.get(kind, kind)
    for row in asked:
        decision, mine = campaign.ask(row), bare.observe(row)
        assert decision.probability == mine.probability
        if not mine.query:
            continue
        told = label_for(kind, decision.id, row)
        bare.learn(mine.round, told if decision.query else None)
        if decision.query:
            campaign.tell(decision.id, told)
    assert state(campaign)["picker"]["state"] == bare.state_dict()["state"]
    assert state(campaign)["picker"]["evidence"] == bare.state_dict()["evidence"]
    assert campaign.best().certificate.loss == bare.loss.name
    check(campaign, memory)


@pytest.mark.parametrize("kind", ["class", "grades", "preference"])
def test_late_replaced_and_taken_back_labels_are_learned_as_the_events_say(url: str, kind: Any) -> None:
    said = ["spam", "ham", "odd"] if kind == "class" else SAID
    campaign = mp.create_campaign(url, "c", models=MODELS, ask_for=kind, seed=1)
    asked = [row for row in rows(60, said, 4) if len(set(row) - {None}) > 1]
    play(campaign, asked, kind, late=True)
    check(campaign, url)
    told = [one for one in campaign.answers() if one.label not in (None, _other(kind, asked[one.id]))]
    campaign.tell(told[0].id, told[0].label)  # told twice, it counts once
    before = state(campaign)["picker"]["state"]
    with pytest.raises(ConflictError, match="replace=True"):
        campaign.tell(told[0].id, _other(kind, asked[told[0].id]))
    campaign.tell(told[0].id, _other(kind, asked[told[0].id]), replace=True)
    assert state(campaign)["picker"]["state"] != before
    check(campaign, url)
    campaign.retract(told[1].id)
    assert [query.id for query in campaign.pending()] == [told[1].id]
    campaign.skip(told[1].id)
    check(campaign, url)


def _other(kind: str, row: list[Any]) -> Any:
    """A label that nobody has told before."""
    answers = sorted(set(row) - {None})
    if kind == "preference":
        return mp.Label.better(*answers[:2])
    return "other" if kind == "class" else mp.Label.graded(dict.fromkeys(answers, 0.45))


@pytest.mark.parametrize("kind", ["class", "grades", "preference"])
def test_two_people_agree_or_somebody_settles(url: str, kind: Any) -> None:
    said = ["spam", "ham"] if kind == "class" else ["Paris", "Lyon"]
    campaign = mp.create_campaign(url, "c", models=MODELS[:2], ask_for=kind, overlap=2, loss=_loss(kind))
    asked = [campaign.ask(said) for _ in range(12)]
    open_ = [decision.id for decision in asked if decision.query][:2]
    label: Any = {"class": "spam", "grades": mp.Label.graded({"Lyon": 0.5, "Paris": 1})}.get(
        kind, mp.Label.equal(*said)
    )
    for person in ("mia", "tom"):
        campaign.tell(open_[0], label, annotator=person)
        campaign.tell(open_[1], label if person == "mia" else _other(kind, said), annotator=person)
    assert campaign.label_of(open_[0]) == campaign.as_stored(open_[0], label)
    assert [one.id for one in campaign.conflicts()] == [open_[1]]
    campaign.settle(open_[1], label, annotator="ann")
    assert campaign.counts().conflicts == 0
    assert campaign.counts().labels == 2
    assert campaign.agreement().items == 2
    check(campaign, url)


def _loss(kind: str) -> Any:
    return {"spam": 3} if kind == "class" else None


@pytest.mark.parametrize("kind", ["class", "grades", "preference"])
@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_an_export_brings_back_the_same_campaign(memory: str, tmp_path: Any, kind: Any, ending: str) -> None:
    said = ["spam", "ham", "odd", None] if kind == "class" else SAID
    campaign = mp.create_campaign(memory, "c", models=MODELS, ask_for=kind, loss=COSTS if kind == "class" else None)
    play(campaign, rows(30, said), kind)
    campaign.export(tmp_path / f"c{ending}")
    again = mp.import_campaign(memory, tmp_path / f"c{ending}", "again")
    assert state(again)["picker"] == state(campaign)["picker"]
    assert again.settings.loss == campaign.settings.loss
    assert again.settings.checksum == campaign.settings.checksum
    assert [one.label for one in again.answers()] == [one.label for one in campaign.answers()]
    for one, other in zip(again.pending(), campaign.pending(), strict=True):
        assert sorted(one.candidates) == sorted(other.candidates)
    check(again, memory)


@pytest.mark.parametrize("kind", ["class", "grades", "preference"])
def test_many_are_asked_and_told_at_once_compiled_as_one_by_one(url: str, kind: Any) -> None:
    """Decided and rebuilt by the compiled kernel, to the last bit what was learned one by one."""
    said = ["spam", "ham", "odd"] if kind == "class" else SAID
    campaign = mp.create_campaign(
        url, "c", models=MODELS, ask_for=kind, algorithm="label-efficient", options={"probability": 0.5}
    )
    asked = rows(64, said, 2)
    decisions = campaign.ask_many(asked, keys=[f"k{place}" for place in range(64)])
    again = campaign.ask_many(asked, keys=[f"k{place}" for place in range(64)])
    assert [one.query for one in again] == [one.query for one in decisions]
    campaign.tell_many({one.id: label_for(kind, one.id, asked[one.id]) for one in decisions if one.query})
    check(campaign, url)
    with campaign.reading_state() as (_, projection):
        projection.warm_up()
    campaign.forget()
    check(campaign, url)


@pytest.mark.parametrize("way", ["paced", "cap"])
def test_a_budget_holds_for_grades(memory: str, way: Any) -> None:
    campaign = mp.create_campaign(
        memory, "c", models=MODELS, ask_for="grades", budget=6, budget_way=way, expected_rounds=60
    )
    play(campaign, rows(60, SAID[:3], 5), "grades")
    assert 1 <= campaign.counts().labels <= 6
    check(campaign, memory)


def test_a_stop_rule_and_a_race_name_the_loss_and_stop(memory: str) -> None:
    better = mp.Label.graded({"Paris": 1, "Lyon": 0.25})
    ruled = mp.create_campaign(
        memory, "ruled", models=["a", "b"], ask_for="grades", stop_when=mp.Certified(gap=0.2, kind="stream")
    )
    race = mp.create_campaign(
        memory, "race", models=["a", "b"], ask_for="grades", algorithm="race", options={"tolerance": 0.2}
    )
    for campaign in (ruled, race):
        for _ in range(250):
            decision = campaign.ask(["Paris", "Lyon"])
            if decision.query:
                campaign.tell(decision.id, better)
        pick = campaign.best()
        assert (pick.model, pick.certificate.loss) == ("a", "grades")
        assert pick.state.over
        assert "mean grade" in pick.certificate.sentence
        assert not campaign.ask(["Paris", "Lyon"]).query
        assert "mean grade" in campaign.report()


def test_a_file_is_fed_as_grades_come(url: str) -> None:
    answers = mp.ModelCollection(rows(40, SAID[:3], 7), models=MODELS)
    campaign = mp.create_campaign(url, "c", models=MODELS, ask_for="grades")
    campaign.ask_file(answers)
    graded = 0
    while found := campaign.pending(1):
        query = found[0]
        campaign.tell(query.id, mp.Label.graded({one: len(str(one)) / 6 for one in query.candidates}))
        graded += 1
    assert graded == campaign.counts().labels > 3
    check(campaign, url)


class TestPreferences:
    """Which answers are compared: the leader's, and the strongest other one."""

    def test_the_two_are_kept_with_the_round(self, url: str) -> None:
        campaign = mp.create_campaign(
            url, "c", models=MODELS, ask_for="preference", algorithm="label-efficient", options={"probability": 1.0}
        )
        for _ in range(3):  # the last model loses
            campaign.tell(campaign.ask(["A", "A", "B"]).id, mp.Label.better("A", "B"))
        first = campaign.ask(["A", "B", "C"])
        [query] = campaign.pending()
        assert sorted(query.candidates) == ["A", "B"]
        assert next(iter(campaign.history(first.id)))["pair"] in (["A", "B"], ["B", "A"])
        campaign.tell(first.id, mp.Label.better("C", "B"))  # any two that models gave
        assert campaign.pending() == []
        check(campaign, url)

    def test_what_cannot_be_compared_is_skipped_without_asking(self, url: str) -> None:
        campaign = mp.create_campaign(
            url, "c", models=MODELS, ask_for="preference", algorithm="label-efficient", options={"probability": 1.0}
        )
        alone = campaign.ask(["A", None, None])
        assert not alone.query
        assert campaign.pending() == []
        assert campaign.counts().skipped == 1
        with pytest.raises(InputError, match="no model answers 'B' there"):
            campaign.tell(alone.id, mp.Label.better("A", "B"))
        check(campaign, url)

    def test_a_file_goes_on_past_them(self, memory: str) -> None:
        options = {"probability": 1.0}
        campaign = mp.create_campaign(
            memory, "c", models=MODELS, ask_for="preference", algorithm="label-efficient", options=options
        )
        campaign.ask_file(mp.ModelCollection([["A", None, None]] * 5 + [["A", "B", None]], models=MODELS))
        assert [query.id for query in campaign.pending(1)] == [5]
        assert campaign.counts().skipped == 5

    def test_two_people_and_a_budget_are_not_bothered_with_them(self, memory: str) -> None:
        both: dict[str, Any] = {"models": MODELS, "ask_for": "preference", "algorithm": "label-efficient"}
        paid = mp.create_campaign(memory, "paid", **both, options={"probability": 1.0}, budget=3, budget_way="cap")
        pairs = mp.create_campaign(memory, "pairs", **both, options={"probability": 1.0}, overlap=2)
        for campaign in (paid, pairs):
            campaign.ask_many([["A", None, None]] * 10 + [["A", "B", "B"]] * 2)
            check(campaign, memory)
        assert len(pairs.pending()) == 2


def test_models_that_were_not_run_have_no_loss(memory: str) -> None:
    campaign = mp.create_campaign(memory, "c", models=MODELS, ask_for="grades", missing="not-run", seed=2)
    half = [[*row[:2], None] for row in rows(40, SAID[:3], 3)]
    play(campaign, half, "grades")
    estimates = {entry.model: entry.estimate for entry in campaign.best().standing}
    assert min(estimates["small"], estimates["large"]) <= estimates["huge"]
    assert estimates["huge"] <= max(estimates["small"], estimates["large"])
    assert campaign.best().certificate.gap == 1.0
    check(campaign, memory)


def test_a_model_that_joins_is_graded_by_its_own_answers(memory: str) -> None:
    campaign = mp.create_campaign(memory, "c", models=MODELS[:2], ask_for="grades", seed=2)
    play(campaign, [row[:2] for row in rows(20, SAID[:3], 3)], "grades")
    campaign.join("huge")
    play(campaign, rows(20, SAID[:3], 8), "grades")
    check(campaign, memory)
    campaign.leave("small")
    check(campaign, memory)


def test_balanced_accuracy_is_told_in_its_own_unit(memory: str) -> None:
    """Gaps of estimates and of the certificate are of balanced accuracy."""
    loss = mp.Loss.balanced({"rare": 1, "usual": 9})
    options = {"probability": 1.0}
    campaign = mp.create_campaign(
        memory, "c", models=["a", "b"], loss=loss, algorithm="label-efficient", options=options
    )
    for number in range(200):
        campaign.tell(campaign.ask(["rare", "usual"]).id, "rare" if number % 10 == 0 else "usual")
    # Each model is right on one of the two classes: they are level, though one is right nine times as often.
    estimates = [entry.estimate for entry in campaign.best().standing]
    assert estimates[0] == pytest.approx(estimates[1], rel=1e-4)
    certificate = campaign.certificate(kind="stream")
    assert "balanced accuracy" in certificate.sentence
    assert certificate.gap == pytest.approx(0.0, abs=1e-4)
    check(campaign, memory)


def test_classes_that_are_numbers_may_be_named_by_their_text(memory: str) -> None:
    one = mp.create_campaign(memory, "one", models=MODELS, loss={"1": 5})
    other = mp.create_campaign(memory, "other", models=MODELS, loss={1: 5})
    for campaign in (one, other):
        play(campaign, rows(30, [0, 1, 2]), "number")
        check(campaign, memory)
    assert state(one)["picker"]["state"] == state(other)["picker"]["state"]
    assert any(cost % 1 for cost in state(one)["picker"]["state"]["losses"])


def test_a_campaign_that_admits_wrong_labels_says_so_after_a_restart_and_an_import(tmp_path: Path) -> None:
    storage, file = f"sqlite:///{tmp_path}/c.db", tmp_path / "c.jsonl"
    campaign = mp.create_campaign(
        storage,
        "c",
        models=["one", "two"],
        algorithm="label-efficient",
        options={"probability": 1.0},
        stop_when=mp.Certified(0.15),
        label_noise=0.1,
    )
    assert campaign.settings.facts == {"label_noise": "each label is wrong with a probability of at most 10%"}
    for number in range(40):
        decision = campaign.ask(["ham", "ham" if number % 10 else "spam"])
        if decision.query:
            campaign.tell(decision.id, "ham")
    check(campaign, storage)
    campaign.export(file)
    mp.import_campaign("memory://noisy-import", file)
    for one in (campaign, mp.open_campaign(storage, "c"), mp.open_campaign("memory://noisy-import", "c")):
        certificate = one.certificate(kind="population")
        assert (certificate.label_noise, one.best().certificate) == (0.1, certificate)
        assert one.certificate(0.9, "stream").sentence.endswith("with a probability of at most 10%.")


def test_a_campaign_asks_on_until_the_wider_gap_is_small_enough(memory: str) -> None:
    labels = {}
    for noise in (0.0, 0.02):
        campaign = mp.create_campaign(
            memory,
            f"c{noise}",
            models=["one", "two"],
            algorithm="label-efficient",
            options={"probability": 0.9},
            stop_when=mp.Certified(0.15),
            label_noise=noise,
        )
        for number in range(150):
            decision = campaign.ask(["ham", "spam" if number % 3 else "ham"])
            if decision.query:
                campaign.tell(decision.id, "ham")
        pick = campaign.best()
        assert pick.reached
        assert ("each label is wrong" in pick.state.reason) == (noise > 0.0)
        labels[noise] = pick.labels_used
    assert labels[0.02] > labels[0.0]


def test_a_goal_that_wrong_labels_put_out_of_reach_is_remarked_upon(memory: str) -> None:
    campaign = mp.create_campaign(memory, "c", models=["one", "two"], stop_when=mp.Certified(0.05), label_noise=0.1)
    assert campaign.best().remark == ""
    for _ in range(25):
        decision = campaign.ask(["ham", "spam"])
        if decision.query:
            campaign.tell(decision.id, "ham")
    assert campaign.best().remark.startswith(
        "The goal of 5 points cannot be reached: models differ on 100% of the items, so wrong labels leave 20 "
        "points open."
    )
    with pytest.raises(InputError, match="never closed"):
        campaign.revise(stop_when=mp.Certified(0.0))


def test_a_race_in_a_campaign_is_won_by_its_labels(memory: str) -> None:
    campaign = mp.create_campaign(
        memory, "c", models=["one", "two"], algorithm="race", options={"tolerance": 0.2}, label_noise=0.05
    )
    for _ in range(100):
        decision = campaign.ask(["ham", "spam"])
        if decision.query:
            campaign.tell(decision.id, "ham")
    pick = campaign.best()
    assert (pick.state.name, pick.reached) == ("won", True)
    assert pick.certificate.gap == pytest.approx(0.3)
    assert "each label is wrong with a probability of at most 5%" in pick.state.reason


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"loss": "grades"}, "pass ask_for='grades'"),
        ({"loss": {"spam": 2}, "ask_for": "grades"}, "which is a loss of its own"),
        ({"loss": "balanced"}, "mp.Loss.balanced"),
        ({"loss": "macro-f1"}, "macro-F1 is not a mean of losses"),
        ({"loss": {"spam": -1}}, "it must be a number from 0"),
        ({"options": {"loss": {"spam": 2}}}, "pass loss= itself"),
        ({"price": {"small": 1, "large": 2, "huge": 3}}, "only race uses prices"),
        ({"price": {"small": 1}, "algorithm": "race"}, "give a price for every model"),
        ({"price": [1, 2, -3], "algorithm": "race"}, "must be a number from 0"),
        ({"label_noise": 0.5}, "label_noise=0.5 is out of range"),
        ({"label_noise": -0.1}, "label_noise=-0.1 is out of range"),
        ({"label_noise": float("nan")}, "label_noise=nan is out of range"),
        ({"label_noise": 0.1, "stop_when": mp.Certified(0.0)}, "a gap that is never closed"),
        ({"options": {"label_noise": 0.1}}, "pass label_noise= itself"),
        ({"ask_for": "stars"}, "stars"),
    ],
)
def test_what_makes_no_sense_is_refused(memory: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        mp.create_campaign(memory, "c", models=MODELS, **given)


@pytest.mark.parametrize(
    ("kind", "label", "words"),
    [
        ("grades", "Paris", "asks for a grade for each answer"),
        ("grades", mp.Label.graded({"Rome": 1}), "no model answers 'Rome'"),
        ("preference", mp.Label.graded({"Paris": 1}), "which of two answers is better"),
        ("class", mp.Label.graded({"Paris": 1}), "asks for a class"),
    ],
)
def test_a_label_that_does_not_fit_is_refused_and_the_query_stays_open(
    memory: str, kind: Any, label: Any, words: str
) -> None:
    campaign = mp.create_campaign(
        memory, "c", models=MODELS[:2], ask_for=kind, algorithm="label-efficient", options={"probability": 1.0}
    )
    decision = campaign.ask(["Paris", "Lyon"])
    with pytest.raises(InputError, match=words):
        campaign.tell(decision.id, label)
    assert [query.id for query in campaign.pending()] == [decision.id]


class TestPrices:
    """Race: the cheapest model that is proven to be within the tolerance."""

    def make(self, url: str, name: str = "c", **more: Any) -> mp.Campaign:
        price = {"small": 1, "large": 5, "huge": 5}
        given = {"models": MODELS, "price": price, "algorithm": "race", "options": {"tolerance": 0.2}, **more}
        return mp.create_campaign(url, name, **given)

    def play(self, campaign: mp.Campaign) -> None:
        """Large is right on all items, small on nineteen of twenty, huge on a third."""
        for number in range(400):
            row = ["a" if number % 20 else "b", "a", "a" if number % 3 == 0 else "c"]
            decision = campaign.ask(row[: len(campaign.models)])
            if decision.query:
                campaign.tell(decision.id, "a")

    def test_the_winner_is_the_cheapest_that_is_close(self, url: str) -> None:
        campaign = self.make(url)
        self.play(campaign)
        pick = campaign.best()
        assert (pick.model, pick.saved_per_item, pick.state.name) == ("small", 4.0, "won")
        assert "costs 4 less per item" in pick.remark
        assert "small 1, large 5, huge 5 per item" in campaign.report()
        plain = self.make(url, "plain", price=None)
        self.play(plain)
        assert plain.best().model == "large"
        check(campaign, url)

    def test_it_is_exported_and_outlives_a_model(self, memory: str, tmp_path: Any) -> None:
        campaign = self.make(memory)
        self.play(campaign)
        campaign.export(tmp_path / "c.jsonl")
        again = mp.import_campaign(memory, tmp_path / "c.jsonl", "again")
        assert again.best().saved_per_item == 4.0
        again.leave("huge")
        assert again.best().model == "small"
        check(again, memory)

    def test_a_picker_is_saved_with_its_prices(self) -> None:
        race = mp.Race(["a", "b"], tolerance=0.1, price={"a": 2, "b": 1})
        again = mp.Race.from_state_dict(race.state_dict())
        assert (again.options["price"], again.saved_per_item) == ([2.0, 1.0], race.saved_per_item)
