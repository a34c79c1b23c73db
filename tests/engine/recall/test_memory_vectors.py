"""What lines once called for comes to mind at lines like them, by the memory vectors of edges."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.opinions import Verdict
from soulmem.domain.situation import Emotion
from soulmem.engine.api.requests import NewEdge, RecallMode
from soulmem.engine.api.results import Recalled
from soulmem.engine.mind.text_background import text_background
from tests.engine.stage import ME, Stage, line
from tests.fakes.embedder import FakeEmbedder

CUE = "Do the turtle dance for us once more tonight."
LIKE_IT = "Tonight the turtle dance once more, for everybody."
UNLIKE_IT = "Hans collected and Lena planted something once."
TARGET = "Petra sold her windmill."
FILLERS = [
    f"{name} {verb} {thing} once."
    for name in ("Olga", "Hans", "Ines", "Karl", "Lena", "Moritz")
    for verb, thing in (
        ("painted", "fences"),
        ("collected", "stamps"),
        ("planted", "tulips"),
        ("repaired", "clocks"),
    )
]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A concept on which the target hangs by the weakest of six edges."""
    made = Stage(model=FakeEmbedder().source())
    await made.start()
    await made.soul(restraint=0.0, forgetting=0.0)
    hub = (await made.note("Zqarn", kind=MemoryKind.CONCEPT)).memory.id

    async def hang(text: str, strength: float) -> None:
        edge = NewEdge(EdgeKind.MENTIONS, to=hub, strength=strength)
        await made.note(text, kind=MemoryKind.EPISODE, importance=0.4, edges=(edge,))

    await hang("At the fair they did the turtle dance on a table.", 0.5)
    for number, name in enumerate(("Ada", "Bert", "Cleo", "Dora")):
        await hang(f"{name} measured barn {number}.", 0.4)
    await hang(TARGET, 0.35)
    for text in FILLERS:
        await made.note(text, kind=MemoryKind.EPISODE, importance=0.4)
    await made.sync("c1", [line("m1", "Here we are."), line("m2", "At last.")])
    await made.engine.embedding.wait_pending()
    yield made
    await made.stop()


async def asked(
    stage: Stage, text: str, most: int = 5, mode: RecallMode = RecallMode.AUTO
) -> Recalled:
    """What comes to mind, with nothing learned."""
    return await stage.recall(text, max_items=most, mode=mode)


async def comes(stage: Stage, text: str, mode: RecallMode = RecallMode.AUTO) -> bool:
    """Whether the target is among the first five."""
    answer = await asked(stage, text, mode=mode)
    return TARGET in [memory.text for memory in answer.memories]


async def judged(stage: Stage, text: str, verdict: Verdict) -> str:
    """The id of the change by that verdict on the target."""
    answer = await asked(stage, text, 40, mode=RecallMode.WALK)
    key = await stage.find(TARGET)
    given = await stage.engine.feedback.give(ME, answer.trace, key, verdict)
    return given.change


async def kept_reply(stage: Stage, text: str, reply: str = "Yes.") -> None:
    """A recall of many memories for a reply that is settled."""
    _, messages = await stage.engine.chats.get(ME, ChatId("c1"))
    number = len(messages)
    slot = SlotId(f"r{number}")
    await stage.recall(text, "c1", slot=slot, swipe=0, max_items=40, mode=RecallMode.WALK)
    shown = [
        replace(line(m.slot, m.text, m.role, speaker=m.speaker), swipe=m.swipe) for m in messages
    ]
    more = [line(slot, reply, Role.CHARACTER), line(f"n{number}", f"Well, {number}.")]
    await stage.sync("c1", [*shown, *more])
    await stage.engine.learner.drain()


async def test_a_verdict_brings_a_memory_at_lines_like_that_one(stage: Stage) -> None:
    """Past siblings that are connected as well; not at other lines; after a restart too."""
    for mode in (RecallMode.WALK, RecallMode.AUTO, RecallMode.EXPAND):
        assert not await comes(stage, LIKE_IT, mode=mode)
    await judged(stage, CUE, Verdict.STRONGER)
    for _ in range(2):
        for mode in (RecallMode.WALK, RecallMode.AUTO, RecallMode.EXPAND):
            assert await comes(stage, LIKE_IT, mode=mode), mode
        assert not await comes(stage, LIKE_IT, mode=RecallMode.BASELINE)
        assert not await comes(stage, UNLIKE_IT)
        await stage.restart()


