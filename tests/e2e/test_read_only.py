"""Read-only remembers nothing, and nothing is removed without the user."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from .child import until
from .conftest import World
from .small_talk import small_talk
from .stories import FEVER, KEY, PARROT, Fact, chat

if TYPE_CHECKING:
    from playwright.sync_api import Route

SECRET = Fact(("The abbot's name is Valdemar Skey.", ""), "What is the abbot called?", "Valdemar")


@pytest.mark.nightly
def test_read_only_recalls_and_remembers_nothing(world: World) -> None:
    lines = chat("Mira", [KEY.exchange, PARROT.exchange, *small_talk("en", 18)])
    avatar = world.data.add_character("readonly", "Mira", first="Hello.", lines=lines)
    world.data.add_chat("readonly", "other", chat("Mira", [FEVER.exchange]))
    page, tab = world.page, world.page.tab
    page.load()
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.sync()
    soul, chat_id = page.soulmem["soul"], page.soulmem["chat"]

    def remembered(words: str) -> list[str]:
        listed = world.sidecar.ask("GET", f"/memories?soul={soul}&q={words}&match=exact")[
            "memories"
        ]
        return [memory["text"] for memory in listed]

    # By the user's wish: recalled as before, nothing told.
    page.open_drawer()
    tab.locator("#soulmem_read_only").check()
    tab.locator('#soulmem_dot[data-step="read_only"]').wait_for(state="attached")
    tab.locator("#soulmem_step", has_text="nothing new is remembered").wait_for()
    page.screenshot("read-only-en")
    before = world.sidecar.stored(chat_id)
    assert page.send(KEY.question).recalled(KEY.words) == 1
    page.send(SECRET.exchange[0])
    assert page.sync() is None
    assert world.sidecar.stored(chat_id) == before
    assert remembered(SECRET.words) == []
    page.open_drawer()
    tab.locator("#soulmem_read_only").uncheck()
    until(lambda: bool(remembered(SECRET.words)), 20, "what was said meanwhile")

    # A store that cannot be written is said in words, not as a riddle.
    def full(route: Route) -> None:
        health = route.fetch().json()
        health |= {
            "status": "degraded",
            "store": {"state": "ok", "detail": "the disk of D:/soulmem is full"},
        }
        route.fulfill(body=json.dumps(health), content_type="application/json")

    tab.route("**/health", full)
    tab.locator("#soulmem_look").click()
    assert page.wait_for_dot("degraded") == "store_read_only"
    words = tab.locator("#soulmem_step").inner_text()
    assert "remember nothing new" in words
    assert "disk of D:/soulmem is full" in words
    page.screenshot("store-read-only-en")
    tab.unroute("**/health")
    tab.locator("#soulmem_look").click()
    page.wait_for_dot("ok")

    # A sudden loss: seen before it is decided.
    page.slash(f"/cut 0-{page.length - 6}")
    page.sync()
    assert page.send(KEY.question).count(KEY.words) == 0, "what vanished is recalled"
    page.open_drawer()
    tab.locator("#soulmem_held_review").click()
    tab.locator("#soulmem_browser .soulmem_held_review").click()
    tab.locator(".soulmem_vanished li", has_text=KEY.words).first.wait_for()
    page.screenshot("held-en")
    assert len(world.sidecar.stored(chat_id)) > 20, "gone without the user's word"
    tab.locator(".soulmem_held_yes").click()
    page.say_yes()
    until(lambda: len(world.sidecar.stored(chat_id)) < 20, 20, "the loss taken over")
    tab.locator("#soulmem_browser", has_text="Nothing waits for you").wait_for()
    tab.keyboard.press("Escape")

    # A forgotten chat is not remembered again by itself; with one press it is.
    page.open_chat("other")
    page.sync()
    page.open_drawer()
    until(lambda: bool(remembered("willow%20bark")), 20, "the other chat is read")
    tab.locator("#soulmem_forget_chat").click()
    page.say_yes()
    tab.locator('#soulmem_dot[data-step="chat_off"]').wait_for(state="attached")
    page.screenshot("forgotten-en")
    prompt = page.send(SECRET.question)
    assert prompt.recalled(SECRET.words) == 1, "the other chats are remembered all the same"
    assert remembered("willow%20bark") == []
    page.open_drawer()
    tab.locator("#soulmem_remember_chat").click()
    until(lambda: bool(remembered("willow%20bark")), 20, "remembered again")
