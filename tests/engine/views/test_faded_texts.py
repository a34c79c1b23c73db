"""How clear the parts of a text are by now: a closed form of age, dial and what was stored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.dialogue import text_hash
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.forgetting_curve import Decay, elapsed_until, retained
from soulmem.domain.memories import Memory, MemoryState
from soulmem.domain.micro_units import (
    UNIT_STABILITY,
    Anchor,
    AnchorKind,
    MicroUnit,
    Retention,
    UnitSpan,
)
from soulmem.domain.usage import Stamp, first_use
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.views.faded_texts import FadedText, fading_of, fadings_of
from soulmem.engine.views.text_ages import text_strengths
from tests.engine.stage import Stage, line, lines

TEXT = "At the harbour Mia gave me a silver locket."


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """An engine with one soul."""
    stage = Stage()
    await stage.start()
    await stage.soul()
    yield stage
    await stage.stop()


def with_units(
    mind: Mind, memory: Memory, *units: MicroUnit, anchors: tuple[Anchor, ...] = ()
) -> None:
    """Give the memory these units and anchors, as by hand."""
    digest = text_hash(memory.text)
    record = FadingRecord(memory.id, memory.soul, digest, units, anchors, True, True)
    mind.fading.put([record])


def locket(memory: Memory, visibility: float = 1.0) -> MicroUnit:
    """The unit of the locket, touched at turn 0."""
    start = TEXT.index("a silver locket")
    state = Retention(visibility, UNIT_STABILITY, memory.created, 0.0)
    return MicroUnit(UnitSpan(start, start + 15, "a piece of jewellery"), state)


def visibilities(faded: FadedText) -> list[float]:
    """Those of the units."""
    return [unit.retention.visibility for unit in faded.units]


async def test_a_unit_fades_by_the_closed_form(stage: Stage) -> None:
    """Also when looked at ahead; a slowed look counts a part of the age."""
    mind = await stage.mind()
    memory = (await stage.note(TEXT)).memory
    with_units(mind, memory, locket(memory, 0.8))
    faded = fading_of(mind, memory, 300)
    assert visibilities(faded) == [pytest.approx(0.8 * exp(-300 / UNIT_STABILITY))]
    assert visibilities(fading_of(mind, memory, 100, ahead=200.0)) == visibilities(faded)
    assert visibilities(fading_of(mind, memory, 300, slowing=4.0)) == [
        pytest.approx(0.8 * exp(-75 / UNIT_STABILITY))
    ]
    assert faded.visibility == visibilities(faded)[0]


async def test_what_was_written_by_hand_is_clear_without_units(stage: Stage) -> None:
    mind = await stage.mind()
    memory = (await stage.note(TEXT)).memory
    faded = fading_of(mind, memory, 9_999)
    assert (faded.text, faded.units, faded.visibility) == (TEXT, (), 1.0)


@pytest.mark.parametrize("permanent", [True, False])
async def test_what_only_the_user_changes_does_not_fade(stage: Stage, permanent: bool) -> None:
    mind = await stage.mind()
    made = await stage.note(TEXT, permanent=permanent, locked=not permanent)
    memory = made.memory
    with_units(mind, memory, locket(memory, 0.8))
    assert visibilities(fading_of(mind, memory, 9_999)) == [0.8]


async def test_the_dial_is_a_factor_of_time(stage: Stage) -> None:
    mind = await stage.mind()
    memory = (await stage.note(TEXT)).memory
    with_units(mind, memory, locket(memory))
    left = []
    for dial in (0.0, 0.5, 1.0, 2.0):
        settings = replace(mind.soul.settings, forgetting=dial)
        mind.set_soul(replace(mind.soul, settings=settings))
        left += visibilities(fading_of(mind, memory, 300))
    assert left == [pytest.approx(exp(-dial / 2)) for dial in (0.0, 0.5, 1.0, 2.0)]


async def test_details_of_what_matters_stay(stage: Stage) -> None:
    mind = await stage.mind()
    memory = (await stage.note(TEXT, importance=0.6)).memory
    detail = replace(locket(memory), span=UnitSpan(15, 18, "somebody", is_detail=True))
    with_units(mind, memory, locket(memory), detail)
    clause_left, name_left = visibilities(fading_of(mind, memory, 9_999))
    assert clause_left < 0.01
    assert name_left == 1.0


async def test_another_wording_has_no_states(stage: Stage) -> None:
    mind = await stage.mind()
    memory = (await stage.note(TEXT)).memory
    with_units(mind, memory, locket(memory))
    other = replace(memory, text="Nothing happened at all at the harbour.")
    assert fading_of(mind, other, 300).units == ()


async def test_anchors_count_only_where_their_words_are(stage: Stage) -> None:
    mind = await stage.mind()
    memory = (await stage.note(TEXT)).memory
    state = locket(memory).retention
    inside = Anchor("Mia", AnchorKind.SPONTANEOUS, replace(state, stability=2400.0))
    lost = Anchor("Jonas", AnchorKind.SPONTANEOUS, state)
    with_units(mind, memory, locket(memory), anchors=(inside, lost))
    faded = fading_of(mind, memory, 600)
    assert [anchor.text for anchor in faded.anchors] == ["Mia"]
    assert faded.anchors[0].retention.visibility == pytest.approx(exp(-0.25))


async def test_the_hybrid_curve_has_a_long_tail_once_recalls_were_spaced() -> None:
    """The same at first and where S did not grow; continuous in both."""
    assert retained(600, 600, 1.0, Decay.HYBRID) == exp(-1)
    grown = [retained(5 * 600, 600, growth, Decay.HYBRID) for growth in (1, 1.8, 3.24)]
    assert grown == sorted(grown)
    assert grown[-1] > 5 * grown[0]
    near = retained(600, 600, 1.0 + 1e-9, Decay.HYBRID)
    assert near == pytest.approx(exp(-1), abs=1e-6)
    assert retained(0, 600, 2.0, Decay.HYBRID) == 1.0


@given(
    st.floats(0.001, 1.0),
    st.floats(1.0, 1e4),
    st.floats(0.5, 20.0),
    st.sampled_from(Decay),
)
def test_the_curve_is_inverted(share: float, stability: float, growth: float, decay: Decay) -> None:
    elapsed = elapsed_until(share, stability, growth, decay)
    assert elapsed >= 0.0
    left = retained(elapsed, stability, growth, decay)
    assert left == pytest.approx(share, rel=1e-6)


async def test_what_was_told_again_is_as_clear_as_when_it_was_told_again(
    stage: Stage,
) -> None:
    """And lasts longer, as after a recall."""
    shown = [line("m1", TEXT), *lines(40, start=2), line("z1", TEXT)]
    times = (stage.clock.now() + timedelta(minutes=n - 99) for n in range(99))
    dated = [replace(m, sent_at=t) for m, t in zip(shown, times, strict=False)]
    await stage.sync("c1", dated)
    await stage.close("c1")
    mind = await stage.mind()
    first, again = sorted(
        (m for m in mind.memories.values() if m.text == f"Al: {TEXT}"),
        key=lambda m: m.evidence[0][0].slot,
    )
    turn = mind.lived_turns(300)
    alone = await asyncio.to_thread(fadings_of, mind, [first, again], turn)
    assert alone[0].visibility < alone[1].visibility
    united = replace(again, state=MemoryState.MERGED, merged_into=first.id)
    mind.apply(MindChange(put_memories=(united,)))
    together = fading_of(mind, first, turn)
    pairs = zip(together.units, alone[1].units, strict=True)
    for unit, plain in pairs:
        growth = unit.retention.stability / plain.retention.stability
        assert growth == pytest.approx(1.8)
        assert unit.retention.visibility > plain.retention.visibility


async def test_the_strength_of_a_text_is_of_its_last_recall(stage: Stage) -> None:
    note = (await stage.note(TEXT)).memory
    mind = await stage.mind()
    assert text_strengths(mind, [note], 600) == [pytest.approx(exp(-1))]
    use = first_use(note.id, note.soul, Stamp(stage.clock.now(), 300))
    mind.recalls.put([use], [], [])
    stability = 1.8 * UNIT_STABILITY
    assert text_strengths(mind, [note], 600) == [pytest.approx(exp(-300 / stability))]
    locked = (await stage.note("She never drinks milk.", locked=True)).memory
    assert text_strengths(mind, [locked], 600) == [1.0]
