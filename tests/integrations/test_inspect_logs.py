"""Logs of inspect_ai, written by the real library with its mock models."""

import contextlib
import importlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.scorer import Score, Target, accuracy, choice, f1, includes, scorer
from inspect_ai.solver import TaskState

import modelpicker as mp
from tests.cli.running import run
from tests.integrations.inspecting import inspect_log, run_apart
from tests.integrations.tool_files import MODELS, answers, truth

pytestmark = pytest.mark.filterwarnings("ignore")  # those of inspect_ai


@pytest.fixture(scope="module", params=["eval", "json"])
def logs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of each of two models."""
    folder = tmp_path_factory.mktemp("logs")
    for model in MODELS:
        inspect_log(folder, model, answers(model), form=request.param)
    return folder


def test_a_folder_of_two_logs_gives_the_best_model_with_few_labels(logs: Path) -> None:
    done = run("pick", logs, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["pick"] == "mockllm/good"
    assert found["labels_used"] < 40
    assert mp.pick(logs).model == "mockllm/good"


def test_a_log_gives_answers_references_costs_and_texts(logs: Path) -> None:
    found = mp.load_collection(logs)
    assert found.models == ("mockllm/bad", "mockllm/good")
    assert found.labels is not None
    items = [int(str(name).removeprefix("q")) for name in found.fields["id"]]
    said = [found.classes[code] for code in found.predictions[:, 1]]
    assert dict(zip(items, said, strict=True)) == dict(enumerate(answers("good")))
    assert [found.classes[code] for code in found.labels] == [truth(item) for item in items]
    assert found.fields["text"][2] == f"What is {items[2]}+{items[2]}?"
    assert found.measured is not None
    assert found.measured.prices["cost"] == {"mockllm/good": 0.02, "mockllm/bad": 0.01}
    assert set(found.measured.prices["latency"]) == set(found.models)
    assert mp.load_collection(logs, fields=["subject"]).fields["subject"][0] == "sums"


def test_both_forms_of_a_log_say_the_same(tmp_path: Path) -> None:
    for form in ("eval", "json"):
        for model in MODELS:
            inspect_log(tmp_path / form, model, answers(model, 5), form=form)
    assert mp.load_collection(tmp_path / "eval") == mp.load_collection(tmp_path / "json")


def test_free_answers_are_graded_by_the_scorer_that_is_named(tmp_path: Path) -> None:
    for model in MODELS:
        said = answers(model, 12, words="It is ")
        inspect_log(tmp_path, model, said, scorer=[includes(), f1()])
    found = mp.load_collection(tmp_path)
    assert found.measured is not None
    assert found.measured.score == "includes"
    assert mp.pick(tmp_path).model == "mockllm/good"
    graded = mp.load_collection(tmp_path, label="f1").measured
    assert graded is not None
    assert graded.grades is not None
    assert 0.0 < graded.grades.max() < 1.0


def test_epochs_are_one_item(tmp_path: Path) -> None:
    for model in MODELS:
        said = ["0", "2", "0", "7", "7", "2"] if model == "good" else ["1"] * 6
        inspect_log(tmp_path, model, ["0", "2"], epochs=3, outputs=said)
    found = mp.load_collection(tmp_path)
    assert len(found) == 2
    assert any("run up to 3 times" in note for note in found.notes)


@scorer(metrics=[accuracy()])
def several() -> Any:
    async def score(state: TaskState, target: Target) -> Score:
        right = state.output.completion == target.text
        return Score(value={"right": 1 if right else 0, "style": 0.5}, answer=state.output.completion)

    return score


def test_a_scorer_with_several_values_has_a_score_for_each(tmp_path: Path) -> None:
    for model in MODELS:
        inspect_log(tmp_path, model, answers(model, 6), scorer=several())
    assert mp.pick(tmp_path, label="several/right", tolerance=0.3).model == "mockllm/good"
    with pytest.raises(mp.InputError, match='"several/right", "several/style"'):
        mp.load_collection(tmp_path, label="several")


def test_logs_without_scores_and_references_ask_a_person(tmp_path: Path) -> None:
    folder = tmp_path / "LOGS"
    for model in MODELS:
        inspect_log(folder, model, answers(model, 6), scorer=None, targets=[""] * 6)
    done = run("pick", folder, "--ask-for", "grades", answers="yn\nq\n")
    assert done.returncode == 0, done.stderr
    assert "What is" in done.stderr
    assert (tmp_path / "LOGS.pool.jsonl").exists()


def test_samples_that_failed_are_no_answers(tmp_path: Path) -> None:
    inspect_log(tmp_path, "good", answers("good", 6))
    log = inspect_log(tmp_path, "bad", answers("bad", 4), targets=[truth(i) for i in range(6)], fail_on_error=False)
    assert log.samples is not None
    assert sum(sample.error is not None for sample in log.samples) == 2  # the mock had no more outputs
    found = mp.load_collection(tmp_path)
    assert found.predictions[:, 0].tolist()[4:] == [-1, -1]
    assert any("2 answers are errors" in note for note in found.notes)


def test_a_log_that_was_stopped_has_fewer_items(tmp_path: Path) -> None:
    inspect_log(tmp_path, "good", answers("good", 6))
    inspect_log(tmp_path, "bad", answers("bad", 6), limit=4)
    found = mp.load_collection(tmp_path)
    assert len(found) == 6
    assert found.predictions[:, 0].tolist()[4:] == [mp.NOT_RUN] * 2
    assert any("on 2 of 6 items, not every model was run" in note for note in found.notes)


def test_a_log_without_its_header_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    """This is what is left when inspect_ai is killed."""
    inspect_log(tmp_path, "good", answers("good", 6))
    (whole,) = tmp_path.glob("*.eval")
    kept = tmp_path / "cut.eval"
    importlib.import_module("zipfile_zstd")  # it teaches zipfile to read what inspect_ai wrote

    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(kept, "w") as new:
        for name in old.namelist():
            if name.startswith(("_journal/start", "samples/")):
                new.writestr(name, old.read(name))
    assert len(mp.load_collection(kept)) == 6


@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_a_damaged_log_is_an_error_that_names_it(tmp_path: Path, keep: float) -> None:
    inspect_log(tmp_path, "good", answers("good", 6))
    (whole,) = tmp_path.glob("*.eval")
    content = whole.read_bytes()
    whole.write_bytes(content[: int(len(content) * keep)])
    with pytest.raises(mp.InputError, match=r"\.eval is damaged or cut short"):
        mp.load_collection(tmp_path)


def test_every_byte_that_is_wrong_is_an_error_or_does_not_matter(tmp_path: Path) -> None:
    inspect_log(tmp_path, "good", answers("good", 3))
    (whole,) = tmp_path.glob("*.eval")
    content = bytearray(whole.read_bytes())
    for place in range(0, len(content), len(content) // 150):
        whole.write_bytes(bytes([*content[:place], content[place] ^ 0x55, *content[place + 1 :]]))
        with contextlib.suppress(mp.ModelPickerError):  # anything else would be a fault
            mp.load_collection(tmp_path)


def test_two_tasks_are_chosen_by_name(tmp_path: Path) -> None:
    for model in MODELS:
        inspect_log(tmp_path, model, answers(model, 4))
        inspect_log(tmp_path, model, answers(model, 4), name="more")
    with pytest.raises(mp.InputError, match=r"several tasks: .*'more' \(8 answers\)"):
        mp.load_collection(tmp_path)
    assert len(mp.load_collection(tmp_path, task="more")) == 4


def test_a_zip_that_is_no_log_is_an_error(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.eval", "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(mp.InputError, match="is not a log of inspect_ai"):
        mp.load_collection(tmp_path / "x.eval")


def test_choices_are_shown_with_the_question(tmp_path: Path) -> None:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import multiple_choice

    for model, letter in (("good", "B"), ("bad", "A")):
        output = ModelOutput.from_content("mockllm/model", f"ANSWER: {letter}")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        asked = [Sample(id="c", input="Capital of Italy?", choices=["Milan", "Rome"], target="B")]
        task = Task(name="capitals", dataset=asked, solver=multiple_choice(), scorer=choice())
        mock = get_model(f"mockllm/{model}", custom_outputs=[output], memoize=False)
        run_apart(task, model=mock, log_dir=str(tmp_path), display="none")
    found = mp.load_collection(tmp_path)
    assert found.fields["text"][0] == "Capital of Italy?\nA) Milan\nB) Rome"
    assert [found.classes[code] for code in found.predictions[0]] == ["A", "B"]
    assert found.labelled == 1
