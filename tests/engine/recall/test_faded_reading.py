"""How a recall reads memories that have faded: masks, their legend, and what is asked for plainly."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from soulmem.assembly.omitted import Omitted, omission_text
from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.ids import SlotId
from soulmem.domain.soul import Masks
from soulmem.engine.api.requests import MemoryPatch, NewUnit, RecallType
from soulmem.engine.api.results import RecalledMemory
from soulmem.language.world_lines import world_scenes
from tests.engine.stage import ME, Stage, line

pytestmark = pytest.mark.timeout(240)

PEOPLE = [
    "Agnes",
    "Bruno",
    "Cecil",
    "Doris",
    "Elmer",
    "Flora",
    "Gerda",
    "Hanno",
    "Ivana",
    "Jarek",
]
THINGS = [
    "umbrella",
    "canoe",
    "violin",
    "lantern",
    "barrel",
    "ladder",
    "helmet",
    "carpet",
    "trumpet",
    "telescope",
]
FACTS = [
    f"{who} left the {colour} {thing} behind the {place}."
    for colour, place in (("crimson", "windmill"), ("turquoise", "granary"), ("golden", "lighthouse"))
    for who, thing in zip(PEOPLE, THINGS, strict=True)
]  # fmt: skip
LOCKET = "At the harbour I gave Tom a silver locket, and we drank some tea."


def said(slot: str, text: str) -> SentMessage:
    """A line of the player."""
    return line(slot, text, Role.USER)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul that heard of a locket among other things."""
    new_stage = Stage()
    await new_stage.start()
    await new_stage.soul()
    messages = [said("m0", LOCKET), *(said(f"m{i}", f) for i, f in enumerate(FACTS, 1))]
    await new_stage.sync("c1", messages)
    await new_stage.close("c1")
    yield new_stage
    await new_stage.stop()


async def locket(stage: Stage, query: str, **more: Any) -> RecalledMemory:
    """The memory of the locket as an answer tells it."""
    answer = await stage.recall(query, max_items=40, budget_tokens=9_000, **more)
    (memory,) = [m for m in answer.memories if m.sources[0].slot == "m0"]
    return memory


async def test_what_drifts_by_is_blurred_and_what_is_asked_for_is_clear(
    stage: Stage,
) -> None:
    stage.clock.advance(0, 700)
    drifting = await locket(stage, "Agnes had an umbrella.")
    assert drifting.text == "Al: something about silver locket, tea."
    assert drifting.is_masked
    assert 0.25 < drifting.visibility < 0.6
    assert drifting.why.endswith("Parts of it have faded by now.")
    asked = await locket(stage, "Who got the silver locket at the harbour?")
    assert asked.text == f"Al: {LOCKET}"
    assert not asked.is_masked
    assert asked.slowing > 16
    assert asked.visibility > 0.9
    assert "faded" not in asked.why


async def test_a_quiet_look_in_its_own_words_shows_it_as_it_is(stage: Stage) -> None:
    stage.clock.advance(0, 700)
    look = await locket(stage, LOCKET, type=RecallType.QUIET)
    assert look.text == "Al: something about silver locket, tea."
    assert look.slowing == 1.0
    page = await stage.engine.memories.get(ME, look.id)
    assert page.reads_now == look.text
    cue = await locket(stage, LOCKET, type=RecallType.NORMAL)
    assert cue.text == f"Al: {LOCKET}"


@pytest.mark.parametrize(
    ("masks", "mark", "legend"),
    [
        (Masks.WORDS, "something about", "fills the gap in their own way or leaves it open.]\n"),
        (Masks.SEED, "xxx(", "never says xxx.]\n"),
    ],
)  # fmt: skip
async def test_the_legend_stands_once_and_only_where_something_blurred(
    stage: Stage, masks: Masks, mark: str, legend: str
) -> None:
    await stage.soul(masks=masks)
    clear = await stage.recall("Agnes had an umbrella.", max_items=40)
    assert [block.text for block in clear.blocks if mark in block.text] == []
    stage.clock.advance(0, 700)
    answer = await stage.recall("Agnes had an umbrella.", max_items=40)
    (block,) = [block for block in answer.blocks if mark in block.text]
    header = block.text[: block.text.index(block.items[0].text)]
    assert header.count(legend) == 1
    assert block.text == header + "\n".join(item.text for item in block.items)
    assert answer.tokens == sum(b.tokens for b in answer.blocks) <= 1200
    assert [m.text for m in answer.memories if m.is_masked]
    assert {m.text for m in answer.memories} == {item.text for item in block.items}


