"""Cards as other programs write them."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import Any

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind: bytes, body: bytes) -> bytes:
    """One chunk of a PNG."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def picture(*chunks: bytes) -> bytes:
    """A PNG of one pixel with these chunks before its picture."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    data = chunk(b"IDAT", zlib.compress(b"\x00\x00"))
    return SIGNATURE + head + b"".join(chunks) + data + chunk(b"IEND", b"")


def packed(card: dict[str, Any]) -> bytes:
    """A card as text chunks hold it."""
    return base64.b64encode(json.dumps(card, ensure_ascii=False).encode())


def v2(**data: Any) -> dict[str, Any]:
    """A card of version 2."""
    return {
        "spec": "chara_card_v2",
        "spec_version": "2.0",
        "data": {"name": "Mira", "description": "", **data},
    }
