"""The report: true sentences in every state, one page that needs nothing, and names that stay names."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modelpicker as mp
from modelpicker.campaigns.results.campaign_report import KNOWN, NAMELESS, campaign_report
from modelpicker.campaigns.results.course import Course
from modelpicker.campaigns.results.report import Report
from modelpicker.campaigns.results.report_charts import ticks
from modelpicker.campaigns.results.report_page import report_page
from tests.campaigns import pools

EVERY = {"query_scale": 1e6}  # every item on which models differ is a query
NASTY = '</style><script>alert("x")</script><img src=https://evil.example/a.png>&'


class Tags(HTMLParser):
    """What a page is made of."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def words(page: str) -> str:
    """What a page says, without tags."""
    return " ".join(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL).split())


def campaign(memory: str, **settings: Any) -> mp.Campaign:
    settings = {"models": ["a", "b", "c"], "options": EVERY, **settings}
    return mp.create_campaign(memory, "tickets", **settings)


def labelled(memory: str, labels: int, **settings: Any) -> mp.Campaign:
    """A campaign in which `a` is always right."""
    made = campaign(memory, **settings)
    for number in range(labels):
        decision = made.ask(["x", "y", "x" if number % 2 else "y"])
        if decision.query:
            made.tell(decision.id, "x", annotator="ann")
    return made


# The states.


def test_before_the_first_label_there_is_no_pick_and_no_board(memory: str) -> None:
    made = campaign(memory)
    for _ in range(2):
        found = campaign_report(made)
        assert found.headline == "There is no pick yet."
        assert found.certainty == "No label is known yet, so nothing is known about the models."
        assert found.saved_share is None
        page = made.report()
        assert "Leader board" not in page
        assert "How it came about" not in page
        made.ask(["x", "y", "z"])


def test_without_a_proof_nothing_is_called_proved_or_saved(memory: str) -> None:
    found = campaign_report(labelled(memory, 2, stop_when=mp.Certified(gap=0.01)))
    assert found.headline == "a is the best so far."
    assert found.certainty == (
        "Not proven yet.\n"
        "The pick is an estimate from 2 labels. The goal: within 1 point of the best model (95% confidence)."
    )
    assert found.saved_share is None
    assert "labels saved" not in report_page(found)
    assert found.saving == "All 2 items were labelled: nothing was saved."


def test_models_that_are_level_are_called_level(memory: str) -> None:
    made = campaign(memory)
    for label in ("x", "y"):
        made.tell(made.ask(["x", "y", "z"]).id, label)
    assert re.fullmatch(r"[ab] and [ab] are level so far\.", campaign_report(made).headline)
    assert "level with the pick" in made.report()


def test_certified_says_the_certificate_itself_and_what_was_saved(memory: str) -> None:
    made = labelled(memory, 400, stop_when=mp.Certified(gap=0.2))
    pick, found = made.best(), campaign_report(made)
    assert pick.certified
    assert found.headline == "Use a."
    assert found.certainty == pick.certificate.sentence
    assert found.saved_share == 1 - pick.labels_used / 400
    assert f"Labelling all 400 items would take {400 - pick.labels_used} more labels." in found.saving
    assert "Models differ on 400 of them" in found.saving


def test_a_spent_budget_is_said(memory: str) -> None:
    page = words(labelled(memory, 30, budget=3, budget_way="cap").report())
    assert "The budget is 3 labels." in page
    assert "Budget spent" in page
    assert "The pick is not certified, so this is not a saving yet." in page


def test_an_unfinished_pool_says_how_many_more_labels_are_needed(memory: str) -> None:
    made = pools.make(memory, tolerance=0.0)
    pools.label(made, pools.collection(), 12)
    to_go = made.labels_to_go()
    assert to_go is not None
    assert f"Not proven yet: {to_go.words}." in words(made.report())
    made.revise(budget=12)
    more = made.best().more
    assert more is not None
    assert more.sentence in words(made.report())


def test_a_race_that_is_won_is_called_won(memory: str) -> None:
    made = labelled(memory, 300, algorithm="race", options={"tolerance": 0.1})
    assert made.best().state.name == "won"
    page = words(made.report())
    assert "Use a." in page
    assert "state Won" in page
    assert "There are no intervals" in page


