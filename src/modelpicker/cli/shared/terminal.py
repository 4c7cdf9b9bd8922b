"""What the verbs share: options, where output goes, and how a wait is announced."""

import json
import logging
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from modelpicker.errors import InputError

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.table import Table

WIDTH = 80
# What no table is as wide as, and what is left of a name where a terminal is narrow.
WIDEST, SHORTEST_NAME = 100_000, 12
LONGEST_NUMBER = 19

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="The seed of all randomness.")]

# How a file of predictions is read.
SourceArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A file (.csv, .tsv, .csv.gz, .xlsx, .parquet, .arrow, .jsonl, .json, .npz, .npy), the results of an "
        "evaluation tool (a file or a folder), a folder with predictions.npy and oracle.npy, or a collection that "
        "ships.",
        show_default=False,
    ),
]
LabelsOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="A file with the labels: matched by a column id, key or item that both files have, else row by row.",
        show_default=False,
    ),
]
JudgeOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="For a pool: the column with cheap labels that may be wrong, such as what a language model says. It "
        "is then no model, and is not shown. A good judge saves labels, and no statement depends on it.",
        show_default=False,
    ),
]
SliceOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--slice",
        metavar="COLUMN",
        help="For a pool: also find the best model for each value of a column, such as a language. It is then no "
        "model.",
        show_default=False,
    ),
]
WarmOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="For a pool: a file with labels that exist already and are right, in any form that --labels takes. "
        "All of them are used before the first question, and are not bought.",
        show_default=False,
    ),
]
LossOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="accuracy|balanced|JSON|FILE",
        help="What mistakes cost. balanced, for a pool: all classes count the same, by how frequent they are among "
        """the labels of the file. Weights by class ('{"spam": 5}') or costs by class and answer """
        """('{"spam": {"ham": 5}}'), as JSON or in a file.  [default: accuracy]""",
        show_default=False,
    ),
]
PriceOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="JSON|FILE|cost|latency",
        help="What each model costs per item, as JSON or in a file: "
        """'{"large": 0.03, "small": 0.002}'. Or the mean cost or latency that the results of an evaluation tool """
        "give. The pick is then the cheapest model that is certified. A stream needs --algorithm race for that.",
        show_default=False,
    ),
]
LabelNoiseOption: TypeAlias = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=0.5,
        help="The probability that a label is wrong, at most. Statements allow for it.",
    ),
]
ModelsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="The columns that are models, separated by commas.", show_default=False),
]
FieldsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="Columns that are no models but shown with an item, separated by commas.", show_default=False
    ),
]
ClassesOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="The classes that may occur, separated by commas; others are an error.", show_default=False),
]
Normalise: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--normalise",
        "--normalize",
        help="Take answers that differ in case, or in space and punctuation at the ends, for the same.",
    ),
]
LabelColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The column that holds the labels. For the results of an evaluation tool: the score that is used, or "
        "reference.  [default: label]",
        show_default=False,
    ),
]
TaskOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="For the results of an evaluation tool: the task, if there are several, or a pattern such as 'mmlu*'.",
        show_default=False,
    ),
]
IdColumn: TypeAlias = Annotated[
    str | None,
    typer.Option("--id", help="The column that tells items apart.  [default: id, key or item]", show_default=False),
]
Ignore: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="Columns that are left out, separated by commas.", show_default=False),
]
Same: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="exact|normalised|NUMBER",
        help="What counts as the same answer to an item: equal text; text that is equal except for capitals, white "
        "space and punctuation at the ends; or numbers that are at most this far apart.  [default: exact]",
        show_default=False,
    ),
]
MissingOption: TypeAlias = Annotated[
    Literal["abstained", "not-run"] | None,
    typer.Option(
        help="What an empty cell stands for. abstained: the model has no answer, which counts as wrong. not-run: "
        "the model was not run for this item, and nothing is known about it.  [default: abstained]",
        show_default=False,
    ),
]
Text: TypeAlias = Annotated[bool, typer.Option("--text", help="Treat all answers as strings, also numbers.")]


def listed(values: Sequence[str] | None) -> list[str] | None:
    """The entries of an option that may be given several times, or once with commas."""
    if values is None:
        return None
    return [entry.strip() for value in values for entry in value.split(",") if entry.strip()]


def as_classes(values: Sequence[str] | None) -> list[int | str] | None:
    """Classes from the command line: numbers if all are."""
    names = listed(values)
    if names is None:
        return None
    return [int(name) for name in names] if all(map(is_number, names)) else [*names]


def is_number(text: str) -> bool:
    """Whether what was typed is a whole number from 0 that any file or database can hold."""
    return text.isascii() and text.isdigit() and len(text) < LONGEST_NUMBER


def how_to_read(
    models: Sequence[str] | None,
    fields: Sequence[str] | None,
    classes: Sequence[str] | None,
    normalise: bool,
    text: bool,
    label: str | None,
    id_column: str | None,
    ignore: Sequence[str] | None,
    same: str | None = None,
    missing: str | None = None,
    task: str | None = None,
) -> dict[str, Any]:
    """What the command line says about a file, as `load_collection` and `open_collection` take it."""
    return {
        "models": listed(models),
        "fields": listed(fields) or (),
        "classes": as_classes(classes),
        "normalise": normalise,
        "text": text,
        "label": label,
        "id": id_column,
        "ignore": listed(ignore) or (),
        **({} if same is None else {"same": as_same(same)}),
        **({} if missing is None else {"missing": missing}),
        **({} if task is None else {"task": task}),
    }


