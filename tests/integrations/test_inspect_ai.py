"""Early stopping in real runs of inspect_ai, with its mock models."""

import gc
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from modelpicker.integrations.inspect_ai import StopBeatenModels

inspect_ai = pytest.importorskip("inspect_ai")

from inspect_ai import Task  # noqa: E402 (after it is known to be there)
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.log import EvalLog  # noqa: E402
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model  # noqa: E402
from inspect_ai.scorer import Score, Scorer, Target, accuracy, match, mean, scorer  # noqa: E402
from inspect_ai.solver import TaskState, generate  # noqa: E402

from tests.integrations.inspecting import run_apart  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # inspect_ai leaves streams open


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """What inspect_ai leaves behind is collected while its warnings are ignored."""
    yield
    gc.collect()


ACCURACY = {"good": 95, "fair": 60, "awful": 10}
NAMES = [f"mockllm/{name}" for name in ACCURACY]


def mock(name: str, calls: dict[str, int], fails_on: str = "") -> Model:
    """A model that is right on that many of a hundred questions, always the same ones."""

    def answer(messages: Any, *_: Any) -> ModelOutput:
        question = messages[-1].text
        if question == fails_on:
            raise RuntimeError("the model is down")
        calls[name] = calls.get(name, 0) + 1
        right = zlib.crc32(f"{name} {question}".encode()) % 100 < ACCURACY[name]
        made = ModelOutput.from_content(f"mockllm/{name}", "yes" if right else "no")
        made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return made

    return get_model(f"mockllm/{name}", custom_outputs=answer, memoize=False)


def run(
    stop: StopBeatenModels | None,
    folder: Path,
    names: Any = tuple(ACCURACY),
    samples: int = 120,
    fails_on: dict[str, str] | None = None,
    scored: Any = None,
    **options: Any,
) -> tuple[list[EvalLog], dict[str, int]]:
    calls: dict[str, int] = {}
    dataset = MemoryDataset([Sample(id=i, input=f"question {i}", target="yes") for i in range(samples)])
    task = Task(dataset=dataset, solver=generate(), scorer=scored or match(), early_stopping=stop, name="quiz")
    models = [mock(name, calls, (fails_on or {}).get(name, "")) for name in names]
    logs = run_apart(task, model=models, display="none", log_dir=str(folder), log_format="json", **options)
    return logs, calls


def errors(logs: list[EvalLog]) -> str:
    return " ".join(log.error.message for log in logs if log.error is not None)


def test_beaten_models_are_no_longer_run_and_the_winner_is_the_same(tmp_path: Path) -> None:
    whole, all_calls = run(None, tmp_path)
    stop = StopBeatenModels(NAMES, tolerance=0.1)
    logs, calls = run(stop, tmp_path)
    assert [log.status for log in logs] == ["success"] * 3
    accuracies = {log.eval.model: log.results.scores[0].metrics["accuracy"].value for log in whole if log.results}
    assert stop.certified
    assert stop.model == max(accuracies, key=lambda name: accuracies[name]) == "mockllm/good"
    assert sum(all_calls.values()) == 360
    assert sum(calls.values()) == stop.calls < 180
    assert calls["awful"] < calls["fair"]

    noted = [log.results.early_stopping for log in logs if log.results and log.results.early_stopping]
    assert [one.manager for one in noted] == ["modelpicker"] * 3
    assert noted[0].metadata["model"] == "mockllm/good"
    assert stop.document()["calls_saved"] == 360 - stop.calls
    reasons = {stopped.reason for one in noted for stopped in one.early_stops}
    assert "mockllm/good is certified to be the best model" in reasons
    assert any(reason and reason.startswith("mockllm/awful is beaten by") for reason in reasons)


@pytest.mark.slow
def test_with_several_epochs_the_first_decides_and_beaten_models_are_not_run_in_the_others(tmp_path: Path) -> None:
    stop, once = StopBeatenModels(NAMES, tolerance=0.1), StopBeatenModels(NAMES, tolerance=0.1)
    logs, calls = run(stop, tmp_path, epochs=2)
    run(once, tmp_path)
    assert [log.status for log in logs] == ["success"] * 3
    assert (stop.model, stop.certified) == (once.model, once.certified) == ("mockllm/good", True)
    assert sum(calls.values()) == stop.calls < 180
    assert stop.document()["calls_saved"] == 720 - stop.calls


