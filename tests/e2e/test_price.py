"""An imported chat is processed only after the user accepted the price, and word by word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

import pytest

from .child import PATIENCE, ask, until
from .conftest import World
from .memory_window import press_tab
from .stories import Exchange, chat

pytestmark = pytest.mark.slow("a page of SillyTavern")

_LINE = re.compile(r'^(?:\[\d+\] )?(?:Mira|Alice)(?:: "|: )(.*?)"?$', re.MULTILINE)
# What SillyTavern fills in, runs or takes away where it is not kept from it, and what the sidecar reads there.
MARKS = {
    "<user>": "Alice",
    "<BOT>": "Mira",
    "<charIfNotGroup>": "Mira",
    "{{user}}": "Alice",
    "{{setvar::price::paid}}": "",
    r"\{\{char\}\}": r"\{\{char\}\}",
    r"\{\{setvar::price::paid\}\}": r"\{\{setvar::price::paid\}\}",
    "&lt;user&gt;": "<user>",
    "<% evil() %>": "",
    "<think>no</think>": "",
    "[*]": "[*]",
    "{{trim}}": "",
    "{{// gone}}": "",
    "%%[x]%%": "%%[x]%%",
}


def exchanges(messages: int, marks: Sequence[str]) -> list[Exchange]:
    """So many messages in which each holds one of the marks and is told from all others."""

    def said(words: str, number: int, end: str) -> str:
        return " ".join(filter(None, (words, marks[number % len(marks)], end)))

    return [
        (
            said(f"On day {n} I carried {n} stones to the tower", n, "at noon."),
            said(f"I counted {n} of them", n + 5, "before dusk."),
        )
        for n in range(messages // 2)
    ]


@pytest.mark.timeout(500 * PATIENCE, func_only=True)
@pytest.mark.parametrize(
    ("messages", "calls"),
    [(300, 9), pytest.param(2_000, 60, marks=pytest.mark.nightly)],
    ids=["short", "long"],
)
def test_nothing_is_spent_on_an_imported_chat_before_its_price_is_accepted(
    world: World, messages: int, calls: int
) -> None:
    page, tab, llm, sidecar = world.page, world.page.tab, world.llm, world.sidecar
    key = f"priced_{messages}"
    avatar = world.data.add_character(key, "Mira", first="Hello.", lines=chat("Mira", []))
    old = exchanges(messages, list(MARKS))
    world.data.add_chat(key, "old", chat("Mira", old))
    page.load()
    page.wait_for_dot("ok")
    page.open_character(avatar)
    page.sync()
    soul = page.soulmem["soul"]
    page.open_drawer()
    tab.locator("#soulmem_import").click()
    tab.locator("#soulmem_quote").wait_for()
    page.screenshot("price-import-en")
    tab.locator("dialog:has(#soulmem_quote) .popup-button-ok").click()
    tab.locator("#soulmem_import_text", has_text="Imported for Mira").wait_for(
        timeout=90_000 * PATIENCE
    )
    sidecar.until_searchable()

    # Idle work goes over all souls: those of other tests are put away, so that each call is of this chat.
    binned = sidecar.bin_all_but(soul)

    # Left alone for a day, with the connection at hand: not one call.
    for _ in range(3):
        ask(f"{sidecar.url}/test/idle", "POST", {}, 150.0)
        sidecar.ask("POST", "/test/clock", {"advance_seconds": 8 * 3600})
    page.sync()
    assert llm.work == []
    due = sidecar.ask("GET", f"/ledger?soul={soul}")["due"]["calls"]
    assert due > calls

    tab.locator("#soulmem_browse").click()
    press_tab(tab, "work")
    tab.locator("#soulmem_run_now").click()
    assert f"model: {due}" in tab.locator("#soulmem_price").inner_text()
    page.screenshot("price-asked-en")
    assert llm.work == []
    tab.locator("dialog:has(#soulmem_price) .popup-button-ok").click()
    until(
        lambda: sidecar.ask("GET", f"/ledger?soul={soul}")["due"]["calls"] == 0,
        300,
        "the run paid for",
    )

    # What each prompt tells of the chat is what the sidecar reads in it.
    read = set(chain.from_iterable(exchanges(messages, list(MARKS.values()))))
    assert len(llm.work) >= due
    damaged = []
    for number, prompt in enumerate(llm.work):
        quoted = _LINE.findall(str(prompt.messages[1]["content"]))
        # The engine's own templates keep a line from opening a tag of theirs.
        strange = [text for text in quoted if text.replace("\u2039", "<") not in read]
        if not quoted or strange:
            damaged.append((number, strange[:3]))
    sidecar.take_back(binned)
    assert damaged == [], f"{len(damaged)} of {len(llm.work)} prompts are not as they were sent"
    print(f"{len(llm.work)} of {len(llm.work)} prompts arrived undamaged; {due} calls were due")
