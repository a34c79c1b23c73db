"""Provides a sidecar for a command: the running one, or a temporary one on the same data."""

from __future__ import annotations

import argparse
import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from soulmem.cli.client import Client, Unreachable
from soulmem.config import Settings, load
from soulmem.config.token import FILE_NAME as TOKEN_FILE
from soulmem.config.token import with_token
from soulmem.domain.errors import SoulMemError

if TYPE_CHECKING:
    from aiohttp import web

_POLL = 0.05  # seconds between two requests for health
_STARTING = 120.0  # seconds for a temporary sidecar to start, on a busy machine
_GRACE = 5.0  # seconds for requests in flight


class StoreUnusable(SoulMemError):
    """The sidecar answers, but its store cannot be used."""

    code = "busy"


def load_settings(args: argparse.Namespace) -> Settings:
    """The settings, with those of the command line on top. Raises ConfigError."""
    options = {
        "store.data": args.data,
        "server.port": args.port,
        "server.host": getattr(args, "host", None),
    }
    return load(
        args.config,
        overrides={key: value for key, value in options.items() if value is not None},
    )


def client_for(settings: Settings) -> Client:
    """A client for the sidecar that these settings would start."""
    token = settings.server.token
    try:
        token = token or (settings.data / TOKEN_FILE).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        token = ""  # not needed on loopback
    return Client(settings.server.host, settings.server.port, token)


def running_sidecar(args: argparse.Namespace, settings: Settings) -> Client | None:
    """The sidecar that runs on these settings; None where none answers.

    None as well with a data folder but no port on the command line: the running one may use another folder.
    """
    if args.data is not None and args.port is None:
        return None
    running = client_for(settings)
    try:
        running.health()
    except Unreachable:
        return None
    return running


@contextmanager
def sidecar(
    args: argparse.Namespace, settings: Settings, *, shared: bool = False
) -> Iterator[Client]:
    """The sidecar at the settings' port if it runs, else a temporary one.

    A `shared` one listens at the settings' port, so that others can use it meanwhile.

    With a data folder but no port on the command line, always a temporary one: the running sidecar may use
    another folder. Raises StoreUnusable.
    """
    running = running_sidecar(args, settings)
    if running is not None:
        yield running
        return
    own_folder = args.data is not None and args.port is None
    port = settings.server.port if shared and not own_folder else 0
    with Momentary(settings, port) as client:
        await_store(client)
        yield client


def await_store(client: Client) -> dict[str, Any]:
    """Health once the sidecar has started. Raises StoreUnusable."""
    health = wait_until(
        client,
        lambda report: report["status"] != "starting" or report["store"]["state"] == "error",
    )
    if health["store"]["state"] == "error":
        raise StoreUnusable(str(health["store"]["detail"]))
    return health


def wait_until(
    client: Client,
    good: Callable[[dict[str, Any]], bool],
    seconds: float = 60.0,
    seen: Callable[[dict[str, Any]], None] = lambda health: None,
) -> dict[str, Any]:
    """The first health report for which `good` is true, or the last one after `seconds`.

    `seen` is called with each report.
    """
    deadline = time.monotonic() + seconds
    while True:
        health, _ = client.health(seconds=10.0)
        seen(health)
        if good(health) or time.monotonic() > deadline:
            return health
        time.sleep(_POLL)


class Momentary:
    """A temporary sidecar in this process on loopback, for as long as the `with` lasts.

    It listens at `port`, or at any free one where that is 0 or taken.
    """

    def __init__(self, settings: Settings, port: int = 0) -> None:
        _make_folder(settings.data)
        known = with_token(settings).server  # who asks for this folder sends its token
        server = replace(known, host="127.0.0.1", port=port)
        self._wanted_port = port
        self._settings = replace(settings, server=server)
        self._thread = threading.Thread(target=self._run, name="soulmem-sidecar")
        self._up = threading.Event()
        self._is_given_up = False
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._port = 0

    def __enter__(self) -> Client:
        self._thread.start()
        if not self._up.wait(_STARTING):
            self._is_given_up = True
            self.__exit__()
            raise Unreachable(f"the sidecar did not start within {_STARTING:.0f} s")
        if self._failure is not None:
            self._thread.join()
            raise self._failure
        return Client("127.0.0.1", self._port, self._settings.server.token)

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._stop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            # Imported late: takes half a second, which is not needed with a running sidecar.
            from aiohttp import web

            from soulmem.bootstrap import build

            _, app = build(self._settings)
            asyncio.run(self._serve(web.AppRunner(app, access_log=None, shutdown_timeout=_GRACE)))
        except BaseException as error:
            self._failure = error
        finally:
            self._up.set()

    async def _serve(self, runner: web.AppRunner) -> None:
        from aiohttp import web

        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        if self._is_given_up:
            return
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, "127.0.0.1", self._wanted_port).start()
            except OSError:  # another program has that port
                await web.TCPSite(runner, "127.0.0.1", 0).start()
            self._port = runner.addresses[0][1]
            self._up.set()
            await self._stop.wait()
        finally:
            await runner.cleanup()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnusable(
            f"the data folder {folder} cannot be created ({error.strerror}): choose another with --data"
        ) from error
