"""A kept reply restores what was read out for it; nothing else touches how a text fades."""

from __future__ import annotations

import pytest

from soulmem.domain.audit import Action
from soulmem.domain.dialogue import Role
from soulmem.domain.ids import MemoryId, SlotId, SoulId
from soulmem.domain.micro_units import UNIT_STABILITY, AnchorKind, MicroUnit
from soulmem.engine.api.requests import MemoryPatch, NewAnchor, NewUnit, RecallType
from tests.engine.stage import ME, Stage, line

TEXT = "At the harbour Mia gave me a silver locket."


class Evening:
    """A chat with one note that fades, and replies that are kept or not."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.shown = [line("m1", "Good evening.")]
        self.note = MemoryId("")

    async def begin(self, *, permanent: bool = False, locked: bool = False) -> None:
        made = await self.stage.note(TEXT, permanent=permanent, locked=locked)
        self.note = made.memory.id
        units = (NewUnit("a silver locket", gist="a piece of jewellery"),)
        anchors = (NewAnchor("Mia", AnchorKind.SPONTANEOUS),)
        patch = MemoryPatch(units=units, anchors=anchors)
        await self.stage.engine.memories.patch(ME, self.note, patch)
        await self.stage.sync("c1", self.shown)

    async def reply(
        self,
        *,
        kept: bool = True,
        kind: RecallType = RecallType.NORMAL,
        answer: str = "Indeed.",
        reply: str = "Yes.",
    ) -> None:
        """A recall of the note, its reply, and the next message."""
        number = len(self.shown)
        slot = SlotId(f"r{number}")
        found = await self.stage.recall(TEXT, "c1", slot=slot, swipe=0, type=kind)
        assert self.note in [memory.id for memory in found.memories]
        swipe = 0 if kept else 1
        said = line(slot, reply, role=Role.CHARACTER, swipe=swipe)
        self.shown += [said, line(f"n{number}", answer)]
        await self.stage.sync("c1", self.shown)
        await self.stage.engine.learner.drain()

    async def unit(self) -> MicroUnit:
        """The unit as it is by now."""
        (unit,) = (await self.stage.engine.memories.get(ME, self.note)).units
        return unit

    async def visibility(self) -> float:
        return (await self.unit()).retention.visibility


async def test_a_kept_reply_makes_what_was_told_clearer_and_lasting(
    stage: Stage,
) -> None:
    evening = Evening(stage)
    await evening.begin()
    stage.clock.advance(0, 200)
    before = await evening.unit()
    await evening.reply()
    after = await evening.unit()
    assert after.retention.visibility > before.retention.visibility
    assert after.retention.stability == pytest.approx(1.8 * UNIT_STABILITY)
    assert after.span.gist == "a piece of jewellery"
    await stage.restart()
    assert await evening.unit() == after


async def test_recalls_in_a_row_do_not_make_it_last(stage: Stage) -> None:
    evening = Evening(stage)
    await evening.begin()
    stage.clock.advance(0, 200)
    for _ in range(3):
        await evening.reply()
    unit = await evening.unit()
    assert unit.retention.stability == pytest.approx(1.8 * UNIT_STABILITY)


@pytest.mark.parametrize(
    ("kept", "kind"),
    [
        (False, RecallType.NORMAL),
        (True, RecallType.QUIET),
        (True, RecallType.PREVIEW),
    ],
)
async def test_what_was_swiped_away_or_only_looked_at_restores_nothing(
    stage: Stage, kept: bool, kind: RecallType
) -> None:
    evening = Evening(stage)
    await evening.begin()
    stage.clock.advance(0, 200)
    stored = await stage.store.fading(ME, SoulId("s1"))
    await evening.reply(kept=kept, kind=kind)
    assert await stage.store.fading(ME, SoulId("s1")) == stored


@pytest.mark.parametrize("permanent", [True, False])
async def test_what_is_protected_is_never_touched(stage: Stage, permanent: bool) -> None:
    evening = Evening(stage)
    await evening.begin(permanent=permanent, locked=not permanent)
    stage.clock.advance(0, 200)
    stored = await stage.store.fading(ME, SoulId("s1"))
    await evening.reply()
    assert await stage.store.fading(ME, SoulId("s1")) == stored
    assert await evening.visibility() == 1.0


async def test_a_soul_that_forgets_nothing_has_nothing_to_restore(stage: Stage) -> None:
    await stage.soul(forgetting=0.0)
    evening = Evening(stage)
    await evening.begin()
    stage.clock.advance(0, 200)
    stored = await stage.store.fading(ME, SoulId("s1"))
    await evening.reply()
    assert await stage.store.fading(ME, SoulId("s1")) == stored


async def test_what_the_next_message_denies_is_not_restored(stage: Stage) -> None:
    evening = Evening(stage)
    await evening.begin()
    stage.clock.advance(0, 200)
    stored = await stage.store.fading(ME, SoulId("s1"))
    told = "She has the silver locket from the harbour."
    evening.shown.append(line("m2", "What is it that she wears?"))
    await stage.sync("c1", evening.shown)
    await evening.reply(reply=told, answer="No, that is wrong.")
    after = await stage.store.fading(ME, SoulId("s1"))
    assert [record for record in after if record.memory == evening.note] == stored


async def test_a_text_too_faint_to_be_told_is_not_restored(stage: Stage) -> None:
    """Its anchor, which was still told, is."""
    evening = Evening(stage)
    await evening.begin()
    faint = MemoryPatch(units=(NewUnit("a silver locket", visibility=0.2),))
    await stage.engine.memories.patch(ME, evening.note, faint)
    (before,) = await stage.store.fading(ME, SoulId("s1"))
    await evening.reply()
    (after,) = await stage.store.fading(ME, SoulId("s1"))
    assert after.units == before.units
    assert after.anchors != before.anchors


async def test_a_lesson_that_is_undone_leaves_the_text_as_faded_as_before(
    stage: Stage,
) -> None:
    evening = Evening(stage)
    await evening.begin()
    stage.clock.advance(0, 200)
    before = await stage.store.fading(ME, SoulId("s1"))
    await evening.reply()
    assert await stage.store.fading(ME, SoulId("s1")) != before
    page = await stage.engine.history.audit(ME, SoulId("s1"), None, 99, None)
    lesson = next(e for e in page.entries if e.action is Action.LEARN)
    assert "locket" not in f"{lesson.before}{lesson.after}"
    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=lesson.id, job=None)
    assert await stage.store.fading(ME, SoulId("s1")) == before


async def test_undoing_what_a_lesson_taught_of_a_computed_unit_leaves_no_record(
    stage: Stage,
) -> None:
    lines_shown = [line("m1", TEXT), line("m2", "Well."), line("m3", "Hm.")]
    await stage.sync("c1", lines_shown)
    stage.clock.advance(0, 200)
    evening = Evening(stage)
    evening.shown = lines_shown
    evening.note = await stage.find(f"Al: {TEXT}")
    fingerprint = await stage.fingerprint()
    since = stage.clock.now()
    await evening.reply()
    (record,) = (r for r in await stage.store.fading(ME, SoulId("s1")) if r.memory == evening.note)
    assert record.units
    assert not record.own_units
    await stage.engine.history.undo(ME, SoulId("s1"), since=since, change=None, job=None)
    assert await stage.store.fading(ME, SoulId("s1")) == []
    assert len((await stage.mind()).fading) == 0
    await stage.sync("c1", lines_shown[:3], confirm=True)
    assert await stage.fingerprint() == fingerprint


async def test_a_clock_that_is_set_back_makes_nothing_younger(stage: Stage) -> None:
    """Nothing is lost either: the touch stays where it was."""
    await stage.soul(clock="wall")
    evening = Evening(stage)
    await evening.begin()
    stage.clock.advance(86_400.0 * 10)
    await evening.reply()
    before = await evening.unit()
    stage.clock.advance(-86_400.0 * 5)
    earlier = await evening.unit()
    assert earlier.retention.visibility == before.retention.visibility
    await evening.reply()
    after = await evening.unit()
    assert after.retention.touched >= before.retention.touched
    assert after.retention.stability == before.retention.stability
