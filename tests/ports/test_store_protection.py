"""What is permanent or locked stays, whatever change or statement comes but the user's own hand."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from soulmem.adapters.surreal import SurrealStore
from soulmem.adapters.surreal.embedded import EmbeddedLink
from soulmem.adapters.surreal.link import Query
from soulmem.domain.audit import Actor
from soulmem.domain.errors import Protected
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Timelines
from soulmem.domain.situation import Situation
from soulmem.domain.terms import Term
from soulmem.ports.store import Change, Store
from tests.examples import few
from tests.fakes.store import FakeStore
from tests.ports.stores import NOON, OWNER, SOUL, memory, soul
from tests.ports.wire import over_the_wire

AUTOMATIC = [actor for actor in Actor if actor is not Actor.USER]
GUARDS: tuple[dict[str, Any], ...] = (
    {"permanent": True},
    {"locked": True},
    {"permanent": True, "locked": True},
)
ALTERED: dict[str, Any] = {
    "text": "something else",
    "kind": MemoryKind.NOTE,
    "created": NOON.replace(year=2001),
    "tags": (),
    "importance": 0.1,
    "permanent": False,
    "locked": False,
    "timelines": Timelines.ALL,
    "state": MemoryState.BIN,
    "situation": Situation(),
    "concept": None,
    "soul": SoulId("soul-2"),
}
FREE: dict[str, Any] = {
    "terms": (Term("else", 0.5),),
    "names": (),
    "evidence": (),
    "revision": 9,
    "state": MemoryState.ACTIVE,
}


async def stored(store: Store, *memories: Memory) -> None:
    await store.commit(Change(OWNER, souls=[soul()], put_memories=memories, by=Actor.USER))


@pytest.mark.parametrize("actor", AUTOMATIC)
@pytest.mark.parametrize("guard", GUARDS)
async def test_no_automatic_hand_alters_or_drops_it(
    store: Store, actor: Actor, guard: dict[str, Any]
) -> None:
    kept = replace(memory(), **guard)
    await stored(store, kept, memory("mem-2"))

    for name, value in ALTERED.items():
        if getattr(kept, name) == value:
            continue
        other = replace(memory("mem-2"), text="a change beside it")
        with pytest.raises(Protected, match="only the user"):
            await store.commit(
                Change(
                    OWNER,
                    put_memories=[other, replace(kept, **{name: value})],
                    by=actor,
                )
            )
    with pytest.raises(Protected):
        await store.commit(Change(OWNER, drop_memories=["mem-1"], by=actor))  # type: ignore[list-item]

    matches = {change.id: change for change in await store.memories(OWNER, SOUL)}
    assert matches == {
        kept.id: kept,
        memory("mem-2").id: memory("mem-2"),
    }  # nothing of such a change is stored


async def test_what_follows_from_its_text_may_be_kept_beside_it(store: Store) -> None:
    kept = replace(memory(), locked=True)
    await stored(store, kept)

    for name, value in FREE.items():
        kept = replace(kept, **{name: value})
        await store.commit(Change(OWNER, put_memories=[kept]))
        assert await store.memories(OWNER, SOUL) == [kept]


@over_the_wire
async def test_the_users_own_hand_may(store: Store) -> None:
    kept = replace(memory(), permanent=True, locked=True)
    await stored(store, kept)

    for name, value in ALTERED.items():
        if name != "soul":
            kept = replace(kept, **{"permanent": True, name: value})
            await store.commit(Change(OWNER, put_memories=[kept], by=Actor.USER))
            assert await store.memories(OWNER, SOUL) == [kept]
    await store.commit(Change(OWNER, drop_memories=[kept.id], by=Actor.USER))
    assert await store.memories(OWNER, SOUL) == []


async def test_what_the_user_put_into_the_bin_may_be_purged_and_not_be_taken_out(
    store: Store,
) -> None:
    binned = replace(memory(), permanent=True, state=MemoryState.BIN)
    await stored(store, binned)

    with pytest.raises(Protected):
        await store.commit(Change(OWNER, put_memories=[replace(binned, state=MemoryState.ACTIVE)]))
    await store.commit(Change(OWNER, drop_memories=[binned.id]))
    assert await store.memories(OWNER, SOUL) == []


async def test_no_statement_of_ones_own_gets_past_the_store(tmp_path: Path) -> None:
    url = f"surrealkv://{tmp_path / 'data'}"
    store = SurrealStore(url)
    await store.open()
    await stored(store, replace(memory(), permanent=True), replace(memory("mem-2"), locked=True))
    before = sorted(await store.memories(OWNER, SOUL), key=lambda change: change.id)
    await store.close()
    link = EmbeddedLink(url)
    await link.open()
    for sql in (
        "DELETE memory;",
        "UPDATE memory SET text = 'x';",
        "UPDATE memory SET permanent = false, locked = false;",
        "UPDATE memory UNSET tags;",
        "UPSERT type::record('memory', ['default-user', 'mem-1']) MERGE { state: 'bin' };",
        "BEGIN; LET $hand = 'engine'; DELETE memory; COMMIT;",
    ):
        answers = await link.run(Query(sql, {}))
        assert [change for change in answers if change["status"] != "OK"], sql
    await link.close()
    await store.open()
    assert sorted(await store.memories(OWNER, SOUL), key=lambda change: change.id) == before
    await store.close()


fields = st.sampled_from(sorted(ALTERED))
moves = st.lists(
    st.tuples(
        st.sampled_from(AUTOMATIC),
        st.booleans(),
        st.lists(fields, max_size=3),
        st.sampled_from([1, 2, 3]),
    ),
    max_size=12,
)


@pytest.mark.timeout(60)  # many stores are opened, one after the other
@pytest.mark.parametrize("kind", ["fake", "mem"])
@few(20, long=160, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=moves)
def test_whatever_order_of_changes_comes(
    kind: str, moves: list[tuple[Actor, bool, list[str], int]]
) -> None:
    """No series of automatic changes leaves a protected memory other than it was, or gone."""

    async def play() -> None:
        store: Store = FakeStore() if kind == "fake" else SurrealStore("mem://")
        await store.open()
        kept = [replace(memory(f"mem-{n}"), **GUARDS[n - 1]) for n in (1, 2, 3)]
        await stored(store, *kept)
        for actor, drops, names, number in moves:
            change = kept[number - 1]
            put = [] if drops else [replace(change, **{name: ALTERED[name] for name in names})]
            drop = [change.id] if drops else []
            try:
                await store.commit(Change(OWNER, put_memories=put, drop_memories=drop, by=actor))
            except Protected:
                continue
        matches = sorted(await store.memories(OWNER, SOUL), key=lambda change: change.id)
        assert matches == kept
        await store.close()

    asyncio.run(play())


@pytest.mark.parametrize("guard", GUARDS)
async def test_no_automatic_hand_unites_it_with_others(store: Store, guard: dict[str, Any]) -> None:
    kept = replace(memory(), state=MemoryState.ACTIVE, merged_into=None, **guard)
    await stored(store, kept, memory("mem-2"))

    merged = replace(kept, state=MemoryState.MERGED, merged_into=MemoryId("mem-2"))
    with pytest.raises(Protected):
        await store.commit(Change(OWNER, put_memories=[merged]))
