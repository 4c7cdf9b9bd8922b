"""The labelling widget: its engine, and its JavaScript in a real browser."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import modelpicker as mp
from modelpicker.integrations import label_widget
from modelpicker.integrations.label_widget import LabelWidget

TRUTH = ["ham", "spam"] * 40
TEXTS = [f"<i>mail</i> {place}" for place in range(80)]
ROWS = [[label, "ham"] for label in TRUTH]
MAILS = mp.ModelCollection(ROWS, models=["good", "lazy"], fields={"text": TEXTS})


def pressed(widget: LabelWidget, **message: Any) -> None:
    """What the browser sends."""
    widget._handle_custom_msg(message, [])  # as ipywidgets calls it


def test_it_asks_until_the_pick_is_proved() -> None:
    widget = LabelWidget(MAILS, tolerance=0.05)
    while widget.item is not None:
        pressed(widget, item=widget.item, label=TRUTH[widget.item])
    assert widget.pick.model == "good"
    assert widget.pick.certified
    assert len(widget.labels) == widget.pick.labels_used < 60
    assert "Use good." in widget.shown["card"]


def test_it_is_the_same_engine_as_that_of_a_pool() -> None:
    widget, pool = LabelWidget(MAILS, seed=3), mp.PoolPicker(MAILS, seed=3)
    for _ in range(5):
        (item,) = pool.ask(1)
        assert widget.item == item
        pool.tell(item, TRUTH[item])
        widget.tell(item, TRUTH[item])


def test_undo_takes_the_last_answer_back_and_asks_the_same_again() -> None:
    widget = LabelWidget(MAILS)
    first, *_ = seen = [widget.item]
    for _ in range(3):
        assert widget.item is not None
        widget.tell(widget.item, "ham")
        seen.append(widget.item)
    pressed(widget, undo=True)
    assert widget.item == seen[2]
    assert list(widget.labels) == seen[:2]
    for _ in range(9):
        widget.undo()
    assert (widget.item, widget.labels) == (first, {})


def test_answers_can_be_used_again() -> None:
    widget = LabelWidget(MAILS)
    for label in ("ham", None, "spam"):
        assert widget.item is not None
        widget.tell(widget.item, label)
    again = LabelWidget(MAILS, labels=widget.labels)
    assert (again.item, again.labels) == (widget.item, widget.labels)
    assert again.pick.skipped == 1


def test_a_journal_keeps_every_answer_and_the_next_widget_goes_on(tmp_path: Path) -> None:
    journal = tmp_path / "mails.pool.jsonl"
    widget = LabelWidget(MAILS, journal=journal)
    for _ in range(4):
        pressed(widget, item=widget.item, label="ham")
    pressed(widget, item=widget.item, label=None)
    pressed(widget, undo=True)
    again = LabelWidget(MAILS, journal=journal)
    assert (again.item, again.labels) == (widget.item, widget.labels)
    assert len(again.labels) == 4
    assert mp.load_collection(saved(tmp_path), journal).labelled == 4
    pressed(again, item=again.item, label="spam")
    pressed(widget, item=widget.item, label="ham")
    assert "has other answers by now" in widget.shown["error"]
    assert len(widget.labels) == 4
    with pytest.raises(mp.ConflictError, match="other items or other predictions"):
        LabelWidget(MAILS.take(range(10)), journal=journal)
    with pytest.raises(mp.ConflictError, match="Pass the options that it was started with"):
        LabelWidget(MAILS, journal=journal, seed=8)
    with pytest.raises(mp.InputError, match="leave labels out"):
        LabelWidget(MAILS, journal=journal, labels=widget.labels)


def saved(folder: Path) -> Path:
    MAILS.save(folder / "mails.parquet")
    return folder / "mails.parquet"


def test_an_answer_that_cannot_be_written_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    widget = LabelWidget(MAILS, journal=tmp_path / "mails.pool.jsonl")
    pressed(widget, item=widget.item, label="ham")
    item = widget.item

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("modelpicker.campaigns.pool_journal.os.fsync", full)
        pressed(widget, item=item, label="ham")
    assert "No space left" in widget.shown["error"]
    assert (widget.item, len(widget.labels)) == (item, 1)
    pressed(widget, item=item, label="ham")
    assert len(LabelWidget(MAILS, journal=tmp_path / "mails.pool.jsonl").labels) == 2


@pytest.mark.parametrize("loss", ["grades", "preference"])
def test_what_the_widget_cannot_ask_for_is_refused(loss: str) -> None:
    with pytest.raises(mp.InputError, match="the widget asks for classes"):
        LabelWidget(MAILS, loss=loss)


def test_a_double_click_counts_once_and_a_budget_ends_it() -> None:
    widget = LabelWidget(MAILS, budget=2)
    item = widget.item
    for _ in range(2):
        pressed(widget, item=item, label="ham")
    assert len(widget.labels) == 1
    pressed(widget, item=widget.item, label="ham")
    assert widget.item is None
    with pytest.raises(mp.InputError, match="no more labels are needed"):
        widget.tell(0, "ham")


def test_whole_numbers_stay_whole_numbers_and_wrong_ones_are_said() -> None:
    widget = LabelWidget(mp.ModelCollection([[0, 1]] * 30))
    pressed(widget, item=widget.item, label="x")
    assert "'x' is not one of the classes" in widget.shown["error"]
    pressed(widget, item=widget.item, label="1")
    assert list(widget.labels.values()) == [1]
    assert widget.shown["error"] == ""


def test_with_many_classes_it_offers_what_models_say_of_the_item() -> None:
    widget = LabelWidget(mp.ModelCollection([[f"c{place}", "c0"] for place in range(50)]))
    assert len(widget.shown["classes"]) == 2
    assert widget.shown["typed"]
    pressed(widget, item=widget.item, label="something else")
    assert list(widget.labels.values()) == ["something else"]


PAGE = """
import widget from "data:text/javascript;base64,%s";
window.state = %s;
const model = {
  get: (name) => window.state[name],
  send: (message) => window.press(JSON.stringify(message)),
  on: (_, draw) => { window.draw = draw; },
  off: () => {},
};
widget.render({ model, el: document.body });
"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        yield context.new_page()


