"""Situations set off their actions; habits that are merely known stay self-knowledge."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.memories import MemoryKind, Timelines
from soulmem.domain.situation import ConceptDetail
from soulmem.engine.api.requests import (
    MemoryPatch,
    NewEdge,
    RecallMode,
    RecallRequest,
    RecallType,
)
from tests.engine.reflexes import (
    PACKAGED,
    REFLEXES,
    SECRET,
    STORY,
    fired,
    made,
    opened,
    reflex,
    section,
    the,
)
from tests.engine.stage import ME, Stage, line

pytestmark = pytest.mark.timeout(60)  # the first test with a model loads it


@pytest.fixture(params=["words", "words and meaning"])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """A soul with a short chat, without and with the packaged encoder."""
    stage = await opened(None if request.param == "words" else PACKAGED)
    yield stage
    await stage.stop()


@pytest.fixture
async def plain() -> AsyncIterator[Stage]:
    """The same without an encoder: where meaning makes no difference."""
    stage = await opened(None)
    yield stage
    await stage.stop()


@pytest.fixture
async def reading() -> AsyncIterator[Stage]:
    """The same with the packaged encoder."""
    stage = await opened(PACKAGED)
    yield stage
    await stage.stop()


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_situation_sets_its_action_off(stage: Stage, language: str) -> None:
    """As an impulse near the end of the chat, with the situation as the reason and no word of the trigger."""
    situation, action, cue, other = REFLEXES[language]
    (key,) = await reflex(stage, situation, [(action, 1.0)])
    answer = await stage.recall(cue, "c1")
    assert fired(answer) == [action]
    assert section(answer, "impulses") == [action]
    (block,) = [b for b in answer.blocks if b.section == "impulses"]
    assert (block.position, block.depth, block.role) == ("in_chat", 4, "system")
    assert block.text.startswith(
        "[How Mira tends to react" if language == "en" else "[Mira此刻往往"
    )
    memory = the(answer, key)
    assert situation in memory.why
    assert [(step.label, step.edge) for step in memory.path] == [
        (situation, None),
        (action, "fires"),
    ]
    assert memory.hops == 2
    assert not fired(await stage.recall(other, "c1"))


async def test_what_is_not_the_matter_sets_nothing_off(stage: Stage) -> None:
    """Nor does the action's own text: that it reads alike is self-knowledge."""
    (key,) = await reflex(stage, "a stranger stares at her", [("pulls her hood up", 1.0)])
    for cue in (
        "Shall we go?",
        "It is nearly noon.",
        "Did you finish the report?",
        "今天天气不错。",
    ):
        assert not fired(await stage.recall(cue, "c1"))
    answer = await stage.recall("She pulls her hood up.", "c1")
    assert the(answer, key).fired is False
    assert section(answer, "self") == ["pulls her hood up"]


async def test_a_thought_inside_a_long_message_is_enough(stage: Stage) -> None:
    """Sentence by sentence."""
    await reflex(stage, "a stranger stares at her", [("pulls her hood up", 1.0)])
    long = (
        "*Al puts the bags down and sighs.* What a day! First the ferry was late, then the rain came."
        " By the way, that stranger keeps staring. Anyway, shall we order the fish or the soup?"
    )
    assert fired(await stage.recall(long, "c1")) == ["pulls her hood up"]


async def test_the_chat_itself_is_the_cue(stage: Stage) -> None:
    """What was said since the soul's own last words; what it has answered is over, and so is its own talk."""
    await reflex(stage, "a stranger stares at her", [("pulls her hood up", 1.0)])

    async def ask(*more: Any, kind: RecallType = RecallType.NORMAL) -> list[str]:
        await stage.sync("c1", [*STORY, *more])
        return fired(
            await stage.engine.recaller.recall(
                ME, RecallRequest(SoulId("s1"), ChatId("c1"), type=kind)
            )
        )

    cue, reply = (
        line("m4", "That stranger keeps staring."),
        line("m5", "Let him.", Role.CHARACTER),
    )
    assert await ask(cue) == ["pulls her hood up"]
    assert await ask(cue, reply, kind=RecallType.CONTINUE) == ["pulls her hood up"]
    assert await ask(cue, kind=RecallType.IMPERSONATE) == []
    assert await ask(cue, reply, line("m6", "Pass me the salt.")) == []
    own = line("m4", "That stranger keeps staring.", Role.CHARACTER)
    assert await ask(own, line("m5", "Pass me the salt.")) == []


