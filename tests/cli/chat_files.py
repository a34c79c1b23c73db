"""Chat files as SillyTavern writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HEADER: dict[str, Any] = {
    "user_name": "Ann",
    "character_name": "Bel",
    "chat_metadata": {},
}


def said(number: int, text: str, *, user: bool = False, **more: Any) -> dict[str, Any]:
    """A message; `number` counts minutes."""
    date = f"2025-03-01T{10 + number // 60}:{number % 60:02}:00.000Z"
    return {
        "name": "Ann" if user else "Bel",
        "is_user": user,
        "send_date": date,
        "mes": text,
        **more,
    }


def talk(count: int, about: str = "the river") -> list[dict[str, Any]]:
    """A chat of `count` messages."""
    return [said(n, f"Line {n} about {about}.", user=bool(n % 2)) for n in range(count)]


def write(path: Path, rows: list[dict[str, Any]], header: dict[str, Any] = HEADER) -> str:
    """Write a chat file; its path as the command line wants it."""
    path.write_text("".join(json.dumps(row) + "\n" for row in [header, *rows]), encoding="utf-8")
    return str(path)
