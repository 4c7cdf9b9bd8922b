"""Spreadsheets: tasks as a table with empty columns to fill in, and any table with labels to take back.

CSV, TSV and Excel's `.xlsx`, which needs openpyxl.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from modelpicker.campaigns.annotating.annotation import Annotation, ItemMark
from modelpicker.campaigns.annotating.asked import Asked
from modelpicker.campaigns.annotating.task import LabelTask, TaskSet
from modelpicker.encoding import ClassName
from modelpicker.errors import InputError, brief
from modelpicker.extras import require
from modelpicker.label import Label, LabelGiven, read_label

LABEL, ANSWER, GRADE, BETTER = "label", "answer_", "grade_", "better"
# Names of columns, the first that is there counts.
IDS = ("modelpicker_id", "id", "key", "item")
LABELS = (LABEL, "class", "annotation")
PEOPLE = ("annotator", "by", "annotated_by")
# A cell that begins like this is a formula to a spreadsheet, whoever wrote the item.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
EQUAL = ("=", "equal", "0", "tie")
SKIPS = ("skip", "skipped")
YES, NO = ("y", "yes", "true", "right", "x"), ("n", "no", "false", "wrong")


def table(found: TaskSet) -> tuple[list[str], list[list[str]]]:
    """The columns and the rows of tasks."""
    own = {*IDS[:1], LABEL, "annotator", BETTER}
    fields = [name for name in found.fields if name not in own]
    answers = [f"{ANSWER}{place}" for place in range(1, found.most_answers + 1)]
    empty = {
        "class": [LABEL],
        "preference": [BETTER],
        "grades": [f"{GRADE}{place}" for place in range(1, found.most_answers + 1)],
    }[found.ask_for]
    columns = [IDS[0], *fields, *answers, *empty, "annotator"]
    rows = [[_name(task), *_cells(task, fields, len(answers)), *[""] * (len(empty) + 1)] for task in found.tasks]
    return columns, rows


def _name(task: LabelTask) -> str:
    """What the item is called: its key; else its id, with a mark by which a number is not a key."""
    return task.key if task.key is not None else f"#{task.id}"


def _cells(task: LabelTask, fields: Sequence[str], answers: int) -> list[str]:
    shown = [task.shown.get(name) for name in fields]
    texts = ["" if one is None else one if isinstance(one, str) else json.dumps(one) for one in shown]
    said = [str(answer) for answer in task.answers]
    return [*texts, *said, *[""] * (answers - len(said))]


def write_csv(found: TaskSet, path: Path) -> None:
    """Write the tasks as CSV, or as TSV if the file is called so; as Excel reads it, and without formulas."""
    columns, rows = table(found)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
    writer.writerows([columns, *([_guarded(cell) for cell in row] for row in rows)])
    path.write_text(text.getvalue(), encoding="utf-8-sig", newline="")


def _guarded(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith((*FORMULA, "'")) else cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith((*FORMULA, "'")) else cell


def write_xlsx(found: TaskSet, path: Path) -> None:
    """Write the tasks as a workbook; every cell is text."""
    require("excel")
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    for row, cells in enumerate((lambda made: [made[0], *made[1]])(table(found)), start=1):
        for column, cell in enumerate(cells, start=1):
            made = sheet.cell(row, column)
            made.value, made.data_type = (cell, "s") if cell else (None, "n")
    sheet.freeze_panes = "A2"
    book.save(path)


def read_xlsx(path: Path) -> list[dict[str, str]]:
    """The rows of the first sheet, as text."""
    require("excel")
    from openpyxl import load_workbook

    try:
        book = load_workbook(path, read_only=True, data_only=True)
        cells = [[_as_text(cell) for cell in row] for row in book.worksheets[0].iter_rows(values_only=True)]
        book.close()
    except Exception as error:  # it raises whatever its parsers do
        raise InputError(f"{path} is not a workbook that can be read: {error}.") from error
    return _rows([row for row in cells if any(row)], path)


def _as_text(cell: object) -> str:
    """A cell: numbers that are whole are written so."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell)


def read_csv(path: Path, text: str) -> list[dict[str, str]]:
    """The rows of a table that is separated by commas, semicolons or tabs."""
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    try:
        cells = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if any(row)]
    except csv.Error as error:
        raise InputError(f"{path} is not a table: {error}.") from error
    return _rows([[_unguarded(cell) for cell in row] for row in cells], path)


def _rows(cells: Sequence[Sequence[str]], path: Path) -> list[dict[str, str]]:
    if not cells:
        raise InputError(f"{path} is empty: it needs columns such as id and label.")
    names = [name.strip() for name in cells[0]]
    return [dict(zip(names, row, strict=False)) for row in cells[1:]]


