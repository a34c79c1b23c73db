"""A soul is deleted by its typed name, can be restored for a week, and is purged after it."""

from __future__ import annotations

import pytest

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.audit import Action, AuditQuery
from soulmem.domain.dialogue import Role
from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import ConfirmationRequired
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.soul import SoulState
from soulmem.engine.api.requests import NewEdge, RecallMode
from soulmem.ports.store import Store
from tests.engine.stage import ME, Stage, line, lines
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.store import FakeStore

DAY = 86_400.0


async def stage_with_soul(store: Store) -> Stage:
    stage = Stage(store)
    await stage.start()
    await stage.soul()
    await stage.soul("s2", "Tovan")
    await stage.sync("c1", [*lines(5), line("h", "a heron landed"), line("e", "well")])
    await stage.sync("both", [line("b", "an otter dived"), line("f", "well")], souls=["s1", "s2"])
    await stage.note("heron for good", permanent=True, locked=True)
    return stage


async def bin_soul(stage: Stage) -> None:
    with pytest.raises(ConfirmationRequired):
        await stage.engine.souls.delete(ME, SoulId("s1"), "mira")
    await stage.engine.souls.delete(ME, SoulId("s1"), "Mira")


async def idle_after_days(stage: Stage, days: float) -> None:
    stage.clock.advance(days * DAY, 0)
    await stage.engine.idle.run()


@pytest.mark.parametrize("kind", ["fake", "mem"])
async def test_within_the_week_all_comes_back(kind: str) -> None:
    stage = await stage_with_soul(FakeStore() if kind == "fake" else SurrealStore("mem://"))
    before, texts = await stage.fingerprint(), [m.text for m in await stage.listed()]
    await bin_soul(stage)
    await idle_after_days(stage, 6.9)
    assert [s.id for s in await stage.engine.souls.list(ME, SoulState.BIN)] == ["s1"]
    await stage.soul()

    assert await stage.fingerprint() == before
    assert [m.text for m in await stage.listed() if m.text in texts] == texts
    await idle_after_days(stage, 30)
    assert [m.text for m in await stage.listed() if m.text in texts] == texts
    page = await stage.engine.history.audit(ME, SoulId("s1"), None, 99, None)
    soul_actions = [e.action for e in page.entries if e.target == "s1"]
    assert soul_actions == [Action.RESTORE, Action.BIN]
    await stage.stop()


@pytest.mark.parametrize("kind", ["fake", "mem"])
async def test_after_the_week_nothing_is_left_of_it_and_others_keep_theirs(
    kind: str,
) -> None:
    stage = await stage_with_soul(FakeStore() if kind == "fake" else SurrealStore("mem://"))
    other = await stage.fingerprint("s2")
    await bin_soul(stage)
    await idle_after_days(stage, 4)
    await idle_after_days(stage, 3.1)

    assert await stage.engine.souls.list(ME, SoulState.BIN) == []
    assert await stage.store.memories(ME, SoulId("s1")) == []
    assert await stage.store.messages(ME, ChatId("c1")) == []
    assert len(await stage.store.messages(ME, ChatId("both"))) == 2
    await stage.soul()
    page = await stage.engine.history.audit(ME, SoulId("s1"), None, 99, None)
    assert not any("heron" in str((e.before, e.after, e.reason)) for e in page.entries)
    assert not any("heron" in m.text for m in await stage.listed())
    assert await stage.fingerprint("s2") == other
    assert "an otter dived" in " ".join(m.text for m in await stage.listed(soul="s2"))
    await stage.stop()


async def test_what_was_asked_is_purged_with_the_soul() -> None:
    """Memory vectors, and in the audit the queries that taught them."""
    stage = Stage(model=FakeEmbedder().source())
    await stage.start()
    await stage.soul(forgetting=0.0)
    heron = (await stage.note("Herons.")).memory.id
    tie = NewEdge(EdgeKind.ASSOCIATES, to=heron, strength=0.6)
    await stage.note("A letter from Ada.", edges=(tie,))
    for number in range(25):
        await stage.note(f"Herons by the lake, day {number}.")
    await stage.engine.embedding.wait_pending()
    shown = lines(3)
    await stage.sync("c1", shown)
    for number in range(2):
        slot = SlotId(f"r{number}")
        await stage.recall(
            "Herons!",
            "c1",
            slot=slot,
            swipe=0,
            max_items=40,
            mode=RecallMode.WALK,
        )
        shown += [line(slot, "Yes.", Role.CHARACTER), line(f"n{number}", "Well.")]
        await stage.sync("c1", shown)
        await stage.engine.learner.drain()
    taught = AuditQuery(SoulId("s1"), action=Action.LEARN)
    entries = await stage.store.audit(ME, taught)
    assert any("memory_vectors" in (entry.after or {}) for entry in entries)
    assert await stage.store.edge_vectors(ME, SoulId("s1"))
    await bin_soul(stage)
    await idle_after_days(stage, 7.1)
    assert await stage.store.edge_vectors(ME, SoulId("s1")) == []
    entries = await stage.store.audit(ME, taught)
    assert entries
    assert all(entry.after is None for entry in entries)
    await stage.stop()
