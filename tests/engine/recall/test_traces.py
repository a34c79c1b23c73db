"""Traces outlive a restart, and forget memories that are purged."""

from __future__ import annotations

from operator import attrgetter

import pytest

from soulmem.domain.errors import NotFound, StoreError
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.opinions import Verdict
from soulmem.engine.api.requests import MemoryPatch
from soulmem.engine.api.results import Trace
from soulmem.engine.recall import traces
from soulmem.engine.recall.traces import _is_quoted
from tests.engine.stage import ME, Stage, lines

CUE = "Where is the brass key?"


async def trace_of(stage: Stage, trace: str) -> Trace:
    return await stage.engine.recaller.trace(ME, trace)


async def is_gone(stage: Stage, trace: str) -> bool:
    try:
        await trace_of(stage, trace)
    except NotFound:
        return True
    return False


async def test_a_trace_outlives_a_restart(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", lines(6))
    key = (await stage.note("The brass key is in the well.")).memory.id
    trace = (await stage.recall(CUE, "c1")).trace
    before = await trace_of(stage, trace)
    await stage.restart()
    after = await trace_of(stage, trace)
    for part in (
        "query",
        "grade",
        "grade_why",
        "guidance",
        "seeds",
        "considered",
        "at",
        "notes",
        "grades",
    ):
        assert getattr(after, part) == getattr(before, part), part
    parts = attrgetter("id", "why", "path")
    assert [*map(parts, after.answer.memories)] == [*map(parts, before.answer.memories)]
    await stage.engine.feedback.give(ME, trace, key, Verdict.WRONG)
    assert (await stage.engine.memories.get(ME, key)).in_doubt


async def test_no_words_of_a_memory_are_kept_beside_it(stage: Stage) -> None:
    await stage.soul()
    key = (await stage.note("The brass key is in the well.")).memory.id
    trace = (await stage.recall("brass")).trace
    await stage.restart()
    assert all(b"in the well" not in line for line in stage.traces.kept.values())
    await stage.engine.memories.patch(ME, key, MemoryPatch(text="The brass key is in the barn."))
    assert [candidate.text for candidate in (await trace_of(stage, trace)).considered] == [
        "The brass key is in the barn."
    ]


@pytest.mark.parametrize("restarts", [False, True])
async def test_what_is_purged_leaves_the_traces(stage: Stage, restarts: bool) -> None:
    await stage.soul()
    secret = (await stage.note("Al: The password is xyzzy.")).memory.id
    other = (await stage.note("Otters dive.")).memory.id
    traces = [
        (await stage.recall(query)).trace
        for query in ("password", "The password is xyzzy.", "otters")
    ]
    if restarts:
        await stage.restart()
    for confirm in (None, "purge"):
        await stage.engine.memories.delete(ME, MemoryId(secret), confirm)
    assert [await is_gone(stage, trace) for trace in traces] == [False, True, False]
    assert len(stage.traces.kept) == 2
    for trace in (traces[0], traces[2]):
        assert secret not in str(await trace_of(stage, trace))
        assert other in str(await trace_of(stage, trace))
    assert all(secret.encode() not in line for line in stage.traces.kept.values())


@pytest.mark.parametrize("restarts", [False, True])
async def test_the_name_of_a_purged_concept_leaves_the_traces(stage: Stage, restarts: bool) -> None:
    """A trace says which names a question had; a name that is too short to count as a quotation goes alone."""
    await stage.soul()
    gone = (await stage.note("Kaelith", kind=MemoryKind.CONCEPT)).memory.id
    await stage.note("Irma", kind=MemoryKind.CONCEPT)
    await stage.note("Kaelith met Irma at the well.")
    trace = (await stage.recall("Where are Kaelith and Irma?")).trace
    without_names = (await stage.recall("the well, at night")).trace
    assert set((await trace_of(stage, trace)).guidance["entities"]) == {
        "Kaelith",
        "Irma",
    }
    if restarts:
        await stage.restart()
    for confirm in (None, "purge"):
        await stage.engine.memories.delete(ME, gone, confirm)
    assert (await trace_of(stage, trace)).guidance["entities"] == ["Irma"]
    before = (await trace_of(stage, without_names)).guidance
    assert before["entities"] == []


async def test_a_full_disk_costs_no_answer(stage: Stage) -> None:
    await stage.soul()
    await stage.note("The brass key is in the well.")
    stage.traces.failure = StoreError("the disk is full")
    trace = (await stage.recall(CUE)).trace
    assert (await trace_of(stage, trace)).answer.memories
    await stage.restart()
    assert await is_gone(stage, trace)


async def test_traces_of_another_owner_are_not_found(stage: Stage) -> None:
    await stage.soul()
    await stage.note("The brass key is in the well.")
    trace = (await stage.recall(CUE)).trace
    await stage.restart()
    with pytest.raises(NotFound):
        await stage.engine.recaller.trace(ME, trace + "0")
    assert (await trace_of(stage, trace)).soul == SoulId("s1")


async def test_the_traces_of_another_soul_stay_when_a_memory_is_purged_or_a_soul_is_dropped(
    stage: Stage,
) -> None:
    await stage.soul()
    await stage.soul("s2", "Tom")
    secret = (await stage.note("The password is xyzzy.")).memory.id
    await stage.note("The password is xyzzy.", soul="s2")
    own = (await stage.recall("The password is xyzzy.")).trace
    other = (await stage.recall("The password is xyzzy.", soul="s2")).trace
    for confirm in (None, "purge"):
        await stage.engine.memories.delete(ME, MemoryId(secret), confirm)
    assert [await is_gone(stage, trace) for trace in (own, other)] == [True, False]
    kept = await trace_of(stage, other)
    archive = stage.engine.recaller.traces
    await archive.drop(Owner("bob"), SoulId("s2"))
    await archive.drop(ME, SoulId("s1"))
    assert await trace_of(stage, other) is kept
    await archive.drop(ME, SoulId("s2"))
    assert await is_gone(stage, other)


async def test_recent_traces_are_in_memory_and_older_ones_in_the_store(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "_IN_MEMORY", 2)
    await stage.soul()
    await stage.note("The brass key is in the well.")
    older, *recent = [(await stage.recall(CUE)).trace for _ in range(3)]
    archive = stage.engine.recaller.traces
    assert [key for _, key in archive._recent] == recent
    await archive._written()
    assert (await trace_of(stage, older)).id == older


@pytest.mark.parametrize(
    ("part", "text", "quoted"),
    [
        ("the key", "the key", True),
        ("the key", "Al: the key", True),
        ("the key", "the clock", False),
        ("the key", "the key hangs behind the clock", False),
        (
            "do you know that the brass key hangs behind the clock",
            "Al: the brass key hangs behind the clock",
            True,
        ),
        ("the brass key hangs behind", "the brass key hangs behind the clock", True),
    ],
)
def test_a_question_quotes_a_text_that_is_long_enough_or_the_same(
    part: str, text: str, quoted: bool
) -> None:
    assert _is_quoted(part, text) is quoted
