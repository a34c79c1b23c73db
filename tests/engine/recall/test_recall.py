"""Does a recall bring what the moment calls for, in the shape and size that was asked for?"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta, timezone

import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.errors import NotFound
from soulmem.domain.ids import ChatId, Owner, SlotId, SoulId
from soulmem.domain.memories import Place
from soulmem.domain.soul import KnownName
from soulmem.engine.api.requests import RecallRequest, TimeRange
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
    line(
        "m4", "With raisins, please.", Role.CHARACTER, sent_at=NOON + timedelta(days=3)
    ),
    line("m5", "The whales sang all night.", sent_at=NOON + timedelta(days=4)),
    line("m6", "I could not sleep.", Role.CHARACTER, sent_at=NOON + timedelta(days=5)),
    line("m7", "她把钥匙藏在老桥下面。", sent_at=NOON + timedelta(days=6)),
    line("m8", "我不会告诉别人。", Role.CHARACTER, sent_at=NOON + timedelta(days=7)),
    line("m9", "Anyway.", sent_at=NOON + timedelta(days=8)),
    line("m10", "Yes?", Role.CHARACTER, sent_at=NOON + timedelta(days=9)),
]


@pytest.fixture(params=["words", "words and meaning"])
async def told(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
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
async def test_the_right_moment_comes_first(told: Stage, query: str, slot: str) -> None:
    """English and Chinese, in other forms of the word too; the source is the message."""
    found = await told.recall(query, "c1")
    assert found.memories[0].sources == (Place(ChatId("c1"), SlotId(slot)),)


async def test_memories_are_what_the_blocks_say(told: Stage) -> None:
    """Best first, each once, each text as in its block; tokens are the blocks' sum, scores fall."""
    await told.note("Mira is afraid of thunder.", permanent=True)
    await told.note("The key opens the tower.")
    found = await told.recall("the silver key", "c1", max_items=4)
    items = [(item.memory, item.text) for block in found.blocks for item in block.items]
    assert sorted(items) == sorted((m.id, m.text) for m in found.memories)
    assert found.tokens == sum(block.tokens for block in found.blocks)
    scores = [m.score for m in found.memories]
    assert scores == sorted(scores, reverse=True)
    assert len(found.memories) == 5
    assert [b.section for b in found.blocks] == ["permanent", "episodes", "facts"]
    for block in found.blocks:
        header = block.text.split("\n")[0]
        assert block.text == "\n".join([header, *(item.text for item in block.items)])


async def test_episodes_stand_in_the_order_they_happened(told: Stage) -> None:
    """Whatever their rank."""
    found = await told.recall("whales, bread, key", "c1", max_items=6)
    (block,) = found.blocks
    order = [m.slot for m in TALK]
    slots = {m.id: m.sources[0].slot for m in found.memories}
    shown = [order.index(slots[item.memory]) for item in block.items]
    assert shown == sorted(shown)


@pytest.mark.parametrize("tokens", [1, 10, 25, 40, 60, 100])
async def test_the_budget_is_kept(told: Stage, tokens: int) -> None:
    """Whole memories only, and nothing at all rather than too much."""
    await told.note("Mira is afraid of thunder.", permanent=True)
    found = await told.recall("the silver key", "c1", budget_tokens=tokens)
    assert found.tokens <= tokens
    assert all(
        m.text
        in {*(f"{s.speaker}: {s.text}" for s in TALK), "Mira is afraid of thunder."}
        for m in found.memories
    )
    assert found.memories or tokens < 40


async def test_settings_of_the_card_stand_where_nothing_is_asked(told: Stage) -> None:
    """Items and tokens; a request of its own wins."""
    await told.soul(max_items=2, budget_tokens=200)
    assert len((await told.recall("key", "c1")).memories) == 2
    assert len((await told.recall("key", "c1", max_items=3)).memories) == 3
    await told.soul(budget_tokens=30)
    assert (await told.recall("key", "c1")).tokens <= 30


async def test_without_a_query_the_last_messages_are_the_cue(told: Stage) -> None:
    """The talk has come back to the key: so does the memory of it."""
    await told.sync(
        "c1",
        [
            *TALK,
            line("m11", "Give me the silver key now."),
            line("m12", "Hm.", Role.CHARACTER),
        ],
    )
    await told.engine.idle.run()
    found = await told.engine.recaller.recall(
        ME, RecallRequest(SoulId("s1"), ChatId("c1"), context_from=SlotId("m9"))
    )
    assert found.memories[0].sources[0].slot == "m1"


async def test_nothing_to_go_by_brings_only_what_is_permanent(told: Stage) -> None:
    """An empty query, and an empty chat."""
    await told.note("Mira is afraid of thunder.", permanent=True)
    await told.sync("empty", [])
    for found in (
        await told.recall("", "c1"),
        await told.engine.recaller.recall(
            ME, RecallRequest(SoulId("s1"), ChatId("empty"))
        ),
    ):
        assert [m.text for m in found.memories] == ["Mira is afraid of thunder."]


async def test_an_intent_seeds_too(told: Stage) -> None:
    """What the character means to do, beside what is said."""
    found = await told.recall("Hello there.", "c1", intent="talk about bread")
    assert found.memories[0].sources[0].slot == "m3"


