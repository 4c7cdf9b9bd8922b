"""Labelling in a notebook: a widget that shows the item most worth a label, and the pick so far."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from modelpicker.extras import require

require("notebook")

import anywidget
import traitlets

from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.validation import check_count
from modelpicker.campaigns.input.judges import fields_at
from modelpicker.campaigns.pool_journal import PoolAnswer, PoolJournal
from modelpicker.campaigns.results.pick import Pick
from modelpicker.campaigns.results.pool_pick import make_pool_pick
from modelpicker.collections import ModelCollection
from modelpicker.encoding import ClassName
from modelpicker.errors import ConflictError, InputError, ModelPickerError, brief
from modelpicker.label import Label
from modelpicker.losses import GRADES, PREFERENCE

# Classes that have a button; where there are more, one can be typed.
MOST_BUTTONS = 20


class LabelWidget(anywidget.AnyWidget):
    """Shows one item after the other and takes your labels, until the pick is proven.

    Args:
        source: a collection, a data frame, or anything else that `ModelCollection` takes.
        classes: what to offer; by default what the models say.
        budget: at most this many labels are asked for.
        labels: labels that you gave before, by item: what another widget's `labels` has.
        journal: a file that keeps your answers (`mails.pool.jsonl`): each is on the disk before the next question.
            If it is there already, you continue with the answers in it. It can be passed as `labels=` elsewhere.
        options: of the `PoolPicker`: `tolerance`, `confidence`, `seed`, `loss`, `price`, `judge`, …
    """

    _esm = Path(__file__).with_name("label_widget.js")
    _css = Path(__file__).with_name("label_widget.css")
    shown = traitlets.Dict().tag(sync=True)
    """What the browser shows."""

    def __init__(
        self,
        source: object,
        *,
        classes: list[ClassName] | None = None,
        budget: int | None = None,
        labels: Mapping[int, ClassName | None] | None = None,
        journal: str | Path | None = None,
        **options: Any,
    ) -> None:
        if options.get("loss") in (GRADES, PREFERENCE):
            raise InputError(
                f"loss={options['loss']!r}: the widget asks for classes. Use mp.PoolPicker with mp.Label, or a "
                "campaign with ask_for=.",
                parameter="loss",
            )
        self.collection = source if isinstance(source, ModelCollection) else ModelCollection(source)
        self.offered = list(self.collection.classes if classes is None else classes)
        self.budget = None if budget is None else check_count("budget", budget)
        self._options = options
        self._answers: dict[int, ClassName | None] = {}
        self._error = ""
        self.pool = self._new_pool()
        for item, label in (labels or {}).items():
            self._take(item, label)
        self.journal = None if journal is None else Path(journal)
        if self.journal is not None:
            self._go_on(self.journal)
        super().__init__()
        self.on_msg(self._receive)
        self._show()

    @property
    def labels(self) -> dict[int, ClassName | None]:
        """Your labels by item, in the order in which you gave them; None where you could not tell."""
        return dict(self._answers)

    @property
    def pick(self) -> Pick:
        """The best model so far, and how certain that is."""
        skipped = sum(label is None for label in self._answers.values())
        return make_pool_pick(self.pool, budget=self.budget, skipped=skipped, spent=self._spent)

    @property
    def item(self) -> int | None:
        """The item that is shown; None if no more labels are needed."""
        if self.pool.done or self._spent:
            return None
        asked = self.pool.open_items or self.pool.ask(1)
        return asked[0] if asked else None

    @property
    def _spent(self) -> bool:
        return self.budget is not None and self.pool.labels_used >= self.budget

    def tell(self, item: int, label: ClassName | None) -> None:
        """Label an item, as the buttons do; None if you cannot tell."""
        self._answer(item, label)
        self._show()

    def undo(self) -> None:
        """Take the last answer back."""
        if self._answers:
            if self.journal is not None:
                with self._opened(self.journal) as journal:
                    journal.undo()
            self._drop_last()
        self._show()

    def _drop_last(self) -> None:
        """All answers except the last one, told to a new pool."""
        kept = list(self._answers.items())[:-1]
        self.pool, self._answers = self._new_pool(), {}
        for item, label in kept:
            self._take(item, label)

    def _new_pool(self) -> PoolPicker:
        bare = self.collection
        bare = ModelCollection.of_codes(bare.predictions, None, bare.models, bare.classes, bare.fields)
        return PoolPicker(bare, **self._options)

    def _take(self, item: int, label: ClassName | None) -> None:
        """Ask the pool first: it must draw the same items when the answers are played again."""
        if item in self._answers:
            raise InputError(f"item {item} is labelled already; undo() takes the last answer back.")
        if self.item is None:
            raise InputError(f"item {brief(item)}: no more labels are needed.")
        self.pool.tell(item, label)
        self._answers[item] = label

    def _answer(self, item: int, label: ClassName | None) -> None:
        """Take an answer that somebody gives now: it is told to the pool once it is on the disk."""
        if self.journal is None:
            self._take(item, label)
            return
        with self._opened(self.journal) as journal:
            self._take(item, label)
            try:
                journal.write(PoolAnswer(item, label, time=time.time()))
            except ModelPickerError:
                self._drop_last()
                raise

    def _go_on(self, path: Path) -> None:
        """Begin the journal, or take the answers that are in it."""
        with PoolJournal.opened(path) as journal:
            if journal.header is None:
                journal.begin(
                    {
                        "file": path.name,
                        "items": len(self.collection),
                        "models": list(self.collection.models),
                        "fingerprint": self.collection.fingerprint,
                    }
                )
                journal.write(*(PoolAnswer(item, label) for item, label in self._answers.items()))
                return
            if journal.header.get("fingerprint") != self.collection.fingerprint:
                raise ConflictError(
                    f"{path} has answers about other items or other predictions; name another journal."
                )
            if self._answers:
                raise InputError(f"{path} has answers already; leave labels out to continue with them.")
            for answer in journal.answers:
                self._take_again(path, answer)

    def _take_again(self, path: Path, answer: PoolAnswer) -> None:
        if isinstance(answer.label, Label):
            raise InputError(f"{path} has grades or preferences, and the widget asks for classes.")
        if not answer.known and self.item != answer.item:
            raise ConflictError(
                f"{path}: item {answer.item} was asked about, but now another one would be: with other options, or "
                "by another version. Pass the options that it was started with, or name another journal."
            )
        self._take(answer.item, answer.label)

    @contextmanager
    def _opened(self, path: Path) -> Iterator[PoolJournal]:
        """The journal, if it holds what was answered here and nothing else."""
        with PoolJournal.opened(path) as journal:
            if [(one.item, one.label) for one in journal.answers] != list(self._answers.items()):
                raise ConflictError(
                    f"{path} has other answers by now; make the widget again to continue with them."
                )
            yield journal

    def _receive(self, _: Any, message: Any, __: Any) -> None:
        """What somebody pressed; an item that is no longer shown was pressed twice."""
        self._error = ""
        try:
            if message.get("undo"):
                self.undo()
                return
            if message.get("item") == self.item:
                self._answer(message["item"], self._read(message.get("label")))
        except ModelPickerError as error:
            self._error = str(error)
        self._show()

    def _read(self, label: str | None) -> ClassName | None:
        """A class as it was offered: the browser sends text."""
        if label is None:
            return None
        known = {str(name): name for name in self.offered}
        if label in known or not self.offered or isinstance(self.offered[0], str):
            return known.get(label, label)
        raise InputError(f"{brief(label)} is not one of the classes, which are whole numbers.")

    def _show(self) -> None:
        item = self.item
        many = len(self.offered) > MOST_BUTTONS
        self.shown = {
            "item": item,
            "fields": {} if item is None else _readable(fields_at(self.collection, item)),
            "classes": self._candidates(item)
            if many and item is not None
            else [str(name) for name in self.offered],
            "typed": many,
            "answered": len(self._answers),
            "last": str(list(self._answers.values())[-1]) if self._answers else None,
            "to_go": self._to_go(),
            "error": self._error,
            "card": self.pick._repr_html_() if item is None else "",
        }

    def _candidates(self, item: int) -> list[str]:
        """What models say about an item, in the order of the classes, which says nothing about the models."""
        said = {code for code in self.collection.predictions[item].tolist() if code >= 0}
        return [str(self.collection.classes[code]) for code in sorted(said)][:MOST_BUTTONS]

    def _to_go(self) -> str:
        found = self.pool.labels_to_go()
        return "" if found is None or self.pool.done else found.words


def _readable(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
