"""What evaluation tools write, read by content: answers, labels or grades, prices.

inspect_ai and MLflow write their files themselves (`test_inspect_logs.py`, `test_mlflow_tables.py`). The files of
other tools are built in their documented formats by `tool_files.py`.
"""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import modelpicker as mp
from modelpicker.collections.preview import preview_collection
from tests.cli.running import run
from tests.integrations import tool_files as files


def promptfoo(folder: Path) -> Path:
    return files.promptfoo_results(folder / "results.json")


def promptfoo_lines(folder: Path) -> Path:
    rows = json.loads(promptfoo(folder).read_text())["results"]["results"]
    return files.write_lines(folder / "out.jsonl", rows)


def helm(folder: Path) -> Path:
    return files.helm_suite(folder / "suite")


def helm_shown(folder: Path) -> Path:
    return files.helm_suite(folder / "suite", shown=True)


def lm_eval(folder: Path) -> Path:
    return files.lm_eval_folder(folder / "out")


def lm_eval_writing(folder: Path) -> Path:
    return files.lm_eval_folder(folder / "out", ["writing"])


def openai_evals(folder: Path) -> Path:
    for model in files.MODELS:
        files.openai_log(folder / "logs" / f"{model}.jsonl", model)
    return folder / "logs"


def every_eval_ever(folder: Path) -> Path:
    for model in files.MODELS:
        files.every_eval_records(folder / "eee" / f"{model}_samples.jsonl", model)
    return folder / "eee"


def every_eval_ever_agents(folder: Path) -> Path:
    for model in files.MODELS:
        files.every_eval_records(folder / "eee" / f"{model}_samples.jsonl", model, agentic=True)
    return folder / "eee"


def mlflow(folder: Path) -> Path:
    for model in files.MODELS:
        files.mlflow_table(folder / "runs" / model / "artifacts" / "eval_results_table.json", model)
    return folder / "runs"


TOOLS = [
    promptfoo,
    promptfoo_lines,
    lm_eval,
    lm_eval_writing,
    helm,
    helm_shown,
    openai_evals,
    every_eval_ever,
    every_eval_ever_agents,
    mlflow,
]
Make = Callable[[Path], Path]


@pytest.mark.parametrize("make", TOOLS)
def test_the_results_of_a_tool_are_known_by_their_content(make: Make, tmp_path: Path) -> None:
    found = mp.load_collection(make(tmp_path))
    assert len(found) == 60
    assert sorted(name.split("/")[-1].split(" ")[0] for name in found.models) == ["bad", "good"]
    assert found.labelled == 60
    assert found.accuracies is not None
    good = next(place for place, name in enumerate(found.models) if "good" in name)
    assert found.accuracies[good] == pytest.approx(sum(map(str.isdigit, files.answers("good"))) / 60)
    assert "3+3" in str(found.fields["text"][3])
    assert any("references of" in note and "say what score" in note for note in found.notes)


@pytest.mark.parametrize("make", TOOLS)
def test_pick_names_the_best_model_of_a_tools_results_with_few_labels(make: Make, tmp_path: Path) -> None:
    source = make(tmp_path)
    found = mp.pick(source)
    assert "good" in str(found.model)
    assert found.reached
    assert found.labels_used < 40
    done = run("pick", source, "--json")
    assert done.returncode == 0, done.stderr
    assert "good" in json.loads(done.stdout)["pick"]


@pytest.mark.parametrize("make", TOOLS)
def test_a_verb_that_takes_a_file_takes_a_tools_results(make: Make, tmp_path: Path) -> None:
    source = make(tmp_path)
    shown = run("collections", "show", source)
    assert shown.returncode == 0, shown.stderr
    assert "60 items, 2 models" in shown.stdout
    copied = run("collections", "convert", source, tmp_path / "copy.parquet")
    assert copied.returncode == 0, copied.stderr
    assert mp.load_collection(tmp_path / "copy.parquet") == mp.load_collection(source)


