"""The memory window: habits by clicks, legible in each theme, all by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from .axe import serious_findings
from .memory_window import MemoryWindow
from .stories import KEY
from .test_window import ENGLISH, PAGES

OR_ELSE = "talks of the lamp instead"
OTHER_SCENES = (
    "Good morning!",
    "The bread is still warm.",
    "Where did you leave the ladder?",
    "It has been raining since noon.",
    "The mule will not cross the bridge.",
    "Shall we light the lamp now?",
    "Corin brought two letters today.",
    "My boots are wet through.",
    "How far is it to the harbour?",
    "Tell me about the old keeper.",
)
# SillyTavern has no light theme of its own: dark words on a light ground, by its theme colours.
LIGHT = """() => {
    const colours = {
        '--SmartThemeBodyColor': 'rgb(40, 36, 32)',
        '--SmartThemeEmColor': 'rgb(90, 82, 74)',
        '--SmartThemeQuoteColor': 'rgb(150, 70, 0)',
        '--SmartThemeBlurTintColor': 'rgb(248, 245, 240)',
        '--SmartThemeChatTintColor': 'rgb(248, 245, 240)',
        '--SmartThemeBorderColor': 'rgb(205, 198, 188)',
    };
    for (const [name, value] of Object.entries(colours))
        document.documentElement.style.setProperty(name, value);
}"""
OWN_COLOURS = "() => document.documentElement.removeAttribute('style')"


def opened(window: MemoryWindow, key: str) -> None:
    """The window on its first page, over a chat of some forty messages."""
    window.enter(key, "Mira", "en", KEY)
    window.page.open_drawer()
    window.tab.locator("#soulmem_browse").click()
    window.tab.locator('[data-page="her"] .soulmem_count_card').first.wait_for()


def test_a_habit_made_by_clicks_fires_in_its_scene_and_in_no_other(
    window: MemoryWindow,
) -> None:
    opened(window, "looks-habit")
    tab = window.tab
    window.turn_to("habits")
    window.settle()
    tab.locator("#soulmem_habit_new").click()
    tab.fill("#soulmem_habit_when", ENGLISH.when)
    tab.fill("#soulmem_habit_does", ENGLISH.does)
    tab.select_option("#soulmem_habit_often", "always")
    tab.locator("#soulmem_habit_or").click()
    tab.locator(".soulmem_deed input").nth(1).fill(OR_ELSE)
    tab.locator("#soulmem_habit_save").click()
    tab.locator("#soulmem_browser .soulmem_item", has_text=ENGLISH.does).wait_for()

    def fired(line: str) -> list[str]:
        tab.fill("#soulmem_habit_try", line)
        with tab.expect_response(lambda answer: answer.url.endswith("/recall")):
            tab.locator("#soulmem_habit_try_go").click()
        window.settle()
        texts: list[str] = tab.locator('[data-fired="true"]').all_inner_texts()
        return texts

    (deed,) = fired(ENGLISH.praise)
    assert ENGLISH.does in deed or OR_ELSE in deed
    window.page.screenshot("looks-habit-en")
    assert {line: fired(line) for line in OTHER_SCENES} == {
        line: [] for line in OTHER_SCENES
    }
    tab.locator("#soulmem_close").click()
    tab.locator("#soulmem_browser").wait_for(state="detached")
    tab.locator("#extensions-settings-button .drawer-toggle").click()
    prompt = str(window.page.send(ENGLISH.praise))
    assert ENGLISH.does in prompt or OR_ELSE in prompt


@pytest.mark.parametrize("theme", ["Dark V 1.0", "light"])
def test_every_page_is_legible_in_another_theme(
    window: MemoryWindow, script: Path, theme: str
) -> None:
    opened(window, f"looks-{theme[:4].lower()}")
    tab = window.tab
    if theme == "light":
        tab.evaluate(LIGHT)
    else:
        tab.evaluate(
            "name => { const list = document.querySelector('#themes'); list.value = name;"
            " list.dispatchEvent(new Event('change', { bubbles: true })); }",
            theme,
        )
    try:
        findings = {}
        for name in PAGES:
            window.turn_to(name)
            window.settle()
            window.page.screenshot(f"looks-{name}-{theme.replace(' ', '-').lower()}")
            findings[name] = serious_findings(tab, script, "#soulmem_browser")
        assert findings == {name: [] for name in PAGES}
    finally:
        tab.evaluate(OWN_COLOURS)


def test_the_window_is_worked_by_keyboard_alone(window: MemoryWindow) -> None:
    opened(window, "looks-keys")
    tab = window.tab
    keys = tab.keyboard
    focused = "() => document.activeElement?.id || document.activeElement?.className"
    assert tab.evaluate(focused) == "soulmem_tab_her"
    keys.press("ArrowRight")
    assert tab.evaluate(focused) == "soulmem_tab_recall"
    keys.press("Enter")
    tab.locator("#soulmem_try_line").wait_for()
    tab.wait_for_function("() => document.activeElement?.id === 'soulmem_try_line'")
    keys.type(KEY.question)
    keys.press("Enter")
    row = tab.locator(".soulmem_recalled_item .soulmem_press").first
    row.wait_for()
    in_row = "() => Boolean(document.activeElement?.closest('.soulmem_recalled_item > .soulmem_press'))"
    for _ in range(8):
        keys.press("Tab")
        if tab.evaluate(in_row):
            break
    assert tab.evaluate(in_row)
    keys.press("Enter")
    tab.locator(".soulmem_column_detail .soulmem_verdict_stronger").wait_for()
    keys.press("Escape")
    tab.locator(".soulmem_column_detail").wait_for(state="hidden")
    assert tab.evaluate(in_row), "the focus is back where it was"
    keys.press("Escape")
    tab.locator("#soulmem_browser").wait_for(state="detached")
