"""A recall brings the memories for the moment, in the shape and size that was asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta, timezone
from itertools import chain

import pytest

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.errors import NotFound
from soulmem.domain.ids import ChatId, Owner, SlotId, SoulId
from soulmem.domain.memories import Place
from soulmem.domain.soul import KnownName
from soulmem.engine.api.requests import RecallRequest, RecallType, TimeRange
from soulmem.engine.api.results import Recalled
from soulmem.engine.recall import context
from tests.engine.stage import ME, Stage, line
from tests.fakes.embedder import FakeEmbedder

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
TALK = [
    line("m1", "I hid the silver key under the old bridge.", sent_at=NOON),
    line(
        "m2",
        "I will not tell anyone.",
        Role.CHARACTER,
        sent_at=NOON + timedelta(days=1),
    ),
    line("m3", "We bake bread on Sundays.", sent_at=NOON + timedelta(days=2)),
    line("m4", "With raisins, please.", Role.CHARACTER, sent_at=NOON + timedelta(days=3)),
    line("m5", "The whales sang all night.", sent_at=NOON + timedelta(days=4)),
    line("m6", "I could not sleep.", Role.CHARACTER, sent_at=NOON + timedelta(days=5)),
    line("m7", "她把钥匙藏在老桥下面。", sent_at=NOON + timedelta(days=6)),
    line("m8", "我不会告诉别人。", Role.CHARACTER, sent_at=NOON + timedelta(days=7)),
    line("m9", "Anyway.", sent_at=NOON + timedelta(days=8)),
    line("m10", "Yes?", Role.CHARACTER, sent_at=NOON + timedelta(days=9)),
]


@pytest.fixture(params=["words", "words and meaning"])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """A soul that lived a chat of ten messages, without and with an embedder."""
    stage = Stage(model=FakeEmbedder().source() if request.param != "words" else None)
    await stage.start()
    await stage.soul()
    await stage.sync("c1", TALK)
    await stage.engine.idle.run()
    yield stage
    await stage.stop()


@pytest.mark.parametrize(
    ("query", "slot"),
    [
        ("Where is the silver key?", "m1"),
        ("Do you like raisins?", "m4"),
        ("a singing whale", "m5"),
        ("钥匙在哪里？", "m7"),
    ],
)
async def test_the_right_moment_comes_first(stage: Stage, query: str, slot: str) -> None:
    """English and Chinese, in other forms of the word too; the source is the message."""
    answer = await stage.recall(query, "c1")
    assert answer.memories[0].sources == (Place(ChatId("c1"), SlotId(slot)),)


def items_of(answer: Recalled) -> list[tuple[str, str]]:
    """Id and text of each memory in the blocks."""
    items = chain.from_iterable(block.items for block in answer.blocks)
    return [(item.memory, item.text) for item in items]


async def test_memories_are_what_the_blocks_say(stage: Stage) -> None:
    """Best first, each once, each text as in its block; tokens are the blocks' sum, scores fall."""
    await stage.note("Mira is afraid of thunder.", permanent=True)
    await stage.note("The key opens the tower.")
    answer = await stage.recall("the silver key", "c1", max_items=4)
    listed = [(memory.id, memory.text) for memory in answer.memories]
    assert sorted(items_of(answer)) == sorted(listed)
    assert answer.tokens == sum(block.tokens for block in answer.blocks)
    scores = [m.score for m in answer.memories]
    assert scores == sorted(scores, reverse=True)
    assert len(answer.memories) == 5
    assert [b.section for b in answer.blocks] == ["permanent", "episodes", "facts"]
    for block in answer.blocks:
        lines = block.text.split("\n")
        assert lines[1:] == [item.text for item in block.items]


async def test_episodes_stand_in_the_order_they_happened(stage: Stage) -> None:
    """Whatever their rank."""
    answer = await stage.recall("whales, bread, key", "c1", max_items=6)
    (block,) = answer.blocks
    order = [m.slot for m in TALK]
    slots = {m.id: m.sources[0].slot for m in answer.memories}
    shown = [order.index(slots[item.memory]) for item in block.items]
    assert shown == sorted(shown)