async def test_a_character_may_know_that_it_forgets(stage: Stage) -> None:
    await stage.soul(knows_it_forgets=True)
    clear = await stage.recall("Agnes had an umbrella.", max_items=40)
    assert "knows that they forget" not in "".join(b.text for b in clear.blocks)
    stage.clock.advance(0, 700)
    answer = await stage.recall("Agnes had an umbrella.", max_items=40)
    assert "[Mira knows that they forget, and may say so.]\n" in answer.blocks[0].text


@pytest.mark.parametrize("settings", [{"fades": False}, {"forgetting": 0.0}])
async def test_without_forgetting_everything_is_clear(
    stage: Stage, settings: dict[str, Any]
) -> None:
    await stage.soul(**settings)
    stage.clock.advance(0, 9_999)
    memory = await locket(stage, "Agnes had an umbrella.")
    assert (memory.text, memory.visibility) == (f"Al: {LOCKET}", 1.0)


async def test_what_is_in_the_prompt_is_not_told_again_although_it_has_faded(
    stage: Stage,
) -> None:
    """The original wording counts."""
    stage.clock.advance(0, 700)
    answer = await stage.recall("Agnes had an umbrella.", max_items=40, context_texts=(LOCKET,))
    assert "m0" not in {m.sources[0].slot for m in answer.memories}


async def test_a_part_that_is_new_to_the_prompt_is_blurred_too(stage: Stage) -> None:
    first = "The old ferry to the islands leaves from the pier in the morning."
    text = f"{first} My sister hid nine letters under the floor of the chapel."
    await stage.sync("c2", [said("n0", text), said("n1", "Well then.")])
    stage.clock.advance(0, 700)
    answer = await stage.recall("Agnes had an umbrella.", max_items=40, context_texts=(first,))
    (memory,) = [m for m in answer.memories if m.sources[0].slot == "n0"]
    assert memory.text == "Al: something about sister."


@pytest.mark.parametrize("masks", [Masks.WORDS, Masks.SEED])
async def test_a_memory_of_which_nothing_is_left_is_not_told(stage: Stage, masks: Masks) -> None:
    await stage.soul(masks=masks)
    stage.clock.advance(0, 9_000)
    answer = await stage.recall("Agnes had an umbrella.", max_items=40)
    assert "m0" not in {m.sources[0].slot for m in answer.memories}
    trace = await stage.engine.recaller.trace(ME, answer.trace)
    assert "nothing of it is left to tell" in {c.cut for c in trace.considered}
    look = await stage.recall(LOCKET, max_items=40, type=RecallType.QUIET)
    assert "m0" not in {m.sources[0].slot for m in look.memories}


async def test_what_the_moment_names_is_not_forgotten(stage: Stage) -> None:
    text = "My sister met 47 sailors on Friday."
    await stage.sync("c2", [said("n0", text), said("n1", "Well.")])
    stage.clock.advance(0, 260)
    for prompt, day in (("Well.", "some day"), ("It is Friday again.", "Friday")):
        answer = await stage.recall("Agnes had an umbrella.", max_items=40, context_texts=(prompt,))
        (memory,) = [m for m in answer.memories if m.sources[0].slot == "n0"]
        assert memory.text == f"Al: My sister met a number of sailors on {day}."


async def test_units_by_hand_are_told_as_masks(stage: Stage) -> None:
    """Their gists fit into no sentence."""
    memory = await stage.find(f"Al: {LOCKET}")
    unit = NewUnit(text="a silver locket", gist="a shiny thing", visibility=0.4)
    await stage.engine.memories.patch(ME, memory, MemoryPatch(units=(unit,)))
    told = await locket(stage, "Agnes had an umbrella.")
    assert told.text == f"Al: {LOCKET}".replace("a silver locket", "xxx(a shiny thing)")


async def test_of_what_is_important_names_and_numbers_stay(stage: Stage) -> None:
    text = "I love you, Tom, and I promise to never forget the 47 stairs of Lund."
    await stage.sync("c2", [said("n0", text), said("n1", "Well then.")])
    memory = await stage.find(f"Al: {text}")
    patch = MemoryPatch(importance=0.6)
    await stage.engine.memories.patch(ME, memory, patch)
    stage.clock.advance(0, 5_000)
    look = await stage.recall(text, max_items=40, type=RecallType.QUIET)
    (told_memory,) = [m for m in look.memories if m.id == memory]
    assert "47" in told_memory.text
    assert "stairs" not in told_memory.text


