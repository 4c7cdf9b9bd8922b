"""`pick`: the best model of one collection, as a pool or as a stream; and how a stream is played."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from modelpicker.algorithms import Algorithm, Trace, run_stream
from modelpicker.algorithms.pools.picker import PoolPicker
from modelpicker.algorithms.registry import AlgorithmChoice, find_algorithm, make_algorithm
from modelpicker.algorithms.told_labels import check_answers, losses_by, tell
from modelpicker.algorithms.validation import check_count
from modelpicker.campaigns.input.judges import fields_at, judge_reading, names_at, with_judge_apart
from modelpicker.campaigns.offline_large import refuse_with_engine, scan_items, with_told
from modelpicker.campaigns.offline_pool import (
    AskLabel,
    ask_pool,
    find_loss,
    find_price,
    give_labels,
    graded_items,
    known_grades,
    known_places,
    look_up_pool,
    use_answers,
)
from modelpicker.campaigns.pick_setting import Setting, choose_setting
from modelpicker.campaigns.pool_costs import PoolCosts, check_priced
from modelpicker.campaigns.results.assembly import Counted, PickEvidence, Wanted, assemble
from modelpicker.campaigns.results.course import Course, joined
from modelpicker.campaigns.results.pick import Pick
from modelpicker.campaigns.setting_options import refuse_judge_of_stream
from modelpicker.campaigns.slicing import SliceChoice, fields_with_slice, make_pool
from modelpicker.campaigns.storage.sqlite_files import is_sqlite
from modelpicker.certificates.certificate import CertificateKind, Certified
from modelpicker.certificates.stop_rule import GAP, LABEL_NOISE
from modelpicker.collections import ModelCollection
from modelpicker.collections.collection import read_missing
from modelpicker.collections.column_name_hints import IDENTITIES
from modelpicker.collections.column_roles import Reading
from modelpicker.collections.files import open_with
from modelpicker.collections.label_checks import listed_models
from modelpicker.collections.labels import add_labels, is_result
from modelpicker.collections.same_answers import SameAnswer, SameAnswers, merge_answers
from modelpicker.collections.spelling import EXACT
from modelpicker.collections.wide_tables import CollectionReader
from modelpicker.encoding import Array, ClassName, Missing, Row, check_missing
from modelpicker.errors import InputError, brief
from modelpicker.experiments.engines import EngineName, Workforce
from modelpicker.kernels.primitives import ABSTAINED, NOT_RUN, Floats
from modelpicker.label import Label, read_label
from modelpicker.losses import Loss

# Rounds that are played together, so that somebody may watch.
PIECE = 2**14
# What counts as certified where nobody named a goal: within 1 %.
USUAL_GAP = 0.01

USUAL_ALGORITHM = "model-picker"

CollectionSource: TypeAlias = ModelCollection | CollectionReader


@dataclass(frozen=True)
class Goal:
    """When to stop, and what to tell in the end."""

    budget: int | None
    stop_when: Certified | None
    usual: Certified
    """What certificate is told where there is no goal."""
    label_noise: float = 0.0
    """The probability that a label is wrong, at most."""


def make_goal(
    kind: type[Algorithm],
    options: Mapping[str, Any],
    *,
    budget: int | None,
    tolerance: float | None,
    confidence: float,
    certificate: CertificateKind | None,
    label_noise: float = 0.0,
) -> tuple[Goal, dict[str, Any]]:
    """The goal, and the options of the algorithm: one that stops by itself takes the tolerance as its own."""
    given, noise = dict(options), float(LABEL_NOISE.check(label_noise))
    if budget is not None:
        budget = check_count("budget", budget)
    if kind.stops:
        given = {"confidence": confidence, **({} if tolerance is None else {"tolerance": tolerance}), **given}
        usual = Certified(USUAL_GAP, float(given["confidence"]), certificate or "population")
        return Goal(budget, None, usual, noise), given
    usual = Certified(USUAL_GAP, confidence, certificate or "stream")
    rule = None if tolerance is None else Certified(tolerance, confidence, certificate or "population")
    return Goal(budget, rule, rule or usual, noise), given


@dataclass
class Run:
    """A collection being played: how far it has come, and why it stopped."""

    source: CollectionSource
    picker: Algorithm
    goal: Goal
    order: Array | None = None
    """The order of the items, where it is not that of the source."""
    play_unlabelled: bool = False
    """Whether items without a label are played: asking about one is a skip."""
    missing: Missing = "abstained"
    """What an abstention of the source stands for: where `missing` was not said when it was read."""
    stopped: str = "end"
    unanswered: list[int] = field(default_factory=list)
    """Rounds whose label was asked for and is not there, in order."""
    labelled: dict[int, Floats] = field(default_factory=dict)
    """Rounds whose label was bought, with what it says about every model, where models are dropped."""
    course: list[Course] = field(default_factory=list)
    """Who was recommended, in the pieces that were played."""
    codes: dict[ClassName, int] = field(default_factory=dict)
    """The code of every class: of those of the source, then of others that labels or the loss name."""

    @property
    def to_play(self) -> int:
        """How many items there are to play."""
        return len(self.source) if self.play_unlabelled else known_labels(self.source)

    def play(self) -> Iterator[tuple[Trace, ModelCollection, Array]]:
        """Play on, piece by piece: what was decided, of which items, and where those are in the source."""
        for piece, places in self._pieces():
            budget = self.goal.budget
            left = None if budget is None else budget - self.picker.labels_used
            labels = np.full(len(piece), ABSTAINED) if piece.labels is None else np.asarray(piece.labels)
            rows = self._said(piece.predictions)
            rule, noise = self.goal.stop_when, self.goal.label_noise
            trace = run_stream(self.picker, rows, labels, budget=left, stop_when=rule, label_noise=noise)
            self._note(trace, rows, labels)
            self.stopped = trace.stopped
            yield trace, piece, places
            if trace.stopped != "end":
                return

    def _said(self, codes: Array) -> Array:
        """What models said, with a code of its own where one was not run."""
        return codes if self.missing == "abstained" else np.where(codes == ABSTAINED, NOT_RUN, codes)

    def _note(self, trace: Trace, rows: Array, labels: Array) -> None:
        """Note what the labels say that were bought, and which of those that were asked for are missing."""
        first = self.picker.rounds - len(trace)
        self.course.append(self._course_of(trace, labels))
        for place in np.flatnonzero(trace.queried).tolist():
            if labels[place] == ABSTAINED:
                self.unanswered.append(first + place)
            elif self.picker.drops:
                self.labelled[first + place] = self._losses_by(labels[place], rows[place])

    def _losses_by(self, label: object, row: Array) -> Floats:
        """What a label says about every model."""
        said = Row(row.tolist(), list(range(int(row.max()) + 1)))
        return losses_by(tell(label, said, self.picker.loss, "label"), row)

    def _course_of(self, trace: Trace, labels: Array) -> Course:
        """Who was recommended when each label came, and at the end; ties may be broken again each round."""
        if not len(trace):
            return Course((), ())
        told = np.cumsum(trace.queried & (labels[: len(trace)] != ABSTAINED))
        before = self.picker.labels_used - int(told[-1]) + np.concatenate([[0], told[:-1]])
        ends = np.append(np.flatnonzero(before[1:] != before[:-1]), len(trace) - 1)
        stood = trace.recommended[ends].tolist()
        return Course(tuple(before[ends].tolist()), tuple(self.picker.models[place] for place in stood))

    def _pieces(self) -> Iterator[tuple[ModelCollection, Array]]:
        """The items that are played, in pieces small enough to show progress; and where in the source they are."""
        first = 0
        for batch in self._batches():
            labels = np.full(len(batch), ABSTAINED) if batch.labels is None else np.asarray(batch.labels)
            places = np.arange(len(batch)) if self.order is None else self.order
            if not self.play_unlabelled:
                places = places[labels[places] != ABSTAINED]
            for start in range(0, len(places), PIECE):
                some = places[start : start + PIECE]
                codes = batch.predictions[some]
                yield ModelCollection.of_codes(codes, labels[some], batch.models, batch.classes), some + first
            first += len(batch)

    def _batches(self) -> Iterable[ModelCollection]:
        if self.order is None:
            return self.source.batches(fields=False)
        return [read_whole(self.source)]

    def play_all(self, watch: Callable[[Trace, ModelCollection, Array], None] | None = None) -> Pick:
        """Play all items with the labels that are known, and pick; whoever watches is shown every piece."""
        for trace, piece, places in self.play():
            if watch is not None:
                watch(trace, piece, places)
        return self.pick()

    def ask(self, ask: AskLabel) -> None:
        """Play one item after the other, and ask for each label that is wanted before the next."""
        whole = read_whole(self.source)
        places = np.arange(len(whole)) if self.order is None else self.order
        rows = self._said(whole.predictions[places])
        told = np.full(len(rows), ABSTAINED, dtype=object)  # codes, and labels that are more than a class

        def look_up(row: int) -> int | Label:
            where = f"label of item {places[row]}"
            label = read_label(ask(fields_at(whole, int(places[row]))), where)
            if label is not None:
                check_answers(label, whole.classes, where)
                told[row] = label.coded(self.code_of) if isinstance(label, Label) else self.code_of(label)
            found: int | Label = told[row]
            return found

        budget, rule, noise = self.goal.budget, self.goal.stop_when, self.goal.label_noise
        trace = run_stream(self.picker, rows, look_up, budget=budget, stop_when=rule, label_noise=noise)
        self.stopped = trace.stopped
        self._note(trace, rows, told)

    def code_of(self, name: ClassName) -> int:
        """The code of a class; one that is new gets the next."""
        return self.codes.setdefault(name, len(self.codes))

    def pick(self) -> Pick:
        """What came of it so far."""
        picker, waiting = self.picker, self.picker.open_queries
        evidence = PickEvidence(
            covered=picker.rounds,
            unanswered=sorted({*self.unanswered, *waiting}),
            counts=Counted(picker.labels_used, len(waiting), len(self.unanswered)),
            labels=[picker.labels_used] * len(picker.models),
            labelled=self.labelled,
        )
        wanted = Wanted(self.goal.budget, self.to_play, self.goal.stop_when, self.goal.usual)
        noise = self.goal.label_noise
        pick = assemble(
            picker,
            evidence,
            wanted,
            lambda _, rule: picker.certificate(rule.confidence, rule.kind, label_noise=noise),
        )
        course = joined([*self.course, Course((pick.labels_used,), (pick.model,))])
        return replace(pick, course=course.thinned())


def read_whole(source: CollectionSource) -> ModelCollection:
    """A collection in memory."""
    return source.read() if isinstance(source, CollectionReader) else source


def known_labels(source: CollectionSource) -> int:
    """How many items have a label."""
    return source.labels_known if isinstance(source, CollectionReader) else source.labelled


def shuffled(items: int, seed: int) -> Array:
    """A random order of the items, the same for the same seed."""
    return np.random.Generator(np.random.Philox(seed)).permutation(items)


def check_several(source: CollectionSource, name: str) -> None:
    """An error if there is only one model."""
    if len(source.models) < 2:
        raise InputError(f"{name} has one model, {source.models[0]}; there must be two to choose from.")


def check_can_choose(source: CollectionSource, name: str) -> None:
    """An error if a stream has nothing to choose from: one model, or several that are the same."""
    check_several(source, name)
    if any(len(group) == len(source.models) for group in source.identical):
        raise InputError(
            f"{name}: there is nothing to choose. {listed_models(source.models)} give the same answer to every "
            "item, so no label can tell them apart."
        )


def suited_options(
    source: CollectionSource, kind: type[Algorithm], budget: int | None, *, play_unlabelled: bool
) -> dict[str, Any]:
    """Options that suit a budget: one probability for all spreads it over the items on which models disagree."""
    if not kind.uniform or budget is None:
        return {}
    divided = 0
    for batch in source.batches(fields=False):
        played = np.ones(len(batch), dtype=np.bool_)
        if not play_unlabelled and batch.labels is not None:
            played = np.asarray(batch.labels) != ABSTAINED
        divided += int(((batch.predictions != batch.predictions[:, :1]).any(axis=1) & played).sum())
    return {kind.dial: min(1.0, budget / max(1, divided))}


def make_run(
    source: CollectionSource,
    kind: type[Algorithm],
    options: Mapping[str, Any],
    goal: Goal,
    *,
    seed: int,
    shuffle: bool,
    play_unlabelled: bool,
    missing: Missing = "abstained",
) -> Run:
    """A collection about to be played, and a picker with options that suit the budget."""
    suited = suited_options(source, kind, goal.budget, play_unlabelled=play_unlabelled)
    codes = {name: code for code, name in enumerate(source.classes)}
    given = dict(options)
    if "loss" in given:
        loss = Loss.of(given["loss"]).spelt_as(source.classes)
        for name in loss.classes:
            codes.setdefault(name, len(codes))
        given["loss"] = loss.coded(codes)
    picker = make_algorithm(kind, source.models, seed, suited | given, len(source.classes))
    order = shuffled(len(source), seed) if shuffle else None
    return Run(source, picker, goal, order, play_unlabelled, missing, codes=codes)


def pick(
    source: object,
    labels: object = None,
    *,
    setting: Setting | None = None,
    budget: int | None = None,
    tolerance: float | None = None,
    confidence: float = 0.95,
    kind: CertificateKind | None = None,
    algorithm: AlgorithmChoice | None = None,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    judge: object = None,
    warm: object = None,
    loss: object = None,
    price: object = None,
    label_noise: float = 0.0,
    slice: SliceChoice | None = None,  # noqa: A002 - as users say it
    shuffle: bool = False,
    play_unlabelled: bool = False,
    same: SameAnswer = EXACT,
    missing: Missing = "abstained",
    engine: EngineName | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    **reading: Any,
) -> Pick:
    """Pick the best model of a collection, buying only the labels that are needed.

    Args:
        source: a file, a folder or a pattern such as "folder/*.parquet", a collection, the name of one that ships,
            a data frame, or a mapping of arrays. If `models` are fitted estimators or functions by name: what they
            predict for (`ModelCollection.from_models`).
        labels: where labels come from. An array or a list with one label per item; a mapping from the items' ids,
            or from their places where they have no ids; a file of labels: only those that are asked for are looked
            at. The answers of an earlier pick (`NAME.pool.jsonl`, `NAME.pick.db`): a pool uses all of them. Or a
            function, which is asked for one item at a time: it gets the item's fields and its place (`item`), and
            gives a class, or None if nobody can tell. By default the source has them.
        setting: "pool": all items are there, and the one most worth a label is asked about next. The certificate
            is about exactly these items. A label that is asked for and missing counts as the worst. "stream": the
            items are played once, in their order. By default a pool, unless one of `kind`, `algorithm`, `options`,
            `shuffle` and `play_unlabelled` is given: only a stream has these.
        budget: at most this many labels are bought.
        tolerance: stop once the pick is certified to be this close to the best model: 0.01 is 1 % of accuracy, and
            what a pool aims at by default. A stream is played to its end by default.
        confidence: of the certificate.
        kind: of a stream's certificate: "population" or "stream".
        algorithm: for a stream: the name of an algorithm, or its class; by default Model Picker.
        options: its settings.
        seed: what all randomness is drawn from.
        judge: cheap labels that may be wrong, for a pool. The name of a column; a function, which gets the same as
            one for `labels`; or one class per item. A good judge saves labels; no statement depends on it.
        warm: labels that exist already and are right, for a pool: in any form that `labels` takes, but no function.
            They are all used before the first question, and are no labels bought: the pick counts them as
            `references`. Labels that may be wrong are a judge.
        loss: what mistakes cost: "accuracy" (the default), "grades", "preference", weights by class, costs by class
            and answer, or a `Loss`. "balanced" counts all classes the same, by how frequent they are among the
            labels of the source. The tolerance and the certificate are about it.
        price: what each model costs per item, by its name: the pick is then the cheapest model that is certified.
            For a pool, and for a stream with the algorithm race. "cost" or "latency": the mean that the results of
            an evaluation tool give.
        label_noise: the probability that a label is wrong, at most: the certificate allows for it, and is wider.
        slice: for a pool: also find the best model of each slice (`Pick.slices`). The name of a column, such as a
            language; a function, which gets the same as one for `labels`; or one value per item.
        shuffle: take the items of a stream in random order.
        play_unlabelled: also play items of a stream that have no label; a label that is asked for is then missing.
            By default they are left out.
        same: what counts as the same answer to an item: "exact", "normalised", a tolerance for numbers, or a
            function of two answers, as `merge_answers` has it. Labels go through the same rule.
        missing: what an empty cell stands for. "abstained": the model has no answer, which counts as wrong.
            "not-run": it was not run for this item, and nothing is known about it.
        engine: for a pool in files larger than memory: "threads" of this process, or the workers of a "dask"
            cluster, scan the files in parallel. Only items on which models differ are kept. The pick is the same.
        workers: how many; by default one per core.
        scheduler: the address of a Dask scheduler that is running.
        reading: how the source is read, as `load_collection` has it: `models`, `fields`, `label`, `id`, …

    >>> found = pick("digits", tolerance=0.05)
    >>> found.certificate.kind, found.reached
    ('pool', True)
    >>> found = pick("digits", tolerance=0.05, algorithm="race")
    >>> found.model, found.labels_used, found.reached
    ('neighbour-1', 109, True)
    """
    chosen = choose_setting(
        setting,
        {
            "kind": kind not in (None, "pool"),
            "algorithm": algorithm is not None,
            "options": options is not None,
            "shuffle": shuffle,
            "play_unlabelled": play_unlabelled,
        },
    )
    pools = PoolOptions(judge, warm, price, label_noise, slice, same)
    pools.check(chosen)
    if engine is not None or workers is not None or scheduler is not None:
        how = Workforce(engine or "threads", workers, scheduler)
        pools.check_scanned(chosen, loss)
        near = GAP.default if tolerance is None else tolerance
        goal = {"seed": seed, "confidence": confidence, "tolerance": near, "loss": loss}
        return _pick_scanned(source, labels, {**reading, "missing": missing}, how, pools, goal, budget)
    if isinstance(reading.get("models"), Mapping):
        source = ModelCollection.from_models(reading.pop("models"), source, classes=reading.pop("classes", None))
    named = dict(reading)
    if isinstance(source, ModelCollection):
        source = read_missing(source, missing)
    else:
        reading["missing"] = check_missing(missing)
        reading = judge_reading(fields_with_slice(reading, slice), judge)
    opened, labels = _open_answered(source, labels, reading, SameAnswers.of(same))
    name = brief(source) if isinstance(source, str | Path) else "the collection"
    graded = labels is None and bool(graded_items(opened))
    if graded and chosen == "stream":
        raise InputError(
            f"{name} has scores, which are grades; only a pool can use them. Leave out what makes it a stream, "
            "or pass labels=."
        )
    if not callable(labels) and not known_labels(opened) and not graded:
        raise InputError("there are no labels: pass labels=, an array, a mapping, a file, or a function to ask.")
    if chosen == "pool":
        near = GAP.default if tolerance is None else tolerance
        loss = "grades" if graded and loss is None else loss
        goal = {"seed": seed, "confidence": confidence, "tolerance": near, "loss": loss}
        whole, pool, known = pools.make(read_whole(opened), named, name, goal)
        return _pick_pool(whole, labels, pool, budget, known)
    check_can_choose(opened, name)
    found = find_algorithm(algorithm or USUAL_ALGORITHM)
    wanted, given = make_goal(
        found,
        options or {},
        budget=budget,
        tolerance=tolerance,
        confidence=confidence,
        certificate=kind,
        label_noise=label_noise,
    )
    given |= stream_costs(opened, found, loss, price)
    played = play_unlabelled or callable(labels)
    run = make_run(opened, found, given, wanted, seed=seed, shuffle=shuffle, play_unlabelled=played)
    if callable(labels):
        run.ask(labels)
        return run.pick()
    return run.play_all()


def _pick_scanned(
    source: object,
    labels: object,
    reading: Mapping[str, Any],
    how: Workforce,
    pools: "PoolOptions",
    goal: dict[str, Any],
    budget: int | None,
) -> Pick:
    """Pick from files of which only the items on which models differ are kept."""
    asked = callable(labels) or _has_kinds(labels)
    read = Reading(**{name: value for name, value in reading.items() if value is not None})
    mapped = isinstance(labels, Mapping) and not any(_is_column(value) for value in labels.values())
    items = scan_items(source, replace(read, labels_elsewhere=not (labels is None or asked or mapped)), how)
    if not asked and labels is not None:
        items = with_told(items, labels, read)
    if not asked and not items.labelled:
        raise InputError("there are no labels: pass labels=, an array, a mapping, a file, or a function to ask.")
    whole = cast("ModelCollection", items)  # as far as a pool needs it
    _, pool, _ = pools.make(whole, {}, brief(source), goal)
    if not asked:
        return look_up_pool(pool, budget)[0]
    return ask_pool(pool, whole, labels if callable(labels) else _looked_up(whole, labels), budget)


def stream_costs(source: CollectionSource, kind: type[Algorithm], loss: object, price: object) -> dict[str, Any]:
    """What mistakes and models cost, as options of an algorithm on a stream; only what is given."""
    found: dict[str, Any] = {}
    if loss is not None:
        found["loss"] = find_loss(loss, read_whole(source))
    if price is not None:
        check_priced(kind)
        found["price"] = find_price(price, read_whole(source))
    return found


@dataclass(frozen=True)
class PoolOptions:
    """What only a pool can use, except for the prices, which Race uses as well, and the noise."""

    judge: object
    warm: object
    price: object
    label_noise: float
    slice: SliceChoice | None
    same: SameAnswer

    def check(self, setting: Setting) -> None:
        """An error if a stream is to use one of them."""
        if setting == "pool":
            return
        refuse_judge_of_stream(self.judge)
        refuse_warm_of_stream(self.warm)
        if self.slice is not None:
            raise InputError("slice: only a pool can use it; leave it out, or take the items as a pool.")

    def check_scanned(self, setting: Setting, loss: object) -> None:
        """An error if something is used that needs all items in memory."""
        refuse_with_engine(
            {
                "setting='stream'": setting == "stream",
                "judge": self.judge is not None,
                "warm": self.warm is not None,
                "slice": self.slice is not None,
                "same": not SameAnswers.of(self.same).plain,
                "loss='balanced'": isinstance(loss, str) and loss == "balanced",
            }
        )

    def make(
        self, whole: ModelCollection, reading: Mapping[str, Any], name: str, goal: dict[str, Any]
    ) -> tuple[ModelCollection, PoolPicker, dict[int, ClassName]]:
        """The items without their judge, the pool of them, and the labels that exist already."""
        bare, said = with_judge_apart(whole, self.judge, self.same)
        check_several(bare, name)
        given = given_labels(bare, self.warm, self.same)
        loss = find_loss(goal["loss"], bare, given)
        costs = PoolCosts(loss)
        costs.check_spelling(bare.classes, SameAnswers.of(self.same))
        costs.check_named(bare.classes)
        goal = {**goal, "loss": loss, "judge": said}
        goal |= {"price": find_price(self.price, bare), "label_noise": self.label_noise}
        return bare, make_pool(bare, self.slice, reading, **goal), given


def _open_answered(
    source: object, labels: object, reading: Mapping[str, Any], rule: SameAnswers
) -> tuple[CollectionSource, object]:
    """The collection, and where its labels come from: what is more than one class is looked up by a function."""
    kinds, labels = (labels, None) if _has_kinds(labels) else (None, labels)
    opened = _open_labelled(source, labels, reading if rule.plain else {**reading, "same": rule.rule})
    if kinds is not None:
        labels = _looked_up(read_whole(opened), kinds)
    if callable(labels) and not rule.plain:
        labels = _told_as_answers(read_whole(opened), labels, rule)
    return opened, labels


def _told_as_answers(whole: ModelCollection, ask: AskLabel, rule: SameAnswers) -> AskLabel:
    """Ask somebody, and take what they say for the answer of a model that counts as the same."""

    def told(fields: dict[str, Any]) -> Any:
        said, answers = ask(fields), [name for name in names_at(whole, fields["item"]) if name is not None]
        if isinstance(said, Label):
            found = {rule.find(name, answers): grade for name, grade in said.grades}
            return Label(said.kind, tuple(found.items()), said.otherwise)
        return rule.find(said, answers) if isinstance(said, str | int) else said

    return told


def _has_kinds(labels: object) -> bool:
    """Whether some of the labels that are given are more than one class."""
    values = labels.values() if isinstance(labels, Mapping) else labels if isinstance(labels, list | tuple) else ()
    return any(isinstance(value, Label) for value in values)


def _looked_up(whole: ModelCollection, labels: Any) -> AskLabel:
    """Look labels up that are given for each item, by the ids of the items, or by their places without ids."""
    if not isinstance(labels, Mapping):
        if len(labels) != len(whole):
            raise InputError(f"there are {len(labels):,} labels, but {len(whole):,} items; pass one per item.")
        return lambda fields: labels[fields["item"]]
    told, identity = _by_identity(whole, labels)
    return lambda fields: told.get(str(fields["item" if identity is None else identity]))


def _open_labelled(
    source: object, labels: object, reading: Mapping[str, Any], called: str = "labels"
) -> CollectionSource:
    """The collection, with its labels, unless a function is asked for them; `called` is their name in errors."""
    read = Reading(**{name: value for name, value in reading.items() if value is not None})
    opened, merged = _with_labels(source, labels, read, called)
    return opened if merged or not read.free else merge_answers(read_whole(opened), read.same)


def _with_labels(source: object, labels: object, read: Reading, called: str) -> tuple[CollectionSource, bool]:
    """The collection, with its labels, and whether it was settled already which answers are the same."""
    asked = callable(labels)
    answers = Path(labels) if isinstance(labels, str | Path) and is_sqlite(Path(labels)) else None
    if answers is not None:
        labels = None
    mapped = isinstance(labels, Mapping) and not any(_is_column(value) for value in labels.values())
    given = None if asked or mapped else labels
    # Labels that come one by one are added before it is decided which answers are the same.
    late = mapped or answers is not None
    opened: CollectionSource
    if not isinstance(source, ModelCollection):
        opened = open_with(source, given, replace(read, same=EXACT, text=read.as_text) if late else read)
    elif isinstance(given, str | Path):
        opened = add_labels(source, given, read)
    else:
        opened = source if given is None else source.with_labels(given, check=not read.free)
    if mapped:
        opened = _with_mapping(opened, labels, called, check=not read.free)
    if answers is not None:
        from modelpicker.campaigns.file_campaign import with_answers  # which builds on this

        opened = with_answers(read_whole(opened), answers)
    return opened, not isinstance(source, ModelCollection) and not late


def refuse_warm_of_stream(warm: object) -> None:
    """Of a stream it matters how the items of labels were chosen, and nobody can tell."""
    if warm is not None:
        raise InputError(
            "warm: only a pool can use labels that exist already. A stream is about items that it has not seen, "
            "so it matters how labelled items were chosen. Leave it out, or take the items as a pool.",
            parameter="warm",
        )


def given_labels(whole: ModelCollection, warm: object, same: SameAnswer = EXACT) -> dict[int, ClassName]:
    """Labels that exist already, by item; `warm` and `same` are what `pick` takes."""
    if warm is None:
        return {}
    if callable(warm):
        raise InputError(
            "warm: pass labels that exist already (an array, a mapping or a file), not a function.",
            parameter="warm",
        )
    bare = ModelCollection.of_codes(whole.predictions, None, whole.models, whole.classes, whole.fields)
    rule = SameAnswers.of(same)
    found = read_whole(_with_labels(bare, warm, Reading(same=rule.rule), "warm")[0])
    labels = () if found.labels is None else found.labels
    given = {place: found.classes[int(labels[place])] for place in known_places(found)}
    return {place: as_models_say(whole, place, label, rule) for place, label in given.items()}


def as_models_say(whole: ModelCollection, place: int, label: ClassName, rule: SameAnswers) -> ClassName:
    """A label of an item, spelt as the models spell it where that counts as the same answer."""
    if rule.plain:
        return label
    return rule.find(label, [name for name in names_at(whole, place) if name is not None])


def _pick_pool(
    whole: ModelCollection, labels: object, pool: PoolPicker, budget: int | None, given: dict[int, ClassName]
) -> Pick:
    """The pick of a pool, which is given some labels first."""
    give_labels(pool, given)
    if callable(labels):
        return ask_pool(pool, whole, labels, budget, len(given))
    if isinstance(labels, str | Path) and is_answers(Path(labels)):
        return use_answers(pool, whole, budget, given)
    return look_up_pool(pool, budget, len(given), known_grades(whole))[0]


def is_answers(path: Path) -> bool:
    """Whether a file has the answers of an earlier pick."""
    return is_result(path) or is_sqlite(path)


def _is_column(value: object) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)


def _with_mapping(source: CollectionSource, labels: Any, called: str, *, check: bool) -> ModelCollection:
    """The collection with labels by the ids of its items, or by their places where it has none."""
    whole = read_whole(source)
    told, identity = _by_identity(whole, labels, called)
    return whole.with_labels([told.get(key) for key in _keys(whole, identity)], check=check)


def _by_identity(
    whole: ModelCollection, labels: Mapping[Any, Any], called: str = "labels"
) -> tuple[dict[str, Any], str | None]:
    """Labels by the ids of the items as text, as in a file of labels; and the field that has the ids, if any."""
    identity = next((name for name in IDENTITIES if name in whole.fields), None)
    told = {str(key): label for key, label in labels.items()}
    strange = set(told) - set(_keys(whole, identity))
    if strange:
        what = "place of an item" if identity is None else f"value of column {brief(identity)}"
        raise InputError(f"{called}: {brief(min(strange, key=str))} is no {what}.")
    return told, identity


def _keys(whole: ModelCollection, identity: str | None) -> list[str]:
    """What each item is called: its id, or its place."""
    return [str(key) for key in (range(len(whole)) if identity is None else whole.fields[identity])]
