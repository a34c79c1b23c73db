"""When recalls teach, what is recorded, and that it lasts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from soulmem.conversation.episodes import spoken
from soulmem.domain.dialogue import Role
from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import NotFound
from soulmem.domain.ids import SlotId, SoulId
from soulmem.engine.api.requests import RecallType
from soulmem.engine.api.results import Recalled
from tests.conftest import Failures
from tests.engine.picky_store import PickyStore
from tests.engine.stage import ME, Stage, line
from tests.engine.taught import BREAD, KEY, NEXT, REPLY, STORES, TALK, lived_chat, uses


@pytest.fixture(params=STORES)
async def chat_stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    """A soul after a chat, with a reply due, on a store that outlives its engine."""
    async with lived_chat(request.param, tmp_path) as stage:
        yield stage


async def ask(
    stage: Stage, query: str = "silver key", slot: str | None = "r1", **more: Any
) -> Recalled:
    """Recall one memory for a reply in c1, its first swipe unless another is given."""
    where = SlotId(slot) if slot else None
    return await stage.recall(query, "c1", slot=where, max_items=1, **{"swipe": 0, **more})


async def test_a_recall_teaches_once_its_reply_is_settled(chat_stage: Stage) -> None:
    """Not when it is asked, not while the reply may still be swiped away; only what came was used."""
    answer = await ask(chat_stage)
    assert [m.text for m in answer.memories] == [KEY]
    assert await uses(chat_stage) == 0
    await chat_stage.sync("c1", [*TALK, REPLY])
    assert await uses(chat_stage) == 0
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT])
    assert (await uses(chat_stage), await uses(chat_stage, BREAD)) == (1, 0)


async def test_a_left_chat_and_ten_minutes_settle_too(chat_stage: Stage) -> None:
    await ask(chat_stage)
    await chat_stage.sync("c1", [*TALK, REPLY])
    await chat_stage.close("c1")
    assert await uses(chat_stage) == 1
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT])
    await ask(chat_stage, slot="r2")
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT, line("r2", "Yes.", Role.CHARACTER)])
    chat_stage.clock.advance(601)
    await chat_stage.engine.idle.run()
    assert await uses(chat_stage) == 2


async def test_what_is_recorded(chat_stage: Stage) -> None:
    """The count, the first and the last time on both clocks, every time stamp."""
    asked = []
    messages = list(TALK)
    for number in range(3):
        chat_stage.clock.advance(60)
        asked.append(chat_stage.clock.now())
        await ask(chat_stage, slot=f"r{number}")
        messages += [
            line(f"r{number}", "Yes.", Role.CHARACTER),
            line(f"n{number}", "And?"),
        ]
        chat_stage.clock.advance(60)
        await chat_stage.sync("c1", messages)
    usage = (await chat_stage.engine.memories.get(ME, await chat_stage.find(KEY))).usage
    assert usage is not None
    assert (usage.count, [stamp.moment for stamp in usage.stamps]) == (3, asked)
    assert [stamp.turn for stamp in usage.stamps] == [
        3,
        4,
        5,
    ]  # what Al had said by then
    assert usage.frequency(window=3.0) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "more",
    [
        {"type": RecallType.QUIET},
        {"slot": None},
        {"swipe": None},
        {"type": RecallType.PREVIEW},
        {"slot": None, "swipe": None},
    ],
)
async def test_quiet_recalls_and_those_for_no_reply_teach_nothing(
    chat_stage: Stage, more: dict[str, Any]
) -> None:
    await ask(chat_stage, **more)
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT])
    assert await uses(chat_stage) == 0


async def test_a_preview_leaves_no_trace(chat_stage: Stage) -> None:
    preview = await chat_stage.recall("silver key", "c1", type=RecallType.PREVIEW)
    assert preview.memories
    with pytest.raises(NotFound):
        await chat_stage.engine.recaller.trace(ME, preview.trace)
    quiet = await chat_stage.recall("silver key", "c1", type=RecallType.QUIET)
    assert (await chat_stage.engine.recaller.trace(ME, quiet.trace)).id == quiet.trace
    assert [memory.id for memory in quiet.memories] == [m.id for m in preview.memories]


async def test_a_recall_outside_of_chats_teaches_nothing(chat_stage: Stage) -> None:
    await chat_stage.recall("silver key", None, slot=SlotId("r1"), swipe=0)
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT])
    assert await uses(chat_stage) == 0


async def test_what_was_swiped_away_teaches_nothing(chat_stage: Stage) -> None:
    """Only the recall of the swipe that was kept does."""
    await ask(chat_stage, "silver key")
    await chat_stage.sync("c1", [*TALK, REPLY])
    await ask(chat_stage, "Sunday bread", type=RecallType.SWIPE, swipe=1)
    kept = replace(line("r1", "Raisins!", Role.CHARACTER), swipe=1)
    await chat_stage.sync("c1", [*TALK, kept])
    await chat_stage.sync("c1", [*TALK, kept, NEXT])
    assert (await uses(chat_stage), await uses(chat_stage, BREAD)) == (0, 1)


async def test_of_two_recalls_for_one_reply_the_last_one_teaches(
    chat_stage: Stage,
) -> None:
    await ask(chat_stage, "silver key")
    await ask(chat_stage, "Sunday bread", type=RecallType.REGENERATE)
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT])
    assert (await uses(chat_stage), await uses(chat_stage, BREAD)) == (0, 1)


async def test_a_reply_teaches_once(chat_stage: Stage) -> None:
    """Also when it is recalled for again after it was settled, or after a restart."""
    await ask(chat_stage)
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT])
    for again in (False, True):
        if again:
            await chat_stage.restart()
        await ask(chat_stage, type=RecallType.CONTINUE)
        await chat_stage.sync(
            "c1", [*TALK, REPLY, NEXT, line(f"m7{again}", "Well.", Role.CHARACTER)]
        )
        assert await uses(chat_stage) == 1


async def test_a_reply_in_another_chat_is_another_one(chat_stage: Stage) -> None:
    """Slots are unique within a family of chats only."""
    await chat_stage.sync("c2", [line("x1", "Hello.")])
    await ask(chat_stage)
    await chat_stage.sync("c2", [line("x1", "Hello."), REPLY, NEXT])
    assert await uses(chat_stage) == 0


async def test_what_was_learned_lasts(chat_stage: Stage) -> None:
    """After a restart it is there, and the memory itself was not rewritten; what waited is forgotten."""
    await ask(chat_stage)
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT])
    before = await chat_stage.engine.memories.get(ME, await chat_stage.find(KEY))
    await ask(chat_stage, slot="r2")
    await chat_stage.restart()
    assert await chat_stage.engine.memories.get(ME, before.memory.id) == before
    assert before.usage is not None
    mind = await chat_stage.mind()
    row = mind.row_of(before.memory)
    assert (
        mind.recalls.uses(mind.size)[row],
        mind.recalls.last_turn(mind.size)[row],
    ) == (1, 3)
    more = [*TALK, REPLY, NEXT, line("r2", "Yes.", Role.CHARACTER), line("m8", "Hm.")]
    await chat_stage.sync("c1", more)
    assert await uses(chat_stage) == 1


async def test_a_store_that_refuses_lets_the_lesson_wait(failures: Failures) -> None:
    """Nothing of it is known meanwhile, and a process that dies then leaves nothing of it."""
    store = PickyStore()
    stage = Stage(store)
    await stage.start()
    await stage.soul()
    await stage.sync("c1", TALK)
    await ask(stage)
    answer = await stage.sync("c1", [*TALK, REPLY, NEXT])
    assert answer.applied
    assert await uses(stage) == 1
    await ask(stage, slot="r2")
    messages = [
        *TALK,
        REPLY,
        NEXT,
        line("r2", "Yes.", Role.CHARACTER),
        line("m8", "Hm."),
    ]
    store.fail_in = 2  # the sync is stored, the lesson is not
    await stage.sync("c1", messages)
    assert await uses(stage) == 1
    (told,) = failures.take()
    assert "the disk is full" in told
    assert len((await store.recalls(ME, SoulId("s1"))).records) == 1
    died = Stage(store.twin())
    await died.start()
    assert await uses(died) == 1
    await died.stop()
    await stage.engine.idle.run()
    assert await uses(stage) == 2
    await stage.stop()


async def test_the_record_goes_with_its_memory(chat_stage: Stage) -> None:
    """An edited message is another memory; nothing of the old one is left in the store."""
    await ask(chat_stage)
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT])
    assert await uses(chat_stage) == 1
    await chat_stage.sync("c1", [line("m1", "I lost the silver key."), *TALK[1:], REPLY, NEXT])
    assert await uses(chat_stage, "Al: I lost the silver key.") == 0
    assert (await chat_stage.store.recalls(ME, SoulId("s1"))).usages == []


async def test_learning_leaves_the_fingerprint_alone(chat_stage: Stage) -> None:
    untaught = Stage()
    await untaught.start()
    await untaught.soul()
    await untaught.sync("c1", [*TALK, REPLY, NEXT])
    await ask(chat_stage)
    await chat_stage.sync("c1", [*TALK, REPLY, NEXT])
    assert await uses(chat_stage) == 1
    assert await chat_stage.fingerprint() == await untaught.fingerprint()
    await untaught.stop()


async def test_recalls_that_never_came_to_a_reply_are_forgotten(
    chat_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest first, so that they do not pile up."""
    monkeypatch.setattr("soulmem.engine.learning.learner._PENDING", 2)
    for slot in ("r1", "r2", "r3"):
        await ask(chat_stage, slot=slot)
    replies = [line(slot, "Yes.", Role.CHARACTER) for slot in ("r1", "r2", "r3")]
    await chat_stage.sync("c1", [*TALK, *replies, NEXT])
    assert await uses(chat_stage) == 2


