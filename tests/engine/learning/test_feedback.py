"""A verdict about a recalled memory changes later recalls, and can be undone."""

from __future__ import annotations

import pytest

from soulmem.domain.audit import Action, Actor
from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import NotFound, Unprocessable
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.opinions import Verdict
from soulmem.engine.api.requests import NewEdge
from tests.engine.stage import ME, Stage, lines


async def give_verdict(stage: Stage, trace: str, memory: str, verdict: Verdict) -> str:
    return (await stage.engine.feedback.give(ME, trace, MemoryId(memory), verdict)).change


async def scores(stage: Stage, query: str, chat: str | None = None) -> dict[str, float]:
    answer = await stage.recall(query, chat)
    return {memory.id: memory.score for memory in answer.memories}


async def undo(stage: Stage, change: str) -> None:
    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=change, job=None)


async def test_praise_lifts_and_blame_lowers_what_a_memory_weighs(stage: Stage) -> None:
    await stage.soul()
    keys = [(await stage.note(f"the brass key of tower {n}")).memory.id for n in range(4)]
    for n in range(8):
        await stage.note(f"otters, part {n}")
    before = await scores(stage, "brass key tower")
    trace = (await stage.recall("brass key tower")).trace

    changes = [
        await give_verdict(stage, trace, keys[0], Verdict.STRONGER),
        await give_verdict(stage, trace, keys[1], Verdict.WRONG),
    ]
    scores_after = await scores(stage, "brass key tower")
    assert scores_after[keys[0]] - scores_after[keys[2]] > before[keys[0]] - before[keys[2]]
    assert keys[1] not in scores_after
    opinion = (await stage.mind()).opinions.of(keys[1])
    assert opinion is not None
    assert opinion.doubted is not None

    await stage.restart()
    assert await scores(stage, "brass key tower") == pytest.approx(scores_after)
    for change in changes:
        await undo(stage, change)
    assert await scores(stage, "brass key tower") == pytest.approx(before)
    await stage.restart()
    assert await scores(stage, "brass key tower") == pytest.approx(before)


async def test_what_is_never_wanted_here_comes_elsewhere(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", lines(3))
    await stage.sync("c2", lines(3, start=10))
    key = (await stage.note("the brass key")).memory.id
    answer = await stage.recall("brass key", "c1")
    change = await give_verdict(stage, answer.trace, key, Verdict.NEVER_HERE)

    assert key not in await scores(stage, "brass key", "c1")
    assert key in await scores(stage, "brass key", "c2")
    assert key in await scores(stage, "brass key")
    await stage.restart()
    assert key not in await scores(stage, "brass key", "c1")
    await undo(stage, change)
    assert key in await scores(stage, "brass key", "c1")


async def test_the_way_that_led_there_grows_or_weakens(stage: Stage) -> None:
    await stage.soul()
    far = (await stage.note("an otter dives")).memory.id
    edge = NewEdge(EdgeKind.ASSOCIATES, to=far, strength=0.5)
    await stage.note("the brass key", edges=(edge,))
    answer = await stage.recall("brass key")
    (brought,) = [memory for memory in answer.memories if memory.id == far]
    assert len(brought.edges) == 1, "the otter came over the edge"

    async def strength() -> float:
        edges = (await stage.engine.memories.get(ME, far)).edges
        return next(edge.strength for edge in edges if edge.id == brought.edges[0])

    weaker = await give_verdict(stage, answer.trace, far, Verdict.NOT_NOW)
    assert await strength() == pytest.approx(1 - 0.5 / 0.9**3)
    await stage.restart()
    assert await strength() == pytest.approx(1 - 0.5 / 0.9**3)
    await undo(stage, weaker)
    assert await strength() == pytest.approx(0.5)
    answer = await stage.recall("brass key")
    await give_verdict(stage, answer.trace, far, Verdict.STRONGER)
    assert await strength() == pytest.approx(0.5 + 3 * 0.1 * 0.5)


async def test_a_word_is_the_users_own_and_undone_by_name_alone(stage: Stage) -> None:
    await stage.soul()
    key = (await stage.note("the brass key")).memory.id
    start = stage.clock.now()
    change = await give_verdict(stage, (await stage.recall("brass key")).trace, key, Verdict.WRONG)

    entry = (await stage.engine.history.audit(ME, SoulId("s1"), None, 1, None)).entries[0]
    assert (entry.id, entry.actor, entry.action, entry.target) == (
        change,
        Actor.USER,
        Action.FEEDBACK,
        key,
    )
    assert entry.reason == "wrong"
    await stage.engine.history.undo(ME, SoulId("s1"), since=start, change=None, job=None)
    opinion = (await stage.mind()).opinions.of(key)
    assert opinion is not None
    assert opinion.doubted is not None


async def test_what_was_withheld_can_be_judged(stage: Stage) -> None:
    """It came to mind, and the trace shows it."""
    await stage.soul(restraint=2.0)
    notes = [await stage.note(f"the brass key of door {n}") for n in range(4)]
    answer = await stage.recall("door 3", max_items=1)
    brought = {memory.id for memory in answer.memories}
    other = next(made.memory.id for made in notes if made.memory.id not in brought)
    await give_verdict(stage, answer.trace, other, Verdict.STRONGER)
    opinion = (await stage.mind()).opinions.of(other)
    assert opinion is not None
    assert opinion.score > 0.5


async def test_what_was_not_brought_cannot_be_judged(stage: Stage) -> None:
    await stage.soul()
    key = (await stage.note("the brass key")).memory.id
    trace = (await stage.recall("brass key")).trace
    with pytest.raises(NotFound):
        await give_verdict(stage, "nobody", key, Verdict.WRONG)
    with pytest.raises(NotFound):
        await give_verdict(stage, trace, "nobody", Verdict.WRONG)
    with pytest.raises(Unprocessable):
        await give_verdict(stage, trace, key, Verdict.NEVER_HERE)  # no chat
