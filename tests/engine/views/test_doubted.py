"""What was called wrong is recalled by nothing, until it says something else or the user takes it back."""

from __future__ import annotations

from typing import Any

import pytest

from soulmem.domain.audit import Actor
from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import Conflict
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.opinions import Verdict
from soulmem.engine.api.requests import MemoryFilter, MemoryPatch, NewEdge, RecallMode
from tests.engine.stage import ME, Stage, line, lines

CUE = "Where is the brass key?"


async def recalled_ids(
    stage: Stage, memory: str, query: str = CUE, chat: str | None = None, **more: Any
) -> bool:
    return memory in {
        recalled.id for recalled in (await stage.recall(query, chat, **more)).memories
    }


async def judge(
    stage: Stage,
    memory: str,
    verdict: Verdict,
    chat: str | None = None,
    query: str = CUE,
) -> tuple[str, str]:
    """The trace it was said of, and the change it made."""
    trace = (await stage.recall(query, chat)).trace
    return trace, (await stage.engine.feedback.give(ME, trace, MemoryId(memory), verdict)).change


async def note(stage: Stage, **more: Any) -> str:
    """A memory that answers the cue, among others."""
    for n in range(5):
        await stage.note(f"otters, part {n}")
    return (await stage.note("The brass key is in the well.", **more)).memory.id


@pytest.mark.parametrize("more", [{}, {"permanent": True}, {"kind": MemoryKind.EPISODE}])
async def test_what_is_wrong_comes_up_in_no_mode_and_says_so(
    stage: Stage, more: dict[str, Any]
) -> None:
    await stage.soul()
    key = await note(stage, **more)
    assert not (before := await stage.engine.memories.get(ME, MemoryId(key))).in_doubt
    await judge(stage, key, Verdict.WRONG)

    for life in range(2):
        for mode in RecallMode:
            assert not await recalled_ids(stage, key, mode=mode), (life, mode)
        doubted_view = await stage.engine.memories.get(ME, MemoryId(key))
        assert doubted_view.in_doubt
        assert doubted_view.feedback < before.feedback
        page = await stage.engine.memories.list(ME, MemoryFilter(SoulId("s1"), limit=100))
        assert [view.memory.id for view in page.memories if view.in_doubt] == [key]
        await stage.restart()


async def test_praise_of_it_takes_the_doubt_away(stage: Stage) -> None:
    await stage.soul()
    key = await note(stage)
    trace, _ = await judge(stage, key, Verdict.WRONG)
    await stage.engine.feedback.give(ME, trace, MemoryId(key), Verdict.STRONGER)
    assert await recalled_ids(stage, key)


async def test_undoing_the_word_takes_the_doubt_away(stage: Stage) -> None:
    await stage.soul()
    key = await note(stage)
    _, change = await judge(stage, key, Verdict.WRONG)
    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=change, job=None)
    assert await recalled_ids(stage, key)
    await stage.restart()
    assert await recalled_ids(stage, key)


async def test_another_text_by_hand_takes_the_doubt_away(stage: Stage) -> None:
    await stage.soul()
    key = await note(stage)
    await judge(stage, key, Verdict.WRONG)
    await stage.engine.memories.patch(ME, MemoryId(key), MemoryPatch(tags=("keys",)))
    assert not await recalled_ids(stage, key)
    patched = await stage.engine.memories.patch(
        ME, MemoryId(key), MemoryPatch(text="The brass key is in the barn.")
    )
    assert not patched.in_doubt
    assert await recalled_ids(stage, key)
    await stage.restart()
    assert await recalled_ids(stage, key)


async def test_the_user_says_so_by_hand(stage: Stage) -> None:
    await stage.soul()
    key = await note(stage)
    await judge(stage, key, Verdict.WRONG)
    score = (await stage.engine.memories.get(ME, MemoryId(key))).feedback
    with pytest.raises(Conflict):
        await stage.engine.memories.patch(
            ME, MemoryId(key), MemoryPatch(in_doubt=False, revision=77)
        )
    assert not await recalled_ids(stage, key)
    view = await stage.engine.memories.patch(ME, MemoryId(key), MemoryPatch(in_doubt=False))
    assert (view.in_doubt, view.feedback) == (False, score)
    entry = (await stage.engine.history.audit(ME, SoulId("s1"), None, 1, None)).entries[0]
    assert entry.target == key
    assert entry.after is not None
    assert entry.after["opinion"]["doubted"] is None
    await stage.restart()
    assert await recalled_ids(stage, key)


async def test_an_edited_message_is_not_in_doubt(stage: Stage) -> None:
    await stage.soul()
    messages = [line("m1", "The brass key is in the well."), *lines(4, start=2)]
    await stage.sync("c1", messages)
    key = await stage.find("Al: The brass key is in the well.")
    await judge(stage, key, Verdict.WRONG, "c1")
    assert not await recalled_ids(stage, key, chat="c1")
    await stage.sync("c1", [line("m1", "The brass key is in the barn."), *messages[1:]])
    assert await recalled_ids(
        stage, await stage.find("Al: The brass key is in the barn."), chat="c1"
    )
    await stage.sync("c1", messages)
    assert not await recalled_ids(
        stage, await stage.find("Al: The brass key is in the well."), chat="c1"
    )


async def test_a_fact_in_doubt_is_not_told(stage: Stage) -> None:
    await stage.soul()
    well = (await stage.note("Vellmar", kind=MemoryKind.CONCEPT)).memory.id
    edge = NewEdge(EdgeKind.RELATES, to=well, verb="was born in")
    await stage.note("Greta", kind=MemoryKind.CONCEPT, edges=(edge,))
    cue = "Where was Greta born?"
    (fact,) = [memory.id for memory in (await stage.recall(cue)).memories if memory.kind == "fact"]
    _, change = await judge(stage, fact, Verdict.WRONG, query=cue)
    assert not await recalled_ids(stage, fact, cue)
    await stage.restart()
    assert not await recalled_ids(stage, fact, cue)
    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=change, job=None)
    assert await recalled_ids(stage, fact, cue)


async def test_no_digest_quotes_it(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", [line("m1", "The brass key is in the well."), *lines(4, start=2)])
    key = await stage.find("Al: The brass key is in the well.")

    async def quoted() -> list[str]:
        tools, period = stage.engine.tools, {"period": "day"}
        made = await tools.call(ME, "archive_memories", "s1", Actor.ARCHIVIST, period)
        mind = await stage.mind()
        keys: list[str] = []
        for digest in made["digests"]:
            keys += mind.derivations.cited(digest)
        return keys

    assert key in await quoted()
    await judge(stage, key, Verdict.WRONG, "c1")
    assert key not in await quoted()
