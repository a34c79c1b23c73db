"""Encodes requests to SurrealDB and decodes its answers, with the SDK's CBOR functions.

The SDK's own connections do this on the event loop, where a large change takes a second.
"""

from __future__ import annotations

import asyncio
from typing import Any

from soulmem.adapters.surreal.faults import translate
from soulmem.adapters.surreal.link import Query, Work
from soulmem.domain.errors import StoreError
from soulmem.domain.phrases import phrase

_SMALL = 16 << 10  # bytes of an answer that is decoded faster than a thread is started


async def query_message(work: Work, place: str) -> bytes:
    """The request for a query. Raises StoreError for a value that cannot be stored in `place`."""
    try:
        if isinstance(work, Query):
            return _encode_query(work)
        return await asyncio.to_thread(lambda: _encode_query(work()))
    except ValueError as error:  # half a surrogate pair, an integer beyond 64 bits
        raise StoreError(
            phrase(
                "store_value",
                "a value cannot be stored in {place}: {error}",
                place=place,
                error=error,
            )
        ) from error


def message(method: str, params: list[Any]) -> bytes:
    """The request for any other method."""
    # Imported here, so that importing SoulMem stays fast.
    from surrealdb.data.cbor import encode

    return encode({"id": "1", "method": method, "params": params})


async def result(response: bytes, place: str) -> Any:
    """The result of a request. Raises StoreError if the request as a whole failed."""
    if len(response) <= _SMALL:
        answer = _decode(response)
    else:
        answer = await asyncio.to_thread(_decode, response)
    if "error" in answer:
        raise translate(str(answer["error"].get("message", answer["error"])), place)
    return answer["result"]


def load() -> None:
    """Import what the functions above need. Slow: call it in a worker thread."""
    import surrealdb.data.cbor  # noqa: F401


def _encode_query(query: Query) -> bytes:
    return message("query", [query.sql, query.params])


def _decode(response: bytes) -> Any:
    from surrealdb.data.cbor import decode

    return decode(response)
