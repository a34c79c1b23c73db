"""Conditions under which a memory is promoted."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.consolidation.promotion import EXCHANGES, is_promoted
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.usage import Stamp, first_use

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
PLAIN = Memory(
    MemoryId("m1"),
    SoulId("s1"),
    MemoryKind.EPISODE,
    "Rain.",
    Origin.CHAT,
    NOON,
    importance=0.2,
)
ONCE = first_use(PLAIN.id, PLAIN.soul, Stamp(NOON, 4))


@pytest.mark.parametrize(
    ("memory", "siblings"),
    [
        (replace(PLAIN, importance=0.6), 1),
        (replace(PLAIN, origin=Origin.USER), 1),
        (replace(PLAIN, origin=Origin.CARD), 1),
        (replace(PLAIN, permanent=True), 1),
        (replace(PLAIN, locked=True), 1),
        (PLAIN, 21),
    ],
)
def test_what_matters_was_made_by_hand_or_imported_is_kept_at_once(
    memory: Memory, siblings: int
) -> None:
    assert is_promoted(memory, None, siblings)


@pytest.mark.parametrize("memory", [PLAIN, replace(PLAIN, importance=0.59)])
def test_anything_else_has_to_come_to_mind_twice(memory: Memory) -> None:
    """In different exchanges: twice for one reply is once."""
    assert not is_promoted(memory, None, 20)
    assert not is_promoted(memory, ONCE, 20)
    assert not is_promoted(memory, ONCE.again(Stamp(NOON, 4)), 20)
    assert is_promoted(memory, ONCE.again(Stamp(NOON, 5)), 20)


@given(st.integers(0, 50), st.integers(0, 50))
def test_going_over_it_often_enough_is_as_good(memory: int, other: int) -> None:
    """Property: never less for more, and it takes twice as many as recalls that lead to it."""
    few, many = sorted((memory, other))
    assert is_promoted(PLAIN, None, 1, few) <= is_promoted(PLAIN, None, 1, many)
    assert is_promoted(PLAIN, None, 1, memory) is (memory >= 2 * EXCHANGES)