def test_a_model_with_a_better_estimate_than_the_pick_is_explained_and_not_called_level() -> None:
    found = mp.pick("digits", tolerance=0.05, algorithm="race")
    assert min(entry.gap or 0.0 for entry in found.standing) < 0
    page = words(found.report("digits"))
    assert (
        "looks better than the pick by its estimate. It is proven that no model is better by more than 5%" in page
    )
    assert "level with the pick" not in page


def test_models_that_never_differ_need_no_label() -> None:
    found = mp.pick(mp.ModelCollection([[0, 0], [1, 1]], [0, 1], ["a", "b"]))
    page = words(found.report("twins"))
    assert "no model is more accurate than a (certain)." in page or "than b (certain)." in page
    assert "give the same answer to every item" in page
    assert "No label was bought." in page


def test_skips_corrections_and_references_are_counted_and_the_right_people_named(memory: str) -> None:
    made = campaign(memory)
    for label, who in (("x", "ann"), ("y", "ann"), (None, "bob"), ("x", None), ("x", "file")):
        made.tell(made.ask(["x", "y", "z"]).id, label, annotator=who)
    made.tell(1, "x", replace=True, annotator="bob/4f2c81aa")  # from another tab
    made.retract(0)
    made.tell(0, "z", annotator="zoe")
    made.ask(["x", "y", "z"])
    made.tell(made.ask(["x", "x", "x"]).id, "x")
    found = campaign_report(made)
    people = {one.name: (one.labels, one.skipped) for one in found.annotators}
    assert people == {"zoe": (1, 0), "bob": (1, 1), NAMELESS: (1, 0), KNOWN: (1, 0)}
    assert found.cost == (
        "3 labels were bought; 1 more was known before; 1 item was skipped; 1 item still waits for a label; "
        "1 more label is kept for reference only; 2 answers were corrected."
    )
    assert sum(one.labels for one in found.annotators) == found.pick.labels_used
    assert found.contested == 6


def test_a_model_that_joined_late_says_so_and_its_line_begins_there(memory: str) -> None:
    made = labelled(memory, 20)
    made.join("late")
    for _ in range(20):
        made.tell(made.ask(["x", "y", "x", "z"]).id, "x")
    found = campaign_report(made)
    assert "joined at item 21" in report_page(found)
    assert found.course is not None
    line = found.course.lines["late"]
    assert line[0] is None
    assert line[-1] is not None


def test_answers_that_were_taken_back_leave_no_trace_on_the_curve(memory: str) -> None:
    made = labelled(memory, 12)
    for number in range(6, 12):
        made.retract(number)
    course = campaign_report(made).course
    assert course is not None
    assert course.labels[-1] == made.best().labels_used == 6
    assert list(course.labels) == sorted(set(course.labels))


def test_every_storage_gives_the_same_report(url: str, memory: str) -> None:
    here, there = (campaign_report(labelled(place, 12)) for place in (url, memory))
    assert (here.headline, here.certainty, here.cost, here.saving) == (
        there.headline,
        there.certainty,
        there.cost,
        there.saving,
    )
    assert here.course == there.course
    assert here.pick.standing == there.pick.standing


# The page.


def test_the_page_needs_nothing_runs_nothing_and_keeps_markup_as_text(memory: str) -> None:
    made = campaign(memory, models=[NASTY, "b\ud800", "c"], classes=None)
    for _ in range(3):
        made.tell(made.ask([NASTY, "y", "z"]).id, NASTY, annotator=NASTY)
    page = made.report()
    page.encode()
    found = Tags(page)
    assert not {"script", "img", "link", "iframe", "object", "form", "a"} & set(found.tags)
    assert not [value for name, value in found.attributes if name in ("src", "href") or name.startswith("on")]
    assert found.tags.count("style") == 1
    assert "url(" not in page
    assert "default-src 'none'" in page


def test_the_title_is_text_too() -> None:
    page = mp.pick("digits", budget=3).report(NASTY)
    assert "script" not in Tags(page).tags


