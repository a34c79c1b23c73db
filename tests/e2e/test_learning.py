"""SillyTavern's own connection turns chats into memories at rest, and the user judges them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from .child import ask, until
from .conftest import World
from .memory_window import DESKTOP, PHONE, TOO_WIDE, press_tab
from .small_talk import small_talk
from .stories import KEY, KEY_ZH, Fact, chat

pytestmark = pytest.mark.slow("a page of SillyTavern")

HAN = re.compile("[\u4e00-\u9fff]")


@pytest.fixture
def room(world: World) -> Iterator[Room]:
    room = Room(world)
    yield room
    room.leave()


@pytest.fixture
def room_without_plugin(world_without_plugin: World) -> Iterator[Room]:
    room = Room(world_without_plugin)
    yield room
    room.leave()


class Room:
    """The page of the work at rest."""

    def __init__(self, world: World) -> None:
        self.world, self.page, self.tab, self.llm = (
            world,
            world.page,
            world.page.tab,
            world.llm,
        )
        self.soul = ""
        self.binned: list[dict[str, Any]] = []

    def enter(self, key: str, name: str, language: str, fact: Fact) -> None:
        """Open a chat of some fifty messages of which most have left short-term memory."""
        lines = chat(name, [fact.exchange, *small_talk(language, 24)])
        avatar = self.world.data.add_character(key, name, first="Hello.", lines=lines)
        self.page.load("zh-cn" if language == "zh" else "en")
        self.page.wait_for_dot("ok")
        self.page.open_character(avatar)
        self.page.sync()
        self.soul = self.page.soulmem["soul"]

    def leave(self) -> None:
        """Nothing that was begun here goes on: there is one model, and the next test wants it."""
        for job in (
            self.world.sidecar.ask("GET", f"/jobs?soul={self.soul}")["jobs"] if self.soul else ()
        ):
            self.world.sidecar.ask("DELETE", f"/jobs/{job['job']}")
        self.world.sidecar.take_back(self.binned)  # pages of later tests list what lies there
        self.llm.works.set()
        self.llm.replies.set()
        self.tab.set_viewport_size(DESKTOP)  # type: ignore[arg-type]

    def open(self) -> None:
        """From the drawer, which is open."""
        self.tab.locator("#soulmem_browse").click()
        self.tab.locator("#soulmem_tab_memories").click()
        self.tab.locator("#soulmem_browser .soulmem_block").first.wait_for()
        press_tab(self.tab, "work")
        self.tab.locator("#soulmem_model .soulmem_facts li").first.wait_for()

    def close(self) -> None:
        self.tab.locator("#soulmem_close").click()
        self.tab.locator("#soulmem_browser").wait_for(state="detached")

    @property
    def books(self) -> Any:
        return self.world.sidecar.ask("GET", f"/ledger?soul={self.soul}")

    @property
    def learned(self) -> list[str]:
        """What a model wrote and is remembered, digests apart."""
        whole = self.made
        return [memory["text"] for memory in whole if memory["kind"] != "digest"]

    @property
    def made(self) -> list[dict[str, Any]]:
        """What a model wrote and is remembered, with digests."""
        listed = self.world.sidecar.ask("GET", f"/memories?soul={self.soul}&limit=1000")["memories"]
        whole = [self.world.sidecar.ask("GET", f"/memories/{memory['id']}") for memory in listed]
        return [memory for memory in whole if memory["origin"] == "model"]

    def rest(self) -> None:
        """The engine's quiet moment from beginning to end; the page's connection runs its calls meanwhile.

        It goes over all souls; a large one of another test would keep it for minutes: those are binned.
        """
        sidecar = self.world.sidecar
        self.binned.extend(sidecar.bin_all_but(self.soul))
        ask(f"{sidecar.url}/test/idle", "POST", {}, 150.0)
        assert self.books["due"]["calls"] == 0, "all that was due gone over"


def test_chat_becomes_memory_by_the_connection_one_chats_with(room: Room) -> None:
    room.enter("learn", "Mira", "en", KEY)
    page, tab, llm = room.page, room.tab, room.llm
    page.open_drawer()
    room.open()
    page.screenshot("learning-before-en")
    due = room.books["due"]["calls"]
    assert due == 4, "two stretches have left short-term memory"
    assert f"model: {due}." in tab.locator("#soulmem_model .soulmem_facts").inner_text()

    # The model is tested through SillyTavern's own connection.
    tab.locator("#soulmem_test_model").click()
    tab.locator('#soulmem_test_result [data-sign="yes"]').wait_for()
    assert "rowan tree" in tab.locator("#soulmem_test_result q").inner_text()
    assert len(llm.work) == 3, "one summary, one set of drafts, six questions"
    page.screenshot("learning-tested-en")

    # The price stands before the run; it shows how far it is, and is stopped.
    tab.locator("#soulmem_run_now").click()
    assert f"model: {due}" in tab.locator("#soulmem_price").inner_text()
    page.screenshot("learning-price-en")
    llm.works.clear()
    tab.locator("dialog:has(#soulmem_price) .popup-button-ok").click()
    job = tab.locator('.soulmem_job[data-kind="consolidate"]')
    job.locator(".soulmem_job_cancel").wait_for()
    until(lambda: len(llm.work) == 4, 20, "the first call of the run")
    job.get_by_text(f"0 of {due} calls").wait_for()
    page.screenshot("learning-running-en")
    job.locator(".soulmem_job_cancel").click()
    tab.locator('.soulmem_job[data-state="cancelled"]').wait_for()
    llm.works.set()
    assert room.learned == []

    # In a quiet moment it goes on by itself.
    room.rest()
    texts = room.learned
    assert [text for text in texts if text.startswith("Alice said: Before we sleep")], texts
    assert all("Mm. Let us walk on" not in text for text in texts)
    scene = tab.locator('.soulmem_learned[data-kind="episode"]')
    run = tab.locator('.soulmem_run[data-fresh="true"]', has=scene)
    run.locator(".soulmem_learned", has_text="Before we sleep").first.wait_for()
    for more in run.locator(".fa-angles-down").all():  # scenes stand first, and six are shown
        more.click()
    fact = run.locator('.soulmem_learned[data-kind="fact"]').first
    assert "said" in fact.inner_text()
    tab.locator("#soulmem_learned").scroll_into_view_if_needed()
    page.screenshot("learning-learned-en")

    # What was learned is taken back as a whole.
    run.locator(".soulmem_undo_job").click()
    page.say_yes()
    until(lambda: room.learned == [], 20, "the run taken back")
    run.wait_for(state="detached")


@pytest.mark.nightly
def test_the_same_in_chinese_on_a_phone_with_a_connection_profile(room: Room) -> None:
    profile = {
        "id": "small",
        "name": "小模型",
        "mode": "cc",
        "api": "custom",
        "model": "small-1",
    }
    page, tab, llm = room.page, room.tab, room.llm
    room.world.data.change_settings(
        "connectionManager",
        {"profiles": [{**profile, "api-url": llm.url}], "selectedProfile": None},
    )
    room.enter("learn_zh", "米拉", "zh", KEY_ZH)
    tab.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.open_drawer()
    tab.select_option("#soulmem_llm_profile", "small")
    room.open()
    assert "小模型" in tab.locator("#soulmem_model").inner_text()
    tab.locator("#soulmem_test_model").click()
    tab.locator('#soulmem_test_result [data-sign="yes"]').wait_for()
    assert llm.work[-1].model == "small-1"
    page.screenshot("learning-tested-zh-phone")
    room.rest()
    scene = tab.locator('.soulmem_learned[data-kind="episode"]')
    learned = tab.locator('.soulmem_run[data-fresh="true"]', has=scene)
    learned.locator(".soulmem_learned").first.wait_for()
    assert not tab.evaluate(TOO_WIDE)
    tab.locator("#soulmem_learned").scroll_into_view_if_needed()
    page.screenshot("learning-learned-zh-phone")
    words = tab.locator(
        "#soulmem_browser :is(.soulmem_tab span, .menu_button span, .soulmem_hint, .soulmem_facts li, h4)"
    ).all_inner_texts()
    assert not [word for word in words if word.strip(" 0123456789") and not HAN.search(word)]

    # What is written is memories, and facts between two of them; digests that quote are none of it.
    for more in tab.locator(".soulmem_run .fa-angles-down").all():
        more.click()
    rows = tab.locator('.soulmem_run[data-fresh="true"] .soulmem_learned')
    written = [memory for memory in room.made if memory["kind"] != "digest"]
    assert rows.count() > len(written)
    tab.locator("#soulmem_keep_all", has_text=str(rows.count())).click()
    tab.locator(".soulmem_said").wait_for()
    learned.wait_for(state="detached")
    tab.locator(".soulmem_earlier summary").click()
    tab.locator('.soulmem_run[data-fresh="false"]').first.wait_for()
    page.screenshot("learning-kept-zh-phone")
    assert room.learned


@pytest.mark.nightly
def test_no_call_is_made_while_a_reply_is_written(room: Room) -> None:
    room.enter("learn_gpu", "Mira", "en", KEY)
    page, llm = room.page, room.llm
    llm.replies.clear()
    page.press_send("Do you hear the owls?")
    until(lambda: len(llm.prompts) == 1, 20, "the reply asked for")
    job = room.world.sidecar.ask("POST", "/jobs", {"kind": "consolidate", "soul": room.soul})["job"]
    page.tab.wait_for_timeout(12_000)  # two looks of the page and more
    assert llm.work == []
    assert room.world.sidecar.ask("GET", f"/jobs/{job}")["state"] == "running"
    llm.replies.set()
    until(
        lambda: room.world.sidecar.ask("GET", f"/jobs/{job}")["state"] == "done",
        60,
        "the run",
    )
    assert len(llm.work) >= 4
    assert page.send("And now?").in_chat("Do you hear the owls?") == 1, "replies are as ever"


def reload_during_a_call(room: Room, key: str) -> None:
    """A call is with the page when it is reloaded; one that died without a word would keep it for 90 s."""
    room.enter(key, "Mira", "en", KEY)
    llm, sidecar = room.llm, room.world.sidecar
    llm.works.clear()
    job = sidecar.ask("POST", "/jobs", {"kind": "model_test", "soul": room.soul})["job"]
    until(lambda: len(llm.work) == 1, 20, "the call taken by the page")
    room.page.load()
    llm.works.set()
    until(
        lambda: sidecar.ask("GET", f"/jobs/{job}")["state"] == "done",
        30,
        "the call run by the new page",
    )
    assert sidecar.ask("GET", f"/jobs/{job}")["result"]["state"] == "ok"
    assert len(llm.work) == 4, "the broken-off one once more, and the other two"


@pytest.mark.nightly
def test_the_call_of_a_page_that_is_reloaded_is_run_by_the_next(room: Room) -> None:
    reload_during_a_call(room, "learn_reload")
    assert room.page.soulmem["route"] == "plugin"


@pytest.mark.nightly
def test_without_the_plugin_a_page_gives_its_call_back_too(
    room_without_plugin: Room,
) -> None:
    reload_during_a_call(room_without_plugin, "learn_reload_direct")
    assert room_without_plugin.page.soulmem["route"] == "direct"
