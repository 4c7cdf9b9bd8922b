"""Text with markup: shown as its author meant it, never as HTML, and ordinary text as it is."""

import pytest
from playwright.sync_api import Page, expect

import modelpicker as mp
from tests.server.page.desks import Desk, campaign_of
from tests.server.page.serving import Serving

MARKED = """# A complaint

The **late** parcel, *again*: see [the order](https://shop.example/a_b?c=1) or https://shop.example/x_y.

1. asked `order_id`
2. got nothing

> my first mail
> in two lines

| day | what |
|-----|------|
| Mon | **sent** |

```python
total = a * b * c
```"""
ORDINARY = """1. is what she said
- not a list
2 * 3 * 4 = 24, snake_case_name, __init__.py, f(*args, **kwargs)
*_* ^_^ >_< a*b*c **** [x] (y) # of items
>>> 1 + 1
line one
line two"""
HOSTILE = """**x<script>window.ran = true</script>** <img src=x onerror='window.ran = true'>

- [one](javascript:window.ran=true)
- [two](data:text/html,<script>window.ran=true</script>)
- [three](  https://ok.example)
- [<b>four</b>](https://elsewhere.example/"onclick="window.ran=true)

| <i>a</i> | b |
|---|---|
| [five](JAVASCRIPT:window.ran=true) | `<script>` |"""


def test_markup_is_shown_and_can_be_seen_plain(page: Page, server: Serving, name: str) -> None:
    items = [{"text": MARKED}, {"text": ORDINARY}, {"text": HOSTILE}, {"code": MARKED}]
    campaign = campaign_of(server.storage, name, items)
    campaign.revise(guidelines="Read **all** of it.")
    desk = Desk(page, server.url, name).open()
    item = desk.item.locator(".item")
    expect(item.locator(".heading")).to_have_text("A complaint")
    expect(item.locator("strong")).to_have_text(["late", "sent"])
    expect(item.locator("em")).to_have_text(["again"])
    expect(item.locator("code")).to_have_text(["order_id"])
    expect(item.locator("pre")).to_have_text("total = a * b * c")
    expect(item.locator(".points li")).to_have_text(["1.asked order_id", "2.got nothing"])
    expect(item.locator("blockquote p")).to_have_text("my first mail\nin two lines")
    expect(item.get_by_role("cell")).to_have_text(["Mon", "sent"])
    links = item.get_by_role("link")
    expect(links).to_have_text(["the order", "https://shop.example/x_y"])
    for link in links.all():
        expect(link).to_have_attribute("rel", "noreferrer noopener")
        expect(link).to_have_attribute("target", "_blank")
    expect(page.locator(".guidelines strong")).to_have_text("all")
    page.keyboard.press("m")
    expect(item.locator(".text")).to_have_text(MARKED)
    expect(page.locator(".guidelines")).to_contain_text("Read **all** of it.")
    page.reload()  # it stays as somebody chose
    expect(item.locator(".text")).to_have_text(MARKED)
    item.get_by_role("button", name="Plain text").click()
    expect(item.locator(".heading")).to_be_visible()
    desk.press("1")
    expect(item.locator(".text")).to_have_text(ORDINARY)  # as it was written, with nothing to switch
    expect(item.get_by_role("button", name="Plain text")).to_have_count(0)
    assert item.locator(".text").inner_text() == ORDINARY
    desk.press("1")
    expect(item.locator("strong")).to_have_text("x<script>window.ran = true</script>")
    expect(item).to_contain_text("<img src=x onerror='window.ran = true'>")
    assert item.locator("a").evaluate_all("links => links.map((link) => link.protocol)") == ["https:"] * 2
    assert item.locator("script, img, i, b").count() == 0
    desk.press("1")
    expect(item.locator(".code .text")).to_have_text(MARKED)  # code stays code
    assert page.evaluate("window.ran") is None


@pytest.mark.slow
def test_hostile_lengths_do_not_hang_the_page(page: Page, server: Serving, name: str) -> None:
    texts = [
        "[" * 19_000,
        "*" * 19_000,
        "*a " * 6_000 + "**",
        "> " * 9_000,
        "- a\n" * 4_000,
        "```\n" * 4_000,
        "|" + " " * 900 + "\n" + "|-" * 400,
        "\n" * 19_000 + "**end**",
        "[a](https://" * 1_500,
    ]
    campaign_of(server.storage, name, [{"text": text} for text in texts])
    desk = Desk(page, server.url, name).open()
    for number in range(len(texts)):  # a page that hangs shows no next item before the wait ends
        expect(desk.item).to_have_attribute("aria-label", f"Item msg-{number}")
        desk.press("1")
    expect(page.locator(".item-pane .empty")).to_be_visible()
    assert mp.open_campaign(server.storage, name).counts().labels == len(texts)