async def test_undoing_the_verdict_undoes_what_it_taught(stage: Stage) -> None:
    change = await judged(stage, CUE, Verdict.STRONGER)
    mind = await stage.mind()
    assert len(mind.edge_vectors) == 2
    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=change, job=None)
    assert not await comes(stage, LIKE_IT, mode=RecallMode.WALK)
    assert len(mind.edge_vectors) == 0
    assert await stage.store.edge_vectors(ME, SoulId("s1")) == []


@pytest.mark.parametrize("verdict", [Verdict.NOT_NOW, Verdict.WRONG])
async def test_a_bad_verdict_takes_back_three_uses(stage: Stage, verdict: Verdict) -> None:
    for _ in range(3):
        await kept_reply(stage, CUE)
    taught = await lengths(stage)
    await judged(stage, CUE, verdict)
    assert taught
    for edge, match in (await lengths(stage)).items():
        if edge in taught:
            assert match <= 0.01 < taught[edge]


async def lengths(stage: Stage) -> dict[str, float]:
    """<q, m> of the cue and the vectors of the edges on the way to the target."""
    mind = await stage.mind()
    model, background = mind.vector_queue.model, text_background(mind)
    assert model is not None
    assert background is not None
    vectors = await stage.engine.embedding.embed_query([CUE])
    assert vectors is not None
    direction = background.direction(vectors[0])
    assert direction is not None
    keys, match = mind.edge_vectors.matches(direction, background.spread, model)
    target = await stage.find(TARGET)
    on_way = {edge.id for edge in mind.edges.of(target)}
    pairs = zip(keys, match.tolist(), strict=False)
    return {key: value for key, value in pairs if key in on_way}


async def test_the_path_is_shown_and_taught_again(stage: Stage) -> None:
    await judged(stage, CUE, Verdict.STRONGER)
    answer = await asked(stage, LIKE_IT, mode=RecallMode.WALK)
    memory = next(m for m in answer.memories if m.text == TARGET)
    assert [step.label for step in memory.path][1:] == ["Zqarn", TARGET]
    assert memory.hops == len(memory.edges) == 2
    assert "Zqarn" in memory.why


async def test_learning_leaves_the_fingerprint_as_it_was(stage: Stage) -> None:
    before = await stage.fingerprint()
    await judged(stage, CUE, Verdict.STRONGER)
    assert await stage.fingerprint() == before
    await kept_reply(stage, CUE)
    assert len((await stage.mind()).edge_vectors) >= 2


async def test_a_vector_goes_with_its_memory(stage: Stage) -> None:
    await judged(stage, CUE, Verdict.STRONGER)
    key: MemoryId = await stage.find(TARGET)
    await stage.engine.memories.delete(ME, key, None)
    assert len((await stage.mind()).edge_vectors) == 2  # it may come back
    await stage.engine.memories.delete(ME, key, "purge")
    stored = await stage.store.edge_vectors(ME, SoulId("s1"))
    assert [vector.source == key for vector in stored] == [False]
    assert key not in [v.source for v in (await stage.mind()).edge_vectors]


async def is_opened(stage: Stage) -> bool:
    """Whether the answer says by which path the target came, with no walk."""
    answer = await asked(stage, LIKE_IT, 40, mode=RecallMode.EXPAND)
    return any(m.text == TARGET and len(m.path) == 3 for m in answer.memories)


async def test_vectors_of_another_model_mean_nothing(stage: Stage) -> None:
    """They are replaced when their edges are taught again."""
    await judged(stage, CUE, Verdict.STRONGER)
    assert await is_opened(stage)
    stage.model = FakeEmbedder("other").source()
    await stage.restart()
    await stage.engine.embedding.wait_pending()
    assert not await is_opened(stage)
    await judged(stage, CUE, Verdict.STRONGER)
    assert await is_opened(stage)
    models = {vector.model for vector in (await stage.mind()).edge_vectors}
    assert models == {"other/1"}


async def test_in_anger_a_vector_alone_brings_nothing(stage: Stage) -> None:
    """Anger narrows what comes to mind to what is near the line itself."""
    await judged(stage, CUE, Verdict.STRONGER)
    await stage.soul(restraint=1.0, forgetting=0.0)
    calm = await asked(stage, LIKE_IT)
    assert TARGET in [memory.text for memory in calm.memories]
    angry = await stage.recall(LIKE_IT, max_items=5, mood=Emotion("anger", 0.9))
    assert TARGET not in [memory.text for memory in angry.memories]
    assert len(angry.memories) > 0
