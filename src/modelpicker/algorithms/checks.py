"""The checks that every algorithm passes, and that whoever writes another one can run.

    for check in check_algorithm(lambda models, seed: MyAlgorithm(models, seed, my_option=0.5)):
        check()

Each check is named, runs on its own, and raises an AssertionError that says what was expected. As parameters
of a pytest test they show up one by one: `@pytest.mark.parametrize("check", check_algorithm(...), ids=str)`.
"""

import inspect
import json
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from modelpicker.algorithms.base import Algorithm, Decision
from modelpicker.algorithms.stream import Trace, run_stream
from modelpicker.algorithms.validation import Models
from modelpicker.certificates.certificate import CertificateKind
from modelpicker.certificates.evidence_kernels import evidence_kernels
from modelpicker.encoding import Array
from modelpicker.errors import ModelPickerError, RoundError
from modelpicker.kernels.primitives import FOLLOW, NOT_RUN, new_scratch
from modelpicker.label import AnyLabel, Label
from modelpicker.options import REQUIRED, Option

Factory: TypeAlias = Callable[[Models, int], Algorithm]
KINDS: tuple[CertificateKind, ...] = ("stream", "population")

MEMORY_ALLOWED = 64 * 1024  # bytes that 1,200 further rounds may cost: below a tenth of what storing them would


class Check(NamedTuple):
    """One named check of one algorithm.

    >>> import modelpicker as mp
    >>> check = next(iter(mp.check_algorithm(mp.ModelPicker)))
    >>> check()  # raises an AssertionError if the check fails
    """

    name: str
    run: Callable[[], None]

    def __call__(self) -> None:
        """Run the check."""
        self.run()

    def __str__(self) -> str:
        return self.name

    @property
    def __name__(self) -> str:
        return self.name


def check_algorithm(factory: Factory) -> Iterator[Check]:
    """The checks of the algorithm that `factory(models, seed)` makes.

    >>> import modelpicker as mp
    >>> checks = list(mp.check_algorithm(mp.ModelPicker))
    >>> checks[0].run()
    >>> len(checks) > 10
    True
    """
    for check in (
        well_formed,
        described,
        probabilities_in_range,
        recommends_the_best,
        step_equals_stream,
        state_round_trip,
        same_seed_same_decisions,
        input_untouched,
        memory_bounded,
        agreement_never_queried,
        late_labels,
        skipped_labels,
        certificates,
        abstentions,
        graded_labels,
        models_not_asked,
        names_and_codes_alike,
        errors_change_nothing,
        two_models,
        two_hundred_models,
        one_class,
    ):
        yield Check(check.__name__, partial(check, factory))


def well_formed(factory: Factory) -> None:
    """It has a name, its dial is one of its options, and it decides a round."""
    picker = factory(3, 0)
    expect(isinstance(picker, Algorithm), f"the factory made {picker!r}, which is not an Algorithm")
    expect(isinstance(getattr(picker, "name", None), str), f"{type(picker).__name__} has no name")
    state, settings = picker.start(3), picker.settings()
    row, coins = np.array([0, 1, 1], dtype=np.int32), np.full(4, 0.5)
    answer = picker.kernel.parts["decide"](state, settings, 1, row, coins, picker.scale, new_scratch(3, 3))
    expect(isinstance(answer, tuple) and len(answer) == 2, f"decide gave {answer!r}, not (probability, model)")
    expect(0.0 <= answer[0] <= 1.0, f"decide gave the probability {answer[0]!r}")
    expect(answer[1] in (FOLLOW, 0, 1, 2), f"decide gave the model {answer[1]!r}")
    expect(row.tolist() == [0, 1, 1], "decide wrote to its row")


def described(factory: Factory) -> None:
    """What it says about itself is what it takes: the same options with the same defaults, each in range."""
    kind = type(factory(3, 0))
    declared = {option.name: option for option in kind.about.options}
    taken = dict(list(inspect.signature(kind).parameters.items())[2:])
    for name in ("loss", "price"):  # what labels and models cost: no dials
        taken.pop(name, None)
    if not declared:  # then nothing is said that could be wrong
        return
    expect(list(declared) == list(taken), f"it declares {', '.join(declared)}, but takes {', '.join(taken)}")
    for name, option in declared.items():
        default = taken[name].default
        said = inspect.Parameter.empty if option.required else option.default
        expect(default == said, f"{name} is {default!r} by default, but declared as {said!r}")
        expect(bool(option.help), f"{name} has no help")
        for value in (option.default, option.usual):
            expect(value is REQUIRED or _takes(option, value), f"{name}={value!r} is not in its own range")
    texts = (kind.about.summary, kind.about.when_to_use, kind.about.promises)
    expect(all(texts), "it has options, but not all of summary, when_to_use and promises")


