"""Logs that the real inspect_ai writes, with its mock models."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval  # noqa: A004 - its name
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate

from tests.integrations.tool_files import COSTS, truth


def inspect_log(
    folder: Path,
    model: str,
    said: Sequence[str],
    *,
    form: str = "eval",
    name: str = "sums",
    scorer: Any = (),
    targets: Sequence[str] | None = None,
    **more: Any,
) -> EvalLog:
    """Run a task on a mock model that gives these answers in their order, and write its log."""
    right = [truth(item) for item in range(len(said))] if targets is None else targets
    asked = [
        Sample(id=f"q{item}", input=f"What is {item}+{item}?", target=answer, metadata={"subject": "sums"})
        for item, answer in enumerate(right)
    ]
    epochs = more.pop("epochs", 1)
    task = Task(
        name=name, dataset=asked, solver=generate(), scorer=match() if scorer == () else scorer, epochs=epochs
    )
    outputs = []
    for answer in said if epochs == 1 else more.pop("outputs"):
        output = ModelOutput.from_content("mockllm/model", answer)
        output.usage = ModelUsage(input_tokens=3, output_tokens=1, total_tokens=4, total_cost=COSTS.get(model))
        outputs.append(output)  # with a usage, inspect_ai need not count tokens, which fetches a table
    mock = get_model(f"mockllm/{model}", custom_outputs=outputs, memoize=False)
    options = {"max_samples": 1, "max_connections": 1, "display": "none", **more}
    (log,) = run_apart(task, model=mock, log_dir=str(folder), log_format=form, **options)
    return log


def run_apart(task: Task, **options: Any) -> list[EvalLog]:
    """Run a task in a thread of its own: in this one, Playwright may have an event loop that is running."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(eval, task, **options).result()
