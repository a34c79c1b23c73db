"""Chat becomes lasting memory at rest, at a known price, and whatever the model answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from datetime import timedelta

import pytest

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.llm import Failure, LlmFailed, Prompt
from soulmem.domain.memories import MemoryKind, MemoryState, Origin
from soulmem.engine.jobs import JobState
from soulmem.engine.ledger import LedgerParams
from soulmem.engine.requests import Activity
from tests.engine.model_stage import ModelStage, obliging, read_of, talk
from tests.engine.stage import ME, Stage, ended, line
from tests.engine.test_bundles import exported, take_in


@pytest.fixture(params=["fake", "surreal"])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[ModelStage]:
    """An engine with a good model and one soul: s1, Mira."""
    one = ModelStage(store=SurrealStore("mem://") if request.param == "surreal" else None)
    await one.start()
    await one.soul()
    yield one
    await one.stop()


async def test_what_slid_out_is_consolidated_with_two_calls(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    await stage.rest()

    assert stage.calls == ["summary", "extraction"]
    kinds = sorted(m.kind.value for m in await stage.drafted())
    assert kinds == ["abstract_episode", *["concept"] * 2, *["episode"] * 3, "summary"]
    episode = next(m for m in await stage.drafted() if m.text.endswith("word1."))
    assert await stage.sources_of(episode.id) == ["m1"]
    known = await stage.known("c")
    assert "Al spoke of word1" in known
    assert episode.text in known

    await stage.rest()
    assert len(stage.calls) == 2  # nothing is due any more


async def test_it_is_all_there_after_a_restart(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    await stage.rest()
    before, known = await stage.drafted(), await stage.known("c")
    if isinstance(stage.store, SurrealStore):
        return  # mem:// is gone with its process
    await stage.restart()
    await stage.rest()

    assert await stage.drafted() == before
    assert await stage.known("c") == known
    assert len(stage.calls) == 2


async def test_a_long_life_costs_two_calls_for_twenty_messages(stage: ModelStage) -> None:
    for count in range(2, 202, 2):
        await stage.sync("c", talk(count))
        await stage.rest()

    assert len(stage.calls) <= 2 * 200 / 20
    read = [
        number for prompt in stage.llm.asked if prompt.name == "extraction" for number in prompt.user.split()
    ]
    assert read.count("word1.") == 1
    assert sum(word.startswith("word") for word in read) > 180  # all but the window and what has just left it


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
        await stage.engine.activity(ME, ChatId("c"), busy)
        await stage.rest()
        assert stage.calls == []
    await stage.engine.activity(ME, ChatId("c"), Activity.IDLE)
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


async def test_what_changed_while_the_model_thought_is_not_written(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    stage.llm.answers.clear()
    resting = asyncio.create_task(stage.rest())
    await stage.thinking()
    await stage.sync("c", [*talk(4), *talk(1, 5, "other"), *talk(25, 6)])
    stage.llm.answers.set()
    await resting

    assert "word5." not in await stage.words()
    assert [m for m in await stage.drafted() if m.kind is MemoryKind.SUMMARY and "other5" in m.text]


async def test_a_model_that_babbles_costs_four_calls_and_is_asked_again_later(stage: ModelStage) -> None:
    stage.llm.then(["{"])
    await stage.sync("c", talk(30))
    for _ in range(3):
        await stage.rest()
    assert stage.calls == ["summary"] * 2 + ["extraction"] * 2  # and then they are parked

    stage.llm.then([obliging])
    stage.clock.advance(timedelta(hours=1).total_seconds(), 0)
    await stage.rest()
    assert len(stage.calls) == 6
    assert await stage.drafted()


async def test_a_model_that_cannot_be_had_is_asked_once_in_each_quiet_moment(stage: ModelStage) -> None:
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
    await stage.engine.run_idle()
    assert len(await stage.listed()) == 59
    await stage.stop()


async def test_undoing_a_job_leaves_what_was_there_before(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    before, known = await stage.fingerprint(), await stage.known("c")
    job = await stage.engine.jobs.ask(ME, "consolidate", SoulId("s1"), {})
    told = await ended(stage, job)
    assert told.result["calls"] == 2
    assert told.progress.total == 2
    assert await stage.drafted()

    await stage.engine.governor.undo(ME, SoulId("s1"), since=None, change=None, job=job)
    assert await stage.drafted() == []
    assert await stage.fingerprint() == before
    assert await stage.known("c") == known
    await stage.rest()
    assert len(stage.calls) == 2  # what was undone does not come back by itself


async def test_a_branch_knows_what_was_drafted_before_its_fork(stage: ModelStage) -> None:
    await stage.sync("c", talk(54))
    await stage.rest()
    assert stage.calls == ["summary", "extraction"] * 2
    await stage.sync("b", [*talk(40), *talk(3, 41, "other")], parent=("c", "m40"))
    await stage.rest()

    here = [m for m in await stage.visible("b") if m.origin is Origin.MODEL]
    drafted = [m.text for m in here if m.kind is MemoryKind.EPISODE]
    assert len(drafted) == 3  # of the first stretch
    assert all(int(text.rsplit("word")[-1][:-1]) <= 24 for text in drafted)
    facts = [m.text for m in here if m.kind is MemoryKind.NOTE]
    assert facts == ["Al spoke of word1"]
    assert len(stage.calls) == 4  # nothing that is shared is computed anew


@pytest.mark.parametrize("how", ["edited", "deleted", "swiped"])
async def test_with_a_message_goes_what_was_drafted_from_it(stage: ModelStage, how: str) -> None:
    await stage.sync("c", talk(54))
    await stage.rest()
    assert len(stage.calls) == 4
    assert "word3" in await stage.words()

    changed = {"edited": talk(1, 3, "other"), "deleted": [], "swiped": talk(1, 3, "third")}[how]
    now = [*talk(2), *changed, *talk(51, 4)]
    await stage.sync("c", now)
    kept = {m.text for m in await stage.drafted()}
    assert any("word48" in text or "word40" in text or "word27" in text for text in kept)
    assert "word3." not in await stage.words()
    assert "word3 " not in await stage.words()
    assert not [m for m in await stage.drafted() if m.kind is MemoryKind.SUMMARY]

    await stage.rest()
    assert "word3." not in await stage.words()
    assert stage.calls[4:] == ["extraction", "summary"] or stage.calls[4:] == ["summary", "extraction"]
    assert len([m for m in await stage.drafted() if m.kind is MemoryKind.SUMMARY]) == 1


async def test_a_chat_in_the_bin_takes_its_drafts_along_and_brings_them_back(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    await stage.rest()
    before = {m.id for m in await stage.drafted()}
    await stage.engine.delete_chat(ME, ChatId("c"))
    assert await stage.drafted() == []
    assert {m.id for m in await stage.listed(MemoryState.BIN) if m.id in before} == before

    await stage.sync("c", talk(30))
    assert {m.id for m in await stage.drafted()} == before
    await stage.rest()
    assert len(stage.calls) == 2


async def test_a_recall_tells_the_summary_of_what_the_window_no_longer_holds(stage: ModelStage) -> None:
    await stage.sync("c", talk(54))
    await stage.rest()
    first, last = sorted(
        (m for m in await stage.drafted() if m.kind is MemoryKind.SUMMARY), key=lambda m: len(m.text)
    )

    answer = await stage.recall("word2", "c", context_from="m52", budget_tokens=2000)
    (block,) = [b for b in answer.blocks if b.section == "summary"]
    assert last.text in block.text
    assert answer.memories[-1].id == last.id
    early = await stage.recall("word2", "c", context_from="m30", budget_tokens=2000)
    assert [m.id for m in early.memories if m.kind == "summary"] == [first.id]
    all_on_screen = await stage.recall("word2", "c", context_from="m1", budget_tokens=2000)
    assert not all_on_screen.memories  # nothing that stands in the prompt is told again, nor drafts of it
    assert not [m for m in (await stage.recall("word2")).memories if m.kind == "summary"]


async def test_drafts_of_messages_on_the_screen_are_not_told(stage: ModelStage) -> None:
    await stage.sync("c", talk(54))
    await stage.rest()
    known = [m.text for m in await stage.visible("c", context_from="m24") if m.origin is Origin.MODEL]
    assert "Al told Mira: They spoke at length of word1." in known
    assert not [text for text in known if "word25" in text or "word37" in text]


async def test_what_was_drafted_travels_with_the_soul(stage: ModelStage) -> None:
    await stage.sync("c", talk(54))
    await stage.rest()
    known = await stage.known("c")
    bundle = await exported(stage)

    other = ModelStage()
    await other.start()
    await other.soul()
    await take_in(other, bundle)
    await other.rest()
    assert await other.known("c") == known
    assert other.calls == []
    await other.sync("c", [*talk(2), *talk(52, 3, "other")], confirm=True)
    assert await other.drafted() == []

    await other.soul("s2", "Tom")  # as another's memory it is drafted anew: its ids are the first one's
    await take_in(other, bundle, "s2")
    assert not [m for m in await other.listed(soul="s2") if m.origin is Origin.MODEL]
    await other.stop()


async def test_what_came_to_mind_meanwhile_is_linked(stage: ModelStage) -> None:
    note = await stage.note("The well is dry.")
    await stage.sync("c", talk(10))
    await stage.recall("the well is dry", "c", slot=SlotId("m11"), swipe=0, context_from="m1")
    await stage.sync("c", talk(30))
    await stage.rest()

    mind = await stage.mind()
    links = [e for e in mind.edges.of(note.memory.id) if e.kind is EdgeKind.ASSOCIATES]
    assert {e.strength for e in links} == {0.1}
    nearest = [m.id for m in await stage.drafted() if m.text.endswith("word13.")]
    assert {e.source for e in links} >= set(nearest)


async def test_an_unused_draft_fades_into_the_bin(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    await stage.rest()
    before = {m.id for m in await stage.drafted() if m.kind is MemoryKind.CONCEPT}
    stage.clock.advance(0, 20_000)
    await stage.rest()
    assert before & {m.id for m in await stage.listed(MemoryState.FORGOTTEN)}


async def test_what_waits_goes_on_by_itself_after_a_while(stage: ModelStage) -> None:
    rests = stage.engine.consolidator
    stage.llm.then([LlmFailed(Failure.UNREACHABLE, "nobody listens")])
    await stage.sync("c", talk(30))
    await stage.rest()
    assert not rests.is_due()
    stage.clock.advance(61, 0)
    assert rests.is_due()
    await stage.engine._go_on_resting()
    stage.clock.advance(61, 0)
    assert not rests.is_due()  # the second time it waits for longer

    stage.llm.then([obliging])
    stage.clock.advance(61, 0)
    await stage.engine._go_on_resting()
    assert await stage.drafted()
    stage.clock.advance(3600, 0)
    assert not rests.is_due()  # nothing waits any more


async def test_idle_work_keeps_to_its_hour(stage: ModelStage) -> None:
    stage.engine.consolidator.ledger.params = LedgerParams(calls=2)
    await stage.sync("c", talk(100))
    await stage.rest()
    assert len(stage.calls) == 2
    await stage.rest()
    assert len(stage.calls) == 2
    stage.clock.advance(3601, 0)
    assert stage.engine.consolidator.is_due()
    await stage.rest()
    assert len(stage.calls) == 4

    job = await stage.engine.jobs.ask(ME, "consolidate", SoulId("s1"), {})  # what the user asks for is done
    await ended(stage, job)
    assert len(stage.calls) == 8


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


async def test_the_books_tell_what_was_spent_and_what_waits(stage: ModelStage) -> None:
    stage.llm.then(["{"])
    await stage.sync("c", talk(30))
    await stage.rest()
    books = await stage.engine.governor.books(ME, SoulId("s1"))
    spent = books.totals["consolidation"]
    assert (spent.calls, spent.failed, spent.nodes) == (4, 4, 0)
    assert spent.prompt_tokens > 400
    assert sorted(one.work.value for one in books.parked) == ["drafts", "summary"]
    assert all(one.reason and one.attempts == 1 for one in books.parked)


def habitual(*scenes: int) -> Callable[[Prompt], str]:
    """A model that sees a habit in the messages of these numbers."""

    def answer(prompt: Prompt) -> str:
        if prompt.name == "summary":
            return obliging(prompt)
        seen = [n for n, _, text in read_of(prompt) if text.endswith(tuple(f"word{at}." for at in scenes))]
        habit = {"lines": seen, "when": "rain is falling", "does": "hums an old tune", "chance": 0.5}
        drafts: dict[str, list[object]] = {"episodes": [], "facts": [], "concepts": [], "kinds": []}
        return json.dumps(drafts | {"habits": [habit] if seen else []})

    return answer


def rainy(count: int, scenes: Iterable[int]) -> list[SentMessage]:
    """A talk in which it rains and she hums at some messages."""
    said = talk(count)
    for at in scenes:
        text = f"The rain is falling and Mira hums an old tune word{at}."
        said[at - 1] = line(f"m{at}", text, Role.CHARACTER)
    return said


@pytest.mark.parametrize(
    ("scenes", "is_habit"),
    [((2, 10, 18), True), ((2, 4, 6), False), ((2, 18), False), ((4, 16, 40), True), ((4, 40), False)],
)
async def test_three_scenes_make_a_habit(stage: ModelStage, scenes: tuple[int, ...], is_habit: bool) -> None:
    stage.llm.then([habitual(*scenes)])
    await stage.sync("c", rainy(60, scenes))
    await stage.rest()
    drafted = {m.kind: m.text for m in await stage.drafted()}
    assert (MemoryKind.ACTION in drafted) is is_habit
    assert (MemoryKind.TRIGGER in drafted) is is_habit
    if not is_habit:
        return
    answer = await stage.recall("The rain is falling again.", "c", context_from="m59")
    assert [m.text for m in answer.memories if m.fired] == ["hums an old tune"]
    assert not [m for m in (await stage.recall("Pass me the salt.", "c")).memories if m.fired]
    (action,) = [m for m in await stage.drafted() if m.kind is MemoryKind.ACTION]
    assert set(await stage.sources_of(action.id)) == {f"m{at}" for at in scenes}

    said = rainy(60, scenes)
    said[scenes[1] - 1] = talk(1, scenes[1], "other")[0]
    await stage.sync("c", said)
    assert not [m for m in await stage.drafted() if m.kind in (MemoryKind.ACTION, MemoryKind.TRIGGER)]
    await stage.rest()
    assert not [m for m in await stage.drafted() if m.kind is MemoryKind.ACTION]  # two scenes are left
