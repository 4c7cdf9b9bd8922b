"""Samples of lm-evaluation-harness: `lm_eval --log_samples --output_path OUT` writes a folder for each model.

Each task has a file `samples_TASK_DATE.jsonl` with one line per item and filter.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from modelpicker.collections.evaluation_records import EvaluationRecord
from modelpicker.collections.evaluation_tools import FileHead
from modelpicker.collections.json_stream import json_lines
from modelpicker.integrations.plain_values import as_number, as_text, mapping

NAME = "lm-evaluation-harness"
FILE = re.compile(r"samples_(?P<task>.+)_\d{4}-\d\d-\d\dT[\d.:-]+$")
# Metrics of which less is better.
LOWER = ("perplexity", "bits_per_byte", "brier", "ter", "loss")
UNFILTERED = "none"


def find_run(head: FileHead) -> Path | None:
    """The file itself, if lm-evaluation-harness wrote it."""
    return head.path if head.has("doc_id", "filtered_resps", "arguments") else None


def read_run(path: Path) -> Iterator[EvaluationRecord]:
    """The answers, one at a time."""
    named = FILE.match(path.stem)
    task = named["task"] if named else path.stem.removeprefix("samples_")
    model = path.parent.name.replace("__", "/") if named else path.stem
    for sample in json_lines(path):
        answer, reference = _answer(sample)
        doc = mapping(sample.get("doc"))
        yield EvaluationRecord(
            item=str(sample.get("doc_id")),
            model=model,
            answer=answer,
            task=task,
            text=_asked(sample),
            references=() if reference is None else (reference,),
            scores=_scores(sample),
            fields=doc,
        )


def _requests(sample: Mapping[str, Any]) -> list[list[Any]]:
    """What the model was asked: for each request its arguments."""
    found = sample.get("arguments")
    if isinstance(found, Mapping):
        return [list(mapping(one).values()) for one in found.values()]
    return [list(one) for one in found] if isinstance(found, list) else []


def _answer(sample: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The answer, and the one that is right; of a choice the text of the option that is most likely."""
    found, target = sample.get("filtered_resps"), as_text(sample.get("target"))
    likely = [_likelihood(one) for one in found] if isinstance(found, list) else []
    known = [value for value in likely if value is not None]
    if not known or len(known) < len(likely):
        first = found[0] if isinstance(found, list) and found else found
        return as_text(first), target
    if len(known) == 1:
        return ("yes" if _greedy(found) else "no"), None  # only whether the model would have said this text
    options = _options(sample, len(known))
    place = max(range(len(known)), key=lambda option: known[option])
    right = int(target) if target is not None and target.isdigit() else -1
    return options[place], options[right] if 0 <= right < len(options) else target


def _likelihood(response: Any) -> float | None:
    """The logarithm of the likelihood of an option, if that is what the model gave; numbers may be texts."""
    if not (isinstance(response, list) and len(response) == 2 and str(response[1]) in ("True", "False")):
        return None
    try:
        return float(response[0])
    except (TypeError, ValueError):
        return None


def _greedy(found: Any) -> bool:
    return str(found[0][1]) == "True"


def _options(sample: Mapping[str, Any], count: int) -> list[str]:
    """The texts of the options, if they differ; else their numbers."""
    texts = [str(arguments[1]).strip() for arguments in _requests(sample)[:count] if len(arguments) > 1]
    return texts if len(set(texts)) == count else [str(place) for place in range(count)]


def _asked(sample: Mapping[str, Any]) -> str | None:
    """The text of the first request."""
    requests = _requests(sample)
    return as_text(requests[0][0]) if requests and requests[0] else None


def _scores(sample: Mapping[str, Any]) -> dict[str, float]:
    """The metrics of a sample that are better the higher they are; with their filter, if there is one."""
    metrics, chosen = sample.get("metrics"), as_text(sample.get("filter")) or UNFILTERED
    ending = "" if chosen == UNFILTERED else f",{chosen}"
    names = metrics if isinstance(metrics, list) else [name for name in ("acc", "exact_match") if name in sample]
    found = {str(name): as_number(sample.get(str(name))) for name in names}
    return {
        f"{name}{ending}": value
        for name, value in found.items()
        if value is not None and not any(word in name for word in LOWER)
    }
