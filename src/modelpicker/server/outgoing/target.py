"""Where webhooks go, in what form, and how they are signed as Standard Webhooks has it."""

import base64
import binascii
import hashlib
import hmac
import json
from html import escape
from typing import Any, Literal, NamedTuple, Self, TypeAlias
from urllib.parse import urlsplit

from modelpicker.errors import InputError, brief

Form: TypeAlias = Literal["json", "slack"]
SLACK = "slack+"
SLACK_HOST = "hooks.slack.com"
ENCODED = "whsec_"
SHORTEST_SECRET = 16


class WebhookTarget(NamedTuple):
    """An address that is told about news."""

    url: str
    form: Form

    @classmethod
    def parse(cls, given: str) -> Self:
        """An address as it is typed: `https://…`, or `slack+https://…` for whatever takes Slack's format."""
        form: Form = "json"
        url = given
        if given.lower().startswith(SLACK):
            form, url = "slack", given[len(SLACK) :]
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname, parts.port
        except ValueError as error:
            raise InputError(f"webhook {brief(given)} is not an address: {error}.", parameter="webhooks") from error
        if parts.scheme not in ("http", "https") or not host or any(one.isspace() for one in url):
            raise InputError(
                f"webhook {brief(given)}: pass an address such as https://example.org/hook, or "
                "slack+https://chat.example.org/hooks/1 for Slack's format.",
                parameter="webhooks",
            )
        return cls(url, "slack" if host == SLACK_HOST else form)

    @property
    def shown(self) -> str:
        """The address for a log: what comes after the host may be a secret."""
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}/…"

    def body(self, news: dict[str, Any]) -> bytes:
        """News in the form that the address takes. In Slack's, `<` begins a command, such as to call everybody."""
        document = {"text": escape(news["text"], quote=False)} if self.form == "slack" else news
        return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")


def key_of(secret: str) -> bytes:
    """The bytes that sign; after `whsec_` they are in base64."""
    if not secret.startswith(ENCODED):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(ENCODED), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(f"the secret of webhooks is not base64 after {ENCODED}: {error}.") from error


def check_secret(secret: str | None) -> None:
    """Refuse a secret that can be guessed."""
    if secret is not None and len(key_of(secret)) < SHORTEST_SECRET:
        raise InputError(
            f"the secret of webhooks needs at least {SHORTEST_SECRET} letters.", parameter="webhook_secret"
        )


def signed_headers(secret: str | None, number: str, seconds: int, body: bytes) -> dict[str, str]:
    """The id and the time of a webhook, and the signature of both and of its body.

    >>> signed_headers("a secret of sixteen", "msg_1", 1700000000, b"{}")["webhook-signature"][:3]
    'v1,'
    """
    headers = {"webhook-id": number, "webhook-timestamp": str(seconds), "Content-Type": "application/json"}
    if secret is None:
        return headers
    signed = hmac.new(key_of(secret), f"{number}.{seconds}.".encode() + body, hashlib.sha256).digest()
    return {**headers, "webhook-signature": f"v1,{base64.b64encode(signed).decode()}"}