def shown_in(page: Page, widget: LabelWidget) -> None:
    """Show a widget in a browser: its own JavaScript, and messages that go to the kernel and back."""
    import base64

    folder = Path(label_widget.__file__).parent
    code = base64.b64encode((folder / "label_widget.js").read_bytes()).decode()

    def press(message: str) -> None:
        pressed(widget, **json.loads(message))

    page.expose_function("press", press)
    page.set_content("<!doctype html><body>")
    page.add_style_tag(path=str(folder / "label_widget.css"))
    page.add_script_tag(type="module", content=PAGE % (code, json.dumps({"shown": widget.shown})))
    page.wait_for_selector(".mp-label")


def drawn(page: Page, widget: LabelWidget) -> None:
    page.evaluate("shown => { window.state = {shown}; window.draw(); }", widget.shown)


def test_classes_of_one_letter_are_their_own_keys(page: Page) -> None:
    widget = LabelWidget(mp.ModelCollection([[0, 1]] * 30))
    shown_in(page, widget)
    page.focus(".mp-label")
    page.keyboard.press("0")
    page.keyboard.press("7")
    assert list(widget.labels.values()) == [0]


def test_somebody_labels_with_mouse_and_keys_and_sees_the_pick(page: Page) -> None:
    widget = LabelWidget(MAILS, tolerance=0.05)
    shown_in(page, widget)
    assert widget.item is not None
    assert TEXTS[widget.item] in page.inner_text(".mp-label")  # as text, not as markup
    page.get_by_role("button", name=TRUTH[widget.item]).click()
    assert len(widget.labels) == 1
    drawn(page, widget)
    page.focus(".mp-label")
    page.keyboard.press("u")
    drawn(page, widget)
    assert widget.labels == {}
    for _ in range(60):
        if widget.item is None:
            break
        page.keyboard.press("1" if TRUTH[widget.item] == "ham" else "2")
        drawn(page, widget)
    assert widget.pick.model == "good"
    assert "Use good." in page.inner_text(".mp-card")
