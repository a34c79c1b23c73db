"""What a memory is made of, by the names that the soul knows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from soulmem.conversation.micro_units import unit_spans
from soulmem.domain.dialogue import Role
from soulmem.domain.memories import MemoryKind
from soulmem.domain.situation import ConceptDetail
from soulmem.engine.views.faded_texts import computed_spans
from tests.engine.stage import Stage, line

TEXT = "I met Odalys and Al at the gate, and Mira laughed."


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul that heard one line of Al."""
    await asyncio.to_thread(unit_spans, "It was so.", {})  # reads the word lists
    new_stage = Stage()
    await new_stage.start()
    await new_stage.soul()
    await new_stage.sync("c1", [line("m1", TEXT), line("m2", "Well.", Role.CHARACTER)])
    await new_stage.close("c1")
    yield new_stage
    await new_stage.stop()


async def details(stage: Stage, text: str = f"Al: {TEXT}") -> dict[str, str]:
    """Gists of the details of the memory of that text, by words."""
    mind = await stage.mind()
    memory = mind.memories[await stage.find(text)]
    spans = [span for span in computed_spans(mind, memory) if span.is_detail]
    return {text[span.start : span.end]: span.gist for span in spans}


async def test_own_names_and_those_of_who_talks_are_no_details(stage: Stage) -> None:
    assert await details(stage) == {"Odalys": "some name"}


async def test_a_known_name_has_the_gist_of_its_concept(stage: Stage) -> None:
    await stage.note(
        "Odalys",
        kind=MemoryKind.CONCEPT,
        concept=ConceptDetail(description="the old cook of the inn"),
    )
    assert await details(stage) == {"Odalys": "the old cook of the inn"}


async def test_what_was_written_by_hand_has_no_units(stage: Stage) -> None:
    made = await stage.note(TEXT, kind=MemoryKind.EPISODE)
    mind = await stage.mind()
    assert computed_spans(mind, made.memory) == ()


async def test_the_label_of_who_speaks_belongs_to_no_unit(stage: Stage) -> None:
    mind = await stage.mind()
    memory = mind.memories[await stage.find(f"Al: {TEXT}")]
    spans = computed_spans(mind, memory)
    assert min(span.start for span in spans) == len("Al: ")
    assert memory.text[spans[0].start : spans[0].end] == "I met Odalys and Al at the gate"
