"""What mistakes and models cost, and how often labels are wrong: checked, stored, shown, read again."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeGuard

from modelpicker.algorithms import ALGORITHMS, Algorithm
from modelpicker.algorithms.validation import read_price
from modelpicker.campaigns.setting_options import loss_of
from modelpicker.certificates.stop_rule import LABEL_NOISE
from modelpicker.collections.same_answers import SameAnswers
from modelpicker.collections.spelling import uniform
from modelpicker.encoding import ClassName, ModelName
from modelpicker.errors import InputError, brief
from modelpicker.losses import ACCURATE, COST, GRADES, PREFERENCE, USUAL_COST, Loss, read_loss
from modelpicker.losses import BALANCED as BALANCED_ACCURACY

# Models whose price is named in a line.
SHOWN_PRICES = 8
# The loss whose shares are typed after it.
BALANCED = "balanced"
# Prices that the file of an evaluation tool gives.
MEASURED = ("cost", "latency")


@dataclass(frozen=True)
class PoolCosts:
    """What decides beside the goal: the loss, the price of each model, and how many labels are wrong."""

    loss: Loss = ACCURATE
    price: tuple[tuple[str, float], ...] | None = None
    """By model."""
    label_noise: float = 0.0

    @classmethod
    def check(
        cls,
        loss: object,
        price: object,
        label_noise: object,
        *,
        models: Sequence[ModelName],
        ask_for: str = "class",
    ) -> Self:
        """What a user gave, or what is stored of it; an error if it is not valid.

        Args:
            loss: in any form that `Loss.of` takes, or the document of one.
            price: numbers by model, or one per model.
            label_noise: the probability that a label is wrong, at most.
            models: their names.
            ask_for: what people are asked for; grades and preferences are a loss of their own.
        """
        found = read_loss(loss) if is_loss_document(loss) else Loss.of(loss)
        if found.name in (GRADES, PREFERENCE):
            if found.name != ask_for:
                raise InputError(
                    f"loss={found.name!r}: pass ask_for={found.name!r}, so that people are asked for that.",
                    parameter="loss",
                )
            found = ACCURATE
        elif ask_for != "class" and found != ACCURATE:
            raise InputError(
                f"loss: people are asked for {ask_for}, which is a loss of its own; leave out loss or ask_for.",
                parameter="loss",
            )
        names = [str(name) for name in models]
        if isinstance(price, Mapping):
            price = {str(name): value for name, value in price.items()}
        prices = read_price(price, names)
        told = None if prices is None else tuple(zip(names, prices.tolist(), strict=True))
        return cls(found, told, float(LABEL_NOISE.check(0.0 if label_noise is None else label_noise)))

    @classmethod
    def check_stream(
        cls,
        loss: object,
        price: object,
        label_noise: object,
        *,
        models: Sequence[ModelName],
        ask_for: str,
        classes: Sequence[ClassName] = (),
    ) -> Self:
        """What a user gave for a stream: a loss that needs no labels of a file. Its classes are spelt as those."""
        if loss == "balanced":
            raise InputError(
                'loss="balanced" is found from the labels of a file, and a stream has none before it begins; say '
                'how frequent each class is: mp.Loss.balanced({"fraud": 0.01, "fine": 0.99}).',
                parameter="loss",
            )
        found = cls.check(loss, price, label_noise, models=models, ask_for=ask_for)
        return replace(found, loss=found.loss.spelt_as(classes))

    @classmethod
    def load(cls, document: Mapping[str, Any]) -> Self:
        """What `document` described; anything else in it is left alone."""
        loss, price = document.get("loss"), document.get("price")
        try:
            told = None if price is None else tuple((str(name), float(value)) for name, value in price.items())
            noise = float(document.get("label_noise") or 0.0)
        except (AttributeError, TypeError, ValueError) as error:
            raise InputError(f"price {brief(price)} or label_noise cannot be read.") from error
        return cls(ACCURATE if loss is None else read_loss(loss), told, noise)

    def document(self) -> dict[str, Any]:
        """What was given, in a form that JSON can hold; what has its default is left out."""
        return {
            **({} if self.loss == ACCURATE else {"loss": self.loss.to_json()}),
            **({} if self.price is None else {"price": dict(self.price)}),
            **({} if not self.label_noise else {"label_noise": self.label_noise}),
        }

    def goal(self, ask_for: str = "class") -> dict[str, Any]:
        """What a pool is made with. Prices are in the order of the models."""
        loss: object = self.loss if ask_for == "class" else loss_of(ask_for)
        found: dict[str, Any] = {"loss": loss}
        if self.price is not None:
            found["price"] = [price for _, price in self.price]
        return found if not self.label_noise else {**found, "label_noise": self.label_noise}

    def check_classes(self, classes: int) -> None:
        """Refuse more classes than a table of costs can hold."""
        self.loss.check_classes(classes)

    def check_named(self, classes: Sequence[ClassName]) -> None:
        """Refuse a loss of which no class occurs, or that spells one otherwise: it would not be what was meant."""
        table = self.loss.spelt_as(classes).table
        found, spelt = set(classes), {uniform(str(name)): name for name in classes}
        named = list(dict.fromkeys(name for label, row in table for name in (label, *(a for a, _ in row))))
        strange = [name for name in named if name is not None and name not in found]
        for name in strange:
            if (near := spelt.get(uniform(str(name)))) is not None:
                raise InputError(
                    f"loss: it names {brief(name)}, but the items say {brief(near)}; name the classes as they do.",
                    parameter="loss",
                )
        if strange and found and not any(name in found for name, _ in table):
            raise InputError(
                f"loss: none of the classes that it names occurs, such as {brief(strange[0])}; the items say "
                f"{brief(list(classes))}.",
                parameter="loss",
            )

    def check_spelling(self, classes: Iterable[ClassName], rule: SameAnswers) -> None:
        """Refuse costs by class where a class is spelt in several ways: each item keeps its own spelling."""
        named = [label for label, _ in self.loss.table]
        if rule.plain or not named:
            return
        for name in classes:
            if name not in named and (same := rule.find(name, named)) != name:
                raise InputError(
                    f"loss: it names {brief(same)}, and models also say {brief(name)}, which is the same answer. "
                    "With `same`, each item keeps its own spelling, so costs by class do not fit. Read the file "
                    "with normalise=True (--normalise) in place of `same`.",
                    parameter="loss",
                )

    def facts(self) -> dict[str, str]:
        """In words, by name; what has its default is left out."""
        return {name: self._told(name) for name in self.document()}

    def words(self) -> dict[str, str]:
        """The same, by names for people."""
        return {name.replace("_", " "): words for name, words in self.facts().items()}

    def _told(self, name: str) -> str:
        if name == "loss":
            return loss_in_words(self.loss)
        if name == "price":
            prices = self.price or ()
            more = f"; {len(prices) - SHOWN_PRICES:,} more models" if len(prices) > SHOWN_PRICES else ""
            return f"{', '.join(f'{model} {price:g}' for model, price in prices[:SHOWN_PRICES])} per item{more}"
        return f"each label is wrong with a probability of at most {100 * self.label_noise:g}%"

    def typed(self) -> list[str]:
        """The options of the command line that say the same."""
        return [
            word
            for name, value in self.document().items()
            for word in (f"--{name.replace('_', '-')}", value if isinstance(value, str) else json.dumps(value))
        ]


def check_priced(kind: type[Algorithm]) -> None:
    """Refuse prices for an algorithm on a stream that cannot use them."""
    if not kind.priced:
        able = ", ".join(name for name, one in ALGORITHMS.items() if one.priced)
        raise InputError(
            f"price: on a stream only {able} uses prices, not {kind.name}; choose {able}, or leave price out.",
            parameter="price",
        )


def is_loss_document(loss: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether it is what `Loss.to_json` gave, and not weights or costs."""
    return isinstance(loss, Mapping) and set(loss) == {"name", "table", "dearest", "unit"}


