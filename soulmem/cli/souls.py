"""Finds and creates souls by name."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from soulmem.cli.client import Client
from soulmem.domain.errors import NotFound, Unprocessable
from soulmem.domain.ids import new_id


def find_soul(client: Client, name: str) -> dict[str, Any] | None:
    """The soul with that name or id, or None. Raises Unprocessable if several share the name."""
    souls = client.ask("GET", "/souls")["souls"]
    wanted = name.strip().casefold()
    for same in (
        [s for s in souls if s["name"] == name],
        [s for s in souls if s["name"].strip().casefold() == wanted],
        [s for s in souls if s["id"] == name],
    ):
        if len(same) > 1:
            listed = ", ".join(s["id"] for s in same)
            raise Unprocessable(
                f"{len(same)} souls are called {name!r}: use one of their ids instead: {listed}"
            )
        if same:
            return dict(same[0])
    return None


def known_soul(client: Client, name: str) -> dict[str, Any]:
    """The soul with that name. Raises NotFound with the existing names."""
    soul = find_soul(client, name)
    if soul is None:
        names = sorted(s["name"] for s in client.ask("GET", "/souls")["souls"])
        raise NotFound(
            f"there is no soul called {name!r}: known are {', '.join(names) or 'none yet'}"
        )
    return soul


def find_or_make_soul(client: Client, name: str) -> tuple[dict[str, Any], bool]:
    """The soul with that name, and whether it was created now."""
    soul = find_soul(client, name)
    if soul is not None:
        return soul, False
    return dict(client.ask("PUT", f"/souls/{new_id('s')}", {"name": name.strip()})), True


def drop_if_empty(client: Client, soul: dict[str, Any]) -> bool:
    """Move a soul without chats and memories to the bin. Returns whether it was empty."""
    key = quote(soul["id"])
    if client.ask("GET", f"/chats?soul={key}")["chats"]:
        return False
    for state in ("active", "bin"):
        if client.ask("GET", f"/memories?soul={key}&state={state}&limit=1")["memories"]:
            return False
    client.ask("DELETE", f"/souls/{key}?confirm={quote(soul['name'], safe='')}")
    return True
