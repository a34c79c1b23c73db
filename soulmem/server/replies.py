"""Replies of a route: JSON, or a stream of parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec
from aiohttp import web

from soulmem.server.common_types import ResponseBody

LOOK = b""  # a piece that sends nothing: the stream ends if the client has gone


@dataclass(frozen=True, slots=True)
class Stream:
    """A streamed response. `name` is the file name for a download (ASCII, no quotes); None: no download."""

    pieces: AsyncGenerator[bytes, None]
    media: str
    name: str | None = None

    async def send(self, request: web.Request) -> web.StreamResponse:
        """Send the response; for HEAD only its headers."""
        response = web.StreamResponse()
        response.content_type = self.media
        response.charset = "utf-8"
        if self.name is not None:
            response.headers["Content-Disposition"] = f'attachment; filename="{self.name}"'
        await response.prepare(request)
        # A client that disconnects in the middle is not an error: every page is closed some day.
        with suppress(ConnectionResetError):
            if request.method != "HEAD":
                async with aclosing(self.pieces):
                    async for piece in self.pieces:
                        if piece:
                            await response.write(piece)
                        elif request.transport is None:
                            return response
            await response.write_eof()
        return response


R = TypeVar("R", bound=ResponseBody, covariant=True)
_INLINE_ROWS = 100  # a response with more rows is built and encoded in a thread


@dataclass(frozen=True, slots=True)
class Reply(Generic[R]):
    """What a handler returns: how to build the body, its number of rows, and the status."""

    build: Callable[[], R]
    rows: int = 1
    status: int = 200


async def respond(reply: Reply[ResponseBody]) -> web.Response:
    """The HTTP response of a reply; status 204 has no body."""
    if reply.status == 204:
        return web.Response(status=204)

    def encode() -> bytes:
        return msgspec.json.encode(reply.build())

    body = encode() if reply.rows <= _INLINE_ROWS else await asyncio.to_thread(encode)
    return json_response(body, reply.status)


def json_response(body: bytes, status: int = 200) -> web.Response:
    """A response whose body is encoded already."""
    return web.Response(body=body, status=status, content_type="application/json", charset="utf-8")
