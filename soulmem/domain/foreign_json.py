"""JSON that others wrote, made harmless where it enters: bounded in depth, with texts that UTF-8 can carry."""

from __future__ import annotations

import json
import math
import re
import sys
from itertools import accumulate
from typing import Any

from soulmem.domain.texts import well_formed

MOST_DEPTH = 200  # objects and lists inside each other; chats and cards have about ten
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_STEPS = bytes.maketrans(b"[{]}", b"\x00\x00\x01\x01")  # 0: one deeper, 1: one back
# An escape, or a pair of them that is one character; a backslash behind a backslash begins none.
_ESCAPE = re.compile(
    r"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\."
)
_WIDEST = 1 << 63  # integers are kept as such up to here: the store and other programs take no more


class NestsTooDeep(ValueError):
    """JSON that no parser should be given."""

    def __init__(self) -> None:
        super().__init__("it nests too deep")


def check_depth(raw: bytes) -> None:
    """Raises NestsTooDeep for more than `MOST_DEPTH` levels. Does not parse; linear in the length."""
    if raw.count(b"[") + raw.count(b"{") <= MOST_DEPTH:
        return
    # Without escaped backslashes and quotes, each second part between quotes is outside of texts.
    bare = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    outside = b"".join(bare.split(b'"')[::2]).translate(None, _NO_BRACKETS)
    steps = outside.translate(_STEPS)
    if max(accumulate(1 - 2 * step for step in steps), default=0) > MOST_DEPTH:
        raise NestsTooDeep


def with_whole_characters(text: str) -> str:
    """JSON text with the escapes of lone surrogates replaced."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _ESCAPE.sub(_mended, text)


def sound_json(raw: bytes) -> bytes:
    """The same JSON with lone surrogates replaced. Raises ValueError for other text than UTF-8, NestsTooDeep."""
    text = raw.decode()  # in UTF-8 there are no surrogates but escaped ones
    check_depth(raw)
    sound = with_whole_characters(text)
    return raw if sound is text else sound.encode()


def read_json(raw: bytes | str) -> Any:
    """The value in JSON. A number beyond 64 bits becomes the nearest float; NaN and Infinity become None.

    Raises ValueError for what is no JSON or no UTF-8, NestsTooDeep.
    """
    if isinstance(raw, str):
        raw = well_formed(raw).encode()
    return _DECODER.decode(sound_json(raw).decode())


def first_value(text: str, position: int) -> Any:
    """The value that begins at `position`, whatever follows; texts may hold control characters.

    Raises ValueError where no JSON begins there, NestsTooDeep.
    """
    try:
        _, end = _LENIENT.raw_decode(text, position)
    except RecursionError:
        raise NestsTooDeep from None
    found = sound_json(well_formed(text[position:end]).encode())
    return _LENIENT.decode(found.decode())


def _mended(escape: re.Match[str]) -> str:
    """The escape, or what stands for half a pair."""
    found = escape.group()
    return found if escape.group(1) or len(found) == 2 else "\\ufffd"


def _integer(digits: str) -> int | float:
    number = int(digits) if len(digits) <= 20 else _WIDEST
    return number if -_WIDEST <= number < _WIDEST else _number(digits)


def _number(digits: str) -> float:
    """A float; one beyond all floats becomes the largest."""
    number = float(digits)
    if math.isinf(number):
        return math.copysign(sys.float_info.max, number)
    return number


def _no_number(name: str) -> None:
    """What JSON has no word for."""


_DECODER, _LENIENT = (
    json.JSONDecoder(
        parse_int=_integer,
        parse_float=_number,
        parse_constant=_no_number,
        strict=is_strict,
    )
    for is_strict in (True, False)
)
