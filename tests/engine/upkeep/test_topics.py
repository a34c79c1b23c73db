"""Topics follow a soul's chats, keep their identity, and lead from one concept to related ones."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import product

import pytest

from soulmem.domain.audit import Action, Actor
from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, SoulId
from soulmem.domain.memories import Memory, MemoryState
from soulmem.domain.soul import KnownName, SoulSettings
from soulmem.engine.api.requests import MemoryPatch, RecallRequest
from tests.engine.stage import ME, Stage, line

TOOLS = ("React", "Vue", "Svelte")
SEA = ("harbour", "captain", "sail", "storm")
KITCHEN = ("flour", "butter", "oven", "dough")


def talk(rounds: int = 4) -> list[str]:
    """Two words of a circle per message, all pairs of it in each round, with unrelated
    messages in between.
    """
    texts = []
    for _ in range(rounds):
        for circle in (TOOLS, SEA, KITCHEN):
            pairs = [(a, b) for a, b in product(circle, circle) if a < b]
            texts += [f"The {a} and the {b} again." for a, b in pairs]
        texts += ["Nothing new this morning.", "Good night then."]
    return texts


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    new_stage = Stage()
    await new_stage.start()
    names = tuple(KnownName(tool) for tool in TOOLS)
    await new_stage.engine.souls.put(ME, SoulId("s1"), "Mira", names, SoulSettings(forgetting=0.0))
    await sync_texts(new_stage, talk())
    yield new_stage
    await new_stage.stop()


async def sync_texts(stage: Stage, texts: list[str], chat: str = "c1") -> None:
    await stage.sync(chat, [line(f"m{n}", text) for n, text in enumerate(texts)], confirm=True)
    await stage.close(chat)
    await stage.engine.idle.run()


async def active_topics(stage: Stage) -> list[Memory]:
    """The topics in use, oldest first."""
    memories = (await stage.mind()).memories.values()
    topics = [m for m in memories if m.is_found_topic and m.state is MemoryState.ACTIVE]
    return sorted(topics, key=lambda m: m.text)


async def test_what_is_told_together_becomes_a_topic(stage: Stage) -> None:
    topics = {frozenset(topic.tags) for topic in await active_topics(stage)}
    assert frozenset(TOOLS) in topics
    assert frozenset(SEA) in topics
    assert frozenset(KITCHEN) in topics
    assert all(topic.text.count(",") >= 2 for topic in await active_topics(stage))


async def test_concepts_belong_to_it_and_no_text_does(stage: Stage) -> None:
    mind = await stage.mind()
    (tools,) = [topic for topic in await active_topics(stage) if set(topic.tags) == set(TOOLS)]
    edges = mind.edges_of(tools.id)
    assert {mind.memories[edge.source].text for edge in edges} == set(TOOLS)
    assert {edge.kind for edge in edges} == {EdgeKind.TOPIC_OF}


async def test_a_topic_stays_the_same_while_talk_goes_on(stage: Stage) -> None:
    before = {topic.id: topic.text for topic in await active_topics(stage)}
    for turn in range(3):
        await sync_texts(stage, [*talk(), *(f"The anchor of the {word}, {turn}." for word in SEA)])
        assert (
            before.items() <= {topic.id: topic.text for topic in await active_topics(stage)}.items()
        )


async def test_a_topic_goes_with_what_was_told_of_it(stage: Stage) -> None:
    await sync_texts(stage, [text for text in talk() if not any(word in text for word in SEA)])
    assert not any(set(topic.tags) & set(SEA) for topic in await active_topics(stage))
    assert any(set(topic.tags) == set(TOOLS) for topic in await active_topics(stage))


async def test_no_topic_holds_a_word_that_no_message_has_any_more(stage: Stage) -> None:
    """At once, not in the next quiet moment."""
    await sync_texts(stage, [*talk(), *6 * ["The anchor, the harbour and the sail."], "Oh."])
    assert any("anchor" in topic.tags for topic in await active_topics(stage))
    rest = [line(f"m{n}", text) for n, text in enumerate(talk())]
    await stage.sync("c1", rest)
    assert not any("anchor" in topic.tags for topic in await active_topics(stage))
    assert any(set(topic.tags) == set(TOOLS) for topic in await active_topics(stage))


async def test_a_topic_names_messages_that_hold_its_words(stage: Stage) -> None:
    texts = {f"m{n}": text for n, text in enumerate(talk())}
    topics = await active_topics(stage)
    assert topics
    for topic in topics:
        view = await stage.engine.memories.get(ME, topic.id)
        cited = " ".join(texts[place.slot] for place in view.sources)
        assert all(word in cited for word in topic.text.split(", "))


@pytest.mark.parametrize("text", ["The fire escape is {}.", "{}说「篁燧髻」。"])
async def test_pieces_of_one_phrase_are_no_topic(text: str) -> None:
    new_stage = Stage()
    await new_stage.start()
    await new_stage.soul()
    await sync_texts(new_stage, [text.format(n) for n in range(9)] + ["Nothing new."] * 9)
    assert await active_topics(new_stage) == []
    await new_stage.stop()


async def test_topics_are_found_again_after_a_restart(stage: Stage) -> None:
    before = await active_topics(stage)
    await stage.restart()
    await stage.engine.idle.run()
    assert await active_topics(stage) == before


async def test_a_topic_the_user_named_is_the_users(stage: Stage) -> None:
    (sea,) = [topic for topic in await active_topics(stage) if set(topic.tags) == set(SEA)]
    await stage.engine.memories.patch(ME, sea.id, MemoryPatch(text="Life at sea"))
    await sync_texts(stage, talk(5))
    assert (await stage.mind()).memories[sea.id].text == "Life at sea"
    assert not any(set(topic.tags) == set(SEA) for topic in await active_topics(stage))


async def test_nobody_is_told_a_topic_and_the_fingerprint_knows_none(
    stage: Stage,
) -> None:
    asked = RecallRequest(SoulId("s1"), ChatId("c1"), query="harbour, captain, sail", max_items=50)
    recalled = (await stage.engine.recaller.recall(ME, asked)).memories
    assert not {m.id for m in recalled} & {topic.id for topic in await active_topics(stage)}
    fresh = Stage()
    await fresh.start()
    names = tuple(KnownName(tool) for tool in TOOLS)
    await fresh.engine.souls.put(ME, SoulId("s1"), "Mira", names, SoulSettings(forgetting=0.0))
    await fresh.sync("c1", [line(f"m{n}", text) for n, text in enumerate(talk())])
    assert await active_topics(fresh) == []
    assert await fresh.engine.souls.fingerprint(
        ME, SoulId("s1")
    ) == await stage.engine.souls.fingerprint(ME, SoulId("s1"))
    await fresh.stop()


async def test_they_are_told_by_their_number_alone(stage: Stage) -> None:
    """A word in the audit would outlive the message it is from; and there is no undoing what follows anew."""
    page = await stage.engine.history.audit(ME, SoulId("s1"), None, 99, None)
    (entry,) = [candidate for candidate in page.entries if candidate.action is Action.RENEW]
    assert (entry.actor, entry.target, entry.before) == (Actor.ENGINE, "s1", None)
    assert entry.after == {"topics": len(await active_topics(stage)), "gone": 0}
    with pytest.raises(Unprocessable):
        await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=entry.id, job=None)