def _takes(option: Option, value: object) -> bool:
    """Whether an option may have this value."""
    try:
        return bool(option.check(value) == value)
    except ModelPickerError:
        return False


def recommends_the_best(factory: Factory) -> None:
    """Where one model is always right and the others never, that one is recommended, or mostly."""
    right = np.random.default_rng(0).integers(0, 3, 400)
    predictions = np.stack([(right + 1) % 3, (right + 2) % 3, right], axis=1)
    found = [run_stream(factory(3, seed), predictions, right).winner == 2 for seed in range(15)]
    expect(sum(found) > 7, f"a perfect model was recommended in {sum(found)} of {len(found)} streams")


def step_equals_stream(factory: Factory) -> None:
    """One round at a time and a whole stream agree to the last bit."""
    for seed in range(3):
        predictions, labels = make_stream(seed, rounds=300, models=7, classes=4, abstaining=0.1, skipped=0.1)
        compare_speeds(factory, 7, seed, predictions, labels)


def state_round_trip(factory: Factory) -> None:
    """Saved as JSON in mid-stream and restored, a picker continues as if nothing had happened."""
    predictions, labels = make_stream(1, rounds=200, models=6, classes=3)
    for cut in (0, 1, 77):
        straight, broken = factory(6, 1), factory(6, 1)
        play(straight, predictions[:cut], labels[:cut])
        play(broken, predictions[:cut], labels[:cut])
        late = [broken.observe(row) for row in predictions[cut : cut + 20]]
        for row in predictions[cut : cut + 20]:
            straight.observe(row)
        restored = type(broken).from_state_dict(json.loads(json.dumps(broken.state_dict())))
        for decision in late:
            if decision.query:
                straight.learn(decision.round, int(labels[decision.round]))
                restored.learn(decision.round, int(labels[decision.round]))
        rest = slice(cut + 20, None)
        same_decisions(
            play(straight, predictions[rest], labels[rest]), play(restored, predictions[rest], labels[rest])
        )
        same_state(straight, restored)


def same_seed_same_decisions(factory: Factory) -> None:
    """A picker is a function of its seed and its input."""
    predictions, labels = make_stream(2, rounds=200, models=5, classes=3)
    one, same = factory(5, 11), factory(5, 11)
    same_decisions(play(one, predictions, labels), play(same, predictions, labels))
    same_state(one, same)


def input_untouched(factory: Factory) -> None:
    """Neither rows nor streams nor labels are changed."""
    predictions, labels = make_stream(3, rounds=100, models=5, classes=3, abstaining=0.2)
    before = predictions.copy(), labels.copy()
    play(factory(5, 0), predictions, labels)
    run_stream(factory(5, 0), predictions, labels)
    expect(np.array_equal(predictions, before[0]), "the predictions were changed")
    expect(np.array_equal(labels, before[1]), "the labels were changed")


def memory_bounded(factory: Factory) -> None:
    """Memory depends on the models and the unanswered queries, not on the rounds gone by."""
    predictions, labels = make_stream(4, rounds=1500, models=20, classes=3)
    picker = factory(20, 0)
    evidence_kernels().warm_up()
    play(factory(20, 1), predictions, labels, keep=False)  # what is loaded or made once is no growth
    tracemalloc.start()
    try:
        play(picker, predictions[:300], labels[:300], keep=False)
        before = tracemalloc.get_traced_memory()[0]
        play(picker, predictions[300:], labels[300:], keep=False)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    expect(not picker.open_queries, "answered queries are still open")
    expect(grown < MEMORY_ALLOWED, f"1,200 rounds cost {grown} bytes of memory")


def agreement_never_queried(factory: Factory) -> None:
    """A round on which all models agree is never queried; its prediction is what they say."""
    picker = factory(4, 0)
    for row in ([2, 2, 2, 2], [0, 0, 0, 0], ["cat"] * 4, [None] * 4, [-1] * 4):
        decision = picker.observe(row)
        expect(not decision.query and decision.probability == 0.0, f"{row} was given {decision}")
        expect(decision.prediction == (row[0] if row[0] != -1 else None), f"{row} was given {decision}")


