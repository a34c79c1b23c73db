"""Encodes responses as JSON: small ones on the event loop, large ones in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec
from aiohttp import web

from soulmem.server.common_types import ResponseBody

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
    return web.Response(
        body=body, status=status, content_type="application/json", charset="utf-8"
    )
