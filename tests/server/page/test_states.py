"""Every state of a campaign in every view, for every role: the same words, all of them true, and one next step."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

import modelpicker as mp
from modelpicker.campaigns import Campaign
from tests.server.page.conftest import signed_in
from tests.server.page.desks import campaign_of, messages
from tests.server.page.serving import Serving

TWO = ["bert", "gpt"]
# What was said in some state in which it was false.
NEVER = ("needed no label", "All done for now", "You can stop now", "understated", "within 0 %", "fewest labels")


def new(storage: str) -> Campaign:
    """No item has come."""
    return mp.create_campaign(storage, "new", models=TWO)


def agreed(storage: str) -> Campaign:
    """Items have come, and none was asked about: the models say the same."""
    campaign = mp.create_campaign(storage, "agreed", models=TWO)
    campaign.ask_many([["spam", "spam"]] * 5)
    return campaign


def waiting(storage: str) -> Campaign:
    """Some labels are there, others are awaited."""
    campaign = campaign_of(storage, "waiting", messages(5))
    campaign.tell(0, "spam")
    return campaign


def certified(storage: str) -> Campaign:
    """The pick is certified, and a query waits all the same."""
    campaign = mp.create_campaign(
        storage,
        "certified",
        models=TWO,
        stop_when=mp.Certified(gap=0.05, kind="stream"),
        options={"query_scale": 1e6},
    )
    for number in range(12):
        campaign.ask(["spam", "ham"], key=f"odd-{number}")
    for query in campaign.pending()[1:]:
        campaign.tell(query.id, "spam")
    while not campaign.best().certified:
        campaign.ask_many([["spam", "spam"]] * 50)
    return campaign


def won(storage: str) -> Campaign:
    """A race that is over; items came after it."""
    campaign = mp.create_campaign(storage, "won", models=TWO, algorithm="race", options={"tolerance": 0.2})
    for number in range(60):
        decision = campaign.ask(["spam", "ham"], key=f"odd-{number}")
        if decision.query:
            campaign.tell(decision.id, "spam")
    return campaign


def spent(storage: str) -> Campaign:
    """All labels of the budget are bought, and more items came."""
    campaign = mp.create_campaign(storage, "spent", models=TWO, budget=2, expected_rounds=100)
    campaign.ask_many([["spam", "ham"]] * 40)
    while queries := campaign.pending():
        campaign.tell(queries[0].id, "spam")
        campaign.ask_many([["spam", "ham"]] * 40)
    return campaign


def asked(storage: str) -> Campaign:
    """All items have come, and nothing is open."""
    campaign = mp.create_campaign(storage, "asked", models=TWO, budget=50, expected_rounds=10)
    campaign.ask_many([["spam", "ham"]] * 10)
    for query in campaign.pending():
        campaign.tell(query.id, "ham")
    return campaign


def paused(storage: str) -> Campaign:
    """Items wait, and nobody is asked."""
    campaign = campaign_of(storage, "paused", messages(4))
    campaign.tell(0, "spam")
    campaign.revise(paused=True)
    return campaign


def archived(storage: str) -> Campaign:
    """It was archived with a query open."""
    campaign = campaign_of(storage, "archived", messages(4))
    campaign.tell(0, "spam")
    campaign.revise(archived=True)
    return campaign


def finished(storage: str) -> Campaign:
    """Somebody took the result of a stream with queries open, and nothing was proven."""
    campaign = campaign_of(storage, "finished", messages(4))
    campaign.tell(0, "spam")
    campaign.finish()
    return campaign


def pool_of(storage: str, name: str, budget: int | None = None) -> Campaign:
    """Forty items: the first model is right on all, the second on half of them."""
    rows = [["spam", ("spam", "ham")[place % 2]] for place in range(40)]
    pool = mp.ModelCollection(rows, models=TWO)
    return mp.create_campaign(storage, name, pool=pool, tolerance=0.1, budget=budget)


def pool_spent(storage: str) -> Campaign:
    """All labels of a pool are bought, and the goal is not reached."""
    campaign = pool_of(storage, "pool-spent", budget=2)
    campaign.tell_many({query.id: "spam" for query in campaign.pending(2)})
    return campaign


def pool_certified(storage: str) -> Campaign:
    """The best model of a pool is proven, and questions are open."""
    campaign = pool_of(storage, "pool-certified")
    while not campaign.best().certified:
        campaign.tell(campaign.pending(3)[0].id, "spam")
    return campaign


def pool_finished(storage: str) -> Campaign:
    """Somebody took the result of a pool."""
    campaign = pool_of(storage, "pool-finished")
    while not campaign.best().certified:
        campaign.tell(campaign.pending(3)[0].id, "spam")
    campaign.finish()
    return campaign


def pool_conflicts(storage: str) -> Campaign:
    """All labels of a pool are bought, and two people disagree on each item."""
    pool = mp.ModelCollection([["spam", "ham"]] * 4, models=TWO)
    campaign = mp.create_campaign(storage, "pool-conflicts", pool=pool, tolerance=0.0, overlap=2)
    for query in campaign.pending(4):
        campaign.tell(query.id, "spam", annotator="ann")
        campaign.tell(query.id, "ham", annotator="bob")
    return campaign


STATES: dict[Callable[[str], Campaign], str] = {
    new: "running",
    agreed: "running",
    waiting: "waiting-for-labels",
    certified: "certified",
    won: "won",
    spent: "budget-spent",
    asked: "all-items-asked",
    paused: "paused",
    archived: "archived",
    finished: "finished",
    pool_spent: "budget-spent",
    pool_certified: "certified",
    pool_finished: "finished",
    pool_conflicts: "conflicts",
}
# What a headline says in each state, of which model leads and on what grounds.
HEADLINES: dict[str, str | re.Pattern[str]] = {
    "new": "No labels yet: all 2 models are level.",
    "agreed": "No labels yet: all 2 models are level.",
    "waiting": re.compile(r"(leads|are level) after 1 label on 5 items\.$"),
    "certified": re.compile(r"^bert leads, .* after 11 labels on [\d,]+ of [\d,]+ items\.$"),
    "won": re.compile(r"^bert leads, 100 points ahead of gpt, after (\d+) labels on \1 of 60 items\.$"),
    "spent": re.compile(r"^bert leads, .* after 2 labels on [\d,]+ of [\d,]+ items\.$"),
    "asked": re.compile(r"^gpt leads, .* on 10 items\.$"),
    "paused": re.compile(r"(leads|are level) after 1 label on 4 items\.$"),
    "archived": re.compile(r"(leads|are level) after 1 label on 4 items\.$"),
    "finished": re.compile(r"(leads|are level) after 1 label on 4 items\.$"),
    "pool-spent": re.compile(r"^bert leads, .* after 2 labels on 40 items\.$"),
    "pool-certified": re.compile(r"^bert leads, .* labels on 40 items\.$"),
    "pool-finished": re.compile(r"^bert leads, .* labels on 40 items\.$"),
    "pool-conflicts": re.compile(r"(leads|are level).* after 8 labels on 4 items\.$"),
}


@pytest.fixture(scope="module")
def campaigns(guarded: tuple[Serving, dict[str, str]]) -> list[Campaign]:
    """A campaign in each state."""
    made = [make(guarded[0].storage) for make in STATES]
    assert [campaign.best().state.name for campaign in made] == list(STATES.values())
    return made


def says_nothing_false(page: Page) -> None:
    said = page.locator("body").inner_text()
    assert [sentence for sentence in NEVER if sentence in said] == []


@pytest.mark.parametrize("role", ["owner", "annotator", "reader"])
def test_list_label_view_and_standing_tell_the_same_state(
    page: Page, guarded: tuple[Serving, dict[str, str]], campaigns: list[Campaign], role: str
) -> None:
    person = signed_in(page, guarded, role)
    url = person.server.url
    page.goto(url)
    page.get_by_text("1 archived campaign").click()
    for campaign in campaigns:
        card = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=campaign.name, exact=True))
        state = campaign.best().state
        over = state.over or state.name == "finished"
        expect(card.locator(".badge")).to_have_text(state.title)
        expect(card.locator(".state-line")).to_contain_text(state.reason)
        expect(card.locator(".state-line")).to_contain_text(state.next if role == "owner" else state.reason)
        main = "Standing" if over else "Label" if is_asked(campaign) else None
        shown = [word for word in ("Label", "Standing") if word == main and word in SEES[role]]
        assert [text.split()[0] for text in card.locator(".primary").all_inner_texts()] == shown
    says_nothing_false(page)
    for campaign in campaigns:
        page.goto(f"{url}/#/c/{campaign.name}/label")
        LABEL_VIEW[role](page, campaign)
        says_nothing_false(page)
        page.goto(f"{url}/#/c/{campaign.name}/standing")
        STANDING[role](page, campaign)
        says_nothing_false(page)


def is_asked(campaign: Campaign) -> bool:
    """Whether somebody who comes now is given an item."""
    return bool(campaign.best().pending) and not campaign.terms.idle


SEES = {"owner": ("Label", "Standing"), "annotator": ("Label",), "reader": ("Standing",)}


def label_view(page: Page, campaign: Campaign) -> None:
    """Who may label sees the state above the item, or in its place."""
    pick, asked = campaign.best(), is_asked(campaign)
    expect(page.locator(".state-strip .badge")).to_have_text(pick.state.title)
    waits = pick.state.name == "waiting-for-labels"  # then the item says how many, and nothing else does
    expect(page.locator(".state-strip")).to_contain_text(pick.state.title if waits else pick.state.reason)
    if campaign.settings.pool is None:
        expect(page.get_by_text(re.compile(r"\d items? (waits?|to label)"))).to_have_count(1 if asked else 0)
    elif asked:
        expect(page.locator(".progress")).to_have_text(f"0 by you, {pick.labels_used} in all")
    expect(page.get_by_role("article")).to_have_count(1 if asked else 0)
    instead = page.locator(".item-pane .empty").filter(has_text=pick.state.reason)
    expect(instead).to_have_count(0 if asked else 1)


def annotators_label_view(page: Page, campaign: Campaign) -> None:
    """The same, and what happens next, but no way to a standing that they may not see."""
    label_view(page, campaign)
    if not is_asked(campaign):
        expect(page.locator(".item-pane .empty")).to_contain_text("it appears here.")
    expect(page.get_by_role("link", name=re.compile("standing|result", re.IGNORECASE))).to_have_count(0)


def owners_label_view(page: Page, campaign: Campaign) -> None:
    """The same; the main button is the next step that the state names, unless that is to label."""
    label_view(page, campaign)
    steps = MAIN_STEPS.get(campaign.name) or MAIN_STEPS[campaign.best().state.name]
    main = page.get_by_role("main").locator(".primary")
    expect(main).to_have_text([re.compile(rf"^\s*{words}\s*$") for words, _ in steps])
    for _, view in steps:
        if view:
            expect(main).to_have_attribute("href", f"#/c/{campaign.name}/{view}")


MAIN_STEPS = {
    "running": [("Add predictions", "files")],
    "waiting-for-labels": [],
    "certified": [("Finish", "")],
    "won": [("Finish", "")],
    "finished": [("Report", "")],
    "pool-spent": [("Ask about 10 more", "")],
    "budget-spent": [("See the standing", "standing")],
    "all-items-asked": [("See the standing", "standing")],
    "conflicts": [("Settle conflicts", "labels")],
    "paused": [("Resume it", "settings")],
    "archived": [("Restore it", "settings")],
}


def readers_label_view(page: Page, _: Campaign) -> None:
    """Who may not label is told why."""
    expect(page.get_by_role("heading", name="You can read, but not label")).to_be_visible()


def standing(page: Page, campaign: Campaign) -> None:
    """The state, its reason, its next step; the headline is about the items that it is about."""
    pick = campaign.best()
    summary = page.locator(".summary")
    expect(summary.locator(".badge")).to_have_text(pick.state.title)
    expect(summary.locator(".state-line")).to_contain_text(f"{pick.state.reason} {pick.state.next}")
    expect(summary.locator(".headline")).to_have_text(HEADLINES[campaign.name])
    expect(summary.locator(".certificate")).to_have_text(pick.certificate.sentence)
    left = pick.labels_saved - pick.skipped
    expect(summary.get_by_text("not asked about")).to_have_count(1 if left else 0)
    expect(page.get_by_text("Gaps are about")).to_have_count(
        1 if pick.weighted and pick.labels_used and pick.covered < pick.rounds else 0
    )


def owners_standing(page: Page, campaign: Campaign) -> None:
    """The main button is the next step: to label, or to take the result."""
    standing(page, campaign)
    pick = campaign.best()
    idle = {"paused": ["Resume it"], "archived": ["Restore it"]}.get(pick.state.name, [])
    main = ["Finish"] if pick.state.over else ["Label the next item"] if is_asked(campaign) else idle
    if pick.state.name == "finished":
        main = ["Report"]
    if pick.state.name == "conflicts":
        main = ["Settle conflicts"]
    if campaign.name == "pool-spent":
        main = ["Ask about 10 more"]
    expect(page.locator(".summary .primary")).to_have_text([re.compile(rf"^\s*{words}\s*$") for words in main])
    expect(page.get_by_role("link", name="Label more")).to_have_count(1 if pick.state.over and pick.pending else 0)


def readers_standing(page: Page, campaign: Campaign) -> None:
    """Nothing to do but to read: the standing, and the report."""
    standing(page, campaign)
    expect(page.locator(".summary .actions > *")).to_have_count(1)
    expect(page.locator(".summary a")).to_have_text([re.compile(r"^\s*Report\s*$")])
    expect(page.get_by_text("You are signed in as a reader")).to_be_visible()


def annotators_standing(page: Page, campaign: Campaign) -> None:
    """They are sent back to the items."""
    expect(page).to_have_url(re.compile(rf"#/c/{campaign.name}/label$"))


LABEL_VIEW = {"owner": owners_label_view, "annotator": annotators_label_view, "reader": readers_label_view}
STANDING = {"owner": owners_standing, "annotator": annotators_standing, "reader": readers_standing}
