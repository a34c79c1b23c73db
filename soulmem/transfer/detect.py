"""Detects the format of a file: chat, card or world."""

from __future__ import annotations

from typing import Any

from soulmem.domain.errors import Unprocessable
from soulmem.domain.foreign_json import read_json
from soulmem.domain.phrases import phrase
from soulmem.transfer.card import card_data, is_card, is_packed
from soulmem.transfer.files import as_utf8, check_text, json_value
from soulmem.transfer.foreign_chats import (
    check_no_bundle,
    check_no_foreign_chat,
    check_no_messages,
)

ST_CHAT, CARD, WORLD_INFO = (
    "st_chat",
    "card",
    "world_info",
)  # as `POST /v1/import` calls them
_OF_CHATS = ("mes", "chat_metadata", "user_name", "character_name")


def format_of(data: bytes, ending: str) -> str:
    """The format by the content of the file and its `ending` (".jsonl"). Raises Unprocessable for another file."""
    if is_packed(data):
        card_data(data)
        return CARD
    check_no_bundle(as_utf8(data))
    if ending.lower() == ".jsonl" or _is_line_of_chat(data):
        return ST_CHAT
    text = as_utf8(data)
    check_text(text)
    if text.lstrip()[:1] not in (b"{", b"["):
        raise _unknown()
    content = json_value(data)
    check_no_foreign_chat(content)
    if isinstance(content, dict):
        inner = content.get("data")
        whole = inner if isinstance(inner, dict) else content
        if is_card(whole) and "entries" not in whole:
            card_data(data)  # raises a more exact error if it can
            return CARD
        if "entries" in whole or isinstance(inner, list):
            return WORLD_INFO
    check_no_messages(content)
    raise _unknown()


def _unknown() -> Unprocessable:
    return Unprocessable(
        phrase(
            "file_unknown",
            "neither a chat (.jsonl), nor a character card, nor world info",
        )
    )


def _is_line_of_chat(data: bytes) -> bool:
    """Whether the first line is a header or a message of a chat file."""
    lines = as_utf8(data).split(b"\n", 8)
    line = next((line for line in lines if line.strip()), b"")
    try:
        row: Any = read_json(line)
    except ValueError:
        return False
    return isinstance(row, dict) and any(field in row for field in _OF_CHATS)
