"""Tasks to files for other tools, and annotations back: every tool, every kind of label, and what goes wrong."""

import csv
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from openpyxl import load_workbook

import modelpicker as mp
from modelpicker.campaigns.results.labels import as_table
from modelpicker.errors import ConflictError, InputError, NotFoundError
from modelpicker.integrations.annotation_files import read_annotations, write_tasks
from tests.cli.running import run
from tests.integrations.annotators import annotated, campaign, fill, label, says

TOOLS = {"csv": ".csv", "xlsx": ".xlsx", "label-studio": ".json", "prodigy": ".jsonl", "argilla": ".json"}
KINDS = ("class", "grades", "preference")
SKIPPING = tuple(TOOLS)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'campaigns.db'}"


def out(tmp_path: Path, tool: str, name: str = "tasks") -> Path:
    return tmp_path / f"{name}{TOOLS[tool]}"


@pytest.mark.parametrize("keys", [True, False], ids=["keys", "ids"])
@pytest.mark.parametrize("ask_for", KINDS)
@pytest.mark.parametrize("tool", TOOLS)
def test_items_go_out_as_tasks_and_their_labels_come_back_once(
    tmp_path: Path, tool: Any, ask_for: str, keys: bool
) -> None:
    pool = campaign("memory://annotators", ask_for, keys=keys, name=f"{tool} {ask_for} {keys}")
    path = out(tmp_path, tool)
    tasks, paths = write_tasks(pool, path, tool, count=3)
    assert len(tasks.tasks) == 3
    assert paths[0] == path
    assert read_annotations(pool, path).empty == 3 if tool not in ("prodigy", "argilla") else True
    fill(tool, path, ask_for)
    taken = read_annotations(pool, path)
    assert (taken.labels, taken.problems) == (3, [])
    for task in tasks.tasks:
        said = says({"answers": list(task.answers)})
        assert pool.label_of(task.id) == pool.as_stored(task.id, label(ask_for, said))
    events = pool.events
    again = read_annotations(pool, path)
    assert (again.labels, again.known, pool.events) == (0, 3, events)


@pytest.mark.parametrize("tool", SKIPPING)
def test_what_people_skip_is_a_skip(tmp_path: Path, url: str, tool: Any) -> None:
    pool = campaign(url)
    path = out(tmp_path, tool)
    write_tasks(pool, path, tool, count=1)
    fill(tool, path, "class", lambda _: None)
    taken = read_annotations(pool, path)
    assert (taken.labels, taken.skips, taken.problems, pool.counts().skipped) == (0, 1, [], 1)
    assert read_annotations(pool, path).known == 1


def test_the_next_tasks_are_others_until_the_hours_are_over(tmp_path: Path, url: str) -> None:
    pool = campaign(url)
    first, _ = write_tasks(pool, tmp_path / "a.csv", "csv", count=3)
    second, _ = write_tasks(pool, tmp_path / "b.csv", "csv", count=3)
    third, written = write_tasks(pool, tmp_path / "c.csv", "csv", count=3)
    assert [len(one.tasks) for one in (first, second, third)] == [3, 1, 0]
    assert not {task.id for task in first.tasks} & {task.id for task in second.tasks}
    assert written == []
    assert not (tmp_path / "c.csv").exists()


def test_more_tasks_than_a_pool_asks_for_at_once(tmp_path: Path) -> None:
    rows = [["a", "b"], ["b", "a"]] * 130
    pool = mp.create_campaign("memory://many", "many", pool=rows, tolerance=0.0)
    tasks, _ = write_tasks(pool, tmp_path / "a.csv", "csv", count=250)
    assert len({task.id for task in tasks.tasks}) == 250


