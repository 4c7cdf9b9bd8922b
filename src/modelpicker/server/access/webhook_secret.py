"""Who may send webhooks: whoever knows the secret that the server was started with, or has a token."""

import hmac
from typing import Annotated

from fastapi import Depends, Request

from modelpicker.server.access.callers import Caller, admit, wrong_secret
from modelpicker.server.api.problems import Problem
from modelpicker.server.context import ServerContext

HEADER = "X-Modelpicker-Secret"
LABEL_STUDIO = Caller("annotator", "label-studio", False)


async def check_webhook(request: Request) -> Caller:
    """The caller of a webhook; an error without the right secret, and without a token of an annotator or owner."""
    state: ServerContext = request.app.state.service
    secret, given = state.configuration.label_studio_secret, request.headers.get(HEADER)
    if secret and given is not None:
        if hmac.compare_digest(given.encode("utf-8", "surrogateescape"), secret.encode()):
            return LABEL_STUDIO
        raise wrong_secret(request)
    if state.configuration.needs_tokens:
        caller = await admit(request)
        if caller.role not in ("owner", "annotator"):
            raise Problem(403, f"This needs the role owner or annotator; this token's is {caller.role}.")
        return caller
    raise Problem(
        401,
        f"Send the header {HEADER} with the secret of this server: set MODELPICKER_LABEL_STUDIO_SECRET when you "
        "start it, and the same as a header of the webhook in Label Studio.",
    )


LabelStudio = Annotated[Caller, Depends(check_webhook)]
