"""`modelpicker serve` and `tokens`: the service, and who may use it."""

import sys
from typing import Annotated, Any, Literal

import typer

from modelpicker.cli.campaigning import StorageOption, server_settings, storage_url
from modelpicker.cli.terminal import Json, print_json, print_table, say, table, visible
from modelpicker.errors import InputError
from modelpicker.extras import require

tokens_app = typer.Typer(no_args_is_help=True, help="Who may use a server: tokens are made, listed and revoked.")
DEMO = "memory://demo"


def serve(
    context: typer.Context,
    host: Annotated[
        str | None,
        typer.Option(
            envvar="MODELPICKER_HOST",
            help="The address to listen on; any but this machine's own needs tokens.  [default: 127.0.0.1]",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            envvar="MODELPICKER_PORT",
            min=0,
            max=65535,
            help="The port; 0 takes one that is free.  [default: 8000]",
            show_default=False,
        ),
    ] = None,
    storage: StorageOption = None,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Serve a campaign of handwritten digits, ready to label; nothing is kept."),
    ] = False,
    tokens: Annotated[
        bool | None,
        typer.Option(
            "--tokens/--no-tokens",
            envvar="MODELPICKER_TOKENS",
            help="Need tokens on this machine too, such as behind a proxy.  [default: no]",
            show_default=False,
        ),
    ] = None,
    allowed_hosts: Annotated[
        list[str] | None,
        typer.Option(
            "--allowed-host",
            envvar="MODELPICKER_ALLOWED_HOSTS",
            metavar="NAME",
            help="A name by which browsers may call it, such as that of a proxy; may be given several times.",
            show_default=False,
        ),
    ] = None,
    log_format: Annotated[
        Literal["text", "json"] | None,
        typer.Option(
            envvar="MODELPICKER_LOG_FORMAT",
            help="How the log looks: for people, or a JSON object a line.  [default: text]",
            show_default=False,
        ),
    ] = None,
    access_log: Annotated[
        bool | None,
        typer.Option(
            "--access-log/--no-access-log",
            envvar="MODELPICKER_ACCESS_LOG",
            help="Log every request.  [default: no]",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document with the address, once it can be called.")
    ] = False,
) -> None:
    """Serve the API, and the page on which people label.

    Every option can also be set by its MODELPICKER_ variable, or under [serve] in modelpicker.toml, where
    largest_body and largest_file (in bytes) bound what is taken in.
    """
    require("server")
    from modelpicker.server.logs import set_up
    from modelpicker.server.serving import serve as run

    given: dict[str, Any] = {
        "host": host,
        "port": port,
        "tokens": tokens,
        "allowed_hosts": tuple(allowed_hosts) if allowed_hosts else None,
        "log_format": log_format,
        "access_log": access_log,
    }
    settings = server_settings() | {name: value for name, value in given.items() if value is not None}
    form = settings.pop("log_format", "text")
    set_up(form)
    source = context.get_parameter_source("storage")
    typed = source is not None and source.name == "COMMANDLINE"
    kept = typed or not demo  # a demo never ends up in a storage that was set for something else
    configuration = _configuration(settings, storage_url(storage) if kept else DEMO, demo)
    if configuration.needs_tokens and not kept:
        raise InputError("a demo keeps nothing, and no tokens either: serve it on 127.0.0.1, or pass --storage.")

    def started(url: str) -> None:
        if as_json:
            print_json({"url": url, "tokens_needed": configuration.needs_tokens, "demo": demo})
            sys.stdout.flush()
        elif form == "text":  # in JSON, the log says so
            print(f"modelpicker is on {url}  (Ctrl-C stops it)", file=sys.stderr, flush=True)

    run(configuration, started)


def _configuration(settings: dict[str, Any], storage: str, demo: bool) -> Any:
    from modelpicker.server.configuration import Configuration
    from modelpicker.server.demo import ensure_demo

    made = Configuration(storage=storage, demo=demo, **settings)
    made.check()
    if demo:
        ensure_demo(storage)
    return made


@tokens_app.command("create")
def create_verb(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is.", show_default=False)],
    role: Annotated[
        Literal["owner", "annotator", "reader"],
        typer.Option(help="Owners do everything, annotators label, readers look.", show_default=False),
    ],
    predictions: Annotated[
        bool, typer.Option("--predictions", help="Let an annotator see what the models say.")
    ] = False,
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Make a token, and print it this once: the storage keeps only its hash."""
    require("server")
    from modelpicker.campaigns.storage import open_storage
    from modelpicker.server.tokens import create_token

    token = create_token(open_storage(storage_url(storage), create=True), name, role, predictions=predictions)
    if as_json:
        print_json({"name": name, "role": role, "token": token})
        return
    typer.echo(token)
    say("", "This is the only time it is shown. Pass it as `Authorization: Bearer …`, or sign in on the page.")


@tokens_app.command("list")
def list_verb(storage: StorageOption = None, as_json: Json = False) -> None:
    """List the tokens; what they are made of is not stored."""
    require("server")
    from modelpicker.campaigns.records import as_time
    from modelpicker.campaigns.storage import open_storage
    from modelpicker.server.tokens import list_tokens

    found = list_tokens(open_storage(storage_url(storage)))
    rows = [
        {"name": one.name, "role": one.role, "predictions": one.predictions, "created": as_time(one.created)}
        for one in found
    ]
    if as_json:
        print_json({"tokens": rows})
        return
    if not rows:
        say("There is no token yet; modelpicker tokens create NAME --role owner makes one.")
        return
    made = table("name", "role", "sees predictions", "created (UTC)")
    for row in rows:
        when = str(row["created"])[:16].replace("T", " ")
        made.add_row(visible(str(row["name"])), str(row["role"]), "yes" if row["predictions"] else "no", when)
    print_table(made)


@tokens_app.command("revoke")
def revoke_verb(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is.", show_default=False)],
    storage: StorageOption = None,
    as_json: Json = False,
) -> None:
    """Make a token worthless; servers know within a second."""
    require("server")
    from modelpicker.campaigns.storage import open_storage
    from modelpicker.server.tokens import revoke_token

    revoke_token(open_storage(storage_url(storage)), name)
    print_json({"revoked": name}) if as_json else say(visible(f"Revoked the token of {name}."))
