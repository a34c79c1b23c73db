"""What kept replies recalled together is linked in Idle, and not what came together once."""

from __future__ import annotations

from typing import Any

import pytest

from soulmem.consolidation.rehearsal import RehearsalParams
from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, SlotId, SoulId
from soulmem.engine.consolidation import linking
from tests.engine.stage import ME, Stage, line

NAMES = [
    "Anna",
    "Boris",
    "Clara",
    "Dario",
    "Edith",
    "Felix",
    "Greta",
    "Hugo",
    "Irma",
    "Jonas",
    "Karla",
    "Lukas",
]


class RepliedChat:
    """A chat whose replies are recalled for and kept."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._lines: list[SentMessage] = []

    async def reply(self, query: str, **more: Any) -> frozenset[MemoryId]:
        """Recall for a reply that is kept; the memories that came."""
        number = len(self._lines)
        self._lines.append(line(f"u{number}", f"Hm, {number}."))
        await self._stage.sync("c", self._lines)
        slot = SlotId(f"r{number}")
        answer = await self._stage.recall(query, "c", slot=slot, swipe=0, **more)
        self._lines.append(line(slot, f"Yes, {number}.", Role.CHARACTER))
        self._lines.append(line(f"n{number}", f"Well, {number}."))
        await self._stage.sync("c", self._lines)
        return frozenset(memory.id for memory in answer.memories)


async def links(stage: Stage) -> set[frozenset[MemoryId]]:
    """The pairs that are linked."""
    edges = (await stage.store.graph(ME, SoulId("s1"))).edges
    kept = [edge for edge in edges if edge.kind is EdgeKind.ASSOCIATES]
    assert all(0.05 < edge.strength <= 0.15 for edge in kept)
    return {frozenset((edge.source, edge.target)) for edge in kept}


async def test_what_came_together_twice_is_linked_once_and_what_came_once_is_not(
    stage: Stage,
) -> None:
    await stage.soul(forgetting=0.0)
    for text in ("Anna mends harps.", "The cellar hides tar.", "Boris eats figs."):
        await stage.note(text)
    chat = RepliedChat(stage)
    pair = await chat.reply("Anna, harps, cellar, tar?", max_items=2)
    assert len(pair) == 2
    await chat.reply("Boris, figs, Anna, harps?", max_items=2)
    await stage.engine.idle.run()
    assert await links(stage) == set()

    assert await chat.reply("Anna, harps, cellar, tar?", max_items=2) == pair
    await stage.engine.idle.run()
    assert await links(stage) == {pair}
    entries = await stage.engine.history.audit(ME, SoulId("s1"), None, 50, None)
    assert "recalled together" in [entry.reason for entry in entries.entries]
    await stage.engine.idle.run()
    assert await links(stage) == {pair}


async def test_what_came_together_in_six_replies_brings_the_other(stage: Stage) -> None:
    """The link is made after all of them, and is as strong as if it had grown with each."""
    await stage.soul(forgetting=0.0)
    for text in ("Anna mends harps.", "The cellar hides tar."):
        await stage.note(text)
    for number in range(12):
        await stage.note(f"Barrel number{number} holds salted fish{number}.")

    async def told() -> set[str]:
        answer = await stage.recall("Who mends harps? Is it Anna?", restraint=1.0)
        return {memory.text for memory in answer.memories}

    assert await told() == {"Anna mends harps."}
    chat = RepliedChat(stage)
    for _ in range(6):
        assert len(await chat.reply("Anna, harps, cellar, tar?", max_items=2)) == 2
    await stage.engine.idle.run()
    assert await told() == {"Anna mends harps.", "The cellar hides tar."}


async def test_one_idle_makes_thirty_links_at_most(stage: Stage) -> None:
    await stage.soul(forgetting=0.0)
    for name in NAMES:
        await stage.note(f"{name} mends harps.")
    chat = RepliedChat(stage)
    for _ in range(2):
        came = await chat.reply(", ".join(NAMES), max_items=12, budget_tokens=4000)
        assert len(came) == 12
    await stage.engine.idle.run()

    assert len(await links(stage)) == 30


async def test_an_old_recall_links_nothing(stage: Stage) -> None:
    await stage.soul(forgetting=0.0)
    for text in ("Anna mends harps.", "The cellar hides tar."):
        await stage.note(text)
    chat = RepliedChat(stage)
    await chat.reply("Anna, harps, cellar, tar?", max_items=2)
    await stage.engine.idle.run()  # teaches what was recalled
    stage.clock.advance(60, 400)
    await chat.reply("Anna, harps, cellar, tar?", max_items=2)
    await stage.engine.idle.run()

    assert await links(stage) == set()


async def test_the_worthiest_of_what_was_recalled_are_gone_over(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By importance, recalls and recency; what is beyond the size of a replay waits."""
    await stage.soul(forgetting=0.0)
    for number, name in enumerate(NAMES[:6]):
        weight = 0.9 if number in (1, 4) else 0.2
        await stage.note(f"{name} mends harps.", importance=weight)
    chat = RepliedChat(stage)
    for _ in range(2):
        await chat.reply(", ".join(NAMES[:6]), max_items=12, budget_tokens=4000)
    monkeypatch.setattr(linking, "_REHEARSAL", RehearsalParams(memories=2))
    await stage.engine.idle.run()

    worthy = {await stage.find(f"{NAMES[number]} mends harps.") for number in (1, 4)}
    assert await links(stage) == {frozenset(worthy)}


async def test_a_round_says_what_it_linked_and_is_undone_as_one(stage: Stage) -> None:
    await stage.soul(forgetting=0.0)
    for name in NAMES[:4]:
        await stage.note(f"{name} mends harps.")
    chat = RepliedChat(stage)
    for _ in range(2):
        await chat.reply(", ".join(NAMES[:4]), max_items=12, budget_tokens=4000)
    await stage.engine.idle.run()
    made = await links(stage)
    assert len(made) == 6

    page = await stage.engine.history.audit(ME, SoulId("s1"), None, 50, None)
    told = [e for e in page.entries if e.reason == "recalled together"]
    edges = [edge for entry in told for edge in (entry.after or {})["edges"]]
    assert len(set(edges)) == len(made)
    (source,) = {entry.source for entry in told}
    assert source.startswith("idle-")
    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=None, job=source)
    assert await links(stage) == set()
    await stage.engine.idle.run()
    assert await links(stage) == set()  # until further replies recall them together
