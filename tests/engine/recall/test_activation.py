"""Terms that often occur together bring memories, with the reason, and only where these are known."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator

import numpy as np
import pytest
import pytest_asyncio

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.domain.situation import Emotion
from soulmem.engine.api.requests import (
    NewEdge,
    RecallMode,
    RecallRequest,
    RecallType,
)
from soulmem.engine.api.results import Recalled, Trace
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import activate_terms
from soulmem.engine.recall.context import RecallParams, build_context, build_query
from soulmem.engine.views.concept_activation import term_activations
from soulmem.graph.cooccurrence import associates
from soulmem.retrieval.association import AssociationParams
from tests.engine.reflexes import PACKAGED
from tests.engine.stage import ME, Stage, line

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries

# The cue and what it was twice said with; what it was once said with; what is told of each but the cue.
TEXTS = {
    "en": (
        [f"The violin again, and the volcano: joke number {i}." for i in ("one", "two")],
        [
            "A violin by the lighthouse.",
            "We bought a violin yesterday.",
            "There is a violin on the table.",
        ],
        "My uncle lost a finger at the volcano.",
        "The lighthouse made grandma cry.",
        "Shall we get a violin?",
    ),
    "zh": (
        ["一看到小提琴就想到火山。", "哈哈，小提琴配火山。"],
        ["小提琴在灯塔旁边。", "昨天我们买了小提琴。", "桌子上放着小提琴。"],
        "我叔叔在火山断了一根手指。",
        "那座灯塔让奶奶哭了。",
        "要不要弄把小提琴？",
    ),
}
FILL = [
    "It rained all morning.",
    "The bus was late.",
    "下了一上午的雨。",
    "公交车晚点。",
    "Dinner was salty.",
]


def messages_of(texts: list[str], start: int = 1) -> list[SentMessage]:
    roles = (Role.CHARACTER, Role.USER)
    return [line(f"m{i}", text, roles[i % 2]) for i, text in enumerate(texts, start)]


def apart(texts: list[str]) -> list[str]:
    """The texts, each answered by nothing, with small talk after it: what merely stands beside it comes to mind
    as well.
    """
    out: list[str] = []
    for text in texts:
        out += (text, "Hm.", *FILL, "Oh.")
    return [*out, "."]


@pytest_asyncio.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    await stage.start()
    await stage.soul(forgetting=0.0)
    yield stage
    await stage.stop()


async def chat_about(stage: Stage, language: str) -> str:
    """A chat in which all of it was messages, among small talk; returns what to ask."""
    twice, once, fact, other, query = TEXTS[language]
    await stage.sync("c1", messages_of(apart([*twice, *once, fact, other])))
    await stage.close("c1")
    return query


async def trace(stage: Stage, answer: Recalled) -> Trace:
    return await stage.engine.recaller.trace(ME, answer.trace)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_what_was_often_said_together_comes_with_its_reason(
    stage: Stage, language: str
) -> None:
    query = await chat_about(stage, language)
    answer = await stage.recall(query, type=RecallType.QUIET)
    fact, other = TEXTS[language][2:4]
    shown = [m for m in answer.memories if fact in m.text or other in m.text]
    memory = shown[0]
    assert fact in memory.text
    cue, term = {"en": ("violin", "volcano"), "zh": ("小提琴", "火山")}[language]
    assert [step.label for step in memory.path[:2]] == [cue, term]
    assert [step.edge for step in memory.path] == [None, "associates", "mentions"]
    assert memory.path[-1].id == memory.id
    assert len({step.id for step in memory.path}) == 3
    assert memory.hops == 2
    expected = {
        "en": '"violin" makes Mira think of "volcano", and so of this',
        "zh": "「小提琴」让Mira想到「火山」，于是想起了",
    }
    assert memory.why.startswith(expected[language])
    assert f'"{cue}" -> "{term}"' in (await trace(stage, answer)).grade_why


@pytest.mark.parametrize("is_reply", [True, False])
async def test_a_line_and_the_reply_to_it_are_said_together(stage: Stage, is_reply: bool) -> None:
    """The cue in the user's line and the other word in the reply; or that one in a line that opens an exchange."""
    texts: list[str] = []
    for i, aside in enumerate(("Quite so.", "Well now.", "Never mind.")):
        between = [] if is_reply else ["Hm.", "Let us go on."]
        texts += (f"Is that the violin{'!' * i}", *between, "It is like a volcano.")
        texts += (aside, *FILL, "Oh.")[len(between) :]
    fact = TEXTS["en"][2]
    texts += [fact, "I see.", *[*FILL, "."] * 3]
    messages = [
        line(f"m{i}", text, (Role.USER, Role.CHARACTER)[i % 2]) for i, text in enumerate(texts)
    ]
    await stage.sync("c1", messages)
    await stage.close("c1")
    answer = await stage.recall(TEXTS["en"][4], type=RecallType.QUIET)
    led = [m.why for m in answer.memories if fact in m.text]
    assert any('think of "volcano"' in why for why in led) is is_reply


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_restraint_does_not_keep_it_back_for_sharing_no_word(
    language: str,
) -> None:
    stage = Stage(fallback=PACKAGED, judges_lines=True)
    await stage.start()
    await stage.soul(forgetting=0.0)
    query = await chat_about(stage, language)
    await stage.engine.embedding.wait_pending()
    fact = TEXTS[language][2]
    for mood, expected in ((None, True), (Emotion("anger", 1.0), False)):
        answer = await stage.recall(query, type=RecallType.QUIET, restraint=1.0, mood=mood)
        came = any(fact in memory.text for memory in answer.memories)
        assert came is expected
    await stage.stop()