@pytest.mark.parametrize(
    ("make", "score"),
    [
        (promptfoo, "score"),
        (lm_eval, "acc_norm"),
        (helm, "rouge_l"),
        (openai_evals, "correct"),
        (mlflow, "right/v1"),
    ],
)
def test_a_score_is_chosen_by_name_and_becomes_grades(make: Make, score: str, tmp_path: Path) -> None:
    source = make(tmp_path)
    found = mp.load_collection(source, label=score)
    assert found.labelled == 0
    assert found.measured is not None
    assert found.measured.graded == 60
    assert any(f'score "{score}"' in note and "used as the grade" in note for note in found.notes)
    picked = mp.pick(source, label=score)
    assert "good" in str(picked.model)
    assert "mean grade" in picked.certificate.sentence
    done = run("pick", source, "--label", score, "--out", tmp_path / "decisions.jsonl")
    assert done.returncode == 0, done.stderr
    assert "mean grade" in done.stdout
    shown = run("collections", "show", source, "--label", score)
    assert "mean grade" in shown.stdout


def test_references_can_be_chosen_instead_of_scores(tmp_path: Path) -> None:
    found = mp.load_collection(files.helm_suite(tmp_path / "suite"), label="reference")
    assert found.labelled == 60


def test_a_score_that_is_not_there_is_an_error_that_names_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(mp.InputError, match=r'no score "speed".*"exact_match", "rouge_l", "reference"'):
        mp.load_collection(files.helm_suite(tmp_path / "suite"), label="speed")


def test_counts_and_times_of_helm_are_no_grades(tmp_path: Path) -> None:
    with pytest.raises(mp.InputError, match="no score"):
        mp.load_collection(files.helm_suite(tmp_path / "suite"), label="num_references")


def test_a_score_above_1_is_no_grade(tmp_path: Path) -> None:
    rows = [files.promptfoo_row(i, p, m, "x", score=4.0) for p, m in enumerate(files.MODELS) for i in range(4)]
    source = files.promptfoo_results(tmp_path / "results.json", rows)
    with pytest.raises(mp.InputError, match='score "score" has the value 4; grades go from 0'):
        mp.load_collection(source, label="score")
    found = mp.load_collection(source)  # then another score is used
    assert found.measured is not None
    assert found.measured.score == "pass"


@pytest.mark.parametrize(("option", "best"), [((), "good"), (("--price", "cost"), "bad")])
def test_the_mean_cost_is_a_price_if_asked_for(option: tuple[str, ...], best: str, tmp_path: Path) -> None:
    source = promptfoo(tmp_path)
    done = run("pick", source, "--tolerance", "0.7", "--json", *option)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert best in found["pick"]
    if option:
        assert found["options"]["price"] == {"good": 0.02, "bad": 0.01}
        assert mp.pick(source, tolerance=0.7, price="cost").model == best


def test_latencies_are_prices_too_in_seconds(tmp_path: Path) -> None:
    found = mp.load_collection(every_eval_ever(tmp_path))
    assert found.measured is not None
    assert found.measured.prices == {"latency": {"org/bad": 1.5, "org/good": 1.5}}
    assert mp.pick(every_eval_ever(tmp_path / "again"), price="latency", tolerance=0.9).reached


def test_a_price_that_the_file_does_not_have_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(mp.InputError, match="price='cost': the file does not say for every model"):
        mp.pick(lm_eval(tmp_path), price="cost")
    with pytest.raises(mp.InputError, match="price='cost'"):
        mp.pick("digits", price="cost")


def test_a_campaign_takes_a_tools_results_and_their_prices(tmp_path: Path) -> None:
    campaign = mp.create_campaign("memory://tools", "sums", pool=promptfoo(tmp_path), price="cost")
    assert dict(campaign.settings.costs.price or ()) == {"good": 0.02, "bad": 0.01}


