"""The command line: one file a group of verbs, and what they share."""

import logging
import sys
from typing import Annotated

import typer

import modelpicker
from modelpicker.cli import campaigns, collections, keeping, serving
from modelpicker.cli.bench import bench
from modelpicker.cli.bounds import bounds
from modelpicker.cli.compare import compare
from modelpicker.cli.demo import demo
from modelpicker.cli.feeding import ask
from modelpicker.cli.labelling import label
from modelpicker.cli.pick import pick
from modelpicker.cli.reproduce import reproduce
from modelpicker.cli.terminal import Warnings, visible
from modelpicker.errors import ModelPickerError

app = typer.Typer(
    name="modelpicker",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command()(pick)
app.command()(compare)
app.command()(reproduce)
app.command()(bounds)
app.add_typer(collections.app, name="collections")
app.command()(campaigns.create)
app.command("list")(campaigns.list_verb)
app.command()(campaigns.show)
app.command()(ask)
app.command()(label)
app.command()(campaigns.tell)
app.command()(campaigns.skip)
app.command()(campaigns.retract)
app.command()(campaigns.best)
app.command()(campaigns.join)
app.command()(campaigns.leave)
app.command()(keeping.export)
app.command("import")(keeping.import_verb)
app.command()(keeping.verify)
app.command()(keeping.backup)
app.add_typer(keeping.storage_app, name="storage")
app.command()(serving.serve)
app.add_typer(serving.tokens_app, name="tokens")
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
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """The entry point: errors made for people become one line and an exit code."""
    logging.getLogger("modelpicker.campaigns").handlers = [Warnings()]
    try:
        app(prog_name="modelpicker")
    except ModelPickerError as error:
        print(visible(f"modelpicker: {error}"), file=sys.stderr)
        sys.exit(error.exit_code)
