"""The servers on one PostgreSQL: who they are, and which of them decides the rounds of a campaign.

Only one transaction at a time may change a campaign, and every server that decides a round first has to learn what
the others decided. Several servers in turn are slower than one. So the rounds of a campaign are handed over to one
of them, which all servers find by the same rule. That is only for speed: any server may change any campaign at any
time, and while servers disagree about who is there, each round is still decided once.

Every server says each second that it is there, in a table that PostgreSQL need not keep through a crash.
"""

import asyncio
import hashlib
import hmac
import ipaddress
import logging
import secrets
import socket
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa
from prometheus_client import Gauge

from modelpicker.campaigns.storage.database import Storage
from modelpicker.campaigns.storage.statements import driver
from modelpicker.errors import ModelPickerError
from modelpicker.server.live.handover import GREETING, Peer, PeerConnection
from modelpicker.server.logs import log_event

# Seconds between two signs of life, those after which a server without one is no longer counted on, and those after
# which it is forgotten.
BEAT = 1.0
GONE = 4.0
FORGOTTEN = 3600.0
# Seconds for which a server that could not be reached is not tried again.
AVOIDED = 60.0
_LOCK = 7020654
_MAKE = """CREATE UNLOGGED TABLE IF NOT EXISTS modelpicker_servers (
    id text PRIMARY KEY, machine text NOT NULL, host text NOT NULL, port integer NOT NULL, secret text NOT NULL,
    seen timestamptz NOT NULL)"""
_BEAT = """INSERT INTO modelpicker_servers VALUES (%s, %s, %s, %s, %s, clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET seen = excluded.seen"""
_OTHERS = """SELECT id, machine, host, port, secret FROM modelpicker_servers
    WHERE id <> %s AND seen > clock_timestamp() - make_interval(secs => %s)"""
_FORGET = """DELETE FROM modelpicker_servers
    WHERE id = %s OR seen < clock_timestamp() - make_interval(secs => %s)"""


class Address(NamedTuple):
    """Where a server can be reached by others."""

    machine: str
    """The only machine from which it can be; empty if it can be from any."""
    host: str
    port: int


class Peers:
    """The other servers on a storage, as far as this one knows."""

    def __init__(self, storage: Storage, gauge: Gauge) -> None:
        self.storage = storage
        self.gauge = gauge
        self.id = secrets.token_hex(8)
        self.secret = secrets.token_urlsafe(32)
        """What those send who hand something over: they have it from the storage."""
        self.address: Address | None = None
        self._others: dict[str, Peer] = {}
        self._avoided: dict[str, float] = {}
        self._connections: dict[str, PeerConnection] = {}
        self._made = False
        self._failed = False

    def leader_of(self, campaign: str) -> Peer | None:
        """The server that decides the rounds of a campaign; None if that is this one, or nobody else is there."""
        if not self._others:
            return None
        now = time.monotonic()
        there = [self.id, *(other for other in self._others if self._avoided.get(other, now) <= now)]
        return self._others.get(max(there, key=lambda server: _rank(server, campaign)))

    def is_greeted(self, greeting: bytes) -> bool:
        """Whether a greeting comes from somebody who reads the storage."""
        return hmac.compare_digest(greeting.removeprefix(GREETING), self.secret.encode())

    def connection(self, peer: Peer) -> PeerConnection:
        """The way to another server."""
        if peer.id not in self._connections:
            self._connections[peer.id] = PeerConnection(peer)
        return self._connections[peer.id]

    def avoid(self, peer: Peer, reason: str) -> None:
        """Do without a server that could not be reached, for a while."""
        if peer.id not in self._avoided:
            log_event(logging.WARNING, "another server is away", error=reason)
        self._avoided[peer.id] = time.monotonic() + AVOIDED

    async def run(self) -> None:
        """Say that this server is there, and look who else is, until cancelled."""
        if not self.storage.postgres or self.address is None:
            return
        try:
            while True:
                self._others = await self._look(self.address)
                self.gauge.set(len(self._others))
                for gone in self._connections.keys() - self._others.keys():
                    await self._connections.pop(gone).close()
                self._avoided = {other: until for other, until in self._avoided.items() if other in self._others}
                await asyncio.sleep(BEAT)
        finally:
            self._others = {}

    async def _look(self, address: Address) -> dict[str, Peer]:
        """The others; nobody while the storage is away."""
        try:
            found = await asyncio.to_thread(self._beat, address)
        except ModelPickerError as error:
            if not self._failed:
                log_event(logging.WARNING, "other servers are not known", error=str(error))
            self._failed = True
            return {}
        self._failed = False
        return found

    def _beat(self, address: Address) -> dict[str, Peer]:
        here = this_machine()
        with self.storage.writing() as connection:
            raw = driver(connection)
            if not self._made:
                raw.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                raw.execute(_MAKE)
            raw.execute(_BEAT, (self.id, *address, self.secret))
            rows = raw.execute(_OTHERS, (self.id, GONE)).fetchall()
        self._made = True
        return {other: Peer(other, *place) for other, at, *place in rows if at in (here, "")}

    async def leave(self) -> None:
        """Say that this server is no longer there, and hang up."""
        self._others = {}
        for way in self._connections.values():
            await way.close()
        if self._made:
            await asyncio.to_thread(self._forget)

    def _forget(self) -> None:
        with suppress(ModelPickerError), self.storage.writing() as connection:
            driver(connection).execute(_FORGET, (self.id, FORGOTTEN))


def _rank(server: str, campaign: str) -> bytes:
    """All servers rank one another in the same way; when one comes or goes, only its own campaigns move."""
    return hashlib.blake2b(f"{server} {campaign}".encode(), digest_size=8).digest()


def address_of(listener: socket.socket, storage: Storage) -> Address:
    """Where others reach a server that listens there."""
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = _own_address(storage)
    return Address(this_machine() if ipaddress.ip_address(host).is_loopback else "", host, port)


def _own_address(storage: Storage) -> str:
    """The address by which this machine reaches the database: others who use that are on its network."""
    database = sa.make_url(storage.place).host
    with suppress(OSError):
        for family, kind, _, _, place in (
            socket.getaddrinfo(database, 1, type=socket.SOCK_DGRAM) if database else ()
        ):
            with socket.socket(family, kind) as probe:
                probe.connect(place)  # which sends nothing
                return str(probe.getsockname()[0])
    return "127.0.0.1"


def this_machine() -> str:
    """What names this machine, or container: servers with the same name reach one another on loopback."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/net').stat().st_ino}"
    except OSError:
        return f"{socket.gethostname()} {uuid.getnode()}"
