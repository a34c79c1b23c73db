"""The model for memory work is read and chosen over HTTP, and its key never comes back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.conftest import Client, refused

SERVER = {
    "use": "server",
    "model": " qwen ",
    "base_url": "http://127.0.0.1:5001/v1",
    "api_key": "secret",
}


async def test_a_choice_is_shown_without_its_key(client: Client) -> None:
    first = await (await client.get("/v1/model")).json()
    assert first == {"use": "settings", "model": "", "base_url": "", "has_key": False}
    chosen = await client.put("/v1/model", json=SERVER)
    shown = {
        "use": "server",
        "model": "qwen",
        "base_url": "http://127.0.0.1:5001/v1",
        "has_key": True,
    }
    assert (chosen.status, await chosen.json()) == (200, shown)
    body = {key: value for key, value in SERVER.items() if key != "api_key"}
    await client.put("/v1/model", json=body)
    assert await (await client.get("/v1/model")).json() == shown
    await client.put("/v1/model", json={"use": "client"})
    assert (await (await client.get("/v1/model")).json())["use"] == "client"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "use"),
        ({"use": "magic"}, "use"),
        ({"use": "server"}, "model"),
        ({"use": "server", "model": "qwen", "base_url": "ftp://a"}, "base_url"),
        ({"use": "none", "key": "x"}, "key"),
    ],
)
async def test_what_is_no_choice_is_refused(
    client: Client, body: dict[str, Any], field: str
) -> None:
    await refused(await client.put("/v1/model", json=body), 422, field)
    assert (await (await client.get("/v1/model")).json())["use"] == "settings"
