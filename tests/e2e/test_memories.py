"""The user sees, changes, protects, bins, restores and undoes memories, also on a phone."""

from __future__ import annotations

import re

import pytest

from .child import until
from .memory_window import PHONE, TOO_WIDE, MemoryWindow
from .stories import FEVER, KEY, KEY_ZH, PARROT

pytestmark = pytest.mark.slow("a page of SillyTavern")

HAN = re.compile("[\u4e00-\u9fff]")


@pytest.mark.nightly
def test_the_user_sees_changes_and_takes_back(window: MemoryWindow) -> None:
    window.enter("govern", "Mira", "en", KEY, PARROT, FEVER)
    tab, page = window.tab, window.page
    window.open()
    page.screenshot("memories-en")
    # What comes near is added: more than a page of thirty.
    tab.locator(".soulmem_item").nth(29).scroll_into_view_if_needed()
    tab.locator(".soulmem_item").nth(30).wait_for()
    window.unfold_filters()
    tab.select_option("#soulmem_kind", "concept")
    tab.locator('.soulmem_item[data-kind="episode"]').first.wait_for(state="detached")
    tab.select_option("#soulmem_kind", "")
    # Else what the story still reads may fail in place of the search
    tab.locator('.soulmem_item[data-kind="episode"]').first.wait_for()
    tab.locator('#soulmem_browser[aria-busy="false"]').wait_for()

    # Nobody is left without a word when the sidecar is gone, and nothing has to be typed again.
    tab.route(
        "**/memories?*",
        lambda route: route.fulfill(status=502, json={"error": "sidecar_down"}),
    )
    tab.fill("#soulmem_search", KEY.words)
    tab.locator(".soulmem_notice", has_text="cannot be reached").wait_for()
    tab.unroute("**/memories?*")
    window.press(".soulmem_notice .menu_button")
    tab.locator(".soulmem_item", has_text=KEY.words).first.wait_for()
    assert tab.locator(".soulmem_notice").inner_text() == ""

    # Edited, protected, and where it comes from.
    key = window.show(KEY.words)
    page.screenshot("memory-en")
    tab.fill("#soulmem_text", "The brass key lies in the crypt.")
    window.press("#soulmem_save")
    until(
        lambda: window.stored(key)["text"] == "The brass key lies in the crypt.",
        10,
        "the new wording",
    )
    entry = tab.locator('.soulmem_memory .soulmem_entry[data-action="change"]').first
    assert "crypt" in entry.locator("ins").inner_text()

    # What is being written is not lost by a press of Back.
    tab.fill("#soulmem_text", "Half a sentence")
    window.press("#soulmem_back")
    tab.locator("dialog.popup[open]:not(:has(#soulmem_browser)) .popup-button-cancel").click()
    tab.locator("dialog.popup[open]:not(:has(#soulmem_browser))").wait_for(state="detached")
    assert tab.input_value("#soulmem_text") == "Half a sentence"
    tab.fill("#soulmem_text", "The brass key lies in the crypt.")

    # What was called wrong is in doubt until the user says otherwise.
    question = {
        "soul": window.soul,
        "query": "Where does the brass key lie?",
        "time_budget_ms": 10_000,
    }
    trace = window.world.sidecar.ask("POST", "/recall", question)["trace"]
    verdict = {"trace": trace, "memory": key, "verdict": "wrong"}
    window.world.sidecar.ask("POST", "/feedback", verdict)
    window.press("#soulmem_back")
    window.show("lies in the crypt")
    tab.locator(".soulmem_memory .soulmem_badge", has_text="in doubt").wait_for()
    page.screenshot("memory-doubt-en")
    window.press("#soulmem_doubt")
    tab.locator("#soulmem_doubt").wait_for(state="detached")
    assert window.stored(key)["in_doubt"] is False
    window.press("#soulmem_permanent")
    tab.locator('#soulmem_permanent[aria-pressed="true"]').wait_for()
    window.press("#soulmem_lock")
    tab.locator('#soulmem_lock[aria-pressed="true"]').wait_for()
    stored = window.stored(key)
    assert (stored["permanent"], stored["locked"], stored["origin"]) == (
        True,
        True,
        "user",
    )
    page.screenshot("memory-edited-en")

    # Written elsewhere meanwhile: the user's words stay, and are told why they were not saved.
    window.world.sidecar.ask("PATCH", f"/memories/{key}", {"text": "Elsewhere."})
    tab.fill("#soulmem_text", "Under the altar.")
    window.press("#soulmem_save")
    tab.locator(".soulmem_notice", has_text="changed elsewhere").wait_for()
    assert tab.input_value("#soulmem_text") == "Under the altar."
    window.press("#soulmem_save")
    until(lambda: window.stored(key)["text"] == "Under the altar.", 10, "the second try")

    # A permanent one goes to the bin only by the typed word, and comes back.
    window.press("#soulmem_to_bin")
    window.type_into_popup("yes")
    assert window.stored(key)["state"] == "active"
    window.press("#soulmem_to_bin")
    window.type_into_popup("permanent")
    until(lambda: window.stored(key)["state"] == "bin", 10, "the bin")
    shown = window.turn_to("bin")
    shown.locator(".soulmem_item", has_text="altar").locator(".soulmem_restore").click()
    until(lambda: window.stored(key)["state"] == "active", 10, "restored")
    page.screenshot("bin-en")

    # For good only by the typed word, and not while the chat tells it.
    note = window.note("The moon is made of cheese.")
    window.world.sidecar.ask("DELETE", f"/memories/{note}")
    told_by_chat = window.episode("oak")
    window.world.sidecar.ask("DELETE", f"/memories/{told_by_chat}")
    shown = window.turn_to("bin")
    for text in ("cheese", "oak"):
        shown.locator(".soulmem_item", has_text=text).locator(".soulmem_purge").click()
        window.type_into_popup("for good")
        tab.locator(
            ".soulmem_said",
            has_text="for good" if text == "cheese" else "would come back",
        ).wait_for()
    assert window.state(note) is None
    assert window.state(told_by_chat) == "bin"

    # All of the bin goes at once, but for what a chat still tells.
    more = [window.note(f"The moon is made of {stuff}.") for stuff in ("chalk", "tin", "glass")]
    for note_id in more:
        window.world.sidecar.ask("DELETE", f"/memories/{note_id}")
    window.turn_to("memories")
    window.turn_to("bin")
    window.press("#soulmem_empty_bin")
    page.screenshot("bin-empty-en")
    window.type_into_popup("for good")
    tab.locator(".toast-success", has_text="deleted for good: 3").wait_for()
    assert [window.state(note_id) for note_id in (*more, told_by_chat)] == [
        None,
        None,
        None,
        "bin",
    ]
    window.world.sidecar.ask("POST", f"/memories/{told_by_chat}/restore", {})

    # What a model did is listed, and taken back.
    window.turn_to("memories")
    parrot = str(window.find(PARROT.words).get_attribute("data-memory"))
    before = window.stored(parrot)["text"]
    window.tool(
        "update_memory_node",
        memory_id=parrot,
        new_content="The parrot was called Vinegar.",
    )
    shown = window.turn_to("changes")
    entry = shown.locator('.soulmem_entry[data-actor="archivist"]', has_text="Vinegar")
    entry.wait_for()
    page.screenshot("changes-en")
    entry.locator(".soulmem_undo").click()
    page.say_yes()
    until(lambda: window.stored(parrot)["text"] == before, 10, "undone")
    window.tool(
        "update_memory_node",
        memory_id=parrot,
        new_content="The parrot was called Brine.",
    )
    window.press("#soulmem_undo_since")
    page.say_yes()
    until(
        lambda: window.stored(parrot)["text"] == before,
        10,
        "everything automatic undone",
    )
    assert window.stored(key)["text"] == "Under the altar.", "undoing touched the user's own words"

    # And what a job did, as one.
    lore = window.import_world("Varn", "Varn is an island of lighthouses.")
    tab.select_option("#soulmem_changes_of", "all")
    tab.select_option("#soulmem_changes_of", "automatic")
    window.press(".soulmem_undo_job")
    page.say_yes()
    until(lambda: window.state(lore) != "active", 10, "the job undone")

    # What a model asks to delete goes only by the user's word.
    fever = window.episode("willow")
    for reason in ("of no use", "still of no use"):
        window.tool("delete_memory", memory_id=fever, reason=reason)
    shown = window.turn_to("waiting")
    page.screenshot("waiting-en")
    shown.locator(".soulmem_request", has_text="still of no use").locator(".soulmem_reject").click()
    shown.locator(".soulmem_request").nth(1).wait_for(state="detached")
    assert window.stored(fever)["state"] == "active"
    shown.locator(".soulmem_confirm").click()
    until(lambda: window.stored(fever)["state"] == "bin", 10, "deleted as confirmed")

    # The way to the message.
    window.turn_to("memories")
    window.show(PARROT.words)
    window.press(".soulmem_jump")
    tab.locator("#soulmem_browser").wait_for(state="detached")
    index = page.index_of(PARROT.words)
    page.wait(
        "n => { const box = document.querySelector(`#chat .mes[mesid='${n}']`).getBoundingClientRect();"
        " return box.bottom > 0 && box.top < innerHeight; }",
        arg=index,
    )
    page.screenshot("jumped-en")


