"""The pages of the memory window by clicks alone: English on a desk, Chinese on a phone; axe-core checks each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from .axe import serious_findings
from .memory_window import DESKTOP, PHONE, TOO_WIDE, MemoryWindow, press_tab
from .stories import KEY, KEY_ZH, Fact

PAGES = (
    *("her", "habits", "fading", "memories", "people", "heart", "graph", "recall"),
    *("check", "settings"),
)


@dataclass(frozen=True, slots=True)
class Scene:
    """A page in a language, a fact, small talk, and a habit with a line that sets it off."""

    locale: str
    language: str
    name: str
    size: dict[str, int]
    fact: Fact
    calm: str
    when: str
    does: str
    praise: str


ENGLISH = Scene(
    "en",
    "en",
    "Mira",
    DESKTOP,
    KEY,
    "Good morning!",
    "somebody praises her",
    "denies that she cares",
    "Everybody praises her tonight.",
)
CHINESE = Scene(
    "zh-cn",
    "zh",
    "米拉",
    PHONE,
    KEY_ZH,
    "早上好！",
    "有人夸奖她",
    "嘴上说自己不在乎",
    "今晚大家都在夸奖她。",
)


@pytest.mark.parametrize(
    "scene",
    [ENGLISH, pytest.param(CHINESE, marks=pytest.mark.nightly)],
    ids=["en", "zh"],
)
def test_every_page_by_clicks(window: MemoryWindow, script: Path, scene: Scene) -> None:
    window.enter(f"pages-{scene.language}", scene.name, scene.language, scene.fact)
    tab, page = window.tab, window.page
    tab.set_viewport_size(scene.size)  # type: ignore[arg-type]
    page.open_drawer()
    tab.locator("#soulmem_browse").click()
    tab.locator('#soulmem_browser [data-page="her"] .soulmem_count_card').first.wait_for()

    # What would come for a line, why, and the buttons that correct it.
    tab.locator("#soulmem_tab_recall").click()
    tab.fill("#soulmem_try_line", scene.fact.question)
    tab.locator("#soulmem_try_go").click()
    row = tab.locator("#soulmem_browser .soulmem_recalled_item", has_text=scene.fact.words)
    row.first.wait_for()
    row.first.locator(".soulmem_press").click()
    tab.locator(".soulmem_column_detail .soulmem_verdict_stronger").wait_for()
    page.screenshot(f"window-recall-{scene.language}")
    if scene.size == PHONE:
        tab.locator(".soulmem_column_back").click()
    tab.fill("#soulmem_try_line", scene.calm)
    tab.locator("#soulmem_try_go").click()
    row.first.wait_for(state="detached")

    # A habit is made, and fires in its scene alone.
    press_tab(tab, "habits")
    tab.locator("#soulmem_habit_new").click()
    tab.fill("#soulmem_habit_when", scene.when)
    tab.fill("#soulmem_habit_does", scene.does)
    tab.select_option("#soulmem_habit_often", "always")
    tab.locator("#soulmem_habit_save").click()
    tab.locator("#soulmem_browser .soulmem_item", has_text=scene.does).wait_for()
    tab.fill("#soulmem_habit_try", scene.praise)
    tab.locator("#soulmem_habit_try_go").click()
    tab.locator('#soulmem_browser [data-fired="true"]', has_text=scene.does).wait_for()
    page.screenshot(f"window-habits-{scene.language}")
    tab.fill("#soulmem_habit_try", scene.calm)
    tab.locator("#soulmem_habit_try_go").click()
    tab.locator('#soulmem_browser [data-fired="true"]').wait_for(state="detached")

    # Ten questions of the character's own memories.
    press_tab(tab, "check")
    tab.locator("#soulmem_check_start").click()
    tab.locator(".soulmem_check_score").wait_for()

    findings = {}
    for name in PAGES:
        window.turn_to(name)
        window.settle()
        page.screenshot(f"window-{name}-{scene.language}")
        assert tab.evaluate(TOO_WIDE) == []
        findings[name] = serious_findings(tab, script, "#soulmem_browser")
    assert findings == {name: [] for name in PAGES}
