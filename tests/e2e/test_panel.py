"""The user sees what was recalled and why, and reads an old chat, in English and in Chinese."""

from __future__ import annotations

import re

import pytest

from .child import until
from .conftest import World
from .memory_window import DESKTOP, PHONE, TOO_WIDE
from .small_talk import small_talk
from .stories import KEY, KEY_ZH, Fact, chat

REPLIES = {
    "en": "*She smiles.* In the hollow oak behind the chapel. You made me promise.",
    "zh": "*她笑了。*在教堂后面那棵空心橡树里。你让我答应过你的。",
}
HAN = re.compile("[\u4e00-\u9fff]")


@pytest.mark.parametrize(
    ("locale", "language", "name", "fact"),
    [
        ("en", "en", "Mira", KEY),
        pytest.param("zh-cn", "zh", "米拉", KEY_ZH, marks=pytest.mark.nightly),
    ],
    ids=["en", "zh-cn"],
)
def test_the_user_sees_what_was_recalled_and_why(
    world: World, locale: str, language: str, name: str, fact: Fact
) -> None:
    lines = chat(name, [fact.exchange, *small_talk(language, 20)])
    avatar = world.data.add_character(f"panel_{language}", name, first="Hello.", lines=lines)
    page, tab = world.page, world.page.tab
    page.load(locale)
    page.wait_for_dot("ok")
    page.open_character(avatar)
    world.llm.will_say(REPLIES[language])
    page.send(fact.question)
    page.screenshot(f"dot-{locale}")

    tab.locator("#chat .last_mes .soulmem_recalled_button").click()
    view = tab.locator(".soulmem_recalled")
    view.wait_for()
    item = view.locator('.soulmem_recalled_item[data-state="sent"]', has_text=fact.words).first
    assert item.locator(".soulmem_recalled_why").inner_text().strip()
    summary = view.locator("small").first.inner_text()
    assert bool(HAN.search(summary)) == (locale == "zh-cn"), summary
    page.screenshot(f"recalled-{locale}")

    # A word to it, taken back.
    never = item.locator(".soulmem_verdict_never_here")
    never.click()
    undo = item.locator(".soulmem_verdict_undo")
    undo.wait_for()
    assert unwelcome_in(world) == [page.soulmem["chat"]]
    undo.click()
    never.wait_for()
    assert unwelcome_in(world) == []
    tab.keyboard.press("Escape")
    view.wait_for(state="detached")

    page.open_drawer()
    drawer = tab.locator("#soulmem_drawer")
    labels = [
        label
        for label in drawer.locator("span[data-i18n], h4[data-i18n]").all_inner_texts()
        if label
    ]
    other = [label for label in labels if bool(HAN.search(label)) != (locale == "zh-cn")]
    assert len(labels) > 10
    assert not other, "not in the language of the page"
    page.screenshot(f"drawer-{locale}")


