"""The messages that a memory comes from."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone

import pytest

from soulmem.domain.ids import ChatId
from soulmem.domain.memories import MemoryKind, Place
from soulmem.engine.views import provenance
from soulmem.engine.views.provenance import (
    concepts_named,
    source_places,
    texts_with_term,
)
from tests.engine.model_stage import ModelStage, talk
from tests.engine.stage import ME, Stage, line, lines

TEXTS = ("Ask Kaelith.", "Where is Kaelith?", "Well.", "Good night.")


async def slots_of(stage: Stage, text: str, first: str | None = None) -> list[str]:
    """Chat and slot of each source of the memory with this text."""
    mind = await stage.mind()
    (memory,) = [m for m in mind.memories.values() if m.text == text]
    chat = ChatId(first) if first else None
    places = await asyncio.to_thread(source_places, mind, memory, chat)
    assert all(isinstance(place, Place) for place in places)
    return [f"{place.chat} {place.slot}" for place in places]


async def test_an_episode_comes_from_its_message_in_each_chat_the_wanted_one_first(
    stage: Stage,
) -> None:
    await stage.soul()
    await stage.sync("a", lines(4))
    await stage.sync("b", lines(5), parent=("a", "m4"))
    assert await slots_of(stage, "Mira: text of m2", "b") == ["b m2", "a m2"]
    assert await slots_of(stage, "Mira: text of m2", "a") == ["a m2", "b m2"]
    await stage.note("by hand")
    assert await slots_of(stage, "by hand") == []


async def test_a_learned_name_comes_from_the_messages_with_it(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("a", [line(f"k{i}", text) for i, text in enumerate(TEXTS)])
    assert await slots_of(stage, "Kaelith") == ["a k0", "a k1"]


async def test_of_a_name_in_very_many_messages_the_first_are_told(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = datetime(2026, 5, 1, tzinfo=timezone.utc)
    said = [
        line(f"k{i}", f"Kaelith said {i}.", sent_at=start + timedelta(minutes=i)) for i in range(5)
    ]
    await stage.sync("a", said)
    whole = await slots_of(stage, "Kaelith")
    monkeypatch.setattr(provenance, "_MOST", 2)
    assert await slots_of(stage, "Kaelith") == whole[:2] == ["a k0", "a k1"]


async def test_a_draft_comes_from_the_messages_that_it_cites() -> None:
    stage = ModelStage()
    await stage.start()
    await stage.soul()
    await stage.sync("a", talk(30))
    await stage.rest()
    episodes = [m for m in await stage.drafted() if m.kind is MemoryKind.EPISODE]
    assert episodes
    for episode in episodes:
        word = episode.text.split()[-1].strip(".")
        assert await slots_of(stage, episode.text) == [f"a m{word[4:]}"]
    await stage.sync("b", talk(30), parent=("a", "m30"))
    places = await slots_of(stage, episodes[0].text, "b")
    assert [place.split()[0] for place in places] == ["b", "a"]
    await stage.stop()


async def test_only_texts_and_concepts_in_use_count(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("a", [line(f"k{i}", text) for i, text in enumerate(TEXTS)])
    own = (await stage.note("Harbour", kind=MemoryKind.CONCEPT)).memory.id
    mind = await stage.mind()
    texts = await asyncio.to_thread(texts_with_term, mind, "Kaelith")
    assert [mind.memories[key].text for key in texts] == [
        "Al: Ask Kaelith.",
        "Al: Where is Kaelith?",
    ]
    assert await asyncio.to_thread(texts_with_term, mind, "nobody") == []
    assert await asyncio.to_thread(concepts_named, mind, "Harbour") == [own]
    assert await asyncio.to_thread(concepts_named, mind, "harbour") == []
    await stage.engine.memories.delete(ME, own, None)
    assert await asyncio.to_thread(concepts_named, mind, "Harbour") == []
