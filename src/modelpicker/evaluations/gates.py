"""A gate for CI: may the challenger replace the champion? The proof is in docs/how-to/gate.md."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from modelpicker.certificates.certificate import check_confidence
from modelpicker.certificates.paired import first_refuted, items_to_go
from modelpicker.certificates.stop_rule import GAP
from modelpicker.certificates.wording import amount
from modelpicker.coins import check_seed
from modelpicker.encoding import check_same_kind, plain
from modelpicker.errors import InputError, brief
from modelpicker.evaluations.difference import (
    KINDS,
    Difference,
    DifferenceKind,
    draw_order,
    drawn,
    independent_items,
    pool_difference,
    population_difference,
)
from modelpicker.evaluations.paired_items import PairedItems, pair_models
from modelpicker.evaluations.score_files import pair_score_columns
from modelpicker.kernels.primitives import Floats
from modelpicker.label import Label

Verdict: TypeAlias = Literal["pass", "fail", "undecided"]
Requirement: TypeAlias = Literal["not-worse", "better"]
REQUIREMENTS: tuple[Requirement, ...] = ("not-worse", "better")
EXIT_CODES = {"pass": 0, "fail": 1, "undecided": 6}
# Futures that are played for an estimate, items that are drawn for all of them, and the most labels that are named.
PLAYS, MOST_DRAWS, MOST_TO_GO = 20, 400_000, 10_000_000
# Items that are named as the next to label.
NAMED = 1_000


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether a challenger passes, and what is proven.

    >>> import modelpicker as mp
    >>> found = mp.gate("digits", champion="svm-gaussian", challenger="svm-cubic", gap=0.02)
    >>> found.passed, found.exit_code
    (True, 0)
    """

    verdict: Verdict
    champion: str
    challenger: str
    gap: float
    require: Requirement
    of: DifferenceKind
    """What the verdict is about: exactly these items, or the population that they are a sample of."""
    confidence: float
    loss: str
    items: int
    differing: int
    """On how many items the two answer differently; with scores, on how many they are known to differ."""
    labels_needed: int
    """How many of those have no label yet."""
    not_run: int
    """On how many items one of the two was not run: they count as the worst, and no label helps."""
    challenger_wins: int
    """On how many labelled items the challenger is better, ..."""
    champion_wins: int
    """... and the champion."""
    difference: Difference
    """What the verdict rests on."""
    population: Difference | None
    """The same of items like these in general; None if the labelled items are not a random part."""
    labels_to_go: int | None
    """About how many more labels decide; None if that cannot be told. 0: it is decided."""
    label_next: tuple[object, ...]
    """The items to label next, in this order: their ids, or their places where they have none."""
    sentence: str
    notes: tuple[str, ...]
    """What the reader of the file decided, such as which score is used."""

    @property
    def passed(self) -> bool:
        """Whether the challenger is certified as good as was asked for."""
        return self.verdict == "pass"

    @property
    def exit_code(self) -> int:
        """0: it passes; 1: it fails; 6: undecided."""
        return EXIT_CODES[self.verdict]

    def document(self) -> dict[str, Any]:
        """The result for programs."""
        found = {name: getattr(self, name) for name in self.__slots__}
        return found | {
            "difference": self.difference.document(),
            "population": None if self.population is None else self.population.document(),
            "label_next": list(self.label_next),
            "notes": list(self.notes),
            "exit_code": self.exit_code,
        }

    def markdown(self) -> str:
        """A summary for a pull request."""
        marks = {"pass": "✅ passed", "fail": "❌ failed", "undecided": "❔ undecided"}
        rows = [
            ("asked for", _asked(self)),
            ("difference", f"{self.difference.estimate:+.2%}"),
            ("between", f"{self.difference.low:+.2%} and {self.difference.high:+.2%}"),
            ("items", f"{self.items:,}"),
            ("they differ on", f"{self.differing:,}"),
            ("only the challenger is better", f"{self.challenger_wins:,}"),
            ("only the champion is better", f"{self.champion_wins:,}"),
            ("labels missing", f"{self.labels_needed:,}"),
        ]
        rows += [("not run with both", f"{self.not_run:,}")] if self.not_run else []
        names = f"{_cell(self.challenger)} against {_cell(self.champion)}"
        table = "\n".join(f"| {name} | {value} |" for name, value in rows)
        more = [self.sentence, self.difference.sentence]
        if self.population is not None and self.of == "pool":
            more.append(self.population.sentence)
        said = "\n\n".join(_cell(one) for one in more)
        return f"### {marks[self.verdict]}: {names}\n\n| | |\n|---|---|\n{table}\n\n{said}\n"