@pytest.mark.parametrize("tokens", [1, 10, 25, 40, 60, 100])
async def test_the_budget_is_kept(stage: Stage, tokens: int) -> None:
    """Whole memories only, and nothing at all rather than too much."""
    await stage.note("Mira is afraid of thunder.", permanent=True)
    answer = await stage.recall("the silver key", "c1", budget_tokens=tokens)
    assert answer.tokens <= tokens
    texts = {"Mira is afraid of thunder."}
    texts.update(f"{message.speaker}: {message.text}" for message in TALK)
    assert all(memory.text in texts for memory in answer.memories)
    assert answer.memories or tokens < 40


async def test_settings_of_the_card_stand_where_nothing_is_asked(stage: Stage) -> None:
    """Items and tokens; a request of its own wins."""
    await stage.soul(max_items=2, budget_tokens=200)
    assert len((await stage.recall("key", "c1")).memories) == 2
    assert len((await stage.recall("key", "c1", max_items=3)).memories) == 3
    await stage.soul(budget_tokens=30)
    assert (await stage.recall("key", "c1")).tokens <= 30


async def test_without_a_query_the_last_messages_are_the_query(stage: Stage) -> None:
    """The talk has come back to the key: so does the memory of it."""
    await stage.sync(
        "c1",
        [
            *TALK,
            line("m11", "Give me the silver key now."),
            line("m12", "Hm.", Role.CHARACTER),
        ],
    )
    await stage.engine.idle.run()
    answer = await stage.engine.recaller.recall(
        ME, RecallRequest(SoulId("s1"), ChatId("c1"), context_from=SlotId("m9"))
    )
    assert answer.memories[0].sources[0].slot == "m1"


async def test_nothing_to_go_by_brings_only_what_is_permanent(stage: Stage) -> None:
    """An empty query, and an empty chat."""
    await stage.note("Mira is afraid of thunder.", permanent=True)
    await stage.sync("empty", [])
    for answer in (
        await stage.recall("", "c1"),
        await stage.engine.recaller.recall(ME, RecallRequest(SoulId("s1"), ChatId("empty"))),
    ):
        assert [m.text for m in answer.memories] == ["Mira is afraid of thunder."]


async def test_an_intent_seeds_too(stage: Stage) -> None:
    """What the character means to do, beside what is said."""
    answer = await stage.recall("Hello there.", "c1", intent="talk about bread")
    assert answer.memories[0].sources[0].slot == "m3"


async def test_a_time_range_filters(stage: Stage) -> None:
    """From inclusive, to exclusive."""
    when = TimeRange(NOON + timedelta(days=2), NOON + timedelta(days=4))
    answer = await stage.recall("the silver key", "c1", time_range=when)
    assert {m.sources[0].slot for m in answer.memories} == {"m3", "m4"}


async def test_tags_boost_and_never_filter(stage: Stage) -> None:
    """Of two notes as good as each other the tagged one comes first; the other one still comes."""
    await stage.note("A lamp of brass.", tags=("home",))
    await stage.note("A lamp of glass.", tags=("sea",))
    await stage.engine.idle.run()
    for tag, first in (("home", "A lamp of brass."), ("SEA", "A lamp of glass.")):
        answer = await stage.recall("lamp", "c1", tags=(tag,))
        assert next(m.text for m in answer.memories) == first
        assert {"A lamp of brass.", "A lamp of glass."} <= {m.text for m in answer.memories}


async def test_macros_in_memories_are_broken_up(stage: Stage) -> None:
    """In the memory and in its block alike; the stored text keeps its wording."""
    made = await stage.note("Say {{user}} and {{{random}}}.")
    answer = await stage.recall("Say user random", "c1")
    text = next(m.text for m in answer.memories if m.id == made.memory.id)
    assert "{{" not in text
    assert all("{{" not in block.text for block in answer.blocks)
    assert (
        await stage.engine.memories.get(ME, made.memory.id)
    ).memory.text == "Say {{user}} and {{{random}}}."