def test_two_tasks_in_a_folder_are_chosen_by_name(tmp_path: Path) -> None:
    source = files.lm_eval_folder(tmp_path / "out", ["sums", "writing"])
    with pytest.raises(mp.InputError, match=r"several tasks: 'sums' \(120 answers\), 'writing' \(240 answers\)"):
        mp.load_collection(source)
    assert len(mp.load_collection(source, task="sums")) == 60
    every = mp.load_collection(source, task="*")
    assert len(every) == 120
    assert every.fields["id"][0] == "sums/0"
    assert every.models == ("org/bad", "org/good")
    with pytest.raises(mp.InputError, match="no results of task 'poems'"):
        mp.load_collection(source, task="poems")
    done = run("pick", source)
    assert done.returncode == 1
    assert "--task" in done.stderr
    assert run("pick", source, "--task", "sums").returncode == 0


def test_of_two_filters_one_is_chosen(tmp_path: Path) -> None:
    source = lm_eval_writing(tmp_path)
    found = mp.load_collection(source, label="exact_match,strict")
    assert found.measured is not None
    assert found.measured.means(found.predictions) == [0.0, 0.0]
    assert not any("perplexity" in note for note in found.notes)


def test_items_that_a_model_was_not_run_on_are_kept_and_counted(tmp_path: Path) -> None:
    source = every_eval_ever(tmp_path)
    lines = (source / "bad_samples.jsonl").read_text().splitlines()
    (source / "bad_samples.jsonl").write_text("\n".join(lines[:20]) + "\n")
    found = mp.load_collection(source)
    assert len(found) == found.labelled == 60
    bad = found.models.index("org/bad")
    assert (found.predictions[:, bad] == mp.NOT_RUN).sum() == 40
    assert (found.predictions[:, 1 - bad] != mp.NOT_RUN).all()
    assert any("on 40 of 60 items" in note and "not run: org/bad on 40" in note for note in found.notes)
    pick = mp.pick(source)
    assert pick.model == "org/good"
    assert pick.certificate is not None
    assert pick.certificate.gap > 0.5  # what bad would have said about two thirds of the items, nobody knows
    shown = run("collections", "show", source)
    assert "org/bad" in shown.stdout
    assert "40" in shown.stdout


def test_grades_of_items_that_a_model_was_not_run_on_are_not_its_mistakes(tmp_path: Path) -> None:
    rows = [
        files.promptfoo_row(item, place, model, f"It is {said}", success=True, score=1.0 if item % 3 else 0.5)
        for place, model in enumerate(files.MODELS)
        for item, said in enumerate(files.answers(model))
        if model == "good" or item % 3
    ]
    found = mp.load_collection(files.promptfoo_results(tmp_path / "results.json", rows))
    assert found.measured is not None
    assert found.measured.graded == 60
    assert found.measured.means(found.predictions) == pytest.approx([50 / 60, 1.0])


def test_errors_may_count_as_not_run(tmp_path: Path) -> None:
    rows = [
        files.promptfoo_row(item, place, model, said)
        for place, model in enumerate(files.MODELS)
        for item, said in enumerate(files.answers(model))
    ]
    rows[5] |= {"failureReason": 2, "error": "timeout", "score": 0, "success": False, "response": {}}
    found = mp.load_collection(files.promptfoo_results(tmp_path / "results.json", rows), missing="not-run")
    assert found.predictions[5].tolist()[0] == mp.NOT_RUN
    assert any("1 answers are errors: nothing is known about the model there" in note for note in found.notes)


def test_results_of_other_items_are_an_error(tmp_path: Path) -> None:
    source = every_eval_ever(tmp_path)
    text = (source / "bad_samples.jsonl").read_text()
    (source / "bad_samples.jsonl").write_text(text.replace('"sums_', '"other_'))
    with pytest.raises(mp.InputError, match=r'model "org/bad" was run on 60 of 120 items, and on none of them'):
        mp.load_collection(source)
    (source / "bad_samples.jsonl").write_text(text.replace('"reference": ["4"]', '"reference": ["5"]'))
    with pytest.raises(mp.InputError, match=r"item 'sums_2' has the reference '4', but another model's has '5'"):
        mp.load_collection(source)


