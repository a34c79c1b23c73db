"""The model that plays uses memory itself: what it keeps is shown and taken back; so is what comes by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .child import until
from .conftest import World
from .mock_llm import Prompt, ToolCall

LEAD = {
    *("soulmem_search_memories", "soulmem_remember"),
    *("soulmem_save_permanent_memory", "soulmem_call_assistant"),
}
CALLS_TOOLS = "on => { SillyTavern.getContext().chatCompletionSettings.function_calling = on; }"
TEXT = "The ferry to Ilmar leaves at dawn from the eastern pier."


def kept(world: World, state: str = "active") -> list[dict[str, Any]]:
    """The notes of the character."""
    soul = world.page.soulmem["soul"]
    path = f"/memories?soul={soul}&kind=note&state={state}"
    listed: list[dict[str, Any]] = world.sidecar.ask("GET", path)["memories"]
    return listed


def test_what_the_model_keeps_is_shown_and_can_be_taken_back(world: World) -> None:
    avatar = world.data.add_character("tooled", "Mira", first="Hello.")
    page, tab, llm = world.page, world.page.tab, world.llm
    page.load()
    page.wait_for_dot("ok")
    page.open_character(avatar)
    tab.evaluate(CALLS_TOOLS, True)
    first = page.send("Good evening, Mira.")
    assert first.tools == (), "the switch is off at first"

    page.open_drawer()
    tab.check("#soulmem_tools")
    names = "() => SillyTavern.getContext().ToolManager.tools.map(t => t.toFunctionOpenAI().function.name)"
    until(lambda: set(tab.evaluate(names)) >= LEAD, 10, "the tools are registered")
    remembering = ToolCall("soulmem_remember", {"content": TEXT, "tags": ["ferry"]})
    llm.will_say(remembering, "I shall not forget it.")
    last = page.send("The ferry leaves at dawn, from the eastern pier.")
    assert set(last.tools) == LEAD
    assert "importance" in str(last), "the model reads the result"
    (memory,) = kept(world)
    assert (memory["text"], memory["tags"]) == (TEXT, ["ferry"])

    toast = tab.locator("#toast-container .toast", has_text="ferry to Ilmar")
    toast.wait_for()
    page.screenshot("tool-kept")
    toast.click()
    until(lambda: not kept(world), 10, "it is taken back")
    assert [old["id"] for old in kept(world, "bin")] == [memory["id"]]

    # The archivist works on the page's own connection, while the reply waits for it.
    turns = [
        {"tool": "search_memories", "arguments": {"query": "Where does it leave?"}},
        {"said": "There is nothing to tidy."},
    ]
    others = llm.archivist

    def archivist(prompt: Prompt) -> str:
        """Works beside other memory work, which may come at the same time."""
        return json.dumps(turns.pop(0)) if "Tidy up." in str(prompt) else others(prompt)

    llm.archivist = archivist
    llm.will_say(ToolCall("soulmem_call_assistant", {"instruction": "Tidy up."}), "So.")
    reply = page.send("Do you keep your thoughts in order?")
    assert "nothing to tidy" in str(reply)
    assert turns == []

    page.set("tools", False)
    assert page.send("Good night, Mira.").tools == ()


@pytest.mark.nightly
def test_a_memory_that_comes_by_itself_is_shown_so(world: World) -> None:
    avatar = world.data.add_character("pushed", "Mira", first="Hello.")
    page, tab = world.page, world.page.tab
    page.load()
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.open_drawer()
    tab.select_option("#soulmem_card_push", "often")

    def stored() -> str:
        page.sync()
        soul = world.sidecar.ask("GET", f"/souls/{page.soulmem['soul']}")
        return str(soul["config"]["push"])

    until(lambda: stored() == "often", 20, "the sidecar knows the choice")
    soul = page.soulmem["soul"]
    for text in (TEXT, "Grandmother kept a parrot.", "The mill burned in March."):
        note = {"soul": soul, "kind": "note", "text": text, "importance": 0.5}
        world.sidecar.ask("POST", "/memories", note)

    pushed: list[str] = []
    for line in ("Mm.", "Well, well.", "So it goes.", "Ah.", "Let us walk."):
        prompt = page.send(line)
        recall = page.last_recall or {"memories": []}
        pushed = [m["text"] for m in recall["memories"] if m["pushed"]]
        if pushed:
            break
    (text,) = pushed
    assert prompt.recalled(text) == 1
    tab.locator("#chat .last_mes .soulmem_recalled_button").click()
    item = tab.locator(".soulmem_recalled_item", has_text=text)
    item.wait_for()
    assert "came by itself" in item.inner_text()
    page.screenshot("pushed")
