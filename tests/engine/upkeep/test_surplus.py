"""A soul keeps so many messages: beyond, those of least weight leave, and nothing that is protected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from soulmem.domain.audit import Action
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.soul import SoulSettings
from soulmem.engine.api.requests import MemoryPatch, NewMemory
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.propagation.sequence import with_ends
from soulmem.engine.upkeep import forgetting
from tests.engine.stage import ME, Stage, line, lines
from tests.engine.upkeep.test_forgetting import SOUL, state

KEEP = 100
_DAY = 86_400  # seconds
VOW = "I promise I'll pay you back."


async def lived(stage: Stage, count: int, **settings: Any) -> None:
    """A soul that keeps 100 messages has read so many, and a vow first, on a day that is over."""
    await stage.soul(keep=KEEP, **settings)
    messages = [line("vow", VOW), *lines(count - 2, start=2)]
    for start in range(0, count, 50):
        await stage.sync("c1", [*messages[: start + 50], line("end", "Hm.")])
    await stage.engine.embedding.wait_pending()
    stage.clock.advance(_DAY)
    await stage.engine.idle.run()


async def present(stage: Stage) -> list[Memory]:
    """Messages that are searched."""
    memories = (await stage.mind()).memories.values()
    return [m for m in memories if m.kind is MemoryKind.EPISODE and m.is_searched]


async def test_so_many_messages_stay_as_the_soul_keeps(stage: Stage) -> None:
    await lived(stage, 160)
    assert len(await present(stage)) == KEEP
    binned = await stage.listed(MemoryState.BIN)
    assert len(binned) == 60
    await stage.engine.idle.run()
    assert len(await present(stage)) == KEEP


async def test_nothing_leaves_before_a_digest_tells_its_day(stage: Stage) -> None:
    await stage.soul(keep=KEEP)
    await stage.sync("c1", [*lines(160), line("end", "Hm.")])
    await stage.engine.idle.run()
    assert len(await present(stage)) == 160
    stage.clock.advance(_DAY)
    await stage.engine.idle.run()
    assert len(await present(stage)) == KEEP


async def test_a_day_whose_digest_was_thrown_away_stays(stage: Stage) -> None:
    await stage.soul(keep=1000)
    await stage.sync("c1", [*lines(160), line("end", "Hm.")])
    stage.clock.advance(_DAY)
    await stage.engine.idle.run()
    for digest in await stage.listed(kind=MemoryKind.DIGEST):
        await stage.engine.memories.delete(ME, digest.id, None)
    await stage.soul(keep=KEEP)
    await stage.engine.idle.run()
    assert len(await present(stage)) == 161


async def test_of_what_weighs_the_same_the_oldest_leaves(stage: Stage) -> None:
    await lived(stage, 160)
    stayed = {m.text for m in await present(stage)}
    assert "Al: text of m159" in stayed
    assert "Mira: text of m2" not in stayed


async def test_a_vow_never_leaves() -> None:
    stage = Stage(judges_lines=True)
    await stage.start()
    await lived(stage, 160)
    vow = await stage.find(f"Al: {VOW}")
    mind = await stage.mind()
    importance = mind.line_kinds.importance_of(mind.memories[vow])
    left = [key for key in mind.memories if mind.memories[key].is_binned]
    await stage.stop()
    assert importance >= 0.6
    assert len(left) == 60
    assert vow not in left


async def test_the_history_says_why_it_left(stage: Stage) -> None:
    await lived(stage, 160)
    left = (await stage.listed(MemoryState.BIN))[:5]
    assert left
    for memory in left:
        page = await stage.engine.history.of_memory(ME, memory.id, 50, None)
        (entry,) = [e for e in page.entries if e.action is Action.BIN]
        assert "100" in entry.reason
        assert entry.source == "forget"


async def test_what_the_user_made_permanent_or_locked_stays(stage: Stage) -> None:
    await stage.soul(keep=KEEP)
    await stage.sync("c1", [*lines(20), line("end", "Hm.")])
    permanent, locked = [await stage.find(f"Al: text of m{i}") for i in (1, 3)]
    patch = stage.engine.memories.patch
    await patch(ME, permanent, MemoryPatch(permanent=True))
    await patch(ME, locked, MemoryPatch(locked=True))
    note = await stage.engine.memories.create(
        ME, NewMemory(SOUL, MemoryKind.EPISODE, "The heron stands alone.")
    )
    await lived(stage, 160)
    for key in (permanent, locked, note.memory.id):
        assert await state(stage, MemoryId(key)) is MemoryState.ACTIVE


async def test_an_elephant_keeps_all(stage: Stage) -> None:
    await lived(stage, 160, forgetting=0)
    assert len(await present(stage)) == 160


async def test_one_run_of_idle_does_a_bounded_part(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forgetting, "_MOST", 25)
    await lived(stage, 160)
    assert len(await present(stage)) == 135
    await stage.engine.idle.run()
    assert len(await present(stage)) == 110


async def test_what_left_comes_back_by_the_users_hand_and_stays(stage: Stage) -> None:
    await lived(stage, 160)
    first = await stage.find("Mira: text of m2", MemoryState.BIN)
    assert await state(stage, first) is MemoryState.FORGOTTEN
    await stage.engine.memories.restore(ME, first)
    await stage.engine.idle.run()
    assert await state(stage, first) is MemoryState.ACTIVE


async def test_the_memory_equals_that_of_a_soul_that_never_forgot(stage: Stage) -> None:
    await lived(stage, 160)
    replay = Stage()
    await replay.start()
    messages = [line("vow", VOW), *lines(158, start=2), line("end", "Hm.")]
    await replay.soul(forgetting=0)
    await replay.sync("c1", messages)
    assert await replay.fingerprint() == await stage.fingerprint()
    await replay.stop()


@pytest.mark.parametrize("keep", [0, 99, 1_000_001])
def test_a_limit_that_keeps_next_to_nothing_is_refused(keep: int) -> None:
    with pytest.raises(Unprocessable, match=f"keep {keep} is outside 100"):
        SoulSettings(keep=keep)


async def test_what_left_is_stored_in_less_room_once_it_has_no_edges(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelved: list[MemoryId] = []

    async def shelve(owner: Owner, soul: SoulId, memories: Sequence[MemoryId]) -> None:
        shelved.extend(memories)

    monkeypatch.setattr(stage.store, "shelve", shelve)
    await lived(stage, 160)
    binned = {memory.id for memory in await stage.listed(MemoryState.BIN)}
    digests = {memory.id for memory in await stage.listed(kind=MemoryKind.DIGEST)}
    assert set(shelved) - digests == binned
    mind = await stage.mind()
    assert all(mind.edges_of(key) == [] for key in shelved)


async def test_an_edge_to_what_left_brings_its_memory_along(stage: Stage) -> None:
    await lived(stage, 160)
    first = await stage.find("Mira: text of m2", MemoryState.BIN)
    mind = await stage.mind()
    other = next(m.id for m in await present(stage))
    edge = Edge(
        SOUL,
        first,
        other,
        EdgeKind.ASSOCIATES,
        Origin.MODEL,
        stage.clock.now(),
        strength=0.5,
    )
    change = with_ends(mind, MindChange(put_edges=(edge,)))
    assert [memory.id for memory in change.put_memories] == [first]
    plain = MindChange(put_edges=(replace(edge, source=other, target=other),))
    assert with_ends(mind, plain) == plain
