"""Any series of changes leaves the engine and the fake with the same contents, refusals included."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import hypothesis.strategies as st
from hypothesis import given

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.edges import Edge
from soulmem.domain.errors import StoreError
from soulmem.domain.ids import MemoryId, Owner, SlotId, SoulId
from soulmem.ports.store import Change, ChatChange, Store
from tests.examples import few
from tests.fakes.store import FakeStore
from tests.ports.stores import (
    chat,
    edge,
    memory,
    message,
    recall,
    snapshot,
    soul,
    usage,
)

SOULS = ("soul-1", "soul-2")
CHATS = ("chat-1", "chat-2")
MEMORIES = ("m1", "m2", "m3")
TRACES = ("t1", "t2")
NUMBERS = range(4)
OWNERS = ("one", "two")

texts = st.text(alphabet="ab\x00'雨", max_size=3)


def edges() -> st.SearchStrategy[Edge]:
    return st.builds(
        lambda source, target, of, uses: replace(edge(source, target, of=of), uses=uses),
        *(
            st.sampled_from(MEMORIES),
            st.sampled_from(MEMORIES),
            st.sampled_from(SOULS),
            st.integers(0, 9),
        ),
    )


EVERY_EDGE = sorted({edge(source, target).id for source in MEMORIES for target in MEMORIES})

chat_changes = st.builds(
    lambda key, title, put, drop: ChatChange(
        replace(chat(key), title=title),
        [message(number, text, rank) for number, (text, rank) in put.items()],
        [SlotId(f"slot-{number}") for number in drop],
    ),
    st.sampled_from(CHATS),
    texts,
    st.dictionaries(
        st.sampled_from(NUMBERS),
        st.tuples(texts, st.integers(-(2**50), 2**50)),
        max_size=3,
    ),
    st.sets(st.sampled_from(NUMBERS), max_size=2),
)

changes = st.builds(
    Change,
    owner=st.sampled_from(OWNERS).map(Owner),
    souls=st.lists(
        st.builds(
            lambda key, name: replace(soul(key), name=name),
            st.sampled_from(SOULS),
            texts,
        )
    ),
    chats=st.lists(chat_changes, max_size=2, unique_by=lambda changed: changed.chat.id),
    put_memories=st.lists(
        st.builds(
            lambda key, text, of: memory(key, f"{text}.", of),
            *(st.sampled_from(MEMORIES), texts, st.sampled_from(SOULS)),
        ),
        max_size=3,
    ),
    drop_memories=st.sets(st.sampled_from(MEMORIES).map(MemoryId), max_size=2),
    put_edges=st.lists(edges(), max_size=3),
    drop_edges=st.sets(st.sampled_from(EVERY_EDGE), max_size=2),
    put_usages=st.lists(
        st.builds(
            usage,
            *(st.sampled_from(MEMORIES), st.sampled_from(SOULS), st.integers(1, 3)),
        ),
        max_size=2,
    ),
    put_recalls=st.lists(
        st.builds(recall, *(st.sampled_from(TRACES), st.sampled_from(SOULS))),
        max_size=2,
    ),
    drop_recalls=st.sets(st.sampled_from(TRACES), max_size=2),
)


async def outcome(store: Store, change: Change) -> object:
    """Whether the change was taken, and what its owner has then."""
    try:
        await store.commit(change)
    except StoreError:
        return "refused", await ranked(store, change.owner)
    return "stored", await ranked(store, change.owner)


async def ranked(store: Store, owner: Owner) -> object:
    """The owner's contents; messages of equal rank, which the port leaves open, by slot."""
    rows = await snapshot(store, owner)
    chats = [await store.messages(owner, value.id) for value in await store.chats(owner)]
    rows["messages"] = [
        sorted(text, key=lambda value: (value.rank, value.message.slot)) for text in chats
    ]
    around = [await store.edges_around(owner, SoulId(value), [MemoryId("m1")]) for value in SOULS]
    rows["around"] = [sorted(page.id) for page in around]
    rows["counts"] = [await store.edge_count(owner, SoulId(value)) for value in SOULS]
    return rows


def test_the_engine_does_what_the_fake_does() -> None:
    loop = asyncio.new_event_loop()
    real = SurrealStore("mem://")
    loop.run_until_complete(real.open())
    examples = iter(range(10**9))

    async def compare(series: list[Change]) -> None:
        fake = FakeStore()
        await fake.open()
        example = next(examples)  # owners of its own, so that one engine serves all examples
        for change in series:
            mine = replace(change, owner=Owner(f"{change.owner}-{example}"))
            assert await outcome(real, mine) == await outcome(fake, mine)

    @few(12, long=160)
    @given(st.lists(changes, min_size=1, max_size=6))
    def run(series: list[Change]) -> None:
        loop.run_until_complete(compare(series))

    try:
        run()
    finally:
        loop.run_until_complete(real.close())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
