"""Undone changes are shown as such, and are not undone or counted again."""

from __future__ import annotations

from datetime import datetime

from soulmem.domain.audit import Actor
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.engine.api.requests import MemoryPatch
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
        entry
        for entry in page.entries
        if is_undoable(entry) and entry.id not in page.undone
    ]
    return len(undoable), set(page.undone)


async def undo(
    stage: Stage,
    since: datetime | None,
    change: str | None = None,
    job: str | None = None,
) -> set[str]:
    done = await stage.engine.history.undo(
        ME, SOUL, since=since, change=change, job=job
    )
    return set(done.changes)


async def test_what_is_named_is_what_is_taken_back(stage: Stage) -> None:
    await stage.soul()
    start = stage.clock.now()
    keys = [(await stage.note(f"note {n}")).memory.id for n in range(3)]
    for n, key in enumerate(keys):
        await reword_by_engine(stage, key, f"reworded {n}", "j" + "0" * 22)
        await reword_by_engine(
            stage, key, f"reworded again {n}", "idle-20261123T100000"
        )
    assert await undo_counts(stage) == (6, set())

    by_job = await undo(stage, None, job="idle-20261123T100000")
    assert len(by_job) == 3
    assert await undo_counts(stage) == (3, by_job)

    by_time = await undo(stage, start)
    assert len(by_time) == 3
    assert await undo_counts(stage) == (0, by_job | by_time)
    assert {m.text for m in await stage.listed()} == {f"note {n}" for n in range(3)}
    assert await undo(stage, start) == set()
