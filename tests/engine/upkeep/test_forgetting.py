"""Memories without support are put into the bin in time, no others are, and they come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from soulmem.domain.audit import Actor
from soulmem.domain.dialogue import Role
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.soul import SoulClock
from soulmem.engine.api.requests import NewEdge, NewMemory
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.propagation.linker import Steps
from soulmem.engine.runtime.jobs import JobState
from soulmem.engine.upkeep.prunable import due_texts
from soulmem.engine.views.concept_activation import raised_by_activation
from soulmem.graph.arcs import MEMORY_KINDS
from tests.engine.reflexes import PACKAGED
from tests.engine.stage import ME, Stage, ended, line, lines

SOUL = SoulId("s1")
DAY = 86_400.0


async def concepts(
    stage: Stage,
    keys: Iterable[str],
    told_by: str,
    origin: Origin = Origin.CHAT,
    **more: Any,
) -> None:
    """New concepts, all mentioned by one text."""
    world, mind = await stage.world(), await stage.mind()
    current_time, turn = (
        stage.clock.now(),
        float(mind.lived_turns(stage.clock.extra_turns)),
    )
    made = [
        Memory(
            MemoryId(k),
            SOUL,
            MemoryKind.CONCEPT,
            f"Concept {k}",
            origin,
            current_time,
            **more,
        )
        for k in keys
    ]
    links = [
        Edge(
            SOUL,
            MemoryId(told_by),
            m.id,
            EdgeKind.MENTIONS,
            Origin.CHAT,
            current_time,
            0.44,
            at_turn=turn,
        )
        for m in made
    ]
    async with world.writing as token:
        change = MindChange(put_memories=tuple(made), put_edges=tuple(links))
        await world.carry_out(token, mind, Steps([change]))


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """An engine that judges what kinds of lines messages have, by words, and one soul: s1, Mira."""
    one = Stage(judges_lines=True)
    await one.start()
    await one.soul()
    yield one
    await one.stop()


async def talk(stage: Stage, text: str = "text of m1", **settings: Any) -> MemoryId:
    """A chat, of which one message tells something."""
    await stage.soul(**settings)
    await stage.sync("c1", [line("m1", text), *lines(2, 2)])
    return await stage.find(f"Al: {text}")


async def state(stage: Stage, key: str) -> MemoryState:
    return (await stage.mind()).memories[MemoryId(key)].state


async def pass_days(stage: Stage, days: float, clock: str) -> None:
    stage.clock.advance(
        days * DAY if clock == "wall" else 0.0,
        0 if clock == "wall" else round(20 * days),
    )


async def test_a_thousand_passing_concepts_are_gone_after_a_month_and_the_users_stay(
    stage: Stage,
) -> None:
    text = await talk(stage)
    await concepts(stage, (f"n{i}" for i in range(1000)), text)
    await concepts(stage, ["kept1", "kept2"], text, permanent=True)
    await concepts(stage, ["locked"], text, locked=True)
    await concepts(stage, ["users", "users2"], text, Origin.USER)
    lone = await stage.engine.memories.create(
        ME, NewMemory(SOUL, MemoryKind.CONCEPT, "the lone heron")
    )
    await stage.engine.idle.run()
    assert await state(stage, "n0") is MemoryState.ACTIVE
    stage.clock.advance(0.0, 600)
    before = await stage.fingerprint()
    assert await stage.engine.idle.forgetting.forget(ME, SOUL) == 1000
    binned = await stage.listed(MemoryState.BIN)
    assert {m.id for m in binned} == {f"n{i}" for i in range(1000)}
    for key in ("kept1", "kept2", "locked", "users", "users2", lone.memory.id):
        assert await state(stage, key) is MemoryState.ACTIVE
    assert await stage.fingerprint() == before
    assert await stage.engine.idle.forgetting.forget(ME, SOUL) == 0


@pytest.mark.parametrize("clock", ["turns", "wall"])
async def test_met_daily_it_survives_a_season_met_once_it_is_gone_in_a_month(
    stage: Stage, clock: str
) -> None:
    text = await talk(stage, clock=SoulClock(clock))
    await concepts(stage, ["once"], text)
    for day in range(91):
        await concepts(stage, ["daily"], text)
        await stage.engine.idle.run()
        assert await state(stage, "daily") is MemoryState.ACTIVE, day
        assert (await state(stage, "once") is MemoryState.FORGOTTEN) or day < 30
        assert (await state(stage, "once") is MemoryState.ACTIVE) or day > 20
        await pass_days(stage, 1, clock)


async def test_an_elephant_bins_nothing(stage: Stage) -> None:
    text = await talk(stage, forgetting=0)
    await concepts(stage, ["once"], text)
    stage.clock.advance(0.0, 1_000_000)
    assert await stage.engine.idle.forgetting.forget(ME, SOUL) == 0
    mind = await stage.mind()
    (link,) = mind.edges.of(MemoryId("once"))
    faint = replace(link, strength=0.01)
    await stage.engine.services.compute.run(mind.apply, MindChange(put_edges=(faint,)))
    assert await stage.engine.idle.forgetting.forget(ME, SOUL) == 0


async def test_what_was_met_often_is_present_for_longer(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", lines(40))
    texts = [await stage.find(f"Mira: text of m{i}") for i in range(2, 20, 2)]
    await concepts(stage, ["once"], texts[0])
    for text in texts:
        await concepts(stage, ["often"], text)
    stage.clock.advance(0.0, 660)
    await stage.engine.idle.run()
    assert await state(stage, "once") is MemoryState.FORGOTTEN
    assert await state(stage, "often") is MemoryState.ACTIVE


async def test_a_link_of_the_users_holds_a_concept(stage: Stage) -> None:
    text = await talk(stage)
    await concepts(stage, ["a", "b"], text)
    strong = NewEdge(EdgeKind.MENTIONS, to=MemoryId("a"), strength=1.0)
    await stage.engine.memories.create(
        ME, NewMemory(SOUL, MemoryKind.NOTE, "a note", edges=(strong,))
    )
    stage.clock.advance(0.0, 700)
    await stage.engine.idle.run()
    assert await state(stage, "a") is MemoryState.ACTIVE
    assert await state(stage, "b") is MemoryState.FORGOTTEN


async def test_a_restored_one_is_the_users_and_stays(stage: Stage) -> None:
    text = await talk(stage)
    await concepts(stage, ["once"], text)
    stage.clock.advance(0.0, 700)
    await stage.engine.idle.run()
    await stage.engine.memories.restore(ME, MemoryId("once"))
    await stage.engine.idle.run()
    assert await state(stage, "once") is MemoryState.ACTIVE
    await stage.restart()
    assert await state(stage, "once") is MemoryState.ACTIVE


async def test_a_forgotten_one_stays_so_after_a_restart_until_a_text_names_it_anew(
    stage: Stage,
) -> None:
    text = await talk(stage)
    await concepts(stage, ["once"], text)
    stage.clock.advance(0.0, 700)
    await stage.engine.idle.run()
    await stage.restart()
    assert await state(stage, "once") is MemoryState.FORGOTTEN
    world, mind = await stage.world(), await stage.mind()
    assert not (await stage.recall("Concept once")).memories or all(
        m.id != "once" for m in (await stage.recall("Concept once")).memories
    )
    messages = [
        line("m1"),
        *lines(2, 2),
        line("m4", "Concept once was here."),
        *lines(2, 5),
    ]
    await stage.sync("c1", messages)
    assert await state(stage, "once") is MemoryState.ACTIVE
    assert mind.residency.whole
    assert world.minds[SOUL] is mind


async def test_filler_goes_first_then_plain_talk_whomever_it_names_and_a_promise_stays() -> None:
    """By an encoder: words alone are never sure that a line says nothing."""
    stage = Stage(fallback=PACKAGED, judges_lines=True)
    await stage.start()
    filler, plain, _promise = texts = [
        "Good morning.",
        "Tobin yawned and looked at the fire beside a rusty spoon.",
        "I promise I'll come back.",
    ]
    await stage.soul()
    said = [line(f"m{n}", text) for n, text in enumerate(texts, 1)]
    await stage.sync("c1", [*said, *lines(1, start=9)])
    keys = {text: await stage.find(f"Al: {text}") for text in texts}
    await concepts(stage, ["tobin"], keys[plain])
    await stage.engine.embedding.wait_pending()
    gone: dict[str, int] = {}  # turns after which each had left
    for turns in (*range(100, 3001, 100), 100_000):
        stage.clock.advance(0.0, 100 if turns <= 3000 else turns)
        await stage.engine.idle.run()
        for text, key in keys.items():
            if await state(stage, key) is not MemoryState.ACTIVE:
                gone.setdefault(text, turns)
    assert list(gone) == [filler, plain]
    assert 500 <= gone[filler] < gone[plain] <= 3000
    await stage.engine.memories.restore(ME, keys[filler])
    stage.clock.advance(0.0, 4000)
    await stage.engine.idle.run()
    assert await state(stage, keys[filler]) is MemoryState.ACTIVE
    await stage.stop()


async def test_what_is_forgotten_first_matters_least(stage: Stage) -> None:
    await stage.soul()
    mind = await stage.mind()
    said = [
        line("m1", "You are mixing that up."),
        line("m2", "Good morning."),
        line("m3", "It's raining again."),
    ]
    await stage.sync("c1", [*said, *lines(1, start=9)])
    await stage.engine.embedding.wait_pending()
    stage.clock.advance(0.0, 40_000)
    suspected = due_texts(mind, stage.clock.extra_turns)
    assert [mind.memories[key].text for key in suspected] == [
        "Al: Good morning.",
        "Al: It's raining again.",
        "Al: You are mixing that up.",
    ]


async def test_a_text_that_recalls_go_over_on_their_way_is_not_forgotten(
    stage: Stage,
) -> None:
    text = await talk(stage, "It rained all day.")
    await stage.engine.embedding.wait_pending()
    stage.clock.advance(0.0, 4000)
    mind = await stage.mind()
    await stage.engine.learner._load(lambda: [mind])  # the graph library
    assert mind.recalls.working is not None
    for _ in range(4):
        mind.recalls.working.add_recall([[text, await stage.find("Mira: text of m2")]], 4000)
    await stage.engine.idle.run()
    assert await state(stage, text) is MemoryState.ACTIVE
    mind.recalls.working.drop(text)
    await stage.engine.idle.run()
    assert await state(stage, text) is MemoryState.FORGOTTEN


async def test_a_concept_tells_how_present_it_is_and_looking_changes_nothing(
    stage: Stage,
) -> None:
    text = await talk(stage)
    await concepts(stage, ["once"], text)
    first = await stage.engine.memories.get(ME, MemoryId("once"))
    assert first.base_activation is not None
    assert 0.0 < first.base_activation < 1.0
    assert [place.slot for place in first.sources] == ["m1"]
    await stage.recall("Concept once", "c1")
    stage.clock.advance(timedelta(30).total_seconds(), 0)
    assert (
        await stage.engine.memories.get(ME, MemoryId("once"))
    ).base_activation == first.base_activation
    stage.clock.advance(0.0, 300)
    later = await stage.engine.memories.get(ME, MemoryId("once"))
    assert later.base_activation == pytest.approx(first.base_activation / 2.718281828, rel=1e-6)
    assert (await stage.engine.memories.get(ME, text)).base_activation is None


async def test_names_that_messages_give_live_and_go_and_the_fingerprint_knows_nothing_of_it(
    stage: Stage,
) -> None:
    await stage.soul(clock=SoulClock.WALL)
    messages = [
        line("a1", "I met Zephyrine at the well."),
        line("a2", "Zephyrine? A fine name.", Role.CHARACTER),
    ]
    seen: list[dict[str, MemoryState]] = []
    for day in range(32):
        messages += [
            line(f"x{day}", f"Balthasar came by, day {day}."),
            line(f"y{day}", "I see.", Role.CHARACTER),
        ]
        await stage.sync("c1", [*messages, line("end", "Hm.")])
        await stage.engine.idle.run()
        memories = (await stage.mind()).memories.values()
        seen.append({m.text: m.state for m in memories if m.kind is MemoryKind.CONCEPT})
        stage.clock.advance(DAY)
    assert seen[20]["Zephyrine"] is MemoryState.ACTIVE
    assert seen[30]["Zephyrine"] is MemoryState.FORGOTTEN
    assert all(names["Balthasar"] is MemoryState.ACTIVE for names in seen[1:])
    replay = Stage()
    await replay.start()
    await replay.soul(clock=SoulClock.WALL)
    await replay.sync("c1", [*messages, line("end", "Hm.")])
    assert await replay.fingerprint() == await stage.fingerprint()
    await replay.stop()
    messages += [line("z1", "Zephyrine is back!"), line("z2", "Oh.", Role.CHARACTER)]
    await stage.sync("c1", [*messages, line("end", "Hm.")])
    (back,) = [m for m in (await stage.mind()).memories.values() if m.text == "Zephyrine"]
    assert back.state is MemoryState.ACTIVE


async def test_forgetting_can_be_asked_for_as_a_job(stage: Stage) -> None:
    text = await talk(stage)
    await concepts(stage, ["a", "b"], text)
    stage.clock.advance(0.0, 700)
    job = await stage.engine.jobs.ask(ME, "forget", SOUL, {})
    for _ in range(500):
        if (view := stage.engine.jobs.get(ME, job)).state not in (
            JobState.QUEUED,
            JobState.RUNNING,
        ):
            break
        await asyncio.sleep(0.01)
    assert view.result == {"forgotten": 2}
    page = await stage.engine.history.audit(ME, SOUL, None, 100, None)
    origins = {entry.target: (entry.actor, entry.source) for entry in page.entries}
    assert origins["a"] == origins["b"] == (Actor.ENGINE, job)


async def test_a_job_that_forgot_is_undone_for_good(stage: Stage) -> None:
    """What was undone is not forgotten again in the next quiet moment."""
    text = await talk(stage)
    await concepts(stage, ["a", "b"], text)
    stage.clock.advance(0.0, 700)
    before = await stage.fingerprint()
    job = await stage.engine.jobs.ask(ME, "forget", SOUL, {})
    assert (await ended(stage, job)).result == {"forgotten": 2}
    undo = stage.engine.history.undo
    result = await undo(ME, SOUL, since=None, change=None, job=job)
    assert set(result.memories) == {"a", "b"}
    assert await stage.fingerprint() == before
    await stage.engine.idle.run()
    await stage.restart()
    await stage.engine.idle.run()
    for key in ("a", "b"):
        assert await state(stage, MemoryId(key)) is MemoryState.ACTIVE


async def test_a_concept_that_is_spoken_of_weighs_as_if_it_were_young(
    stage: Stage,
) -> None:
    text = await talk(stage)
    await concepts(stage, ["spoken", "silent"], text, Origin.USER)
    mind = await stage.mind()
    rows = np.asarray(
        [mind.row_of(mind.memories[MemoryId(k)]) for k in ("spoken", "silent")] + [0],
        np.int64,
    )
    old = np.asarray([0.01, 0.01, 0.01])
    assert mind.columns.kind[0] == MEMORY_KINDS.index(MemoryKind.EPISODE)
    stage.clock.advance(0.0, 1500)
    assert (raised_by_activation(mind, rows, old, 1500) == old).all()
    await concepts(stage, ["spoken"], text, Origin.USER)
    young = raised_by_activation(mind, rows, old, 1500)
    assert young[0] > 0.05
    assert (young[1:] == 0.01).all()
