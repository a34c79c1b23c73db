"""Whom a telling is merged into."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.engine.propagation.released_tellings import with_centre

NOW = datetime(2025, 3, 1, tzinfo=timezone.utc)
USED = Memory(MemoryId("m"), SoulId("s"), MemoryKind.EPISODE, "The mill burnt.", Origin.CHAT, NOW)
A, B = MemoryId("a"), MemoryId("b")
MERGED = replace(USED, state=MemoryState.MERGED, merged_into=A, revision=3)


@pytest.mark.parametrize("centre", [A, B, None])
@pytest.mark.parametrize("memory", [USED, MERGED], ids=["in use", "merged"])
def test_a_memory_has_the_centre_that_it_is_given(memory: Memory, centre: MemoryId | None) -> None:
    given = with_centre(memory, centre)
    state = MemoryState.ACTIVE if centre is None else MemoryState.MERGED
    assert (given.merged_into, given.state) == (centre, state)
    is_other = memory.merged_into != centre
    assert given.revision == memory.revision + is_other
