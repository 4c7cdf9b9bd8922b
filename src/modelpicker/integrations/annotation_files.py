"""Tasks to files for another tool, and its annotations back: which tool it is, is seen by the content."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from modelpicker.campaigns import Campaign
from modelpicker.campaigns.annotating.annotation import Annotation, TakenAnnotations, take_annotations
from modelpicker.campaigns.annotating.asked import Asked
from modelpicker.campaigns.annotating.task import TaskSet, next_tasks
from modelpicker.errors import ConflictError, FileError, InputError, NotFoundError, brief
from modelpicker.integrations import argilla, label_studio, prodigy, spreadsheet

TaskFormat: TypeAlias = Literal["csv", "xlsx", "label-studio", "prodigy", "argilla"]
FORMATS: tuple[TaskFormat, ...] = get_args(TaskFormat)
ENDINGS: dict[TaskFormat, tuple[str, ...]] = {
    "csv": (".csv", ".tsv"),
    "xlsx": (".xlsx",),
    "label-studio": (".json",),
    "prodigy": (".jsonl",),
    "argilla": (".json",),
}
"""How files of each format end."""
# What goes with the tasks of a format, in a file beside them.
BESIDE: dict[str, tuple[str, Callable[[TaskSet], str]]] = {
    "label-studio": (".config.xml", label_studio.interface),
    "argilla": (".settings.json", argilla.settings),
}
TEXTS: dict[str, Callable[[TaskSet], str]] = {
    "label-studio": label_studio.tasks,
    "prodigy": prodigy.tasks,
    "argilla": argilla.tasks,
}

ExportedRows: TypeAlias = Sequence[Any]
# How an export is recognised, and read.
TOOLS: tuple[
    tuple[Callable[[ExportedRows], bool], Callable[[Asked, ExportedRows], Iterator[Annotation | None]]], ...
] = (
    (label_studio.is_export, label_studio.annotations),
    (prodigy.is_export, prodigy.annotations),
    (argilla.is_export, argilla.annotations),
)


def write_tasks(
    campaign: Campaign,
    path: str | Path,
    format: TaskFormat,  # noqa: A002 - as users say it
    *,
    count: int = 20,
    hours: float = 24.0,
    force: bool = False,
) -> tuple[TaskSet, list[Path]]:
    """Write the next items of a campaign as tasks; what they are, and the files that were written.

    Args:
        campaign: of this machine.
        path: the file; Label Studio gets its labelling interface beside it, Argilla its questions.
        format: the tool.
        count: how many tasks at most.
        hours: for how long nobody else is asked about these items.
        force: whether files that are there may be overwritten.
    """
    path = Path(path)
    _check_format(path, format)
    beside = BESIDE.get(format)
    paths = [path] if beside is None else [path, path.with_name(f"{path.stem}{beside[0]}")]
    for one in paths:
        if one.exists() and not force:
            raise ConflictError(f"{one} already exists; pass --force to overwrite it.")
    found = next_tasks(campaign, count, hours=hours)
    if not found.tasks:
        return found, []
    try:
        if format in ("csv", "xlsx"):
            (spreadsheet.write_csv if format == "csv" else spreadsheet.write_xlsx)(found, path)
        else:
            written = [TEXTS[format](found), *([] if beside is None else [beside[1](found)])]
            for one, text in zip(paths, written, strict=True):
                one.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}.") from error
    return found, paths


def _check_format(path: Path, wanted: str) -> None:
    if wanted not in FORMATS:
        raise InputError(f"format {brief(wanted)}: there are {', '.join(FORMATS)}.", parameter="format")
    if path.suffix.lower() not in ENDINGS[wanted]:
        raise InputError(
            f"{path.name}: tasks for {wanted} go to a file that ends in {' or '.join(ENDINGS[wanted])}.",
            parameter="out",
        )


def read_annotations(
    campaign: Campaign,
    path: str | Path,
    *,
    replace: bool = False,
    label: str | None = None,
    id: str | None = None,  # noqa: A002 - the design's word
    annotator: str | None = None,
) -> TakenAnnotations:
    """Take in the annotations of a file that another tool wrote.

    If anything in it cannot be understood, nothing is taken. What cannot be taken, such as the label of an item
    that the campaign does not have, is listed, and the rest is taken.

    Args:
        campaign: of this machine.
        path: an export of Label Studio (JSON), Prodigy (JSON lines) or Argilla (JSON), or a table.
        replace: whether an answer takes the place of another one by the same person.
        label: the column of a table that has the labels.
        id: the column of a table that says which item it is.
        annotator: who annotated, where the file does not say.
    """
    asked = Asked.of(campaign)
    found, empty = [], 0
    for one in _read(asked, Path(path), label, id):
        if one is None:
            empty += 1
        else:
            found.append(one if one.by is not None else Annotation(one.mark, one.label, annotator, one.at))
    taken = take_annotations(campaign, found, replace=replace)
    taken.empty = empty
    return taken


def _read(asked: Asked, path: Path, label: str | None, item: str | None) -> Iterator[Annotation | None]:
    if path.suffix.lower() == ".xlsx":
        _text_of(path, binary=True)
        return spreadsheet.annotations(asked, spreadsheet.read_xlsx(path), label=label, id=item)
    text = _text_of(path)
    rows = _json(text)
    if rows is None:
        return spreadsheet.annotations(asked, spreadsheet.read_csv(path, text), label=label, id=item)
    for is_export, annotations in TOOLS:
        if is_export(rows):
            return annotations(asked, rows)
    if rows and all(isinstance(row, dict) for row in rows) and (label is not None or "label" in rows[0]):
        return spreadsheet.annotations(asked, rows, label=label, id=item)
    raise InputError(
        f"{path} is not one of what is known: Label Studio's JSON export (not JSON-MIN), Prodigy's JSON lines, "
        "records of Argilla, or a table with the columns id and label."
    )


def _text_of(path: Path, *, binary: bool = False) -> str:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}.") from None
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}.") from error
    try:
        return "" if binary else raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: save it as CSV UTF-8. ({error})") from error


def _json(text: str) -> Sequence[Any] | None:
    """A JSON list, or JSON lines; None if it is neither."""
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        whole = json.loads(text)
        return whole if isinstance(whole, list) else [whole]
    except (ValueError, RecursionError):
        pass
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            rows += [json.loads(line)] if line.strip() else []
        except (ValueError, RecursionError) as error:
            raise InputError(f"line {number} is not JSON: {error}.") from error
    return rows
