"""A soul is deleted by its typed name, can be restored for a week, and is purged after it."""

from __future__ import annotations

import pytest

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.audit import Action
from soulmem.domain.errors import ConfirmationRequired
from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.soul import SoulState
from soulmem.ports.store import Store
from tests.engine.stage import ME, Stage, line, lines
from tests.fakes.store import FakeStore

DAY = 86_400.0


async def stage_with_soul(store: Store) -> Stage:
    stage = Stage(store)
    await stage.start()
    await stage.soul()
    await stage.soul("s2", "Tovan")
    await stage.sync("c1", [*lines(5), line("h", "a heron landed"), line("e", "well")])
    await stage.sync(
        "both", [line("b", "an otter dived"), line("f", "well")], souls=["s1", "s2"]
    )
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
    stage = await stage_with_soul(
        FakeStore() if kind == "fake" else SurrealStore("mem://")
    )
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
    stage = await stage_with_soul(
        FakeStore() if kind == "fake" else SurrealStore("mem://")
    )
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