def probabilities_in_range(factory: Factory) -> None:
    """Query probabilities are probabilities, and 0 where nothing is queried for sure."""
    predictions, labels = make_stream(5, rounds=400, models=9, classes=5, abstaining=0.1)
    trace = run_stream(factory(9, 0), predictions, labels)
    expect(bool(np.isfinite(trace.probability).all()), "a probability is not finite")
    expect(bool((trace.probability >= 0.0).all() and (trace.probability <= 1.0).all()), "one is out of [0, 1]")
    expect(not bool(trace.queried[trace.probability == 0.0].any()), "a query had probability 0")
    expect(bool(trace.queried[trace.probability == 1.0].all()), "probability 1 was not queried")


def late_labels(factory: Factory) -> None:
    """Labels may come late and in any order, each once; the estimates do not depend on the order."""
    predictions, labels = make_stream(6, rounds=120, models=6, classes=3)
    forward, backward = factory(6, 3), factory(6, 3)
    asked = [decision.round for decision in map(forward.observe, predictions) if decision.query]
    for row in predictions:
        backward.observe(row)
    expect(forward.open_queries == tuple(asked), "the open queries are not those that were asked")
    for number in asked:
        forward.learn(number, int(labels[number]))
    for number in reversed(asked):
        backward.learn(number, int(labels[number]))
    expect(np.allclose(forward.losses, backward.losses, rtol=1e-9), "losses depend on the order of labels")
    expect(not forward.open_queries and forward.labels_used == len(asked), "labels were lost")
    for number in (*asked[:1], len(predictions), -1):
        expect_error(RoundError, forward, partial(forward.learn, number, 0))


def skipped_labels(factory: Factory) -> None:
    """A skip closes its query and changes no estimate."""
    predictions, _ = make_stream(7, rounds=60, models=6, classes=3)
    picker = factory(6, 3)
    for decision in map(picker.observe, predictions):
        if decision.query:
            picker.learn(decision.round, None)
    expect(not picker.open_queries and picker.labels_used == 0, "a skip left its query open")
    expect(not picker.losses.any(), "a skip changed an estimate")


def certificates(factory: Factory) -> None:
    """Labels that come late certify as much as prompt ones; until they come, and if they never do, they cost."""
    predictions, labels = make_stream(13, rounds=400, models=4, classes=2)
    late = factory(4, 1)
    asked = [decision.round for decision in map(late.observe, predictions) if decision.query]
    prompt = _retold(factory, predictions, labels, asked, ())
    skipping = _retold(factory, predictions, labels, asked, asked[::3])
    waiting = late.state_dict()
    for number in reversed(asked):
        late.learn(number, int(labels[number]))
    pairs: list[tuple[Any, Any]] = list(zip(late.recorder.take_in(), prompt.recorder.take_in(), strict=True))
    close = all(np.allclose(one, other, rtol=1e-9) for one, other in pairs)
    expect(close, "evidence depends on when labels come")
    for worse in (skipping, type(late).from_state_dict(waiting)):
        for kind in KINDS:
            every, some = _gaps(prompt, kind), _gaps(worse, kind)
            expect(
                all(a <= b for a, b in zip(every, some, strict=True)), f"{kind}: fewer labels, {every} to {some}"
            )


def _gaps(picker: Algorithm, kind: CertificateKind) -> list[float]:
    """The gap of every model, as if it were recommended."""
    places = range(len(picker.models))
    return [picker.recorder.certificate(picker.models, place, 0.9, kind).gap for place in places]


def _retold(
    factory: Factory, predictions: Array, labels: Array, asked: list[int], skipped: Sequence[int]
) -> Algorithm:
    """A picker that observes everything first, then learns the labels in order; some are skipped."""
    picker = factory(4, 1)
    for row in predictions:
        picker.observe(row)
    for number in asked:
        picker.learn(number, None if number in skipped else int(labels[number]))
    return picker


def abstentions(factory: Factory) -> None:
    """Models may abstain, by None or -1; an abstention is always wrong."""
    predictions, labels = make_stream(8, rounds=300, models=5, classes=3, abstaining=0.3)
    predictions[:, 2] = -1
    picker = compare_speeds(factory, 5, 2, predictions, labels)
    expect(picker.losses[2] == picker.losses.max(), "the model that always abstains is not the worst")
    spoken = [[None if code < 0 else int(code) for code in row] for row in predictions]
    by_none = factory(5, 2)
    play(by_none, spoken, labels)
    same_state(picker, by_none)


