"""Does a memory read as its parts have faded, and what is important keep its details?"""

from __future__ import annotations

import asyncio

import pytest

from soulmem.engine.views.read_texts import ReadText, read_texts
from tests.engine.stage import Stage, line

TEXT = "In Brindlemoor old Kaelith hid 40 silver crowns, and nobody saw it."


async def read(
    stage: Stage, ahead: float, importance: float = 0.3, dial: float | None = None
) -> ReadText:
    """The episode of TEXT some turns from now."""
    mind = await stage.mind()
    (memory,) = [m for m in mind.memories.values() if TEXT in m.text]
    object.__setattr__(memory, "importance", importance)
    turn = mind.lived_turns(0)
    (out,) = await asyncio.to_thread(
        lambda: read_texts(mind, [memory], turn, ahead=ahead, dial=dial)
    )
    return out


@pytest.fixture
async def told(stage: Stage) -> Stage:
    """A soul with the episode."""
    await stage.sync("a", [line("m1", TEXT), line("m2", "Hm."), line("m3", "Well.")])
    return stage


async def test_a_fresh_memory_reads_as_it_was_told(told: Stage) -> None:
    fresh = await read(told, 0.0)
    assert fresh.text == f"Al: {TEXT}"
    assert not fresh.is_masked
    assert fresh.visibility > 0.99


async def test_it_blurs_part_by_part_until_only_the_speaker_is_left(
    told: Stage,
) -> None:
    looks = [await read(told, turns) for turns in range(0, 6000, 100)]
    clear = [look.visibility for look in looks]
    assert clear == sorted(clear, reverse=True)
    assert any(look.is_masked and not look.is_empty for look in looks)
    assert looks[-1].is_empty
    assert looks[-1].text.startswith("Al: …")
    assert len({look.text for look in looks}) > 3


async def test_names_and_numbers_of_what_is_important_stay(told: Stage) -> None:
    late = await read(told, 6000.0, importance=0.7)
    for word in ("Brindlemoor", "Kaelith", "40"):
        assert word in late.text
    assert "nobody saw" not in late.text


async def test_the_dial_may_be_tried_without_setting_it(told: Stage) -> None:
    assert (await read(told, 6000.0, dial=0.0)).text == f"Al: {TEXT}"
    half = await read(told, 600.0, dial=2.0)
    assert half.text == (await read(told, 1200.0)).text