async def test_a_renamed_speaker_keeps_what_was_learned_of_the_lines(
    chat_stage: Stage,
) -> None:
    """Recalls and the strengths of links go over to the lines under the new name, and last."""
    await ask(chat_stage)
    messages = [*TALK, REPLY, NEXT]
    await chat_stage.sync("c1", messages)
    assert await uses(chat_stage) == 1
    (speaker,) = {m.speaker for m in TALK if KEY.endswith(m.text or "-")}

    async def learned(name: str) -> dict[str, tuple[int, list[tuple[str, float]]]]:
        """Of each line of that speaker: how often it was recalled, and its links."""
        mind = await chat_stage.mind()
        out = {}
        for memory in mind.memories.values():
            if memory.text.startswith(f"{name}: "):
                usage = mind.recalls.usage(memory.id)
                links = [
                    (edge.kind.value, edge.strength)
                    for edge in mind.edges.of(memory.id)
                    if edge.kind is not EdgeKind.NEXT
                ]
                out[spoken(memory)] = usage.count if usage else 0, sorted(links)
        return out

    before = await learned(speaker)
    assert [count for count, _ in before.values() if count] == [1]
    renamed = [replace(m, speaker="Lin") if m.speaker == speaker else m for m in messages]
    await chat_stage.sync("c1", renamed)
    assert await learned("Lin") == before
    await chat_stage.restart()
    assert await learned("Lin") == before
    assert not await learned(speaker)
