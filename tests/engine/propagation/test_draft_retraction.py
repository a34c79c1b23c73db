"""Drafts go with the messages that they were made of, and the user's do not."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory, MemoryState
from soulmem.engine.api.requests import MemoryPatch
from tests.engine.model_stage import ModelStage, talk
from tests.engine.stage import ME


@pytest.fixture
async def stage() -> AsyncIterator[ModelStage]:
    """A soul whose chat was consolidated."""
    fresh_stage = ModelStage()
    await fresh_stage.start()
    await fresh_stage.soul()
    await fresh_stage.sync("c", talk(30))
    await fresh_stage.rest()
    assert await fresh_stage.drafted()
    yield fresh_stage
    await fresh_stage.stop()


async def change(stage: ModelStage, key: str, patch: MemoryPatch) -> None:
    await stage.engine.memories.patch(ME, MemoryId(key), patch)


def keys(memories: list[Memory]) -> set[str]:
    return {memory.id for memory in memories}


async def test_without_one_of_its_messages_a_draft_is_deleted_unless_it_is_protected(
    stage: ModelStage,
) -> None:
    drafts = await stage.drafted()
    permanent, locked, *others = [memory.id for memory in drafts]
    await change(stage, permanent, MemoryPatch(permanent=True))
    await change(stage, locked, MemoryPatch(locked=True))
    mind = await stage.mind()
    edges = {
        key
        for key in mind.edges
        if mind.edges.existing(key).target in others and mind.edges.existing(key).source in others
    }
    await stage.sync("c", talk(30)[1:])
    mind = await stage.mind()
    left = {key for key in (permanent, locked, *others) if key in mind.memories}
    assert left == {permanent, locked}
    assert not any(key in mind.edges for key in edges)
    assert len(mind.derivations) == 0


async def test_a_message_that_no_draft_was_made_of_takes_none_along(
    stage: ModelStage,
) -> None:
    before = keys(await stage.drafted())
    await stage.sync("c", talk(29))
    assert keys(await stage.drafted()) == before


async def test_drafts_go_into_the_bin_with_their_chat_and_come_back_with_it(
    stage: ModelStage,
) -> None:
    before = keys(await stage.drafted())
    await stage.engine.chats.delete(ME, ChatId("c"))
    assert await stage.drafted() == []
    assert keys(await stage.drafted(MemoryState.RETRACTED)) == before
    await stage.sync("c", talk(30))
    assert keys(await stage.drafted()) == before
    assert await stage.drafted(MemoryState.RETRACTED) == []


async def test_drafts_stay_while_another_chat_tells_their_messages(
    stage: ModelStage,
) -> None:
    before = keys(await stage.drafted())
    await stage.sync("branch", talk(31), parent=("c", "m30"))
    await stage.engine.chats.delete(ME, ChatId("c"))
    assert keys(await stage.drafted()) == before
