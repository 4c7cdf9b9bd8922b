"""People who label in other tools: they fill in tasks, and each tool writes what it would export."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import modelpicker as mp
from modelpicker.encoding import ClassName

Said = Callable[[dict[str, Any]], Any]
"""What a person says about the mark of a task: a class, grades by answer, the better answer, or None."""
MODELS = ["ada", "ben"]
ANSWERS = [["Paris", "Lyon"], ["=SUM(A1)", "Rome"], ["Oslo", "Bergen"], ["Bonn", "Berlin"]]
CLASSES = [["spam", "ham"], ["ham", "spam"], ["spam", "ham"], ["ham", "spam"]]
RIGHT = ("Paris", "Rome", "Oslo", "Berlin")


def campaign(url: str, ask_for: Any = "class", *, keys: bool = True, name: str = "tickets", **more: Any) -> Any:
    """A campaign of four items on which two models differ."""
    rows = CLASSES if ask_for == "class" else ANSWERS
    fields: dict[str, Any] = {"text": ["one", "-two", 'three, "3"', "four"]}
    if keys:
        fields["id"] = [f"msg-{place}" for place in range(4)]
    items = mp.ModelCollection(rows, models=MODELS, fields=fields)
    return mp.create_campaign(url, name, pool=items, ask_for=ask_for, tolerance=0.0, **more)


def says(mark: dict[str, Any]) -> Any:
    """What is right: a class, a grade for each answer, or the better answer."""
    answers = mark.get("answers")
    if not answers:
        return "spam"
    return {answer: 1.0 if answer in RIGHT else 0.0 for answer in answers}


def label(ask_for: str, said: Any) -> Any:
    """The same as a label."""
    if ask_for == "class" or said is None:
        return said
    if ask_for == "grades":
        return mp.Label.graded(said)
    worse, better = sorted(said, key=said.__getitem__)
    return mp.Label.better(better, worse)


def fill(tool: str, path: Path, ask_for: str, said: Said = says, by: str = "mia") -> None:
    """Label all tasks of a file, and write what the tool would export in its place."""
    {"csv": _table, "xlsx": _workbook, "label-studio": _label_studio, "prodigy": _prodigy, "argilla": _argilla}[
        tool
    ](path, ask_for, said, by)


def _row(row: dict[str, str], ask_for: str, said: Said, by: str) -> dict[str, str]:
    answers = [text.removeprefix("'") for name, text in row.items() if name.startswith("answer_") and text]
    found = said({"answers": answers, "key": row["modelpicker_id"]})
    if found is None:
        return {**row, ("better" if ask_for == "preference" else "label"): "(skip)", "annotator": by}
    if ask_for == "class":
        return {**row, "label": found, "annotator": by}
    if ask_for == "grades":
        grades = {f"grade_{place}": f"{found[text]:g}" for place, text in enumerate(answers, start=1)}
        return {**row, **grades, "annotator": by}
    return {**row, "better": str(1 + max((0, 1), key=lambda place: found[answers[place]])), "annotator": by}


def _table(path: Path, ask_for: str, said: Said, by: str) -> None:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [_row(row, ask_for, said, by) for row in csv.DictReader(file)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")  # as Excel writes it in half of Europe
        writer.writeheader()
        writer.writerows(rows)


def _workbook(path: Path, ask_for: str, said: Said, by: str) -> None:
    from openpyxl import load_workbook

    book = load_workbook(path)
    (names, *rows) = ([cell.value or "" for cell in row] for row in book.active.iter_rows())
    for line, cells in enumerate(rows, start=2):
        filled = _row(dict(zip(names, cells, strict=True)), ask_for, said, by)
        for column, name in enumerate(names, start=1):
            if filled[name]:
                cell = book.active.cell(line, column)
                cell.value, cell.data_type = filled[name], "s"
    book.save(path)


def result(ask_for: str, mark: dict[str, Any], found: Any) -> list[dict[str, Any]]:
    """The result of an annotation in Label Studio."""
    if found is None:
        return []
    if ask_for == "class":
        return [_region("label", "field_0", "choices", {"choices": [found]})]
    answers: list[ClassName] = mark["answers"]
    if ask_for == "grades":
        return [
            _region(f"grade_{place}", f"answer_{place}", "rating", {"rating": 1 + round(4 * found[answer])})
            for place, answer in enumerate(answers)
        ]
    side = "left" if found[answers[0]] > found[answers[1]] else "right"
    return [_region("better", "left,right", "pairwise", {"selected": side})]


def _region(control: str, shown: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": control, "to_name": shown, "type": kind, "value": value, "id": "x"}


def annotated(task: dict[str, Any], ask_for: str, said: Any, number: int, who: Any = 1) -> dict[str, Any]:
    """An annotation as Label Studio exports it."""
    return {
        "id": number,
        "completed_by": who,
        "result": result(ask_for, task["data"]["modelpicker"], said),
        "was_cancelled": said is None,
        "ground_truth": False,
        "created_at": "2026-11-18T21:15:00.804395Z",
        "updated_at": f"2026-11-18T21:15:01.{number:06d}Z",
    }


def _label_studio(path: Path, ask_for: str, said: Said, by: str) -> None:
    tasks = json.loads(path.read_text(encoding="utf-8"))
    for place, task in enumerate(tasks, start=1):
        one = annotated(task, ask_for, said(task["data"]["modelpicker"]), place, by)
        task |= {"id": place, "annotations": [one], "drafts": [], "predictions": [], "meta": {}, "project": 1}
    path.write_text(json.dumps(tasks), encoding="utf-8")


def _prodigy(path: Path, ask_for: str, said: Said, by: str) -> None:
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found, mark = said(row["modelpicker"]), row["modelpicker"]
        chosen: list[Any] = [found]
        if found is None:
            chosen = []
        elif ask_for != "class":
            chosen = [place for place, answer in enumerate(mark["answers"]) if found[answer] == 1.0]
        answer = "ignore" if found is None else "accept"
        person = {"_annotator_id": f"set-{by}", "_session_id": f"set-{by}", "_timestamp": 1_700_000_000}
        rows.append({**row, "accept": chosen, "answer": answer, "_input_hash": 1, "_view_id": "choice", **person})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _argilla(path: Path, ask_for: str, said: Said, by: str) -> None:
    """Flat records, which say who discarded what: `dataset.records.to_list(flatten=True)`."""
    rows = []
    for record in json.loads(path.read_text(encoding="utf-8")):
        mark = json.loads(record["metadata"]["modelpicker"])
        found = said(mark)
        status = "discarded" if found is None else "submitted"
        values: dict[str, Any] = {"label": found}
        if ask_for == "grades":
            values = {f"grade_{place}": 5 * found[answer] for place, answer in enumerate(mark["answers"], start=1)}
        elif ask_for == "preference":
            one, other = mark["answers"]
            values = {"better": "first" if found[one] > found[other] else "second"}
        row: dict[str, Any] = {"id": record["id"], "status": "completed", **record["fields"], **record["metadata"]}
        for name, value in values.items():
            row |= {f"{name}.responses": [value], f"{name}.responses.users": [by]}
            row |= {f"{name}.responses.status": [status]}
        rows.append(row)
    path.write_text(json.dumps(rows), encoding="utf-8")
