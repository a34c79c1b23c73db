"""What the store keeps of recalls, and when it goes, fake and real alike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.usage import STAMPS
from soulmem.ports.store import Change, SoulRecalls, Store
from tests.ports.stores import (
    OWNER,
    SOUL,
    Factory,
    edge,
    full_change,
    memory,
    recall,
    snapshot,
    soul,
    usage,
)
from tests.ports.wire import over_the_wire


async def recalls(store: Store, of: str = SOUL, owner: Owner = OWNER) -> SoulRecalls:
    """What a soul recalled; usages by memory."""
    stored = await store.recalls(owner, SoulId(of))
    return SoulRecalls(sorted(stored.usages, key=lambda one: one.memory), list(stored.records))


async def test_a_soul_that_recalled_nothing(store: Store) -> None:
    assert await recalls(store) == SoulRecalls([], [])


@over_the_wire
async def test_records_come_back_as_they_were(make: Factory) -> None:
    """Every stamp to the microsecond, and every way; by another handle too."""
    store = make()
    await store.open()
    long, record = usage("mem-2", recalls=STAMPS + 9), recall()
    await store.commit(
        replace(
            full_change(),
            put_usages=[usage(), long],
            put_recalls=[record, recall("t0", minutes=-1)],
        )
    )
    expected = SoulRecalls([usage(), long], [recall("t0", minutes=-1), record])
    assert await recalls(store) == expected
    assert long.count == STAMPS + 9
    await store.close()


async def test_records_come_oldest_first(store: Store) -> None:
    """Whatever their names."""
    made = [recall(f"t{9 - n}", minutes=n, slot=f"slot-{n}") for n in range(5)]
    await store.commit(Change(OWNER, put_recalls=made[::-1]))
    assert (await recalls(store)).records == made


async def test_the_same_record_again_replaces_it(store: Store) -> None:
    await store.commit(full_change())
    await store.commit(
        Change(OWNER, put_usages=[usage(recalls=5)], put_recalls=[recall(minutes=3)])
    )
    assert await recalls(store) == SoulRecalls([usage(recalls=5)], [recall(minutes=3)])


async def test_a_usage_goes_with_its_memory_and_with_nothing_else(store: Store) -> None:
    """Not when the memory is only written anew."""
    await store.commit(replace(full_change(), put_usages=[usage(), usage("mem-2")]))
    await store.commit(Change(OWNER, put_memories=[memory("mem-1", "again")]))
    assert len((await recalls(store)).usages) == 2
    await store.commit(Change(OWNER, drop_memories=[MemoryId("mem-1"), MemoryId("unknown")]))
    assert (await recalls(store)).usages == [usage("mem-2")]


async def test_a_usage_of_a_fact_goes_with_its_edge(store: Store) -> None:
    """A relation is recalled by the edge's id."""
    fact = usage(edge().id)
    await store.commit(replace(full_change(), put_usages=[usage(), fact]))
    await store.commit(Change(OWNER, drop_edges=[edge().id, "unknown"]))
    assert (await recalls(store)).usages == [usage()]


async def test_a_usage_that_comes_with_the_drop_of_its_memory_stays(
    store: Store,
) -> None:
    """What goes goes first."""
    await store.commit(full_change())
    again = Change(
        OWNER,
        drop_memories=[MemoryId("mem-1"), MemoryId("mem-2")],
        put_memories=[memory("mem-1"), memory("mem-2")],
        put_usages=[usage(recalls=1)],
    )
    await store.commit(again)
    assert (await recalls(store)).usages == [usage(recalls=1)]


async def test_dropped_records_go(store: Store) -> None:
    """Unknown ones are ignored; one that is put in the same change stays."""
    await store.commit(Change(OWNER, put_recalls=[recall("a"), recall("b"), recall("c")]))
    await store.commit(Change(OWNER, put_recalls=[recall("c")], drop_recalls=["a", "c", "unknown"]))
    assert [usage.trace for usage in (await recalls(store)).records] == ["b", "c"]


async def test_owners_and_souls_have_recalls_of_their_own(store: Store) -> None:
    other = Owner("somebody-else")
    await store.commit(full_change())
    await store.commit(full_change(other))
    await store.commit(
        Change(
            OWNER,
            souls=[soul("soul-2")],
            put_memories=[memory("mem-9", of="soul-2")],
            put_usages=[usage("mem-9", of="soul-2")],
            put_recalls=[recall("t9", of="soul-2")],
        )
    )
    assert await recalls(store, "soul-2") == SoulRecalls(
        [usage("mem-9", of="soul-2")], [recall("t9", of="soul-2")]
    )
    before = await snapshot(store, other)
    await store.commit(Change(OWNER, drop_memories=[MemoryId("mem-1")], drop_recalls=["trace-1"]))
    assert await recalls(store) == SoulRecalls([], [])
    assert await snapshot(store, other) == before


async def test_many_usages(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than one call reads or writes."""
    monkeypatch.setattr("soulmem.adapters.surreal.store.READ_ROWS", 20)
    monkeypatch.setattr("soulmem.adapters.surreal.transaction.WRITE_ROWS", 7)
    made = [usage(f"m{n:03}") for n in range(60)]
    await store.commit(
        Change(OWNER, put_usages=made, put_recalls=[recall(f"t{n:03}") for n in range(60)])
    )
    stored = await recalls(store)
    assert stored.usages == made
    assert [item.trace for item in stored.records] == [f"t{n:03}" for n in range(60)]
