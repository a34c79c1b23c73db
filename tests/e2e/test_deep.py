"""The user has a character think longer: steps as they come, stopping, the answer, and the slash command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from .child import PATIENCE, until
from .conftest import World
from .memory_window import DESKTOP, PHONE
from .mock_llm import Prompt
from .small_talk import small_talk
from .stories import FEVER, KEY, KEY_ZH, Fact, chat

pytestmark = pytest.mark.nightly

TOO_WIDE = """() => {
    const right = document.querySelector(".soulmem_recalled").getBoundingClientRect().right;
    const parts = document.querySelectorAll(".soulmem_deep *");
    return [...parts].some(part => part.getBoundingClientRect().right > right + 1);
}"""


@dataclass(frozen=True, slots=True)
class Scene:
    """A page in a language, and questions: the one of the user, one that leads nowhere, one that finds it."""

    locale: str
    language: str
    name: str
    size: dict[str, int]
    fact: Fact
    dead_end: str
    finds: str
    stopped: str  # what the page says of a search that was stopped


ENGLISH = Scene(
    locale="en",
    language="en",
    name="Mira",
    size=DESKTOP,
    fact=KEY,
    dead_end="What did the weather look like?",
    finds="Where did I hide the brass key?",
    stopped="Stopped.",
)
CHINESE = Scene(
    locale="zh-cn",
    language="zh",
    name="米拉",
    size=PHONE,
    fact=KEY_ZH,
    dead_end="那天天气怎么样？",
    finds="铜钥匙藏在哪里了？",
    stopped="已停止。",
)


class Planner:
    """A model whose first plan leads nowhere and whose second question finds what is looked for."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def __call__(self, prompt: Prompt) -> str:
        user = str(prompt.messages[1]["content"])
        memories = user.partition("<memories>")[2].partition("</memories>")[0]
        lines = memories.strip().splitlines()
        if "questions" in user.rpartition("JSON")[2]:
            return json.dumps({"useful": [], "questions": [self._scene.dead_end]})
        asked = user.partition("<asked>")[2].partition("</asked>")[0]
        if self._scene.finds not in asked:
            answer = {"step": "back", "useful": [], "ask": self._scene.finds}
            return json.dumps(answer)
        words = self._scene.fact.words
        useful = [i for i, line in enumerate(lines, 1) if words in line]
        return json.dumps({"step": "enough", "useful": useful, "ask": ""})


@pytest.fixture
def quiet_world(world: World) -> Iterator[World]:
    """After the test no call of the model waits any more."""
    yield world
    world.llm.works.set()


def jobs(world: World) -> list[dict[str, Any]]:
    """The deep searches of the character, the newest first."""
    path = f"/jobs?soul={world.page.soulmem['soul']}"
    listed: list[dict[str, Any]] = world.sidecar.ask("GET", path)["jobs"]
    return [job for job in listed if job["kind"] == "deep"]


@pytest.mark.parametrize("scene", [ENGLISH, CHINESE], ids=["en-desktop", "zh-cn-phone"])
def test_a_character_thinks_longer(quiet_world: World, scene: Scene) -> None:
    world = quiet_world
    told = [scene.fact.exchange, *small_talk(scene.language, 20)]
    avatar = world.data.add_character(
        f"deep_{scene.language}",
        scene.name,
        first="Hello.",
        lines=chat(scene.name, told),
    )
    page, tab, llm = world.page, world.page.tab, world.llm
    page.load(scene.locale)
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.send(scene.fact.question)
    assert llm.work == [], "a reply never waits for memory work"
    tab.set_viewport_size(scene.size)  # type: ignore[arg-type]
    tab.locator("#chat .last_mes .soulmem_recalled_button").click()
    panel = tab.locator(".soulmem_recalled .soulmem_deep")
    panel.wait_for()
    question = panel.locator(".soulmem_deep_question")
    assert question.input_value() == scene.fact.question

    # The steps come while the model thinks.
    llm.archivist = Planner(scene)
    llm.works.clear()
    panel.locator(".soulmem_deep_go").click()
    steps = panel.locator(".soulmem_deep_steps li")
    steps.first.wait_for()
    assert scene.fact.question in steps.first.inner_text()
    until(lambda: len(llm.work) == 1, 30, "the plan is asked for")
    panel.locator(".soulmem_deep_stop").wait_for()
    panel.scroll_into_view_if_needed()
    page.screenshot(f"deep-running-{scene.locale}")
    llm.works.set()
    panel.locator(".soulmem_recalled_item").first.wait_for(timeout=60_000 * PATIENCE)
    kinds = [step.get_attribute("data-step") for step in steps.all()]
    assert kinds == [
        *("explore", "plan", "explore", "reflect"),
        *("back", "explore", "reflect"),
    ]
    assert scene.finds in steps.nth(5).inner_text()
    item = panel.locator(".soulmem_recalled_item").first
    assert scene.fact.words in item.inner_text(), "what the model points at comes first"
    assert item.locator(".soulmem_verdict_stronger").is_visible()
    assert not panel.locator(".soulmem_deep_stop").is_visible()
    assert not tab.evaluate(TOO_WIDE)
    panel.scroll_into_view_if_needed()
    page.screenshot(f"deep-done-{scene.locale}")
    result = jobs(world)[0]["result"]
    assert (result["calls"], result["ended"]) == (3, "enough")
    assert len(llm.work) == 3

    # It is stopped while the model thinks.
    llm.works.clear()
    question.fill(scene.finds)
    question.press("Enter")
    until(lambda: len(llm.work) == 4, 30, "the second plan is asked for")
    panel.locator(".soulmem_deep_stop").click()
    panel.get_by_text(scene.stopped, exact=True).wait_for()
    assert jobs(world)[0]["state"] == "cancelled"
    assert panel.locator(".soulmem_recalled_item").count() == 0
    page.screenshot(f"deep-stopped-{scene.locale}")


def test_the_command_answers_with_texts_and_changes_nothing(quiet_world: World) -> None:
    world = quiet_world
    told = [FEVER.exchange, *small_talk("en", 20)]
    avatar = world.data.add_character(
        "deep_command", "Mira", first="Hello.", lines=chat("Mira", told)
    )
    page = world.page
    page.load("en")
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.sync()
    soul = page.soulmem["soul"]
    before = world.sidecar.ask("GET", f"/souls/{soul}/fingerprint")
    length = page.length
    answer = page.slash(f"/soulmem-deep {FEVER.question}")
    assert FEVER.words in answer
    assert page.slash(f"/soulmem-deep {FEVER.question} | /len {{{{pipe}}}}") != "0"
    assert page.length == length
    assert world.sidecar.ask("GET", f"/souls/{soul}/fingerprint") == before
    totals = world.sidecar.ask("GET", f"/ledger?soul={soul}")["totals"]
    assert totals["deep"]["calls"] == 2
    assert len(jobs(world)) == 2