async def test_a_time_range_filters(told: Stage) -> None:
    """From inclusive, to exclusive."""
    when = TimeRange(NOON + timedelta(days=2), NOON + timedelta(days=4))
    found = await told.recall("the silver key", "c1", time_range=when)
    assert {m.sources[0].slot for m in found.memories} == {"m3", "m4"}


async def test_tags_boost_and_never_filter(told: Stage) -> None:
    """Of two notes as good as each other the tagged one comes first; the other one still comes."""
    await told.note("A lamp of brass.", tags=("home",))
    await told.note("A lamp of glass.", tags=("sea",))
    await told.engine.idle.run()
    for tag, first in (("home", "A lamp of brass."), ("SEA", "A lamp of glass.")):
        found = await told.recall("lamp", "c1", tags=(tag,))
        assert next(m.text for m in found.memories) == first
        assert {"A lamp of brass.", "A lamp of glass."} <= {
            m.text for m in found.memories
        }


async def test_macros_in_memories_are_broken_up(told: Stage) -> None:
    """In the memory and in its block alike; the stored text keeps its wording."""
    made = await told.note("Say {{user}} and {{{random}}}.")
    found = await told.recall("Say user random", "c1")
    text = next(m.text for m in found.memories if m.id == made.memory.id)
    assert "{{" not in text
    assert all("{{" not in block.text for block in found.blocks)
    assert (
        await told.engine.memories.get(ME, made.memory.id)
    ).memory.text == "Say {{user}} and {{{random}}}."


async def test_names_of_the_card_are_words(told: Stage) -> None:
    """A name is no form of another word, in memories too that were made before the card named it."""
    await told.note("Somebody asked for reeds.")
    mind = await told.mind()
    assert (mind.words.frequency("reed"), mind.words.frequency("reeds")) == (1, 0)
    await told.engine.souls.put(
        ME, SoulId("s1"), "Mira", (KnownName("Jonah", ("Reeds",)),), None
    )
    assert (mind.words.frequency("reed"), mind.words.frequency("reeds")) == (0, 1)


async def test_each_memory_says_why_and_how_old_it_is(told: Stage) -> None:
    """One sentence with the shared word; the age in exchanges of this chat, plus what the clock was moved."""
    (first, *_) = (await told.recall("Where is the silver key?", "c1")).memories
    assert first.age_turns == 4
    assert "4 turns ago" in first.why
    await told.engine.advance_clock(0, 30)
    (first, *_) = (await told.recall("Where is the silver key?", "c1")).memories
    assert first.age_turns == 34


async def test_the_same_question_has_the_same_answer(told: Stage) -> None:
    """Also after a restart."""
    before = await told.recall("the silver key", "c1")
    await told.restart()
    await told.mind()
    await told.engine.embedding.wait_pending()
    after = await told.recall("the silver key", "c1")
    assert [(m.id, m.score, m.why) for m in after.memories] == [
        (m.id, m.score, m.why) for m in before.memories
    ]


async def test_a_large_soul_reads_words_and_meaning_at_once(
    told: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def considered() -> list[tuple[str, float, float | None, float | None]]:
        answer = await told.recall("Where is the brass key?", "c1")
        trace = await told.engine.recaller.trace(ME, answer.trace)
        return [(one.id, one.score, one.dense, one.lexical) for one in trace.considered]

    alone = await considered()
    monkeypatch.setattr(context, "_FEW_ROWS", 0)
    assert await considered() == alone


async def test_a_trace_tells_what_was_considered(told: Stage) -> None:
    """Kept and left out, with scores; only to whom it belongs."""
    found = await told.recall("the silver key", "c1", max_items=2)
    trace = await told.engine.recaller.trace(ME, found.trace)
    assert trace.answer == found
    assert [c.id for c in trace.considered if c.kept] == [m.id for m in found.memories]
    assert len(trace.considered) == 9
    with pytest.raises(NotFound):
        await told.engine.recaller.trace(Owner("somebody-else"), found.trace)
    with pytest.raises(NotFound):
        await told.engine.recaller.trace(ME, "t0")


async def test_users_do_not_see_each_other(told: Stage) -> None:
    """Another owner has no such soul or chat, and may use the same ids for others."""
    other = Owner("another")
    assert await told.engine.souls.list(other) == []
    with pytest.raises(NotFound):
        await told.engine.recaller.recall(
            other, RecallRequest(SoulId("s1"), query="key")
        )
    await told.engine.souls.put(other, SoulId("s1"), "Nora", None, None)
    found = await told.engine.recaller.recall(
        other, RecallRequest(SoulId("s1"), query="key")
    )
    assert found.memories == ()
    assert (await told.engine.souls.get(ME, SoulId("s1"))).name == "Mira"


@pytest.mark.parametrize(("soul", "chat"), [("s9", None), ("s1", "c9")])
async def test_an_unknown_soul_or_chat_is_not_found(
    told: Stage, soul: str, chat: str | None
) -> None:
    """Before anything is computed."""
    with pytest.raises(NotFound):
        await told.recall("key", chat, soul)
