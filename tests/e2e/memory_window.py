"""The memory window as scenarios use it, and the sizes of screens it is looked at on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import quote

from .child import until
from .small_talk import small_talk
from .stories import Exchange, Fact, chat

if TYPE_CHECKING:
    from .conftest import World

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1400, "height": 900}
# What sticks out of the window sideways, and so cannot be read or pressed.
TOO_WIDE = """() => {
    const page = document.querySelector('#soulmem_browser');
    const edge = page.getBoundingClientRect().right + 1;
    const out = [...page.querySelectorAll('*')].filter(one => one.getBoundingClientRect().right > edge);
    return out.filter(one => !one.closest('.soulmem_tabs')).map(one => one.outerHTML.slice(0, 120));
}"""

# How many animations that come to an end still run in the window.
MOVING = """() => document.querySelector('#soulmem_browser').getAnimations({ subtree: true }).filter(
    one => one.playState === 'running' && Number.isFinite(one.effect.getComputedTiming().endTime)).length"""

# The page of the window above each part that is not the first of its page.
_ABOVE = {
    "habits": "tab_her",
    "fading": "tab_her",
    "heart": "tab_people",
    "graph": "tab_people",
    **dict.fromkeys(("bin", "changes", "work", "check", "waiting", "settings"), "gear"),
}


def show_tab(tab: Any, page: str) -> None:
    """Turn the open window to the page that has the tab of a part."""
    if page in _ABOVE and not tab.locator(f"#soulmem_tab_{page}").is_visible():
        tab.locator(f"#soulmem_{_ABOVE[page]}").click()


def press_tab(tab: Any, page: str) -> None:
    """Turn the open window to a page, or to a part of one."""
    show_tab(tab, page)
    tab.locator(f"#soulmem_tab_{page}").click()


class MemoryWindow:
    """The window of all memories, and the soul whose they are."""

    def __init__(self, world: World) -> None:
        self.world, self.page, self.tab = world, world.page, world.page.tab
        self.soul = ""

    def enter(self, key: str, name: str, language: str, *facts: Fact) -> None:
        """Open a chat of some forty messages in which `facts` were told."""
        exchanges = [fact.exchange for fact in facts]
        self.enter_chat(key, name, language, [*exchanges, *small_talk(language, 18)])

    def enter_chat(self, key: str, name: str, language: str, exchanges: Sequence[Exchange]) -> None:
        """Open a chat of these exchanges, once the sidecar has read it."""
        lines = chat(name, exchanges)
        avatar = self.world.data.add_character(key, name, first="Hello.", lines=lines)
        self.page.load("zh-cn" if language == "zh" else "en")
        self.page.wait_for_dot("ok")
        self.page.open_character(avatar)
        self.page.sync()
        self.soul = self.page.soulmem["soul"]

    def open(self, shot: str | None = None) -> None:
        """Open the window from the drawer, of which `shot` is a picture."""
        self.page.open_drawer()
        if shot is not None:
            self.page.screenshot(shot)
        self.tab.locator("#soulmem_browse").click()
        self.tab.locator("#soulmem_tab_memories").click()
        self.tab.locator("#soulmem_browser .soulmem_block").first.wait_for()

    def unfold_filters(self) -> None:
        """They lie behind one button."""
        if not self.tab.locator("#soulmem_sort").is_visible():
            self.tab.locator("#soulmem_filters_open").click()

    def find(self, words: str) -> Any:
        """Search, and return the first memory that holds `words`."""
        self.tab.fill("#soulmem_search", words)
        item = self.tab.locator(".soulmem_item", has_text=words).first
        item.wait_for()
        return item

    def show(self, words: str) -> str:
        """Open the memory that holds `words`; returns its id."""
        item = self.find(words)
        key = str(item.get_attribute("data-memory"))
        item.locator(".soulmem_press").click()
        self.tab.locator(f'.soulmem_memory[data-memory="{key}"]').wait_for()
        return key

    def turn_to(self, page: str) -> Any:
        press_tab(self.tab, page)
        shown = self.tab.locator(f'#soulmem_browser [data-page="{page}"]')
        shown.locator("*").first.wait_for()
        return shown

    def settle(self) -> None:
        """Wait until the window reads nothing any more, and nothing in it moves."""
        working = self.tab.locator('#soulmem_browser[aria-busy="true"]')
        until(lambda: not working.count(), 20, "the window")
        until(lambda: not self.tab.evaluate(MOVING), 20, "what slides in")

    def type_into_popup(self, text: str) -> None:
        """Answer the question on the screen, and wait until it is gone: another may follow."""
        field = self.tab.wait_for_selector(
            "dialog.popup[open]:not([closing]) textarea.popup-input:visible"
        )
        assert field is not None
        field.fill(text)
        self.page.say_yes()
        field.wait_for_element_state("hidden")

    def stored(self, memory: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.world.sidecar.ask("GET", f"/memories/{memory}")
        return answer

    def state(self, memory: str) -> str | None:
        """As stored; None when it is gone for good."""
        try:
            return str(self.stored(memory)["state"])
        except HTTPError as error:
            if error.code != 404:
                raise
            return None

    def note(self, text: str) -> str:
        """A note by the user's hand."""
        body = {"soul": self.soul, "kind": "note", "text": text}
        return str(self.world.sidecar.ask("POST", "/memories", body)["id"])

    def episode(self, word: str) -> str:
        """A scene in which `word` stands."""
        path = f"/memories?soul={self.soul}&q={quote(word)}&kind=episode&match=exact"
        return str(self.world.sidecar.ask("GET", path)["memories"][0]["id"])

    def import_world(self, key: str, content: str) -> str:
        """As the import button does; returns the memory it made."""
        world = {"entries": {"0": {"uid": 0, "key": [key], "comment": key, "content": content}}}
        body = {
            "soul": self.soul,
            "format": "world_info",
            "name": "Isles",
            "text": json.dumps(world),
        }
        job = self.world.sidecar.ask("POST", "/import", body | {"dry_run": False})["job"]
        until(
            lambda: self.world.sidecar.ask("GET", f"/jobs/{job}")["state"] == "done",
            20,
            "the import",
        )
        path = f"/memories?soul={self.soul}&q=lighthouses&match=exact"
        return str(self.world.sidecar.ask("GET", path)["memories"][0]["id"])

    def tool(self, name: str, **arguments: str) -> Any:
        """As a language model would."""
        body = {"soul": self.soul, "actor": "archivist", "arguments": arguments}
        return self.world.sidecar.ask("POST", f"/tools/{name}", body)["result"]

    def press(self, selector: str) -> None:
        self.tab.locator(f"#soulmem_browser {selector}").first.click()
