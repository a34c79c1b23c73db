"""The audit, deletions and opinions: stored with the change they belong to, the audit only ever added to."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from soulmem.domain.audit import Action, Actor, AuditEntry, AuditQuery
from soulmem.domain.deletions import Deletion, DeletionState
from soulmem.domain.errors import Protected, StoreError
from soulmem.domain.ids import ChatId, MemoryId, Owner, SoulId
from soulmem.domain.opinions import Opinion
from soulmem.ports.store import Change, Store
from tests.ports.stores import (
    NOON,
    OWNER,
    SOUL,
    STRANGE,
    edge,
    memory,
    soul,
)
from tests.ports.wire import over_the_wire


def entry(
    number: int = 1, of: str = SOUL, target: str = "mem-1", source: str = "job-1"
) -> AuditEntry:
    """An entry with every field set."""
    return AuditEntry(
        id=f"c{number:04}",
        soul=SoulId(of),
        moment=NOON + timedelta(minutes=number),
        actor=Actor.ARCHIVIST,
        action=Action.CHANGE,
        target=target,
        before={"text": f"旧 {number}", "tags": [], "importance": 0.5, "none": None},
        after={
            "text": STRANGE[4],
            "tags": ["a"],
            "importance": 0.75,
            "none": {"a": [1, True]},
        },
        source=source,
        reason="asked 'nicely'",
    )


def deletion(key: str = "d-1", of: str = "mem-1") -> Deletion:
    """A request with every field set."""
    return Deletion(
        id=key,
        soul=SOUL,
        memory=MemoryId(of),
        actor=Actor.LEAD,
        reason="tidy",
        quote="the key",
        requested=NOON,
        state=DeletionState.REJECTED,
        decided=NOON + timedelta(days=1),
    )


@over_the_wire
async def test_entries_come_back_the_newest_first(store: Store) -> None:
    entries = [entry(n) for n in range(1, 6)]
    await store.commit(Change(OWNER, audit=entries[:3]))
    await store.commit(Change(OWNER, audit=entries[3:]))

    assert await store.audit(OWNER, AuditQuery()) == entries[::-1]
    assert await store.audit(Owner("somebody-else"), AuditQuery()) == []


async def test_entries_are_found_by_what_they_are_about(store: Store) -> None:
    mine, other = entry(1), entry(2, "soul-2", "mem-2", "job-2")
    late = entry(3)
    await store.commit(Change(OWNER, audit=[mine, other, late]))

    async def ids(wanted: AuditQuery) -> list[str]:
        return [entry.id for entry in await store.audit(OWNER, wanted)]

    assert await ids(AuditQuery(soul=SoulId("soul-2"))) == [other.id]
    assert await ids(AuditQuery(target="mem-1")) == [late.id, mine.id]
    assert await ids(AuditQuery(source="job-2")) == [other.id]
    assert await ids(AuditQuery(id=mine.id)) == [mine.id]
    assert await ids(AuditQuery(since=other.moment)) == [late.id, other.id]
    assert await ids(AuditQuery(since=other.moment + timedelta(microseconds=1))) == [late.id]
    assert await ids(AuditQuery(before=late.id)) == [other.id, mine.id]
    assert await ids(AuditQuery(limit=1)) == [late.id]
    assert await ids(AuditQuery(soul=SOUL, target="mem-2")) == []


async def test_a_change_that_is_refused_leaves_no_entry(store: Store) -> None:
    with pytest.raises(StoreError):
        await store.commit(Change(OWNER, put_edges=[edge("nobody", "nothing")], audit=[entry()]))

    assert await store.audit(OWNER, AuditQuery()) == []


async def test_an_entry_is_never_altered(store: Store) -> None:
    await store.commit(Change(OWNER, audit=[entry()]))
    await store.commit(Change(OWNER, audit=[entry()]))  # the same again is the same

    for other in (
        replace(entry(), actor=Actor.USER),
        replace(entry(), after={"text": "something else"}),
        replace(entry(), moment=NOON),
        replace(entry(), reason="another"),
    ):
        with pytest.raises(Protected):
            await store.commit(Change(OWNER, audit=[other], by=Actor.USER))
    assert await store.audit(OWNER, AuditQuery()) == [entry()]


async def test_nor_is_one_without_words(store: Store) -> None:
    bare = replace(entry(), before=None, after=None, reason="")
    await store.commit(Change(OWNER, audit=[bare]))

    with pytest.raises(Protected):
        await store.commit(Change(OWNER, audit=[replace(bare, reason="another")], by=Actor.USER))
    assert await store.audit(OWNER, AuditQuery()) == [bare]


async def test_purging_takes_the_words_of_one_memory_and_keeps_that_it_happened(
    store: Store,
) -> None:
    other = entry(2, target="mem-2")
    await store.commit(
        Change(
            OWNER,
            audit=[entry(), other],
            put_deletions=[deletion(), deletion("d-2", "mem-2")],
        )
    )

    await store.commit(Change(OWNER, purge_audit=["mem-1"]))

    bare = replace(entry(), before=None, after=None, reason="")
    assert await store.audit(OWNER, AuditQuery()) == [other, bare]
    assert await store.deletions(OWNER) == [deletion("d-2", "mem-2")]


async def test_deletions_and_opinions_come_back_as_they_are(store: Store) -> None:
    early = replace(
        deletion("d-0"),
        requested=NOON - timedelta(days=1),
        state=DeletionState.AWAITING,
        decided=None,
    )
    opinion = Opinion(
        MemoryId("mem-1"),
        SOUL,
        0.75,
        "0123456789abcdef",
        (ChatId("chat-1"), ChatId("chat-2")),
    )
    plain = Opinion(MemoryId("l-1"), SOUL)
    await store.commit(
        Change(
            OWNER,
            souls=[soul()],
            put_memories=[memory()],
            put_deletions=[deletion(), early],
            put_opinions=[opinion, plain, Opinion(MemoryId("x"), SoulId("soul-2"))],
        )
    )

    assert await store.deletions(OWNER) == [early, deletion()]
    assert sorted(await store.opinions(OWNER, SOUL), key=lambda one: one.memory) == [
        plain,
        opinion,
    ]
    confirmed = replace(early, state=DeletionState.CONFIRMED, decided=NOON)
    await store.commit(
        Change(
            OWNER,
            put_deletions=[confirmed],
            put_opinions=[replace(opinion, score=0.25)],
        )
    )
    assert await store.deletions(OWNER) == [confirmed, deletion()]
    assert replace(opinion, score=0.25) in await store.opinions(OWNER, SOUL)


async def test_many_entries_that_say_the_same_come_back_one_by_one(
    store: Store,
) -> None:
    same = [
        replace(entry(1, target=f"mem-{n}"), id=f"c{n:04}", reason="it says little")
        for n in range(1, 9)
    ]
    other = replace(entry(9), id="c0009")
    await store.commit(Change(OWNER, audit=[*same, other]))

    assert await store.audit(OWNER, AuditQuery()) == [other, *same[::-1]]
    assert await store.audit(OWNER, AuditQuery(target="mem-3")) == [same[2]]
    assert await store.audit(OWNER, AuditQuery(id="c0005")) == [same[4]]
    page = AuditQuery(before="c0006", limit=3)
    assert await store.audit(OWNER, page) == [same[4], same[3], same[2]]
    assert await store.audit(Owner("somebody-else"), AuditQuery()) == []
    await store.commit(Change(OWNER, audit=same))  # the same again is the same
    altered = [replace(one, reason="another") for one in same]
    with pytest.raises(Protected):
        await store.commit(Change(OWNER, audit=altered, by=Actor.USER))


async def test_of_such_entries_those_of_a_purged_memory_lose_their_words(
    store: Store,
) -> None:
    same = [replace(entry(1, target=f"mem-{n}"), id=f"c{n:04}") for n in range(1, 9)]
    await store.commit(Change(OWNER, audit=same))
    await store.commit(Change(OWNER, purge_audit=["mem-3", "mem-99"]))

    (bare,) = await store.audit(OWNER, AuditQuery(target="mem-3"))
    assert bare == replace(same[2], before=None, after=None, reason="")
    assert await store.audit(OWNER, AuditQuery(target="mem-4")) == [same[3]]
