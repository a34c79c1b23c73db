"""Are digests kept in less room, except those that are linked or protected?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.engine.api.requests import MemoryPatch
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.propagation.linker import Steps
from tests.engine.digests.test_digests import days
from tests.engine.stage import ME, Stage, line

_DAY = 86_400  # seconds


async def rested(stage: Stage) -> set[MemoryId]:
    """What Idle has the store shelve."""
    shelved = set[MemoryId]()

    async def shelve(owner: Owner, soul: SoulId, memories: Sequence[MemoryId]) -> None:
        shelved.update(memories)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage.store, "shelve", shelve)
        await stage.engine.idle.run()
    return shelved


async def digests(stage: Stage) -> list[Memory]:
    return await stage.listed(kind=MemoryKind.DIGEST)


async def lived(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c", [*days(6), line("last", "Good night.")])
    stage.clock.advance(_DAY)


async def test_all_digests_are_shelved(stage: Stage) -> None:
    await lived(stage)
    shelved = await rested(stage)
    assert len(shelved) > 6
    assert shelved == {digest.id for digest in await digests(stage)}
    assert await rested(stage) == shelved


async def test_a_digest_that_is_locked_permanent_or_linked_is_not(stage: Stage) -> None:
    await lived(stage)
    shelved = await rested(stage)
    locked, permanent, linked, *others = sorted(shelved)
    patch = stage.engine.memories.patch
    await patch(ME, locked, MemoryPatch(locked=True))
    await patch(ME, permanent, MemoryPatch(permanent=True))
    mind = await stage.mind()
    episode = next(m.id for m in mind.memories.values() if m.kind is MemoryKind.EPISODE)
    now = stage.clock.now()
    edge = Edge(SoulId("s1"), linked, episode, EdgeKind.ASSOCIATES, Origin.MODEL, now, 0.5)
    world = await stage.world()
    async with world.writing as token:
        await world.carry_out(token, mind, Steps([MindChange(put_edges=(edge,))]))
    assert await rested(stage) == set(others)
