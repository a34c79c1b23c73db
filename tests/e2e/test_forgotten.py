"""A whole character is forgotten by its typed name and comes back only by the user."""

from __future__ import annotations

from typing import Any

import pytest

from .child import until
from .conftest import World
from .memory_window import DESKTOP, PHONE, TOO_WIDE, press_tab
from .small_talk import small_talk
from .stories import KEY, KEY_ZH, Fact, chat


def souls(world: World, state: str) -> list[str]:
    """Their ids."""
    return [soul["id"] for soul in world.sidecar.ask("GET", f"/souls?state={state}")["souls"]]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("language", "name", "fact", "view"),
    [("en", "Mira", KEY, DESKTOP), ("zh", "米拉", KEY_ZH, PHONE)],
    ids=["en", "zh-phone"],
)
def test_a_forgotten_character_stays_forgotten_until_the_user_says_so(
    world: World, language: str, name: str, fact: Fact, view: Any
) -> None:
    lines = chat(name, [fact.exchange, *small_talk(language, 20)])
    avatar = world.data.add_character(f"forgotten_{language}", name, first="Hello.", lines=lines)
    page, tab = world.page, world.page.tab
    page.load("zh-cn" if language == "zh" else "en")
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.sync()
    soul = page.soulmem["soul"]
    tab.set_viewport_size(view)
    page.open_drawer()
    tab.locator("#soulmem_browse").click()
    press_tab(tab, "bin")
    tab.locator("#soulmem_forget_soul", has_text=name).wait_for()

    # Only by the whole name.
    for typed, is_forgotten in (("yes", False), (name, True)):
        tab.locator("#soulmem_forget_soul").scroll_into_view_if_needed()
        page.screenshot(f"forget-soul-{language}")
        tab.locator("#soulmem_forget_soul").click()
        tab.locator("dialog.popup[open] textarea.popup-input:visible").fill(typed)
        page.screenshot(f"forget-soul-question-{language}")
        page.say_yes()
        if is_forgotten:
            tab.locator(f'#soulmem_forgotten [data-soul="{soul}"]').wait_for()
        else:
            tab.locator(".soulmem_said").wait_for()
        assert (soul in souls(world, "bin")) == is_forgotten
    assert not tab.evaluate(TOO_WIDE)
    tab.locator(f'#soulmem_forgotten [data-soul="{soul}"]').scroll_into_view_if_needed()
    page.screenshot(f"forgotten-soul-{language}")
    tab.locator("#soulmem_close").click()
    tab.locator("#soulmem_browser").wait_for(state="detached")
    tab.set_viewport_size(DESKTOP)  # type: ignore[arg-type]

    # Neither talking on nor loading the page anew brings it back; the chat itself goes on.
    tab.locator("#extensions-settings-button .drawer-toggle").click()
    prompt = page.send(fact.question)
    assert prompt.recalled(fact.words) == 0
    page.load("zh-cn" if language == "zh" else "en")
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.run("() => globalThis.soulmem.syncNow()", seconds=60)
    assert page.send(fact.question).recalled(fact.words) == 0
    assert soul in souls(world, "bin")
    assert soul not in souls(world, "active")

    # The user's word does, with everything from before.
    page.open_drawer()
    tab.locator("#soulmem_card_gone:not(:empty)").wait_for()
    assert not tab.locator("#soulmem_card_enabled").is_checked()
    page.screenshot(f"forgotten-drawer-{language}")
    tab.locator("#soulmem_card_enabled").check()
    until(lambda: soul in souls(world, "active"), 20, "remembered again")
    tab.locator("#extensions-settings-button .drawer-toggle").click()
    page.sync()
    world.sidecar.until_searchable()
    assert page.send(fact.question).recalled(fact.words) == 1


def test_a_deleted_character_is_asked_about(world: World) -> None:
    """SillyTavern closes the chat first: nobody is in it when the deletions are announced."""
    avatar = world.data.add_character(
        "deleted", "Mira", first="Hello.", lines=chat("Mira", small_talk("en", 6))
    )
    page, tab = world.page, world.page.tab
    page.load()
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.sync()
    soul = page.soulmem["soul"]
    page.run(
        f"() => import('/script.js').then(st => st.deleteCharacter({avatar!r}, {{ deleteChats: true }}))",
        seconds=60,
    )
    toast = tab.locator(".toast-info", has_text="Mira was deleted. The memories of Mira are kept.")
    toast.wait_for()
    page.screenshot("deleted-character-en")
    assert soul in souls(world, "active"), "nothing is forgotten unasked"
    toast.click()
    page.say_yes()
    tab.locator(".toast-success", has_text="what Mira remembered").wait_for()
    assert soul in souls(world, "bin")
    world.sidecar.take_back(
        [{"id": soul, "name": "Mira"}]
    )  # pages of later tests list what lies there
