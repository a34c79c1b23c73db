"""Exchanges without facts, from the bundled chats: memories are searched among real talk."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from .sidecar import REPOSITORY

_FOLDER = REPOSITORY / "soulmem" / "cli" / "demo_chats"
_FILES = {"en": "lantern_en.json", "zh": "inn_zh.json"}


def small_talk(language: str, count: int, start: int = 0) -> list[tuple[str, str]]:
    """`count` exchanges, the user's words and the answer, about 40 tokens a message; endless."""
    exchanges = exchanges_of(_FOLDER / _FILES[language])
    return [exchanges[number % len(exchanges)] for number in range(start, start + count)]


@cache
def exchanges_of(file: Path) -> list[tuple[str, str]]:
    """A chat that is kept as a file: the user's words and the answer, in order."""
    exchanges: list[tuple[str, str]] = []
    for message in json.loads(file.read_text("utf-8"))["messages"]:
        if message["role"] == "user":
            exchanges.append((message["text"], ""))
        elif (
            exchanges
        ):  # a narrator before the first line is left out; a later one joins the answer
            mine, answer = exchanges.pop()
            exchanges.append((mine, f"{answer}\n{message['text']}".strip()))
    return [(mine, answer) for mine, answer in exchanges if answer]