def unwelcome_in(world: World) -> list[str]:
    """The chats in which the memory that was last judged is not to be recalled."""
    path = f"/audit?soul={world.page.soulmem['soul']}&limit=20"
    entries = [
        entry
        for entry in world.sidecar.ask("GET", path)["audit"]
        if "opinion" in (entry["after"] or {})
    ]
    not_in: list[str] = entries[0]["after"]["opinion"]["not_in"]
    return not_in


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("locale", "language", "fact", "line", "sentence", "size"),
    [
        ("en", "en", KEY, "Mm, all right.", "called for none", DESKTOP),
        ("zh-cn", "zh", KEY_ZH, "嗯，好。", "没有往提示词里放记忆", PHONE),
    ],
    ids=["en", "zh-cn-phone"],
)
def test_small_talk_brings_nothing_and_the_view_says_so(
    world: World,
    locale: str,
    language: str,
    fact: Fact,
    line: str,
    sentence: str,
    size: dict[str, int],
) -> None:
    lines = chat("Mira", [fact.exchange, *small_talk(language, 20)])
    avatar = world.data.add_character(f"silent_{language}", "Mira", first="Hello.", lines=lines)
    page, tab = world.page, world.page.tab
    page.load(locale)
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.sync()
    world.sidecar.until_searchable()
    prompt = page.send(line)
    assert prompt.recalled(fact.words) == 0
    recall = page.last_recall or {}
    assert (recall["sent"], recall["error"]) == ([], None)
    assert recall["withheld"] > 0
    title = tab.get_attribute("#soulmem_dot", "title") or ""
    assert sentence.removeprefix("called ") in title
    tab.set_viewport_size(size)  # type: ignore[arg-type]
    tab.locator("#chat .last_mes .soulmem_recalled_button").click()
    view = tab.locator(".soulmem_recalled")
    view.locator("p", has_text=sentence).wait_for()
    assert view.locator(".soulmem_recalled_item").count() == 0
    view.locator(".soulmem_search summary").click()
    view.locator(".soulmem_search_steps li").first.wait_for()
    page.screenshot(f"silent-{locale}")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("locale", "words", "size"),
    [
        ("en", ["silent", "natural", "talkative"], DESKTOP),
        ("zh-cn", ["寡言", "自然", "健谈"], PHONE),
    ],
    ids=["en", "zh-cn-phone"],
)
def test_how_readily_a_character_recalls_is_set_in_words(
    world: World, locale: str, words: list[str], size: dict[str, int]
) -> None:
    """The dial of the character, and the one for all, have silence on the left."""
    avatar = world.data.add_character(
        f"dial_{locale}", "Mira", first="Hello.", lines=chat("Mira", [KEY.exchange])
    )
    page, tab = world.page, world.page.tab
    page.load(locale)
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.open_drawer()
    tab.set_viewport_size(size)  # type: ignore[arg-type]

    def restraint() -> tuple[float, str]:
        soul = world.sidecar.ask("GET", f"/souls/{page.soulmem['soul']}")
        return soul["config"]["restraint"], page.soulmem["soul"]

    own, general = (
        tab.locator("#soulmem_card_restraint"),
        tab.locator("#soulmem_restraint"),
    )
    ends = tab.locator("#soulmem_character .soulmem_dial_ends", has_text=words[0])
    assert ends.locator("span").all_inner_texts() == words
    page.sync()
    assert restraint()[0] == 1.0
    as_for_all = tab.locator("#soulmem_card_general_restraint")
    assert as_for_all.is_checked()
    general.press("End")
    until(lambda: restraint()[0] == 0.0, 20, "talkative for all characters")
    own.press("Home")
    until(lambda: restraint()[0] == 2.0, 20, "this character silent")
    assert not as_for_all.is_checked()
    assert general.input_value() == "2"
    assert not tab.evaluate(TOO_WIDE.replace("soulmem_browser", "soulmem_drawer"))
    own.scroll_into_view_if_needed()
    page.screenshot(f"dial-{locale}")


@pytest.mark.nightly
def test_reading_an_old_chat_shows_progress_and_can_be_stopped_and_resumed(
    world: World,
) -> None:
    lines = chat("Mira", [KEY.exchange, *small_talk("en", 200)])
    avatar = world.data.add_character("read", "Mira", first="Hello.", lines=lines)
    page, tab = world.page, world.page.tab
    page.load()
    page.wait_for_dot("ok")
    # The first request asks which texts are lacking, the second brings a hundred messages.
    world.gate.hold(b"PUT /v1/chats", let_through=2)
    page.open_character(avatar)
    page.open_drawer()
    tab.locator("#soulmem_read_cancel").click()
    tab.locator("#soulmem_read_chat").wait_for()
    bar = tab.locator("#soulmem_read_progress")
    assert (bar.get_attribute("value"), bar.get_attribute("max")) == (
        "100",
        str(len(lines)),
    )
    chat_id = page.soulmem["chat"]
    assert len(world.sidecar.stored(chat_id)) == 100

    world.gate.release()
    tab.locator("#soulmem_read_chat").click()
    until(
        lambda: len(world.sidecar.stored(chat_id)) == len(lines),
        30,
        "the whole chat read",
    )
    tab.locator("#soulmem_read_text", has_text=str(len(lines))).wait_for()
    bar.wait_for(state="hidden")
    assert [message["text"] for message in world.sidecar.stored(chat_id)] == [
        line.text for line in lines
    ]
