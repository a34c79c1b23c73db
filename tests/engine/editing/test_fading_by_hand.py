"""Units and anchors that the user gives a memory: checked against its text, kept, moved with it, undone never."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import pytest

from soulmem.domain.audit import Action, Actor
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.micro_units import UNIT_STABILITY, AnchorKind
from soulmem.engine.api.requests import MemoryPatch, NewAnchor, NewUnit
from soulmem.engine.api.results import MemoryView
from tests.engine.stage import ME, Stage, line, lines

TEXT = "At the harbour Mia gave me a silver locket."
LOCKET = NewUnit("a silver locket", 27, 42, "a piece of jewellery")


async def patched(stage: Stage, memory: MemoryId, **more: object) -> MemoryView:
    """The memory after a change by the user."""
    return await stage.engine.memories.patch(ME, memory, MemoryPatch(**more))  # type: ignore[arg-type]


async def given(stage: Stage, **more: object) -> MemoryView:
    """A note with one unit and one anchor."""
    memory = (await stage.note(TEXT)).memory.id
    anchors = (NewAnchor("Mia", AnchorKind.SPONTANEOUS),)
    return await patched(stage, memory, units=(LOCKET,), anchors=anchors, **more)


def words_of(view: MemoryView) -> list[str]:
    """The words of the units."""
    return [view.reads[u.span.start : u.span.end] for u in view.units]


async def test_units_and_anchors_are_shown_as_clear_as_they_are_by_now(
    stage: Stage,
) -> None:
    view = await given(stage)
    assert (words_of(view), view.visibility) == (["a silver locket"], 1.0)
    assert view.units[0].span.gist == "a piece of jewellery"
    stage.clock.advance(0, 300)
    later = await stage.engine.memories.get(ME, view.memory.id)
    assert later.visibility == pytest.approx(exp(-300 / UNIT_STABILITY))
    anchor = later.anchors[0].retention
    assert anchor.visibility == pytest.approx(exp(-300 / (4 * UNIT_STABILITY)))


async def test_they_outlive_a_restart_and_go_with_their_memory(stage: Stage) -> None:
    view = await given(stage)
    memory = view.memory.id
    await stage.restart()
    again = await stage.engine.memories.get(ME, memory)
    assert (again.units, again.anchors) == (view.units, view.anchors)
    assert len(await stage.store.fading(ME, SoulId("s1"))) == 1
    await stage.engine.memories.delete(ME, memory, None)
    await stage.engine.memories.delete(ME, memory, "purge")
    assert await stage.store.fading(ME, SoulId("s1")) == []
    assert len((await stage.mind()).fading) == 0


@pytest.mark.parametrize(
    ("units", "anchors", "field", "value"),
    [
        ([NewUnit("locket.", 36, 44)], None, "units[0].start", "36..44"),
        ([NewUnit("", 5, 5)], None, "units[0].start", "5..5"),
        ([LOCKET, NewUnit("a golden locket", 27, 42)], None, "units[1].text", "silver"),
        ([NewUnit("a golden locket")], None, "units[0].text", "golden"),
        (None, [NewAnchor("Jonas", AnchorKind.FORCED)], "anchors[0].text", "Jonas"),
    ],
)
async def test_what_does_not_stand_in_the_text_is_refused_and_changes_nothing(
    stage: Stage,
    units: list[NewUnit] | None,
    anchors: list[NewAnchor] | None,
    field: str,
    value: str,
) -> None:
    view = await given(stage)
    with pytest.raises(Unprocessable) as refusal:
        await patched(stage, view.memory.id, text=TEXT, units=units, anchors=anchors)
    assert refusal.value.field == field
    assert value in refusal.value.message
    after = await stage.engine.memories.get(ME, view.memory.id)
    assert (after.units, after.anchors) == (view.units, view.anchors)
    assert after.memory.revision == view.memory.revision


async def test_what_does_not_fade_has_no_units(stage: Stage) -> None:
    concept = (await stage.note("locket", kind=MemoryKind.CONCEPT)).memory.id
    with pytest.raises(Unprocessable, match="concept"):
        await patched(stage, concept, units=(NewUnit("locket"),))


async def test_an_edit_keeps_what_still_stands_there_and_moves_it(stage: Stage) -> None:
    view = await given(stage)
    longer = "It was last May. " + TEXT
    moved = await patched(stage, view.memory.id, text=longer)
    assert words_of(moved) == ["a silver locket"]
    assert [anchor.text for anchor in moved.anchors] == ["Mia"]
    other = await patched(stage, view.memory.id, text="Mia gave me a ring.")
    assert (other.units, len(other.anchors)) == ((), 1)


async def test_a_unit_keeps_its_state_when_only_its_gist_is_changed(
    stage: Stage,
) -> None:
    view = await given(stage)
    stage.clock.advance(0, 300)
    named = replace(LOCKET, gist="a present")
    again = await patched(stage, view.memory.id, units=(named,))
    assert again.units[0].span.gist == "a present"
    assert again.visibility == pytest.approx(exp(-300 / UNIT_STABILITY))
    clear = await patched(stage, view.memory.id, units=(replace(named, visibility=0.9),))
    assert clear.visibility == 0.9


async def test_a_forced_anchor_is_clear_at_once_and_soon_gone(stage: Stage) -> None:
    view = await given(stage)
    stage.clock.advance(0, 300)
    forced = (NewAnchor("Mia", AnchorKind.FORCED),)
    now = await patched(stage, view.memory.id, anchors=forced)
    assert now.anchors[0].retention.visibility == 1.0
    stage.clock.advance(0, 300)
    later = await stage.engine.memories.get(ME, view.memory.id)
    left = later.anchors[0].retention.visibility
    assert left == pytest.approx(exp(-300 / (0.3 * UNIT_STABILITY)))
    none = await patched(stage, view.memory.id, anchors=())
    assert none.anchors == ()


async def test_an_episode_has_computed_units_until_some_are_given(stage: Stage) -> None:
    """And again when they are taken back; anchors leave it the chat's own."""
    await stage.sync("c1", [line("m1", TEXT), *lines(3, start=2)])
    episode = await stage.find(f"Al: {TEXT}")
    computed = await stage.engine.memories.get(ME, episode)
    assert computed.units
    assert not await stage.store.fading(ME, SoulId("s1"))
    hand = await patched(stage, episode, units=(NewUnit("a silver locket"),))
    assert words_of(hand) == ["a silver locket"]
    back = await patched(stage, episode, units=())
    assert [unit.span for unit in back.units] == [unit.span for unit in computed.units]
    assert not await stage.store.fading(ME, SoulId("s1"))
    fingerprint = await stage.fingerprint()
    kept = await patched(stage, episode, anchors=(NewAnchor("Mia", AnchorKind.FORCED),))
    assert kept.memory.origin is computed.memory.origin
    assert await stage.fingerprint() == fingerprint


