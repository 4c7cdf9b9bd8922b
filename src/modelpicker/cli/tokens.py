"""`modelpicker tokens`: who may use a server."""

from typing import Annotated, Literal

import typer

from modelpicker.cli.shared.campaign_options import StorageOption, storage_url
from modelpicker.cli.shared.terminal import Json, print_json, print_table, say, table, visible
from modelpicker.extras import require

tokens_app = typer.Typer(no_args_is_help=True, help="Access tokens of a server: create, list, revoke.")


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
    """Create a token and print it once.

    The storage keeps only its hash, so it cannot be printed again.
    """
    require("server")
    from modelpicker.campaigns.storage.database import open_storage
    from modelpicker.server.access.tokens import create_token

    token = create_token(open_storage(storage_url(storage), create=True), name, role, predictions=predictions)
    if as_json:
        print_json({"name": name, "role": role, "token": token})
        return
    typer.echo(token)
    say("", "This is the only time it is shown. Pass it as `Authorization: Bearer …`, or sign in on the page.")


@tokens_app.command("list")
def list_verb(storage: StorageOption = None, as_json: Json = False) -> None:
    """List the names and the roles of all tokens."""
    require("server")
    from modelpicker.campaigns.events.history import as_time
    from modelpicker.campaigns.storage.database import open_storage
    from modelpicker.server.access.tokens import list_tokens

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
    """Revoke a token: it stops working within a second."""
    require("server")
    from modelpicker.campaigns.storage.database import open_storage
    from modelpicker.server.access.tokens import revoke_token

    revoke_token(open_storage(storage_url(storage)), name)
    print_json({"revoked": name}) if as_json else say(visible(f"Revoked the token of {name}."))