@pytest.mark.nightly
def test_the_same_in_chinese_on_a_phone(window: MemoryWindow) -> None:
    window.enter("govern_zh", "米拉", "zh", KEY_ZH)
    tab, page = window.tab, window.page
    tab.set_viewport_size(PHONE)  # type: ignore[arg-type]
    window.open(shot="drawer-zh-phone")
    assert not tab.evaluate(TOO_WIDE)
    page.screenshot("memories-zh-phone")
    key = window.show(KEY_ZH.words)
    window.press("#soulmem_permanent")
    tab.locator('#soulmem_permanent[aria-pressed="true"]').wait_for()
    assert not tab.evaluate(TOO_WIDE)
    page.screenshot("memory-zh-phone")
    window.press("#soulmem_to_bin")
    window.type_into_popup("永久")
    until(lambda: window.stored(key)["state"] == "bin", 10, "the bin")
    other = window.world.sidecar.ask("GET", f"/memories?soul={window.soul}&kind=episode")[
        "memories"
    ][0]["id"]
    window.tool("update_memory_node", memory_id=other, new_content="船在雾里停了三天。")
    window.tool("delete_memory", memory_id=other, reason="没有用处")
    for name in ("bin", "changes", "waiting"):
        window.turn_to(name)
        assert not tab.evaluate(TOO_WIDE)
        page.screenshot(f"{name}-zh-phone")
        words = tab.locator(
            "#soulmem_browser :is(.soulmem_tab span, .menu_button span, .soulmem_hint, b)"
        ).all_inner_texts()
        assert not [word for word in words if word.strip(" 0123456789") and not HAN.search(word)]
