"""A trace tells what was in working memory, what the recall brings into it, and why."""

from __future__ import annotations

from typing import Any

from soulmem.domain.dialogue import Role
from soulmem.domain.ids import ChatId, SlotId
from soulmem.engine.api.requests import RecallType
from soulmem.engine.api.results import Trace
from tests.engine.stage import ME, Stage, line

KEY = "I hid the silver key under the old bridge."
BREAD = "We bake bread on Sundays."
TALK = [
    line("m1", KEY),
    line("m2", "I will not tell.", Role.CHARACTER),
    line("m3", BREAD),
    line("m4", "With raisins, please.", Role.CHARACTER),
    line("m5", "The whales sang all night."),
]


async def prepared(stage: Stage) -> None:
    """A chat with an old line that was imported, and a few that were just said."""
    await stage.soul()
    old = [line(f"o{n}", f"Old line {n} of the harbour.") for n in range(30)]
    await stage.sync("old", [line("oak", "The oak was felled."), *old])
    for count in range(1, len(TALK) + 1):
        stage.clock.advance(30)
        await stage.sync("c", TALK[:count])
    loading = stage.engine.learner._loading
    assert loading is not None
    await loading
    await stage.engine.idle.run()


async def asked(stage: Stage, query: str, slot: str | None = "m6", **more: Any) -> Trace:
    """The trace of a recall for a reply."""
    answer = await stage.recall(
        query,
        "c",
        slot=SlotId(slot) if slot else None,
        swipe=0 if slot else None,
        **more,
    )
    return await stage.engine.recaller.trace(ME, answer.trace)


async def test_it_tells_what_this_recall_loads_and_what_was_there(stage: Stage) -> None:
    await prepared(stage)
    trace = await asked(stage, "Was the oak felled?", max_items=1)
    loaded = [entry for entry in trace.working if entry.is_loaded]
    assert [entry.text for entry in loaded] == ["Al: The oak was felled."]
    assert "this recall brought it" in loaded[0].why
    assert [entry.id for entry in loaded] == [m.id for m in trace.answer.memories]
    there = {entry.text: entry for entry in trace.working if not entry.is_loaded}
    assert there[f"Al: {BREAD}"].recalls == 0
    assert "not in long-term memory yet" in there[f"Al: {BREAD}"].why

    # The reply is kept: what came is active, and why is told of it from now on.
    said = [*TALK, line("m6", "It was.", Role.CHARACTER), line("m7", "I see.")]
    await stage.sync("c", said)
    await stage.engine.idle.run()
    later = await asked(stage, "Was the oak felled?", "m8", max_items=1)
    entry = next(e for e in later.working if e.text == "Al: The oak was felled.")
    assert (entry.is_loaded, entry.recalls) == (False, 1)
    assert entry.why.startswith("recalls that led to it or over it: 1,")


async def test_a_look_loads_nothing(stage: Stage) -> None:
    await prepared(stage)
    trace = await asked(stage, "Was the oak felled?", type=RecallType.QUIET)
    assert trace.answer.memories
    assert not any(entry.is_loaded for entry in trace.working)
    assert trace.working


async def test_the_reasons_are_in_the_language_of_the_chat(stage: Stage) -> None:
    await prepared(stage)
    trace = await asked(stage, "Was the oak felled?", language="zh")
    assert "这次回忆想起了它" in trace.working[0].why


async def test_a_kept_trace_has_todays_texts_and_forgets_what_is_purged(
    stage: Stage,
) -> None:
    await prepared(stage)
    await stage.note("The oak is a lie.")
    trace = await asked(stage, "Was the oak felled?", max_items=3)
    note = next(e for e in trace.working if e.text == "The oak is a lie.")
    await stage.restart()
    kept = await stage.engine.recaller.trace(ME, trace.id)
    assert [(e.id, e.text, e.why) for e in kept.working] == [
        (e.id, e.text, e.why) for e in trace.working
    ]
    await stage.engine.memories.delete(ME, note.id, None)
    job = await stage.engine.jobs.ask(ME, "purge", (await stage.soul()).id, {"confirm": "purge"})
    await stage.engine.jobs.finished(ME, job)
    kept = await stage.engine.recaller.trace(ME, trace.id)
    assert note.id not in [entry.id for entry in kept.working]
    assert ChatId("c") == kept.chat