def test_the_same_item_twice_is_an_error(tmp_path: Path) -> None:
    source = every_eval_ever(tmp_path)
    with (source / "bad_samples.jsonl").open("a") as file:
        file.write((source / "bad_samples.jsonl").read_text().splitlines()[7] + "\n")
    with pytest.raises(mp.InputError, match=r"bad_samples: item 'sums_7' occurs twice for model 'org/bad'"):
        mp.load_collection(source)


def test_an_error_is_no_answer_and_counts_as_wrong(tmp_path: Path) -> None:
    rows = [
        files.promptfoo_row(item, place, model, said)
        for place, model in enumerate(files.MODELS)
        for item, said in enumerate(files.answers(model))
    ]
    rows[5] |= {"failureReason": 2, "error": "timeout", "score": 0, "success": False, "response": {}}
    found = mp.load_collection(files.promptfoo_results(tmp_path / "results.json", rows))
    assert found.predictions[5].tolist()[0] == -1
    assert any("1 answers are errors, and count as wrong (good 1)" in note for note in found.notes)


def test_repetitions_count_by_their_mean_score_and_their_most_frequent_answer(tmp_path: Path) -> None:
    rows = [
        {**files.promptfoo_row(item, place, model, said), "testIdx": 10 * again + item}
        for place, model in enumerate(files.MODELS)
        for again, said_by_item in enumerate((["0", "2"], ["0", "none"], ["7", "none"]))
        for item, said in enumerate(said_by_item)
    ]
    found = mp.load_collection(files.promptfoo_results(tmp_path / "results.json", rows))
    assert [found.classes[code] for code in found.predictions[:, 0]] == ["0", "none"]
    assert found.measured is not None
    assert found.measured.grades is not None
    assert found.measured.grades[:, 0].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert any("run up to 3 times" in note for note in found.notes)


def test_equal_answers_with_other_scores_are_different_answers(tmp_path: Path) -> None:
    """An agent that says "done" may have done it or not."""
    rows = [
        files.promptfoo_row(item, place, model, "done", score=float(item % 3 > place), success=True)
        for place, model in enumerate(files.MODELS)
        for item in range(9)
    ]
    found = mp.load_collection(files.promptfoo_results(tmp_path / "results.json", rows))
    assert any("in 3 items equal answers have different scores" in note for note in found.notes)
    assert mp.pick(found, tolerance=0.0).model == "good"


def test_an_answer_without_words_that_is_right_is_no_abstention(tmp_path: Path) -> None:
    rows = [
        files.promptfoo_row(item, place, model, "", score=float(place == 0), namedScores={})
        for place, model in enumerate(files.MODELS)
        for item in range(4)
    ]
    found = mp.load_collection(files.promptfoo_results(tmp_path / "results.json", rows))
    assert found.predictions.tolist() == [[0, -1]] * 4


def test_two_models_with_the_same_name_are_told_apart_by_their_files(tmp_path: Path) -> None:
    source = openai_evals(tmp_path)
    files.openai_log(source / "again.jsonl", "good")
    found = mp.load_collection(source)
    assert found.models == ("bad", "good (again)", "good (good)")


def test_providers_that_are_called_the_same_are_numbered(tmp_path: Path) -> None:
    rows = [files.promptfoo_row(item, place, "echo", "x") for place in range(2) for item in range(3)]
    assert mp.load_collection(files.promptfoo_results(tmp_path / "r.json", rows)).models == ("echo", "echo #2")


def test_each_prompt_with_each_provider_is_a_model(tmp_path: Path) -> None:
    rows = [
        files.promptfoo_row(item, 2 * a + b, provider, "x", prompt={"label": label, "raw": label})
        for a, provider in enumerate(("gpt", "llama"))
        for b, label in enumerate(("Short: {{q}}", "Long: {{q}}"))
        for item in range(3)
    ]
    document = json.loads(files.promptfoo_results(tmp_path / "r.json", rows).read_text())
    document["results"]["prompts"] = [{"label": "Short: {{q}}"}, {"label": "Long: {{q}}"}]
    found = mp.load_collection(files.write_json(tmp_path / "r.json", document))
    assert found.models == (
        "gpt · Short: {{q}}",
        "gpt · Long: {{q}}",
        "llama · Short: {{q}}",
        "llama · Long: {{q}}",
    )