def annotations(
    asked: Asked,
    rows: Sequence[Mapping[str, Any]],
    *,
    label: str | None = None,
    id: str | None = None,  # noqa: A002
) -> Iterator[Annotation | None]:
    """What the rows say; None for a row that nobody has filled in."""
    if not rows:
        return
    columns = _Columns(list(dict.fromkeys(name for row in rows for name in row)), asked, label, id)
    for place, row in enumerate(rows, start=1):
        where = f"row {place}"
        called = _said(row, columns.id)
        if not called:
            raise InputError(f"{where}: the column {columns.id!r} is empty, so nobody knows which item it is.")
        said = columns.label_of(row, where)
        if said is None and not _skipped(row, columns):
            yield None
            continue
        mark = ItemMark(id=int(called[1:])) if _numbered(called) else ItemMark(text=called)
        by = next((found for name in PEOPLE if (found := _said(row, columns.named.get(name)))), None)
        yield Annotation(mark, said, by)


def _numbered(called: str) -> bool:
    """Whether it is the id of an item without a key, as our tables write it."""
    return called.startswith("#") and called[1:].isascii() and called[1:].isdigit() and len(called) < 20


def _said(row: Mapping[str, Any], column: str | None) -> str:
    found = None if column is None else row.get(column)
    if found is None:
        return ""
    return (json.dumps(found) if isinstance(found, dict | list) else str(found)).strip()


def _skipped(row: Mapping[str, Any], columns: "_Columns") -> bool:
    return _said(row, columns.named.get("state")).casefold() in SKIPS or (
        columns.label is not None and _said(row, columns.label).casefold() in ("(skip)", "(skipped)")
    )


class _Columns:
    """Which columns say what."""

    def __init__(self, names: Sequence[str], asked: Asked, label: str | None, item: str | None) -> None:
        self.named = {name.strip().casefold(): name for name in names}
        self.asked = asked
        self.id = self._find("id", item, IDS)
        self.grades = [name for name in names if name.startswith(GRADE) and name.removeprefix(GRADE).isdigit()]
        wanted = (BETTER, *LABELS) if asked.ask_for == "preference" else LABELS
        self.label: str | None = None
        if asked.ask_for != "grades" or label is not None or not self.grades:
            self.label = self._find("label", label, wanted)

    def _find(self, what: str, given: str | None, usual: Sequence[str]) -> str:
        wanted = usual if given is None else (given,)
        for name in wanted:
            if name.casefold() in self.named:
                return self.named[name.casefold()]
        there = ", ".join(self.named.values())
        raise InputError(f"no column {' or '.join(wanted)} in the table, which has {there}. Name it with --{what}.")

    def label_of(self, row: Mapping[str, Any], where: str) -> LabelGiven | None:
        """What a row says; None if it says nothing."""
        text = _said(row, self.label)
        if text.casefold() in ("(skip)", "(skipped)"):
            return None
        if text.startswith("{"):
            try:
                return read_label(json.loads(text), where)
            except ValueError as error:
                raise InputError(f"{where}: the label {brief(text)} is not JSON.") from error
        if self.asked.ask_for == "grades":
            return self._graded(row, where)
        if not text:
            return None
        return self.asked.label([text]) if self.asked.ask_for == "class" else self._better(row, text, where)

    def _answers(self, row: Mapping[str, Any]) -> list[ClassName]:
        named = [name for name in self.named.values() if name.startswith(ANSWER)]
        return [str(row[name]) for name in named if row.get(name) not in (None, "")]

    def _graded(self, row: Mapping[str, Any], where: str) -> LabelGiven | None:
        grades = {
            str(row[column]): _grade(text, where)
            for name in self.grades
            if (text := _said(row, name)) and row.get(column := f"{ANSWER}{name.removeprefix(GRADE)}")
        }
        return Label.graded(grades) if grades else None

    def _better(self, row: Mapping[str, Any], text: str, where: str) -> LabelGiven:
        answers = self._answers(row)
        if len(answers) != 2:
            raise InputError(f"{where}: {len(answers)} answers are there; two are compared.")
        if text.casefold() in EQUAL:
            return Label.equal(*answers)
        if text not in ("1", "2"):
            raise InputError(f"{where}: {BETTER} is {brief(text)}; write 1 or 2 for the better answer, or =.")
        return Label.better(answers[int(text) - 1], answers[2 - int(text)])


def _grade(text: str, where: str) -> float:
    """A grade from 0 to 1, also as yes or no."""
    if text.casefold() in YES or text.casefold() in NO:
        return float(text.casefold() in YES)
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise InputError(
            f"{where}: {brief(text)} is not a grade; write a number from 0 (wrong) to 1 (right)."
        ) from None
