"""Can the user see what was recalled and why, and read an old chat in, in English and in Chinese?"""

from __future__ import annotations

import re

import pytest

from .conftest import World
from .stories import KEY, KEY_ZH, Fact, chat, small_talk

HAN = re.compile("[\u4e00-\u9fff]")


@pytest.mark.parametrize(
    ("locale", "language", "name", "fact"),
    [("en", "en", "Mira", KEY), ("zh-cn", "zh", "米拉", KEY_ZH)],
    ids=["en", "zh-cn"],
)
def test_the_user_sees_what_was_recalled_and_why(
    world: World, locale: str, language: str, name: str, fact: Fact
) -> None:
    lines = chat(name, [fact.told, *small_talk(language, 20)])
    avatar = world.data.add_character(f"panel_{language}", name, first="Hello.", lines=lines)
    page, tab = world.page, world.page.tab
    page.load(locale)
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.send(fact.question)
    page.screenshot(f"dot-{locale}")

    tab.locator("#chat .last_mes .soulmem_recalled_button").click()
    view = tab.locator(".soulmem_recalled")
    view.wait_for()
    item = view.locator('.soulmem_recalled_item[data-state="sent"]', has_text=fact.words)
    assert item.count() == 1
    why = item.locator(".soulmem_recalled_why").inner_text().strip()
    assert why
    assert bool(HAN.search(view.inner_text().replace(item.inner_text(), ""))) == (locale == "zh-cn")
    page.screenshot(f"recalled-{locale}")
    tab.keyboard.press("Escape")
    view.wait_for(state="detached")

    tab.locator("#extensions-settings-button .drawer-toggle").click()
    drawer = tab.locator("#soulmem_drawer")
    drawer.locator(".inline-drawer-toggle").click()
    content = drawer.locator(".inline-drawer-content").first
    content.wait_for()
    drawer.locator("#soulmem_read_chat").scroll_into_view_if_needed()
    assert bool(HAN.search(content.inner_text())) == (locale == "zh-cn")
    page.screenshot(f"drawer-{locale}")
