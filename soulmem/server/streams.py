"""Sends a response that is produced piece by piece."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass

from aiohttp import web

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
            response.headers["Content-Disposition"] = (
                f'attachment; filename="{self.name}"'
            )
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