async def test_in_other_modes_it_does_not(stage: Stage) -> None:
    query = await chat_about(stage, "en")
    for mode in (
        RecallMode.BASELINE,
        RecallMode.WALK,
        RecallMode.EXPAND,
        RecallMode.STEADY,
    ):
        answer = await stage.recall(query, mode=mode)
        assert not any("think of" in memory.why for memory in answer.memories)


async def test_what_was_met_once_has_no_reserved_slot(stage: Stage) -> None:
    await stage.sync("c1", messages_of(apart(["A violin by the lighthouse.", TEXTS["en"][3]])))
    answer = await stage.recall("Shall we get a violin?")
    assert not any("think of" in memory.why for memory in answer.memories)


async def test_a_branch_has_learned_what_it_tells_alone(stage: Stage) -> None:
    """What another branch says together is not counted here, nor is what was said after the fork."""
    twice, once, fact, _, query = TEXTS["en"]
    before = messages_of(apart([once[1], fact, once[2]]))
    await stage.sync("c1", [*before, *messages_of(apart(twice), len(before) + 1)])
    await stage.sync("c2", [*before, line("b1", "Quite.")], parent=("c1", before[-1].slot))
    whys = {}
    for chat in ("c1", "c2"):
        whys[chat] = [m.why for m in (await stage.recall(query, chat)).memories if fact in m.text]
    assert any("think of" in why for why in whys["c1"])
    assert not any("think of" in why for why in whys["c2"])


async def test_what_is_edited_or_gone_counts_no_more(stage: Stage) -> None:
    twice, once, fact, _, query = TEXTS["en"]
    messages = messages_of(apart([*twice, *once, fact]))
    await stage.sync("c1", messages)
    assert any("think of" in m.why for m in (await stage.recall(query, "c1")).memories)
    await stage.sync("c1", [line("m1", "Nothing at all.", Role.USER), *messages[1:]])
    assert not any("think of" in m.why for m in (await stage.recall(query, "c1")).memories)


async def test_spreading_gives_exchanges_and_unknown_words_are_searched_for(
    stage: Stage,
) -> None:
    query = await chat_about(stage, "en")
    answer = await stage.recall(query, mode=RecallMode.SPREAD, max_items=20)
    assert {memory.kind for memory in answer.memories} == {"episode"}
    assert "volcano" in " ".join(memory.text for memory in answer.memories[:10])
    shown = await trace(stage, answer)
    assert shown.grade == "spread"
    assert "energy that spread from 1 terms" in shown.grade_why
    answer = await stage.recall("Xyzzy salty qwertz?", mode=RecallMode.SPREAD)
    assert "salty" in answer.memories[0].text
    answer = await stage.recall("Xyzzy qwertz?", mode=RecallMode.SPREAD)
    assert (await trace(stage, answer)).grade == "baseline"


