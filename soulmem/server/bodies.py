"""Reads a request's body and query into Structs: checks size, type, encoding, then the Struct's rules."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from aiohttp import ClientPayloadError, web
from aiohttp.http_exceptions import HttpProcessingError
from msgspec import inspect

from soulmem.domain.errors import BadRequest, SoulMemError, TooLarge
from soulmem.domain.foreign_json import NestsTooDeep, check_depth
from soulmem.domain.phrases import phrase
from soulmem.server.common_types import Body, Query
from soulmem.server.rule_errors import unprocessable

BODY_LIMIT = 32 << 20  # bytes
_INLINE_BYTES = 64 << 10  # a larger body is decoded in a thread
_INTEGER = re.compile(r"-?[0-9]{1,18}\Z")
_NUMBER = re.compile(r"-?\d{1,9}(\.\d{1,9})?\Z")
_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89aAbB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89aAbB]..)\\u[dD][c-fC-F]"
)
_BOOLS = {"true": True, "false": False}

B = TypeVar("B", bound=Body)
Q = TypeVar("Q", bound=Query)
T = TypeVar("T")


class UnsupportedMediaType(SoulMemError):
    """The content type or encoding of the body is not supported."""

    code = "unsupported_media_type"


async def off_loop(size: int, work: Callable[[], T]) -> T:
    """Run `work` directly if `size` (bytes) is small, else in a thread, so that the event loop is not blocked."""
    return work() if size <= _INLINE_BYTES else await asyncio.to_thread(work)


def check_content_length(request: web.BaseRequest, limit: int = BODY_LIMIT) -> None:
    """Raises TooLarge if Content-Length is over the limit, before the body is read."""
    length = request.content_length
    if length is not None and length > limit:
        raise TooLarge(
            phrase(
                "body_too_large",
                "the body has {length} bytes: send at most {limit} at once",
                length=length,
                limit=limit,
            )
        )


async def read_json(request: web.Request, *, may_be_empty: bool, limit: int = BODY_LIMIT) -> bytes:
    """The raw body; an empty one is `{}` if `may_be_empty`.

    Raises TooLarge, UnsupportedMediaType or BadRequest.
    """
    if not request.can_read_body:
        if may_be_empty:
            return b"{}"
        raise BadRequest("the body is missing: send a JSON object")
    charset = (request.charset or "utf-8").lower().replace("_", "-")
    if request.content_type != "application/json" or charset not in ("utf-8", "utf8"):
        sent = request.headers.get("Content-Type", "nothing")[:80]
        raise UnsupportedMediaType(
            f"the content type is {sent!r}: send application/json in UTF-8",
            field="Content-Type",
        )
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedMediaType(
            "the body is compressed: send it uncompressed", field="Content-Encoding"
        )
    raw = await _read(request, limit)
    return raw or (b"{}" if may_be_empty else raw)


async def _read(request: web.Request, limit: int) -> bytes:
    """All bytes of the body. Raises TooLarge as soon as the limit is passed."""
    pieces = []
    size = 0
    try:
        async for piece in request.content.iter_any():
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise TooLarge(
                    phrase(
                        "body_over_limit",
                        "the body has more than {limit} bytes: send less at once",
                        limit=limit,
                    )
                )
    except (ClientPayloadError, HttpProcessingError, ConnectionError) as error:
        raise BadRequest("the body is incomplete: send it again") from error
    return await off_loop(size, lambda: b"".join(pieces))


def decode(raw: bytes, shape: type[B]) -> B:
    """The Struct in `raw`. Raises BadRequest if it is not JSON, Unprocessable if a value breaks a rule."""
    try:
        check_depth(raw)
        return msgspec.json.decode(raw, type=shape)
    except msgspec.ValidationError as error:
        raise unprocessable(error, shape, _untyped(raw)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, NestsTooDeep) as error:
        raise BadRequest(f"the body is not JSON in UTF-8: {_decode_reason(error, raw)}") from error


def parse_query(request: web.Request, shape: type[Q]) -> Q:
    """The query parameters as `shape`. Numbers are plain, booleans `true` or `false`."""
    sent: dict[str, Any] = {}
    types = _types(shape)
    for name, text in request.query.items():
        if name in sent:
            raise BadRequest(
                f"the query parameter {name[:80]!r} is sent twice: send it once",
                field=name[:80],
            )
        sent[name] = _value(text, types.get(name, ()))
    try:
        return msgspec.convert(sent, type=shape)
    except msgspec.ValidationError as error:
        raise unprocessable(error, shape, sent) from error


def _types(shape: type[Query]) -> dict[str, tuple[type[inspect.Type], ...]]:
    """The types each parameter accepts, by its name in the query."""
    info = inspect.type_info(shape)
    assert isinstance(info, inspect.StructType)
    types_by_name = {}
    for field in info.fields:
        options = field.type.types if isinstance(field.type, inspect.UnionType) else (field.type,)
        types_by_name[field.encode_name] = tuple(type(option) for option in options)
    return types_by_name


def _value(text: str, types: tuple[type[inspect.Type], ...]) -> Any:
    if inspect.IntType in types and _INTEGER.match(text):
        return int(text)
    if inspect.FloatType in types and _NUMBER.match(text):
        return float(text)
    if inspect.BoolType in types:
        return _BOOLS.get(text, text)
    return text


def _untyped(raw: bytes) -> Any:
    """The body decoded without rules, to quote it in an error message; None if that fails too."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _decode_reason(error: Exception, raw: bytes) -> str:
    if isinstance(error, NestsTooDeep):
        return str(error)
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.object[error.start]:#04x} is not UTF-8"
    if _LONE_SURROGATE.search(raw):
        return "it contains half of a surrogate pair"
    return str(error).removeprefix("JSON is malformed: ")
