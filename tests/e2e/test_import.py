"""One button imports everything of a character: past chats, card and world."""

from __future__ import annotations

import re

import pytest

from .child import until
from .conftest import World
from .small_talk import small_talk
from .stories import KEY, Line, chat

HAN = re.compile("[\u4e00-\u9fff]")


@pytest.mark.oldest
def test_everything_of_a_character_goes_in_by_one_button(world: World) -> None:
    old = chat("Imra", [KEY.exchange, *small_talk("en", 60)])
    branch = [*old[:8], Line("Imra", "*She points north.* Let us go to Varn instead.")]
    world.data.add_world("Isles", [("Varn", "Varn is an island of lighthouses in the north.")])
    avatar = world.data.add_character(
        "imra", "Imra", first="Hello.", lines=chat("Imra", small_talk("en", 4)), world="Isles",
        description="{{char}} keeps bees on the roof of the old mill.\nHabits: hums when nervous",
    )  # fmt: skip
    world.data.add_chat("imra", "old", old)
    world.data.add_chat("imra", "a branch", branch, main_chat="old")
    page, tab = world.page, world.page.tab
    page.load()
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.sync()
    soul = page.soulmem["soul"]
    page.open_drawer()

    tab.locator("#soulmem_import").click()
    quote = tab.locator("#soulmem_quote")
    quote.wait_for()
    quoted = quote.inner_text()
    assert f"Past chats: 2, with {len(old) + len(branch)} messages" in quoted
    assert "Card and linked worlds (1): new memories 2" in quoted
    page.screenshot("import-quote-en")

    # Stopped while the first chat is on its way: what is in stays.
    world.gate.hold(b"POST /v1/import", let_through=2)
    tab.locator("dialog:has(#soulmem_quote) .popup-button-ok").click()
    until(lambda: world.gate.held == 1, 20, "the first chat sent")
    page.screenshot("import-progress-en")
    tab.locator("#soulmem_import_cancel").click()
    world.gate.release()
    tab.locator("#soulmem_import_text", has_text="Stopped").wait_for()
    assert tab.locator("#soulmem_import_label").inner_text() == "Go on importing"
    texts = {
        m["text"] for m in world.sidecar.ask("GET", f"/memories?soul={soul}&limit=1000")["memories"]
    }
    assert "Varn is an island of lighthouses in the north." in texts
    assert "hums when nervous" in texts
    assert not [text for text in texts if "keeps bees" in text], (
        "the description stands in every prompt"
    )

    tab.locator("#soulmem_import").click()
    quote.wait_for()
    assert "new memories 0" in quote.inner_text()
    tab.locator("dialog:has(#soulmem_quote) .popup-button-ok").click()
    tab.locator("#soulmem_import_text", has_text="Imported for Imra").wait_for()
    page.screenshot("import-done-en")
    heads = {
        head["title"]: head for head in world.sidecar.ask("GET", f"/chats?soul={soul}")["chats"]
    }
    assert set(heads) == {"start", "old", "a branch"}
    assert [m["text"] for m in world.sidecar.stored(heads["old"]["id"])] == [
        line.text for line in old
    ]
    fork = world.sidecar.stored(heads["old"]["id"])[7]["slot"]
    assert heads["a branch"]["parent"] == {
        "chat": heads["old"]["id"],
        "fork_slot": fork,
    }

    # Opened afterwards it is the same chat, and what it tells is there once.
    page.open_chat("old")
    page.sync()
    assert page.soulmem["chat"] == heads["old"]["id"]
    world.sidecar.until_searchable()
    question = {
        "soul": soul,
        "query": "Where did I hide the brass key?",
        "time_budget_ms": 10_000,
    }
    recalled = world.sidecar.ask("POST", "/recall", question)["memories"]
    assert any(KEY.words in m["text"] for m in recalled)
    listed = world.sidecar.ask("GET", f"/memories?soul={soul}&kind=episode&limit=1000")["memories"]
    assert sum(KEY.exchange[0] in m["text"] for m in listed) == 1


@pytest.mark.nightly
def test_the_quote_is_in_the_users_language_and_can_be_declined(world: World) -> None:
    avatar = world.data.add_character(
        "imra_zh", "伊木拉", first="你好。", lines=chat("伊木拉", small_talk("zh", 4))
    )
    page, tab = world.page, world.page.tab
    page.load("zh-cn")
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.sync()
    page.open_drawer()
    tab.locator("#soulmem_import").click()
    quote = tab.locator("#soulmem_quote")
    quote.wait_for()
    rows = quote.locator("li").all_inner_texts()
    assert len(rows) == 4
    assert all(HAN.search(row) for row in rows)
    page.screenshot("import-quote-zh-cn")
    tab.locator("dialog:has(#soulmem_quote) .popup-button-cancel").click()
    tab.locator("#soulmem_import").wait_for()
    soul = page.soulmem["soul"]
    listed = world.sidecar.ask("GET", f"/memories?soul={soul}&limit=1000")["memories"]
    assert listed
    assert not any("card" in m["tags"] for m in listed)