async def test_the_trace_names_the_grade_that_was_reached(stage: Stage) -> None:
    query = await chat_about(stage, "en")
    grades = {}
    for mode in RecallMode:
        answer = await stage.recall(query, mode=mode)
        shown = await trace(stage, answer)
        grades[mode.value] = shown.grade
        assert shown.grade_why
    assert grades == {
        "auto": "walk",
        "baseline": "baseline",
        "expand": "expand",
        "walk": "walk",
        "spread": "spread",
        "steady": "steady",
    }


async def test_the_baseline_is_the_order_of_the_texts_alone(stage: Stage) -> None:
    query = await chat_about(stage, "en")
    answer = await stage.recall(query, mode=RecallMode.BASELINE, max_items=20, budget_tokens=5000)
    considered = (await trace(stage, answer)).considered
    by_score = sorted(considered, key=lambda candidate: -candidate.score)
    assert [c.score for c in considered] == [c.score for c in by_score]
    kept = [candidate.id for candidate in by_score if candidate.kept]
    assert sorted(kept) == sorted(memory.id for memory in answer.memories)
    assert set(kept) == {candidate.id for candidate in by_score[: len(kept)]}


def picture(mind: Mind) -> dict[str, object]:
    """What every text holds, and what every term is met with; concepts by their names."""
    incidence, windows = mind.terms.incidence, mind.exchange_windows(None)
    usable = mind.accessible_rows(None, None, lambda _chat, _place: True)

    def called(number: int) -> str:
        return ("@" if mind.terms.concept_of(number) else "") + mind.terms.label(number)

    texts = {}
    for row in np.flatnonzero(usable):
        numbers = [incidence.number(key) for key, _ in incidence.terms_of(int(row))]
        texts[mind.memory_at(int(row)).id] = sorted(called(n) for n in numbers if n is not None)
    met: dict[str, object] = {}
    for number in np.flatnonzero(incidence.counts(usable)).tolist():
        neighbours = associates(incidence, number, usable, windows=windows)
        rows = zip(
            neighbours.terms,
            neighbours.strength,
            neighbours.pair,
            neighbours.windows,
            strict=True,
        )
        met[called(number)] = sorted(
            (called(int(t)), round(float(s), 12), int(f), int(w)) for t, s, f, w in rows
        )
    return {**met, "texts": {memory: terms for memory, terms in texts.items() if terms}}


WORDS = [
    "violin",
    "volcano",
    "lighthouse",
    "uncle",
    "finger",
    "Esk",
    "river",
    "table",
    "harbour",
    "lantern",
]


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_led_there_the_counts_are_those_of_a_fresh_reading(
    seed: int,
) -> None:
    """Random edits, swipes, deletions and names that come and go; then the same chat told to another."""
    draw, slots = random.Random(seed), iter(range(10_000))
    edited, fresh = Stage(), Stage()
    for stage in (edited, fresh):
        await stage.start()
        await stage.soul(forgetting=0.0)
    messages: list[SentMessage] = []
    names: list[Memory] = []
    for _ in range(25):
        index = draw.randrange(len(messages) + 1)
        text = " ".join(draw.sample(WORDS, 4)) + "."
        move = draw.random()
        if move < 0.6 or not messages:
            messages.append(line(f"m{next(slots)}", text, draw.choice([Role.USER, Role.CHARACTER])))
        elif move < 0.8:
            messages[index - 1] = line(messages[index - 1].slot, text, messages[index - 1].role)
        else:
            del messages[index - 1]
        await edited.sync("c1", messages, confirm=True)
        if draw.random() < 0.2:
            names.append((await edited.note(draw.choice(WORDS), kind=MemoryKind.CONCEPT)).memory)
        if names and draw.random() < 0.1:
            await edited.engine.memories.delete(ME, names.pop(draw.randrange(len(names))).id, None)
    await fresh.sync("c1", messages)
    for name in names:
        await fresh.note(name.text, kind=MemoryKind.CONCEPT)
    for stage in (edited, fresh):
        await stage.close("c1")
    assert picture(await edited.mind()) == picture(await fresh.mind())
    await edited.stop()
    await fresh.stop()