def loss_in_words(loss: Loss) -> str:
    """A loss with what it costs, if that is short."""
    if loss.plain:
        return loss.name
    rest = 0 if loss.name == BALANCED_ACCURACY else USUAL_COST
    if loss.name == COST:
        parts = [
            f"{cost:.4g} for {'no answer' if answer is None else f'answering {answer}'} where {label} is right"
            for label, row in loss.table
            for answer, cost in row
            if answer != label and not math.isclose(cost, rest)
        ]
        return f"mean cost per item ({_first(parts)}{rest:g} for any other mistake)"
    parts = [f"{cost:.4g} where {label} is right" for label, ((_, cost),) in loss.table if cost != rest]
    return f"{loss.name} (a mistake costs {_first(parts)}{rest:g} elsewhere)"


def _first(parts: Sequence[str]) -> str:
    """The first parts of a list that continues."""
    more = f"{len(parts) - SHOWN_PRICES:,} more costs, " if len(parts) > SHOWN_PRICES else ""
    return "".join(f"{part}, " for part in parts[:SHOWN_PRICES]) + more


def loss_from_text(text: str) -> object:
    """A loss as it is typed: its name, JSON with weights or costs by class, or `balanced` with JSON of shares."""
    name, shares = text.strip()[: len(BALANCED)], text.strip()[len(BALANCED) :].strip()
    if name == BALANCED and shares:
        return Loss.balanced(_from_json("loss", shares, 'balanced {"spam": 20, "ham": 80}'))
    return _from_json("loss", text, '{"spam": 5}') if text.lstrip().startswith(("{", "[")) else text


def price_from_text(text: str) -> object:
    """Prices as they are typed: JSON with a number for each model, or what the file says them in."""
    if text.strip() in MEASURED:
        return text.strip()
    return _from_json("price", text, '{"large": 0.03, "small": 0.002}')


def _from_json(name: str, text: str, example: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{name} {brief(text)} is not JSON ({error}); pass something like {example}.", parameter=name
        ) from error
    if not isinstance(found, dict):
        raise InputError(f"{name} {brief(text)}: pass something like {example}.", parameter=name)
    return found