def as_same(typed: str) -> Any:
    """What counts as the same answer, as it was typed; what is not valid is wrong usage."""
    from modelpicker.collections.spelling import check_same

    try:
        return check_same(_as_number(typed))
    except InputError as error:
        raise typer.BadParameter("pass exact, normalised, or a number from 0.", param_hint="--same") from error


def _as_number(typed: str) -> float | str:
    try:
        return float(typed)
    except ValueError:
        return typed


def print_json(document: object) -> None:
    """One JSON document on standard output; half characters, which cannot be written, are spelt out."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        text = json.dumps(document, indent=2)
    sys.stdout.write(f"{text}\n")


def standard_input() -> IO[bytes]:
    """What is piped in."""
    if sys.stdin is None:
        raise InputError("there is no standard input; pass a file.")
    return sys.stdin.buffer


def visible(text: str) -> str:
    """Text that cannot command a terminal: control characters are spelt out."""
    return "".join(
        repr(letter)[1:-1] if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text
    )


def count(number: int, what: str) -> str:
    """A number of things: 1 label, 2 labels."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def command(verb: str) -> str:
    """How a verb is called here: by its path, if the shell would not find it by its name."""
    name = Path(sys.argv[0])
    by_path = name.name == "modelpicker" and shutil.which("modelpicker") is None
    return f"`{name if by_path else 'modelpicker'} {verb}`"


def say(*lines: str) -> None:
    """Something for people, beside the result."""
    print(*lines, sep="\n", file=sys.stderr)


class Warnings(logging.Handler):
    """What the library warns of, as a line for people."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print it beside the result."""
        say(visible(f"modelpicker: warning: {record.getMessage()}"))


def print_sentence(sentence: str) -> None:
    """A sentence of a result, or several lines of it, in lines that fit."""
    for line in sentence.splitlines():
        print(*textwrap.wrap(visible(line), WIDTH - 1), sep="\n")


def print_notes(notes: Sequence[str]) -> None:
    """What a reader of files decided."""
    for note in notes:
        say(*textwrap.wrap(f"note: {visible(note)}", WIDTH - 1, subsequent_indent="      "))


class _Sayer(logging.Handler):
    """Says what is logged."""

    def emit(self, record: logging.LogRecord) -> None:
        say(visible(record.getMessage()))


@contextmanager
def saying_what_compiles() -> Iterator[None]:
    """Say on standard error what is compiled, before and after: a silent terminal looks stuck."""
    logger = logging.getLogger("modelpicker.compiling")  # to import its name would be to import NumPy
    sayer, level, propagate = _Sayer(), logger.level, logger.propagate
    logger.addHandler(sayer)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(sayer)
        logger.setLevel(level)
        logger.propagate = propagate


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show on standard error, if that is a terminal, that something takes its time."""
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(visible(what))):
        yield


@contextmanager
def progress(what: str, total: int) -> Iterator["Progress"]:
    """A bar on standard error, if that is a terminal; advance its only task."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        bar.add_task(what, total=total)
        yield bar


@contextmanager
def storing(items: int) -> Iterator[Callable[[int, int], None]]:
    """A bar for items that are stored in a pool; it is told how many are done, and of how many."""
    with progress("Storing the items", items) as bar:

        def told(done: int, of: int) -> None:
            if done < of:
                bar.update(bar.task_ids[0], completed=done, total=of)
            else:  # nobody knows how long the rest takes: the bar moves to and fro
                then = "Finding the items on which models differ"
                bar.update(bar.task_ids[0], description=then, completed=done, total=None)

        yield told


def table(first: str, *others: str) -> "Table":
    """A plain table: the first column to the left, numbers to the right."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column(first, no_wrap=True, overflow="ellipsis")
    for column in others:
        made.add_column(column, justify="right", no_wrap=True)
    return made


def print_table(made: "Table") -> None:
    """A table and an empty line: as wide as its numbers need; on a terminal, only the first column is ever cut."""
    from rich.console import Console

    plain: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}
    whole = Console(width=WIDEST, **plain).measure(made).maximum
    room = Console().width if sys.stdout.isatty() else WIDEST
    if not all(column.no_wrap for column in made.columns):  # sentences, which are read in lines
        room = min(room, WIDTH)
    elif whole > room:
        first = made.columns[0]
        longest = max(cell_width(cell) for cell in (first.header, *first.cells))
        first.max_width = max(min(longest, SHORTEST_NAME), longest - (whole - room))
        room = max(room, whole - longest + first.max_width)
    Console(width=min(room, max(whole, 1)), **plain).print(made)
    typer.echo("")


def cell_width(cell: object) -> int:
    """How many columns of a terminal a cell takes."""
    from rich.cells import cell_len

    return cell_len(str(cell))