@pytest.mark.slow
def test_models_that_are_still_in_the_race_run_in_all_epochs(tmp_path: Path) -> None:
    stop = StopBeatenModels(NAMES[::2], tolerance=0.01)
    logs, calls = run(stop, tmp_path, ("good", "awful"), samples=8, epochs=3)
    assert [log.status for log in logs] == ["success"] * 2
    assert not stop.certified
    assert calls == {"good": 24, "awful": 24}
    assert (stop.document()["samples"], stop.document()["calls_saved"]) == (8, 0)
    again = StopBeatenModels(NAMES[::2], tolerance=0.01)
    for log in logs:
        again.add_log(log)
    assert again.calls == 48


@pytest.mark.parametrize(
    ("models", "names", "message"),
    [
        (NAMES[:2], ("good", "awful"), "does not know model mockllm/awful"),
        (NAMES[:2], ("good", "good"), "two models are called mockllm/good"),
    ],
)
def test_models_of_other_names_are_refused(
    tmp_path: Path, models: list[str], names: tuple[str, ...], message: str
) -> None:
    logs, _ = run(StopBeatenModels(models, patience=0.2), tmp_path, names, samples=30)
    assert message in errors(logs)


def test_models_that_never_begin_are_named_after_a_while(tmp_path: Path) -> None:
    logs, _ = run(StopBeatenModels(NAMES, patience=0.2), tmp_path, ("good", "fair"), samples=30)
    assert "mockllm/awful, which did not begin" in errors(logs)


@pytest.mark.slow
def test_a_sample_that_fails_counts_as_not_run(tmp_path: Path) -> None:
    stop = StopBeatenModels(NAMES[::2], tolerance=0.1, patience=2.0)
    failing = {"awful": "question 3"}
    logs, _ = run(stop, tmp_path, ("good", "awful"), fails_on=failing, fail_on_error=False)
    assert stop.certified
    assert stop.model == "mockllm/good"
    assert stop.stop.race.calls == 2 * stop.stop.items - 1
    assert {log.status for log in logs} == {"success"}


@scorer(metrics=[accuracy()])
def several() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value={"style": 1, "content": 1 if state.output.completion == target.text else 0})

    return score


@scorer(metrics=[mean()])
def percent() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=100 if state.output.completion == target.text else 0)

    return score


def test_scores_that_are_no_share_are_refused_unless_a_function_makes_one_of_them(tmp_path: Path) -> None:
    pair = NAMES[::2]
    logs, _ = run(StopBeatenModels(pair, patience=0.2), tmp_path, ("good", "awful"), samples=20, scored=percent())
    assert "pass a number from 0 (wrong) to 1 (right)" in errors(logs)
    logs, _ = run(StopBeatenModels(pair, patience=0.2), tmp_path, ("good", "awful"), samples=20, scored=several())
    assert "which is not one number; pass score=" in errors(logs)
    both = [match(), percent()]
    logs, _ = run(StopBeatenModels(pair, patience=0.2), tmp_path, ("good", "awful"), samples=20, scored=both)
    assert "say which one decides" in errors(logs)

    def content(found: Any) -> float:
        return float(found.score.value["content"])

    stop = StopBeatenModels(pair, tolerance=0.1, score=content)
    run(stop, tmp_path, ("good", "awful"), scored=several())
    assert (stop.model, stop.certified) == ("mockllm/good", True)
    stop = StopBeatenModels(pair, tolerance=0.1, scorer="match")
    run(stop, tmp_path, ("good", "awful"), scored=both)
    assert (stop.model, stop.certified) == ("mockllm/good", True)


def test_an_evaluation_goes_on_with_the_scores_of_its_logs(tmp_path: Path) -> None:
    first, calls = run(None, tmp_path, ("good", "awful"), limit=20)
    stop = StopBeatenModels(NAMES[::2], tolerance=0.1)
    for log in first:
        stop.add_log(log)
    assert stop.calls == sum(calls.values()) == 40
    run(stop, tmp_path, ("good", "awful"))
    assert (stop.model, stop.certified) == ("mockllm/good", True)