async def test_an_instance_sets_off_what_its_class_does_and_the_other_way_round(
    plain: Stage,
) -> None:
    """The way is told; two classes of situations do not mix."""
    whole = await made(plain, "being watched", MemoryKind.ABSTRACT_EPISODE)
    up = NewEdge(EdgeKind.INSTANCE_OF, to=whole)
    instance = await made(plain, "the tall guard stared at us in Ferro", MemoryKind.EPISODE, [up])
    (key,) = await reflex(plain, whole, [("pulls her hood up", 1.0)])
    answer = await plain.recall("The tall guard in Ferro stared at us again.", "c1")
    # without an encoder an instance is not looked at: there is too much else that shares a word with it
    assert fired(answer) == []
    await reflex(plain, instance, [("grips her knife", 1.0)])
    answer = await plain.recall("We are being watched.", "c1")
    assert set(fired(answer)) == {"pulls her hood up", "grips her knife"}
    assert the(answer, key).hops == 2
    (deep,) = [m for m in answer.memories if m.text == "grips her knife"]
    assert [step.edge for step in deep.path] == [None, "instance_of", "fires"]
    assert deep.hops == 3
    assert deep.score < the(answer, key).score


async def test_the_scene_may_be_like_an_instance(reading: Stage) -> None:
    """With an encoder an instance is looked at, too."""
    whole = await made(reading, "being watched", MemoryKind.ABSTRACT_EPISODE)
    up = NewEdge(EdgeKind.INSTANCE_OF, to=whole)
    await made(reading, "the tall guard stared at us in Ferro", MemoryKind.EPISODE, [up])
    (key,) = await reflex(reading, whole, [("pulls her hood up", 1.0)])
    answer = await reading.recall("The tall guard in Ferro stared at us again.")
    assert [step.edge for step in the(answer, key).path] == [
        None,
        "instance_of",
        "fires",
    ]


async def test_what_one_concrete_episode_triggers_starts_at_full_strength(
    plain: Stage,
) -> None:
    """Whichever edge was there first; a strength that is stated stands."""
    evening = await made(plain, "that night in the cellar", MemoryKind.EPISODE)
    whole = await made(plain, "the light goes out", MemoryKind.ABSTRACT_EPISODE)
    action, other = [
        await made(plain, text, MemoryKind.ACTION) for text in ("trembles", "lights a match")
    ]

    async def strengths(trigger: MemoryId) -> dict[MemoryId, float]:
        edges = (await plain.engine.memories.get(ME, trigger)).edges
        return {e.target: e.strength for e in edges if e.kind is EdgeKind.FIRES}

    fires = NewEdge(EdgeKind.FIRES, to=action, probability=0.5)
    deep = await made(
        plain,
        SECRET,
        MemoryKind.TRIGGER,
        [fires, NewEdge(EdgeKind.TRIGGERS, source=evening)],
    )
    explicit = NewEdge(EdgeKind.FIRES, to=other, strength=0.25, probability=0.5)
    await plain.engine.memories.patch(ME, deep, MemoryPatch(edges=(explicit,)))
    assert await strengths(deep) == {action: 1.0, other: 0.25}
    reflexive = await made(
        plain,
        SECRET,
        MemoryKind.TRIGGER,
        [NewEdge(EdgeKind.TRIGGERS, source=whole), fires],
    )
    assert await strengths(reflexive) == {action: 0.5}
    later = await made(
        plain, SECRET, MemoryKind.TRIGGER, [NewEdge(EdgeKind.TRIGGERS, source=evening)]
    )
    await plain.engine.memories.patch(ME, later, MemoryPatch(edges=(fires,)))
    assert await strengths(later) == {action: 1.0}


@pytest.mark.parametrize(
    ("intent", "name", "fires"),
    [
        ("show that I care", "showing that she cares", True),
        ("surprise him", "showing that she cares", False),
        ("表达关心", "表达对别人的关心", True),
    ],
)
async def test_an_intent_sets_off_a_trigger_it_names(
    reading: Stage, intent: str, name: str, fires: bool
) -> None:
    """The gift: a thought, what it is meant to say, the trigger of that name, and how she does it."""
    far = "giving something to somebody"
    (key,) = await reflex(reading, far, [("plays it down as chance", 1.0)], name=name)
    answer = await reading.recall("I like strong coffee in the morning.", intent=intent)
    assert fired(answer) == (["plays it down as chance"] if fires else [])
    assert all(name not in m.text for m in answer.memories)
    assert all(name not in block.text for block in answer.blocks)
    if fires:
        shown = the(answer, key)
        assert intent in shown.why
        assert name not in shown.why
        assert [step.id for step in shown.path] == [key]
        assert not fired(await reading.recall("I like strong coffee in the morning."))
        assert not fired(await reading.recall(name))  # said aloud by somebody else it is only words
        await reading.engine.memories.delete(ME, await reading.find(name), None)
        assert not fired(await reading.recall("I like strong coffee.", intent=intent))


