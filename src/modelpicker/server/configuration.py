"""What a server is run with."""

import ipaddress
import re
from dataclasses import dataclass
from functools import cached_property

from modelpicker.errors import InputError, brief
from modelpicker.server.outgoing.target import WebhookTarget, check_secret

MEBIBYTE = 2**20
LARGEST = 2**40
SHORTEST_SECRET = 16
LONGEST_IDLE = 365 * 24 * 60.0
# A name or an address, without a scheme, a port or a path.
HOST_NAME = re.compile(r"[\w-]+(\.[\w-]+)*|\[[0-9A-Fa-f:.]+\]")
# The same for hosts of pictures, as browsers take them: letters of other alphabets in their xn-- form.
MEDIA_HOST = re.compile(r"([A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")


@dataclass(frozen=True)
class Configuration:
    """Where the server listens, what it serves, and how much it takes in."""

    storage: str
    host: str = "127.0.0.1"
    port: int = 8000
    tokens: bool = False
    """Whether tokens are needed on loopback too, such as behind a proxy."""
    allowed_hosts: tuple[str, ...] = ()
    """Names by which browsers may call it, besides those of this machine."""
    media_hosts: tuple[str, ...] = ()
    """Hosts from which the page may show pictures and play audio; by default only what an item itself contains."""
    label_studio_secret: str | None = None
    """What webhooks of Label Studio have to send; without it they need a token."""
    webhooks: tuple[str, ...] = ()
    """Addresses that are told what happens: certified, budget spent, drift noticed, labels waited for."""
    webhook_secret: str | None = None
    """What webhooks are signed with."""
    webhook_idle: float = 60.0
    """Minutes without any label after which labels count as waited for."""
    demo: bool = False
    largest_body: int = 16 * MEBIBYTE
    largest_file: int = 256 * MEBIBYTE
    access_log: bool = False
    quiet: float = 60.0
    """Seconds without a write after which SQLite's log is moved into its file."""

    @cached_property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False

    @cached_property
    def needs_tokens(self) -> bool:
        """Whether who calls has to say who they are."""
        return self.tokens or not self.loopback

    def check(self) -> None:
        """Refuse what is not valid."""
        if not _is_whole(self.port) or not 0 <= self.port <= 65535:
            raise InputError(
                f"port {brief(self.port)}: pass a number from 0 to 65535; 0 takes one that is free.",
                parameter="port",
            )
        if not self.host or any(letter.isspace() for letter in self.host):
            raise InputError(f"host {brief(self.host)}: pass an address to listen on, such as 127.0.0.1.")
        for what, size in (("largest_body", self.largest_body), ("largest_file", self.largest_file)):
            if not _is_whole(size) or not 1 <= size <= LARGEST:
                raise InputError(f"{what}={brief(size)}: pass how many bytes, from 1 to 2**40.", parameter=what)
        self._check_webhooks()
        for name in self.allowed_hosts:
            if not HOST_NAME.fullmatch(name):
                raise InputError(f"allowed host {brief(name)}: pass a bare name, such as picker.example.org.")
        for name in self.media_hosts:
            if not MEDIA_HOST.fullmatch(name):
                raise InputError(
                    f"media host {brief(name)}: pass a name without https:// and a path, such as cdn.example.org."
                )

    def _check_webhooks(self) -> None:
        """Refuse addresses that are none, and secrets that can be guessed."""
        secret = self.label_studio_secret
        if secret is not None and (
            len(secret) < SHORTEST_SECRET or not secret.isascii() or not secret.isprintable()
        ):
            raise InputError(
                f"the secret of Label Studio's webhooks needs at least {SHORTEST_SECRET} ASCII letters or digits.",
                parameter="label_studio_secret",
            )
        for address in self.webhooks:
            WebhookTarget.parse(address)
        check_secret(self.webhook_secret)
        if not 0 < self.webhook_idle < LONGEST_IDLE:
            raise InputError(f"webhook_idle={brief(self.webhook_idle)}: pass minutes, above 0 and below a year.")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
