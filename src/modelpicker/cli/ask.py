"""`modelpicker ask`: items in, decisions out as JSON lines, each on disk before it is printed.

A stream keeps the items of a file, and asks about them as labels come, unless everything is to be decided at once.
A pool takes more items.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from modelpicker.cli.shared.campaign_options import Name, StorageOption, called_by, label_command, leader, opened
from modelpicker.cli.shared.terminal import (
    IdColumn,
    Ignore,
    Json,
    LabelColumn,
    command,
    count,
    how_to_read,
    print_json,
    print_notes,
    say,
    standard_input,
    storing,
    visible,
    waiting,
)
from modelpicker.errors import FileError, InputError, ModelPickerError, NotFoundError, brief

if TYPE_CHECKING:
    from modelpicker.algorithms import Decision
    from modelpicker.campaigns import AskedFile, Campaign
    from modelpicker.campaigns.input.batches import Batch
    from modelpicker.collections.column_roles import Reading

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
    all_at_once: Annotated[
        bool,
        typer.Option(
            "--all-at-once",
            help="Decide about all items of FILE now. All questions are there at once, so that many people can "
            "label in parallel, but there are more of them. By default each is decided when the labels before it "
            "are there.",
        ),
    ] = False,
    use_labels: Annotated[
        bool, typer.Option("--use-labels", help="For a pool: labels in FILE are known, and need not be asked for.")
    ] = False,
    label: LabelColumn = None,
    id_column: IdColumn = None,
    ignore: Ignore = None,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Ask about items as they come: which labels are worth buying?

    Items on standard input are decided as they arrive. The items of a FILE are kept, and asked about one after the
    other as labels come (`label`, the page). This command does not wait for that. In a campaign on a pool, items
    are added to the pool, and `label` asks about those most worth a label.

    A line is {"predictions": {"bert": "spam", …}, "item": {"text": "…"}, "key": "msg-17"}, or flat:
    {"bert": "spam", …, "text": "…", "key": "msg-17"}. In a table, a column key or id has the keys. Decisions come
    out in the same order, a line each. What was asked with a key before is not asked again, so the same input can
    be piped in twice.
    """
    campaign = opened(storage, name)
    read = how_to_read(None, None, None, False, False, label, id_column, ignore)
    pool = campaign.settings.pool is not None
    in_lines = file == "-" or (file.lower().endswith(LINE_ENDINGS) and (not pool or _has_lines(file)))
    columns = {"--label": label, "--id": id_column, "--ignore": ignore, "--use-labels": use_labels}
    if in_lines:
        _refuse(columns, "it goes with a table only, such as items.csv; leave it out.")
    if not pool:
        _refuse({"--use-labels": use_labels}, f"{name} is a stream, which asks for its labels; leave it out.")
    if pool or file == "-":
        _refuse({"--all-at-once": all_at_once}, "it goes with a stream and a FILE only; leave it out.")
    if pool and not in_lines:
        _add(campaign, file, read, use_labels, as_json)
        return
    if not (pool or file == "-" or all_at_once):
        _keep(campaign, file, read, called_by(name, storage), as_json)
        return
    before = campaign.best()
    made = decided(campaign, file, read)
    decisions: list[dict[str, Any]] = []
    if not _print_all(made, decisions if as_json else None):
        return
    pick = campaign.best()
    new = pick.rounds - before.rounds
    if as_json:
        print_json({"campaign": name, "decisions": decisions, "new": new, **pick.document()})
    else:
        say(visible(f"{count(new, 'new item')}, {count(pick.pending, 'label')} waiting; {leader(pick)}."))


def as_entry(key: str | None, decision: "Decision") -> dict[str, Any]:
    """A decision as a line."""
    return {
        "id": decision.id,
        "key": key,
        "query": decision.query,
        "probability": decision.probability,
        "prediction": decision.prediction,
        "recommended": decision.recommended,
        "racing": list(decision.racing),
    }


def _print_all(made: Iterator[tuple[str | None, "Decision"]], decisions: list[dict[str, Any]] | None) -> bool:
    """Print decisions as they are made, or keep them in a list; whether anybody reads to the end."""
    try:
        for key, decision in made:
            entry = as_entry(key, decision)
            if decisions is None:
                print(json.dumps(entry))
            else:
                decisions.append(entry)
        sys.stdout.flush()
    except KeyboardInterrupt:
        say("", "Stopped. Everything that was decided is saved.")
        raise
    except BrokenPipeError:  # nobody reads on; everything that was decided is on disk
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise FileError(
            f"decisions cannot be written: {error.strerror}. All that was decided is stored."
        ) from error
    return True


def _refuse(given: Mapping[str, object], why: str) -> None:
    """What was typed and is not valid here is wrong usage."""
    for spelt, value in given.items():
        if value:
            raise typer.BadParameter(why, param_hint=spelt)


def _has_lines(file: str) -> bool:
    """Whether a file has lines as they are piped in, and not the rows of a table."""
    if not file.lower().endswith(LINE_ENDINGS):
        return False
    with _stream(file) as stream:
        first = next((line for line in stream if line.strip()), b"[]")
    try:
        entry = json.loads(first)
    except (ValueError, RecursionError):
        return False  # the reader of tables says what is wrong
    return isinstance(entry, list) or (isinstance(entry, Mapping) and "predictions" in entry)


