"""Every page by clicks, of a soul of 5,000 messages: English on a desk, Chinese on a phone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .axe import serious_findings
from .child import PATIENCE, until
from .long_story import BY_LANGUAGE, long_story
from .memory_window import DESKTOP, PHONE, TOO_WIDE, MemoryWindow
from .small_talk import small_talk
from .stories import KEY, KEY_ZH, Fact, chat

pytestmark = [
    pytest.mark.slow("a page of SillyTavern"),
    pytest.mark.large,
    pytest.mark.nightly,
]

MESSAGES = 5000
KEY_AT = 1800  # exchange in which the fact is told once
DAY = 288  # messages, one each five minutes


@dataclass(frozen=True, slots=True)
class Scene:
    """A page in a language on a screen, and what is typed into it."""

    language: str
    locale: str
    name: str
    size: dict[str, int]
    fact: Fact
    calm: str
    imported: str
    verb: str
    thing: str
    when: str
    does: str
    praise: str
    tag: str
    best: str  # words of the curve's text


ENGLISH = Scene(
    language="en",
    locale="en",
    name="Mira",
    size=DESKTOP,
    fact=KEY,
    calm="Good morning!",
    imported="Imported for Mira",
    verb="owes",
    thing="a silver lantern",
    when="somebody praises her",
    does="denies that she cares",
    praise="Everybody praises her tonight.",
    tag="valley",
    best="Most pleasant",
)
CHINESE = Scene(
    language="zh",
    locale="zh-cn",
    name="米拉",
    size=PHONE,
    fact=KEY_ZH,
    calm="早上好！",
    imported="米拉",
    verb="欠下",
    thing="一盏银灯",
    when="有人夸奖她",
    does="嘴上说自己不在乎",
    praise="今晚大家都在夸奖她。",
    tag="山谷",
    best="最愉快",
)


class LargeStory:
    """The window over a soul that has a chat of 5,000 messages behind it."""

    def __init__(self, window: MemoryWindow, scene: Scene, script: Path) -> None:
        self.window, self.scene, self.script = window, scene, script
        self.page, self.tab = window.page, window.tab
        self.browser = window.tab.locator("#soulmem_browser")

    def enter(self) -> None:
        """Open a short chat of the character, whose past chat is not imported yet."""
        scene, data = self.scene, self.window.world.data
        key = f"large_{scene.language}"
        people = BY_LANGUAGE[scene.language].people
        data.add_world(key, list(people))
        recent = chat(scene.name, small_talk(scene.language, 3))
        avatar = data.add_character(
            key, scene.name, first="..", chat="now", lines=recent, world=key
        )
        exchanges = long_story(scene.language, MESSAGES // 2)
        exchanges[KEY_AT] = scene.fact.exchange
        data.add_chat(key, "past", chat(scene.name, exchanges))
        self.page.load(scene.locale)
        self.page.wait_for_dot("ok")
        self.page.open_character(avatar)
        self.page.sync()
        self.window.soul = str(self.page.soulmem["soul"])
        self.tab.set_viewport_size(scene.size)  # type: ignore[arg-type]

    def import_everything(self) -> None:
        """Press the button, read what it will come to, say yes."""
        self.page.open_drawer()
        self.tab.locator("#soulmem_import").click()
        quote = self.tab.locator("#soulmem_quote")
        quote.wait_for()
        assert re.search(r"5[,.\s]?000", quote.inner_text())
        self.shot("import-quote")
        self.tab.locator("dialog:has(#soulmem_quote) .popup-button-ok").click()
        done = self.tab.locator("#soulmem_import_text", has_text=self.scene.imported)
        done.wait_for(timeout=120_000 * PATIENCE)
        self.window.world.sidecar.until_searchable(120)

    def turn_to(self, page: str) -> Any:
        """Another page, once it is drawn."""
        shown = self.window.turn_to(page)
        self.window.settle()
        return shown

    def look(self, name: str) -> None:
        """Nothing sticks out, and everybody can use it."""
        self.window.settle()
        self.shot(name)
        assert self.tab.evaluate(TOO_WIDE) == []
        assert serious_findings(self.tab, self.script, "#soulmem_browser") == []

    def shot(self, name: str) -> None:
        """A picture of the screen."""
        self.page.screenshot(f"large-{name}-{self.scene.language}")

    def back(self) -> None:
        """A phone shows the list again."""
        self.tab.keyboard.press("Escape")
        self.browser.locator(".soulmem_has_detail").wait_for(state="detached")


@pytest.mark.timeout(600 * PATIENCE, func_only=True)
@pytest.mark.parametrize("scene", [ENGLISH, CHINESE], ids=["en-desk", "zh-phone"])
def test_a_story_of_5000_messages_page_by_page(
    window: MemoryWindow, script: Path, scene: Scene
) -> None:
    story = LargeStory(window, scene, script)
    story.enter()
    story.import_everything()
    message_menu(story)
    overview(story)
    recall_now(story)
    people(story)
    habits(story)
    graph(story)
    check(story)
    story_page(story)
    made_by_hand(story)
    jump(story)
    assert story.page.uncaught == []


def message_menu(story: LargeStory) -> None:
    """A message is remembered, kept for good and forgotten by the entries of its menu."""
    tab, page, sidecar = story.tab, story.page, story.window.world.sidecar
    page.run("() => document.querySelector('#extensions-settings-button .drawer-toggle').click()")
    index = page.length - 2
    message = tab.locator(f'#chat .mes[mesid="{index}"]')
    code = "index => SillyTavern.getContext().chat[index].extra.soulmem.id"
    slot = str(tab.evaluate(code, index))
    chat = f"&chat={page.soulmem['chat']}"

    def listed(kind: str, within: str = "") -> list[dict[str, Any]]:
        path = f"/memories?soul={story.window.soul}&limit=1000&kind={kind}{within}"
        memories: list[dict[str, Any]] = sidecar.ask("GET", path)["memories"]
        return memories

    def is_known() -> bool:
        sources = [each for memory in listed("episode", chat) for each in memory["sources"]]
        return any(source["slot"] == slot for source in sources)

    def press(entry: str) -> None:
        message.scroll_into_view_if_needed()
        hint = message.locator(".extraMesButtonsHint")
        if hint.is_visible():
            hint.click()
        button = message.locator(f".soulmem_message_{entry}")
        button.wait_for()
        if entry == "remember":
            story.shot("menu")
        button.click()

    before = len(listed("note"))
    assert is_known()
    press("remember")
    until(lambda: len(listed("note")) == before + 1, 120, "a note of the message")
    story.shot("remembered")
    press("pin")
    until(lambda: any(note["permanent"] for note in listed("note")), 120, "kept for good")
    press("forget")
    page.say_yes()  # it is kept for good
    tab.locator(f'#chat .mes.soulmem_message_off[mesid="{index}"]').wait_for()
    until(lambda: not is_known(), 120, "it is forgotten")
    tab.evaluate("() => toastr.clear()")


def overview(story: LargeStory) -> None:
    """Counts that open what they count, and the curve of feeling with its words."""
    tab, browser = story.tab, story.browser
    tab.locator("#extensionsMenuButton").click()
    entry = tab.locator("#soulmem_wand")
    entry.wait_for()
    story.shot("wand")
    entry.click()
    counts = browser.locator(".soulmem_count_card b")
    counts.first.wait_for()
    path = f"/overview?soul={story.window.soul}"
    seen = story.window.world.sidecar.ask("GET", path)
    assert seen["memories"] >= MESSAGES
    assert counts.first.inner_text() == str(seen["memories"])
    curve = browser.locator("#soulmem_her_curve .soulmem_curve svg")
    curve.wait_for()
    assert story.scene.best in (curve.get_attribute("aria-label") or "")
    story.look("her")
    browser.locator("#soulmem_her_curve summary").press("Enter")
    felt = browser.locator("#soulmem_her_curve .soulmem_felt .soulmem_press")
    felt.first.scroll_into_view_if_needed()
    story.look("her-felt")
    felt.first.press("Enter")
    browser.locator(".soulmem_memory").wait_for()
    story.turn_to("her")
    browser.locator(".soulmem_count_card").nth(3).click()
    browser.locator("[data-person]").first.wait_for()


def recall_now(story: LargeStory) -> None:
    """What was told once among thousands comes for its question, and for small talk nothing."""
    tab, browser, scene = story.tab, story.browser, story.scene
    story.turn_to("recall")
    tab.fill("#soulmem_try_line", scene.fact.question)
    tab.locator("#soulmem_try_go").click()
    row = browser.locator(".soulmem_recalled_item", has_text=scene.fact.words).first
    row.wait_for()
    row.locator(".soulmem_press").click()
    browser.locator(".soulmem_column_detail .soulmem_clarity").wait_for()
    story.look("recall")
    story.back()
    tab.fill("#soulmem_try_line", scene.calm)
    tab.locator("#soulmem_try_go").click()
    row.wait_for(state="detached")


def people(story: LargeStory) -> None:
    """Somebody is found by name; a fact is added; how she felt with them is drawn."""
    browser, scene = story.browser, story.scene
    name = BY_LANGUAGE[scene.language].people[0][0]
    story.turn_to("people")
    story.look("people")
    story.tab.fill("#soulmem_people_search", name)
    browser.locator("[data-person] .soulmem_press", has_text=name).first.click()
    detail = browser.locator(".soulmem_column_detail")
    detail.locator(".soulmem_curve svg").wait_for()
    detail.locator("#soulmem_fact_new").click()
    story.window.type_into_popup(scene.verb)
    story.window.type_into_popup(scene.thing)
    detail.locator("[data-fact]", has_text=scene.thing).wait_for()
    story.look("person")
    if scene.size == PHONE:
        story.back()


def habits(story: LargeStory) -> None:
    """A habit made by hand fires in its scene, and not in another."""
    tab, browser, scene = story.tab, story.browser, story.scene
    story.turn_to("habits")
    tab.locator("#soulmem_habit_new").click()
    tab.fill("#soulmem_habit_when", scene.when)
    tab.fill("#soulmem_habit_does", scene.does)
    tab.select_option("#soulmem_habit_often", "always")
    tab.locator("#soulmem_habit_save").click()
    browser.locator(".soulmem_item", has_text=scene.does).wait_for()
    fired = browser.locator('[data-fired="true"]', has_text=scene.does)
    tab.fill("#soulmem_habit_try", scene.praise)
    tab.locator("#soulmem_habit_try_go").click()
    fired.wait_for()
    story.look("habits")
    tab.fill("#soulmem_habit_try", scene.calm)
    tab.locator("#soulmem_habit_try_go").click()
    fired.wait_for(state="detached")


def graph(story: LargeStory) -> None:
    """Around somebody; kinds are hidden by a key and shown by a press; the list says the same."""
    tab, browser, scene = story.tab, story.browser, story.scene
    story.turn_to("graph")
    story.look("graph-latest")
    name = BY_LANGUAGE[scene.language].people[0][0]
    tab.select_option("#soulmem_graph_center", label=name)
    nodes = browser.locator(".soulmem_graph_node")
    browser.locator(".soulmem_graph_node", has_text=name).first.wait_for()
    story.look("graph")
    scenes = browser.locator('.soulmem_graph_node[data-kind="episode"]')
    some, all_of_them = scenes.count(), nodes.count()
    assert 0 < some < all_of_them
    chip = browser.locator('.soulmem_kind_toggles [data-kind="episode"]')
    chip.focus()
    tab.keyboard.press("Space")
    until(lambda: nodes.count() == all_of_them - some, 10, "scenes hidden")
    story.look("graph-no-scenes")
    browser.locator(".soulmem_graph_words summary").press("Enter")
    rows = browser.locator(".soulmem_graph_list .soulmem_item")
    until(lambda: rows.count() == all_of_them - some, 10, "listed without scenes")
    chip.click()
    until(lambda: nodes.count() == all_of_them, 10, "scenes shown again")
    until(lambda: rows.count() == all_of_them, 10, "all listed")
    browser.locator(".soulmem_graph_words summary").press("Enter")
    # One dot takes the focus, and arrow keys lead from it to others.
    browser.locator('.soulmem_graph_node[tabindex="0"]').focus()
    seen = set()
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"):
        tab.keyboard.press(key)
        seen.add(tab.evaluate("document.activeElement.dataset.memory"))
    assert len(seen) > 1
    assert None not in seen
    tab.keyboard.press("Enter")
    browser.locator(".soulmem_column_detail .soulmem_memory").wait_for()
    story.look("graph-one")
    story.back()


def check(story: LargeStory) -> None:
    """Ten questions, each with what came. Of this story most things happened many times: none may be known."""
    story.turn_to("check")
    story.tab.locator("#soulmem_check_start").click()
    story.browser.locator(".soulmem_check_score").wait_for(timeout=60_000 * PATIENCE)
    asked = story.browser.locator("[data-known]").count()
    known = story.browser.locator('[data-known="true"]').count()
    score = story.browser.locator(".soulmem_check_score").inner_text()
    assert 0 < asked <= 10
    count, came, silent, wrong = map(int, re.findall(r"\d+", score))
    assert (count, came) == (asked, known)
    assert came + silent + wrong == asked
    story.look("check")


def story_page(story: LargeStory) -> None:
    """Time, filters, and several at once."""
    tab, browser, scene = story.tab, story.browser, story.scene
    story.turn_to("memories")
    rows = browser.locator(".soulmem_block .soulmem_item")
    rows.first.wait_for()
    days = browser.locator(".soulmem_story > section")
    assert days.count() >= MESSAGES // DAY
    story.look("story")
    slider = browser.locator("#soulmem_density")
    slider.focus()
    slider.press("Home")
    days.last.locator(".soulmem_item").first.wait_for()
    story.look("story-first-day")

    name = BY_LANGUAGE[scene.language].people[1][0]
    story.window.unfold_filters()
    tab.select_option("#soulmem_about", label=name)
    shown = browser.locator(".soulmem_block .soulmem_item:visible")

    def is_about_name() -> bool:
        texts = shown.all_inner_texts()[:5]
        return bool(texts) and all(name in text for text in texts)

    until(is_about_name, 20, "only what is about one of them")
    story.look("story-about")
    # A tag for two of them
    browser.locator("#soulmem_select").click()
    for place in (0, 1):
        rows.nth(place).locator(".soulmem_press").click()
    story.shot("story-chosen")
    keys = [row.get_attribute("data-memory") for row in rows.all()[:2]]
    browser.locator("#soulmem_select_tag").click()
    story.window.type_into_popup(scene.tag)
    until(
        lambda: all(scene.tag in story.window.stored(str(k))["tags"] for k in keys),
        10,
        "the tag",
    )
    story.window.settle()
    browser.locator("#soulmem_select").click()
    story.window.settle()


def made_by_hand(story: LargeStory) -> None:
    """A concept and a pattern are made, and each is linked with the scene of the fact."""
    tab, browser, scene = story.tab, story.browser, story.scene
    wanted = {
        "concept": (scene.tag, "mentions"),
        "abstract_episode": (scene.when, "instance_of"),
    }
    story.window.unfold_filters()
    for kind, (text, edge) in wanted.items():
        tab.locator("#soulmem_make").click()
        tab.select_option("#soulmem_make_kind", kind)
        tab.fill("#soulmem_make_text", text)
        story.look(f"make-{kind}")
        tab.locator("#soulmem_make_save").click()
        memory = browser.locator(".soulmem_memory[data-memory]")
        memory.wait_for()
        key = str(memory.get_attribute("data-memory"))
        memory.locator(".soulmem_links > summary").click()
        tab.fill("#soulmem_link_search", scene.fact.words)
        tab.locator("#soulmem_link_go").click()
        row = memory.locator('#soulmem_link_rows [data-kind="episode"]', has_text=scene.fact.words)
        row.first.wait_for()
        story.look(f"link-{kind}")
        other = row.first.get_attribute("data-memory")
        row.first.locator(".soulmem_press").click()
        ends = (edge, other, key)
        until(
            lambda key=key, ends=ends: (
                ends
                in [  # type: ignore[misc]
                    (e["kind"], e["from"], e["to"]) for e in story.window.stored(key)["edges"]
                ]
            ),
            20,
            f"a link of {kind}",
        )
        story.window.settle()
        if scene.size == PHONE:
            story.back()


def jump(story: LargeStory) -> None:
    """From a row to its message, which lies over a thousand messages up in a chat that was only imported."""
    tab, words = story.tab, story.scene.fact.words
    story.tab.select_option("#soulmem_about", "")
    story.window.find(words).locator(".soulmem_row_jump").click()
    story.browser.wait_for(state="detached")
    message = tab.locator("#chat .mes", has_text=words).first
    message.wait_for(timeout=120_000 * PATIENCE)
    story.shot("jumped")
