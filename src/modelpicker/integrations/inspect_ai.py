"""inspect_ai: stop running models that are beaten, and end the evaluation when the best one is certified.

An `EarlyStopping` of inspect_ai for one task that is run with several models at once:

    stop = StopBeatenModels(["openai/gpt-4o", "openai/gpt-4o-mini"], tolerance=0.02)
    task = Task(dataset=…, solver=…, scorer=…, early_stopping=stop)
    eval(task, model=["openai/gpt-4o", "openai/gpt-4o-mini"])
    stop.model, stop.certified, stop.calls
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from modelpicker.algorithms.validation import check_count
from modelpicker.certificates.certificate import Certificate
from modelpicker.errors import ConflictError, InputError, MissingExtraError, NotFoundError, brief, is_number
from modelpicker.evaluations.early_stopping import EarlyStop, check_score

if TYPE_CHECKING:
    import anyio
    from inspect_ai.dataset import Sample
    from inspect_ai.log import EvalLog, EvalSpec
    from inspect_ai.scorer import SampleScore
    from inspect_ai.util import EarlyStop as InspectStop

SampleId: TypeAlias = str | int
logger = logging.getLogger(__name__)


class StopBeatenModels:
    """Decides, for inspect_ai, which model is still worth running on which sample.

    With several epochs, the scores of the first decide, and beaten models are not run in the others.

    Samples should be in random order: `dataset.shuffle(seed)`, or `sample_shuffle=SEED` of `eval`. The models must
    run at the same time, as they do when `eval` gets them as a list (unless `max_tasks` is smaller).

    Args:
        models: their names, as `eval` gets them.
        tolerance: how much worse than the best the winner may be: 0.01 is 1 % of the score.
        confidence: of the proof that the winner is so good.
        seed: of all randomness.
        scorer: which score decides, if the task has several scorers.
        score: a function that makes a number from 0 to 1 of a score; by default inspect_ai's `value_to_float`.
        ahead: by how many samples a model may be ahead of what the slowest one has done. Few: more calls are saved.
            Many: models wait less for one another.
        patience: for how many seconds models wait for a score. After that, the sample counts as not run for a model
            that has no score for it: so a sample that failed stops nobody for long.
    """

    def __init__(
        self,
        models: Sequence[str],
        *,
        tolerance: float = 0.01,
        confidence: float = 0.95,
        seed: int = 0,
        scorer: str | None = None,
        score: "Callable[[SampleScore], float] | None" = None,
        ahead: int = 10,
        patience: float = 600.0,
    ) -> None:
        if isinstance(models, str):
            raise InputError(f"models {brief(models)}: pass a list of names.", parameter="models")
        self.stop = EarlyStop([str(name) for name in models], tolerance=tolerance, confidence=confidence, seed=seed)
        self.scorer = scorer
        self.ahead = check_count("ahead", ahead)
        if not is_number(patience) or not patience > 0:
            raise InputError(f"patience {brief(patience)}: pass a number of seconds above 0.", parameter="patience")
        self.patience = float(patience)
        self.calls = 0
        """How many samples were run to their end, over all models."""
        self._score = score
        self._task: str | None = None
        self._samples: list[SampleId] = []
        self._epochs = 1
        self._running: set[str] = set()
        self._ended: set[str] = set()
        self._told: dict[tuple[str, SampleId], float] = {}
        self._skipped: set[tuple[str, SampleId]] = set()
        self._begun: set[tuple[str, SampleId]] = set()
        self._moved_at = time.monotonic()
        self._moved: anyio.Event | None = None

    @property
    def model(self) -> str:
        """The best model, as far as can be told."""
        return str(self.stop.model)

    @property
    def certified(self) -> bool:
        """Whether it is proven to be the best, within the tolerance."""
        return self.stop.finished

    @property
    def certificate(self) -> Certificate:
        """What is proven about it, of samples like these in general."""
        return self.stop.certificate

    @property
    def racing(self) -> tuple[str, ...]:
        """The models that are still worth running."""
        return tuple(str(name) for name in self.stop.racing)

    # What inspect_ai calls.

    async def start_task(self, task: "EvalSpec", samples: "list[Sample]", epochs: int) -> str:
        """A model begins."""
        name = _active_model()
        if name not in self.stop.models:
            raise NotFoundError(
                f"StopBeatenModels does not know model {name}: it was made for "
                f"{', '.join(map(str, self.stop.models))}. "
                "Pass it the models that eval gets."
            )
        if name in self._running:
            raise ConflictError(
                f"two models are called {name}; StopBeatenModels tells models apart by their names."
            )
        self._epochs = max(self._epochs, epochs)
        ids = [sample.id for sample in samples if sample.id is not None]
        if self._task is None:
            self._task, self._samples = task.task, ids
        if (task.task, ids) != (self._task, self._samples):
            raise ConflictError(
                f"{name} runs task {task.task} with {len(ids):,} samples, and another model runs {self._task} with "
                f"{len(self._samples):,}, or in another order. Make one StopBeatenModels per task, and "
                "shuffle with a "
                "fixed seed."
            )
        self._running.add(name)
        self._ended.discard(name)
        self._advance()
        return "modelpicker"

    async def schedule_sample(self, id: SampleId, epoch: int) -> "InspectStop | None":  # noqa: A002 (inspect_ai's word)
        """Whether a model is still worth running on a sample; it waits for the others before."""
        name = _active_model()
        place = self._samples.index(id)
        # Later epochs begin when it is known what all samples say.
        awaited = place - self.ahead if epoch == 1 else len(self._samples) - 1
        while not self._over(name) and awaited >= self.stop.items:
            if not await self._wait():
                self._give_up(name)
        self._ended.discard(name)
        if not self._over(name):
            self._begun.add((name, id))
            return None
        if epoch == 1:
            self._skipped.add((name, id))
        self._advance()
        return _early_stop(id, epoch, self._reason(name))

    async def complete_sample(
        self,
        id: SampleId,  # noqa: A002 (inspect_ai's word)
        epoch: int,
        scores: "dict[str, SampleScore]",
    ) -> None:
        """A model has done a sample."""
        self._tell(_active_model(), id, epoch, scores)
        self._advance()

    async def complete_task(self) -> dict[str, Any]:
        """A model has no samples left; what inspect_ai notes in its log."""
        name = _active_model()
        self._ended.add(name)
        self._running.discard(name)
        self._advance()
        return self.document()

    # What it knows.

    def document(self) -> dict[str, Any]:
        """How it stands, for programs."""
        whole = len(self.stop.models) * len(self._samples) * self._epochs
        return {
            "model": self.model,
            "certified": self.certified,
            "sentence": self.certificate.sentence,
            "racing": list(self.racing),
            "samples": self.stop.items,
            "calls": self.calls,
            "calls_saved": whole - self.calls,
        }

    def add_log(self, log: "EvalLog") -> None:
        """Take in the scores of a log: those of an evaluation that is continued with."""
        samples = log.samples or []
        if log.eval.model not in self.stop.models:
            raise NotFoundError(
                f"the log is of model {log.eval.model}, which is not one of {brief(self.stop.models)}."
            )
        from inspect_ai.scorer import SampleScore

        for sample in samples:
            scores = {name: SampleScore(score=score) for name, score in (sample.scores or {}).items()}
            if scores:
                self._tell(log.eval.model, sample.id, sample.epoch, scores)

    def _over(self, name: str) -> bool:
        return name not in self.stop.racing

    def _reason(self, name: str) -> str:
        if self.stop.finished:
            return f"{self.model} is certified to be the best model"
        return f"{name} is beaten by {self.model}"

    def _tell(self, name: str, sample: SampleId, epoch: int, scores: "Mapping[str, SampleScore]") -> None:
        """Take a score. Those of later epochs are of samples that have spoken: they prove nothing more."""
        found = self._chosen(scores, sample)
        self.calls += 1
        if epoch == 1:
            self._told[name, sample] = check_score(f"{name} on sample {sample}", found)

    def _chosen(self, scores: "Mapping[str, SampleScore]", sample: SampleId) -> float:
        """The score that decides, as a number."""
        named = self.scorer if self.scorer is not None else next(iter(scores), "")
        if self.scorer is None and len(scores) != 1:
            raise InputError(
                f"sample {sample} has {len(scores)} scores ({', '.join(scores)}); say which one decides: "
                "StopBeatenModels(…, scorer=NAME).",
                parameter="scorer",
            )
        if named not in scores:
            raise NotFoundError(f"sample {sample} has no score {brief(named)}; it has {', '.join(scores)}.")
        if self._score is not None:
            return self._score(scores[named])
        from inspect_ai.scorer import value_to_float

        value = scores[named].score.value
        if isinstance(value, Mapping | list | tuple):
            raise InputError(
                f"the score of sample {sample} is {brief(value)}, which is not one number; pass score=, a function "
                "that makes a number from 0 to 1 of it.",
                parameter="score",
            )
        return float(value_to_float()(value))

    def _advance(self) -> None:
        """Take in all samples, in their order, for which nothing is awaited any more."""
        while self.stop.items < len(self._samples) and not self.stop.finished:
            sample = self._samples[self.stop.items]
            if self._awaited(sample):
                break
            there = [name for name in self.racing if (name, sample) in self._told]
            self.stop.score({name: self._told[name, sample] for name in there})
        self._moved_at = time.monotonic()
        if self._moved is not None:
            self._moved.set()
            self._moved = None

    def _awaited(self, sample: SampleId) -> list[str]:
        """The models in the race that may still get a score for a sample."""
        return [
            name
            for name in self.racing
            if (name, sample) not in self._told and name not in self._ended and (name, sample) not in self._skipped
        ]

    async def _wait(self) -> bool:
        """Wait until something changes; false if nothing has for too long."""
        import anyio

        if self._moved is None:
            self._moved = anyio.Event()
        with anyio.move_on_after(max(0.0, self._moved_at + self.patience - time.monotonic())):
            await self._moved.wait()
        return time.monotonic() < self._moved_at + self.patience

    def _give_up(self, waiting: str) -> None:
        """Go on without scores that do not come."""
        sample = self._samples[self.stop.items]
        late = self._awaited(sample)
        never = [name for name in late if name not in self._running]
        if never:
            raise InputError(
                f"{waiting} waited {self.patience:g} seconds for {', '.join(never)}, which did not "
                "begin. Run all models "
                f"at once: eval(task, model=[…], max_tasks={len(self.stop.models)}); models that are "
                "not run must not "
                "be named."
            )
        for name in late:
            logger.warning("%s has no score for sample %s; it counts as not run.", name, sample)
            if (name, sample) in self._begun:
                self._skipped.add((name, sample))
            else:  # it has stopped, as after an error; if it continues, it counts again
                self._ended.add(name)
        self._advance()


def _active_model() -> str:
    """The model that inspect_ai is running here."""
    try:
        from inspect_ai.model import get_model
    except ImportError as error:
        raise MissingExtraError(
            "StopBeatenModels needs inspect_ai: pip install inspect-ai", extra="inspect"
        ) from error
    return str(get_model())


def _early_stop(sample: SampleId, epoch: int, reason: str) -> "InspectStop":
    from inspect_ai.util import EarlyStop as InspectStop

    return InspectStop(id=sample, epoch=epoch, reason=reason)
