"""The command line: one file per group of verbs, and what they share."""

import logging
import sys
from typing import Annotated, Any

import typer

import modelpicker
from modelpicker.cli import collections, export, show, storage, tell, tokens
from modelpicker.cli.annotations import annotations, tasks
from modelpicker.cli.ask import ask
from modelpicker.cli.bench import bench
from modelpicker.cli.bounds import bounds
from modelpicker.cli.compare import compare
from modelpicker.cli.conflicts import conflicts, settle
from modelpicker.cli.create import create
from modelpicker.cli.demo import demo
from modelpicker.cli.gate import compare_runs, gate
from modelpicker.cli.join import join, leave
from modelpicker.cli.label import label
from modelpicker.cli.pick import pick
from modelpicker.cli.report import report
from modelpicker.cli.reproduce import reproduce
from modelpicker.cli.revise import delete, rename, revise
from modelpicker.cli.serve import serve
from modelpicker.cli.shared.algorithm_options import AlgorithmHelp, ComparisonHelp
from modelpicker.cli.shared.terminal import Warnings, print_json, saying_what_compiles, visible
from modelpicker.errors import ModelPickerError

INTERRUPTED = 130

app = typer.Typer(
    name="modelpicker",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command(cls=AlgorithmHelp)(pick)
app.command(cls=ComparisonHelp)(compare)
app.command()(gate)
app.command("compare-runs")(compare_runs)
app.command()(reproduce)
app.command()(bounds)
app.add_typer(collections.app, name="collections")
app.command(cls=AlgorithmHelp)(create)
app.command("list")(show.list_verb)
app.command()(show.show)
app.command()(ask)
app.command()(label)
app.command()(tell.tell)
app.command()(tell.skip)
app.command()(tell.retract)
app.command()(tasks)
app.command()(annotations)
app.command()(conflicts)
app.command()(settle)
app.command()(show.best)
app.command()(report)
app.command()(join)
app.command()(leave)
app.command()(revise)
app.command()(rename)
app.command()(delete)
app.command()(export.export)
app.command("import")(export.import_verb)
app.command()(storage.verify)
app.command()(storage.backup)
app.add_typer(storage.storage_app, name="storage")
app.command()(serve)
app.add_typer(tokens.tokens_app, name="tokens")
app.command()(bench)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"modelpicker {modelpicker.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Find the best of your pre-trained classifiers on your own data, with as few labels as possible."""
    context.with_resource(saying_what_compiles())
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """The entry point: errors made for people become one line and an exit code, and a document with --json."""
    as_json = "--json" in sys.argv[1:]
    logging.getLogger("modelpicker.campaigns").handlers = [Warnings()]
    try:
        # Wrong usage comes out of it as an error too, if it is to become a document.
        code = app(prog_name="modelpicker", standalone_mode=not as_json)
    except ModelPickerError as error:
        print(visible(f"modelpicker: {error}"), file=sys.stderr)
        _fail(type(error).__name__, str(error), error.exit_code, as_json)
    except OSError as error:
        print(f"modelpicker: the output cannot be written: {error.strerror or error}.", file=sys.stderr)
        sys.exit(1)
    except Exception as error:
        if not isinstance(error, typer.Abort) and not hasattr(error, "format_message"):
            raise
        _fail_usage(error)
    else:
        if code == INTERRUPTED:
            _fail("Interrupted", "interrupted.", INTERRUPTED, as_json)
        sys.exit(code or 0)


def _fail_usage(error: Any) -> None:
    """Wrong usage: said as ever on standard error, and as a document."""
    if isinstance(error, typer.Abort):
        _fail("Aborted", "aborted: the input ended.", 1, as_json=True)
    error.show()
    _fail("UsageError", error.format_message(), error.exit_code, as_json=True)


def _fail(kind: str, message: str, code: int, as_json: bool) -> None:
    """End with an exit code; with --json, standard output has one document all the same."""
    if as_json:
        print_json({"error": {"type": kind, "message": message, "exit_code": code}})
    sys.exit(code)
