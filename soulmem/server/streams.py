"""How an answer that is made piece by piece is sent."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass

from aiohttp import web


@dataclass(frozen=True, slots=True)
class Stream:
    """The pieces, their media type, and the name a file is saved by: ASCII without quotes; None: no file."""

    pieces: AsyncGenerator[bytes, None]
    media: str
    name: str | None = None

    async def send(self, request: web.Request) -> web.StreamResponse:
        """The response, sent; to HEAD without the pieces."""
        response = web.StreamResponse()
        response.content_type = self.media
        response.charset = "utf-8"
        if self.name is not None:
            response.headers["Content-Disposition"] = (
                f'attachment; filename="{self.name}"'
            )
        await response.prepare(request)
        # Who goes away in the middle, as every page does some day, is no failure.
        with suppress(ConnectionResetError):
            if request.method != "HEAD":
                async with aclosing(self.pieces):
                    async for piece in self.pieces:
                        await response.write(piece)
            await response.write_eof()
        return response