def test_a_cell_is_no_formula_to_a_spreadsheet(tmp_path: Path, url: str) -> None:
    pool = campaign(url, "grades")
    write_tasks(pool, tmp_path / "tasks.csv", "csv", count=4)
    with (tmp_path / "tasks.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = {cell for row in csv.reader(file) for cell in row}
    assert {"'=SUM(A1)", "'-two", 'three, "3"'} <= cells
    assert not any(cell.startswith(("=", "-", "+", "@")) for cell in cells)
    write_tasks(campaign(url, "grades", name="again"), tmp_path / "tasks.xlsx", "xlsx", count=4)
    sheet = load_workbook(tmp_path / "tasks.xlsx").active
    found = {cell.value: cell.data_type for row in sheet.iter_rows() for cell in row if cell.value}
    assert found["=SUM(A1)"] == "s"


@pytest.mark.parametrize("ask_for", KINDS)
def test_label_studios_interface_names_the_fields_that_its_tasks_have(
    tmp_path: Path, url: str, ask_for: str
) -> None:
    pool = campaign(url, ask_for)
    _, (path, config) = write_tasks(pool, tmp_path / "tasks.json", "label-studio", count=2)
    assert config.name == "tasks.config.xml"
    root = ElementTree.fromstring(config.read_text(encoding="utf-8"))  # noqa: S314 - it is ours
    shown = {tag.get("value", "")[1:].partition("[")[0] for tag in root.iter() if tag.get("name")}
    data = [task["data"] for task in json.loads(path.read_text(encoding="utf-8"))]
    assert all((shown - {""}) <= set(one) for one in data)
    named = {tag.get("name") for tag in root.iter()}
    wanted = {tag.get("toName") for tag in root.iter()} - {None}
    assert {name for one in wanted for name in str(one).split(",")} <= named
    if ask_for == "class":
        assert {tag.get("value") for tag in root.iter("Choice")} == {"spam", "ham"}


def test_pictures_are_shown_as_pictures(tmp_path: Path) -> None:
    fields = {"photo": ["https://example.org/a.png", "https://example.org/b.JPG?x=1"], "text": ["a.png", "/b"]}
    items = mp.ModelCollection([["cat", "dog"], ["dog", "cat"]], fields=fields)
    pool = mp.create_campaign("memory://pictures", "pictures", pool=items)
    write_tasks(pool, tmp_path / "tasks.json", "label-studio")
    text = (tmp_path / "tasks.config.xml").read_text(encoding="utf-8")
    assert '<Image name="field_0" value="$photo"/>' in text
    assert '<Text name="field_1" value="$text"/>' in text


def label_studio(tmp_path: Path, pool: Any, *annotations: list[tuple[Any, Any]]) -> Path:
    """An export with these annotations: who said what, by task."""
    path = tmp_path / "export.json"
    write_tasks(pool, path, "label-studio", count=4, hours=0, force=True)
    tasks = json.loads(path.read_text(encoding="utf-8"))
    number = 0
    for task, said in zip(tasks, annotations, strict=False):
        task["annotations"] = []
        for who, what in said:
            number += 1
            task["annotations"].append(annotated(task, "class", what, number, who))
    path.write_text(json.dumps(tasks[: len(annotations)]), encoding="utf-8")
    return path


def test_several_annotators_of_one_item_where_one_is_asked(tmp_path: Path, url: str) -> None:
    pool = campaign(url)
    path = label_studio(
        tmp_path,
        pool,
        [(1, "spam"), (2, "spam")],  # they agree
        [(1, "spam"), (2, "ham")],  # they do not
        [(1, None), (2, "ham")],  # one skipped it
        [(1, "spam"), (1, "ham")],  # one person twice: the later one holds
    )
    taken = read_annotations(pool, path)
    assert (taken.labels, taken.skips, len(taken.problems)) == (3, 0, 1)
    item, error = taken.problems[0]
    assert item.startswith("msg-")
    assert isinstance(error, ConflictError)
    assert "different things" in str(error)
    assert sorted(str(answer.label) for answer in pool.labels()) == ["ham", "ham", "spam"]
    assert read_annotations(pool, path).labels == 0


def test_several_annotators_where_two_people_label_each_item(tmp_path: Path, url: str) -> None:
    pool = campaign(url, overlap=2)
    path = label_studio(tmp_path, pool, [(1, "spam"), (2, "spam")], [(1, "spam"), (2, "ham")], [({"id": 1}, "ham")])
    taken = read_annotations(pool, path)
    assert (taken.labels, taken.problems) == (5, [])
    counts = pool.counts()
    assert (counts.labels, counts.conflicts) == (1, 1)
    said = {opinion.by.partition("/")[0] for conflict in pool.conflicts() for opinion in conflict.opinions}
    assert said == {"label-studio-1", "label-studio-2"}
    assert read_annotations(pool, path).known == 5


@pytest.mark.parametrize("overlap", [1, 2])
def test_an_answer_that_was_changed_replaces_the_other_if_that_is_wanted(
    tmp_path: Path, url: str, overlap: int
) -> None:
    pool = campaign(url, overlap=overlap)
    people = [(1, "spam"), (2, "spam")][:overlap]
    read_annotations(pool, label_studio(tmp_path, pool, people))
    number = pool.labels()[0].id
    changed = [json.loads((tmp_path / "export.json").read_text(encoding="utf-8"))[0]]
    changed[0]["annotations"][0]["result"][0]["value"]["choices"] = ["ham"]
    (tmp_path / "new.json").write_text(json.dumps(changed), encoding="utf-8")
    (refused,) = read_annotations(pool, tmp_path / "new.json").problems
    assert "replace" in str(refused[1])
    assert pool.label_of(number) == "spam"
    assert read_annotations(pool, tmp_path / "new.json", replace=True).problems == []
    assert pool.label_of(number) == ("ham" if overlap == 1 else None)
    assert pool.counts().conflicts == overlap - 1
    events = pool.events
    read_annotations(pool, tmp_path / "new.json", replace=True)
    assert pool.events == events


def test_items_that_are_not_in_the_campaign_are_named_and_the_rest_is_taken(tmp_path: Path, url: str) -> None:
    pool = campaign(url)
    (tmp_path / "labels.csv").write_text("id,label\nmsg-1,spam\nmsg-99,ham\n7,ham\n2,ham\n", encoding="utf-8")
    taken = read_annotations(pool, tmp_path / "labels.csv")
    assert taken.labels == 2
    assert [item for item, _ in taken.problems] == ["msg-99", "7"]
    assert all(isinstance(error, NotFoundError) for _, error in taken.problems)


def test_a_task_without_a_key_belongs_to_the_campaign_that_wrote_it(tmp_path: Path, url: str) -> None:
    one, other = campaign(url, keys=False), campaign(url, keys=False, name="other")
    write_tasks(one, tmp_path / "tasks.json", "label-studio", count=1)
    fill("label-studio", tmp_path / "tasks.json", "class")
    one.rename("renamed")
    (problem,) = read_annotations(other, tmp_path / "tasks.json").problems
    assert "another campaign, 'tickets'" in str(problem[1])
    assert read_annotations(one, tmp_path / "tasks.json").labels == 1


def test_the_table_of_labels_that_we_export_ourselves_can_be_taken_in(tmp_path: Path, url: str) -> None:
    one = campaign(url)
    first, *others = one.pending(3)
    one.skip(first.id)
    for query in others:
        one.tell(query.id, "spam", annotator="mia")
    columns, rows = as_table(one.labels())
    with (tmp_path / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    other = campaign(url, name="other")
    other.pending(4)
    taken = read_annotations(other, tmp_path / "labels.csv", id="key")
    assert (taken.labels, taken.skips, taken.problems) == (2, 1, [])
    assert sorted(answer.by or "" for answer in other.labels()) == ["", "mia", "mia"]


def test_classes_are_found_by_their_name_in_any_case_and_numbers_are_numbers(tmp_path: Path) -> None:
    pool = mp.create_campaign("memory://digits", "digits", pool=[[3, 8], [8, 3]], tolerance=0.0)
    (tmp_path / "a.tsv").write_text("modelpicker_id\tLabel\n#0\t3\n#1\t8\n", encoding="utf-8")
    assert read_annotations(pool, tmp_path / "a.tsv").labels == 2
    assert [answer.label for answer in pool.labels()] == [8, 3]
    words = mp.create_campaign("memory://digits", "words", pool=[["Spam", "Ham"]], tolerance=0.0)
    (tmp_path / "a.csv").write_text("id,label\n0, spam \n", encoding="utf-8")
    read_annotations(words, tmp_path / "a.csv")
    assert words.label_of(0) == "Spam"


def test_prodigy_rejects(tmp_path: Path, url: str) -> None:
    pool = campaign(url, "grades")
    write_tasks(pool, tmp_path / "a.jsonl", "prodigy", count=1)
    row = json.loads((tmp_path / "a.jsonl").read_text(encoding="utf-8"))
    (tmp_path / "b.jsonl").write_text(json.dumps({**row, "accept": [], "answer": "reject"}), encoding="utf-8")
    read_annotations(pool, tmp_path / "b.jsonl")
    assert pool.labels()[0].label == mp.Label.all_wrong()
    words = campaign(url, name="words")
    lines = [
        {"label": "spam", "answer": "accept", "modelpicker": {"id": None, "key": "msg-0"}},
        {"label": "spam", "answer": "reject", "modelpicker": {"id": None, "key": "msg-1"}},
        {"label": "spam", "answer": "ignore", "modelpicker": {"id": None, "key": "msg-2"}},
    ]
    words.pending(4)
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    read_annotations(words, tmp_path / "c.jsonl")
    assert [words.label_of(f"msg-{place}") for place in range(2)] == ["spam", "ham"]
    assert words.counts().skipped == 1


def test_argillas_nested_records_have_responses_too(tmp_path: Path, url: str) -> None:
    pool = campaign(url)
    write_tasks(pool, tmp_path / "a.json", "argilla", count=2)
    records = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    records[0]["responses"] = {"label": [{"value": "spam", "user_id": "u1"}]}
    (tmp_path / "b.json").write_text(json.dumps(records), encoding="utf-8")
    taken = read_annotations(pool, tmp_path / "b.json")
    assert (taken.labels, taken.empty) == (1, 1)
    assert pool.labels()[0].by == "argilla-u1"
    settings = json.loads((tmp_path / "a.settings.json").read_text(encoding="utf-8"))
    assert settings["questions"][0]["labels"] == ["ham", "spam"]


def bad(**task: Any) -> str:
    return json.dumps([{"data": {"modelpicker": {"id": 0, "key": "msg-0"}}, "annotations": [], **task}])


def said(*regions: Any) -> str:
    return bad(annotations=[{"id": 1, "completed_by": 1, "result": list(regions)}])


CHOICE = {"from_name": "label", "type": "choices", "value": {"choices": ["spam"]}}
WRONG: dict[str, tuple[str, str | bytes, str]] = {
    "empty": ("a.csv", "", "empty"),
    "no columns": ("a.csv", "x,y\n1,2\n", "no column modelpicker_id or id or key or item"),
    "no label": ("a.csv", "id,y\n1,2\n", "no column label"),
    "no id in a row": ("a.csv", "id,label\n,spam\n", "row 1: the column 'id' is empty"),
    "not UTF-8": ("a.csv", b"id,label\n1,\xff\n", "UTF-8"),
    "no workbook": ("a.xlsx", b"no zip", "not a workbook"),
    "unknown": ("a.json", '{"spam": 1}', "not one of what is known"),
    "a broken line": ("a.jsonl", '{"answer": "accept"}\n{"answer"', "line 2 is not JSON"),
    "no mark": ("a.json", bad(data={"text": "x"}, annotations=[{"result": [CHOICE]}]), "no 'modelpicker' field"),
    "no data": ("a.json", bad(data=3), "has its fields in `data`"),
    "no item": ("a.json", bad(data={"modelpicker": {}}, annotations=[{"result": [CHOICE]}]), "names no item"),
    "no list": ("a.json", bad(annotations=3), "annotations are not a list"),
    "a rating": ("a.json", said({"from_name": "r", "type": "rating", "value": {"rating": 3}}), "asks for a class"),
    "two controls": ("a.json", said({**CHOICE, "from_name": "a"}, {**CHOICE, "from_name": "b"}), "a (choices), b"),
    "no region": ("a.json", said("x"), "not a result of Label Studio"),
    "an option too few": (
        "a.jsonl",
        json.dumps({"answer": "accept", "accept": [], "modelpicker": {"id": 0}}),
        "accepted without an option",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_file_that_cannot_be_understood_changes_nothing(tmp_path: Path, case: str) -> None:
    name, content, complaint = WRONG[case]
    pool = campaign("memory://bad", name=case)
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        read_annotations(pool, path)
    assert complaint in str(caught.value)
    assert pool.counts().labels == 0


def test_files_that_are_there_are_kept_and_endings_must_fit(tmp_path: Path, url: str) -> None:
    pool = campaign(url)
    (tmp_path / "tasks.config.xml").write_text("mine", encoding="utf-8")
    with pytest.raises(ConflictError, match="--force"):
        write_tasks(pool, tmp_path / "tasks.json", "label-studio")
    with pytest.raises(InputError, match=r"\.jsonl"):
        write_tasks(pool, tmp_path / "tasks.json", "prodigy")
    with pytest.raises(InputError, match="count"):
        write_tasks(pool, tmp_path / "tasks.csv", "csv", count=0)
    assert pool.counts().waiting == 0


def test_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "mails.csv").write_text("id,text,ada,ben\nm1,a,spam,ham\nm2,b,ham,spam\n", encoding="utf-8")
    assert run("create", "mails", "--pool", "mails.csv", folder=tmp_path).returncode == 0
    done = run("tasks", "mails", "--out", "tasks.csv", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["paths"] == ["tasks.csv"]
    done = run("tasks", "mails", "--out", "more.csv", folder=tmp_path)
    assert done.returncode == 0
    assert "No item is free now" in done.stderr
    assert run("tasks", "mails", "--out", "tasks.json", folder=tmp_path).returncode == 2
    fill("csv", tmp_path / "tasks.csv", "class")
    done = run("annotations", "mails", "tasks.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 new labels.")
    (tmp_path / "wrong.csv").write_text("id,label\nm9,spam\nm1,ham\n", encoding="utf-8")
    done = run("annotations", "mails", "wrong.csv", "--json", folder=tmp_path)
    assert done.returncode == 3
    assert [one["item"] for one in json.loads(done.stdout)["problems"]] == ["m9", "m1"]
    assert run("annotations", "mails", "none.csv", folder=tmp_path).returncode == 3
