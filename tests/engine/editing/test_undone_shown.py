"""Undone changes are shown as such, and are not undone or counted again."""

from __future__ import annotations

from datetime import datetime

import pytest

from soulmem.domain.audit import Actor
from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import NotFound, Unprocessable
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryKind, MemoryState
from soulmem.engine.api.requests import MemoryPatch, NewEdge, NewMemory
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.governance.undoing import is_undoable
from tests.engine.stage import ME, Stage

SOUL = SoulId("s1")


async def reword_by_engine(stage: Stage, key: str, text: str, source: str) -> None:
    """Reword a memory as Idle work does."""
    stage.clock.advance(1.0)
    author = ChangeAuthor(Actor.ARCHIVIST, source=source, reason="consolidation")
    await stage.engine.memories.patch(ME, MemoryId(key), MemoryPatch(text=text), author)


async def undo_counts(stage: Stage) -> tuple[int, set[str]]:
    """The number of automatic changes that can be undone, and the ids of undone ones."""
    page = await stage.engine.history.audit(ME, SOUL, None, 1000, None)
    undoable = [
        entry for entry in page.entries if is_undoable(entry) and entry.id not in page.undone
    ]
    return len(undoable), set(page.undone)


async def undo(
    stage: Stage,
    since: datetime | None,
    change: str | None = None,
    job: str | None = None,
) -> set[str]:
    done = await stage.engine.history.undo(ME, SOUL, since=since, change=change, job=job)
    return set(done.changes)


async def test_what_is_named_is_what_is_taken_back(stage: Stage) -> None:
    await stage.soul()
    start = stage.clock.now()
    keys = [(await stage.note(f"note {n}")).memory.id for n in range(3)]
    for n, key in enumerate(keys):
        await reword_by_engine(stage, key, f"reworded {n}", "j" + "0" * 22)
        await reword_by_engine(stage, key, f"reworded again {n}", "idle-20261123T100000")
    assert await undo_counts(stage) == (6, set())

    by_job = await undo(stage, None, job="idle-20261123T100000")
    assert len(by_job) == 3
    assert await undo_counts(stage) == (3, by_job)

    by_time = await undo(stage, start)
    assert len(by_time) == 3
    assert await undo_counts(stage) == (0, by_job | by_time)
    assert {m.text for m in await stage.listed()} == {f"note {n}" for n in range(3)}
    assert await undo(stage, start) == set()


async def test_what_was_changed_before_the_time_is_not_shown_as_taken_back(
    stage: Stage,
) -> None:
    await stage.soul()
    key = (await stage.note("note")).memory.id
    await reword_by_engine(stage, key, "earlier", "j" + "0" * 22)
    stage.clock.advance(60.0)
    since = stage.clock.now()
    await reword_by_engine(stage, key, "later", "j" + "1" * 22)
    later = await undo(stage, since)
    assert await undo_counts(stage) == (1, later)
    assert [m.text for m in await stage.listed()] == ["earlier"]


async def test_undoing_a_creation_bins_it_once_and_leaves_what_the_user_binned(
    stage: Stage,
) -> None:
    await stage.soul()
    author = ChangeAuthor(Actor.ARCHIVIST, source="j" + "1" * 22)
    keys = []
    for text in ("The key is lost.", "Ben is tall."):
        new = NewMemory(SOUL, MemoryKind.NOTE, text)
        made = await stage.engine.memories.create(ME, new, author)
        keys.append(made.memory.id)
    await stage.engine.memories.delete(ME, keys[0], None)
    before = {m.id: m for m in await stage.listed(MemoryState.BIN)}
    result = await stage.engine.history.undo(ME, SOUL, since=None, change=None, job=author.source)
    assert result.memories == (keys[1],)
    after = {m.id: m for m in await stage.listed(MemoryState.BIN)}
    assert after.keys() == set(keys)
    assert after[keys[0]].revision == before[keys[0]].revision


async def test_an_unknown_change_and_a_change_of_the_user_are_refused(
    stage: Stage,
) -> None:
    await stage.soul()
    key = (await stage.note("The key is lost.")).memory.id
    page = await stage.engine.history.audit(ME, SOUL, None, 10, None)
    own = page.entries[0].id
    with pytest.raises(NotFound, match="no change 'c9'"):
        await undo(stage, None, change="c9")
    with pytest.raises(NotFound, match="no job 'j9'"):
        await undo(stage, None, job="j9")
    with pytest.raises(Unprocessable, match="the user's own doing"):
        await undo(stage, None, change=own)
    assert (await stage.engine.memories.get(ME, key)).memory.text == "The key is lost."


async def test_an_edge_that_a_job_changed_or_made_is_as_before(stage: Stage) -> None:
    await stage.soul()
    second = (await stage.note("the clock")).memory.id
    author = ChangeAuthor(Actor.ARCHIVIST, source="j" + "2" * 22)
    tie = NewEdge(EdgeKind.ASSOCIATES, to=second, strength=0.4)
    new = NewMemory(SOUL, MemoryKind.NOTE, "the key", edges=(tie,))
    await stage.engine.memories.create(ME, new, author)
    mind = await stage.mind()
    (made,) = list(mind.edges)
    result = await stage.engine.history.undo(ME, SOUL, since=None, change=None, job=author.source)
    assert result.edges == 1
    assert mind.edges.get(made) is None
