"""`soulmem serve`: runs the sidecar until it is stopped."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from aiohttp import web

from soulmem import __version__
from soulmem.cli.client import Client, Refused, Unreachable
from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import load_settings
from soulmem.cli.words import Words
from soulmem.config import Settings
from soulmem.config.settings import ServerSettings, is_loopback
from soulmem.config.token import with_token
from soulmem.domain.errors import StoreError, StoreLocked
from soulmem.server.run import PortTaken, serve

if TYPE_CHECKING:
    from soulmem.engine.engine import Engine


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Serve until a signal comes."""
    settings = with_token(load_settings(args))
    logging.basicConfig(
        level=settings.log.level.upper(),
        stream=sys.stderr,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    # Imported late: it is slow, and errors in the settings should be shown before.
    from soulmem.adapters.surreal.process_scan import forgo_process_scan
    from soulmem.bootstrap import build, model_fetcher

    if not settings.store.url:
        forgo_process_scan()
    engine, app = build(settings, test_mode=args.test_mode)

    def ready(host: str, port: int) -> None:
        url = Client(host, port).url
        _show_address(settings, url, words, screen, test_mode=args.test_mode)

    def away() -> None:
        screen.line(words("model_away"), "yellow")
        if fetcher is not None:
            screen.line(words("model_ways", hub=fetcher.hub.current()))

    fetcher = model_fetcher(settings)
    try:
        asyncio.run(_until_stopped(engine, app, settings.server, ready, away))
    except PortTaken as error:
        if not _is_ours(settings):
            raise
        screen.failure(words("already_running", port=settings.server.port), error)
        return 1
    reason = engine.unsaved()
    if reason is not None:
        screen.line(words("served_unsaved", reason=reason), "yellow")
        return 1
    screen.note(words("served"))
    return 0


async def _until_stopped(
    engine: Engine,
    app: web.Application,
    server: ServerSettings,
    ready: Callable[[str, int], None],
    away: Callable[[], None],
) -> None:
    """Serve. Raises StoreLocked if another process uses the data folder.

    `away` is called, in a thread, when the wanted embedding model could not be loaded.

    Other errors of the store do not end it: they are in the health report, with what to do.
    """
    stop = asyncio.Event()

    async def give_up_when_locked() -> StoreError | None:
        error = await engine.opened()
        if isinstance(error, StoreLocked):
            stop.set()
        return error

    async def tell_of_the_model() -> None:
        await engine.opened()  # by then the engine has begun to load the model
        if await engine.embedding.lacks_wanted():
            await asyncio.to_thread(away)

    watch = asyncio.create_task(give_up_when_locked())
    telling = asyncio.create_task(tell_of_the_model())
    try:
        await serve(app, server.host, server.port, ready=ready, stop=stop)
    finally:
        watch.cancel()
        telling.cancel()
    error = watch.result() if watch.done() and not watch.cancelled() else None
    if isinstance(error, StoreLocked):
        raise error


def _show_address(
    settings: Settings, url: str, words: Words, screen: Screen, *, test_mode: bool
) -> None:
    """Print where the sidecar listens."""
    screen.line(words("listening", url=url, data=settings.data))
    if not is_loopback(settings.server.host):
        screen.line(words("listening_wide", file=settings.data / "token"), "yellow")
    if test_mode:
        screen.line(words("test_mode"), "yellow")
    place = {
        "url": url,
        "data": str(settings.data),
        "version": __version__,
        "pid": os.getpid(),
    }
    # One line, because the caller reads it while the sidecar runs.
    screen.result(place, indent=None)


def _is_ours(settings: Settings) -> bool:
    """Whether the program at the port is SoulMem."""
    try:
        Client(settings.server.host, settings.server.port).health()
    except Refused:
        return True
    except Unreachable:
        return False
    return True
