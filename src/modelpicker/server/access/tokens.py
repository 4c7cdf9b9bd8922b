"""Tokens: who may use a server, and for what. Storages know them by their hashes alone."""

import hashlib
import hmac
import re
import secrets
import threading
import time
from dataclasses import dataclass

import sqlalchemy as sa

from modelpicker.campaigns.names import NAME, check_name
from modelpicker.campaigns.storage.database import Storage
from modelpicker.campaigns.storage.schema import tokens
from modelpicker.errors import ConflictError, InputError, NotFoundError, brief
from modelpicker.server.live.group_commit import reach

ROLES = ("owner", "annotator", "reader")
TOKEN = re.compile(r"mp_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
# For how long a server may continue with what it knew of the tokens, in seconds: what revoking takes at most.
FRESH = 1.0
# Wrong tokens that one address may send before it has to wait, and for how long, in seconds.
PATIENCE = 10
PAUSE = 60.0
MOST_ADDRESSES = 10_000


@dataclass(frozen=True, slots=True)
class Token:
    """What is known about a token."""

    id: str
    name: str
    role: str
    predictions: bool
    """Whether an annotator may see what the models say."""
    digest: bytes
    created: int


def create_token(storage: Storage, name: str, role: str, *, predictions: bool = False) -> str:
    """A new token, which can be seen this once."""
    check_name(name)
    if role not in ROLES:
        raise InputError(f"role {brief(role)}: pass one of {', '.join(ROLES)}.")
    number, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    values = {
        "id": number,
        "name": name,
        "role": role,
        "predictions": predictions or role != "annotator",
        "digest": _digest(secret),
        "created": int(time.time() * 1e6),
    }
    taken = ConflictError(f"there is a token for {name!r} already; revoke it first, or choose another name.")
    with storage.writing() as connection:
        if connection.execute(sa.select(tokens.c.id).where(tokens.c.name == name)).first():
            raise taken
        try:
            connection.execute(sa.insert(tokens), values)
        except sa.exc.IntegrityError as error:  # somebody else made it at this very moment
            raise taken from error
    return f"mp_{number}_{secret}"


def list_tokens(storage: Storage) -> list[Token]:
    """All tokens, by name."""
    with storage.reading() as connection:
        rows = connection.execute(sa.select(tokens).order_by(tokens.c.name))
        return [
            Token(row.id, row.name, row.role, bool(row.predictions), bytes(row.digest), row.created) for row in rows
        ]


def revoke_token(storage: Storage, name: str) -> None:
    """Make a token worthless."""
    with storage.writing() as connection:
        named = NAME.fullmatch(name) and connection.execute(sa.delete(tokens).where(tokens.c.name == name))
        if not named or named.rowcount == 0:
            raise NotFoundError(
                f"there is no token for {brief(name)}; `modelpicker tokens list` shows those there are."
            )


def _digest(secret: str) -> bytes:
    """The hash of a secret of 256 random bits: nothing slower is needed against guessing."""
    return hashlib.sha256(secret.encode()).digest()


class Tokens:
    """The tokens of a storage as a server checks them."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._lock = threading.Lock()
        self._known: dict[str, Token] = {}
        self._read = -FRESH

    @property
    def fresh(self) -> bool:
        """Whether a token can be checked without reading the storage."""
        return time.monotonic() - self._read < FRESH

    def read_again(self) -> None:
        """Take note of tokens that were made or revoked here; other servers know within a second."""
        with self._lock:
            self._read = -FRESH

    def find(self, given: str) -> Token | None:
        """Who a token belongs to; None if it is worthless."""
        match = TOKEN.fullmatch(given)
        if match is None:
            return None
        number, secret = match.groups()
        token = self._current().get(number)
        digest = token.digest if token is not None else bytes(32)
        return token if hmac.compare_digest(digest, _digest(secret)) else None

    def _current(self) -> dict[str, Token]:
        with self._lock:
            if not self.fresh:
                self._known = {token.id: token for token in list_tokens(reach(self.storage.place))}
                self._read = time.monotonic()
            return self._known


class Failures:
    """Wrong tokens by address: who sends too many has to wait."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, float]] = {}

    def pause(self, address: str) -> float:
        """For how many seconds an address has to wait."""
        count, until = self._seen.get(address, (0, 0.0))
        left = until - time.monotonic()
        if left <= 0:
            self._seen.pop(address, None)
            return 0.0
        return left if count >= PATIENCE else 0.0

    def add(self, address: str) -> None:
        """Take note of a wrong token."""
        count, _ = self._seen.pop(address, (0, 0.0))
        self._seen[address] = (count + 1, time.monotonic() + PAUSE)
        if len(self._seen) > MOST_ADDRESSES:
            self._seen.pop(next(iter(self._seen)))
