"""A bundle brings the user's opinions, and audit entries say which import a memory came from."""

from __future__ import annotations

from soulmem.domain.audit import Action, Actor
from soulmem.domain.ids import SoulId
from soulmem.domain.memories import MemoryState
from soulmem.domain.opinions import Verdict
from soulmem.engine.runtime.jobs import JobState
from tests.engine.exchange.test_bundle_import import begin, exported, take_in
from tests.engine.stage import ME, Stage, ended, line, lines


async def test_what_the_user_said_of_memories_goes_along(stage: Stage) -> None:
    """Into an empty soul of that id, and into one of another."""
    await stage.sync("c1", [line("m1", "Mira lost the ring."), *lines(3, start=2)])
    answer = await stage.recall("the ring", "c1")
    judged = answer.memories[0].id
    await stage.engine.feedback.give(ME, answer.trace, judged, Verdict.WRONG)
    await stage.engine.feedback.give(ME, answer.trace, judged, Verdict.NEVER_HERE)
    opinion = (await stage.mind()).opinions.of(judged)
    assert opinion is not None
    assert (opinion.doubted is not None, opinion.not_in) == (True, ("c1",))
    data = await exported(stage)

    other = Stage()
    await other.start()
    for soul in ("s1", "s9"):
        await other.soul(soul)
        await take_in(other, data, soul)
        mind = await other.mind(soul)
        key = await other.find("Al: Mira lost the ring.", soul=soul)
        there = mind.opinions.of(key)
        assert there is not None
        assert (there.score, there.doubted) == (opinion.score, opinion.doubted)
        assert not any(memory.id == key for memory in await other.visible(there.not_in[0], soul))
    assert (await take_in(other, data))["memories"] == 0
    await other.stop()


async def test_what_came_with_a_bundle_by_hand_is_told_and_undone_by_its_job(
    stage: Stage,
) -> None:
    await stage.sync("c1", lines(4))
    made = (await stage.note("by hand")).memory
    data = await exported(stage)
    other = Stage()
    await other.start()
    await other.soul()
    job = await begin(other, data)
    assert (await ended(other, job)).state is JobState.DONE
    page = await other.engine.history.audit(ME, SoulId("s1"), None, 99, None)
    assert [(e.actor, e.action, e.target, e.source) for e in page.entries] == [
        (Actor.IMPORT, Action.CREATE, made.id, job)
    ]
    await other.engine.history.undo(ME, SoulId("s1"), since=None, change=None, job=job)
    assert [m.text for m in await other.listed(MemoryState.BIN)] == ["by hand"]
    assert len(await other.listed()) == 3
    await other.stop()
