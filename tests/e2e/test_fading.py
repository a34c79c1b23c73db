"""The user sees what has blurred, has words kept, and turns the dial: English on a desk, Chinese on a phone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from .child import until
from .memory_window import DESKTOP, PHONE, TOO_WIDE, MemoryWindow
from .stories import KEY, KEY_ZH, Fact

pytestmark = pytest.mark.nightly

SELECT = """(field, words) => {
    const start = field.value.indexOf(words);
    field.focus();
    field.setSelectionRange(start, start + words.length);
}"""


@dataclass(frozen=True, slots=True)
class Scene:
    """A page in a language, a fact, the words of it that blur, and what is told instead."""

    locale: str
    language: str
    name: str
    size: dict[str, int]
    fact: Fact
    words: str
    gist: str
    mask: str
    better_gist: str
    anchor: str
    legend: str
    vague: str  # stands in a text whose words have blurred


ENGLISH = Scene(
    locale="en",
    language="en",
    name="Mira",
    size=DESKTOP,
    fact=KEY,
    words="in the hollow oak behind the chapel",
    gist="somewhere outside",
    mask="xxx(somewhere outside)",
    better_gist="in a tree",
    anchor="hollow oak",
    legend="[xxx is what Mira no longer remembers",
    vague="something about",
)
CHINESE = Scene(
    locale="zh-cn",
    language="zh",
    name="米拉",
    size=PHONE,
    fact=KEY_ZH,
    words="教堂后面那棵空心橡树",
    gist="某个地方",
    mask="xxx（某个地方）",
    better_gist="一棵树",
    anchor="空心橡树",
    legend="[xxx是米拉已经记不清的内容",
    vague="有关的事",
)


def has_blurred(scene: Scene, text: str) -> bool:
    """Whether the text tells in words of what has blurred, or has a gap where it did."""
    return scene.vague in text or "…" in text


def config(window: MemoryWindow) -> dict[str, Any]:
    """The soul's settings in the sidecar."""
    soul = window.world.sidecar.ask("GET", f"/souls/{window.soul}")
    settings: dict[str, Any] = soul["config"]
    return settings


def example(window: MemoryWindow) -> list[str]:
    """The memory beside the dial at its three ages, without their names."""
    lines = window.tab.locator("#soulmem_example .soulmem_example_line > span")
    lines.nth(2).wait_for()
    return [str(text) for text in lines.all_inner_texts()]


def turn_dial(window: MemoryWindow, to: float) -> list[str]:
    """The example after the dial was moved and let go there."""
    before = example(window)
    window.tab.locator("#soulmem_fading_dial").fill(str(to))
    until(lambda: config(window)["forgetting"] == to, 20, "the dial is sent")
    until(lambda: example(window) != before, 20, "another example")
    return example(window)


@pytest.mark.parametrize("scene", [ENGLISH, CHINESE], ids=["en-desktop", "zh-cn-phone"])
def test_what_blurs_is_seen_kept_and_dialled(window: MemoryWindow, scene: Scene) -> None:
    page, tab, sidecar = window.page, window.tab, window.world.sidecar
    window.enter(f"fading_{scene.language}", scene.name, scene.language, scene.fact)
    key = window.episode(scene.words)
    unit = {"text": scene.words, "gist": scene.gist, "visibility": 0.4}
    sidecar.ask("PATCH", f"/memories/{key}", {"units": [unit]})

    # The prompt has the mask, with its legend once, and the view of it has it fainter.
    prompt = page.send(scene.fact.question)
    assert prompt.recalled(scene.mask) == 1
    assert sum(str(m["content"]).count(scene.legend) for m in prompt.messages) == 1
    tab.set_viewport_size(scene.size)  # type: ignore[arg-type]
    tab.locator("#chat .last_mes .soulmem_recalled_button").click()
    gist = tab.locator(".soulmem_recalled .soulmem_gist", has_text=scene.gist)
    assert gist.first.inner_text() == scene.mask
    page.screenshot(f"fading-recalled-{scene.locale}")
    tab.keyboard.press("Escape")

    # A search shows the words that it found, in a fainter colour. The memory reads as it is
    # remembered; the original is one click away.
    window.open()
    tab.fill("#soulmem_search", scene.fact.question)
    row = tab.locator(f'.soulmem_item[data-memory="{key}"]')
    row.locator(".soulmem_fading", has_text=scene.words).wait_for()
    row.locator(".soulmem_press").click()
    reads = tab.locator("#soulmem_reads")
    assert scene.mask in reads.inner_text()
    assert scene.words not in reads.inner_text()
    original = tab.locator("#soulmem_text")
    assert not original.is_visible()
    page.screenshot(f"fading-memory-{scene.locale}")
    tab.locator("#soulmem_original").click()
    assert scene.words in original.input_value()
    assert original.is_visible()

    # Another gist is told, and words that are kept stay within the mask.
    tab.locator(".soulmem_gists summary").click()
    field = tab.locator(".soulmem_gist_field").first
    field.fill(scene.better_gist)
    field.press("Tab")
    until(lambda: scene.better_gist in reads.inner_text(), 20, "the new gist")
    tab.locator("#soulmem_original").click()
    original.evaluate(SELECT, scene.anchor)
    tab.locator("#soulmem_anchor_spontaneous").click()
    until(lambda: scene.anchor in reads.inner_text(), 20, "the words are kept")
    (anchor,) = window.stored(key)["anchors"]
    assert (anchor["text"], anchor["kind"]) == (scene.anchor, "spontaneous")
    page.screenshot(f"fading-kept-{scene.locale}")
    assert tab.evaluate(TOO_WIDE) == []
    tab.locator(".soulmem_anchor_drop").click()
    until(lambda: scene.anchor not in reads.inner_text(), 20, "the words are let go")

    # The page of forgetting: a list, a dial with an example, a switch.
    window.turn_to("fading")
    rows = tab.locator("#soulmem_fades_next .soulmem_fades")
    rows.first.wait_for()
    assert rows.count() > 10
    first = rows.all_inner_texts()[:10]
    assert any(has_blurred(scene, text) for text in first), first
    assert example(window)[0] != example(window)[2], "something is lost in 900 turns"
    page.screenshot(f"fading-page-{scene.locale}")
    assert tab.evaluate(TOO_WIDE) == []
    today, _, later = turn_dial(window, 0)
    assert today == later, "an elephant forgets nothing"
    until(lambda: rows.count() == 0, 20, "an empty list")
    goldfish = turn_dial(window, 2)
    assert has_blurred(scene, goldfish[1])
    page.screenshot(f"fading-goldfish-{scene.locale}")
    tab.locator("#soulmem_fades").click()
    until(lambda: config(window)["fades"] is False, 20, "texts blur no more")
    until(lambda: len(set(example(window))) == 1, 20, "all reads clear")
    tab.locator("#soulmem_knows_it_forgets").click()
    until(lambda: config(window)["knows_it_forgets"] is True, 20, "it knows")
