"""The tools as an MCP server over standard input and output, with the SDK of the protocol."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, BinaryIO, Protocol, TypeVar

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from soulmem import __version__
from soulmem.domain.errors import SoulMemError
from soulmem.tools.json_lines import LineReader, LineWriter

T = TypeVar("T")


class Workers:
    """Runs functions on at most so many daemon threads, in the order they come."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Any]]]
        self._waiting = SimpleQueue()
        self._threads = 0
        self._open = 0  # works that wait or run

    async def run(self, work: Callable[[], T]) -> T:
        """The result of the work. Cancelled before a thread took it, it is not done at all."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._waiting.put((work, done))
        self._open += 1
        if self._threads < min(self._open, self._most):
            self._threads += 1
            threading.Thread(
                target=self._work, args=(loop,), name="soulmem-tool", daemon=True
            ).start()
        try:
            return await done
        finally:
            self._open -= 1

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        """Runs in a thread of its own."""
        while True:
            work, done = self._waiting.get()
            if done.cancelled():
                continue
            deliver: Callable[[Any], None] = done.set_result
            try:
                value = work()
            except BaseException as error:
                value, deliver = error, done.set_exception
            try:
                loop.call_soon_threadsafe(_hand_over, done, deliver, value)
            except RuntimeError:  # the loop is closed: nobody waits any more
                return


def _hand_over(done: asyncio.Future[Any], deliver: Callable[[Any], None], value: Any) -> None:
    if not done.done():
        deliver(value)


ACTORS = ("lead", "archivist")
_MOST_CALLS = 8  # at once; further ones wait
_PATIENCE = 2.0  # seconds in which a client must read a line, once the input has ended


class ToolClient(Protocol):
    """Lists and calls the tools of one soul. Blocks, and raises SoulMemError."""

    def tools(self) -> list[dict[str, Any]]:
        """The tools as `GET /v1/tools` lists them."""
        ...

    def call(self, name: str, actor: str, arguments: Mapping[str, Any]) -> Any:
        """The result of a tool."""
        ...


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool, and the actor as which it is called."""

    tool: types.Tool
    actor: str


def offered_tools(listed: list[dict[str, Any]], actors: tuple[str, ...]) -> dict[str, OfferedTool]:
    """The tools of these actors by name; one that several have is that of the last of them."""
    out = {}
    for actor in actors:
        for entry in listed:
            if entry["actor"] == actor:
                tool = types.Tool(
                    name=entry["name"],
                    description=entry["description"],
                    input_schema=entry["parameters"],
                )
                out[entry["name"]] = OfferedTool(tool, actor)
    return out


def tool_server(client: ToolClient, soul_name: str, actors: tuple[str, ...]) -> Server[Any]:
    """The server. Raises SoulMemError where the tools cannot be listed."""
    offered = offered_tools(client.tools(), actors)
    workers = Workers(_MOST_CALLS)

    async def list_tools(
        _context: Any, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[entry.tool for entry in offered.values()])

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        entry = offered.get(params.name)
        if entry is None:
            known = ", ".join(offered)
            words = f"there is no tool {params.name!r}: there are {known}"
            raise MCPError(types.INVALID_PARAMS, words)
        arguments = params.arguments or {}
        try:
            result = await workers.run(lambda: client.call(params.name, entry.actor, arguments))
        except SoulMemError as error:
            return _answer(error.with_field, is_error=True)
        text = json.dumps(result, ensure_ascii=False)
        return _answer(text, structured=result)

    return Server(
        "soulmem",
        version=__version__,
        instructions=f"The long-term memory of the role-play character {soul_name}.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def serve(
    server: Server[Any], stdin: BinaryIO, stdout: BinaryIO, stop: asyncio.Event
) -> None:
    """Serve until the input ends or `stop` is set. Whatever else prints goes to standard error."""
    writer = LineWriter(stdout)
    reader = LineReader(stdin, writer, types.jsonrpc_message_adapter.validate_json)
    ending = asyncio.create_task(_end(reader, stop))
    with redirect_stdout(sys.stderr):
        try:
            serving = asyncio.create_task(_exchange(server, reader, writer))
            await _over(serving, reader, writer)
        finally:
            ending.cancel()


async def _exchange(server: Server[Any], reader: LineReader, writer: LineWriter) -> None:
    async with stdio_server(reader, writer) as (incoming, outgoing):  # type: ignore[arg-type]  # as files
        await server.run(incoming, outgoing, server.create_initialization_options())


async def _end(reader: LineReader, stop: asyncio.Event) -> None:
    await stop.wait()
    reader.end()


async def _over(serving: asyncio.Task[None], reader: LineReader, out: LineWriter) -> None:
    """Wait until the serving is over. Once the input has ended, only for as long as the client reads."""
    ended = asyncio.create_task(reader.ended.wait())
    await asyncio.wait([serving, ended], return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    written = -1
    while not serving.done() and out.written > written:
        written = out.written
        await asyncio.wait([serving], timeout=_PATIENCE)
    if serving.done():
        serving.result()
        return
    serving.cancel()
    # What fails now fails as its other side is gone already.
    await asyncio.gather(serving, return_exceptions=True)


def _answer(text: str, *, structured: Any = None, is_error: bool = False) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
    if structured is None:
        return types.CallToolResult(content=content, is_error=is_error)
    return types.CallToolResult(content=content, structured_content=structured, is_error=is_error)
