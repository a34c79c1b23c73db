"""Consolidation in idle rounds and as a job: its price, its limits, and whatever the model answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.llm import (
    Completion,
    Failure,
    LlmFailed,
    ModelChoice,
    ModelUse,
    Prompt,
)
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import Activity
from soulmem.engine.llm.model_choice import ChoosableModels
from soulmem.engine.llm.sources import LlmSources
from soulmem.engine.llm.usage import UsageLimits
from soulmem.engine.runtime.jobs import JobState
from tests.engine.model_stage import ModelStage, obliging, talk
from tests.engine.stage import ME, Stage, ended
from tests.fakes.llm import FakeLlm
from tests.fakes.model_choice import FakeModels


@pytest.fixture(params=["fake", pytest.param("surreal", marks=pytest.mark.nightly)])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[ModelStage]:
    """An engine with a good model and one soul: s1, Mira."""
    fresh_stage = ModelStage(store=SurrealStore("mem://") if request.param == "surreal" else None)
    await fresh_stage.start()
    await fresh_stage.soul()
    yield fresh_stage
    await fresh_stage.stop()


async def test_what_slid_out_is_consolidated_with_two_calls(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    await stage.rest()

    assert stage.calls == ["summary", "extraction"]
    kinds = sorted(m.kind.value for m in await stage.drafted())
    assert kinds == ["abstract_episode", *["concept"] * 2, *["episode"] * 3, "summary"]
    episode = next(m for m in await stage.drafted() if m.text.endswith("word1."))
    assert await stage.sources_of(episode.id) == ["m1"]
    visible = await stage.known("c")
    assert "Al spoke of word1" in visible
    assert episode.text in visible

    await stage.rest()
    assert len(stage.calls) == 2  # nothing is due any more


async def test_it_is_all_there_after_a_restart(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    await stage.rest()
    before, visible = await stage.drafted(), await stage.known("c")
    if isinstance(stage.store, SurrealStore):
        return  # mem:// is gone with its process
    await stage.restart()
    await stage.rest()

    assert await stage.drafted() == before
    assert await stage.known("c") == visible
    assert len(stage.calls) == 2


async def test_a_long_life_costs_two_calls_for_twenty_messages(
    stage: ModelStage,
) -> None:
    for count in range(2, 202, 2):
        await stage.sync("c", talk(count))
        await stage.rest()

    assert len(stage.calls) <= 2 * 200 / 20
    read: list[str] = []
    for prompt in stage.llm.asked:
        if prompt.name == "extraction":
            read += prompt.user.replace('"', " ").split()
    assert read.count("word1.") == 1
    assert (
        sum(word.startswith("word") for word in read) > 180
    )  # all but the window and what has just left it


async def test_the_summary_goes_on_from_the_last_one(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    await stage.rest()
    await stage.sync("c", talk(60))
    await stage.rest()

    first, last = (p for p in stage.llm.asked if p.name == "summary")
    assert "</summary>" not in first.user
    assert "word1 word2" in last.user
    assert "spoke at length of word1." not in last.user


async def test_no_call_starts_while_a_reply_is_written(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    for busy in (Activity.GENERATING, Activity.TYPING):
        await stage.engine.chats.activity(ME, ChatId("c"), busy)
        await stage.rest()
        assert stage.calls == []
    await stage.engine.chats.activity(ME, ChatId("c"), Activity.IDLE)
    await stage.rest()
    assert len(stage.calls) == 2


async def test_recall_and_sync_go_on_while_the_model_thinks(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    stage.llm.answers.clear()
    resting = asyncio.create_task(stage.rest())
    await stage.thinking()
    await stage.sync("c", talk(32))
    assert (await stage.recall("word5", "c", context_from="m31")).memories
    stage.llm.answers.set()
    await resting
    assert len(stage.calls) == 2


async def test_what_changed_while_the_model_thought_is_not_written(
    stage: ModelStage,
) -> None:
    await stage.sync("c", talk(30))
    stage.llm.answers.clear()
    resting = asyncio.create_task(stage.rest())
    await stage.thinking()
    await stage.sync("c", [*talk(4), *talk(1, 5, "other"), *talk(25, 6)])
    stage.llm.answers.set()
    await resting

    assert "word5." not in await stage.words()
    assert [m for m in await stage.drafted() if m.kind is MemoryKind.SUMMARY and "other5" in m.text]


async def test_a_model_that_babbles_costs_four_calls_and_is_asked_again_later(
    stage: ModelStage,
) -> None:
    stage.llm.then(["{"])
    await stage.sync("c", talk(30))
    for _ in range(3):
        await stage.rest()
    assert stage.calls == ["summary"] * 2 + ["extraction"] * 2  # and then they are deferred

    stage.llm.then([obliging])
    stage.clock.advance(timedelta(hours=1).total_seconds(), 0)
    await stage.rest()
    assert len(stage.calls) == 6
    assert await stage.drafted()


async def test_a_model_that_cannot_be_had_is_asked_once_in_each_quiet_moment(
    stage: ModelStage,
) -> None:
    stage.llm.then([LlmFailed(Failure.SERVER, "the model fell over")])
    await stage.sync("c", talk(30))
    for calls in (2, 3, 4):
        await stage.rest()
        assert len(stage.calls) == calls
    assert await stage.drafted() == []
    assert len(await stage.listed()) == 29  # its messages are there as ever

    stage.llm.then([obliging])
    await stage.rest()
    assert len(stage.calls) == 6
    assert await stage.drafted()


async def test_without_a_model_nothing_is_drafted() -> None:
    stage = Stage()
    await stage.start()
    await stage.soul()
    await stage.sync("c", talk(60))
    await stage.engine.idle.run()
    assert len(await stage.listed()) == 59
    await stage.stop()


async def test_what_waits_goes_on_by_itself_after_a_while(stage: ModelStage) -> None:
    consolidator = stage.engine.consolidator
    stage.llm.then([LlmFailed(Failure.UNREACHABLE, "nobody listens")])
    await stage.sync("c", talk(30))
    await stage.rest()
    assert not consolidator.is_due()
    stage.clock.advance(61, 0)
    assert consolidator.is_due()
    await stage.engine.idle.go_on()
    stage.clock.advance(61, 0)
    assert not consolidator.is_due()  # the second time it waits for longer

    stage.llm.then([obliging])
    stage.clock.advance(61, 0)
    await stage.engine.idle.go_on()
    assert await stage.drafted()
    stage.clock.advance(3600, 0)
    assert not consolidator.is_due()  # nothing waits any more


async def test_what_waits_for_a_model_goes_on_with_another_that_is_chosen() -> None:
    other = FakeLlm(obliging)
    models = ChoosableModels(
        file=FakeModels(),
        sources=lambda _choice: LlmSources(archivist=lambda _owner: other),
        limits=lambda _choice: UsageLimits(),
    )
    stage = ModelStage(LlmFailed(Failure.UNREACHABLE, "nobody"), models=models)
    await stage.start()
    await stage.soul()
    await stage.sync("c", talk(30))
    await stage.rest()
    consolidator = stage.engine.consolidator
    assert not consolidator.is_due()
    assert consolidator.deferrals.unavailable_reason

    choice = ModelChoice(ModelUse.CLIENT)
    await stage.engine.model_choice.choose(ME, choice, keeps_key=False)
    assert consolidator.is_due()
    assert consolidator.deferrals.unavailable_reason is None
    await stage.engine.idle.go_on()
    assert await stage.drafted()
    await stage.stop()


async def test_idle_work_keeps_to_its_hour(stage: ModelStage) -> None:
    stage.engine.consolidator.usage.params = UsageLimits(calls=2)
    await stage.sync("c", talk(100))
    await stage.rest()
    assert len(stage.calls) == 2
    await stage.rest()
    assert len(stage.calls) == 2
    stage.clock.advance(3601, 0)
    assert stage.engine.consolidator.is_due()
    await stage.rest()
    assert len(stage.calls) == 4

    job = await stage.engine.jobs.ask(
        ME, "consolidate", SoulId("s1"), {}
    )  # what the user asks for is done
    await ended(stage, job)
    assert len(stage.calls) == 8


async def test_who_was_talked_to_last_comes_first(stage: ModelStage) -> None:
    await stage.soul("s2", "Tovan")
    await stage.sync("long", talk(100))
    await stage.sync("last", talk(30), souls=["s2"])
    stage.engine.consolidator.usage.params = UsageLimits(calls=2)
    await stage.rest()
    assert [prompt.user.count("<character>Tovan<") for prompt in stage.llm.asked] == [
        1,
        1,
    ]


async def test_a_job_that_a_stop_cut_off_goes_on_after_it(stage: ModelStage) -> None:
    if isinstance(stage.store, SurrealStore):
        return  # mem:// is gone with its process
    await stage.sync("c", talk(60))
    stage.llm.answers.clear()
    job = await stage.engine.jobs.ask(ME, "consolidate", SoulId("s1"), {})
    await stage.thinking()
    await stage.restart()
    await stage.mind()
    stage.llm.answers.set()
    await stage.thinking(done=3)
    await ended(stage, job)
    assert len([m for m in await stage.drafted() if m.kind is MemoryKind.SUMMARY]) == 2


async def test_a_cancelled_job_ends_though_the_model_thinks(stage: ModelStage) -> None:
    await stage.sync("c", talk(60))
    stage.llm.answers.clear()
    job = await stage.engine.jobs.ask(ME, "consolidate", SoulId("s1"), {})
    await stage.thinking()
    await stage.engine.jobs.cancel(ME, job)
    view = await ended(stage, job)
    assert view.state is JobState.CANCELLED
    assert stage.llm.waiting == 0  # the call was let go of


async def test_the_report_shows_what_was_spent_and_what_waits(
    stage: ModelStage,
) -> None:
    stage.llm.then(["{"])
    await stage.sync("c", talk(30))
    report = await stage.engine.consolidator.usage_report(ME, SoulId("s1"))
    assert (report.due_calls, report.due_minutes) == (2, None)
    await stage.rest()
    report = await stage.engine.consolidator.usage_report(ME, SoulId("s1"))
    assert report.due_calls == 2
    assert report.due_minutes is not None
    spent = report.totals["consolidation"]
    assert (spent.calls, spent.failed, spent.nodes) == (4, 4, 0)
    assert spent.prompt_tokens > 400
    assert sorted(deferred.work.value for deferred in report.deferred) == [
        "drafts",
        "summary",
    ]
    assert all(deferred.reason and deferred.attempts == 1 for deferred in report.deferred)


async def test_two_users_of_one_model_take_turns(
    stage: ModelStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job meets replies that are written again and again: no call starts while one is."""
    started: list[bool] = []

    async def watched(prompt: Prompt) -> Completion:
        started.append(stage.engine.lifecycle.is_generating())
        return await answer(prompt)

    answer = stage.llm.complete
    monkeypatch.setattr(stage.llm, "complete", watched)
    stage.llm.seconds = 0.02
    await stage.sync("c", talk(120))
    job = await stage.engine.jobs.ask(ME, "consolidate", SoulId("s1"), {})
    for _ in range(12):
        await stage.engine.chats.activity(ME, ChatId("c"), Activity.GENERATING)
        before = len(started)
        await asyncio.sleep(0.05)
        assert len(started) <= before + 1  # one that was under way
        assert (await stage.recall("word5", "c", context_from="m118")).memories
        await stage.engine.chats.activity(ME, ChatId("c"), Activity.IDLE)
        await asyncio.sleep(0.03)
    await ended(stage, job)
    assert len(started) == 10
    assert not any(started)


async def test_what_no_chat_tells_as_a_whole_any_more_still_names_its_messages(
    stage: ModelStage,
) -> None:
    """One chat lost a message that its branch still tells, and the branch ends before the others."""
    messages = talk(30)
    await stage.sync("c", messages)
    await stage.rest()
    drafted = [m for m in await stage.drafted() if m.kind is MemoryKind.EPISODE]
    before = {m.id: await stage.sources_of(m.id) for m in drafted}
    await stage.sync("b", messages[:20], parent=("c", "m20"))
    await stage.sync("c", [*messages[:12], *messages[13:]])
    unheld = (await stage.mind()).derivations.orphaned_products()
    loose = [m.id for m in await stage.drafted() if m.id in unheld and m.id in before]
    slots: set[str] = set()
    for key in loose:
        slots.update(before[key])
        assert set(await stage.sources_of(key)) == set(before[key])
    assert "m13" in slots