def gate(
    source: object,
    champion: str,
    challenger: str,
    gap: float | None = None,
    *,
    require: Requirement = "not-worse",
    of: DifferenceKind = "pool",
    confidence: float = 0.95,
    labels: object = None,
    loss: object = None,
    scores: bool = False,
    seed: int = 0,
    **reading: Any,
) -> Gate:
    """Decide whether a challenger may replace a champion, with a proof.

    Args:
        source: a file, a data frame or a collection, as `load_collection` takes it.
        champion: the model in use.
        challenger: the model that may replace it.
        gap: how much worse the challenger may be: 0.01 is 1 % of accuracy, the default. With
            `require="better"`: how
            much better it must be, by default 0.
        require: "not-worse": the challenger is not worse by more than the gap. "better": it is better by more than
            the gap.
        of: "pool": decide about exactly these items. "population": decide about items in general, of which
            these are
            a random sample.
        confidence: the probability, at least, that a verdict is right.
        labels: a file, an array or a list of labels; or a function, which is asked about items in random order
            until
            it is decided. It gets the fields of an item and its place (`item`), and gives a label, or None.
        loss: what mistakes cost, as `pick` takes it.
        scores: the two columns hold scores from 0 to 1 (or true and false) and not answers.
        seed: of the order in which items are to be labelled. Choose it before you look at labels.
        reading: how the source is read, as `load_collection` has it.

    >>> found = gate("digits", "svm-gaussian", "svm-cubic", 0.02)
    >>> found.verdict, found.labels_to_go
    ('pass', 0)
    >>> print(found.sentence)
    PASS: svm-cubic is not worse than svm-gaussian by more than 2 points on these 1,497 items.
    """
    if require not in REQUIREMENTS:
        raise InputError(f"require {brief(require)}: pass {' or '.join(REQUIREMENTS)}.", parameter="require")
    if of not in KINDS:
        raise InputError(f"of {brief(of)}: pass {' or '.join(KINDS)}.", parameter="of")
    usual = GAP.default if require == "not-worse" else 0.0
    near = float(GAP.check(usual if gap is None else gap))
    rule = GateRule(near, require, of, check_confidence(confidence), check_seed(seed))
    if scores:
        if labels is not None or loss is not None:
            raise InputError(
                "scores say how good an answer is: leave out labels and loss, or scores.", parameter="scores"
            )
        return decide(pair_score_columns(source, str(champion), str(challenger)), rule)
    items = pair_models(source, champion, challenger, labels, loss, reading)
    if callable(labels):
        if of != "pool":
            raise InputError(
                'of="population": pass labels and not a function; only a pool is asked about item by item.'
            )
        return _ask(items, rule, labels)
    return decide(items, rule)


@dataclass(frozen=True)
class GateRule:
    """What is asked for."""

    gap: float
    require: Requirement
    of: DifferenceKind
    confidence: float
    seed: int

    @property
    def limit(self) -> float:
        """The least difference with which a challenger passes: it must be at least that, or above it."""
        return -self.gap if self.require == "not-worse" else self.gap

    def passes(self, low: float) -> bool:
        """Whether a difference that is at least `low` passes."""
        return low >= self.limit - 1e-12 if self.require == "not-worse" else low > self.limit + 1e-12

    def judge(self, low: float, high: float) -> Verdict:
        """The verdict on a difference between two limits."""
        return "pass" if self.passes(low) else "undecided" if self.passes(high) else "fail"


def decide(items: PairedItems, rule: GateRule) -> Gate:
    """The verdict on two models, and what is proven."""
    pool = pool_difference(items, rule.confidence, rule.seed)
    population = None
    try:
        population = population_difference(items, rule.confidence)
    except InputError:
        if rule.of == "population":
            raise
    used = pool if rule.of == "pool" or population is None else population
    verdict = rule.judge(used.low, used.high)
    to_go = 0 if verdict != "undecided" else labels_to_go(items, rule)
    known = items.x[~items.unknown]
    return Gate(
        verdict,
        items.champion,
        items.challenger,
        rule.gap,
        rule.require,
        rule.of,
        rule.confidence,
        items.loss.name,
        len(items),
        int((items.contested if items.whole is not None else items.x != 0.0).sum()),
        int(items.askable.sum()),
        int(items.unheard.sum()),
        int((known < 0.0).sum()),
        int((known > 0.0).sum()),
        used,
        population,
        to_go,
        _next_items(items, rule.seed) if verdict == "undecided" else (),
        _sentence(items, rule, verdict, to_go),
        items.notes,
    )


def _next_items(items: PairedItems, seed: int) -> tuple[object, ...]:
    order = draw_order(items, seed)
    places = order[items.unknown[order]][:NAMED].tolist()
    return tuple(items.ids[place] if items.ids else place for place in places)


