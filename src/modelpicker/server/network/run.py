"""Running a server until it is told to stop."""

import gc
import logging
import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

from modelpicker.errors import InputError, StorageError
from modelpicker.server.access.tokens import list_tokens
from modelpicker.server.app import create_app
from modelpicker.server.configuration import Configuration
from modelpicker.server.context import ServerContext
from modelpicker.server.live.peers import address_of
from modelpicker.server.logs import log_event
from modelpicker.server.network.protocol import Connection

# How long requests may continue once the server was told to stop, in seconds.
GRACE = 30


class Server(uvicorn.Server):
    """A server that lets its followers go when it is told to stop."""

    def __init__(self, app: FastAPI, configuration: Configuration) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Connection,
                ws="none",
                log_config=None,
                access_log=False,
                proxy_headers=configuration.needs_tokens,  # who needs none is not behind a proxy
                server_header=False,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=GRACE,
                backlog=1024,
            )
        )
        self.state: ServerContext = app.state.service

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until told to stop; other servers on the same storage learn where this one is."""
        if sockets:
            self.state.queues.peers.address = address_of(sockets[0], self.state.storage)
        super().run(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002  # as uvicorn calls it
        """Stop: no new requests, and those that are under way are finished; told twice, without waiting."""
        log_event(logging.INFO, "stopping", signal=signal.Signals(sig).name)
        self.state.stopping.set()
        self.force_exit = self.should_exit
        self.should_exit = True


def serve(configuration: Configuration, started: Callable[[str], None]) -> None:
    """Serve until a signal comes; `started` is told the address once it can be called."""
    app = create_app(configuration)
    state: ServerContext = app.state.service
    if configuration.needs_tokens and not list_tokens(state.storage):
        raise InputError(
            f"on {configuration.host} every caller needs a token, and there is none yet. Make one: modelpicker "
            "tokens create NAME --role owner. Or serve on 127.0.0.1 without --tokens, where none is needed."
        )
    listener = listen(configuration)
    url = _url(configuration, listener)
    log_event(logging.INFO, "serving", url=url, storage=state.storage.url, tokens=configuration.needs_tokens)
    started(url)
    gc.freeze()  # what is there now stays: there is no need to look through it again and again
    gc.set_threshold(20_000, 20, 50)
    Server(app, configuration).run([listener])


def listen(configuration: Configuration) -> socket.socket:
    """A socket at the address; 0 takes a port that is free."""
    host = configuration.host.strip("[]")
    try:
        family = socket.getaddrinfo(host, configuration.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, configuration.port), family=family, backlog=1024)
    except (OSError, ValueError) as error:  # names that cannot be one are a ValueError
        raise StorageError(
            f"cannot listen on {configuration.host} port {configuration.port}: "
            f"{getattr(error, 'strerror', None) or error}. "
            "Choose another with --port; 0 takes one that is free."
        ) from error


def _url(configuration: Configuration, listener: socket.socket) -> str:
    host = configuration.host.strip("[]")
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
