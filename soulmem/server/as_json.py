"""How answers become JSON responses: small ones at once, large ones off the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec
from aiohttp import web

from soulmem.server.answers.common import Answer

R = TypeVar("R", bound=Answer, covariant=True)
_INLINE = 100  # rows; a longer list is built and encoded in a thread


@dataclass(frozen=True, slots=True)
class Reply(Generic[R]):
    """What a handler answers: how to build it, how many rows that takes, and the status."""

    build: Callable[[], R]
    rows: int = 1
    status: int = 200


async def respond(reply: Reply[Answer]) -> web.Response:
    """The JSON response of a reply; without a body for 204."""

    if reply.status == 204:
        return web.Response(status=204)

    def encode() -> bytes:
        return msgspec.json.encode(reply.build())

    body = encode() if reply.rows <= _INLINE else await asyncio.to_thread(encode)
    return json_response(body, reply.status)


def json_response(body: bytes, status: int = 200) -> web.Response:
    """A response of ready JSON."""
    return web.Response(
        body=body, status=status, content_type="application/json", charset="utf-8"
    )
