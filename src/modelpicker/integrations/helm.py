"""Runs of HELM: `helm-run` writes a folder for each run, which is one model on one scenario.

Read are `run_spec.json`, and of a run `scenario_state.json` with the answers and `per_instance_stats.json` with the
scores; or `display_predictions.json` and `instances.json` of `helm-summarize`, where these are all there is.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from modelpicker.collections.evaluation_records import EvaluationRecord
from modelpicker.collections.evaluation_tools import FileHead
from modelpicker.collections.json_stream import open_json, walk
from modelpicker.integrations.plain_values import as_number, as_text, mapping

NAME = "HELM"
SPEC, STATE, STATS = "run_spec.json", "scenario_state.json", "per_instance_stats.json"
SHOWN, INSTANCES = "display_predictions.json", "instances.json"
# Metrics that are grades, the most telling first; all others of a run come after them, in the order of its file.
TELLING = (
    "exact_match",
    "quasi_exact_match",
    "prefix_exact_match",
    "quasi_prefix_exact_match",
    "final_number_exact_match",
    "math_equiv_chain_of_thought",
    "math_equiv",
    "chain_of_thought_correctness",
    "f1_score",
    "classification_macro_f1",
    "rouge_l",
    "rouge_2",
    "bleu_4",
)
# Counts and times are no grades, even where they are small.
COUNTED = re.compile(r"^(num_|inference_|training_|max_|logprob|logits|prompt_|batch_size|finish_reason)")
CORRECT = "correct"
CALIBRATION = "calibration"
# Where each reference is a request of its own: which of them the model found most likely.
CHOSEN = "predicted_index"

InstanceKey = tuple[str, str]
"""The id of an instance, and the trial."""


class Instance(NamedTuple):
    """An item of a scenario."""

    text: str | None
    references: tuple[str, ...]
    split: str | None


def find_run(head: FileHead) -> Path | None:
    """The folder of the run that a file belongs to."""
    if head.path.name not in (SPEC, STATE, STATS, SHOWN):
        return None
    folder = head.path.parent
    return folder if (folder / SPEC).exists() and any((folder / name).exists() for name in (STATE, SHOWN)) else None


def read_run(path: Path) -> Iterator[EvaluationRecord]:
    """The answers, one at a time; those to items that HELM changed (perturbations) are left out."""
    with open_json(path / SPEC) as stream:
        spec = mapping(stream.value())
    adapter = mapping(spec.get("adapter_spec"))
    model = as_text(adapter.get("model")) or as_text(adapter.get("model_deployment")) or path.name
    task = _task(as_text(spec.get("name")) or path.name)
    scores = _scores(path / STATS) if (path / STATS).exists() else {}
    found = _states(path / STATE, scores) if (path / STATE).exists() else _shown(path)
    for record in found:
        yield record._replace(model=model, task=task)


def _task(name: str) -> str:
    """The name of a run without its model, which is then the same for all models."""
    scenario, _, options = name.partition(":")
    rest = [
        option for option in options.split(",") if option and not option.startswith(("model=", "model_deployment="))
    ]
    return f"{scenario}:{','.join(rest)}" if rest else scenario


def _scores(path: Path) -> dict[InstanceKey, dict[str, float]]:
    """The metrics of each instance and trial."""
    found: dict[InstanceKey, dict[str, float]] = {}
    with open_json(path) as stream:
        for _, entry in walk(stream):
            if mapping(entry).get("perturbation") is None:
                stats = entry.get("stats") if isinstance(entry, Mapping) else None
                named = {
                    str(mapping(one.get("name")).get("name")): as_number(one.get("mean")) for one in stats or ()
                }
                found.setdefault(_key(entry), {}).update(_telling(named))
    return found


def _telling(named: Mapping[str, float | None]) -> dict[str, float]:
    """The metrics that may be grades, the most telling first."""
    known = {name: value for name, value in named.items() if value is not None and not COUNTED.match(name)}
    order = sorted(known, key=lambda name: TELLING.index(name) if name in TELLING else len(TELLING))
    return {name: known[name] for name in order}


def _key(entry: Any) -> InstanceKey:
    return str(entry.get("instance_id")), str(entry.get("train_trial_index", 0))


def _instance(value: Any) -> Instance:
    """An item as HELM describes it."""
    found = mapping(value)
    references = [
        as_text(mapping(mapping(one).get("output")).get("text"))
        for one in found.get("references") or ()
        if CORRECT in (mapping(one).get("tags") or ())
    ]
    asked = as_text(mapping(found.get("input")).get("text"))
    return Instance(asked, tuple(text for text in references if text), as_text(found.get("sub_split")))


def _states(path: Path, scores: Mapping[InstanceKey, dict[str, float]]) -> Iterator[EvaluationRecord]:
    """The answers in a scenario state."""
    with open_json(path) as stream:
        for key, state in walk(stream, ("request_states",)):
            instance = mapping(mapping(state).get("instance"))
            if key != "request_states" or instance.get("perturbation") is not None:
                continue
            place = str(instance.get("id")), str(state.get("train_trial_index", 0))
            told = scores.get(place, {})
            chosen = state.get("reference_index")
            if state.get("request_mode") == CALIBRATION or (chosen is not None and told.get(CHOSEN) != chosen):
                continue
            result = mapping(state.get("result"))
            yield _record(place, _instance(instance), _said(state, result, instance), told)._replace(
                latency=as_number(result.get("request_time")),
                failed=result.get("success") is False,
            )


def _said(state: Mapping[str, Any], result: Mapping[str, Any], instance: Mapping[str, Any]) -> str | None:
    """What a model wrote; of a choice the text of the option that it named."""
    if state.get("reference_index") is not None:
        return as_text(mapping(mapping(instance["references"][state["reference_index"]]).get("output")).get("text"))
    completions = result.get("completions") or ()
    text = as_text(mapping(completions[0]).get("text")) if completions else None
    options = mapping(state.get("output_mapping"))
    return as_text(options.get((text or "").strip())) or text if options else text


def _shown(path: Path) -> Iterator[EvaluationRecord]:
    """The answers in the smaller files."""
    items: dict[str, Instance] = {}
    if (path / INSTANCES).exists():
        with open_json(path / INSTANCES) as stream:
            for _, found in walk(stream):
                if mapping(found).get("perturbation") is None:
                    items[str(mapping(found).get("id"))] = _instance(found)
    with open_json(path / SHOWN) as stream:
        for _, entry in walk(stream):
            if mapping(entry).get("perturbation") is None:
                said = as_text(entry.get("mapped_output")) or as_text(entry.get("predicted_text"))
                told = {name: as_number(value) for name, value in mapping(entry.get("stats")).items()}
                known = items.get(str(entry.get("instance_id")), Instance(None, (), None))
                yield _record(_key(entry), known, said, _telling(told))


def _record(place: InstanceKey, instance: Instance, said: str | None, told: dict[str, float]) -> EvaluationRecord:
    return EvaluationRecord(
        item=place[0],
        model="",
        answer=None if said is None else said.strip(),
        epoch=place[1],
        text=instance.text,
        references=instance.references,
        scores={name: value for name, value in told.items() if name != CHOSEN},
        fields={} if instance.split is None else {"sub_split": instance.split},
    )
