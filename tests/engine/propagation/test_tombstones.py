"""Which binned memories must stay in the bin because they would come back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from soulmem.domain.ids import SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.domain.situation import ConceptDetail
from soulmem.domain.soul import KnownName
from soulmem.engine.api.requests import MemoryPatch
from soulmem.engine.propagation.tombstones import recreated_if_purged
from tests.engine.stage import ME, Stage, line, lines


async def binned(stage: Stage) -> list[Memory]:
    return await stage.listed(MemoryState.BIN)


async def recreated(stage: Stage, memories: Iterable[Memory]) -> list[str]:
    """Texts of the memories that would come back."""
    chosen = list(memories)
    keys = await asyncio.to_thread(recreated_if_purged, await stage.mind(), chosen)
    return sorted(memory.text for memory in chosen if memory.id in keys)


async def bin_text(stage: Stage, text: str) -> None:
    """Put the memory with this text into the bin."""
    names = (await stage.mind()).names.concepts()
    keys = [memory.id for memory in names if memory.text == text]
    key = keys[0] if keys else await stage.find(text)
    await stage.engine.memories.delete(ME, key, None)


async def test_what_a_chat_says_comes_back_and_what_the_user_wrote_does_not(
    stage: Stage,
) -> None:
    await stage.soul()
    await stage.sync("c1", lines(4))
    await stage.note("The key is lost.")
    await bin_text(stage, "Mira: text of m2")
    await bin_text(stage, "The key is lost.")
    memories = await binned(stage)
    assert len(memories) == 2
    assert await recreated(stage, memories) == ["Mira: text of m2"]
    assert await recreated(stage, []) == []


async def test_names_of_card_and_messages_come_back_and_a_name_of_the_user_does_not(
    stage: Stage,
) -> None:
    await stage.soul()
    texts = ("Ask Kaelith.", "Where is Kaelith?", "Well.")
    await stage.sync("c1", [line(f"k{i}", text) for i, text in enumerate(texts)])
    card = (KnownName("Tovan", ("Tov",)),)
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", card, None)
    await stage.note("Harbour", kind=MemoryKind.CONCEPT)
    for text in ("Kaelith", "Tovan", "Harbour"):
        await bin_text(stage, text)
    assert await recreated(stage, await binned(stage)) == ["Kaelith", "Tovan"]
    mind = await stage.mind()
    assert len(mind.names.concepts()) == 3, "the question changes nothing"


async def test_a_concept_of_the_user_does_not_come_back_when_the_card_has_its_own_again(
    stage: Stage,
) -> None:
    await stage.soul()
    card = (KnownName("Tovan"),)
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", card, None)
    other = await stage.note("The Smith", kind=MemoryKind.CONCEPT)
    await stage.engine.memories.patch(
        ME, other.memory.id, MemoryPatch(concept=ConceptDetail(aliases=("tovan",)))
    )
    await bin_text(stage, "The Smith")
    assert [memory.text for memory in await binned(stage)] == ["The Smith"]
    assert await recreated(stage, await binned(stage)) == []
