"""Notes, flags, progress and media on the labelling page, and what owners see of them."""

import base64
import io
import threading
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

import modelpicker as mp
from tests.server.page.conftest import signed_in
from tests.server.page.desks import Desk, Person, campaign_of, messages, settled, until
from tests.server.page.serving import Serving, serving


def noted(campaign: mp.Campaign) -> list[tuple[int, str, bool]]:
    """What is in the storage: item, text, flag."""
    return sorted((note.id, note.text, note.flagged) for note in campaign.notes())


def test_an_item_is_flagged_and_noted_before_and_after_its_answer(labeller: Person, name: str) -> None:
    page = labeller.page
    campaign = campaign_of(labeller.server.storage, name, messages(4))
    desk = labeller.desk(name)
    desk.press("f")
    expect(desk.status).to_have_text("Flagged msg-0.")
    expect(page.get_by_role("button", name="Flag")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("n")
    box = page.get_by_role("textbox", name="What should the owner know?")
    expect(box).to_be_focused()
    box.type("1 or 2? s")  # no key labels while somebody types
    box.press("Control+Enter")
    expect(desk.item.locator(".own-note")).to_have_text("1 or 2? s")
    settled(page)
    page.reload()
    expect(desk.item.locator(".own-note")).to_have_text("1 or 2? s")
    expect(page.get_by_role("button", name="Flag")).to_have_attribute("aria-pressed", "true")
    desk.press("1")
    desk.sees("Message number 1")
    expect(desk.item.locator(".own-note")).to_have_count(0)
    page.get_by_role("button", name="Note about msg-0").click()  # after the answer
    expect(box).to_have_value("1 or 2? s")
    box.fill("It is 1.")
    page.get_by_role("checkbox", name="Flag it").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(desk.status).to_have_text("Noted about msg-0.")
    desk.sees("Message number 1")
    page.keyboard.press("n")
    box.fill("never mind")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.context.set_offline(True)
    desk.press("f", "2")
    desk.sees("Message number 2")
    page.keyboard.press("u")
    desk.sees("Message number 1")
    expect(page.get_by_role("button", name="Flag")).to_have_attribute("aria-pressed", "true")
    page.context.set_offline(False)
    settled(page)
    assert noted(campaign) == [(0, "It is 1.", False), (1, "", True)]
    assert campaign.counts().labels == 1
    assert {str(note.by).partition("/")[0] for note in campaign.notes()} == {labeller.role}


def test_owners_find_what_was_flagged(page: Page, server: Serving, name: str) -> None:
    campaign = campaign_of(server.storage, name, messages(3))
    campaign.tell(0, "spam", annotator="mia")
    campaign.tell(1, "ham", annotator="tom")
    campaign.note(1, "<b>Is this ham?</b>", flagged=True, annotator="mia")
    campaign.note(2, flagged=True, annotator="tom")
    page.goto(f"{server.url}/#/c/{name}/labels")
    rows = page.locator(".label-row")
    expect(rows).to_have_count(2)
    expect(rows.nth(0).locator(".given-note")).to_contain_text("<b>Is this ham?</b> mia")
    page.get_by_label("Flag").select_option("flagged")
    expect(rows.nth(0)).to_contain_text("not answered")
    expect(rows.nth(0)).to_contain_text("Flagged, without a note.")
    expect(rows.nth(0).get_by_role("button", name="Take back")).to_have_count(0)
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download these as CSV").click()
    assert "True,<b>Is this ham?</b>" in saved.value.path().read_text()
    rows.nth(0).get_by_role("button", name="Answer").click()
    page.get_by_label("Right class").select_option("urgent")
    page.get_by_role("button", name="Save").click()
    expect(rows.nth(0)).to_contain_text("urgent")
    page.get_by_label("Search").fill("is this HAM")
    expect(rows).to_have_count(1)
    assert campaign.label_of(2) == "urgent"


def test_own_labels_are_counted_across_devices(
    page: Page, other_context: BrowserContext, guarded: tuple[Serving, dict[str, str]], name: str
) -> None:
    campaign = campaign_of(guarded[0].storage, name, messages(30))
    campaign.tell(29, "spam", annotator="somebody else")
    laptop = signed_in(page, guarded, "annotator").desk(name)
    progress = laptop.item.locator(".progress")
    expect(progress).to_have_text("0 by you, 29 items to label")
    laptop.press("1", "1", "s")
    expect(progress).to_have_text("2 by you, 26 items to label")
    laptop.settled()
    phone = signed_in(other_context.new_page(), guarded, "annotator").desk(name)
    expect(phone.item.locator(".progress")).to_contain_text("2 by you")
    phone.press("1")
    phone.settled()
    page.reload()
    expect(progress).to_contain_text("3 by you")
    assert campaign.labels_by("annotator") == 3


def tone() -> bytes:
    """A tenth of a second of silence."""
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(1600))
    return made.getvalue()


@contextmanager
def media_host() -> Iterator[tuple[str, list[str]]]:
    """A host of pictures and audio: its name, and what was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            kind = "image/svg+xml" if "image" in self.path else "audio/wav"
            body = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>' if "svg" in kind else tone()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{running.server_port}", asked
    running.shutdown()
    running.server_close()


def test_pictures_and_audio_come_from_allowed_hosts_only(page: Page, tmp_path: Path, name: str) -> None:
    with (
        media_host() as (host, asked),
        media_host() as (other, never),
        serving(tmp_path, "--media-host", host) as server,
    ):
        sound = "data:audio/wav;base64," + base64.b64encode(tone()).decode()
        item = {
            "audio": sound,
            "call": f"http://{host}/call.wav?x=1",
            "image": f"http://{host}/image-of-any-kind",
            "photo": f"http://{other}/image.png",
            "voice": f"http://{other}/voice.mp3",
            "link": f"http://{host}/page.html",
            "hidden": "data:text/html,<audio src=x>",
        }
        campaign_of(server.storage, name, [item, {"audio": "data:audio/wav;base64,AAAA"}])
        desk = Desk(page, server.url, name).open()
        players = desk.item.locator("audio")
        expect(players).to_have_count(2)
        for player in players.all():
            expect(player).to_have_attribute("preload", "none")
        expect(desk.item.locator("img")).to_have_count(1)
        until(page, "document.querySelector('.item img').naturalWidth === 9")
        expect(desk.item.get_by_role("link")).to_have_count(3)  # hosts that nobody allowed, and a page, are links
        assert asked == ["/image-of-any-kind"]
        for place in range(2):
            page.evaluate("(place) => document.querySelectorAll('audio')[place].play()", place)
        assert "/call.wav?x=1" in asked
        desk.press("1")
        page.evaluate("() => document.querySelector('audio').play().catch(() => undefined)")
        expect(desk.item).to_contain_text("A recording that cannot be shown.")
        assert never == []