@pytest.mark.parametrize("confidence", [1.0, 0.01, None])
async def test_a_relation_passes_activation_on_as_far_as_it_is_sure(
    stage: Stage, confidence: float | None
) -> None:
    """Two concepts that no text has in common; None: nothing relates them."""
    await stage.sync("c1", messages_of(apart(["Lukas came late.", "A goose bit the postman."])))
    bird = await stage.note("goose", kind=MemoryKind.CONCEPT)
    edges: tuple[NewEdge, ...] = ()
    if confidence is not None:
        edges = (
            NewEdge(
                EdgeKind.RELATES,
                to=bird.memory.id,
                verb="fears",
                strength=0.9,
                confidence=confidence,
            ),
        )
    await stage.note("Lukas", kind=MemoryKind.CONCEPT, edges=edges)

    answer = await stage.recall("Lukas?", mode=RecallMode.SPREAD, max_items=20)

    came = "Al: A goose bit the postman." in [m.text for m in answer.memories[:4]]
    assert came is (confidence == 1.0)


async def test_a_question_for_facts_passes_more_over_relations(stage: Stage) -> None:
    """The factor of the class of an edge, by what the query asks for, weighs as in the walk."""
    texts = ["Lukas came late.", "Lukas saw the goose.", "A goose bit the postman."]
    await stage.sync("c1", messages_of(apart(texts)))
    bird = await stage.note("goose", kind=MemoryKind.CONCEPT)
    fears = NewEdge(EdgeKind.RELATES, to=bird.memory.id, verb="fears", strength=0.6, confidence=1.0)
    await stage.note("Lukas", kind=MemoryKind.CONCEPT, edges=(fears,))
    world, mind = await stage.world(), await stage.mind()

    def energy(text: str) -> float:
        request = RecallRequest(SoulId("s1"), ChatId("c1"), query=text)
        query, now = build_query(world, request), stage.clock.now()
        context = build_context(world, mind, request, query, RecallParams(), 0, now)
        active = activate_terms(mind, context, AssociationParams())
        term = mind.terms.term_of(bird.memory.id)
        assert active is not None
        assert term is not None
        place = active.active.terms.tolist().index(term)
        return float(active.active.energy[place])

    assert energy("Whom is Lukas avoiding?") > energy("Is Lukas avoiding us?") > 0.0


async def test_a_word_is_as_active_as_it_was_met_and_recalled_lately(
    stage: Stage,
) -> None:
    await stage.soul(forgetting=1.0)
    fresh, old = "The violin by the volcano.", "The lighthouse made grandma cry."
    messages = messages_of(apart([old, *FILL * 10, fresh]))
    await stage.sync("c1", messages)
    mind = await stage.mind()
    number = mind.terms.incidence.number
    words = np.asarray([number("lighthouse"), number("volcano")], np.int64)

    async def activations() -> list[float]:
        world = await stage.world()
        request = RecallRequest(SoulId("s1"), ChatId("c1"), query="x")
        query = build_query(world, request)
        asked = (world, mind, request, query, RecallParams(), 0, stage.clock.now())
        context = build_context(*asked)
        active = term_activations(
            mind, words, context.accessible, ChatId("c1"), context.extra_turns
        )
        return [float(share) for share in active]

    lighthouse, volcano = await activations()
    assert 0 < lighthouse < volcano < 1
    asked = "Who cried at the lighthouse?"
    await stage.recall(asked, "c1", slot=SlotId("r"), swipe=0, max_items=1)
    stage.clock.advance(30)
    reply = line("r", "Grandma, of course.", Role.CHARACTER)
    await stage.sync("c1", [*messages, reply, line("r2")])
    await stage.engine.learner.drain()
    assert (await activations())[0] > volcano


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_what_was_said_together_in_the_same_words_counts_each_time(
    stage: Stage, language: str
) -> None:
    twice, once, fact, other, query = TEXTS[language]
    texts = apart([twice[0], *once, fact, other, twice[0]])
    await stage.sync("c1", messages_of(texts))
    await stage.close("c1")
    await stage.engine.idle.run()
    assert await stage.listed(MemoryState.MERGED)  # one memory of both

    answer = await stage.recall(query, type=RecallType.QUIET)
    led = [m.text for m in answer.memories if "associates" in str(m.path)]
    assert any(fact in text for text in led)
    # A branch from before the second time knows of one.
    early = messages_of(texts[:-8])
    await stage.sync("c2", early, parent=("c1", early[-1].slot))
    answer = await stage.recall(query, "c2", type=RecallType.QUIET)
    assert not any("associates" in str(m.path) for m in answer.memories)
