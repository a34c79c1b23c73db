"""Habits by clicks; each page and dialog legible in each theme; all by keyboard; texts that mean harm are text."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from .axe import serious_findings
from .memory_window import DESKTOP, PHONE, TOO_WIDE, MemoryWindow
from .stories import KEY
from .test_window import CHINESE, ENGLISH, PAGES, Scene

pytestmark = pytest.mark.nightly

BEHIND = ("bin", "changes", "waiting", "work")  # parts behind the gear
OR_ELSE = {"en": "talks of the lamp instead", "zh": "转而说起那盏灯"}
OTHER_SCENES = {
    "en": (
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
    ),
    "zh": (
        "早上好！",
        "馒头还热着呢。",
        "你把梯子放到哪儿去了？",
        "从晌午起就一直在下雨。",
        "那头骡子不肯过桥。",
        "现在把灯点上吧？",
        "陆沉今天捎来两封信。",
        "我的靴子全湿透了。",
        "这儿离渡口有多远？",
        "给我讲讲从前的掌柜。",
    ),
}
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
CHOOSE_THEME = """name => {
    const list = document.querySelector('#themes');
    list.value = name;
    list.dispatchEvent(new Event('change', { bubbles: true }));
}"""
UNFOLD = "selector => document.querySelectorAll(selector).forEach(one => { one.open = true; })"
STILL = """selector => !document.querySelector(selector).getAnimations({ subtree: true }).some(
    one => one.playState === 'running' && Number.isFinite(one.effect.getComputedTiming().endTime))"""
# What shows the hand of a button to the mouse, and neither lies in what can get the focus nor holds it.
MOUSE_ONLY = """selector => {
    const FOCUS = 'a[href], button, input, select, textarea, summary, label, [tabindex]';
    const isHand = one => getComputedStyle(one).cursor === 'pointer';
    const area = one => (isHand(one.parentElement) ? area(one.parentElement) : one);
    return [...document.querySelector(selector).querySelectorAll('*')]
        .filter(one => one.checkVisibility() && isHand(one))
        .filter(one => !one.closest(FOCUS) && !area(one).querySelector(FOCUS))
        .map(one => `mouse only: ${one.outerHTML.slice(0, 160)}`);
}"""
OWN_COLOURS = "() => document.documentElement.removeAttribute('style')"


def opened(window: MemoryWindow, key: str, scene: Scene = ENGLISH) -> None:
    """The window on its first page, over a chat of some forty messages."""
    window.enter(key, scene.name, scene.language, scene.fact)
    window.tab.set_viewport_size(scene.size)  # type: ignore[arg-type]
    window.page.open_drawer()
    window.tab.locator("#soulmem_browse").click()
    window.tab.locator('[data-page="her"] .soulmem_count_card').first.wait_for()


@pytest.mark.parametrize("scene", [ENGLISH, CHINESE], ids=["en-desk", "zh-phone"])
def test_a_habit_made_by_clicks_fires_in_its_scene_and_in_no_other(
    window: MemoryWindow, scene: Scene
) -> None:
    opened(window, f"looks-habit-{scene.language}", scene)
    tab, others = window.tab, OTHER_SCENES[scene.language]
    deeds = (scene.does, OR_ELSE[scene.language])
    window.turn_to("habits")
    window.settle()
    tab.locator("#soulmem_habit_new").click()
    tab.fill("#soulmem_habit_when", scene.when)
    tab.fill("#soulmem_habit_does", scene.does)
    tab.select_option("#soulmem_habit_often", "always")
    tab.locator("#soulmem_habit_or").click()
    tab.locator(".soulmem_deed input").nth(1).fill(deeds[1])
    tab.locator("#soulmem_habit_save").click()
    tab.locator("#soulmem_browser .soulmem_item", has_text=scene.does).wait_for()

    def fired(line: str) -> list[str]:
        tab.fill("#soulmem_habit_try", line)
        with tab.expect_response(lambda answer: answer.url.endswith("/recall")):
            tab.locator("#soulmem_habit_try_go").click()
        window.settle()
        texts: list[str] = tab.locator('[data-fired="true"]').all_inner_texts()
        return texts

    (told,) = fired(scene.praise)
    assert any(deed in told for deed in deeds)
    window.page.screenshot(f"looks-habit-{scene.language}")
    assert {line: fired(line) for line in others} == {line: [] for line in others}
    tab.locator("#soulmem_close").click()
    tab.locator("#soulmem_browser").wait_for(state="detached")
    # On a phone SillyTavern's panel of extensions lies above the chat.
    tab.evaluate("document.querySelector('#extensions-settings-button .drawer-toggle').click()")
    prompt = str(window.page.send(scene.praise))
    assert any(deed in prompt for deed in deeds)


@dataclass(slots=True)
class Inspector:
    """Looks at parts of the page, and keeps what people cannot read or press there."""

    window: MemoryWindow
    script: Path
    theme: str
    findings: dict[str, list[Any]] = field(default_factory=dict)

    def look(self, name: str, selector: str) -> None:
        """Inspect the part that `selector` names, once nothing in it moves."""
        tab = self.window.tab
        self.window.page.wait(STILL, arg=selector)
        self.window.page.screenshot(f"looks-{name}-{self.theme}")
        mouse_only = tab.evaluate(MOUSE_ONLY, selector)
        found = serious_findings(tab, self.script, selector) + mouse_only
        if found:
            self.findings[name] = found


@pytest.mark.parametrize("theme", ["Dark Lite", "Dark V 1.0", "light"])
def test_every_page_and_dialog_is_legible_and_needs_no_mouse(
    window: MemoryWindow, script: Path, theme: str
) -> None:
    key = theme.replace(" ", "-").lower()
    opened(window, f"looks-{key}")
    tab, page = window.tab, window.page
    if theme == "light":
        tab.evaluate(LIGHT)
    else:
        tab.evaluate(CHOOSE_THEME, theme)
    inspector = Inspector(window, script, key)
    dialog = "dialog.popup[open]:not(:has(#soulmem_browser))"
    try:
        fill_pages_behind(window)
        for name in (*PAGES, *BEHIND):
            window.turn_to(name)
            window.settle()
            inspector.look(name, "#soulmem_browser")
        window.turn_to("bin").locator(".soulmem_purge").first.click()
        tab.locator(dialog).wait_for()
        inspector.look("typed-word", dialog)
        tab.locator(f"{dialog} .popup-button-cancel").click()
        window.turn_to("memories")
        window.show(KEY.words)
        window.settle()
        inspector.look("memory", "#soulmem_browser")
        tab.locator("#soulmem_close").click()
        tab.locator("#soulmem_browser").wait_for(state="detached")

        tab.evaluate(UNFOLD, "#soulmem_drawer details")
        inspector.look("drawer", "#soulmem_drawer")
        tab.locator("#soulmem_import").click()
        tab.locator(dialog).wait_for()
        inspector.look("import", dialog)
        tab.locator(f"{dialog} .popup-button-cancel").click()
        tab.locator("#extensions-settings-button .drawer-toggle").click()

        assert page.send(KEY.question).recalled(KEY.words)
        inspector.look("dot", "#soulmem_dot")
        tab.locator("#chat .last_mes .soulmem_recalled_button").click()
        tab.locator(".soulmem_recalled .soulmem_deep_go").click()
        tab.locator(".soulmem_deep .soulmem_recalled_item").first.wait_for()
        inspector.look("recalled", dialog)
        assert inspector.findings == {}
    finally:
        tab.evaluate(OWN_COLOURS)


def fill_pages_behind(window: MemoryWindow) -> None:
    """Something in the bin, a change that can be undone, a wish that waits."""
    note = window.note("The moon is made of cheese.")
    window.world.sidecar.ask("DELETE", f"/memories/{note}")
    window.tool(
        "update_memory_node",
        memory_id=window.note("The mule is grey."),
        new_content="The mule is brown.",
    )
    window.tool("delete_memory", memory_id=window.episode("oak"), reason="of no use")


def test_the_window_is_worked_by_keyboard_alone(window: MemoryWindow) -> None:
    opened(window, "looks-keys")
    tab = window.tab
    keys = tab.keyboard
    focused = "() => document.activeElement?.id || document.activeElement?.className"
    window.page.wait("() => document.activeElement?.id === 'soulmem_tab_her'")
    keys.press("ArrowRight")
    assert tab.evaluate(focused) == "soulmem_tab_memories"
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    assert tab.evaluate(focused) == "soulmem_tab_recall"
    keys.press("Enter")
    tab.locator("#soulmem_try_line").wait_for()
    window.page.wait("() => document.activeElement?.id === 'soulmem_try_line'")
    keys.type(KEY.question)
    keys.press("Enter")
    row = tab.locator(".soulmem_recalled_item .soulmem_press").first
    row.wait_for()
    in_row = (
        "() => Boolean(document.activeElement?.closest('.soulmem_recalled_item > .soulmem_press'))"
    )
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


# Ways in which a text becomes more than text, and ways to push things aside
HARM = (
    """<img src=x onerror="globalThis.harmed.push('{place}')">"""
    """'"></textarea></option><svg onload="globalThis.harmed.push('{place}')"></svg>"""
    """<script>globalThis.harmed.push('{place}')</script><style>* {{ display: none }}</style>"""
    """[click](javascript:alert(1)) <iframe src="javascript:parent.harmed.push('{place}')"></iframe>"""
    """{{{{char}}}} &lt;b&gt; %s \u202egnihton \u0301\u0301\u0301\u0301"""
) % ("W" * 400)
# What of it became more than text, wherever it stands
HARMED = """() => [...globalThis.harmed, ...[...document.querySelectorAll(
    'img[src="x"], svg[onload], [onerror], iframe[src^="javascript"], a[href^="javascript"], body style')]
    .filter(one => one.closest('#soulmem_browser, #soulmem_drawer, dialog, #toast-container'))
    .map(one => one.outerHTML.slice(0, 200))]"""

