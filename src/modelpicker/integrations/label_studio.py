"""Label Studio: tasks and a labelling interface to import, and its JSON export to take back.

Nothing of Label Studio is imported: these are its documented files.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from modelpicker.campaigns.annotating.annotation import Annotation
from modelpicker.campaigns.annotating.asked import Asked
from modelpicker.campaigns.annotating.label_studio import EQUAL, LABEL, STARS, annotations_of
from modelpicker.campaigns.annotating.task import MARK, LabelTask, TaskSet
from modelpicker.errors import InputError

PICTURE = re.compile(r"(https?://|/|data:image/)\S*", re.IGNORECASE)
PICTURE_NAME = re.compile(r"\.(png|jpe?g|gif|webp|svg|bmp)(\?|$)|^data:image/", re.IGNORECASE)
SOUND_NAME = re.compile(r"\.(wav|mp3|flac|ogg|m4a)(\?|$)", re.IGNORECASE)


def tasks(found: TaskSet) -> str:
    """Tasks as Label Studio imports them: a JSON list."""
    listed = [{"data": _data(found, task)} for task in found.tasks]
    return json.dumps(listed, indent=2, ensure_ascii=False) + "\n"


def _data(found: TaskSet, task: LabelTask) -> dict[str, Any]:
    """The fields of a task: all of them text, and there for every task, for Label Studio refuses others."""
    data: dict[str, Any] = {name: _text(task.shown.get(name)) for name in found.fields}
    if found.ask_for == "grades":
        data["answers"] = [{"text": str(answer)} for answer in task.answers]
    elif found.ask_for == "preference":
        data["left"], data["right"] = (str(answer) for answer in task.answers)
    return {**data, MARK: found.mark(task)}


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def interface(found: TaskSet) -> str:
    """The labelling interface that goes with the tasks, as XML."""
    reserved = {"answers", "left", "right"} if found.ask_for != "class" else set()
    taken = sorted(reserved & set(found.fields) | {MARK} & set(found.fields))
    if taken:
        raise InputError(f"the items have a field {taken[0]!r}, which Label Studio needs for itself; rename it.")
    names = {field: f"field_{place}" for place, field in enumerate(found.fields)}
    shown = [_shown(found, field, name) for field, name in names.items()]
    first = next(iter(names.values()), "field_0")
    controls = {"class": _choices, "grades": _ratings, "preference": _pairwise}[found.ask_for](found, first)
    return "\n".join(["<View>", *(f"  {line}" for line in [*shown, *controls]), "</View>", ""])


def _shown(found: TaskSet, field: str, name: str) -> str:
    """How a field is shown: a picture or a sound, if every item has a link to one there; else as text."""
    values = [str(task.shown.get(field) or "") for task in found.tasks]
    links = all(PICTURE.fullmatch(value) for value in values)
    tag = "Text"
    if links and all(PICTURE_NAME.search(value) for value in values):
        tag = "Image"
    elif links and all(SOUND_NAME.search(value) for value in values):
        tag = "Audio"
    return f"<{tag} name={quoteattr(name)} value={quoteattr('$' + field)}/>"


def _choices(found: TaskSet, first: str) -> list[str]:
    if not found.classes:
        raise InputError("the campaign knows no classes yet, and Label Studio needs them: create it with classes.")
    options = [f"  <Choice value={quoteattr(str(name))}/>" for name in found.classes]
    head = f'<Choices name="{LABEL}" toName="{first}" choice="single" required="true" showInline="true">'
    return [head, *options, "</Choices>"]


def _ratings(_: TaskSet, __: str) -> list[str]:
    return [
        f'<Header value="1 star: wrong. {STARS} stars: right."/>',
        '<Repeater on="$answers" indexFlag="{{idx}}">',
        '  <Text name="answer_{{idx}}" value="$answers[{{idx}}].text"/>',
        f'  <Rating name="grade_{{{{idx}}}}" toName="answer_{{{{idx}}}}" maxRating="{STARS}" required="true"/>',
        "</Repeater>",
    ]


def _pairwise(_: TaskSet, first: str) -> list[str]:
    return [
        '<Header value="Which answer is better?"/>',
        '<Pairwise name="better" toName="left,right"/>',
        '<Text name="left" value="$left"/>',
        '<Text name="right" value="$right"/>',
        f'<Choices name="{EQUAL}" toName="{first}" choice="single" showInline="true">',
        '  <Choice value="Equally good"/>',
        "</Choices>",
    ]


def is_export(rows: Sequence[Any]) -> bool:
    """Whether this is what Label Studio exports as JSON."""
    return bool(rows) and isinstance(rows[0], Mapping) and "data" in rows[0]


def annotations(asked: Asked, rows: Sequence[Any]) -> Iterator[Annotation | None]:
    """What people said, task by task; None for a task that nobody has annotated."""
    for place, task in enumerate(rows, start=1):
        where = f"task {place}"
        if not isinstance(task, Mapping):
            raise InputError(f"{where} is not a task of Label Studio.")
        found = task.get("annotations", task.get("completions")) or []
        if not isinstance(found, list):
            raise InputError(f"{where}: its annotations are not a list.")
        said = list(annotations_of(asked, task, found, where))
        yield from said
        if not said:
            yield None
