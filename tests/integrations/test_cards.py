"""What a notebook shows of collections, pickers, picks, results and certificates, and their pictures."""

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import modelpicker as mp

EVIL = "<script>alert(1)</script>"
TRUTH = ["yes", "no"] * 20
ROWS = [[label, "yes", None if place % 4 else label] for place, label in enumerate(TRUTH)]
NAMED = mp.ModelCollection(ROWS, TRUTH, [EVIL, "b", "c"], fields={"text": [EVIL] * 40})
DIGITS = mp.load_collection("digits")


def begun() -> mp.PoolPicker:
    pool = mp.PoolPicker(NAMED)
    pool.tell(pool.ask(1)[0], "yes")
    return pool


def streamed() -> mp.ModelPicker:
    picker = mp.ModelPicker(2)
    mp.run_stream(picker, [[0, 1]] * 50, [1] * 50)
    return picker


CARDS: dict[str, tuple[Callable[[], Any], str]] = {
    "collection": (lambda: NAMED, "accuracy on the labels"),
    "collection without labels": (lambda: mp.ModelCollection([[0, 1], [1, 1]]), "says what most models say"),
    "collection with pictures": (lambda: DIGITS, "Models, the first 12 of 58"),
    "collection of models not run": (lambda: mp.ModelCollection([[0, mp.NOT_RUN]], [0]), "items"),
    "pool without labels": (lambda: mp.PoolPicker(NAMED), "No label yet"),
    "pool with one label": (begun, "is the best so far"),
    "stream without labels": (lambda: mp.ModelPicker(3), "No label yet"),
    "stream": (streamed, "1 is the best so far"),
    "certified pick": (lambda: mp.pick(NAMED, tolerance=0.1), "Use &lt;script&gt;"),
    "pick whose budget is spent": (lambda: mp.pick(NAMED, budget=2), "budget"),
    "pick without labels": (lambda: mp.pick(NAMED, lambda _: None), "There is no pick yet."),
    "certificate": (lambda: mp.pick(NAMED, tolerance=0.1).certificate, "Proven (95% confidence)"),
    "empty certificate": (lambda: mp.ModelPicker(2).certificate(), "Not proven yet"),
    "results": (
        lambda: mp.compare(DIGITS, methods=["label-efficient"], budgets=[20], realizations=2, seed=0),
        "How often the best model was found",
    ),
}


class Tags(HTMLParser):
    """Checks that all tags are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", CARDS)
def test_a_card_says_what_matters_in_sound_html_and_runs_nothing(name: str) -> None:
    make, said = CARDS[name]
    card = make()._repr_html_()
    assert said in card
    tags = Tags()
    tags.feed(card)
    assert tags.open == []
    assert "script" not in tags.seen
    assert len(card) < 20_000


def test_cards_take_the_colours_of_the_page() -> None:
    """A notebook may be dark: text has the colour around it, and nothing has a background of its own."""
    style = NAMED._repr_html_().partition("</style>")[0]
    assert "color: inherit" in style
    assert "background: #fff" not in style
    assert "prefers-color-scheme" not in style


PICTURES: dict[str, Callable[[], Any]] = {
    "collection": lambda: DIGITS.take(np.arange(50)),
    "pick": lambda: mp.pick(NAMED, tolerance=0.1),
    "pick without labels": lambda: mp.pick(NAMED, lambda _: None),
    "stream": lambda: mp.pick(NAMED, setting="stream"),
    "results": CARDS["results"][0],
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_show_themselves_in_a_notebook(name: str) -> None:
    figure = PICTURES[name]().plot()
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert all(axes.get_xlabel() or axes.get_title() or axes.images for axes in figure.axes[:1])
