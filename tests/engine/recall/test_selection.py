"""What restraint lets into the answer, what it keeps back, and what it never touches."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from soulmem.domain.situation import Participant, ParticipantKind, Situation
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.api.results import Recalled
from soulmem.engine.recall import ranking
from soulmem.engine.recall.selection import names_in
from tests.engine.stage import Stage, line

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)
PLAIN = [f"The soup is good, bowl {number}." for number in range(20, 56)]
TEXTS = [
    "I hid the silver key under the old bridge.",
    "The silver key opens the tower.",
    "A bridge of stone crosses the river.",
    *PLAIN,
]
CUE = "Where is the silver key of the bridge?"
SMALL_TALK = "This soup is good."


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul that lived a chat in which a key is spoken of among much soup."""
    new_stage = Stage()
    await new_stage.start()
    await new_stage.soul(forgetting=0.0)
    day = timedelta(days=1)
    messages = [
        line(f"m{i}", text, sent_at=NOON - (len(TEXTS) - i) * day) for i, text in enumerate(TEXTS)
    ]
    await new_stage.sync("c1", messages)
    await new_stage.close("c1")
    yield new_stage
    await new_stage.stop()


def counts(answer: Recalled) -> tuple[int, int]:
    """How many memories were recalled, and how many were kept back."""
    return len(answer.memories), answer.withheld


async def test_without_restraint_nothing_is_kept_back(stage: Stage) -> None:
    for text in (CUE, SMALL_TALK):
        assert counts(await stage.recall(text, "c1", max_items=8)) == (8, 0)


async def test_the_single_place_is_for_the_best(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not for the one that has a slot."""
    (best,) = (await stage.recall(CUE, "c1", max_items=1)).memories
    mind = await stage.mind()
    (slotted,) = [mind.row(m.id) for m in await stage.listed() if PLAIN[0] in m.text]
    monkeypatch.setattr(ranking, "_part_slots", lambda *_: (slotted,))
    two = (await stage.recall(CUE, "c1", max_items=2, restraint=0.0)).memories
    assert PLAIN[0] in two[1].text
    (memory,) = (await stage.recall(CUE, "c1", max_items=1)).memories
    assert memory.id == best.id


async def test_a_section_that_is_off_leaves_its_places_to_the_others(
    stage: Stage,
) -> None:
    """What stays out of the prompt is not recalled, and takes no place from what is."""
    for number in range(6):
        await stage.note(f"The silver key of the bridge is number {number}.")
    before = await stage.recall(CUE, "c1", max_items=4)
    assert {memory.kind for memory in before.memories} > {"note"}
    await stage.soul(forgetting=0.0, sections_off=("facts",), headers={"episodes": "Then:"})
    after = await stage.recall(CUE, "c1", max_items=4)
    assert {memory.kind for memory in after.memories} == {"episode"}
    (block,) = after.blocks
    assert block.text.startswith("Then:\n")
    assert TEXTS[0] in "".join(memory.text for memory in after.memories)


async def test_restraint_keeps_back_what_is_far_from_the_best_and_counts_it(
    stage: Stage,
) -> None:
    """More restraint, fewer memories; what is recalled and what is kept back is what fitted."""
    shown = []
    for restraint in (0.0, 0.5, 1.0, 1.5, 2.0):
        answer = await stage.recall(CUE, "c1", max_items=8, restraint=restraint)
        recalled, withheld = counts(answer)
        assert recalled + withheld == 8
        assert all(TEXTS[0] in first.text for first in answer.memories[:1])
        shown.append(recalled)
    assert shown == sorted(shown, reverse=True)
    assert shown[0] == 8
    assert shown[2] > 0  # at 2 not even the best is sure enough
    assert shown[-1] < 4


async def test_small_talk_brings_nothing(stage: Stage) -> None:
    answer = await stage.recall(SMALL_TALK, "c1", max_items=8, restraint=1.0)
    assert counts(answer) == (0, 8)
    assert answer.tokens == 0


async def test_what_is_permanent_stays_in_small_talk(stage: Stage) -> None:
    note = await stage.note("Mira fears water.", permanent=True)
    answer = await stage.recall(SMALL_TALK, "c1", restraint=2.0)
    assert [memory.id for memory in answer.memories] == [note.memory.id]
    assert answer.withheld > 0


@pytest.mark.parametrize("mode", list(RecallMode))
async def test_who_asks_for_a_grade_gets_what_it_finds(stage: Stage, mode: RecallMode) -> None:
    answer = await stage.recall(SMALL_TALK, "c1", mode=mode, restraint=1.0)
    assert bool(answer.memories) is (mode is not RecallMode.AUTO)


async def test_a_time_that_is_asked_for_stays_at_any_restraint(stage: Stage) -> None:
    """Its memory says no word of the query."""
    answer = await stage.recall("What happened ten days ago?", "c1", restraint=2.0)
    assert any(TEXTS[-10] in memory.text for memory in answer.memories)


async def test_each_part_of_a_question_stays_at_any_restraint(stage: Stage) -> None:
    query = "Where is the silver key under the old bridge, and what does the tower do?"
    answer = await stage.recall(query, "c1", restraint=2.0)
    texts = " ".join(memory.text for memory in answer.memories)
    assert TEXTS[0] in texts
    assert TEXTS[1] in texts


async def test_the_request_comes_before_the_setting_of_the_soul(stage: Stage) -> None:
    await stage.soul(forgetting=0.0, restraint=2.0)
    strict = counts(await stage.recall(CUE, "c1", max_items=8))
    assert strict == counts(await stage.recall(CUE, "c1", max_items=8, restraint=2.0))
    assert counts(await stage.recall(CUE, "c1", max_items=8, restraint=0.0)) == (8, 0)


async def test_the_names_in_a_memory_are_of_those_who_are_known_and_the_soul(
    stage: Stage,
) -> None:
    mind = await stage.mind()
    memory = next(iter(mind.memories.values()))
    others = (Participant("Ada"), Participant("somebody", ParticipantKind.UNKNOWN))
    seen = replace(memory, situation=Situation(participants=others))
    assert names_in(mind, seen) == ("Ada", mind.soul.name)