def graded_labels(factory: Factory) -> None:
    """Labels may be several classes, or say nothing about some answers: both speeds agree."""
    predictions, classes = make_stream(14, rounds=160, models=5, classes=4, abstaining=0.1, skipped=0.1)
    labels = [_graded(place, int(label)) for place, label in enumerate(classes)]
    picker = compare_speeds(factory, 5, 4, predictions, labels)
    restored = type(picker).from_state_dict(json.loads(json.dumps(picker.state_dict())))
    same_state(picker, restored)
    expect(bool(np.isfinite(picker.losses).all()), "a loss that is not known has spoilt the estimates")


def _graded(place: int, label: int) -> AnyLabel | None:
    """Labels of all kinds in turn, around a class."""
    if label < 0:
        return None
    kinds = (
        label,
        Label.any_of(label, (label + 1) % 4),
        Label.graded({label: 1.0, (label + 1) % 4: 0.0}),
        Label.all_wrong(),
    )
    return kinds[place % len(kinds)]


def models_not_asked(factory: Factory) -> None:
    """Models may be left out of a round: both speeds agree, and nothing is certified that was not without them."""
    predictions, labels = make_stream(15, rounds=160, models=5, classes=4)
    predictions[np.random.default_rng(15).random(predictions.shape) < 0.2] = NOT_RUN
    picker = compare_speeds(factory, 5, 4, predictions, labels)
    expect(bool(np.isfinite(picker.losses).all()), "a model that was not asked has spoilt the estimates")
    alone = factory(3, 0)
    for row in ([2, 2, NOT_RUN], [NOT_RUN, 1, 1], [NOT_RUN, NOT_RUN, 0], [NOT_RUN] * 3):
        expect(not alone.observe(row).query, f"{row} was queried: those who were asked agree")
    for kind in KINDS:
        expect(_gaps(alone, kind)[0] == 1.0, f"{kind}: something is certified of models that were not asked")


def names_and_codes_alike(factory: Factory) -> None:
    """Classes given as strings lead to the same decisions as codes; so do models given by name."""
    predictions, labels = make_stream(9, rounds=150, models=4, classes=3, abstaining=0.1)
    words = np.array(["ant", "bee", "cat", "a class that nobody predicts", None], dtype=object)
    by_code, by_name = factory(4, 5), factory(["a", "b", "c", "d"], 5)
    codes = run_stream(by_code, predictions, labels)
    names = run_stream(by_name, words[predictions], words[labels])
    expect(np.array_equal(codes.queried, names.queried), "queries differ")
    expect(np.array_equal(codes.losses, names.losses), "losses differ")
    said = [None if code < 0 else (names.classes or ())[code] for code in names.predicted]
    expect(said == list(words[codes.predicted]), "predictions differ")
    expect(names.winner == "abcd"[int(codes.winner)], "winners differ")
    stepwise = factory(["a", "b", "c", "d"], 5)
    play(stepwise, words[predictions].tolist(), words[labels].tolist())
    same_state(stepwise, by_name)


def errors_change_nothing(factory: Factory) -> None:
    """After bad input the picker is as it was."""
    predictions, labels = make_stream(10, rounds=50, models=4, classes=3)
    picker = factory(4, 0)
    run_stream(picker, predictions, labels)
    for row in ([0, 1, 2], [0, 1, 2, float("nan")], [0, 1, 2, 0.5], [0, 1, 2, -3], [0, 1, 2, b"x"]):
        expect_error(ModelPickerError, picker, partial(picker.observe, row))
    spoilt = predictions.copy()
    spoilt[-1, 0] = -7
    expect_error(ModelPickerError, picker, partial(run_stream, picker, spoilt, labels))
    expect_error(ModelPickerError, picker, partial(run_stream, picker, predictions, labels[:-1]))


def two_models(factory: Factory) -> None:
    """The smallest number of models there can be."""
    predictions, labels = make_stream(11, rounds=200, models=2, classes=2)
    compare_speeds(factory, 2, 0, predictions, labels)


def two_hundred_models(factory: Factory) -> None:
    """Many models, and more classes than models."""
    predictions, labels = make_stream(12, rounds=30, models=200, classes=300)
    picker = compare_speeds(factory, 200, 0, predictions, labels)
    weights = picker.weights
    if weights is not None:
        expect(weights.shape == (200,) and abs(weights.sum() - 1.0) < 1e-9, "weights do not sum to 1")
        expect(bool((weights >= 0.0).all()), "a weight is negative")


