"""A fact is read like a memory, by the id of its relation."""

from __future__ import annotations

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.errors import NotFound
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import NewEdge
from soulmem.server.resources.memory_responses import memory_response
from tests.engine.stage import ME, Stage


async def test_a_fact_reads_as_a_sentence_with_its_relation(
    either_stage: Stage,
) -> None:
    town = await either_stage.note("Lund", kind=MemoryKind.CONCEPT)
    bela = await either_stage.note(
        "Bela",
        kind=MemoryKind.CONCEPT,
        edges=(NewEdge(EdgeKind.RELATES, town.memory.id, verb="lives in"),),
    )
    (edge,) = bela.edges
    view = await either_stage.engine.memories.get(ME, MemoryId(edge.id))
    assert view.memory.text == "Bela lives in Lund"
    assert [(e.id, e.verb) for e in view.edges] == [(edge.id, "lives in")]
    answer = memory_response(view)
    assert (answer.kind, answer.id) == ("fact", edge.id)
    assert set(view.standing) == {edge.id}


async def test_an_id_of_nothing_is_not_found(stage: Stage) -> None:
    with pytest.raises(NotFound):
        await stage.engine.memories.get(ME, MemoryId("nothing"))
