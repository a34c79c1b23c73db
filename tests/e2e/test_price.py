"""An imported chat is processed only after the user accepted the price, and word by word."""

from __future__ import annotations

import re

import pytest

from .child import PATIENCE, ask, until
from .conftest import World
from .stories import Line, chat

pytestmark = pytest.mark.slow

_LINE = re.compile(r'^(?:\[\d+\] )?(?:Mira|Alice)(?:: "|: )(.*?)"?$', re.MULTILINE)
# What SillyTavern fills in, runs or takes away where it is not kept from it.
MARKS = (
    "<user>", "<BOT>", "<charIfNotGroup>", "{{user}}", "{{setvar::price::paid}}", r"\{\{char\}\}",
    "<% evil() %>", "<think>no</think>", "[*]", "{{trim}}", "{{// gone}}", "%%[x]%%",
)  # fmt: skip


def lines(messages: int) -> list[Line]:
    """A chat of so many messages in which each holds one of the marks and is told from all others."""
    exchanges = [
        (f"On day {n} I carried {n} stones to the tower {MARKS[n % len(MARKS)]} at noon.",
         f"I counted {n} of them {MARKS[(n + 5) % len(MARKS)]} before dusk.")
        for n in range(messages // 2)
    ]  # fmt: skip
    return chat("Mira", exchanges)


def as_told(text: str) -> list[str]:
    """How a message may be told: its mark as it is, left out, or with the name that it stands for."""
    mark = next(mark for mark in MARKS if mark in text)
    told = (text.replace(mark, word) for word in (mark, "", "Alice", "Mira"))
    return [" ".join(words.split()) for words in told]


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
    avatar = world.data.add_character(
        key, "Mira", first="Hello.", lines=chat("Mira", [])
    )
    old = lines(messages)
    world.data.add_chat(key, "old", old)
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
        timeout=90_000
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
    tab.locator("#soulmem_tab_work").click()
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

    # What each prompt tells of the chat is what stands in the chat.
    chat_lines = {told for line in old for told in as_told(line.text)}
    assert len(llm.work) >= due
    damaged = []
    for number, prompt in enumerate(llm.work):
        quoted = _LINE.findall(str(prompt.messages[1]["content"]))
        # The engine's own templates keep a line from opening a tag of theirs.
        strange = [
            text
            for text in quoted
            if " ".join(text.replace("\u2039", "<").split()) not in chat_lines
        ]
        if not quoted or strange:
            damaged.append((number, strange[:3]))
    sidecar.take_back(binned)
    assert damaged == [], (
        f"{len(damaged)} of {len(llm.work)} prompts are not as they were sent"
    )
    print(
        f"{len(llm.work)} of {len(llm.work)} prompts arrived undamaged; {due} calls were due"
    )