def one_class(factory: Factory) -> None:
    """Where there is one class there is nothing to ask, unless somebody abstains."""
    predictions = np.zeros((50, 3), dtype=np.int64)
    picker = compare_speeds(factory, 3, 0, predictions, predictions[:, 0])
    expect(picker.labels_used == 0, "a label was bought where all models agree")
    predictions[::5, 1] = -1
    compare_speeds(factory, 3, 0, predictions, predictions[:, 0])


def make_stream(
    seed: int, rounds: int, models: int, classes: int, abstaining: float = 0.0, skipped: float = 0.0
) -> tuple[Array, Array]:
    """Models of rising accuracy, with some labels nobody predicts, some abstentions, some skips."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, classes + 1, rounds)
    right = draw.random((rounds, models)) < np.linspace(0.4, 0.8, models)
    guesses = draw.integers(0, classes, (rounds, models))
    predictions = np.where(right & (labels < classes)[:, None], labels[:, None], guesses)
    predictions[draw.random((rounds, models)) < abstaining] = -1
    labels[draw.random(rounds) < skipped] = -1
    return predictions, labels


def play(picker: Algorithm, rows: Any, labels: Any, keep: bool = True) -> list[Decision]:
    """One round at a time, every label told at once."""
    decisions = []
    for row, label in zip(rows, labels, strict=True):
        decision = picker.observe(row)
        if decision.query:
            picker.learn(decision.round, label)
        if keep:
            decisions.append(decision)
        if picker.finished:  # as `run_stream` has it
            break
    return decisions


def compare_speeds(factory: Factory, models: int, seed: int, predictions: Array, labels: Any) -> Algorithm:
    """Run a stream at both speeds, and expect the same to the last bit."""
    slow, fast = factory(models, seed), factory(models, seed)
    decisions = play(slow, predictions, labels)
    trace = run_stream(fast, predictions, labels)
    same_decisions(decisions, as_decisions(trace))
    same_state(slow, fast)
    expect(trace.winner == slow.recommended, "winner and recommendation differ")
    expect(bool((trace.losses == slow.losses).all()), "losses of trace and picker differ")
    return fast


def as_decisions(trace: Trace) -> list[Decision]:
    """The decisions that a trace of numbered models and classes, from round 0 on, stands for."""
    columns = (trace.queried, trace.probability, trace.predicted, trace.recommended)
    rows: Sequence[Any] = list(zip(*(column.tolist() for column in columns), strict=True))
    return [
        Decision(number, query, probability, None if said < 0 else said, model)
        for number, (query, probability, said, model) in enumerate(rows)
    ]


def same_decisions(one: list[Decision], other: list[Decision]) -> None:
    """Expect equality, and name the first difference."""
    for mine, yours in zip(one, other, strict=True):
        expect(mine == yours, f"decisions differ: {mine} and {yours}")


def same_state(one: Algorithm, other: Algorithm) -> None:
    """Expect two pickers to be equal to the last bit in all but the names of models."""
    mine, yours = one.state_dict(), other.state_dict()
    for part in ("clock", "state", "options", "seed"):
        expect(mine[part] == yours[part], f"{part} differs: {mine[part]} and {yours[part]}")
    expect(mine["evidence"] == yours["evidence"], "evidence differs")
    mine_open, yours_open = ([row[:3] for row in blob["open"]] for blob in (mine, yours))
    expect(mine_open == yours_open, "open queries differ")
    if one.weights is not None and other.weights is not None:
        expect(bool((one.weights == other.weights).all()), "weights differ")
    place = one.models.index(one.recommended), other.models.index(other.recommended)
    expect(place[0] == place[1], f"recommendations differ: {place}")


def expect_error(kind: type[Exception], picker: Algorithm, attempt: Callable[[], object]) -> None:
    """Expect an error of this kind that leaves the picker as it was."""
    before = picker.state_dict()
    try:
        attempt()
    except kind:
        expect(picker.state_dict() == before, f"{attempt} failed, and changed the picker")
    else:
        expect(False, f"{attempt} did not raise {kind.__name__}")


def expect(condition: bool, otherwise: str) -> None:
    """Fail with a sentence."""
    if not condition:
        raise AssertionError(otherwise)
