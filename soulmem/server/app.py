"""How the HTTP application is put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from aiohttp import web

from soulmem.server import (
    audit,
    chats,
    events,
    export,
    health,
    jobs,
    ledger,
    llm,
    memories,
    openapi,
    recall,
    souls,
    test_doors,
    tools,
    views,
)
from soulmem.server.doors import ENGINE, add_doors
from soulmem.server.errors import answer_failures
from soulmem.server.guard import Guard, add_headers
from soulmem.server.settings import ServerSettings

if TYPE_CHECKING:
    from soulmem.engine.engine import Engine

_ALWAYS = (
    *health.DOORS,
    *souls.DOORS,
    *chats.DOORS,
    *recall.DOORS,
    *memories.DOORS,
    *views.DOORS,
    *jobs.DOORS,
    *ledger.DOORS,
    *llm.DOORS,
    *audit.DOORS,
    *tools.DOORS,
    *export.DOORS,
    *events.DOORS,
)


def create_app(
    engine: Engine,
    settings: ServerSettings,
    *,
    test_mode: bool,
) -> web.Application:
    """The application over one engine, which starts and stops with it.

    `settings.token` is the caller's proof; empty, nobody can prove anything.
    """
    doors = (*_ALWAYS, *(test_doors.DOORS if test_mode else ()))
    guard = Guard(settings, {door.path: door.limit for door in doors})
    app = web.Application(middlewares=[answer_failures, guard.check])
    app[ENGINE] = engine
    add_doors(app, doors)
    openapi.add_page(app, doors)
    app.on_response_prepare.append(add_headers)
    app.on_shutdown.append(_let_listeners_go)
    app.cleanup_ctx.append(_engine_runs)
    return app


async def _let_listeners_go(app: web.Application) -> None:
    app[ENGINE].events.close()


async def _engine_runs(app: web.Application) -> AsyncIterator[None]:
    await app[ENGINE].start()
    yield
    await app[ENGINE].stop()
