"""Is a change of names that is broken off between two of its steps completed, now or at the next opening?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from soulmem.domain.errors import StoreError
from soulmem.domain.memories import MemoryKind, MemoryState
from soulmem.domain.situation import ConceptDetail
from soulmem.engine.propagation import linker, renaming
from tests.engine.picky_store import PickyStore
from tests.engine.propagation.test_mentions import card, mentions, talk
from tests.engine.stage import ME, Stage

TALK = [
    "Bob and Anna.",
    "The mill of Bob.",
    "Anna, Bob, Eve.",
    "Eve!",
    "The mill.",
    "Bob?",
    "Bye.",
]


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """A soul with a talk, over a store that can refuse; even small changes take many steps."""
    monkeypatch.setattr(renaming, "_AT_ONCE", 2)
    monkeypatch.setattr(linker, "_PIECE_TEXTS", 2)
    picky_stage = Stage(PickyStore())
    await picky_stage.start()
    await picky_stage.soul()
    await talk(picky_stage, TALK)
    yield picky_stage
    await picky_stage.stop()


@asynccontextmanager
async def reopened(store: PickyStore, fail_in: int | None = None) -> AsyncIterator[Stage]:
    """An engine on a copy of the store; opened, it refuses the commit of that number."""
    copy = store.twin()
    copy.refuses = None
    stage = Stage(copy)
    await stage.start()
    await stage.mind()
    copy.fail_in = fail_in
    yield stage
    await stage.stop()


async def know_more(stage: Stage) -> None:
    """Three names come, one with an alias."""
    await card(stage, Bob=[], Anna=["Eve"], mill=[])


async def know_less(stage: Stage) -> None:
    """One name goes, one loses its alias."""
    await card(stage, Bob=[], Anna=[])


async def name_the_mill(stage: Stage) -> None:
    """A longer name that hides a shorter one, and stands for another."""
    detail = ConceptDetail(aliases=("mill",))
    if not any(m.text == "the mill of Bob" for m in await stage.listed()):
        await stage.note("the mill of Bob", kind=MemoryKind.CONCEPT, concept=detail)


async def forget_the_mill(stage: Stage) -> None:
    """That one goes into the bin."""
    mill = [m for m in await stage.listed() if m.text == "the mill of Bob"]
    for memory in mill:
        await stage.engine.memories.delete(ME, memory.id, None)


Work = Callable[[Stage], Awaitable[None]]


@pytest.mark.parametrize(
    ("before", "work"),
    [
        ((), know_more),
        ((know_more,), know_less),
        ((know_more,), name_the_mill),
        ((know_more, name_the_mill), forget_the_mill),
        ((name_the_mill,), know_more),
    ],
)
async def test_a_change_that_is_broken_off_is_done_or_undone(
    stage: Stage, before: tuple[Work, ...], work: Work
) -> None:
    """At every step: opened again, every link is there that names and texts ask for; then it can be done."""
    store = stage.store
    assert isinstance(store, PickyStore)
    for change in before:
        await change(stage)
    was, done, number = dict(await mentions(stage)), False, 0
    while not done:
        number += 1
        async with reopened(store, number) as broken:
            try:
                await work(broken)
                done = True
            except StoreError:
                pass
            assert isinstance(broken.store, PickyStore)
            async with reopened(broken.store) as opened:
                linked = await mentions(opened)
                assert number > 1 or linked == was
                assert linked == await from_scratch(opened)
                assert not await opened.listed(MemoryState.STALE)
                await work(opened)
                after = await mentions(opened)
    assert number > 4
    assert linked == after


async def from_scratch(stage: Stage) -> dict[str, set[str]]:
    """The mentions that one look at all texts makes."""
    mind = await stage.mind()
    out: dict[str, set[str]] = {
        m.text: set() for m in mind.names.concepts() if m.state is MemoryState.ACTIVE
    }
    for memory in mind.memories.values():
        if memory.kind is MemoryKind.EPISODE:
            for concept in mind.names.spot(memory.text.removeprefix("Anna: ")):
                out[mind.memories[concept].text].add(memory.text)
    return out
