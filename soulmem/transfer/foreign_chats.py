"""Recognises what is read elsewhere: chats of other programs, which SillyTavern converts, and our own exports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from soulmem.domain.errors import Unprocessable
from soulmem.domain.foreign_json import read_json
from soulmem.domain.phrases import phrase

_DEPTH = 4  # levels of lists and objects that are searched for messages
_LOOKED_AT = 50  # elements of each list
_TEXTS = ("msg", "mes", "message", "text", "content", "data")
_SPEAKERS = ("role", "name", "is_user", "is_human", "userId", "user", "src", "sender")


def check_no_foreign_chat(content: Any) -> None:
    """Raises Unprocessable where JSON is the chat of a program that SillyTavern imports from."""
    program = _program(content) if isinstance(content, dict) else None
    if program is not None:
        raise Unprocessable(
            phrase(
                "file_foreign_chat",
                "the file is a chat of {program}: import it in SillyTavern (Manage chat files, Import), then the"
                " chat that SillyTavern made of it",
                program=program,
            ),
            field="text",
        )


def check_no_messages(content: Any) -> None:
    """Raises Unprocessable where JSON holds messages, in a form that nobody here knows."""
    if _holds_messages(content):
        raise Unprocessable(
            phrase(
                "file_other_chat",
                "the file is a chat of another program: convert it to a chat of SillyTavern (.jsonl) first, for"
                " example with Manage chat files, Import",
            ),
            field="text",
        )


def check_lines(lines: Iterable[bytes]) -> None:
    """`check_no_messages` for a file of one JSON value a line."""
    check_no_messages(list(_values(lines)))


def check_no_bundle(data: bytes) -> None:
    """Raises Unprocessable for a character that SoulMem exported."""
    for head in _values(data.split(b"\n", 1)[:1]):
        if isinstance(head, dict) and head.get("type") == "bundle":
            raise Unprocessable(
                phrase(
                    "file_bundle",
                    "the file is a character that SoulMem exported: `soulmem restore FILE` reads it",
                ),
                field="text",
            )


def _program(content: dict[str, Any]) -> str | None:
    """The program whose chat it is, by the fields that SillyTavern knows it by."""
    messages, histories = content.get("messages"), content.get("histories")
    if _is_list_of(messages, "msg"):
        return "Agnai"
    if isinstance(histories, dict) and isinstance(histories.get("histories"), list):
        return "Character.AI"
    if isinstance(content.get("data_visible"), list) or (
        isinstance(content.get("visible"), list) and "internal" in content
    ):
        return "text-generation-webui"
    if "savedsettings" in content or _is_kobold(content):
        return "KoboldAI"
    return "RisuAI" if content.get("type") == "risuChat" else None


def _is_kobold(content: dict[str, Any]) -> bool:
    return isinstance(content.get("actions"), list) and "prompt" in content


def _is_list_of(value: Any, field: str) -> bool:
    return isinstance(value, list) and any(
        isinstance(one, dict) and isinstance(one.get(field), str) for one in value
    )


def _values(lines: Iterable[bytes]) -> Iterator[Any]:
    for _, line in zip(range(_LOOKED_AT), lines, strict=False):
        try:
            yield read_json(line)
        except ValueError:
            continue


def _holds_messages(content: Any, depth: int = _DEPTH) -> bool:
    """Whether a list somewhere in it is of objects with a text and a speaker."""
    if depth == 0 or not isinstance(content, dict | list):
        return False
    inner = list(content.values() if isinstance(content, dict) else content)
    if isinstance(content, list) and any(map(_is_message, inner[:_LOOKED_AT])):
        return True
    return any(_holds_messages(one, depth - 1) for one in inner[:_LOOKED_AT])


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and any(isinstance(value.get(field), str) for field in _TEXTS)
        and any(field in value for field in _SPEAKERS)
    )
