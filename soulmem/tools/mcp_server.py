"""The tools as an MCP server over standard input and output, with the SDK of the protocol."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, TypeVar

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from soulmem import __version__
from soulmem.domain.errors import SoulMemError
from soulmem.tools.lines import LineReader, LineWriter

T = TypeVar("T")

ACTORS = ("lead", "archivist")


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


def offered_tools(
    listed: list[dict[str, Any]], actors: tuple[str, ...]
) -> dict[str, OfferedTool]:
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


def tool_server(
    client: ToolClient, soul_name: str, actors: tuple[str, ...]
) -> Server[Any]:
    """The server. Raises SoulMemError where the tools cannot be listed."""
    offered = offered_tools(client.tools(), actors)

    async def list_tools(
        _context: Any, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[entry.tool for entry in offered.values()])

    async def call_tool(
        _context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        entry = offered.get(params.name)
        if entry is None:
            known = ", ".join(offered)
            words = f"there is no tool {params.name!r}: there are {known}"
            raise MCPError(types.INVALID_PARAMS, words)
        arguments = params.arguments or {}
        try:
            result = await _in_thread(
                lambda: client.call(params.name, entry.actor, arguments)
            )
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
    try:
        with redirect_stdout(sys.stderr):
            async with stdio_server(reader, writer) as (incoming, outgoing):  # type: ignore[arg-type]  # as files
                options = server.create_initialization_options()
                await server.run(incoming, outgoing, options)
    finally:
        ending.cancel()


async def _end(reader: LineReader, stop: asyncio.Event) -> None:
    await stop.wait()
    reader.end()


async def _in_thread(work: Callable[[], T]) -> T:
    """The result of the work, done in a daemon: one that never ends keeps nothing from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:
            _deliver(loop, done.set_exception, done, error)
        else:
            _deliver(loop, done.set_result, done, result)

    threading.Thread(target=run, name="soulmem-tool", daemon=True).start()
    return await done


def _deliver(
    loop: asyncio.AbstractEventLoop,
    deliver: Callable[[Any], None],
    done: asyncio.Future[Any],
    value: Any,
) -> None:
    def hand_over() -> None:
        if not done.done():
            deliver(value)

    try:
        loop.call_soon_threadsafe(hand_over)
    except RuntimeError:  # the loop is closed: nobody waits any more
        return


def _answer(
    text: str, *, structured: Any = None, is_error: bool = False
) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
    if structured is None:
        return types.CallToolResult(content=content, is_error=is_error)
    return types.CallToolResult(
        content=content, structured_content=structured, is_error=is_error
    )
