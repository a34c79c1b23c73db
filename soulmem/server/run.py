"""Serves the application until a signal comes, then finishes the requests in flight."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import FrameType

from aiohttp import web

from soulmem.domain.errors import SoulMemError
from soulmem.server.client_connections import Connections

_GRACE = 5.0  # seconds for requests in flight
_BACKLOG = 1_024  # connections that may wait to be accepted
_SIGNALS = ("SIGINT", "SIGTERM", "SIGBREAK")


class PortTaken(SoulMemError):
    """The port cannot be opened for listening."""

    code = "port_taken"


async def serve(
    app: web.Application,
    host: str,
    port: int,
    *,
    ready: Callable[[str, int], None] | None = None,
    stop: asyncio.Event | None = None,
) -> None:
    """Serve until SIGTERM, SIGINT, SIGBREAK or `stop`; then finish requests in flight and stop the engine.

    Requests in flight have 5 s. `ready` is called with host and port once the port is open; port 0 means any
    free port. Raises PortTaken.
    """
    ended = stop or asyncio.Event()
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_GRACE)
    with _set_by_signals(ended):
        await runner.setup()
        try:
            async with _listening(runner, host, port) as taken:
                if ready is not None:
                    ready(host, taken)
                await ended.wait()
        finally:
            await runner.cleanup()


@asynccontextmanager
async def _listening(runner: web.AppRunner, host: str, port: int) -> AsyncIterator[int]:
    """Accept connections for as long as the `with` lasts. Yields the port."""
    loop, server = asyncio.get_running_loop(), runner.server
    assert server is not None

    try:
        listener = await loop.create_server(Connections(server, loop), host, port, backlog=_BACKLOG)
    except OSError as error:
        raise PortTaken(
            f"SoulMem cannot listen on {host}:{port} ({error.strerror or error}): "
            "stop the other program, or choose another server.port",
            field="server.port",
        ) from error
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()


@contextmanager
def _set_by_signals(event: asyncio.Event) -> Iterator[None]:
    """Set `event` when a signal asks to end. Works on Windows, too, where loops have no signal handlers."""
    loop = asyncio.get_running_loop()
    wanted = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    if sys.platform != "win32":
        for number in wanted:
            loop.add_signal_handler(number, event.set)
        try:
            yield
        finally:
            for number in wanted:
                loop.remove_signal_handler(number)
        return

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(event.set)

    before = {number: signal.signal(number, on_signal) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
