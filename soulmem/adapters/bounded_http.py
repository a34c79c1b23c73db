"""A client for HTTP that stops reading an answer which never ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx


class TooLarge(Exception):
    """An answer was larger than it may be."""


def bounded_client(most: int) -> httpx.AsyncClient:
    """An `httpx.AsyncClient` whose answers have at most so many bytes as they come over the line; a larger
    one fails while it is read, with TooLarge as the cause, and its connection is closed.
    """
    import httpx

    class Bounded(httpx.AsyncByteStream):
        """Counts what is read."""

        def __init__(self, inner: httpx.AsyncByteStream) -> None:
            self._inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for piece in self._inner:
                size += len(piece)
                if size > most:
                    raise TooLarge(f"more than {most} bytes")
                yield piece

        async def aclose(self) -> None:
            await self._inner.aclose()

    async def bound(response: httpx.Response) -> None:
        stream: Any = response.stream
        response.stream = Bounded(stream)

    return httpx.AsyncClient(event_hooks={"response": [bound]}, follow_redirects=True)
