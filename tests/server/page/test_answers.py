"""Free answers on the page: they are graded or compared with one key each, and never shown as anything but text."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import modelpicker as mp
from modelpicker.label import AnyLabel, as_document
from tests.server.page.desks import UNSEEN, Desk, Person
from tests.server.page.serving import Serving
from tests.server.page.test_accessibility import serious

MODELS = ["ada", "ben", "cat", "dan", "eva"]
HOSTILE = "<b>bold</b> <script>alert(1)</script> &amp;"


def pool(items: int) -> mp.ModelCollection:
    """Five different answers to each item, one of them hostile."""
    rows = [
        [
            f"The capital is Paris, of course ({place}).",
            f"The capital is Lyon, of course ({place}).",
            HOSTILE,
            f"# Answer {place}\n\n* one\n* two",
            "word " * 400 + str(place),
        ]
        for place in range(items)
    ]
    fields = {
        "id": [f"q-{place}" for place in range(items)],
        "text": [f"Question {place}?" for place in range(items)],
    }
    return mp.ModelCollection(rows, models=MODELS, fields=fields)


def make(storage: str, name: str, ask_for: Any, items: int = 6, **more: Any) -> mp.Campaign:
    """A campaign that asks about all of it."""
    return mp.create_campaign(storage, name, pool=pool(items), ask_for=ask_for, tolerance=0.0, **more)


def cards(page: Page) -> Locator:
    """The answers on screen."""
    return page.locator(".answer")


def current(page: Page) -> int:
    """Which answer is marked."""
    expect(page.locator(".answer.current")).to_have_count(1)
    return int(page.locator(".answer-number[aria-current=true]").inner_text().split()[-1])


def grades_on(page: Page) -> list[str]:
    """What the cards say about their grades; empty where there is none."""
    return [" ".join(card.locator(".grade").all_inner_texts()) for card in cards(page).all()]


def stored(label: AnyLabel) -> Any:
    """A label as it is kept: sorted by answer."""
    document: Any = as_document(label)
    return {**document, "grades": sorted(document["grades"])}


def labels_of(campaign: mp.Campaign) -> dict[int, Any]:
    """What is known about each item, as it is sent; None is a skip."""
    return {
        one.id: None if one.label is None else stored(one.label)
        for one in campaign.answers()
        if one.state in ("labelled", "skipped")
    }


def item_on(page: Page) -> int:
    """The item on screen."""
    return int(page.locator(".item-card .item-name").inner_text().removeprefix("q-"))


def next_item(page: Page, before: int) -> int:
    """The item after this one."""
    expect(page.locator(".item-card .item-name")).not_to_have_text(f"q-{before}")
    return item_on(page)


def test_answers_are_graded_with_one_key_each_from_the_first_to_the_last(labeller: Person, name: str) -> None:
    page = labeller.page
    campaign = make(labeller.server.storage, name, "grades")
    order = {query.id: list(query.candidates) for query in campaign.pending(6)}
    desk = labeller.desk(name)
    expect(cards(page)).to_have_count(5)
    assert not any(model in page.locator("main").inner_text().split() for model in MODELS)
    assert page.locator(".answer script, .answer b").count() == 0
    expect(page.locator(".answers")).to_contain_text("<script>alert(1)</script>")
    first = item_on(page)
    desk.press("3")
    for key in ("y", "n", "Backspace", "4"):  # as fast as one types
        page.keyboard.press(key)
    assert grades_on(page) == ["3 stars", "right", "4 stars", "", ""]
    assert current(page) == 4
    expect(desk.status).to_contain_text("Answer 3: 4 stars. How good is answer 4 of 5?")
    cards(page).first.get_by_role("button", name="Answer 1").click()  # another look
    page.keyboard.press("1")
    assert current(page) == 4
    page.keyboard.press("d")
    expect(page.locator(".answer.current .compared")).to_be_visible()
    page.keyboard.press("0")
    page.get_by_role("button", name="right", exact=True).click()
    second = next_item(page, first)
    expect(desk.status).to_contain_text("1 star, right, 4 stars, wrong, right")
    assert page.locator(".compared").count() == 0
    desk.press("y", "w")
    third = next_item(page, second)
    desk.press("s")
    fourth = next_item(page, third)
    desk.press("u", "u")  # the skip, and all wrong
    assert (item_on(page), grades_on(page)) == (second, ["right", "", "", "", ""])
    desk.press("w")
    next_item(page, second)
    desk.press("s", "y", "y", "y", "y", "y")
    next_item(page, fourth)
    desk.press("y", "u")  # the grades come back, and the last is to be given again
    assert (item_on(page), current(page)) == (fourth, 5)
    assert grades_on(page) == ["right", "right", "right", "right", ""]
    desk.press("n")
    next_item(page, fourth)
    desk.settled()
    given = {first: [0.2, 1.0, 0.8, 0.0, 1.0], fourth: [1.0, 1.0, 1.0, 1.0, 0.0]}
    assert labels_of(campaign) == {
        second: {"kind": "grades", "grades": [], "otherwise": 0.0},
        third: None,
        **{
            item: stored(mp.Label.graded(dict(zip(order[item], grades, strict=True))))
            for item, grades in given.items()
        },
    }


def test_the_grades_of_a_half_graded_item_outlast_a_reload(labeller: Person, name: str) -> None:
    page = labeller.page
    campaign = make(labeller.server.storage, name, "grades")
    desk = labeller.desk(name)
    item = item_on(page)
    texts = [card.locator(".answer-text").inner_text() for card in cards(page).all()]
    desk.press("3", "y")
    page.reload()
    while item_on(page) != item:
        desk.press("s")
    again = [card.locator(".answer-text").inner_text() for card in cards(page).all()]
    expected = {texts[0]: "3 stars", texts[1]: "right"}
    assert grades_on(page) == [expected.get(text, "") for text in again]
    desk.press("n", "n", "n")
    next_item(page, item)
    page.wait_for_timeout(UNSEEN)
    assert grades_on(page) == [""] * 5  # nothing about it is left for others
    desk.settled()
    label = labels_of(campaign)[item]
    assert sorted(grade for _, grade in label["grades"]) == [0.0, 0.0, 0.0, 0.6, 1.0]
    assert "half-graded" not in page.evaluate("JSON.stringify(sessionStorage)")


def test_two_answers_are_compared_with_one_key_and_their_words_are_marked(labeller: Person, name: str) -> None:
    page = labeller.page
    rows = [[f"The capital is Paris ({place}).", f"The capital is Lyon {HOSTILE} ({place})."] for place in range(5)]
    keys = [f"q-{place}" for place in range(5)]
    both = mp.ModelCollection(rows, models=["ada", "ben"], fields={"id": keys})
    campaign = mp.create_campaign(labeller.server.storage, name, pool=both, ask_for="preference", tolerance=0.0)
    pairs = {query.id: list(query.candidates) for query in campaign.pending(5)}
    desk = labeller.desk(name)
    tops = [card.evaluate("(card) => card.getBoundingClientRect().top") for card in cards(page).all()]
    assert tops == [tops[0]] * 2  # side by side
    first = item_on(page)
    page.keyboard.press("d")
    texts = page.locator(".answer .compared").all_inner_texts()
    assert texts == pairs[first]
    marked = [card.locator("ins").all_inner_texts() for card in cards(page).all()]
    paris = texts.index(rows[first][0])
    assert marked[paris] == ["Paris"]
    assert "".join(marked[1 - paris]) == f"Lyon {HOSTILE}"
    page.keyboard.press("d")
    expect(page.locator(".compared")).to_have_count(0)
    desk.press("1")
    second = next_item(page, first)
    expect(desk.status).to_contain_text("answer 1 is better")
    desk.press("=")
    third = next_item(page, second)
    page.wait_for_timeout(UNSEEN)
    page.get_by_role("button", name="2 is better").click()
    next_item(page, third)
    desk.settled()
    assert labels_of(campaign) == {
        first: stored(mp.Label.better(*pairs[first])),
        second: stored(mp.Label.equal(*pairs[second])),
        third: stored(mp.Label.better(*reversed(pairs[third]))),
    }


@pytest.mark.slow
def test_every_text_is_made_of_its_parts_of_the_comparison(page: Page, server: Serving) -> None:
    page.goto(server.url)
    draw = random.Random(3)
    words = ["a", "B", "über", "日本", "  ", "\n", ".", "<i>", "👩‍👧", "ไทย", "1.5"]
    texts = ["", "a", "long " * 3_000, "other " * 3_000, "line\n" * 3_000]
    texts += ["".join(draw.choices(words, k=draw.randrange(30))) for _ in range(100)]
    pairs = [draw.choices(texts, k=2) for _ in range(150)]
    found = page.evaluate(
        "async (pairs) => { const { diff } = await import(new URL('static/lib/diff.js', location.href).href);"
        " return pairs.map(([one, two]) => diff(one, two)); }",
        pairs,
    )
    for (one, two), parts in zip(pairs, found, strict=True):
        assert "".join(part["text"] for part in parts if part["kind"] != "second") == one
        assert "".join(part["text"] for part in parts if part["kind"] != "first") == two
        assert one != two or all(part["kind"] == "same" for part in parts)


@pytest.mark.slow
def test_a_double_click_grades_one_answer_and_a_held_key_too(labeller: Person, name: str) -> None:
    page = labeller.page
    make(labeller.server.storage, name, "grades")
    labeller.desk(name)
    page.wait_for_timeout(UNSEEN)
    page.get_by_role("button", name="right", exact=True).dblclick()
    assert grades_on(page) == ["right", "", "", "", ""]
    page.keyboard.down("n")
    page.keyboard.down("n")
    page.keyboard.up("n")
    assert grades_on(page) == ["right", "wrong", "", "", ""]
    page.get_by_role("button", name="Back").click()
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".answer.current .compared")).to_be_visible()
    page.get_by_role("button", name="All wrong").click()
    expect(page.locator(".last-action")).to_contain_text("all wrong")
    page.keyboard.press("c")
    expect(page.get_by_role("dialog")).to_contain_text("Note about")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("all answers are wrong")


@pytest.mark.slow
@pytest.mark.parametrize("ask_for", ["grades", "preference"])
def test_on_a_phone_cards_are_below_each_other_and_buttons_stay_in_the_window(
    page: Page, server: Serving, name: str, ask_for: str
) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    make(server.storage, name, ask_for)
    Desk(page, server.url, name).open()
    boxes = [card.evaluate("(card) => card.getBoundingClientRect().toJSON()") for card in cards(page).all()]
    assert all(box["left"] >= 0 and box["right"] <= 360 for box in boxes)
    assert boxes[1]["top"] >= boxes[0]["bottom"]
    for button in page.locator(".panel button").all():
        box = button.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 640
        assert box["height"] >= 44
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.keyboard.press("d")
        expect(page.locator(".compared").first).to_be_visible()
        assert serious(page) == []
        page.keyboard.press("d" if ask_for == "preference" else "y")


@pytest.mark.slow
def test_a_file_of_free_answers_becomes_a_campaign_that_asks_for_grades(
    page: Page, server: Serving, name: str, tmp_path: Path
) -> None:
    file = tmp_path / f"{name}.csv"
    rows = "".join(f"{place},{place}.501,{place}.502,{place + 1}\n" for place in range(6))
    file.write_text(f"id,a,b,c\n{rows}")
    page.goto(f"{server.url}/#/new")
    expect(page.get_by_label("File of predictions")).to_be_visible()
    assert page.get_by_label("Ask for").count() == 0
    page.get_by_label("File of predictions").set_input_files(file)
    page.get_by_label("Ask for").select_option("grades")
    expect(page.get_by_text("1 % of the mean grade")).to_be_visible()
    page.get_by_label("The same answer").select_option("number")
    page.get_by_label("At most this far apart").fill("0.01")
    for model in "ab":  # numbers that are not whole may be scores, where another model says whole ones
        page.get_by_label(f"What {model} is").select_option("model")
    expect(page.get_by_text("6 items, 3 models")).to_be_visible()
    page.get_by_role("button", name="Create campaign").click()
    expect(cards(page)).to_have_count(2)
    settings = mp.open_campaign(server.storage, name).settings
    assert (settings.ask_for, settings.same) == ("grades", 0.01)


@pytest.mark.slow
def test_an_owner_grades_again_and_settles_what_people_disagree_on(page: Page, server: Serving, name: str) -> None:
    campaign = make(server.storage, name, "grades", overlap=2)
    wrong = mp.Label.all_wrong()
    first, second = campaign.pending(2)
    right = mp.Label.graded(dict.fromkeys(first.candidates, 1.0))
    for person, label in (("mia", right), ("tom", right), ("mia", wrong), ("tom", None)):
        item = first if label is right else second
        if label is None:
            campaign.skip(item.id, annotator=person)
        else:
            campaign.tell(item.id, label, annotator=person)
    third = next(query for query in campaign.pending(6) if query.id not in (first.id, second.id))
    campaign.tell(third.id, right_of(third), annotator="mia")
    campaign.tell(third.id, wrong, annotator="tom")
    page.goto(f"{server.url}/#/c/{name}/labels")
    settle = page.get_by_role("group", name=f"Settle {third.key}")
    expect(settle.get_by_role("button")).to_have_count(3)  # two opinions, and "cannot tell"
    assert "[object" not in page.locator("main").inner_text()
    settle.get_by_role("button", name="all wrong").click()
    expect(settle).to_have_count(0)
    row = page.locator(".label-row:not(.conflict)").filter(has=page.get_by_text(str(first.key), exact=True).first)
    row.get_by_role("button", name="Correct").click()
    row.get_by_label("The capital is Lyon").select_option("0.4")
    row.get_by_role("button", name="Save").click()
    expect(row.locator(".label-facts > .graded-list")).to_contain_text("2 stars")
    told = labels_of(campaign)
    assert told[third.id] == as_document(wrong)
    assert dict(told[first.id]["grades"])[f"The capital is Lyon, of course ({first.id})."] == 0.4


def right_of(query: mp.Query) -> mp.Label:
    """Every answer is right."""
    return mp.Label.graded(dict.fromkeys(query.candidates, 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("ask_for", ["grades", "preference"])
def test_standing_report_and_settings_name_what_is_measured(
    page: Page, server: Serving, name: str, ask_for: str
) -> None:
    campaign = make(server.storage, name, ask_for)
    for query in campaign.pending(3):
        one, other, *_ = query.candidates
        label = mp.Label.better(one, other) if ask_for == "preference" else mp.Label.all_wrong()
        campaign.tell(query.id, label)
    words = []
    for view, part in (("standing", "Leader board"), ("settings", "Budget and goal"), ("labels", "3 answers")):
        page.goto(f"{server.url}/#/c/{name}/{view}")
        expect(page.get_by_text(part, exact=True)).to_be_visible()
        if view == "standing":
            expect(page.get_by_text("Where models disagree")).to_be_visible()
        words.append(page.locator("main").inner_text())
    words.append(page.context.request.get(f"{server.url}/api/v1/campaigns/{name}/report").text())
    assert [len(one) > 50 for one in words] == [True] * 4
    assert [one for one in words if "accura" in one.lower()] == []
    assert json.dumps(words).count("[object") == 0


def test_a_stream_of_answers_is_begun_from_a_file_and_graded_as_it_comes(
    page: Page, server: Serving, name: str
) -> None:
    """*New campaign*, items that arrive over time, a grade for each answer: then a card for each, and no model."""
    rows = "id,text,ada,ben\n" + "".join(f"q-{place},What?,Paris {place},Lyon {place}\n" for place in range(40))
    page.goto(f"{server.url}/#/new")
    page.get_by_label("Items arrive over time").check()
    content: Any = {"name": f"{name}.csv", "mimeType": "text/csv", "buffer": rows.encode()}
    page.get_by_label("File of predictions").set_input_files(content)
    expect(page.get_by_label("Name", exact=True)).to_have_value(name)
    page.get_by_label("Ask for").select_option("grades")
    page.get_by_role("button", name="Create campaign").click()
    expect(cards(page)).to_have_count(2)
    page.wait_for_timeout(UNSEEN)
    first = item_on(page)
    page.keyboard.press("y")
    page.keyboard.press("2")
    next_item(page, first)
    campaign = mp.open_campaign(server.storage, name)
    assert (campaign.settings.ask_for, campaign.counts().labels) == ("grades", 1)
    (told,) = [one.label for one in campaign.answers() if one.label is not None]
    assert isinstance(told, mp.Label)
    assert sorted(grade for _, grade in told.grades) == [0.4, 1.0]
    page.goto(f"{server.url}/#/c/{name}/standing")
    expect(page.locator("main")).to_contain_text("mean grade")
