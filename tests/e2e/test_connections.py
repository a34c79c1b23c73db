"""The extension finds the sidecar by itself, through the server plugin and without it."""

from __future__ import annotations

import pytest

from .conftest import World
from .small_talk import small_talk
from .stories import KEY, chat


def talk(world: World, key: str) -> None:
    lines = chat("Mira", [KEY.exchange, *small_talk("en", 20)])
    avatar = world.data.add_character(key, "Mira", first="Hello.", lines=lines)
    world.page.load()
    world.page.wait_for_dot("ok")
    world.page.open_character(avatar)
    prompt = world.page.send(KEY.question)
    assert prompt.recalled(KEY.words) == 1


@pytest.mark.oldest
def test_through_the_plugin_the_page_never_leaves_its_origin(world: World) -> None:
    asked = world.page.record_requests()
    talk(world, "through_plugin")

    assert world.page.soulmem["route"] == "plugin"
    assert any("/api/plugins/soulmem/" in url for url in asked)
    assert not [url for url in asked if f":{world.gate.port}/" in url]


def test_without_the_plugin_the_page_asks_the_sidecar_itself(
    world_without_plugin: World,
) -> None:
    world = world_without_plugin
    asked = world.page.record_requests()
    talk(world, "direct")

    assert world.page.soulmem["route"] == "direct"
    assert [
        url
        for url in asked
        if url.startswith(f"http://127.0.0.1:{world.gate.port}/v1/") and url.endswith("/recall")
    ]