TYPED = """() => [...document.querySelectorAll('#soulmem_browser :is(input, textarea)')]
    .map(one => one.value).join(' ')"""


def harmful(place: str) -> str:
    """A text that does harm wherever it is taken for code, and says where it stands."""
    return f"HARM-{place} {HARM.format(place=place)}"


def fill_with_harm(window: MemoryWindow) -> set[str]:
    """Such texts in everything that is shown; the places of those that some page must show."""
    ask, soul = window.world.sidecar.ask, window.soul

    def add(kind: str, **more: object) -> str:
        body = {"soul": soul, "kind": kind, "text": harmful(kind), **more}
        return str(ask("POST", "/memories", body)["id"])

    noted = add("note", permanent=True)
    ask("PATCH", f"/memories/{noted}", {"tags": [harmful("tag")]})
    place = add("concept", fields={"concept_type": "entity", "description": "old"})
    add(
        "concept",
        text=harmful("person"),
        fields={
            "concept_type": "entity",
            "aliases": [harmful("alias")],
            "description": harmful("description"),
        },
        edges=[{"kind": "relates", "to": place, "verb": harmful("verb")}],
    )
    add(
        "episode",
        fields={
            "location": harmful("location"),
            "situation": harmful("situation"),
            "participants": [{"name": harmful("participant")}],
            "emotions": [{"label": harmful("feeling"), "intensity": 0.9}],
            "time_span": {"story": harmful("story")},
        },
        tags=["story"],
    )
    add("trigger", edges=[{"kind": "fires", "to": add("action"), "probability": 1.0}])
    ask("DELETE", f"/memories/{window.note(harmful('binned'))}")
    changed = window.note("The mule is grey.")
    window.tool("update_memory_node", memory_id=changed, new_content=harmful("rewritten"))
    window.tool("delete_memory", memory_id=changed, reason=harmful("reason"))
    ask("POST", "/jobs", {"kind": "digest", "soul": soul, "arguments": {}})
    return {
        "note",
        "tag",
        "person",
        "episode",
        "action",
        "binned",
        "rewritten",
        "reason",
    }


