"""An HTTP client that stops reading a response which is too large."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from soulmem.domain.phrases import phrase

if TYPE_CHECKING:
    import httpx


class TooLarge(Exception):
    """A response is larger than allowed."""


def bounded_client(max_bytes: int) -> httpx.AsyncClient:
    """An `httpx.AsyncClient` that reads at most `max_bytes` of a response, counted before decompression.

    Reading a larger one fails with TooLarge as the cause, and its connection is closed.
    """
    import httpx

    class Bounded(httpx.AsyncByteStream):
        """Counts the bytes that are read."""

        def __init__(self, inner: httpx.AsyncByteStream) -> None:
            self._inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for piece in self._inner:
                size += len(piece)
                if size > max_bytes:
                    raise TooLarge(
                        phrase(
                            "answer_too_long",
                            "more than {max_bytes} bytes",
                            max_bytes=max_bytes,
                        )
                    )
                yield piece

        async def aclose(self) -> None:
            await self._inner.aclose()

    async def bound(response: httpx.Response) -> None:
        stream: Any = response.stream
        response.stream = Bounded(stream)

    return httpx.AsyncClient(event_hooks={"response": [bound]}, follow_redirects=True)