async def test_the_inner_thought_of_the_last_reply_is_an_intent(
    reading: Stage,
) -> None:
    """Where the card writes one; an intent that is given stands in its place."""
    await reflex(
        reading,
        "giving something to somebody",
        [("plays it down as chance", 1.0)],
        name="showing that she cares",
    )
    text = "“Good coffee.”\n*Thoughts: show that I care*"
    reply = line("i0", text, Role.CHARACTER)
    await reading.sync("c2", [reply, line("i1", "Yes.", Role.USER)])
    request = RecallRequest(SoulId("s1"), ChatId("c2"))
    answer = await reading.engine.recaller.recall(ME, request)
    assert fired(answer) == ["plays it down as chance"]
    other = replace(request, intent="go to sleep")
    assert not fired(await reading.engine.recaller.recall(ME, other))


async def test_a_gift_calls_up_the_last_one_what_is_liked_and_how_she_gives(
    reading: Stage,
) -> None:
    """Scene, knowledge and manner in one prompt, each in its section."""
    await made(reading, "I gave Al a coffee machine and he was very happy", MemoryKind.EPISODE)
    al = await made(reading, "Al", MemoryKind.CONCEPT)
    await made(
        reading,
        "coffee",
        MemoryKind.CONCEPT,
        [NewEdge(EdgeKind.RELATES, source=al, verb="likes")],
    )
    await reflex(
        reading,
        "giving something",
        [("plays it down as chance", 1.0)],
        name="showing that she cares",
    )
    answer = await reading.recall("I want to find a gift for Al.", intent="show that I care")
    assert "I gave Al a coffee machine and he was very happy" in section(answer, "episodes")
    assert "Al likes coffee" in section(answer, "facts")
    assert section(answer, "impulses") == ["plays it down as chance"]


async def test_a_habit_known_of_a_name_is_self_knowledge(stage: Stage) -> None:
    """By name and alias, high in the prompt, never as an order; with nobody named there is none."""
    habit = await made(stage, "ignores him on purpose", MemoryKind.ACTION)
    other = await made(stage, "lowers her voice", MemoryKind.ACTION)
    detail = ConceptDetail(aliases=("the old fox",))
    edge = NewEdge(EdgeKind.KNOWS_HABIT, to=habit, strength=0.9)
    await made(stage, "Bartholomew", MemoryKind.CONCEPT, [edge], concept=detail)
    await made(
        stage,
        "王婆婆",
        MemoryKind.CONCEPT,
        [NewEdge(EdgeKind.KNOWS_HABIT, to=other, strength=0.9)],
    )
    for cue, text in (
        ("Bartholomew came by this morning.", "ignores him on purpose"),
        ("I met the old fox at the well.", "ignores him on purpose"),
        ("我在王婆婆那里买了馒头。", "lowers her voice"),
    ):
        answer = await stage.recall(cue, "c1")
        assert text in section(answer, "self")
        assert not fired(answer)
        (block,) = [b for b in answer.blocks if b.section == "self"]
        assert (block.position, block.depth) == ("in_prompt", None)
    shown = the(await stage.recall("Bartholomew came by this morning.", "c1"), habit)
    assert shown.fired is False
    assert [(step.label, step.edge) for step in shown.path] == [
        ("Bartholomew", None),
        ("ignores him on purpose", "knows_habit"),
    ]
    assert "Bartholomew" in shown.why


async def test_an_action_reached_both_ways_is_an_impulse_and_told_once(
    stage: Stage,
) -> None:
    """The situation decides; the name alone does not."""
    (key,) = await reflex(stage, "a duel at dawn is announced", [("ignores him on purpose", 1.0)])
    edge = NewEdge(EdgeKind.KNOWS_HABIT, to=key, strength=0.9)
    await made(stage, "Bartholomew", MemoryKind.CONCEPT, [edge])
    answer = await stage.recall(
        "Hear me, a duel at dawn is announced! Bartholomew is challenged.", "c1"
    )
    assert section(answer, "impulses") == ["ignores him on purpose"]
    assert section(answer, "self") == []
    assert "a duel at dawn is announced" not in section(answer, "episodes")
    assert len([m for m in answer.memories if m.id == key]) == 1
    answer = await stage.recall("Bartholomew ordered new sails.", "c1")
    assert section(answer, "impulses") == []
    assert section(answer, "self") == ["ignores him on purpose"]


