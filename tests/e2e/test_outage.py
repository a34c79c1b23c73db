"""The reply comes when the sidecar does not answer, and the dot says why."""

from __future__ import annotations

import time
from urllib.parse import quote

import pytest

from .child import until
from .conftest import World
from .small_talk import small_talk
from .stories import KEY, chat

# seconds a reply may wait for memories, where a test sets it; else they may wait for 10
TIME_BUDGET = 1.5
RECALLS = (b"POST /v1/recall", b"POST /v1/chats")
SLACK = 1.5  # seconds a busy two-core machine may add


@pytest.fixture
def talking(world: World, request: pytest.FixtureRequest) -> World:
    """A page on a chat long enough for something to be recalled, with one reply already there."""
    lines = chat("Mira", [KEY.exchange, *small_talk("en", 20)])
    # A character for each test: SillyTavern may save the chat of the test before late, over a file of that name.
    key = request.node.name
    avatar = world.data.add_character(key, "Mira", first="Hello.", lines=lines)
    world.page.load()
    world.page.wait_for_dot("ok")
    world.page.open_character(avatar)
    world.page.sync()
    # A soul may be known before its chat is read: nothing waits to be searchable then.
    stored = f"/memories?soul={world.page.soulmem['soul']}&q={quote(KEY.words)}"
    until(lambda: world.sidecar.ask("GET", stored)["memories"], 60, "the chat is stored")
    world.sidecar.until_searchable()
    # Until its lines are judged, less comes to mind.
    known = f"/souls/{world.page.soulmem['soul']}/known?limit=1"
    until(lambda: world.sidecar.ask("GET", known)["unread"] == 0, 60, "lines are judged")
    prompt = world.page.send(KEY.question)
    assert prompt.recalled(KEY.words) == 1, (
        f"nothing is recalled while all is well: the test proves nothing. {state(world)}"
    )
    return world


def state(world: World) -> str:
    """What the sidecar itself answers to the question, whatever stands in a prompt, and its health."""
    soul = world.page.soulmem["soul"]
    asked = {"soul": soul, "chat": None, "query": KEY.question, "type": "quiet"}
    told = [m["text"] for m in world.sidecar.ask("POST", "/recall", asked)["memories"]]
    return f"asked by HTTP: {told}; health: {world.sidecar.ask('GET', '/health')}"


@pytest.mark.oldest
def test_the_reply_comes_with_the_sidecar_down(talking: World) -> None:
    page = talking.page
    talking.sidecar.stop()
    page.set("time_budget", 1000 * TIME_BUDGET)
    waited = page.seconds_to_prompt(KEY.question)

    assert waited < TIME_BUDGET + SLACK
    assert talking.llm.prompts[-1].in_chat(KEY.question) == 2
    assert talking.llm.prompts[-1].count(KEY.words) == 0, (
        "the memory of the recall before was sent again"
    )
    assert page.wait_for_dot("down") == "sidecar_down"
    page.open_drawer()
    assert page.tab.locator("#soulmem_step").inner_text()
    page.screenshot("drawer-down")

    talking.sidecar.start()
    talking.sidecar.wait()
    page.wait_for_dot("ok", seconds=60)
    page.set("time_budget", 10_000)
    assert page.send(KEY.question).recalled(KEY.words) == 1


def test_the_reply_comes_in_time_with_the_sidecar_hanging(talking: World) -> None:
    page = talking.page
    page.set("time_budget", 1000 * TIME_BUDGET)
    well = page.seconds_to_prompt(KEY.question)
    talking.gate.hold(b"")
    hanging = page.seconds_to_prompt(KEY.question)

    assert talking.gate.held > 0, "nothing was asked: the test proves nothing"
    # What SillyTavern itself takes varies by as much as it takes where other tests run beside.
    assert hanging < 2 * well + TIME_BUDGET + SLACK
    assert talking.llm.prompts[-1].count(KEY.words) == 0
    assert page.wait_for_dot("down", "degraded") == "sidecar_slow"


@pytest.mark.nightly
def test_the_reply_comes_when_the_sidecar_is_killed_while_it_recalls(
    talking: World,
) -> None:
    page = talking.page
    talking.gate.hold(*RECALLS)
    page.press_send("And the key?")
    until(lambda: talking.gate.held > 0, 10, "a recall under way")
    talking.sidecar.kill()
    killed = time.monotonic()
    until(lambda: len(talking.llm.prompts) == 2, 10, "a request to the model")

    assert talking.llm.prompts[-1].arrived - killed < SLACK
    assert talking.llm.prompts[-1].in_chat("And the key?") == 1
    assert page.wait_for_dot("down") == "sidecar_down"


@pytest.mark.nightly
def test_stop_during_a_recall_stops_at_once(talking: World) -> None:
    page = talking.page
    asked = len(talking.llm.prompts)
    talking.gate.hold(*RECALLS)
    page.press_send("And the key?")
    until(lambda: talking.gate.held > 0, 10, "a recall under way")
    ended = page.events("GENERATION_ENDED")
    page.tab.click("#mes_stop")
    # SillyTavern tells of the end twice: when Stop is pressed, and when the extension lets go.
    page.wait_for_event("GENERATION_ENDED", ended + 1, seconds=SLACK)
    assert len(talking.llm.prompts) == asked, "the model was asked all the same"

    talking.gate.release()
    assert page.send(KEY.question).recalled(KEY.words) == 1
    assert len(talking.llm.prompts) == asked + 1