def test_models_of_promptfoo_are_in_its_order_and_have_the_same_names_in_both_of_its_files(tmp_path: Path) -> None:
    rows = [
        files.promptfoo_row(item, place, model, said)
        for place, model in enumerate(files.MODELS)
        for item, said in enumerate(files.answers(model))
    ]
    whole = files.promptfoo_results(tmp_path / "results.json", rows[::-1])  # answers come as they are ready
    lines = files.write_lines(tmp_path / "out.jsonl", rows[::-1])
    assert mp.load_collection(whole).models == mp.load_collection(lines).models == ("good", "bad")


def test_the_csv_file_of_promptfoo_is_an_error_that_says_what_to_use(tmp_path: Path) -> None:
    head = "n,[good] What is {{n}}?,Status,Score,Grader Reason,[bad] What is {{n}}?,Status,Score,Grader Reason"
    (tmp_path / "out.csv").write_text(f"{head}\n1,2,PASS,1.00,ok,none,FAIL,0.00,no\n")
    with pytest.raises(mp.InputError, match=r"occurs 2 times.*read as JSON: --output results\.json"):
        mp.load_collection(tmp_path / "out.csv")


def test_models_are_chosen_and_left_out_by_name(tmp_path: Path) -> None:
    source = every_eval_ever(tmp_path)
    assert mp.load_collection(source, models=["org/good"]).models == ("org/good",)
    assert mp.load_collection(source, ignore=["org/good"]).models == ("org/bad",)
    with pytest.raises(mp.InputError, match='has no model "best"; it has org/bad and org/good'):
        mp.load_collection(source, models=["best"])
    with pytest.raises(mp.InputError, match="every model is left out"):
        mp.load_collection(source, ignore=["org/good", "org/bad"])


def test_fields_of_items_are_kept_if_they_are_named_and_slices_are_by_them(tmp_path: Path) -> None:
    source = every_eval_ever(tmp_path)
    assert set(mp.load_collection(source).fields) == {"id", "text"}
    assert mp.load_collection(source, fields=["subject"]).fields["subject"][:2] == ("even", "odd")
    found = mp.pick(source, slice="subject", tolerance=0.1)
    assert found.slices is not None
    with pytest.raises(mp.InputError, match="no column"):
        mp.load_collection(source, fields=["colour"])


def test_labels_from_elsewhere_are_used_instead(tmp_path: Path) -> None:
    source = every_eval_ever(tmp_path)
    labels = {f"sums_{item}": "none" for item in range(60)}
    assert mp.pick(source, labels=labels).model == "org/bad"


def test_one_of_the_models_may_be_a_judge_and_has_no_price_then(tmp_path: Path) -> None:
    source = promptfoo(tmp_path)
    rows = json.loads(source.read_text())["results"]["results"]
    rows += [files.promptfoo_row(item, 2, "third", files.truth(item)) for item in range(60)]
    whole = mp.load_collection(files.promptfoo_results(source, rows), label="score")
    assert mp.pick(whole, judge="third", price="cost", tolerance=0.7).model == "bad"
    done = run("pick", source, "--judge", "third", "--price", "cost", "--label", "score", "--tolerance", "0.7")
    assert done.returncode == 0, done.stderr
    assert "judge: third says something about" in done.stderr
    assert "Pick: bad" in done.stdout


def test_a_preview_of_a_tools_results_shows_models_and_not_the_columns_of_the_file(tmp_path: Path) -> None:
    preview = preview_collection(promptfoo_lines(tmp_path))
    assert [(column.name, column.role) for column in preview.columns] == [
        ("id", "id"),
        ("text", "shown"),
        ("good", "model"),
        ("bad", "model"),
        ("label", "label"),
    ]


