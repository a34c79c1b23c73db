"""Whichever store it is: the books of a soul are kept as they were put, and forgotten when they are empty."""

from __future__ import annotations

from datetime import timedelta, timezone

from soulmem.domain.derivations import Work
from soulmem.domain.ids import ChatId, Owner, SoulId
from soulmem.domain.llm_usage import Deferred, LlmUsage, SoulLlmUsage
from soulmem.ports.store import Store
from tests.ports.stores import NOON, OWNER, SOUL, STRANGE, Factory, full_change

BOOKS = SoulLlmUsage(
    SoulId(SOUL),
    {"consolidation": LlmUsage(4, 1, 1484, 321, 12.25, 14), "": LlmUsage(1)},
    (
        (NOON, LlmUsage(1, 0, 300, 40, 3.5)),
        (NOON + timedelta(microseconds=1), LlmUsage(nodes=2)),
    ),
    tuple(
        Deferred(ChatId("c1"), work, "no lists", 2, 40, NOON + timedelta(days=1)) for work in Work
    ),
)


async def test_they_come_back_and_are_replaced(store: Store) -> None:
    await store.commit(full_change())
    assert await store.llm_usage(OWNER) == []
    other = SoulLlmUsage(SoulId("soul-2"), {"test": LlmUsage(1)})
    for books in (SoulLlmUsage(BOOKS.soul, {"old": LlmUsage(9)}), BOOKS, other):
        await store.put_llm_usage(OWNER, books)
    assert sorted(await store.llm_usage(OWNER), key=lambda one: one.soul) == [
        BOOKS,
        other,
    ]
    assert all(
        moment.tzinfo is not None
        for books in await store.llm_usage(OWNER)
        for moment, _ in books.late
    )
    assert await store.llm_usage(Owner("somebody")) == []
    await store.put_llm_usage(OWNER, SoulLlmUsage(BOOKS.soul))
    await store.put_llm_usage(OWNER, SoulLlmUsage(SoulId("never-known")))
    assert await store.llm_usage(OWNER) == [other]


async def test_a_reason_is_kept_whatever_it_says(store: Store) -> None:
    for text in STRANGE:
        parked = Deferred(ChatId("c1"), Work.SUMMARY, text, 1, 0, NOON.astimezone(timezone.utc))
        books = SoulLlmUsage(SoulId(SOUL), parked=(parked,))
        await store.put_llm_usage(OWNER, books)
        assert await store.llm_usage(OWNER) == [books]


async def test_they_outlive_the_handle(make: Factory) -> None:
    store = make()
    await store.open()
    await store.put_llm_usage(OWNER, BOOKS)
    await store.close()
    again = make()
    await again.open()
    assert await again.llm_usage(OWNER) == [BOOKS]
    await again.close()
