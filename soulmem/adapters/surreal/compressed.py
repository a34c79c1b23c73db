"""JSON texts in less room: compressed, given what texts of their kind have in common."""

from __future__ import annotations

import base64
import zlib

_COMMON = (
    b'{"id":"v","soul":"","work":"digest","chat":"","read":["e","e"],"made":"2026-01-01T00:00:00.000000Z",'
    b'"after":null,"products":[{"id":"d","cited":["e","e"],"is_edge":false,"confidence":1.0}],"drafts":'
    b'{"episodes":[],"abstracts":[],"facts":[],"concepts":[],"habits":[],"dropped":[]},"model":"","source":""}'
)


def packed(data: bytes, common: bytes) -> bytes:
    """The data compressed; only with the same `common` it can be read."""
    compressor = zlib.compressobj(level=9, zdict=common)
    return compressor.compress(data) + compressor.flush()


def unpacked(data: bytes, common: bytes) -> bytes:
    """The inverse of `packed`. Raises zlib.error for damaged data."""
    return zlib.decompressobj(zdict=common).decompress(data)


def packed_text(data: bytes) -> str:
    """A JSON object as a compressed text."""
    return base64.b85encode(packed(data, _COMMON)).decode()


def unpacked_text(text: str) -> bytes:
    """The JSON object of `packed_text`."""
    return unpacked(base64.b85decode(text), _COMMON)