def test_a_large_document_is_never_held_whole(tmp_path: Path) -> None:
    """Each answer brings 20 kB that are not needed: 40 MB in all, of which a tenth may be held at a time."""
    path = tmp_path / "results.json"
    row = files.promptfoo_row(0, 0, "good", "x", metadata={"trace": "x" * 20_000})
    with path.open("w") as file:
        file.write('{"evalId": "1", "results": {"version": 3, "prompts": [], "results": [')
        for item in range(2_000):
            case = {"vars": {"question": str(item // 2)}, "assert": []}
            file.write("," * (item > 0) + json.dumps({**row, "promptIdx": item % 2, "testCase": case}))
        file.write("]}}")
    tracemalloc.start()
    assert len(mp.load_collection(path)) == 1_000
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()


def test_scores_are_no_labels_of_a_stream(tmp_path: Path) -> None:
    with pytest.raises(mp.InputError, match="scores, which are grades; only a pool"):
        mp.pick(promptfoo(tmp_path), label="score", setting="stream")


def test_without_references_and_scores_a_person_is_asked_and_sees_the_text(tmp_path: Path) -> None:
    source = every_eval_ever(tmp_path)
    for path in source.iterdir():
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        for row in rows:
            row["input"]["reference"], row["evaluation"] = [], {}
        files.write_lines(path, rows)
    assert mp.load_collection(source).labelled == 0
    done = run("pick", source, "--ask-for", "grades", answers="yn\nq\n")
    assert done.returncode == 0, done.stderr
    assert "+" in done.stderr
    assert "Your answers are in" in done.stdout
    assert (tmp_path / "eee.pool.jsonl").exists()
    assert run("pick", source, answers="q\n").returncode == 0  # the journal beside the folder does not disturb


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"evalId": "1", "results": {"version": 3, "prompts": [], "results": [{"provider": "x"', "cut short"),
        ('{"evalId": "1", "results": {"version": 3, "prompts": [], "results": []}}', "has no answers"),
        ('{"a": 1}', "No evaluation tool that is known"),
        ("[1, 2]", "not an object"),
        ("", "is empty"),
        ("nothing", "not JSON"),
        ('{"a": [1]} {"a": [2]}', "more than one JSON document"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_fault(content: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(content)
    with pytest.raises(mp.ModelPickerError, match=complaint) as caught:
        mp.load_collection(path)
    assert "results.json" in str(caught.value)


def test_a_log_that_is_cut_off_names_the_line(tmp_path: Path) -> None:
    source = openai_evals(tmp_path)
    files.openai_log(source / "bad.jsonl", "bad", broken=True)
    with pytest.raises(mp.InputError, match=r"bad\.jsonl, line 122: this line is not JSON .*cut short"):
        mp.load_collection(source)


def test_results_of_several_tools_in_a_folder_are_an_error(tmp_path: Path) -> None:
    source = openai_evals(tmp_path)
    files.promptfoo_results(source / "results.json")
    with pytest.raises(mp.InputError, match="several tools: OpenAI evals, promptfoo"):
        mp.load_collection(source)


def test_a_folder_without_results_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(mp.NotFoundError, match="no results of an evaluation tool"):
        mp.load_collection(tmp_path)


def test_one_model_is_nothing_to_choose_from(tmp_path: Path) -> None:
    source = openai_evals(tmp_path) / "good.jsonl"
    assert mp.load_collection(source).models == ("good",)
    with pytest.raises(mp.InputError, match="one model"):
        mp.pick(source)


def test_a_name_of_a_model_may_be_that_of_a_column(tmp_path: Path) -> None:
    rows = [
        files.promptfoo_row(item, place, name, "x") for place, name in enumerate(("id", "label")) for item in (1, 2)
    ]
    assert mp.load_collection(files.promptfoo_results(tmp_path / "r.json", rows)).models == (
        "model id",
        "model label",
    )
