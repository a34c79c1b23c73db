"""Tellings of one event become one memory with all their evidence, and come apart when it goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from soulmem.domain.dialogue import SentMessage
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryKind, MemoryState
from soulmem.engine.api.requests import ImportFormat, ImportRequest, MemoryPatch
from soulmem.engine.runtime.jobs import JobState, JobView
from tests.engine.stage import ME, Stage, ended, line, lines

STORY = "{}Irma and I stole the silver flag from the mill that night, and nobody {}."
WAYS = [
    STORY.format("", "noticed"),
    STORY.format("Well, ", "noticed it"),
    STORY.format("You know, ", "ever noticed"),
    STORY.format("Yes, ", "noticed"),
]
OTHERS = [
    "Irma and I stole the silver spoon from the mill that night, and nobody noticed.",
    "Irma and I stole the silver flag from the barn that night, and nobody noticed.",
    "Hugo and I stole the silver flag from the mill that night, and nobody noticed.",
    "Irma and I never stole the silver flag from the mill that night; nobody noticed.",
]
NOON = datetime(2024, 3, 1, 12, tzinfo=timezone.utc)
ASKED = "What did Irma steal from the mill?"


def chat(*texts: str) -> list[SentMessage]:
    """These lines of the user, and a last one that is not settled."""
    said = [line(f"m{i}", text) for i, text in enumerate(texts)]
    return [*said, line("last", "Hm.")]


async def lived(stage: Stage, texts: Sequence[str] = WAYS) -> None:
    """A soul to which each of these was told in a chat of its own."""
    await stage.soul(forgetting=0.0)
    for number, text in enumerate(texts):
        await stage.sync(f"c{number}", chat(text))


async def replay(stage: Stage) -> JobView:
    """The job `replay`."""
    job = await stage.engine.jobs.ask(ME, "replay", SoulId("s1"), {})
    return await ended(stage, job)


async def tellings_by_text(stage: Stage) -> dict[str, int]:
    """How many tellings each memory in use unites, by its text."""
    out = {}
    for memory in await stage.listed():
        if memory.kind is MemoryKind.EPISODE:
            view = await stage.engine.memories.get(ME, memory.id)
            out[memory.text.removeprefix("Al: ")] = view.told
    return out


async def test_tellings_of_one_event_are_one_memory_and_all_others_stay(
    stage: Stage,
) -> None:
    await lived(stage, [*WAYS, *OTHERS])
    print_before = await stage.fingerprint()
    await stage.engine.idle.run()

    (event,) = [text for text, count in (await tellings_by_text(stage)).items() if count > 1]
    assert event in WAYS
    assert await tellings_by_text(stage) == {event: 4, **dict.fromkeys(OTHERS, 1)}
    view = await stage.engine.memories.get(ME, await stage.find(f"Al: {event}"))
    assert {place.chat for place in view.sources} == {"c0", "c1", "c2", "c3"}
    merged = await stage.listed(MemoryState.MERGED)
    assert {memory.merged_into for memory in merged} == {view.memory.id}
    assert await stage.fingerprint() == print_before


async def test_an_event_is_recalled_once_with_all_its_messages(stage: Stage) -> None:
    await lived(stage)
    await stage.engine.idle.run()

    answer = await stage.recall(ASKED)

    (memory,) = answer.memories
    assert {place.chat for place in memory.sources} == {"c0", "c1", "c2", "c3"}


async def test_a_branch_knows_only_what_was_told_before_its_fork(stage: Stage) -> None:
    await stage.soul(forgetting=0.0)
    whole = chat("Good morning.", WAYS[1], "Fine.", WAYS[0], WAYS[2], WAYS[3])
    await stage.sync("c1", whole)
    await stage.sync("early", whole[:2], parent=("c1", "m0"))
    await stage.sync("b", [*whole[:3], line("n", "Hm.")], parent=("c1", "m2"))
    await stage.engine.idle.run()

    async def answers(where: str) -> list[tuple[str, int]]:
        found = (await stage.recall(ASKED, where)).memories
        slots = [{place.slot for place in memory.sources} for memory in found]
        texts = [memory.text for memory in found]
        pairs = zip(texts, map(len, slots), strict=True)
        return [(text, count) for text, count in pairs if "mill" in text]

    assert [count for _, count in await answers("c1")] == [4]
    assert await answers("b") == [(f"Al: {WAYS[1]}", 1)]
    assert await answers("early") == []


async def test_when_the_memory_goes_another_telling_takes_its_place(
    stage: Stage,
) -> None:
    await lived(stage)
    await stage.engine.idle.run()
    (event,) = await tellings_by_text(stage)
    await stage.sync(f"c{WAYS.index(event)}", [line("last", "Hm.")], confirm=True)

    remaining = await tellings_by_text(stage)
    assert list(remaining.values()) == [3]
    assert event not in remaining
    for number in range(4):
        await stage.sync(f"c{number}", [line("last", "Hm.")], confirm=True)
    assert await tellings_by_text(stage) == {}
    assert await stage.listed(MemoryState.MERGED) == []


async def test_undoing_the_job_separates_the_tellings_for_good(stage: Stage) -> None:
    await lived(stage)
    done = await replay(stage)
    assert done.state is JobState.DONE
    assert done.result["joined"] == 3
    assert len(await tellings_by_text(stage)) == 1

    undo = stage.engine.history.undo
    await undo(ME, SoulId("s1"), since=None, change=None, job=done.id)
    assert await tellings_by_text(stage) == dict.fromkeys(WAYS, 1)
    await stage.engine.idle.run()
    assert await tellings_by_text(stage) == dict.fromkeys(WAYS, 1)


async def test_what_the_user_made_or_protects_is_never_joined(stage: Stage) -> None:
    await lived(stage)
    made = await stage.note(f"Al: {WAYS[0]}", kind=MemoryKind.EPISODE)
    fixed = await stage.find(f"Al: {WAYS[1]}")
    await stage.engine.memories.patch(ME, fixed, MemoryPatch(permanent=True))
    await stage.engine.idle.run()

    for key in (made.memory.id, fixed):
        view = await stage.engine.memories.get(ME, key)
        assert (view.told, view.memory.state) == (1, MemoryState.ACTIVE)
        assert key not in {m.merged_into for m in await stage.listed(MemoryState.MERGED)}


async def test_a_memory_that_the_user_takes_over_lets_the_others_go_on_without_it(
    stage: Stage,
) -> None:
    await lived(stage)
    await stage.engine.idle.run()
    (event,) = await tellings_by_text(stage)
    key = await stage.find(f"Al: {event}")
    await stage.engine.memories.patch(ME, key, MemoryPatch(locked=True))

    assert sorted((await tellings_by_text(stage)).values()) == [1, 3]
    view = await stage.engine.memories.get(ME, key)
    assert view.told == 1


@pytest.mark.parametrize(
    "patch", [MemoryPatch(permanent=True), MemoryPatch(text="It was my flag.")]
)
async def test_a_merged_telling_that_the_user_takes_over_comes_back(
    stage: Stage, patch: MemoryPatch
) -> None:
    await lived(stage)
    await stage.engine.idle.run()
    key = (await stage.listed(MemoryState.MERGED))[0].id
    await stage.engine.memories.patch(ME, key, patch)
    await stage.engine.idle.run()

    view = await stage.engine.memories.get(ME, key)
    assert (view.memory.state, view.memory.merged_into) == (MemoryState.ACTIVE, None)
    assert sorted((await tellings_by_text(stage)).values()) == [1, 3]


@pytest.mark.parametrize("how", ["restart", "again"])
async def test_what_is_joined_stays_so(stage: Stage, how: str) -> None:
    await lived(stage)
    await stage.engine.idle.run()
    before = [replace(m) for m in await stage.listed(MemoryState.MERGED)]
    assert len(before) == 3
    if how == "restart":
        await stage.restart()
    await stage.engine.idle.run()

    assert await stage.listed(MemoryState.MERGED) == before
    assert list((await tellings_by_text(stage)).values()) == [4]


async def test_a_new_telling_joins_what_is_united_already(stage: Stage) -> None:
    await lived(stage, WAYS[:3])
    await stage.engine.idle.run()
    (event,) = await tellings_by_text(stage)
    await stage.sync("late", chat(WAYS[3]))
    assert len(await tellings_by_text(stage)) == 2
    await stage.engine.idle.run()

    assert await tellings_by_text(stage) == {event: 4}


async def test_a_deleted_memory_gives_back_what_it_stood_for(stage: Stage) -> None:
    await lived(stage)
    await stage.engine.idle.run()
    (event,) = await tellings_by_text(stage)
    key = await stage.find(f"Al: {event}")
    await stage.engine.memories.delete(ME, MemoryId(key), None)

    assert list((await tellings_by_text(stage)).values()) == [3]
    assert event not in await tellings_by_text(stage)


async def test_another_soul_that_takes_in_a_copy_has_its_own_tellings_joined(
    stage: Stage,
) -> None:
    await lived(stage)
    await stage.engine.idle.run()
    bundle = await stage.engine.exports.bundle(ME, SoulId("s1"))
    data = b"".join([piece async for piece in bundle])
    await stage.soul("s2")
    request = ImportRequest(SoulId("s2"), ImportFormat.BUNDLE, data, "s.jsonl")
    done = await ended(stage, await stage.engine.imports.start(ME, request))
    assert done.state is JobState.DONE, done.error

    used = await stage.listed(soul="s2")
    (event,) = [m.id for m in used if m.kind is MemoryKind.EPISODE]
    merged = await stage.listed(MemoryState.MERGED, "s2")
    assert [memory.merged_into for memory in merged] == [event] * 3


async def test_a_file_that_says_a_protected_memory_is_joined_is_not_believed(
    stage: Stage,
) -> None:
    await lived(stage)
    made = await stage.note("mine", permanent=True)
    bundle = await stage.engine.exports.bundle(ME, SoulId("s1"))
    text = b"".join([piece async for piece in bundle]).decode()
    altered = []
    for row in text.splitlines():
        if made.memory.id in row and '"type":"memory"' in row:
            row = row.replace('"state":"active"', '"state":"merged"')
            assert "merged" in row
        altered.append(row)
    await stage.engine.memories.delete(ME, made.memory.id, "permanent")
    await stage.engine.memories.delete(ME, made.memory.id, "purge")
    data = "\n".join(altered).encode()
    request = ImportRequest(SoulId("s1"), ImportFormat.BUNDLE, data, "s.jsonl")
    await ended(stage, await stage.engine.imports.start(ME, request))

    assert "mine" in [memory.text for memory in await stage.listed()]


async def test_what_was_told_often_lasts_longer_and_goes_with_all_its_tellings(
    stage: Stage,
) -> None:
    await stage.soul()
    ways = [way.replace("Irma and I", "we") for way in WAYS]
    for number, text in enumerate([*ways, OTHERS[0].replace("Irma and I", "we")]):
        await stage.sync(f"c{number}", chat(text))
    await stage.engine.idle.run()
    assert sorted((await tellings_by_text(stage)).values()) == [1, 4]

    counts = []
    for _ in range(40):
        stage.clock.advance(0.0, 4000)
        await stage.engine.idle.run()
        counts.append(sorted((await tellings_by_text(stage)).values()))
        if not counts[-1]:
            break
    assert [4] in counts  # the one that was told once is gone
    assert counts[-1] == []
    assert [1] not in counts
    assert await stage.listed(MemoryState.MERGED) == []


async def test_an_event_is_as_old_as_its_last_telling_that_a_chat_knows(
    stage: Stage,
) -> None:
    await stage.soul(forgetting=0.0)
    first = chat("Good morning.", WAYS[0], *(f"Then came {n}." for n in range(8)))
    await stage.sync("c1", first)
    fork = first[:5]
    await stage.sync("b", [*fork, *lines(4, start=50)], parent=("c1", fork[-1].slot))
    await stage.sync("c1", [*first, line("again", WAYS[2]), line("end", "Hm.")])
    await stage.engine.idle.run()

    async def age(where: str) -> int:
        (memory,) = [m for m in (await stage.recall(ASKED, where)).memories if "mill" in m.text]
        return memory.age_turns

    assert await age("c1") == 0
    assert await age("b") > 3


async def test_no_digest_tells_an_event_again_that_the_answer_tells(
    stage: Stage,
) -> None:
    await stage.soul(forgetting=0.0)
    for number, text in enumerate(WAYS):
        said = [
            replace(m, sent_at=NOON + timedelta(days=3 * number))
            for m in chat(text, "Shall we go on?", "As you like.")
        ]
        await stage.sync(f"c{number}", said)
    await stage.engine.idle.run()
    assert [m for m in await stage.listed() if m.kind is MemoryKind.DIGEST]

    answer = await stage.recall(ASKED, max_items=20)

    assert len([m for m in answer.memories if "mill" in m.text]) == 1


async def test_a_memory_of_very_many_tellings_is_replaced_at_once_and_compared_later(
    stage: Stage,
) -> None:
    await stage.soul(forgetting=0.0)
    texts = [WAYS[number % len(WAYS)] for number in range(80)]
    await stage.sync("c", chat(*texts))
    await stage.engine.idle.run()
    (event,) = [text for text, count in (await tellings_by_text(stage)).items() if count > 1]
    key = await stage.find(f"Al: {event}")
    await stage.engine.memories.delete(ME, key, None)

    assert max((await tellings_by_text(stage)).values()) == 79
    await stage.engine.idle.run()
    assert max((await tellings_by_text(stage)).values()) == 79
