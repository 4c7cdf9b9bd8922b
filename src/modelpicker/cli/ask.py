"""`modelpicker ask`: items in as JSON lines, decisions out as JSON lines, each on disk before it is printed."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from modelpicker.cli.shared.campaign_options import Name, StorageOption, leader, opened
from modelpicker.cli.shared.terminal import Json, count, print_json, say, standard_input, visible
from modelpicker.errors import FileError, InputError, ModelPickerError, NotFoundError, brief

if TYPE_CHECKING:
    from modelpicker.algorithms import Decision
    from modelpicker.campaigns import Campaign

LINES_AT_ONCE = 2_000
READ_AT_ONCE = 2**20
LINE_ENDINGS = (".jsonl", ".ndjson")


class Line(NamedTuple):
    """One item that was asked about."""

    number: int
    predictions: Any
    item: dict[str, Any] | None
    key: str | None


def ask(
    name: Name,
    file: Annotated[
        str,
        typer.Argument(
            metavar="[FILE]",
            help="JSON lines (.jsonl), any file of predictions that `pick` reads, or - for standard input.",
        ),
    ] = "-",
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Ask about items as they come: which labels are worth buying?

    A line is {"predictions": {"bert": "spam", …}, "item": {"text": "…"}, "key": "msg-17"}, or flat:
    {"bert": "spam", …, "text": "…", "key": "msg-17"}. In a table, a column key or id has the keys. Decisions come
    out in the same order, a line each. What was asked with a key before is not asked again, so the same input can
    be piped in twice.
    """
    campaign = opened(storage, name)
    before = campaign.best()
    decisions: list[dict[str, Any]] = []
    try:
        for key, decision in decided(campaign, file):
            entry = as_entry(key, decision)
            if as_json:
                decisions.append(entry)
            else:
                print(json.dumps(entry))
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads on; everything that was decided is on disk
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise FileError(
            f"decisions cannot be written: {error.strerror}. All that was decided is stored."
        ) from error
    pick = campaign.best()
    new = pick.rounds - before.rounds
    if as_json:
        print_json({"campaign": name, "decisions": decisions, "new": new, **pick.document()})
    else:
        say(visible(f"{count(new, 'new item')}, {count(pick.pending, 'label')} awaited; {leader(pick)}."))


def as_entry(key: str | None, decision: "Decision") -> dict[str, Any]:
    """A decision as a line."""
    return {
        "id": decision.id,
        "key": key,
        "query": decision.query,
        "probability": decision.probability,
        "prediction": decision.prediction,
        "recommended": decision.recommended,
    }


def decided(campaign: "Campaign", file: str) -> Iterator[tuple[str | None, "Decision"]]:
    """The decisions about all items of a file or a stream."""
    if file == "-" or file.lower().endswith(LINE_ENDINGS):
        with _stream(file) as stream:
            for lines in _batches(stream):
                yield from _ask(campaign, lines)
                sys.stdout.flush()
        return
    from modelpicker.campaigns.input.files import batches_of

    for batch in batches_of(file, campaign):
        made = campaign.ask_many(batch.predictions, items=batch.items, keys=batch.keys)
        yield from zip(batch.keys or [None] * len(made), made, strict=True)


def _stream(file: str) -> IO[bytes]:
    """Standard input, or a file of lines."""
    if file == "-":
        return standard_input()
    try:
        return open(file, "rb")  # noqa: PTH123  # closed by whom it is given to
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {file}.") from None
    except OSError as error:
        raise FileError(f"{file} cannot be read: {error.strerror}.") from error


def _batches(stream: IO[bytes]) -> Iterator[list[tuple[int, bytes]]]:
    """Lines with their numbers, as many together as have come: a slow stream is answered line by line."""
    number, rest = 0, b""
    while chunk := os.read(stream.fileno(), READ_AT_ONCE):
        *lines, rest = (rest + chunk).split(b"\n")
        for start in range(0, len(lines), LINES_AT_ONCE):
            some = lines[start : start + LINES_AT_ONCE]
            yield [(number + place, line) for place, line in enumerate(some, start=1)]
            number += len(some)
    if rest.strip():
        yield [(number + 1, rest)]


def _ask(campaign: "Campaign", lines: list[tuple[int, bytes]]) -> Iterator[tuple[str | None, "Decision"]]:
    """Ask about some lines together; if one is wrong, those before it are asked all the same."""
    models = campaign.models
    good: list[Line] = []
    failure: ModelPickerError | None = None
    for number, line in lines:
        if line.strip():
            try:
                good.append(parse(number, line, models))
            except InputError as error:
                failure = error
                break
    if good:
        try:
            yield from zip([line.key for line in good], _ask_together(campaign, good), strict=True)
        except InputError:
            yield from _ask_one_by_one(campaign, good)
    if failure is not None:
        raise failure


def _ask_together(campaign: "Campaign", lines: list[Line]) -> Any:
    return campaign.ask_many(
        [line.predictions for line in lines], items=[line.item for line in lines], keys=[line.key for line in lines]
    )


def _ask_one_by_one(campaign: "Campaign", lines: list[Line]) -> Iterator[tuple[str | None, "Decision"]]:
    """Up to the line that cannot be asked about, and its error."""
    for line in lines:
        try:
            yield line.key, campaign.ask(line.predictions, item=line.item, key=line.key)
        except InputError as error:
            raise InputError(f"line {line.number}: {error}") from error


def parse(number: int, text: bytes, models: tuple[int | str, ...]) -> Line:
    """One line of input."""
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"line {number} is no JSON: {error}.") from error
    if isinstance(entry, list):
        return Line(number, entry, None, None)
    if not isinstance(entry, dict):
        raise InputError(f"line {number}: {brief(entry)} is neither an object nor a list of predictions.")
    key = entry.get("key")
    if "predictions" in entry:
        predictions, item = entry["predictions"], entry.get("item")
    else:
        named = {str(model) for model in models}
        predictions = {model: value for model, value in entry.items() if model in named}
        item = {
            field: value for field, value in entry.items() if field not in named and field not in ("key", "label")
        }
        item = item["item"] if set(item) == {"item"} and isinstance(item["item"], dict) else item or None
    if isinstance(predictions, Mapping):
        own = {str(model): model for model in models}
        predictions = {own.get(model, model): value for model, value in predictions.items()}
    return Line(number, predictions, item, None if key is None else str(key))