@pytest.mark.parametrize(("models", "name"), [(200, "m"), (1_000, "m" * 400)])
def test_many_models_with_long_names_are_folded_away_and_the_page_stays_small(models: int, name: str) -> None:
    drawn = mp.synthetic_collection(60, models, 3, [0.3 + 0.6 * n / models for n in range(models)], seed=1)
    named = mp.ModelCollection(drawn.predictions, drawn.labels, [f"{n} {name}" for n in range(models)])
    page = mp.pick(named, budget=10).report("many")
    assert len(page.encode()) < 1_000_000
    assert "more models</summary>" in page
    assert name * 2 not in page.replace(name[:80], "") or len(name) < 80


def test_the_intervals_of_a_stream_are_those_of_the_dashboard(memory: str) -> None:
    from modelpicker.campaigns import Dashboard

    made = labelled(memory, 30)
    expected = {one["model"]: (one["low"], one["high"]) for one in Dashboard(made).standing()["standing"]}
    assert {one.model: (one.low, one.high) for one in campaign_report(made).pick.standing} == expected
    assert "rough 95% interval" in words(made.report())


# How a pick came about.


def test_the_course_of_a_pool_is_what_the_trace_says() -> None:
    collection = mp.load_collection("digits")
    trace = mp.run_pool(mp.PoolPicker(collection, tolerance=0.02))
    course = mp.pick(collection, tolerance=0.02).course
    assert course is not None
    assert course.labels == tuple(range(1, len(trace) + 1))
    assert course.recommended == tuple(collection.models[place] for place in trace.recommended.tolist())
    assert course.proved == tuple(trace.gaps.tolist())
    assert course.proved[-1] <= 0.02
    assert len(trace.gaps) == len(trace)


def test_the_course_of_a_stream_ends_with_the_pick() -> None:
    found = mp.pick("digits", algorithm="model-picker", budget=40)
    assert found.course is not None
    assert found.course.recommended[-1] == found.model
    assert found.course.labels[-1] == found.labels_used == 40
    assert list(found.course.labels) == sorted(found.course.labels)


def test_a_thinned_course_keeps_its_ends_and_its_last_changes() -> None:
    long = Course(tuple(range(5_000)), tuple("ab"[n >= 4_321] for n in range(5_000)), tuple([0.5] * 5_000))
    short = long.thinned()
    assert len(short.labels) <= 401
    assert (short.labels[0], short.labels[-1]) == (0, 4_999)
    assert [(reign.model, reign.first) for reign in short.reigns][-1] == ("b", 4_321)
    assert len(short.proved) == len(short.labels)


@pytest.mark.parametrize("top", [0.0, 0.004, 0.0099, 0.05, 1.0, 3.0, 7.0, 99.0, 1e6, 123_456.7])
def test_ticks_are_few_and_inside(top: float) -> None:
    found = ticks(top)
    assert 1 <= len(found) <= 7
    assert found[0] == 0.0
    assert found[-1] <= top + 1e-9


# Intervals of a pool.


@pytest.mark.parametrize("seed", range(4))
def test_the_intervals_of_a_pool_hold_at_every_label_for_every_model(seed: int) -> None:
    """They rest on the certificate, which may be wrong in 5 % of the runs; of these four, none is."""
    drawn = mp.synthetic_collection(150, 5, 3, [0.5, 0.6, 0.7, 0.75, 0.8], seed=seed)
    codes = np.array(drawn.predictions)
    codes[::7, 1] = -1  # which abstains now and then
    pool = mp.PoolPicker(mp.ModelCollection.of_codes(codes, drawn.labels, drawn.models, drawn.classes), seed=seed)
    right = (codes == np.asarray(drawn.labels)[:, None]).mean(axis=0)
    for step in range(120):
        truth = right[pool.recommended_index] - right
        found = pool.gap_intervals()
        for place, (low, high) in enumerate(found.values()):
            assert low - 1e-12 <= truth[place] <= high + 1e-12
        asked = pool.ask(1)
        if not asked:
            break
        pool.tell_code(asked[0], None if step % 11 == 5 else int(np.asarray(drawn.labels)[asked[0]]))


def test_a_report_has_no_place_of_a_storage(file_url: str, tmp_path: Path) -> None:
    made = mp.create_campaign(file_url, "tickets", models=2)
    assert str(tmp_path) not in made.report()


def test_what_a_report_knows_is_plain_data() -> None:
    found = Report("x", mp.pick("digits", budget=3))
    assert {"modelpicker", "numpy", "Python"} == set(found.versions)
    assert found.headline.endswith(".")