async def test_what_is_anchored_stays_so_when_its_speaker_is_renamed(
    stage: Stage,
) -> None:
    await stage.sync("c1", [line("m1", TEXT), *lines(3, start=2)])
    episode = await stage.find(f"Al: {TEXT}")
    anchors = (NewAnchor("silver", AnchorKind.SPONTANEOUS),)
    await patched(stage, episode, anchors=anchors, units=(NewUnit("a silver locket"),))
    renamed = [line("m1", TEXT, speaker="Alexandra"), *lines(3, start=2)]
    await stage.sync("c1", renamed)
    await stage.restart()
    view = await stage.engine.memories.get(ME, await stage.find(f"Alexandra: {TEXT}"))
    assert view.memory.id != episode
    assert words_of(view) == ["a silver locket"]
    assert [anchor.text for anchor in view.anchors] == ["silver"]


async def test_the_history_has_what_was_given_and_undo_leaves_it(stage: Stage) -> None:
    view = await given(stage)
    page = await stage.engine.history.audit(ME, SoulId("s1"), None, 99, None)
    entry = next(e for e in page.entries if e.action is Action.CHANGE)
    assert (entry.actor, entry.target) == (Actor.USER, view.memory.id)
    assert entry.before == {"fading": {view.memory.id: None}}
    assert "a piece of jewellery" in str(entry.after)
    await stage.engine.history.undo(
        ME, SoulId("s1"), since=view.memory.created, change=None, job=None
    )
    after = await stage.engine.memories.get(ME, view.memory.id)
    assert after.units == view.units


async def test_a_new_memory_may_bring_its_units(stage: Stage) -> None:
    view = await stage.note(TEXT, units=(LOCKET,))
    assert words_of(view) == ["a silver locket"]
    with pytest.raises(Unprocessable):
        await stage.note("No such thing.", units=(LOCKET,))
    assert [m.text for m in await stage.listed()] == [TEXT]


async def test_no_word_of_a_message_that_was_edited_stays_in_the_history(
    stage: Stage,
) -> None:
    """Of an anchor the audit keeps the words, and of a message that is gone nothing."""
    story = [line("m1", "Bela lost the quill at noon."), *lines(2, 2)]
    await stage.sync("c1", story)
    memory = await stage.find("Al: Bela lost the quill at noon.")
    anchors = (NewAnchor("quill", AnchorKind.SPONTANEOUS),)
    await patched(stage, memory, anchors=anchors)
    history = stage.engine.history
    before = await history.audit(ME, SoulId("s1"), None, 50, None)
    assert "quill" in repr(before.entries)
    await stage.sync("c1", [line("m1", "Bela lost nothing."), *story[1:]])
    after = await history.audit(ME, SoulId("s1"), None, 50, None)
    assert len(after.entries) >= len(before.entries)
    assert "quill" not in repr(after.entries)
