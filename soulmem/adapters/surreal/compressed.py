"""JSON texts in less room: compressed, given what texts of their kind have in common."""

from __future__ import annotations

import base64
import zlib

import numpy as np

_COMMON = (
    b'{"id":"v","soul":"","work":"digest","chat":"","read":["e","e"],"made":"2026-01-01T00:00:00.000000Z",'
    b'"after":null,"products":[{"id":"d","cited":["e","e"],"is_edge":false,"confidence":1.0}],"drafts":'
    b'{"episodes":[],"abstracts":[],"facts":[],"concepts":[],"habits":[],"dropped":[]},"model":"","source":""}'
)

# Base85: the value of each letter, and of each of five places
_VALUE = np.zeros(256, np.int64)
_VALUE[[base64.b85encode(bytes((0, 0, 0, n)))[-1] for n in range(85)]] = range(85)
_POWERS = 85 ** np.arange(4, -1, -1)


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
    return unpacked(_decoded(text.encode()), _COMMON)


def _decoded(text: bytes) -> bytes:
    """As `base64.b85decode`, which takes several times as long. Wrong letters give wrong bytes."""
    missing = -len(text) % 5
    letters = np.frombuffer(text + b"~" * missing, np.uint8).reshape(-1, 5)
    numbers = _VALUE[letters] @ _POWERS
    return numbers.astype(">u4").tobytes()[: 4 * len(numbers) - missing]
