"""The story page by clicks and keys: days, digests, filters, order, several at once, the way to a message."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .axe import serious_findings
from .child import until
from .memory_window import DESKTOP, PHONE, TOO_WIDE, MemoryWindow
from .small_talk import small_talk
from .stories import KEY, KEY_ZH, Fact

pytestmark = [pytest.mark.slow("a page of SillyTavern"), pytest.mark.nightly]

EXCHANGES = 300  # at five minutes a message: three days
DAYS = 3
# How many rows the page has: those far from the screen are taken out of it.
DRAWN = "() => document.querySelectorAll('#soulmem_browser .soulmem_item').length"


@dataclass(frozen=True, slots=True)
class Scene:
    """A page in a language, with a fact of the first day."""

    locale: str
    name: str
    size: dict[str, int]
    fact: Fact
    tag: str


ENGLISH = Scene("en", "Mira", DESKTOP, KEY, "harbour")
CHINESE = Scene("zh", "米拉", PHONE, KEY_ZH, "港口")


def enter(window: MemoryWindow, scene: Scene) -> None:
    """Open a chat of three days, of which each has its digest."""
    exchanges = [scene.fact.exchange, *small_talk(scene.locale, EXCHANGES)]
    window.enter_chat(f"story-{scene.locale}", scene.name, scene.locale, exchanges)
    # The quiet work is of this soul alone: those of other tests would keep it for minutes.
    sidecar = window.world.sidecar
    binned = sidecar.bin_all_but(window.soul)
    sidecar.ask("POST", "/test/idle", {}, 60.0)
    sidecar.take_back(binned)


def look(window: MemoryWindow, script: Path, name: str) -> None:
    """Nothing sticks out, and everybody can use it."""
    window.settle()
    window.page.screenshot(name)
    assert window.tab.evaluate(TOO_WIDE) == []
    assert serious_findings(window.tab, script, "#soulmem_browser") == []


@pytest.mark.parametrize("scene", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_the_story_by_clicks(window: MemoryWindow, script: Path, scene: Scene) -> None:
    enter(window, scene)
    tab, page, browser = window.tab, window.page, window.tab.locator("#soulmem_browser")
    tab.set_viewport_size(scene.size)  # type: ignore[arg-type]
    page.open_drawer()
    tab.locator("#soulmem_browse").click()
    tab.locator("#soulmem_tab_memories").click()
    sections = browser.locator(".soulmem_story > section")
    sections.first.locator(".soulmem_item").first.wait_for()
    assert sections.count() == DAYS
    look(window, script, f"story-days-{scene.locale}")

    # A digest stands on top of each day that is over; only what is near is drawn.
    digest = sections.first.locator(".soulmem_story_digests .soulmem_item")
    digest.first.wait_for()
    assert digest.first.get_attribute("data-kind") == "digest"
    assert tab.evaluate(DRAWN) < EXCHANGES

    # To the first day by the slider, which is worked by keys.
    slider = browser.locator("#soulmem_density")
    slider.focus()
    slider.press("Home")
    words = sections.last.locator(".soulmem_item").first
    words.wait_for()
    until(lambda: in_view(tab, sections.last), 10, "the first day on the screen")
    look(window, script, f"story-first-day-{scene.locale}")

    # The oldest first: the fact stands at the top, and leads to its message.
    window.unfold_filters()
    tab.select_option("#soulmem_sort", "oldest")
    row = browser.locator(".soulmem_item", has_text=scene.fact.words).first
    row.wait_for()
    row.locator(".soulmem_press").click()
    browser.locator(".soulmem_memory").wait_for()
    look(window, script, f"story-detail-{scene.locale}")
    tab.keyboard.press("Escape")
    browser.locator(".soulmem_memory").wait_for(state="detached")
    assert browser.count() == 1, "Escape closes the memory, not the window"

    # Folded by month: a digest at a glance.
    tab.select_option("#soulmem_group", "month")
    month = browser.locator('.soulmem_story > section[data-level="month"]')
    month.locator(".soulmem_story_digests .soulmem_item").first.wait_for()
    assert not month.locator("section").count()
    look(window, script, f"story-months-{scene.locale}")
    month.locator(".soulmem_day").first.press("Enter")
    month.locator('section[data-level="day"] .soulmem_item').first.wait_for()
    tab.select_option("#soulmem_group", "day")

    # Any order and any filter.
    for order in ("strength", "importance", "recalled"):
        tab.select_option("#soulmem_sort", order)
        browser.locator(".soulmem_block .soulmem_recalled_facts").first.wait_for()
    look(window, script, f"story-sorted-{scene.locale}")
    tab.select_option("#soulmem_sort", "newest")
    tab.select_option("#soulmem_kind", "digest")
    browser.locator('.soulmem_block .soulmem_item[data-kind="digest"]').first.wait_for()
    tab.select_option("#soulmem_kind", "")
    # What the list of digests did not have: until then its rows stand there.
    browser.locator('.soulmem_block .soulmem_item:not([data-kind="digest"])').first.wait_for()

    # Several at once, chosen by keys.
    choose_by_keys(window, scene.tag)

    # From a row to its message in the chat.
    window.find(scene.fact.words).locator(".soulmem_row_jump").click()
    browser.wait_for(state="detached")
    message = tab.locator("#chat .mes", has_text=scene.fact.words).first
    message.wait_for()
    assert red_lines(window) == []


def in_view(tab: Any, locator: Any) -> bool:
    box = locator.bounding_box()
    return box is not None and 0 <= box["y"] < tab.viewport_size["height"]


def choose_by_keys(window: MemoryWindow, tag: str) -> None:
    """Two memories get a tag, are kept for ever, and a third goes to the bin."""
    tab, browser = window.tab, window.tab.locator("#soulmem_browser")
    browser.locator("#soulmem_select").press("Enter")
    first = browser.locator(".soulmem_block .soulmem_press").first
    first.focus()
    tab.keyboard.press("Space")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Space")
    assert browser.locator(".soulmem_chosen").count() == 2
    keys = [row.get_attribute("data-memory") for row in browser.locator(".soulmem_chosen").all()]
    window.page.screenshot(f"story-chosen-{window.soul[:4]}")
    browser.locator("#soulmem_select_tag").press("Enter")
    window.type_into_popup(tag)
    until(
        lambda: all(tag in window.stored(str(key))["tags"] for key in keys),
        10,
        "the tag",
    )
    window.settle()
    browser.locator(f'[data-memory="{keys[0]}"] .soulmem_press').press("Enter")
    browser.locator("#soulmem_select_bin").press("Enter")
    window.page.say_yes()
    until(lambda: window.state(str(keys[0])) == "bin", 10, "it is in the bin")
    window.settle()
    browser.locator(f'[data-memory="{keys[1]}"] .soulmem_press').press("Enter")
    browser.locator("#soulmem_select_pin").press("Enter")
    until(lambda: window.stored(str(keys[1]))["permanent"], 10, "it is permanent")
    window.settle()
    browser.locator("#soulmem_select").press("Enter")
    window.settle()


def red_lines(window: MemoryWindow) -> list[str]:
    """Errors on the browser's console, but for style sheets that SillyTavern names and does not have."""
    lines = [line for line in window.page.console if line.startswith("error")]
    return [line for line in lines if not line.endswith(".css)")]