def _add(campaign: "Campaign", file: str, read: dict[str, Any], use_labels: bool, as_json: bool) -> None:
    """Add the items of a file to a pool, all of them or none."""
    from modelpicker.cli.shared.read_collection import read_collection
    from modelpicker.collections.files import open_with

    found = read_collection(open_with, file, None, file_reading(campaign, read, file))
    print_notes(found.notes)
    with storing(len(found)) as progress:
        added = campaign.add_items(found, use_labels=use_labels, progress=progress)
    with waiting("Comparing the models"):
        pick = campaign.best()
    if as_json:
        facts = {"new": added.new, "known": added.known, "labels": added.labels}
        print_json({"campaign": campaign.name, "decisions": [], **facts, **pick.document()})
        return
    known = f", {added.known:,} there already" if added.known else ""
    labels = f", {count(added.labels, 'label')} used" if added.labels else ""
    say(visible(f"{count(added.new, 'new item')}{known}{labels}; {pick.rounds:,} in the pool."))
    say(visible(f"{pick.state.title}: {pick.state.reason} {pick.state.next}"))


def file_reading(campaign: "Campaign", read: dict[str, Any], file: str) -> "Reading":
    """How a file is read whose models are those of a campaign; some of them may be missing, if that is meant."""
    from modelpicker.campaigns.input.pool_source import models_there
    from modelpicker.collections.column_roles import Reading

    models, missing = [str(model) for model in campaign.models], campaign.settings.missing
    there = models if missing == "abstained" else models_there(file, models)
    return Reading(**{**read, "models": there, "missing": missing})


def decided(campaign: "Campaign", file: str, read: dict[str, Any]) -> Iterator[tuple[str | None, "Decision"]]:
    """The decisions about all items of a file or a stream, made as soon as they are read."""
    if file == "-" or file.lower().endswith(LINE_ENDINGS):
        with _stream(file) as stream:
            for lines in _batches(stream):
                yield from _ask(campaign, lines)
                sys.stdout.flush()
        return
    from modelpicker.campaigns.input.files import batches_of

    for batch in batches_of(file, campaign, file_reading(campaign, read, file)):
        made = campaign.ask_many(batch.predictions, items=batch.items, keys=batch.keys)
        yield from zip(batch.keys or [None] * len(made), made, strict=True)


def _keep(campaign: "Campaign", file: str, read: dict[str, Any], called: str, as_json: bool) -> None:
    """Keep the items of a file for a stream, and say how they are asked about."""
    kept = keep_file(campaign, file, read)
    pick = campaign.best()
    if as_json:
        facts = {"new": kept.waiting, "known": kept.known, "waiting": campaign.waiting_items()}
        print_json({"campaign": campaign.name, "decisions": [], **facts, **pick.document()})
        return
    known = f", {kept.known:,} there already" if kept.known else ""
    say(visible(f"{count(kept.waiting, 'new item')}{known}. {pick.state.title}: {pick.state.reason}"))
    say(
        visible(
            f"  {command(label_command(called, campaign))}  asks about them one after the other, as does the page"
        )
    )


def keep_file(campaign: "Campaign", file: str, read: dict[str, Any]) -> "AskedFile":
    """Keep the items of a file, of a table or of lines."""
    from modelpicker.campaigns.feeding import ask_batches, ask_file, file_mark
    from modelpicker.campaigns.input.batches import KeptFile

    if not file.lower().endswith(LINE_ENDINGS):
        return ask_file(campaign, file, file_reading(campaign, read, file))
    return ask_batches(campaign, KeptFile(Path(file).name, file_mark(file)), _line_batches(file, campaign.models))


def _line_batches(file: str, models: tuple[int | str, ...]) -> "Iterator[Batch]":
    """The items of a file of lines; if one is wrong, those before it come first."""
    from modelpicker.campaigns.input.batches import Batch

    with _stream(file) as stream:
        for lines in _batches(stream):
            good, failure = _parsed(lines, models)
            if good:
                yield Batch(
                    [line.predictions for line in good],
                    [line.item for line in good],
                    [line.key for line in good],
                )
            if failure is not None:
                raise failure


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
    good, failure = _parsed(lines, campaign.models)
    if good:
        try:
            yield from zip([line.key for line in good], _ask_together(campaign, good), strict=True)
        except InputError:
            yield from _ask_one_by_one(campaign, good)
    if failure is not None:
        raise failure


def _parsed(
    lines: list[tuple[int, bytes]], models: tuple[int | str, ...]
) -> tuple[list[Line], ModelPickerError | None]:
    """The items of some lines, up to the first that is wrong; and what is wrong with it."""
    good: list[Line] = []
    for number, line in lines:
        if line.strip():
            try:
                good.append(parse(number, line, models))
            except InputError as error:
                return good, error
    return good, None


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
        raise InputError(f"line {number} is not JSON: {error}.") from error
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