def test_texts_that_mean_harm_are_shown_as_text_and_push_nothing_aside(
    window: MemoryWindow,
) -> None:
    tab, page = window.tab, window.page
    name = "Mira <img src=x onerror=globalThis.harmed.push('name')>"
    exchanges = [(harmful("question"), harmful("answer")), KEY.exchange]
    tab.add_init_script("globalThis.harmed = [];")
    window.enter_chat("looks-harm", name, "en", exchanges)
    tab.evaluate("() => { globalThis.harmed ??= []; }")  # of a page that stood before
    places = fill_with_harm(window)
    page.open_drawer()
    tab.evaluate(UNFOLD, "#soulmem_drawer details")
    seen = [tab.locator("#soulmem_drawer").inner_text()]
    assert tab.evaluate(TOO_WIDE.replace("soulmem_browser", "soulmem_drawer")) == []
    tab.locator("#soulmem_browse").click()
    tab.locator('[data-page="her"] .soulmem_count_card').first.wait_for()
    for size in (DESKTOP, PHONE):
        tab.set_viewport_size(size)  # type: ignore[arg-type]
        for shown in (*PAGES, *BEHIND):
            seen.append(window.turn_to(shown).inner_text())
            window.settle()
            seen.append(tab.locator("#soulmem_browser").inner_text())
            page.screenshot(f"harm-{shown}-{size['width']}")
            assert tab.evaluate(HARMED) == [], shown
            assert tab.evaluate(TOO_WIDE) == [], (shown, size)
    tab.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    window.turn_to("memories")
    for place in ("note", "person", "episode", "action"):
        window.show(f"HARM-{place}")
        window.settle()
        seen += [tab.locator("#soulmem_browser").inner_text(), tab.evaluate(TYPED)]
        assert tab.evaluate(HARMED) == [], place
        assert tab.evaluate(TOO_WIDE) == [], place
        window.press("#soulmem_back")

    # What the sidecar refuses, in its words
    refusal = {"error": "unprocessable", "message": harmful("refusal"), "field": "q"}
    tab.route("**/memories?*", lambda route: route.fulfill(status=422, json=refusal))
    tab.fill("#soulmem_search", "oak")
    tab.locator(".soulmem_notice", has_text="HARM-refusal").wait_for()
    assert tab.evaluate(HARMED) == []
    assert tab.evaluate(TOO_WIDE) == []
    tab.unroute("**/memories?*")

    # What would come to mind, and why
    short = """HARM <img src=x onerror="globalThis.harmed.push('recalled')">"""
    window.note(f"The brass key of the mill hangs on a nail. {short}")
    window.turn_to("recall")
    tab.fill("#soulmem_try_line", "Where is the brass key of the mill?")
    tab.locator("#soulmem_try_go").click()
    row = tab.locator("#soulmem_browser .soulmem_recalled_item", has_text="HARM").first
    row.locator(".soulmem_press").click()
    tab.locator(".soulmem_column_detail .soulmem_verdict_stronger").wait_for()
    window.settle()
    assert tab.evaluate(HARMED) == []
    assert tab.evaluate(TOO_WIDE) == []
    lacking = {place for place in places if not any(f"HARM-{place}" in s for s in seen)}
    assert lacking == set(), "shown nowhere"

    # Taken for code, the same text would have been found
    code = (
        "html => document.querySelector('#soulmem_browser').insertAdjacentHTML('beforeend', html)"
    )
    tab.evaluate(code, harmful("control"))
    page.wait("() => globalThis.harmed.includes('control')")
    assert len(tab.evaluate(HARMED)) > 1