async def test_a_permanent_action_stands_in_one_place(plain: Stage) -> None:
    """Among what is never forgotten, until it fires."""
    situation, action, cue, other = REFLEXES["en"]
    (key,) = await reflex(plain, situation, [(action, 1.0)])
    await plain.engine.memories.patch(ME, key, MemoryPatch(permanent=True))
    quiet, loud = await plain.recall(other, "c1"), await plain.recall(cue, "c1")
    assert (section(quiet, "permanent"), section(quiet, "impulses")) == ([action], [])
    assert (section(loud, "permanent"), section(loud, "impulses")) == ([], [action])
    assert the(loud, key).permanent


@pytest.mark.parametrize("mode", list(RecallMode))
async def test_a_trigger_is_never_told(stage: Stage, mode: RecallMode) -> None:
    """In no mode, not by its own name, not in a path, a reason or a trace."""
    situation, action, cue, _ = REFLEXES["en"]
    await reflex(stage, situation, [(action, 1.0)])
    await stage.engine.idle.run()
    for query in (cue, SECRET, f"{SECRET} {cue}"):
        answer = await stage.recall(query, "c1", mode=mode, intent=SECRET)
        trace = await stage.engine.recaller.trace(ME, answer.trace)
        output = repr(answer) + repr(trace.considered) + repr(trace.seeds)
        assert SECRET not in output.replace(
            f'wants to "{SECRET}"', ""
        )  # the intent is the asker's own words
        assert all(m.kind != "trigger" for m in answer.memories)


async def test_what_is_gone_sets_nothing_off(plain: Stage) -> None:
    """Whether the situation, the trigger or the action is in the bin, or is of another timeline."""
    situation, action, cue, _ = REFLEXES["en"]
    (key,) = await reflex(plain, situation, [(action, 1.0)])
    scene = await plain.find(situation)
    trigger = await plain.find(SECRET)
    for part in (scene, trigger, key):
        await plain.engine.memories.delete(ME, part, None)
        assert not fired(await plain.recall(cue, "c1"))
        await plain.engine.memories.restore(ME, part)
        assert fired(await plain.recall(cue, "c1")) == [action]
    await plain.sync("c2", [line("x1", "Elsewhere."), line("x2", "Yes.", Role.CHARACTER)])
    patch = MemoryPatch(timelines=Timelines.THIS, chat=ChatId("c1"), slot=SlotId("m1"))
    await plain.engine.memories.patch(ME, trigger, patch)
    assert fired(await plain.recall(cue, "c1")) == [action]
    assert not fired(await plain.recall(cue, "c2"))


async def test_what_fires_comes_before_other_memories_but_not_beyond_the_budget(
    plain: Stage,
) -> None:
    """Nor do actions that only read alike crowd out what happened."""
    situation, action, cue, _ = REFLEXES["en"]
    await reflex(plain, situation, [(action, 1.0)])
    for i in range(9):
        await made(plain, f"stares at the stranger in way {i}", MemoryKind.ACTION)
        await plain.note(f"The stranger kept staring on day {i}.")
    answer = await plain.recall(cue, "c1", max_items=5)
    assert len(answer.memories) == 5
    assert fired(answer) == [action]
    full = await plain.recall(cue, "c1", max_items=50)
    kinds = Counter(m.kind for m in full.memories)
    assert (kinds["action"], kinds["note"]) == (4, 9)
    answer = await plain.recall(cue, "c1", max_items=1)
    assert [m.text for m in answer.memories] == [action]
    tight = await plain.recall(cue, "c1", budget_tokens=40)
    assert fired(tight) == [action]
    assert tight.tokens <= 40
    assert fired(await plain.recall(cue, "c1", budget_tokens=10)) == []


async def test_a_situation_still_in_the_prompt_is_no_memory_of_it(plain: Stage) -> None:
    """A scene that is being played matches itself; its own reflexes wait until it is past."""
    await plain.sync(
        "c1",
        [
            *STORY,
            line("m4", "A stranger stares at you."),
            line("m5", "Hm.", Role.CHARACTER),
        ],
    )
    await plain.sync(
        "c1",
        [
            *STORY,
            line("m4", "A stranger stares at you."),
            line("m5", "Hm.", Role.CHARACTER),
            line("m6", "So."),
        ],
    )
    scene = await plain.find("Al: A stranger stares at you.")
    await reflex(plain, scene, [("pulls her hood up", 1.0)])
    cue = "A stranger stares at you again."
    assert fired(await plain.recall(cue, "c1")) == ["pulls her hood up"]
    assert fired(await plain.recall(cue, "c1", context_from=SlotId("m4"))) == []
