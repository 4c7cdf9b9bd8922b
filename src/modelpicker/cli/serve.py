"""`modelpicker serve`: the API, and the page on which people label."""

import sys
from typing import Annotated, Any, Literal

import typer

from modelpicker.cli.shared.campaign_options import StorageOption, server_settings, storage_url
from modelpicker.cli.shared.terminal import print_json
from modelpicker.errors import InputError
from modelpicker.extras import require

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
            help="Require tokens on this machine too, such as behind a proxy.  [default: no]",
            show_default=False,
        ),
    ] = None,
    allowed_hosts: Annotated[
        list[str] | None,
        typer.Option(
            "--allowed-host",
            envvar="MODELPICKER_ALLOWED_HOSTS",
            metavar="NAME",
            help="A host name that browsers may use, such as that of a proxy; may be given several times.",
            show_default=False,
        ),
    ] = None,
    media_hosts: Annotated[
        list[str] | None,
        typer.Option(
            "--media-host",
            envvar="MODELPICKER_MEDIA_HOSTS",
            metavar="NAME",
            help="A host from which the page shows pictures and plays audio that items link to; may be given "
            "several times.  [default: only what items themselves contain]",
            show_default=False,
        ),
    ] = None,
    label_studio_secret: Annotated[
        str | None,
        typer.Option(
            envvar="MODELPICKER_LABEL_STUDIO_SECRET",
            metavar="SECRET",
            help="What webhooks of Label Studio have to send in the header X-Modelpicker-Secret. Better set as a "
            "variable: others on this machine can read command lines.",
            show_default=False,
        ),
    ] = None,
    webhooks: Annotated[
        list[str] | None,
        typer.Option(
            "--webhook",
            envvar="MODELPICKER_WEBHOOKS",
            metavar="URL",
            help="An address to tell when a campaign is certified, its budget is spent, drift is noticed, or "
            "labels are waited for; slack+https://… for Slack's format. May be given several times.",
            show_default=False,
        ),
    ] = None,
    webhook_secret: Annotated[
        str | None,
        typer.Option(
            envvar="MODELPICKER_WEBHOOK_SECRET",
            metavar="SECRET",
            help="What webhooks are signed with. Better set as an environment variable.",
            show_default=False,
        ),
    ] = None,
    webhook_idle: Annotated[
        float | None,
        typer.Option(
            envvar="MODELPICKER_WEBHOOK_IDLE",
            metavar="MINUTES",
            help="After how long without a label webhooks say that labels are waited for.  [default: 60]",
            show_default=False,
        ),
    ] = None,
    log_format: Annotated[
        Literal["text", "json"] | None,
        typer.Option(
            envvar="MODELPICKER_LOG_FORMAT",
            help="How the log looks: for people, or one JSON object per line.  [default: text]",
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
    from modelpicker.server.network.run import serve as run

    given: dict[str, Any] = {
        "host": host,
        "port": port,
        "tokens": tokens,
        "allowed_hosts": tuple(allowed_hosts) if allowed_hosts else None,
        "media_hosts": tuple(media_hosts) if media_hosts else None,
        "label_studio_secret": label_studio_secret,
        "webhooks": tuple(webhooks) if webhooks else None,
        "webhook_secret": webhook_secret,
        "webhook_idle": webhook_idle,
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
