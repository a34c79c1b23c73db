"""`soulmem mcp`: the tools of a character for clients that speak the Model Context Protocol."""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from soulmem.cli.client import Client
from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import load_settings, sidecar
from soulmem.cli.souls import known_soul
from soulmem.cli.words import Words
from soulmem.domain.errors import Unprocessable

STOPPED = 130  # what a shell expects after Ctrl-C
_SECONDS = 60.0  # for a tool that calls no model
_MODEL_SECONDS = 3600.0  # for one that does: six calls of a slow model


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Serve on standard input and output until the input ends, or Ctrl-C."""
    if importlib.util.find_spec("mcp") is None:
        raise Unprocessable(words("mcp_missing"))
    settings = load_settings(args)
    with sidecar(args, settings, shared=True) as client:
        soul = known_soul(client, args.soul)
        # Imported late: it takes a second, and without the library it fails.
        from soulmem.tools.mcp_server import ACTORS, tool_server

        actors = ACTORS if args.actor == "both" else (args.actor,)
        server = tool_server(SoulTools(client, soul["id"]), soul["name"], actors)
        serving = words("mcp_serving", name=soul["name"], url=client.url)
        stopped = asyncio.run(_serve(server, lambda: screen.note(serving)))
    for sign in (signal.SIGINT, signal.SIGTERM):  # until the process has ended
        signal.signal(sign, signal.SIG_IGN)
    screen.note(words("stopped" if stopped else "mcp_ended"))
    return STOPPED if stopped else 0


async def _serve(server: Any, announce: Callable[[], None]) -> bool:
    """Serve, announced once a signal can end it in words; whether a signal did."""
    from soulmem.tools.mcp_server import serve

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def end(_number: int, _frame: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: it has ended
            loop.call_soon_threadsafe(stop.set)

    # Not those of the loop, which go with it: a second Ctrl-C would end the process without words.
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, end)
    announce()
    # Streams of their own, the output without a buffer: Python flushes and closes its own at its end, and
    # aborts while a thread waits in one.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    lines = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    await serve(server, lines, out, stop)
    return stop.is_set()


class SoulTools:
    """The tools of one soul on a sidecar."""

    def __init__(self, client: Client, soul: str) -> None:
        self._client = client
        self._soul = soul

    def tools(self) -> list[dict[str, Any]]:
        """The tools as `GET /v1/tools` lists them."""
        return list(self._client.ask("GET", "/tools")["tools"])

    def call(self, name: str, actor: str, arguments: Mapping[str, Any]) -> Any:
        """The result of a tool. Raises Unreachable, Refused."""
        body = {"soul": self._soul, "actor": actor, "arguments": dict(arguments)}
        slow = name in ("call_assistant", "archive_memories", "create_daily_summary")
        seconds = _MODEL_SECONDS if slow else _SECONDS
        answer = self._client.ask("POST", f"/tools/{name}", body, seconds=seconds)
        return answer["result"]
