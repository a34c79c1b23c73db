"""A search lists what is like its words in the order of a recall, then what has them as they are, and ends."""

from __future__ import annotations

from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryState
from soulmem.domain.opinions import Verdict
from soulmem.engine.api.requests import MemoryFilter, TagMatch
from tests.engine.stage import ME, Stage


async def search(
    stage: Stage, q: str, limit: int = 100, state: MemoryState = MemoryState.ACTIVE
) -> list[str]:
    texts: list[str] = []
    cursor: str | None = None
    while True:
        wanted = MemoryFilter(
            SoulId("s1"),
            q=q,
            match=TagMatch.MEANING,
            limit=limit,
            cursor=cursor,
            state=state,
        )
        page = await stage.engine.memories.list(ME, wanted)
        texts += [view.memory.text for view in page.memories]
        cursor = page.cursor
        if cursor is None:
            return texts


async def test_the_best_comes_first_and_not_the_newest(stage: Stage) -> None:
    await stage.soul()
    await stage.note("Wren is afraid of bells, since the fire in the belfry.")
    for n in range(12):
        await stage.note(f"Mordecai thanks Wren, time {n}.")
    assert await search(stage, "why was Wren afraid of bells") == [
        "Wren is afraid of bells, since the fire in the belfry."
    ]
    every = await search(stage, "Wren")
    assert len(every) == len(set(every)) == 13
    assert sorted(await search(stage, "Wren", limit=4)) == sorted(every)


async def test_an_answer_is_found_beside_the_question_in_the_same_words(
    stage: Stage,
) -> None:
    await stage.soul()
    for n in range(30):
        await stage.note(f"Mordecai polishes spoon{n} in cellar{n}.")
    question = "Where did Wren hide the brass key?"
    answer = "Wren put the key into the hollow oak."
    for text in (question, answer):
        await stage.note(text)
    assert await search(stage, question) == [question, answer]


async def test_what_nothing_is_like_finds_nothing(stage: Stage) -> None:
    await stage.soul()
    for n in range(12):
        await stage.note(f"Mordecai thanks Wren, time {n}.")
    assert await search(stage, "zeppelin") == []


async def test_it_teaches_nothing(stage: Stage) -> None:
    await stage.soul()
    key = (await stage.note("The brass key is in the well.")).memory.id
    await search(stage, "brass key")
    await stage.engine.idle.run()
    assert (await stage.engine.memories.get(ME, MemoryId(key))).usage is None


async def test_what_is_in_doubt_or_in_the_bin_is_found_by_its_words(
    stage: Stage,
) -> None:
    await stage.soul()
    text = "The brass key is in the well."
    key = (await stage.note(text)).memory.id
    trace = (await stage.recall("brass key")).trace
    await stage.engine.feedback.give(ME, trace, key, Verdict.WRONG)
    assert await search(stage, "brass key") == [text]
    for n in range(12):
        await stage.note(f"Mordecai polishes a key, time {n}.")
    assert (await search(stage, "where is the brass key"))[0] == text
    await stage.engine.memories.delete(ME, key, None)
    assert text not in await search(stage, "brass key")
    assert await search(stage, "brass key", state=MemoryState.BIN) == [text]


async def test_strength_is_what_time_left(stage: Stage) -> None:
    await stage.soul()
    plain = (await stage.note("The brass key is in the well.")).memory.id
    core = (await stage.note("She is allergic to nuts.", permanent=True)).memory.id
    seen = []
    for turns in (0, 300, 900):
        stage.clock.advance(0.0, turns)
        whole = (await stage.engine.memories.get(ME, plain)).strength
        page = await stage.engine.memories.list(ME, MemoryFilter(SoulId("s1")))
        assert {view.memory.id: view.strength for view in page.memories} == {
            plain: whole,
            core: 1.0,
        }
        seen.append(whole)
    assert seen[0] == 1.0
    assert seen[0] > seen[1] > seen[2] > 0.0
