"""Reads the text chunks of a PNG file."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from soulmem.domain.errors import Unprocessable
from soulmem.domain.phrases import phrase

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_MOST_BYTES = 64 << 20  # bytes, limit of an unpacked text


def png_texts(data: bytes, wanted: frozenset[str]) -> dict[str, bytes]:
    """The `wanted` texts by keyword, unpacked; the last of each keyword. Raises Unprocessable."""
    texts = {}
    for kind, body in _chunks(data):
        if kind in (b"tEXt", b"zTXt", b"iTXt"):
            keyword, _, rest = body.partition(b"\x00")
            name = keyword.decode("latin-1").lower()
            if name in wanted:
                texts[name] = _text(kind, rest)
    return texts


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and content of each chunk. Raises Unprocessable for a file that was cut off."""
    offset = len(SIGNATURE)
    while offset + 8 <= len(data):
        length, kind = (
            int.from_bytes(data[offset : offset + 4], "big"),
            data[offset + 4 : offset + 8],
        )
        if offset + 8 + length > len(data):
            raise Unprocessable(
                phrase("picture_cut", "the picture is cut off: save or export it again"),
                field="base64",
            )
        yield kind, data[offset + 8 : offset + 8 + length]
        if kind == b"IEND":  # sites append bytes behind it
            return
        offset += 12 + length


def _text(kind: bytes, rest: bytes) -> bytes:
    if kind == b"tEXt":
        return rest
    if kind == b"zTXt":
        return _unpacked(rest[1:])
    is_packed, rest = rest[:1] == b"\x01", rest[2:]
    text = rest.split(b"\x00", 2)[-1]  # after the language and the translated keyword
    return _unpacked(text) if is_packed else text


def _unpacked(data: bytes) -> bytes:
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(data, _MOST_BYTES)
    except zlib.error as error:
        raise Unprocessable(
            phrase(
                "picture_text_damaged",
                "a packed text in the picture is damaged ({error}): export it again",
                error=error,
            ),
            field="base64",
        ) from error
    if unpacker.unconsumed_tail:
        raise Unprocessable(
            phrase(
                "picture_too_large",
                "a packed text in the picture unpacks to more than {most} bytes: export the card again",
                most=_MOST_BYTES,
            ),
            field="base64",
        )
    return text
