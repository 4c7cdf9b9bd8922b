"""Files as evaluation tools write them, in their documented formats; inspect_ai writes its own."""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

MODELS = {"good": 0.9, "bad": 0.4}
COSTS = {"good": 0.02, "bad": 0.01}


def truth(item: int) -> str:
    return str(2 * item)


def answers(model: str, items: int = 60, *, words: str = "") -> list[str]:
    """What a model answers: right as often as its name says."""
    drawn = random.Random(model)
    return [f"{words}{truth(item) if drawn.random() < MODELS[model] else 'none'}" for item in range(items)]


def write_json(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def promptfoo_row(item: int, place: int, provider: str, answer: str, **more: Any) -> dict[str, Any]:
    right = answer == truth(item)
    return {
        "cost": COSTS.get(provider, 0.0),
        "gradingResult": {"pass": right, "score": float(right), "reason": "", "namedScores": {}},
        "id": f"{item}-{place}",
        "latencyMs": 250,
        "namedScores": {"short": 0.5},
        "prompt": {"raw": f"What is {item}+{item}?", "label": "What is {{question}}?"},
        "promptId": str(place),
        "promptIdx": place,
        "provider": {"id": provider, "label": ""},
        "response": {"output": answer, "cached": False},
        "score": float(right),
        "success": right,
        "testCase": {"vars": {"question": f"{item}+{item}"}, "assert": [{"type": "equals", "value": truth(item)}]},
        "testIdx": item,
        "vars": {"question": f"{item}+{item}"},
        "failureReason": 0 if right else 1,
        **more,
    }


def promptfoo_results(path: Path, rows: Sequence[Mapping[str, Any]] | None = None) -> Path:
    """`promptfoo eval --output results.json`, version 3."""
    if rows is None:
        rows = [
            promptfoo_row(item, place, model, said)
            for place, model in enumerate(MODELS)
            for item, said in enumerate(answers(model))
        ]
    prompts = [{"raw": "What is {{question}}?", "label": "What is {{question}}?", "provider": m} for m in MODELS]
    results = {"version": 3, "timestamp": "2026-01-01", "prompts": prompts, "results": rows, "stats": {}}
    return write_json(path, {"evalId": "eval-1", "results": results, "config": {}, "shareableUrl": None})


def lm_eval_choice(model: str, items: int = 60) -> list[dict[str, Any]]:
    """Samples of a multiple-choice task."""
    rows = []
    for item, said in enumerate(answers(model, items)):
        options = [truth(item), "none", "many"]
        picked = options.index(said)
        chances = [["-0.5" if place == picked else "-2.5", "False"] for place in range(3)]
        rows.append(
            {
                "doc_id": item,
                "doc": {"question": f"{item}+{item}?", "subject": "odd" if item % 2 else "even"},
                "target": "0",
                "arguments": {
                    f"gen_args_{place}": {"arg_0": f"Q: {item}+{item}?\nA:", "arg_1": f" {option}"}
                    for place, option in enumerate(options)
                },
                "resps": [[chance] for chance in chances],
                "filtered_resps": chances,
                "filter": "none",
                "metrics": ["acc", "acc_norm"],
                "doc_hash": "0",
                "prompt_hash": "0",
                "target_hash": "0",
                "acc": float(picked == 0),
                "acc_norm": float(picked == 0),
            }
        )
    return rows


def lm_eval_text(model: str, items: int = 60) -> list[dict[str, Any]]:
    """Samples of a task in which models write, with two filters."""
    return [
        {
            "doc_id": item,
            "doc": {"question": f"{item}+{item}?"},
            "target": truth(item),
            "arguments": {"gen_args_0": {"arg_0": f"Q: {item}+{item}?\nA:", "arg_1": {"until": ["\n"]}}},
            "resps": [[said]],
            "filtered_resps": [said if chosen == "loose" else "[invalid]"],
            "filter": chosen,
            "metrics": ["exact_match", "perplexity"],
            "exact_match": float(said == truth(item) and chosen == "loose"),
            "perplexity": 12.5,
        }
        for item, said in enumerate(answers(model, items))
        for chosen in ("loose", "strict")
    ]


def lm_eval_folder(folder: Path, tasks: Sequence[str] = ("sums",)) -> Path:
    """`lm_eval --log_samples --output_path FOLDER`: a folder per model, a file per task."""
    for model in MODELS:
        for task in tasks:
            rows = lm_eval_text(model) if task == "writing" else lm_eval_choice(model)
            name = f"samples_{task}_2026-11-18T20-20-01.289294.jsonl"
            write_lines(folder / f"org__{model}" / name, rows)
        results = folder / f"org__{model}" / "results_2026-11-18T20-20-01.289294.json"
        write_json(results, {"results": {}, "config": {"model": "dummy"}, "model_name": f"org/{model}"})
    return folder


def helm_suite(folder: Path, *, shown: bool = False) -> Path:
    """`helm-run`: a folder per run; or, if `shown`, the smaller files that `helm-summarize` writes beside them."""
    for model in MODELS:
        run = folder / f"sums:level=1,model=org_{model}"
        spec = {
            "name": run.name,
            "scenario_spec": {},
            "adapter_spec": {"method": "generation", "model": f"org/{model}"},
        }
        write_json(run / "run_spec.json", spec)
        states, stats, predictions, instances = [], [], [], []
        for item, said in enumerate(answers(model)):
            references = [
                {"output": {"text": truth(item)}, "tags": ["correct"]},
                {"output": {"text": "no"}, "tags": []},
            ]
            instance = {
                "input": {"text": f"{item}+{item}?"},
                "references": references,
                "split": "test",
                "id": f"id{item}",
            }
            place = {"instance_id": f"id{item}", "train_trial_index": 0}
            answer = {"success": True, "completions": [{"text": f" {said}", "logprob": 0}], "request_time": 0.5}
            states.append({"instance": instance, "train_trial_index": 0, "request": {}, "result": answer})
            changed = {**instance, "perturbation": {"name": "typos"}}
            states.append({"instance": changed, "train_trial_index": 0, "request": {}, "result": answer})
            right = float(said == truth(item))
            found = {"num_references": 2.0, "exact_match": right, "rouge_l": right / 2, "inference_runtime": 0.5}
            named = [
                {"name": {"name": name, "split": "test"}, "count": 1, "mean": mean} for name, mean in found.items()
            ]
            stats.append({**place, "stats": named})
            stats.append({**place, "perturbation": {"name": "typos"}, "stats": named[:1]})
            predictions.append({**place, "predicted_text": f" {said}", "stats": {"exact_match": right}})
            instances.append(instance)
        if shown:
            write_json(run / "display_predictions.json", predictions)
            write_json(run / "instances.json", instances)
        else:
            write_json(
                run / "scenario_state.json", {"adapter_spec": spec["adapter_spec"], "request_states": states}
            )
            write_json(run / "per_instance_stats.json", stats)
    return folder


def openai_log(path: Path, model: str, *, kind: str = "match", broken: bool = False) -> Path:
    """`oaieval MODEL sums --record_path PATH`."""
    rows: list[dict[str, Any]] = [
        {"spec": {"completion_fns": [model], "eval_name": "sums.dev.v0", "base_eval": "sums", "run_config": {}}}
    ]
    for item, said in enumerate(answers(model)):
        asked = [{"role": "system", "content": "Add."}, {"role": "user", "content": f"{item}+{item}?"}]
        event = {"run_id": "1", "event_id": 0, "sample_id": f"sums.dev.{item}", "created_by": "", "created_at": ""}
        rows.append({**event, "type": "sampling", "data": {"prompt": asked, "sampled": [said]}})
        right = said == truth(item)
        if kind == "metrics":
            rows.append({**event, "type": "metrics", "data": {"accuracy": float(right), "choice": "Y"}})
            continue
        picked = truth(item) if right else None
        told = {
            "correct": right,
            "expected": truth(item),
            "picked": picked,
            "sampled": said,
            "options": [truth(item)],
        }
        rows.append({**event, "type": "match", "data": told})
    rows.append({"final_report": {"accuracy": 0.5}})
    write_lines(path, rows)
    if broken:
        path.write_text(path.read_text()[:-30])
    return path


def every_eval_records(path: Path, model: str, *, agentic: bool = False) -> Path:
    """`NAME_samples.jsonl`, schema instance_level_eval_0.2.1."""
    rows = []
    for item, said in enumerate(answers(model)):
        row: dict[str, Any] = {
            "schema_version": "instance_level_eval_0.2.1",
            "evaluation_id": f"sums/{model}/1",
            "model_id": f"org/{model}",
            "evaluation_name": "sums",
            "sample_id": f"sums_{item}",
            "interaction_type": "agentic" if agentic else "single_turn",
            "input": {"raw": f"{item}+{item}?", "reference": [truth(item)]},
            "output": None if agentic else {"raw": [said]},
            "answer_attribution": [],
            "evaluation": {"score": float(said == truth(item)), "is_correct": said == truth(item)},
            "performance": {"latency_ms": 1500.0},
            "metadata": {"subject": "odd" if item % 2 else "even"},
        }
        if agentic:
            row["messages"] = [
                {"turn_idx": 0, "role": "user", "content": f"{item}+{item}?"},
                {"turn_idx": 1, "role": "assistant", "content": said},
            ]
        rows.append(row)
    return write_lines(path, rows)


def mlflow_table(path: Path, model: str) -> Path:
    """`eval_results_table.json`, as `mlflow.log_table` writes it."""
    columns = ["inputs", "ground_truth", "outputs", "right/v1/score", "right/v1/justification", "latency"]
    data = [
        [f"{item}+{item}?", truth(item), said, float(said == truth(item)), "", 0.25]
        for item, said in enumerate(answers(model))
    ]
    return write_json(path, {"columns": columns, "data": data})