def filler(exchanges: int) -> list[SentMessage]:
    """Small talk that shares next to nothing with the facts."""
    rng = random.Random(7)
    lines = [text.partition(": ")[2] for scene in world_scenes("en") for text in scene]
    out = []
    for number in range(exchanges):
        for slot, role in (("u", Role.USER), ("c", Role.CHARACTER)):
            text = " ".join(rng.sample(lines, 2))
            out.append(line(f"{slot}{number}", text, role))
    return out


@pytest.mark.slow("a life of 3,000 exchanges")
@pytest.mark.parametrize(
    "kind",
    [pytest.param(RecallType.QUIET, marks=pytest.mark.nightly), RecallType.NORMAL],
)
async def test_after_a_life_of_3000_exchanges_what_is_asked_plainly_is_clear(
    stage: Stage, kind: RecallType
) -> None:
    talk = filler(500)
    await stage.sync("c2", talk)
    await stage.close("c2")
    stage.clock.advance(0, 3_000 - len(talk) // 2)
    clear, recalled = 0, 0
    for number, fact in enumerate(FACTS, 1):
        thing, place = fact.split()[3:5], fact.split()[-1].strip(".")
        query = f"Who left the {' '.join(thing)} somewhere near the {place}?"
        answer = await stage.recall(query, type=kind)
        slots = {m.sources[0].slot: m for m in answer.memories if m.sources}
        memory = slots.get(SlotId(f"m{number}"))
        recalled += memory is not None
        clear += memory is not None and memory.text == f"Al: {fact}"
    assert recalled >= 0.95 * len(FACTS)
    assert clear >= 0.95 * len(FACTS)


async def test_reasons_are_in_the_language_that_is_asked_for(stage: Stage) -> None:
    scene = await locket(stage, "Did we go to the harbour?")
    assert scene.why.isascii()
    chinese = await locket(stage, "Did we go to the harbour?", language="zh")
    assert not chinese.why.isascii()
    assert chinese.text == scene.text
    answer = await stage.recall("Did we go to the harbour?", language="zh")
    trace = await stage.engine.recaller.trace(ME, answer.trace)
    cut = {candidate.cut for candidate in trace.considered if not candidate.kept}
    assert cut
    assert not any(reason.isascii() for reason in cut if reason)


async def test_a_remark_brings_back_what_is_clear_and_a_question_what_has_faded() -> None:
    fact = "Behind the granary a drunken bishop sold a wax elephant."
    remark = "There was a lot of noise behind the granary last night, an elephant maybe."
    stage = Stage()
    await stage.start()
    await stage.soul(restraint=1.0)
    talk = [f"{who} washed a {thing}." for who in PEOPLE for thing in THINGS[:4]]
    texts = [*talk[:20], fact, *talk[20:]]
    await stage.sync("c1", [said(f"m{i}", text) for i, text in enumerate(texts)])
    await stage.close("c1")

    async def comes(query: str, intent: str | None = None) -> bool:
        answer = await stage.recall(query, type=RecallType.QUIET, intent=intent)
        return any(m.sources[0].slot == "m20" for m in answer.memories)

    assert await comes(remark)
    assert await comes("What did the drunken bishop sell?")
    stage.clock.advance(0, 3_000)
    assert not await comes(remark)
    assert await comes("What did the drunken bishop sell?")
    assert await comes(remark, intent="the noise behind the granary")
    trace = (await stage.recall(remark, type=RecallType.QUIET)).trace
    considered = (await stage.engine.recaller.trace(ME, trace)).considered
    (cut,) = {one.cut for one in considered if fact in one.text}
    assert cut == omission_text(Omitted.TOO_FAINT, "en")
    await stage.soul(restraint=1.0, forgetting=0.0)
    assert await comes(remark)
    await stage.stop()


async def test_a_message_of_paragraphs_is_told_without_empty_lines(
    stage: Stage,
) -> None:
    text = "I hid the brass sextant.\n\n \nIt is behind the pantry."
    await stage.sync("c2", [said("p1", text), said("p2", "Good night.")])
    await stage.close("c2")
    answer = await stage.recall("Where is the brass sextant?")
    (found,) = [m for m in answer.memories if "sextant" in m.text]
    assert found.text == "Al: I hid the brass sextant.\nIt is behind the pantry."
    assert any(found.text in block.text for block in answer.blocks)
    note = await stage.note("The bagpipes.\n\nThey are in the attic.")
    told = [m.text for m in (await stage.recall("Where are the bagpipes?")).memories]
    assert note.memory.text in told
