"""The contract of an algorithm: observe rounds, learn labels, name the best model, be saved and restored."""

import dataclasses
import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from modelpicker.algorithms.description import AlgorithmDescription
from modelpicker.algorithms.runner import LABELS, ROUNDS, AlgorithmSettings, AlgorithmState, Kernel
from modelpicker.algorithms.told_labels import ToldLabel, tell
from modelpicker.algorithms.validation import Models, check_models
from modelpicker.certificates.certificate import (
    Certificate,
    CertificateKind,
    Certified,
    check_confidence,
    check_kind,
    state,
)
from modelpicker.certificates.leader_recorder import load_recorder, new_recorder
from modelpicker.certificates.stop_rule import LABEL_NOISE
from modelpicker.certificates.wealth import power
from modelpicker.coins import check_seed, draw_coins
from modelpicker.encoding import ClassName, ModelName, Row, encode_row
from modelpicker.errors import RoundError, StateError, brief
from modelpicker.kernels.philox import draw_many
from modelpicker.kernels.primitives import (
    LEADER,
    NOT_RUN,
    SKIPPED,
    SPARE,
    TIED,
    Floats,
    Ints,
    Scratch,
    new_scratch,
    place_code,
)
from modelpicker.label import AnyLabel
from modelpicker.losses import ACCURATE, Loss, read_loss
from modelpicker.packing import packed, unpacked

STATE_VERSION = 5
OLDEST_READ = 4  # the oldest version of a state that can still be read
COIN_BLOCK = 64  # rounds whose coins are drawn at once when rounds come one at a time


@dataclass(frozen=True, slots=True)
class Decision:
    """What a picker says about a round.

    >>> import modelpicker as mp
    >>> decision = mp.ModelPicker(["small", "large"], seed=1).observe(["cat", "dog"])
    >>> decision.query, decision.recommended
    (True, 'small')
    """

    round: int
    query: bool
    probability: float
    prediction: ClassName | None
    recommended: ModelName
    racing: tuple[ModelName, ...] = dataclasses.field(default=(), compare=False, repr=False)
    """The models that are still compared with one another: the others need not be run for the next item."""

    @property
    def id(self) -> int:
        """What a campaign calls the round: its number."""
        return self.round


class OpenQuery(NamedTuple):
    """A queried round whose label has not come yet."""

    probability: float
    row: Row


class Tally(NamedTuple):
    """Mistakes of each model, and of which rounds they speak: from `first` on, before `last`."""

    losses: Floats
    first: Ints
    last: Ints
    reference: int
    """The model that all others were compared with, where they were not compared over the same rounds."""


