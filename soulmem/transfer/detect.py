"""Detects the format of a file: chat, card or world."""

from __future__ import annotations

import json
from typing import Any

from soulmem.domain.errors import Unprocessable
from soulmem.transfer.card import card_data
from soulmem.transfer.files import json_object
from soulmem.transfer.png import SIGNATURE

ST_CHAT, CARD, WORLD_INFO = (
    "st_chat",
    "card",
    "world_info",
)  # as `POST /v1/import` calls them
_BOM = b"\xef\xbb\xbf"
_OF_CHATS = ("mes", "chat_metadata", "user_name", "character_name")


def format_of(data: bytes, ending: str) -> str | None:
    """The format by the content of the file and its `ending` (".jsonl"); None when it is none of these."""
    if data.startswith(SIGNATURE):
        return CARD
    if ending.lower() == ".jsonl" or _is_line_of_chat(data):
        return ST_CHAT
    try:
        content = json_object(data)
    except Unprocessable:
        return None
    inner = content.get("data")
    if "entries" in content or (isinstance(inner, dict) and "entries" in inner):
        return WORLD_INFO
    try:
        card_data(data)
    except Unprocessable:
        return None
    return CARD


def _is_line_of_chat(data: bytes) -> bool:
    """Whether the first line is a header or a message of a chat file."""
    line = next(
        (line for line in data.removeprefix(_BOM).split(b"\n", 8) if line.strip()), b""
    )
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and any(field in row for field in _OF_CHATS)
