"""Typed ids, the rule for ids from clients, and new sortable ids."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import time
from datetime import datetime
from typing import NewType

from soulmem.domain.calendar import at_seconds
from soulmem.domain.errors import Unprocessable
from soulmem.domain.phrases import phrase

# The user whose souls these are; "default-user" on a one-person install
Owner = NewType("Owner", str)
SoulId = NewType("SoulId", str)
ChatId = NewType("ChatId", str)
SlotId = NewType("SlotId", str)  # a message's place, whatever text it holds
MemoryId = NewType("MemoryId", str)
StreamId = NewType("StreamId", str)

DEFAULT_OWNER = Owner("default-user")
ID_PATTERN = r"^[A-Za-z0-9_-]{1,64}\Z"
_ID = re.compile(ID_PATTERN)
_BASE32 = "0123456789abcdefghjkmnpqrstvwxyz"


def check_id(value: str, field: str) -> str:
    """`value`; raises Unprocessable unless it is 1..64 of A-Z a-z 0-9 _ -."""
    if not _ID.match(value):
        raise Unprocessable(
            phrase(
                "bad_id",
                "'{value}' is no id: use 1 to 64 of A-Z a-z 0-9 _ -",
                value=value[:80],
            ),
            field=field,
        )
    return value


def new_id(prefix: str) -> str:
    """A new id that sorts by creation time: prefix, 48 bits of milliseconds, 60 random bits."""
    return f"{prefix}{_encode(time.time_ns() // 1_000_000, 10)}{_encode(secrets.randbits(60), 12)}"


def born(made: str) -> datetime:
    """Creation time of an id of `new_id` with a one-letter prefix. Raises ValueError for others."""
    number = 0
    for digit in made[1:11]:
        number = number << 5 | _BASE32.index(digit)
    return at_seconds(number / 1000)


def derived_id(prefix: str, *parts: str) -> str:
    """The id derived from these parts: prefix and 128 bits of SHA-256."""
    seed = hashlib.sha256("\x1f".join(parts).encode()).digest()[:16]
    return prefix + base64.b32encode(seed).decode().rstrip("=").lower()


def _encode(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        digits.append(_BASE32[number & 31])
        number >>= 5
    return "".join(reversed(digits))