class Algorithm(ABC):
    """Decides which rounds to query and which model to recommend.

    A subclass brings its name, its three kernels, the arrays it starts from, and the numbers its kernels are
    told; everything else is here. `modelpicker.algorithms.checks.check_algorithm` tells whether it behaves.

    >>> import modelpicker as mp
    >>> isinstance(mp.Race(["small", "large"]), mp.Algorithm)
    True
    """

    name: ClassVar[str]
    about: ClassVar[AlgorithmDescription] = AlgorithmDescription()
    """The algorithm in words, and its options: their values are checked as they are declared here."""
    kernel: ClassVar[Kernel]
    dial: ClassVar[str]
    """The option that makes the algorithm ask more or less; its kernel takes it round by round."""
    weighted: ClassVar[bool] = False
    """Whether losses estimate the mistakes on the whole stream; otherwise they count mistakes on labels."""
    drops: ClassVar[bool] = False
    """Whether models are dropped on the way: of those, labels tell little from then on."""
    spreads: ClassVar[bool] = True
    """Whether a budget is to be spread over a stream; otherwise it is spent as fast as the algorithm asks."""
    stops: ClassVar[bool] = False
    """Whether it stops by itself, with a proof: its options `tolerance` and `confidence` say which."""
    priced: ClassVar[bool] = False
    """Whether it takes `price=`, what each model costs per item."""
    signed: ClassVar[tuple[str, ...]] = ()
    """Arrays of its state, of numbers that are not whole, which may be below zero."""
    uniform: ClassVar[bool] = False
    """Whether every disagreement is queried with one probability, the dial: then a budget says what that is."""

    def __init__(self, models: Models, seed: int = 0, *, loss: object = None, **options: Any) -> None:
        self.models = check_models(models)
        self.seed = check_seed(seed)
        self.loss = Loss.of(loss)
        """What a mistake costs; by default all mistakes count the same."""
        if self.dial not in options:
            raise TypeError(f"{type(self).__name__}.dial is {self.dial!r}, but its options are {sorted(options)}.")
        self.options = self.about.check(options)
        self.clock = np.zeros(2, dtype=np.int64)
        self.spared = np.zeros(1, dtype=np.int64)
        """One place: how often a model was not asked in a round."""
        self.state = self.start(len(self.models))
        self.recorder = new_recorder(len(self.models), loss=self.loss)
        self._open: dict[int, OpenQuery] = {}
        self._drawn_from = 0
        self._drawn: list[list[float]] = []

    @abstractmethod
    def start(self, models: int) -> AlgorithmState:
        """The arrays that the kernels work on, before the first round."""

    @abstractmethod
    def settings(self) -> AlgorithmSettings:
        """The numbers that the kernels are told."""

    def observe(self, row: Sequence[object] | npt.NDArray[Any]) -> Decision:
        """Decide the next round.

        Args:
            row: what each model predicts: class codes or strings; None or -1 for an abstention, `mp.NOT_RUN` for a
                model that was not asked. Of that one the round says nothing: statements count it as the worst.

        >>> import modelpicker as mp
        >>> picker = mp.ModelPicker(["small", "large"], seed=1)
        >>> decision = picker.observe(["cat", "dog"])
        >>> decision.round, decision.query, decision.probability
        (0, True, 0.5887050112577373)
        """
        codes, classes = encoded = encode_row(row, len(self.models))
        number = self.rounds
        with self.all_or_nothing(number):
            query, probability, recommended, said = self.kernel.observe(
                *self.views, kernel_row(codes), self.coins(number), self.first_spare, self.scale, self.scratch
            )
            if query:
                self._open[number] = OpenQuery(probability, encoded)
            self.recorder.saw(codes, number, probability, query)
            self.spared[0] += codes.count(NOT_RUN)
        prediction = None if said < 0 else classes[said]
        return Decision(number, query, probability, prediction, self.models[recommended], self.racing)

    def learn(self, round: int, label: AnyLabel | None) -> None:  # noqa: A002 (the word of the design)
        """Take in the label of a queried round: at once or later, in any order, each once.

        A label is a class, or a `Label`: several classes, grades, which of two answers is better. Where it leaves
        the loss of a model unknown, certificates count that as the worst that it could be, and the estimates take
        the mean of the losses that are known. A label of None or -1 is a skip: it closes the query and changes no
        estimate; certificates count it as the worst that it could have been.

        >>> import modelpicker as mp
        >>> picker = mp.ModelPicker(["small", "large"], seed=1)
        >>> decision = picker.observe(["cat", "dog"])
        >>> picker.learn(decision.round, "dog")
        >>> picker.recommended, picker.labels_used
        ('large', 1)
        """
        query = self._open_query(round)
        told = tell(label, query.row, self.loss, f"label of round {round}")
        with self.all_or_nothing(round):
            if told.code != SKIPPED:
                self.take_in(int(round), query.row.codes, told, query.probability)
                self.recorder.told(query.row.codes, round, told.code, query.probability, told.losses)
            del self._open[round]

    def take_in(self, number: int, codes: list[int], told: ToldLabel, probability: float) -> None:
        """Learn what was told about a round that had this row, and was queried with this probability."""
        table: Any = memoryview(np.array([told.losses], dtype=np.float64).data)
        room = self.scratch._replace(graded=table)
        self.kernel.learn(*self.views, number + 1, kernel_row(codes), told.code, probability, room)

    @property
    def rounds(self) -> int:
        """How many rounds have been observed."""
        return int(self.clock[ROUNDS])

    @property
    def labels_used(self) -> int:
        """How many labels have been learned."""
        return int(self.clock[LABELS])

    @property
    def open_queries(self) -> tuple[int, ...]:
        """The rounds whose labels have been asked for and not come yet."""
        return tuple(self._open)

    @property
    def scale(self) -> float:
        """Where the dial stands."""
        return float(self.options[self.dial])

    @property
    def recommended(self) -> ModelName:
        """The best model so far; ties go by the last round's spare coin, before any label by the first's."""
        coin = self.first_spare if self.labels_used == 0 else self.coins(self.rounds - 1)[SPARE]
        return self.models[self.kernel.recommend(self.state, self.told, coin)]

    @property
    def losses(self) -> Floats:
        """The estimated number of mistakes of each model: compare models by differences."""
        losses: Floats = self.state.losses.copy()
        return losses

    @property
    def weights(self) -> Floats | None:
        """The weights that the next round would use, where the algorithm has any."""
        return None

    @property
    def keep(self) -> float:
        """How much of a round's weight in `losses` is left when another has gone by; 1 if nothing is forgotten."""
        return 1.0

    def counted(self, rounds: int, ago: int = 0) -> float:
        """How many rounds' mistakes `losses` hold of that many consecutive rounds, the last of them so long `ago`.

        A difference of losses, over this, is a difference of accuracies.
        """
        if self.keep == 1.0:
            return float(rounds)
        return power(self.keep, ago) * (1.0 - power(self.keep, rounds)) / (1.0 - self.keep)

    def losses_over(self, covered: int) -> Floats:  # noqa: ARG002 (for algorithms that eliminate models)
        """The losses, where labels were asked for in the first `covered` rounds and in no others."""
        return self.losses

    def tally(self, covered: int) -> Tally:
        """The mistakes that models are compared by, where labels were asked for in the first `covered` rounds."""
        models = len(self.models)
        return Tally(self.losses, np.zeros(models, dtype=np.int64), np.full(models, covered), 0)

    def certificate(
        self, confidence: float = 0.95, kind: CertificateKind = "stream", *, label_noise: float = 0.0
    ) -> Certificate:
        """How certain the recommended model is, in a statement that holds whenever you look.

        Queries that wait, were skipped, or were never made count as the worst that they could have been. All rounds
        seen count alike, also where the algorithm recommends what was best recently.

        Args:
            confidence: the probability, at least, that no statement of this kind, made at any time, is ever wrong.
            kind: "stream" is about the items seen so far, and assumes nothing about them; "population" is about the
                models' accuracies, if items are drawn independently from one distribution.
            label_noise: the probability that a label is wrong, at most, each independently of the others: the
                statement is of the right labels, and wider.

        >>> import numpy as np
        >>> import modelpicker as mp
        >>> labels = np.random.default_rng(0).integers(0, 2, 500)
        >>> wrong = np.random.default_rng(1).random((500, 3)) < [0.3, 0.2, 0.1]
        >>> rows = labels[:, None] ^ wrong
        >>> picker = mp.ModelPicker(["small", "medium", "large"], seed=0, query_scale=8)
        >>> trace = mp.run_stream(picker, rows, labels)
        >>> print(picker.certificate(0.95, "population").sentence)
        Proven: no model is more accurate than large (95% confidence).
        Of all items like these, if items are drawn independently from one distribution.
        """
        check_kind(kind)
        label_noise = float(LABEL_NOISE.check(label_noise))
        proved = self.proof(check_confidence(confidence), kind)
        if proved is not None:
            gap, seen = min(1.0, proved + 2.0 * label_noise * self.loss.unit), self.rounds
            return state(self.recommended, gap, confidence, kind, seen, seen, 0, self.loss, label_noise)
        best = self.models.index(self.recommended)
        return self.recorder.certificate(self.models, best, confidence, kind, label_noise=label_noise)

    @property
    def remark(self) -> str:
        """What the algorithm has to say about how it stands, in a sentence; empty if nothing."""
        return ""

    @property
    def finished(self) -> bool:
        """Whether it has stopped by itself: `run_stream` plays no more rounds then."""
        return bool(self.kernel.parts["finished"](self.state, self.told))

    @property
    def racing(self) -> tuple[ModelName, ...]:
        """The models that are still compared with one another; all, where an algorithm drops none.

        The others need not be run any more: pass `mp.NOT_RUN` for them.
        """
        return self.models

    @property
    def calls(self) -> int:
        """How many predictions models were asked for."""
        return self.rounds * len(self.models) - int(self.spared[0])

    @property
    def won(self) -> int | None:
        """After how many rounds it stopped by itself, with a proof; None if it has not, or never does."""
        return None

    @property
    def saved_per_item(self) -> float | None:
        """By how much cheaper per item the recommended model is than the best estimate; None without prices."""
        return None

    @property
    def aim(self) -> Certified | None:
        """The statement with which the algorithm stops by itself, if it does."""
        return None

    def proof(self, confidence: float, kind: CertificateKind) -> float | None:  # noqa: ARG002 (for those who have one)
        """The gap that the algorithm itself has proven, 1 if none yet; None if it leaves that to its evidence."""
        return None

    @contextmanager
    def all_or_nothing(self, number: int = -1) -> Iterator[None]:
        """If what is done meanwhile fails or is interrupted, the picker is as it was, and the round's query too."""
        arrays = (self.clock, self.spared, *self.in_use().values())
        before = [array.copy() for array in arrays]
        seen = self.recorder.kept
        query = self._open.get(number)
        try:
            yield
        except BaseException:
            for array, copy in zip(arrays, before, strict=True):
                array[...] = copy
            self.recorder.put_back(seen)
            self._open.pop(number, None)
            if query is not None:
                self._open[number] = query
            self.__dict__.pop("scratch", None)  # a kernel cut off in the middle has not tidied up
            raise

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        options += "" if self.loss == ACCURATE else f", loss={self.loss.name!r}"
        seen = f"{self.rounds} rounds, {self.labels_used} labels"
        return f"<{type(self).__name__}({len(self.models)} models, seed={self.seed}{options}): {seen}>"

    def _repr_html_(self) -> str:
        from modelpicker.algorithms.card import algorithm_card

        return algorithm_card(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_state_dict, (self.state_dict(),)

    def state_dict(self) -> dict[str, Any]:
        """Everything this picker is, in a form that JSON can hold.

        >>> import modelpicker as mp
        >>> picker = mp.ModelPicker(["small", "large"], seed=1)
        >>> decision = picker.observe(["cat", "dog"])
        >>> mp.ModelPicker.from_state_dict(picker.state_dict()).rounds
        1
        """
        evidence = self.recorder.document()
        return {
            "version": STATE_VERSION,
            "algorithm": self.name,
            "models": list(self.models),
            "seed": self.seed,
            "options": dict(self.options),
            "loss": None if self.loss == ACCURATE else self.loss.to_json(),
            "clock": self.clock.tolist(),
            "spared": int(self.spared[0]),
            "state": {field: packed(array) for field, array in self.in_use().items()},
            "evidence": evidence,
            "checksum": checksum_of((self.clock, *self.in_use().values()), json.dumps(evidence)),
            "open": [
                [number, query.probability, packed(np.array(query.row.codes)), query.row.classes.copy()]
                for number, query in self._open.items()
            ],
        }

    @classmethod
    def from_state_dict(cls, blob: object) -> Self:
        """The picker that `state_dict` described.

        >>> import modelpicker as mp
        >>> saved = mp.ModelPicker(["small", "large"], seed=1).state_dict()
        >>> mp.ModelPicker.from_state_dict(saved).models
        ('small', 'large')
        """
        if not isinstance(blob, Mapping):
            raise StateError(f"a state is a mapping, as state_dict() gives it, not a {type(blob).__name__}.")
        if cls is Algorithm:
            raise StateError("call from_state_dict on the class that saved the state, such as mp.ModelPicker.")
        found = blob.get("algorithm")
        if found != cls.name:
            raise StateError(
                f"this is not a state of {cls.name}, but of {found!r}; load it with the class that saved it."
            )
        if blob.get("version") not in range(OLDEST_READ, STATE_VERSION + 1):
            raise StateError(
                f"this state has version {blob.get('version')!r}, but this modelpicker reads versions "
                f"{OLDEST_READ} to {STATE_VERSION}; use the modelpicker that saved it."
            )
        try:
            priced = {} if blob["loss"] is None else {"loss": read_loss(blob["loss"])}
            picker = cls(blob["models"], blob["seed"], **blob["options"], **priced)
            picker._load(blob)
        except StateError:
            raise
        except KeyError as error:
            raise StateError(
                f"this state of {cls.name} is damaged: it has no entry {error}; save it again."
            ) from error
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise StateError(f"this state of {cls.name} is damaged: {error!r}; save it again.") from error
        return picker

    def _load(self, blob: Mapping[str, Any]) -> None:
        """Take over clock, arrays and open queries from a saved state."""
        arrays = {"clock": self.clock, **self.state._asdict()}
        saved = blob["state"] if blob["version"] == STATE_VERSION else self.upgraded(blob["state"])
        for field, value in {"clock": blob["clock"], **saved}.items():
            array, place = unpacked(value, arrays[field].dtype), arrays.pop(field)
            if field in self.rows_in_use():
                place = place[: len(array)]
                array = array if array.size else place
            if array.shape != place.shape:
                raise self.damaged(f"{field} has shape {array.shape}, not {place.shape}")
            place[...] = array
        if arrays:
            raise self.damaged(f"it lacks {', '.join(arrays)}")
        self.spared[0] = blob["spared"]
        self.recorder = load_recorder(len(self.models), blob["evidence"], self.loss)
        if blob["version"] == STATE_VERSION:
            checksum = checksum_of((self.clock, *self.in_use().values()), json.dumps(blob["evidence"]))
        else:
            checksum = self._old_checksum(blob["state"])
        if blob["checksum"] != checksum:
            raise self.damaged("its checksum is wrong")
        self.check_state()
        for entry in blob["open"]:
            number, query = self._restored_query(*entry)
            self._open[number] = query

    def rows_in_use(self) -> Mapping[str, int]:
        """Of arrays that are filled row by row as need be: how many rows are in use, by their names."""
        return {}

    def in_use(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays of the state, as far as there is something in them."""
        arrays: dict[str, npt.NDArray[Any]] = self.state._asdict()
        return arrays | {field: arrays[field][:rows] for field, rows in self.rows_in_use().items()}

    def upgraded(self, saved: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arrays of a state that an older modelpicker saved, as they are now."""
        return saved

    def damaged(self, how: str) -> StateError:
        """The error for a saved state that can't be right."""
        return StateError(f"this state of {self.name} is damaged: {how}; save it again.")

    def check_state(self) -> None:
        """Refuse a state that kernels, which trust it, could go astray with."""
        for field, array in self.in_use().items():
            least = -np.inf if field in self.signed else 0.0
            if array.dtype.kind == "f" and not (np.isfinite(array) & (array >= least)).all():
                raise self.damaged(f"{field} is {brief(array.tolist())}")
            if field == "standing" and not (0 <= array[LEADER] < len(self.models) and array[TIED] >= 1):
                raise self.damaged(f"{field} is {brief(array.tolist())}")

    def _restored_query(
        self, number: int, probability: float, row: object, classes: list[ClassName]
    ) -> tuple[int, OpenQuery]:
        """An open query from a saved state, if it can be one."""
        codes = row if isinstance(row, list) else unpacked(row, np.int64).tolist()
        known = len(codes) == len(self.models) and all(
            type(code) is int and NOT_RUN <= code < len(classes) for code in codes
        )
        distinct = all(type(name) in (int, str) for name in classes) and len(set(classes)) == len(classes)
        possible = type(number) is int and 0 <= number < self.rounds and 0.0 < probability <= 1.0
        if not (known and distinct and possible and number not in self._open):
            raise self.damaged(f"no query of round {brief(number)} is like that")
        return number, OpenQuery(float(probability), Row(list(codes), list(classes)))

    def _old_checksum(self, saved: Mapping[str, Any]) -> int:
        """The checksum of a state of version 4: of all arrays as they were, and of the evidence."""
        arrays = self.state._asdict()
        stored = [np.array(value, dtype=arrays[field].dtype) for field, value in saved.items()]
        evidence = self.recorder.take_in() if self.recorder.watches else ()
        return checksum_of((self.clock, *stored, *evidence))

    def _open_query(self, number: object) -> OpenQuery:
        """The open query of a round, or an error that says why there is none."""
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise RoundError(f"round {brief(number)} is not a round; pass the `round` of a decision.")
        if not 0 <= number < self.rounds:
            raise RoundError(
                f"round {brief(number)} is unknown: {self.rounds} rounds have been observed, from 0 on."
            )
        if number not in self._open:
            raise RoundError(
                f"round {number} has no open query: it was not queried, or its label is known already; "
                "open_queries lists those that wait."
            )
        return self._open[int(number)]

    @cached_property
    def first_spare(self) -> float:
        """The spare coin of round 0, which decides between equals before any label."""
        return float(draw_coins(self.seed, 0)[0, SPARE])

    def next_coins(self, rounds: int) -> Floats:
        """The coins of the coming rounds, for a kernel to use up."""
        coins = draw_many(self.seed, self.rounds, rounds)
        if self.rounds == 0:
            self.first_spare = float(coins[0, SPARE])
        self._drawn_from, self._drawn = self.rounds + rounds - 1, [coins[-1].tolist()]
        return coins

    def coins(self, number: int) -> list[float]:
        """A round's coins, drawn a block at a time; a copy, for the kernel may change them."""
        place = number - self._drawn_from
        if not 0 <= place < len(self._drawn):
            place, self._drawn_from = 0, number
            self._drawn = draw_coins(self.seed, number, COIN_BLOCK).tolist()
        return self._drawn[place].copy()

    @cached_property
    def told(self) -> AlgorithmSettings:
        """The settings, made once."""
        return self.settings()

    @cached_property
    def views(self) -> tuple[AlgorithmState, AlgorithmSettings, memoryview]:
        """What interpreted kernels work on: views of the arrays, which Python indexes faster, and lists."""
        return (
            type(self.state)(*(memoryview(array) for array in self.state)),
            listed(self.told),
            memoryview(self.clock.data),
        )

    @cached_property
    def scratch(self) -> Scratch:
        """Room that interpreted kernels use within a round."""
        room: Scratch = listed(new_scratch(len(self.models), len(self.models)))
        return room


def checksum_of(arrays: Iterable[npt.NDArray[Any]], text: str = "") -> int:
    """Guards compiled kernels, which trust their state, from one that was damaged on its way."""
    checksum = zlib.crc32(text.encode())
    for array in arrays:
        portable = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        checksum = zlib.crc32(portable.data.cast("B") if portable.size else b"", checksum)
    return checksum


def kernel_row(codes: list[int]) -> list[int]:
    """The codes of a row as kernels have them: who was not asked agrees with nobody."""
    if NOT_RUN not in codes:
        return codes
    return [place_code(code, model) for model, code in enumerate(codes)]


def count_spared(codes: npt.NDArray[Any]) -> int:
    """How often a model was not asked; quick where that never was."""
    return 0 if codes.min(initial=0) > NOT_RUN else int((codes == NOT_RUN).sum())


def listed(arrays: Any) -> Any:
    """The same tuple with lists in place of its arrays, which Python indexes faster."""
    return type(arrays)(*(value.tolist() if isinstance(value, np.ndarray) else value for value in arrays))
