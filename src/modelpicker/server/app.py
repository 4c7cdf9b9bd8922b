"""The application: routes, what stands before them, and the page."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

import modelpicker
from modelpicker.campaigns.background_compiler import BackgroundCompiler
from modelpicker.campaigns.registry import kernel_needs
from modelpicker.campaigns.storage.database import open_storage
from modelpicker.errors import ModelPickerError
from modelpicker.extras import require
from modelpicker.server.access.tokens import Tokens
from modelpicker.server.api.openapi import DESCRIPTION, TAGS, describe_api
from modelpicker.server.api.problems import as_problem
from modelpicker.server.api.routes import (
    campaigns,
    conflicts,
    files,
    health,
    labels,
    notes,
    pools,
    rounds,
    session,
    settings,
    standing,
    terms,
    tokens,
    webhooks,
)
from modelpicker.server.api.routes.common import VERSION
from modelpicker.server.configuration import Configuration
from modelpicker.server.context import ServerContext
from modelpicker.server.live.checkpoints import checkpoint_when_quiet
from modelpicker.server.live.group_commit import CommitQueues
from modelpicker.server.metrics import Metrics
from modelpicker.server.network.compression import compressing
from modelpicker.server.network.middleware import RequestMiddleware
from modelpicker.server.network.protocol import QUEUES
from modelpicker.server.outgoing.outbox import Outbox
from modelpicker.server.outgoing.sender import WebhookSender
from modelpicker.server.page_files import PageFiles

# Seconds between looks at what is being compiled.
LOOK = 0.1

ROUTERS = (
    rounds.router,
    labels.router,
    labels.waiting,
    conflicts.router,
    conflicts.settling,
    notes.router,
    webhooks.router,
    pools.router,
    campaigns.router,
    campaigns.leaving,
    terms.router,
    terms.deleting,
    standing.router,
    files.router,
    settings.router,
    session.router,
    tokens.router,
    tokens.revoking,
    health.router,
)


def create_app(configuration: Configuration) -> FastAPI:
    """A server's application, with its storage open."""
    configuration.check()
    if configuration.webhooks:
        require("client")
    metrics = Metrics()
    storage = open_storage(configuration.storage, create=True)
    app = FastAPI(
        title="modelpicker",
        version=modelpicker.__version__,
        description=DESCRIPTION,
        openapi_tags=TAGS,
        openapi_url=f"{VERSION}/openapi.json",
        docs_url=None,  # its page would load scripts from another host
        redoc_url=None,
        redirect_slashes=False,  # nobody is sent elsewhere
        lifespan=_lifespan,
        exception_handlers={
            ModelPickerError: as_problem,
            RequestValidationError: as_problem,
            HTTPException: as_problem,
        },
    )
    compiler = BackgroundCompiler()
    app.state.service = ServerContext(
        configuration,
        storage,
        CommitQueues(configuration.storage, metrics, compiler),
        Tokens(storage),
        metrics,
        compiler,
    )
    app.add_middleware(compressing)
    app.add_middleware(RequestMiddleware, configuration=configuration, metrics=metrics)
    for router in ROUTERS:  # as they are: an included router is looked through again for every request
        app.router.routes.extend(router.routes)
    page = PageFiles()
    app.add_api_route("/", page.send_index, include_in_schema=False)
    app.add_route("/static/{path:path}", page.send, include_in_schema=False)
    describe_api(app)
    return app


def _sender(service: ServerContext) -> WebhookSender:
    """Who tells others of news."""
    settings = service.configuration
    outbox, seconds = Outbox(service.storage), settings.webhook_idle * 60
    return WebhookSender(service.queues, outbox, settings.webhooks, settings.webhook_secret, seconds)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
    """When the server has stopped, everything that it took in is on disk, and in SQLite's file itself."""
    service: ServerContext = app.state.service
    with service.compiler:
        await asyncio.to_thread(_want_all, service)
        async with _tasks(service):
            yield {QUEUES: service.queues}
        await service.queues.peers.leave()
        service.queues.close()
    service.storage.checkpoint()


@asynccontextmanager
async def _tasks(service: ServerContext) -> AsyncIterator[None]:
    """What continues beside requests."""
    tasks = [
        asyncio.create_task(_prepare(service)),
        asyncio.create_task(service.queues.sweep()),
        asyncio.create_task(service.queues.peers.run()),
        asyncio.create_task(checkpoint_when_quiet(service.storage, service.configuration.quiet)),
    ]
    if service.configuration.webhooks:
        tasks.append(asyncio.create_task(_sender(service).run()))
    yield
    for task in tasks:
        task.cancel()


async def _prepare(service: ServerContext) -> None:
    """The server is ready when all is compiled that the campaigns need that are there at the start."""
    while service.compiler.waiting:
        await asyncio.sleep(LOOK)
    service.preparing = False


def _want_all(service: ServerContext) -> None:
    with suppress(ModelPickerError):  # a storage that cannot be read makes the server unready by itself
        for need in kernel_needs(service.storage):
            service.compiler.want(need)
    service.preparing = bool(service.compiler.waiting)