def labels_to_go(items: PairedItems, rule: GateRule) -> int | None:
    """About how many more labels decide, if they are like those so far; None if that cannot be told."""
    error, unit = 1.0 - rule.confidence, items.loss.unit
    claim = -rule.limit / unit
    if rule.of == "population":
        x = independent_items(items)
        if not len(x):
            return None
        found = [items_to_go(x, claim, error, MOST_TO_GO), items_to_go(-x, -claim, error, MOST_TO_GO)]
        return min((one for one in found if one is not None), default=None)
    x, _ = drawn(items, rule.seed)
    if len(x) < 2 or not items.askable.any():
        return None
    lengths = [_play(items, rule, x, claim, number) for number in range(_plays(items))]
    return int(np.median(lengths))


def _plays(items: PairedItems) -> int:
    return max(3, min(PLAYS, MOST_DRAWS // max(1, int(items.contested.sum()))))


def _play(items: PairedItems, rule: GateRule, x: Floats, claim: float, number: int) -> int:
    """How many more labels decide in one possible future: labels to come are drawn from those so far."""
    missing = int(items.askable.sum())
    random = np.random.default_rng([rule.seed % 2**63, number])
    likely = np.concatenate([np.tile(x, 3), [-1.0, 0.0, 1.0]])
    future = np.concatenate([x, random.choice(likely, missing)])
    contested = int(items.contested.sum())
    total = claim * len(items)
    least, most = items.unheard_limits
    if items.counted:
        # The claims that are refuted are about whole numbers: one too many to pass, or the last that passes.
        last = math.floor(total + 1e-9) if rule.require == "not-worse" else math.ceil(total - 1e-9) - 1
        claims = ((future, last + 1.0 - most), (-future, least - float(last)))
    else:
        claims = ((future, total - most), (-future, least - total))
    error = 1.0 - rule.confidence
    ends = [first_refuted(path, bound / contested, error, contested) for path, bound in claims]
    counted = _certain_after(future, [float(bound) for _, bound in claims])
    return max(1, min([one for one in ends if one is not None] + [counted]) - len(x))


def _certain_after(future: Floats, claims: list[float]) -> int:
    """After how many labels the sum is certain to be on one side, whatever the others say."""
    done, left = np.cumsum(future), len(future) - 1 - np.arange(len(future))
    settled = (done + left < claims[0]) | (-done + left < claims[1])
    settled[-1] = True
    return int(np.argmax(settled)) + 1


def _ask(items: PairedItems, rule: GateRule, ask: Callable[[dict[str, Any]], Any]) -> Gate:
    """Ask about contested items in random order until it is decided."""
    from modelpicker.campaigns.input.judges import fields_at

    for place in _to_ask(items, rule):
        if rule.judge(*_limits(items, rule)) != "undecided":
            break
        if items.whole is not None:
            told = ask(fields_at(items.whole, place))
            label = told if isinstance(told, Label) else plain(told, f"label of item {place}")
            if label is not None and not isinstance(label, Label):
                check_same_kind(label, items.whole.classes, f"label of item {place}")
            items = items.told(place, label)
    return decide(items, rule)


def _to_ask(items: PairedItems, rule: GateRule) -> Iterator[int]:
    yield from draw_order(items, rule.seed)[items.unknown[draw_order(items, rule.seed)]].tolist()


def _limits(items: PairedItems, rule: GateRule) -> tuple[float, float]:
    found = pool_difference(items, rule.confidence, rule.seed)
    return found.low, found.high


def _asked(found: Gate) -> str:
    near = amount(found.gap, found.loss)
    if found.require == "better":
        return "better" + (f" by more than {near}" if found.gap else "")
    return f"not worse by more than {near}" if found.gap else "not worse"


def _sentence(items: PairedItems, rule: GateRule, verdict: Verdict, to_go: int | None) -> str:
    """The verdict in plain words."""
    by = f" by more than {amount(rule.gap, items.loss.name)}" if rule.gap else ""
    one, other = items.challenger, items.champion
    where = f"on these {len(items):,} items" if rule.of == "pool" else "in general"
    word = {"not-worse": "worse", "better": "better"}[rule.require]
    holds = (verdict == "pass") == (rule.require == "better")
    if verdict != "undecided":
        return f"{verdict.upper()}: {one} is {'' if holds else 'not '}{word} than {other}{by} {where}."
    more = (
        ""
        if to_go is None
        else f" About {to_go:,} more {'label' if to_go == 1 else 'labels'} would probably decide."
    )
    if not items.askable.any() and items.unheard.any() and rule.of == "pool":
        more = f" One of them was not run on {int(items.unheard.sum()):,} items: run it there."
    if to_go is None and rule.of == "population":
        more = " The difference is so close to the limit that no number of labels is likely to decide."
    return f"UNDECIDED: it is not proven yet whether {one} is {word} than {other}{by} {where}.{more}"


def _cell(text: str) -> str:
    """Text that cannot break a table of Markdown, or be HTML."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
