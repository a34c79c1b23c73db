"""Lists memories and prints them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from soulmem.cli.client import Client
from soulmem.cli.screen import Screen
from soulmem.cli.souls import known_soul
from soulmem.cli.words import Words

_PAGE = 1000


def selected_souls(client: Client, name: str | None) -> list[dict[str, Any]]:
    """The soul of that name, or all souls if `name` is None. Raises NotFound."""
    return (
        [known_soul(client, name)]
        if name is not None
        else list(client.ask("GET", "/souls")["souls"])
    )


def listed(client: Client, soul: str, **wanted: str) -> Iterator[dict[str, Any]]:
    """The memories of a soul. `wanted` are filters of `GET /v1/memories`, like `state` or `permanent`."""
    cursor: str | None = None
    while True:
        more = {} if cursor is None else {"cursor": cursor}
        page = client.ask(
            "GET",
            "/memories?" + urlencode({"soul": soul, "limit": _PAGE, **wanted, **more}),
        )
        yield from page["memories"]
        cursor = page["cursor"]
        if cursor is None:
            return


def show(memory: dict[str, Any], words: Words, screen: Screen) -> None:
    """Print a memory's id, kind and first line."""
    marks = [words(mark) for mark in ("permanent", "locked") if memory[mark]]
    kind = ", ".join([words(f"kind_{memory['kind']}"), *marks])
    screen.line(
        words(
            "memory_item",
            id=memory["id"],
            kind=kind,
            text=memory["text"].split("\n")[0],
        ),
        indent="  ",
    )
