"""Builds the HTTP application from its routes and middlewares."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from aiohttp import web

from soulmem.server import openapi
from soulmem.server.access import AccessCheck, add_headers
from soulmem.server.error_responses import errors_as_json
from soulmem.server.resources import (
    audit,
    chats,
    debug,
    embedder,
    events,
    export,
    health,
    jobs,
    ledger,
    llm,
    memories,
    model,
    people,
    recall,
    souls,
    stream_events,
    tools,
    views,
)
from soulmem.server.routes import ENGINE, add_routes
from soulmem.server.server_settings import ServerSettings

if TYPE_CHECKING:
    from soulmem.engine.engine import Engine

PUBLIC_ROUTES = (
    *health.ROUTES,
    *souls.ROUTES,
    *chats.ROUTES,
    *recall.ROUTES,
    *memories.ROUTES,
    *views.ROUTES,
    *people.ROUTES,
    *jobs.ROUTES,
    *ledger.ROUTES,
    *llm.ROUTES,
    *model.ROUTES,
    *embedder.ROUTES,
    *audit.ROUTES,
    *tools.ROUTES,
    *export.ROUTES,
    *events.ROUTES,
    *stream_events.ROUTES,
)


def create_app(
    engine: Engine,
    settings: ServerSettings,
    *,
    test_mode: bool,
) -> web.Application:
    """The application over one engine. The engine starts and stops with it.

    `settings.token` proves a caller's identity; if it is empty, nobody can prove one.
    """
    routes = (*PUBLIC_ROUTES, *(debug.ROUTES if test_mode else ()))
    access = AccessCheck(settings, {route.path: route.limit for route in routes})
    app = web.Application(middlewares=[errors_as_json, access.check])
    app[ENGINE] = engine
    add_routes(app, routes)
    openapi.add_page(app, routes)
    app.on_response_prepare.append(add_headers)
    app.on_shutdown.append(_close_event_streams)
    app.cleanup_ctx.append(_run_engine)
    return app


async def _close_event_streams(app: web.Application) -> None:
    app[ENGINE].events.close()


async def _run_engine(app: web.Application) -> AsyncIterator[None]:
    await app[ENGINE].start()
    yield
    await app[ENGINE].stop()
