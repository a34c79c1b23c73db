"""What a later fact replaced is told as past, and only where it is asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import MemoryPatch, NewEdge
from tests.engine.reflexes import PACKAGED
from tests.engine.stage import ME, Stage, line

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """Halvard moved from Lund to Tartu, 陆青禾 from 苏州 to 洛阳; all were known before."""
    made = Stage(fallback=PACKAGED, judges_lines=True)
    await made.start()
    await made.soul(restraint=1.0)
    for who, verb, homes in (
        ("Halvard", "lives in", ("Lund", "Tartu")),
        ("陆青禾", "住在", ("苏州", "洛阳")),
    ):
        notes = [await made.note(w, kind=MemoryKind.CONCEPT) for w in (who, *homes)]
        somebody, *places = [note.memory.id for note in notes]
        for place in places:
            made.clock.advance(30 * 86_400, 500)
            edge = NewEdge(EdgeKind.RELATES, place, verb=verb)
            patch = MemoryPatch(edges=(edge,))
            await made.engine.memories.patch(ME, somebody, patch)
    await made.sync("c1", [line("m1", "The soup is hot."), line("m2", "Hm.")])
    await made.close("c1")
    await made.engine.embedding.wait_pending()
    yield made
    await made.stop()


async def facts(stage: Stage, query: str) -> list[str]:
    """The facts that are told."""
    answer = await stage.recall(query)
    return [memory.text for memory in answer.memories if memory.kind == "fact"]


@pytest.mark.parametrize(
    ("before", "now", "old", "new"),
    [
        ("Where did Halvard live before?", "Where does Halvard live?", "Lund", "Tartu"),
        ("陆青禾以前住在哪里？", "陆青禾住在哪里？", "苏州", "洛阳"),
    ],
)
async def test_a_former_home_is_told_as_past_where_it_is_asked_for(
    stage: Stage, before: str, now: str, old: str, new: str
) -> None:
    (past,) = [text for text in await facts(stage, before) if old in text]
    assert "no longer so" in past or "现已不再如此" in past
    (present,) = await facts(stage, now)
    assert new in present
