"""Of a long reply the passages are told that say what is asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.results import RecalledMemory
from soulmem.engine.recall.excerpts import excerpt
from soulmem.language.passages import PASSAGE
from tests.engine.reflexes import PACKAGED
from tests.engine.stage import Stage, line
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.token_store import FakeTokenStore

FACT = "The cellar key hangs behind the grandfather clock."
FILLING = (
    "The smith was slow today and nobody ordered the soup.",
    "Outside the wind pulls at the shutters of the barn.",
    "She wipes the counter with a damp cloth and yawns.",
    "Somebody laughs in the yard and a bucket falls over.",
    "The bread is warm still and the cheese is from the hill.",
)
QUESTION = "Where does the cellar key hang?"


def reply(place: float, sentences: int = 40) -> str:
    """A long reply with the fact at 0 (begin) .. 1 (end)."""
    said = [FILLING[number % len(FILLING)] for number in range(sentences)]
    said.insert(round(place * sentences), FACT)
    return " ".join(said)


@pytest.fixture(params=["words", "tokens"])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """An engine that compares by words, and one that compares by tokens."""
    if request.param == "words":
        new_stage = Stage(fallback=PACKAGED)
    else:
        new_stage = Stage(model=FakeEmbedder().source(), tokens=FakeTokenStore())
    await new_stage.start()
    await new_stage.soul()
    yield new_stage
    await new_stage.stop()


async def told(stage: Stage, *texts: str) -> list[RecalledMemory]:
    """What answers the question after a chat in which she says these."""
    chat = []
    for number, text in enumerate(texts):
        chat += [
            line(f"u{number}", "Tell me more of it."),
            line(f"m{number}", text, Role.CHARACTER),
        ]
    await stage.sync("c1", chat)
    await stage.close("c1")
    await stage.engine.embedding.wait_pending()
    return list((await stage.recall(QUESTION)).memories)


@pytest.mark.parametrize("place", [0.0, 0.5, 1.0])
async def test_the_passage_that_answers_is_told_wherever_it_stands(
    stage: Stage, place: float
) -> None:
    plain = [" ".join(FILLING)] * 6
    memories = await told(stage, *plain, reply(place), *plain)
    (found,) = [memory for memory in memories if FACT in memory.text]
    assert found.text.startswith("Mira: ")
    assert "…" in found.text
    assert len(found.text) < 700  # of 2,200


async def test_a_reply_of_two_passages_is_told_whole(stage: Stage) -> None:
    text = reply(0.5, sentences=7)
    assert 1.5 * PASSAGE < len(text) <= 2 * PASSAGE
    memories = await told(stage, text)
    (found,) = [memory for memory in memories if FACT in memory.text]
    assert found.text == f"Mira: {text}"


async def test_what_the_user_wrote_is_told_whole(stage: Stage) -> None:
    note = await stage.note(reply(0.5), kind=MemoryKind.NOTE)
    await stage.engine.embedding.wait_pending()
    found = {m.id: m.text for m in (await stage.recall(QUESTION)).memories}
    assert found[note.memory.id] == note.memory.text


def test_gaps_and_the_speaker_are_shown() -> None:
    text = "Mira: one. two. three. four."
    stretches = [(0, 10), (10, 15), (15, 22), (22, 28)]
    assert excerpt(text, stretches, [0, 1, 2, 3], "Mira: ") == text
    assert excerpt(text, stretches, [0, 1], "Mira: ") == "Mira: one. two. …"
    assert excerpt(text, stretches, [1, 3], "Mira: ") == "Mira: … two. … four."
