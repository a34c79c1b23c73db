"""A reply that says what only a memory says counts three times; one that is denied takes it back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from soulmem.domain.dialogue import Message, Role
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.engine.api.requests import NewEdge, RecallRequest
from soulmem.engine.api.results import PathStep
from soulmem.engine.learning.reply_feedback import (
    ReplyContext,
    Sign,
    reply_context,
    signs,
)
from soulmem.engine.learning.vector_update import query_vector
from tests.engine.stage import ME, Stage, line
from tests.engine.taught import TALK
from tests.fakes.embedder import FakeEmbedder

STORED = "About thunder: it broke the lighthouse lamp."


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A chat with a reply due, and a note that hangs on another."""
    made = Stage(model=FakeEmbedder().source())
    await made.start()
    await made.soul(forgetting=0.0)
    await made.sync("c1", TALK)
    first = (await made.note("About violets.")).memory.id
    edge = NewEdge(EdgeKind.ASSOCIATES, source=first, strength=0.4)
    await made.note(STORED, edges=(edge,))
    await made.engine.embedding.wait_pending()
    yield made
    await made.stop()


async def lesson(stage: Stage, reply: str, answer: str) -> tuple[float, float]:
    """The strength of the edge to the note, and the weight of its vector, after one settled reply."""
    mind, world = await stage.mind(), await stage.world()
    key = await stage.find(STORED)
    (edge,) = [e for e in mind.edges.of(key) if e.kind is EdgeKind.ASSOCIATES]
    _, messages = await stage.engine.chats.get(ME, ChatId("c1"))
    slot = f"r{len(messages)}"
    recalled = await stage.recall("About violets", "c1", max_items=1)
    path = (
        PathStep(edge.source, "", None),
        PathStep(key, "", "associates"),
    )
    memory = replace(recalled.memories[0], id=key, path=path, edges=(edge.id,))
    request = RecallRequest(SoulId("s1"), ChatId("c1"), SlotId(slot), 0)
    noted = replace(recalled, memories=(memory,))
    asked = await stage.engine.embedding.embed_query(["violets"])
    assert asked is not None
    query = query_vector(asked[0], mind.vector_queue.model)
    stage.engine.learner.note_recall(world, request, noted, None, query)
    shown = [
        replace(line(m.slot, m.text, m.role, speaker=m.speaker), swipe=m.swipe) for m in messages
    ]
    more = [line(slot, reply, Role.CHARACTER), line(f"n{slot}", answer)]
    await stage.sync("c1", [*shown, *more])
    await stage.engine.learner.drain()
    vector = mind.edge_vectors.get(edge.id)
    weight = 0.0 if vector is None else vector.weight
    return mind.edges[edge.id].strength, weight


async def test_a_reply_that_says_something_else_counts_once(stage: Stage) -> None:
    strength, weight = await lesson(stage, "Something else.", "I see.")
    assert strength == pytest.approx(0.4 + 0.1 * 0.6)
    assert weight > 0.0


async def test_a_reply_that_says_it_counts_three_times(stage: Stage) -> None:
    strength, weight = await lesson(
        stage, "The thunder broke the lamp of the lighthouse.", "I see."
    )
    assert strength == pytest.approx(0.4 + 0.3 * 0.6)
    plain = await lesson(stage, "Something else.", "I see.")
    assert plain[1] - weight < weight / 4  # hardly anything is left to learn


async def test_a_denied_reply_takes_back_what_three_had_taught(stage: Stage) -> None:
    for _ in range(3):
        taught = await lesson(stage, "Something else.", "I see.")
    after = await lesson(
        stage,
        "The thunder broke the lamp of the lighthouse.",
        "No, that never happened.",
    )
    assert after[0] <= 0.4 < taught[0]
    assert abs(after[1]) < 0.05 < taught[1]


async def test_a_denial_of_something_else_changes_nothing(stage: Stage) -> None:
    strength, weight = await lesson(stage, "It will rain.", "No, that never happened.")
    assert strength == pytest.approx(0.4 + 0.1 * 0.6)
    assert weight > 0.0


async def test_words_of_the_messages_before_are_no_sign(stage: Stage) -> None:
    mind = await stage.mind()
    key = await stage.find(STORED)
    reply = "Yes, thunder broke the lighthouse lamp."
    alone = signs(mind, [key], ReplyContext((), reply))
    assert alone == {key: Sign.USED}
    echoed = ReplyContext(("Did thunder break the lighthouse lamp?",), reply)
    assert signs(mind, [key], replace(echoed, before=(reply,))) == {}
    assert signs(mind, [key], ReplyContext((), "A lamp.")) == {}
    assert signs(mind, [], ReplyContext((), reply)) == {}


def test_only_the_users_next_message_answers() -> None:
    rows = [
        Message(SlotId(f"m{n}"), "h", role, "", f"text {n}")
        for n, role in enumerate([Role.USER, Role.CHARACTER, Role.USER])
    ]
    assert reply_context(rows, 1) == ReplyContext(("text 0",), "text 1", "text 2")
    assert reply_context(rows, 0) == ReplyContext((), "text 0", "")
    assert reply_context(rows, 2) == ReplyContext(("text 0", "text 1"), "text 2")
