"""Drafted memories are visible where they should be, name their sources, and are removed with their messages."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable

import pytest

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.engine.api.requests import MemoryPatch
from tests.engine.exchange.test_bundle_import import exported, take_in
from tests.engine.model_stage import ModelStage, obliging, read_of, talk
from tests.engine.stage import ME, ended, line


@pytest.fixture(params=["fake", pytest.param("surreal", marks=pytest.mark.nightly)])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[ModelStage]:
    """An engine with a good model and one soul: s1, Mira."""
    fresh_stage = ModelStage(store=SurrealStore("mem://") if request.param == "surreal" else None)
    await fresh_stage.start()
    await fresh_stage.soul()
    yield fresh_stage
    await fresh_stage.stop()


async def test_undoing_a_job_leaves_what_was_there_before(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    before, visible = await stage.fingerprint(), await stage.known("c")
    job = await stage.engine.jobs.ask(ME, "consolidate", SoulId("s1"), {})
    view = await ended(stage, job)
    assert view.result["calls"] == 2
    assert view.progress.total == 2
    assert await stage.drafted()

    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=None, job=job)
    assert await stage.drafted() == []
    assert await stage.fingerprint() == before
    assert await stage.known("c") == visible
    await stage.rest()
    assert len(stage.calls) == 2  # what was undone does not come back by itself


async def test_two_quiet_moments_at_once_draft_the_same_once(stage: ModelStage) -> None:
    await stage.sync("c", talk(30))
    await asyncio.gather(stage.engine.idle.run(), stage.engine.idle.run())
    texts = [memory.text for memory in await stage.drafted()]
    assert texts
    assert len(texts) == len(set(texts))


def texts_of(memories: Iterable[Memory], kind: MemoryKind) -> list[str]:
    """The texts of those of a kind."""
    return [memory.text for memory in memories if memory.kind is kind]


async def test_a_branch_knows_what_was_drafted_before_its_fork(
    stage: ModelStage,
) -> None:
    await stage.sync("c", talk(54))
    await stage.rest()
    assert stage.calls == ["summary", "extraction"] * 2
    await stage.sync("b", [*talk(40), *talk(3, 41, "other")], parent=("c", "m40"))
    await stage.rest()

    visible = [m for m in await stage.visible("b") if m.origin is Origin.MODEL]
    texts = {kind: texts_of(visible, kind) for kind in MemoryKind}
    assert len(texts[MemoryKind.EPISODE]) == 3  # of the first stretch
    for text in texts[MemoryKind.EPISODE]:
        assert int(text.rsplit("word")[-1][:-1]) <= 24
    assert texts[MemoryKind.NOTE] == ["Al spoke of word1"]
    assert len(stage.calls) == 4  # nothing that is shared is computed anew


@pytest.mark.parametrize("how", ["edited", "deleted", "swiped"])
async def test_with_a_message_goes_what_was_drafted_from_it(stage: ModelStage, how: str) -> None:
    await stage.sync("c", talk(54))
    await stage.rest()
    assert len(stage.calls) == 4
    assert "word3" in await stage.words()

    changed = {
        "edited": talk(1, 3, "other"),
        "deleted": [],
        "swiped": talk(1, 3, "third"),
    }[how]
    messages = [*talk(2), *changed, *talk(51, 4)]
    await stage.sync("c", messages)
    kept = "\n".join(m.text for m in await stage.drafted())
    assert re.search("word48|word40|word27", kept)
    assert "word3." not in await stage.words()
    assert "word3 " not in await stage.words()
    assert await stage.drafted_of(MemoryKind.SUMMARY) == []

    await stage.rest()
    assert "word3." not in await stage.words()
    assert sorted(stage.calls[4:]) == ["extraction", "summary"]
    assert len(await stage.drafted_of(MemoryKind.SUMMARY)) == 1


async def test_a_chat_in_the_bin_takes_its_drafts_along_and_brings_them_back(
    stage: ModelStage,
) -> None:
    await stage.sync("c", talk(30))
    await stage.rest()
    before = {m.id for m in await stage.drafted()}
    await stage.engine.chats.delete(ME, ChatId("c"))
    assert await stage.drafted() == []
    assert {m.id for m in await stage.listed(MemoryState.BIN) if m.id in before} == before

    await stage.sync("c", talk(30))
    assert {m.id for m in await stage.drafted()} == before
    await stage.rest()
    assert len(stage.calls) == 2


async def test_a_recall_tells_the_summary_of_what_the_window_no_longer_holds(
    stage: ModelStage,
) -> None:
    await stage.sync("c", talk(54))
    await stage.rest()
    summaries = await stage.drafted_of(MemoryKind.SUMMARY)
    first, last = sorted(summaries, key=lambda m: len(m.text))

    answer = await stage.recall("word2", "c", context_from="m52", budget_tokens=2000)
    (block,) = [b for b in answer.blocks if b.section == "summary"]
    assert last.text in block.text
    assert answer.memories[-1].id == last.id
    early = await stage.recall("word2", "c", context_from="m30", budget_tokens=2000)
    assert [m.id for m in early.memories if m.kind == "summary"] == [first.id]
    all_on_screen = await stage.recall("word2", "c", context_from="m1", budget_tokens=2000)
    assert (
        not all_on_screen.memories
    )  # nothing that stands in the prompt is told again, nor drafts of it
    elsewhere = await stage.recall("word2")
    assert "summary" not in {m.kind for m in elsewhere.memories}


async def test_drafts_of_messages_on_the_screen_are_not_told(stage: ModelStage) -> None:
    await stage.sync("c", talk(54))
    await stage.rest()
    visible = [
        m.text for m in await stage.visible("c", context_from="m24") if m.origin is Origin.MODEL
    ]
    assert "Al told Mira: They spoke at length of word1." in visible
    assert not [text for text in visible if "word25" in text or "word37" in text]


async def test_what_was_drafted_travels_with_the_soul(stage: ModelStage) -> None:
    await stage.sync("c", talk(54))
    await stage.rest()
    visible = await stage.known("c")
    bundle = await exported(stage)

    other = ModelStage()
    await other.start()
    await other.soul()
    await take_in(other, bundle)
    await other.rest()
    assert await other.known("c") == visible
    assert other.calls == []
    await other.sync("c", [*talk(2), *talk(52, 3, "other")], confirm=True)
    assert await other.drafted() == []

    await other.soul(
        "s2", "Tom"
    )  # as another's memory it is drafted anew: its ids are the first one's
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


@pytest.mark.parametrize("kept", ["word2", None])
async def test_what_keeps_an_anchor_stays_however_long_unused(
    stage: ModelStage, kept: str | None
) -> None:
    """Words that a draft says are not to be lost are told with it, as far as they are in its text."""

    def answer(prompt: Prompt) -> str:
        if prompt.name == "summary":
            return obliging(prompt)
        episode = {
            "lines": [2],
            "text": "they spoke of word2 for long.",
            "importance": 0.3,
        }
        keep = {"keep": [kept, "word77"]} if kept else {}
        none: dict[str, list[object]] = {
            "facts": [],
            "concepts": [],
            "habits": [],
            "kinds": [],
        }
        return json.dumps({**none, "episodes": [episode | keep]})

    stage.llm.then([answer])
    await stage.sync("c", talk(30))
    stage.clock.advance(3600, 0)
    await stage.rest()
    (made,) = [m.id for m in await stage.drafted() if m.kind is MemoryKind.EPISODE]
    view = await stage.engine.memories.get(ME, made)
    assert [anchor.text for anchor in view.anchors] == ([kept] if kept else [])
    stage.clock.advance(0, 200_000)
    await stage.rest()
    state = (await stage.engine.memories.get(ME, made)).memory.state
    assert state is (MemoryState.ACTIVE if kept else MemoryState.FORGOTTEN)
    if kept:
        await stage.engine.memories.patch(ME, made, MemoryPatch(text="Al told Mira nothing."))
        assert (await stage.engine.memories.get(ME, made)).anchors == ()


async def test_a_draft_says_when_it_was_in_the_words_of_the_story(
    stage: ModelStage,
) -> None:
    def answer(prompt: Prompt) -> str:
        if prompt.name == "summary":
            return obliging(prompt)
        episode = {
            "lines": [2],
            "text": "they spoke of word2 for long.",
            "time": "third night",
        }
        none: dict[str, list[object]] = {
            "facts": [],
            "concepts": [],
            "habits": [],
            "kinds": [],
        }
        return json.dumps({**none, "episodes": [episode]})

    stage.llm.then([answer])
    messages = talk(30)
    messages[1] = line("m2", "They spoke of word2 until the third night.")
    await stage.sync("c", messages)
    await stage.rest()
    (made,) = await stage.drafted_of(MemoryKind.EPISODE)
    assert made.situation.time_span is not None
    assert made.situation.time_span.story == "third night"


def habitual(*scenes: int) -> Callable[[Prompt], str]:
    """A model that sees a habit in the messages of these numbers."""

    def answer(prompt: Prompt) -> str:
        if prompt.name == "summary":
            return obliging(prompt)
        endings = tuple(f"word{number}." for number in scenes)
        seen = [n for n, _, text in read_of(prompt) if text.endswith(endings)]
        habit = {
            "lines": seen,
            "when": "rain is falling",
            "does": "hums an old tune",
            "chance": 0.5,
        }
        drafts: dict[str, list[object]] = {
            "episodes": [],
            "facts": [],
            "concepts": [],
            "kinds": [],
        }
        return json.dumps(drafts | {"habits": [habit] if seen else []})

    return answer


def rainy(count: int, scenes: Iterable[int]) -> list[SentMessage]:
    """A talk in which it rains and she hums at some messages."""
    messages = talk(count)
    for number in scenes:
        text = f"The rain is falling and Mira hums an old tune word{number}."
        messages[number - 1] = line(f"m{number}", text, Role.CHARACTER)
    return messages


@pytest.mark.parametrize(
    ("scenes", "is_habit"),
    [
        ((2, 10, 18), True),
        ((2, 4, 6), False),
        ((2, 18), False),
        ((4, 16, 40), True),
        ((4, 40), False),
    ],
)
async def test_three_scenes_make_a_habit(
    stage: ModelStage, scenes: tuple[int, ...], is_habit: bool
) -> None:
    stage.llm.then([habitual(*scenes)])
    await stage.sync("c", rainy(60, scenes))
    await stage.rest()
    kinds = {m.kind for m in await stage.drafted()}
    assert (MemoryKind.ACTION in kinds) is is_habit
    assert (MemoryKind.TRIGGER in kinds) is is_habit
    if is_habit:
        await check_habit(stage, scenes)


async def check_habit(stage: ModelStage, scenes: tuple[int, ...]) -> None:
    """It sets in where it rains, rests on its scenes, and goes when only two are left."""
    answer = await stage.recall("The rain is falling again.", "c", context_from="m59")
    assert [m.text for m in answer.memories if m.fired] == ["hums an old tune"]
    answer = await stage.recall("Pass me the salt.", "c")
    assert not any(m.fired for m in answer.memories)
    (action,) = await stage.drafted_of(MemoryKind.ACTION)
    assert set(await stage.sources_of(action.id)) == {f"m{n}" for n in scenes}

    messages = rainy(60, scenes)
    messages[scenes[1] - 1] = talk(1, scenes[1], "other")[0]
    await stage.sync("c", messages)
    assert await stage.drafted_of(MemoryKind.ACTION, MemoryKind.TRIGGER) == []
    await stage.rest()
    assert await stage.drafted_of(MemoryKind.ACTION) == []


async def test_a_branch_that_differs_early_does_not_undo_the_other_chats_summary(
    stage: ModelStage,
) -> None:
    await stage.sync("c", talk(54))
    await stage.rest()
    await stage.sync("b", [*talk(5), *talk(1, 90, "other"), *talk(48, 6)], parent=("c", "m5"))
    await stage.rest()
    calls = len(stage.calls)
    await stage.rest()
    assert len(stage.calls) == calls
    for chat, word in (("c", "word50"), ("b", "other90")):
        answer = await stage.recall(word, chat, context_from="m53", budget_tokens=4000)
        (summary,) = [m.text for m in answer.memories if m.kind == "summary"]
        assert ("other90" in summary) is (chat == "b")
        assert "word40" in summary


async def test_a_summary_that_the_user_corrected_is_the_users_and_is_gone_on_from(
    stage: ModelStage,
) -> None:
    await stage.sync("c", talk(30))
    await stage.rest()
    (summary,) = [m for m in await stage.drafted() if m.kind is MemoryKind.SUMMARY]
    fixed = MemoryPatch(text="They met at the well.", locked=True)
    await stage.engine.memories.patch(ME, summary.id, fixed)
    await stage.sync("c", talk(60))
    await stage.rest()
    last = [p for p in stage.llm.asked if p.name == "summary"][-1]
    assert "They met at the well." in last.user

    await stage.sync("c", [*talk(2), *talk(1, 3, "other"), *talk(57, 4)])
    await stage.rest()
    assert (await stage.engine.memories.get(ME, summary.id)).memory.text == "They met at the well."
    assert "word3." not in await stage.words()


async def test_nobody_makes_a_summary_by_hand(stage: ModelStage) -> None:
    with pytest.raises(Unprocessable, match="not made by hand"):
        await stage.note("All was well.", kind=MemoryKind.SUMMARY)