async def test_names_of_the_card_are_words(stage: Stage) -> None:
    """A name is no form of another word, in memories too that were made before the card named it."""
    await stage.note("Somebody asked for reeds.")
    mind = await stage.mind()
    assert (mind.words.frequency("reed"), mind.words.frequency("reeds")) == (1, 0)
    await stage.engine.souls.put(ME, SoulId("s1"), "Mira", (KnownName("Jonah", ("Reeds",)),), None)
    assert (mind.words.frequency("reed"), mind.words.frequency("reeds")) == (0, 1)


async def test_each_memory_says_why_and_how_old_it_is(stage: Stage) -> None:
    """One sentence with the shared word; the age in exchanges of this chat, plus what the clock was moved."""
    (first, *_) = (await stage.recall("Where is the silver key?", "c1")).memories
    assert first.age_turns == 4
    assert "4 turns ago" in first.why
    await stage.engine.advance_clock(0, 30)
    (first, *_) = (await stage.recall("Where is the silver key?", "c1")).memories
    assert first.age_turns == 34


async def test_the_same_question_has_the_same_answer(stage: Stage) -> None:
    """Also after a restart."""
    before = await stage.recall("the silver key", "c1")
    await stage.restart()
    await stage.mind()
    await stage.engine.embedding.wait_pending()
    after = await stage.recall("the silver key", "c1")
    assert [(m.id, m.score, m.why) for m in after.memories] == [
        (m.id, m.score, m.why) for m in before.memories
    ]


async def test_a_large_soul_reads_words_and_meaning_at_once(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def considered() -> list[tuple[str, float, float | None, float | None]]:
        answer = await stage.recall("Where is the brass key?", "c1")
        trace = await stage.engine.recaller.trace(ME, answer.trace)
        return [(c.id, c.score, c.dense, c.lexical) for c in trace.considered]

    alone = await considered()
    monkeypatch.setattr(context, "_FEW_ROWS", 0)
    assert await considered() == alone


async def test_a_trace_tells_what_was_considered(stage: Stage) -> None:
    """Kept and left out, with scores; only to whom it belongs."""
    answer = await stage.recall("the silver key", "c1", max_items=2)
    trace = await stage.engine.recaller.trace(ME, answer.trace)
    assert trace.answer == answer
    assert [c.id for c in trace.considered if c.kept] == [m.id for m in answer.memories]
    assert len(trace.considered) == 9
    with pytest.raises(NotFound):
        await stage.engine.recaller.trace(Owner("somebody-else"), answer.trace)
    with pytest.raises(NotFound):
        await stage.engine.recaller.trace(ME, "t0")


async def test_users_do_not_see_each_other(stage: Stage) -> None:
    """Another owner has no such soul or chat, and may use the same ids for others."""
    other = Owner("another")
    assert await stage.engine.souls.list(other) == []
    with pytest.raises(NotFound):
        await stage.engine.recaller.recall(other, RecallRequest(SoulId("s1"), query="key"))
    await stage.engine.souls.put(other, SoulId("s1"), "Nora", None, None)
    answer = await stage.engine.recaller.recall(other, RecallRequest(SoulId("s1"), query="key"))
    assert answer.memories == ()
    assert (await stage.engine.souls.get(ME, SoulId("s1"))).name == "Mira"


@pytest.mark.parametrize(("soul", "chat"), [("s9", None), ("s1", "c9")])
async def test_an_unknown_soul_or_chat_is_not_found(
    stage: Stage, soul: str, chat: str | None
) -> None:
    """Before anything is computed."""
    with pytest.raises(NotFound):
        await stage.recall("key", chat, soul)


async def test_a_reply_that_is_continued_keeps_the_memories_of_what_it_answers(
    stage: Stage,
) -> None:
    """Its own first words ask for nothing."""
    await stage.soul(restraint=1.0)
    question, begun = line("n1", TALK[0].text), line("n2", "Hm.", Role.CHARACTER)

    async def recalled(*more: SentMessage, kind: RecallType) -> list[str]:
        await stage.sync("c2", more)
        answer = await stage.engine.recaller.recall(
            ME, RecallRequest(SoulId("s1"), ChatId("c2"), SlotId("n2"), type=kind)
        )
        return [memory.text for memory in answer.memories]

    first = await recalled(question, kind=RecallType.NORMAL)
    assert any("silver key" in text for text in first)
    assert await recalled(question, begun, kind=RecallType.CONTINUE) == first
