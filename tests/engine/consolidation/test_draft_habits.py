"""Habits found in drafts fire in matching scenes and in no others."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

import pytest

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import SlotId, SoulId
from soulmem.domain.llm import Failure, LlmFailed, Prompt
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import MemoryPatch, NewEdge, RecallType
from soulmem.engine.params import EngineParams
from soulmem.engine.vectors.embedder import ModelSource
from tests.engine.habit_scenes import NAMES, Taught, chat, habits, others, seeing
from tests.engine.model_stage import ModelStage, read_of, talk
from tests.engine.reflexes import PACKAGED, PATIENT, fired
from tests.engine.stage import ME, ended, line

pytestmark = pytest.mark.timeout(120)  # the first test loads the encoder


async def opened(model: ModelSource | None = PACKAGED, name: str = "Mira") -> ModelStage:
    """A stage with a language model and an encoder."""
    fresh_stage = ModelStage(
        fallback=model, params=EngineParams(rest_by_itself=False, recall=PATIENT)
    )
    await fresh_stage.start()
    await fresh_stage.soul(name=name)
    return fresh_stage


@pytest.fixture
async def stage() -> AsyncIterator[ModelStage]:
    """One with the packaged encoder."""
    fresh_stage = await opened()
    yield fresh_stage
    await fresh_stage.stop()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("count", [5, pytest.param(16, marks=pytest.mark.nightly)])
async def test_three_scenes_teach_it_in_whatever_words(language: str, count: int) -> None:
    """Of matching scenes 8 in 10 set it off, of others 5 in 100 set off anything."""
    stage = await opened(name=NAMES[language][1])
    taught, untaught = habits(language)[:count], habits(language)[count:]
    stage.llm.then([seeing(taught)])
    await stage.sync("c", chat(language, taught, seed=count))
    await stage.rest()

    async def sets_off(message: str) -> set[str]:
        return set(fired(await stage.recall(message, "c", type=RecallType.QUIET)))

    matching = near_cues(taught)
    right = [bool(await sets_off(cue) & set(habit.does)) for habit, cue in matching]
    assert sum(right) >= 0.8 * len(right)
    alien = list(others(language))
    for habit in untaught:
        alien += [*habit.near, *habit.far]
    assert sum([bool(await sets_off(cue)) for cue in alien]) <= 0.05 * len(alien)
    actions: set[str] = set()
    for habit in taught:
        actions.update(habit.does)
    assert await learned(stage) <= actions
    await stage.stop()


def near_cues(scenes: Iterable[Taught]) -> list[tuple[Taught, str]]:
    """Each of the habits with each of its matching scenes."""
    cues = []
    for habit in scenes:
        cues += [(habit, cue) for cue in habit.near]
    return cues


async def learned(stage: ModelStage) -> set[str]:
    """What she tends to do."""
    return {m.text for m in await stage.listed(kind=MemoryKind.ACTION)}


RAIN = (
    "the rain is falling",
    "it is raining",
    "rain falls again",
    "it is raining outside",
)
HUMS = (
    "hums an old tune",
    "hums an old song",
    "hums an old tune softly",
    "hums some old tune",
)
SHOWN = (
    "Mira hums an old tune.",
    "*hums an old tune*",
    "*an old tune, hummed under her breath*",
)


def rainy(count: int, scenes: Iterable[int], shown: Sequence[str] = SHOWN) -> list[SentMessage]:
    """A talk in which it rains, and at the message after that she does something."""
    messages = talk(count)
    for shown_index, number in enumerate(scenes):
        messages[number - 2] = line(f"m{number - 1}", f"The rain is falling on roof{number}.")
        messages[number - 1] = line(f"m{number}", shown[shown_index % len(shown)], Role.CHARACTER)
    return messages


def humming(*says: tuple[str, float]) -> Callable[[Prompt], str]:
    """A model that sees her do something whenever it rains: what it `says`, or in other words each time."""
    asked = 0
    when = RAIN if not says else RAIN[:1] * 4

    def answer(prompt: Prompt) -> str:
        nonlocal asked
        lines = read_of(prompt)
        if prompt.name == "summary":
            return json.dumps({"summary": lines[0][2]})
        asked += 1
        habits_seen = []
        wet = [n + 1 for n, _, text in lines if text.startswith("The rain is falling")]
        for text, chance in says or ((HUMS[asked % 4], 0.5),):
            if wet:
                habits_seen.append(
                    {
                        "lines": wet,
                        "when": when[asked % 4],
                        "does": text,
                        "chance": chance,
                    }
                )
        return json.dumps(
            {
                "episodes": [],
                "facts": [],
                "concepts": [],
                "kinds": [],
                "habits": habits_seen,
            }
        )

    return answer


async def test_what_is_left_of_its_scenes_tells_it_anew(stage: ModelStage) -> None:
    """Of five scenes two vanish: it is told by the other three, as if the two had never been."""
    stage.llm.then([humming()])
    scenes = (4, 24, 44, 64, 84)
    messages = rainy(106, scenes)
    await stage.sync("c", messages)
    await stage.rest()
    (action,) = await stage.drafted_of(MemoryKind.ACTION)
    assert set(await stage.sources_of(action.id)) == {f"m{number}" for number in scenes}

    for number in (4, 64):
        messages[number - 2 : number] = talk(2, number - 1, "dry")
    await stage.sync("c", messages, confirm=True)
    assert await stage.drafted_of(MemoryKind.ACTION) == []
    await stage.rest()
    (action,) = await stage.drafted_of(MemoryKind.ACTION)
    assert set(await stage.sources_of(action.id)) == {"m24", "m44", "m84"}
    assert "roof4." not in await stage.words()
    assert fired(await stage.recall("The rain is falling on us.", "c")) == [action.text]

    messages[42:44] = talk(2, 43, "dry")
    await stage.sync("c", messages, confirm=True)
    await stage.rest()
    assert (
        await stage.drafted_of(MemoryKind.ACTION)
        == await stage.drafted_of(MemoryKind.TRIGGER)
        == []
    )
    assert fired(await stage.recall("The rain is falling on us.", "c")) == []


async def test_what_is_cited_and_not_shown_is_no_scene(stage: ModelStage) -> None:
    """A model may cite what it likes; words of the reaction, or its meaning, must be there."""
    stage.llm.then([humming()])
    await stage.sync("c", rainy(66, (4, 24, 44), (*SHOWN[:2], "We should buy a goat.")))
    await stage.rest()
    assert await stage.drafted_of(MemoryKind.ACTION) == []
    meant = (*SHOWN[:2], "*sings softly the melody her grandfather taught her*")
    await stage.sync("d", rainy(66, (4, 24, 44), meant))
    await stage.rest()
    assert len(await stage.drafted_of(MemoryKind.ACTION)) == 1


async def test_its_situation_is_what_was_said_before(stage: ModelStage) -> None:
    """Not what she did: her own words set nothing off."""
    stage.llm.then([humming()])
    await stage.sync("c", rainy(66, (4, 24, 44)))
    await stage.rest()
    (situation,) = await stage.drafted_of(MemoryKind.ABSTRACT_EPISODE)
    edges = (await stage.engine.memories.get(ME, situation.id)).edges
    instances = {e.source for e in edges if e.kind is EdgeKind.INSTANCE_OF}
    mind = await stage.mind()
    assert {mind.memories[key].text for key in instances} == {
        f"Al: The rain is falling on roof{number}." for number in (4, 24, 44)
    }
    for number in (4, 24, 44):  # nor when the user says that it is an instance
        own = next(
            m.id
            for m in await stage.listed()
            if m.evidence and m.evidence[0][0].slot == f"m{number}"
        )
        edge = NewEdge(EdgeKind.INSTANCE_OF, to=situation.id)
        await stage.engine.memories.patch(ME, own, MemoryPatch(edges=(edge,)))
    assert fired(await stage.recall(SHOWN[0], "c")) == []
    assert fired(await stage.recall("The rain is falling on us.", "c"))


async def test_scenes_that_are_still_in_the_prompt_tell_nothing(
    stage: ModelStage,
) -> None:
    """What the model calls the situation need not be like what is said in it: then its scenes tell it."""
    messages = rainy(66, (4, 24, 44))
    for number in (3, 23, 43):
        messages[number - 1] = line(f"m{number}", f"Look, there is a ferry on lake{number}.")

    def answer(prompt: Prompt) -> str:
        lines = read_of(prompt)
        if prompt.name == "summary":
            return json.dumps({"summary": lines[0][2]})
        shown = [n for n, _, text in lines if text in SHOWN]
        habit = {
            "lines": shown,
            "when": "thinking of her old home",
            "does": "hums an old tune",
            "chance": 1,
        }
        drafts: dict[str, list[object]] = {
            "episodes": [],
            "facts": [],
            "concepts": [],
            "kinds": [],
        }
        return json.dumps({**drafts, "habits": [habit] if shown else []})

    stage.llm.then([answer])
    await stage.sync("c", messages)
    await stage.rest()
    cue = "Look, there is a ferry on the lake again."
    assert fired(await stage.recall(cue, "c")) == ["hums an old tune"]
    assert fired(await stage.recall(cue, "c", context_from=SlotId("m1"))) == []


async def test_a_model_that_leaves_delays_it_at_most(stage: ModelStage) -> None:
    """What was drafted until then is told in the next quiet moment, though there is no model any more."""
    failure = LlmFailed(Failure.UNREACHABLE, "switched off")
    stage.llm.then([*[humming()] * 6, failure])
    await stage.sync("c", rainy(106, (4, 24, 44)))
    await stage.rest()
    assert len(stage.llm.asked) > 6
    await stage.rest()
    assert len(await learned(stage)) == 1


async def test_more_scenes_do_not_tell_it_twice(stage: ModelStage) -> None:
    """It keeps its wording; twice as many scenes all speak for it."""
    stage.llm.then([humming()])
    messages = rainy(146, (4, 24, 44, 64, 84, 104))
    await stage.sync("c", messages[:66])
    await stage.rest()
    (before,) = await stage.drafted_of(MemoryKind.ACTION)
    for stop in (86, 106, 146):
        await stage.sync("c", messages[:stop])
        await stage.rest()
    (after,) = await stage.drafted_of(MemoryKind.ACTION)
    assert after.id == before.id
    assert len(await stage.drafted_of(MemoryKind.ABSTRACT_EPISODE)) == 1
    assert len(await stage.sources_of(after.id)) == 6


async def test_a_situation_with_two_reactions_draws_by_what_the_model_said(
    stage: ModelStage,
) -> None:
    """Their probabilities are 1 together."""
    stage.llm.then([humming(("hums an old tune", 0.8), ("pulls her wet hood up", 0.2))])
    reactions = [f"*pulls her wet hood up* {text}" for text in SHOWN]
    await stage.sync("c", rainy(66, (4, 24, 44), reactions))
    await stage.rest()
    (trigger,) = await stage.drafted_of(MemoryKind.TRIGGER)
    edges = (await stage.engine.memories.get(ME, trigger.id)).edges
    mind = await stage.mind()
    chances = {
        mind.memories[e.target].text: e.probability for e in edges if e.kind is EdgeKind.FIRES
    }
    assert chances == pytest.approx({"hums an old tune": 0.8, "pulls her wet hood up": 0.2})


async def test_a_branch_before_the_third_scene_does_not_know_it(
    stage: ModelStage,
) -> None:
    """And a branch in which it goes on learns it there."""
    stage.llm.then([humming()])
    messages = rainy(66, (4, 24, 44))
    await stage.sync("c", messages)
    await stage.rest()
    await stage.sync("early", messages[:40], parent=("c", "m40"))
    await stage.rest()
    assert fired(await stage.recall("The rain is falling on us.", "c"))
    assert fired(await stage.recall("The rain is falling on us.", "early")) == []
    await stage.sync("early", [*messages[:40], *rainy(80, (60,))[40:]], parent=("c", "m40"))
    await stage.rest()
    assert fired(await stage.recall("The rain is falling on us.", "early"))


async def test_what_was_taken_back_stays_away(stage: ModelStage) -> None:
    """Undoing the job leaves no habit, and no quiet moment tells it anew, though its scenes are there."""
    stage.llm.then([humming()])
    await stage.sync("c", rainy(66, (4, 24, 44)))
    before = await stage.fingerprint()
    job = await stage.engine.jobs.ask(ME, "consolidate", SoulId("s1"), {})
    await ended(stage, job)
    assert await learned(stage)
    await stage.engine.history.undo(ME, SoulId("s1"), since=None, change=None, job=job)
    assert await stage.fingerprint() == before
    await stage.sync("c", rainy(186, (4, 24, 44, 84, 104, 124, 144, 164)))
    await stage.rest()
    await stage.restart()
    await stage.rest()
    assert await learned(stage) == set()
    joined = (await stage.store.graph(ME, SoulId("s1"))).edges
    assert not [e for e in joined if e.kind in (EdgeKind.TRIGGERS, EdgeKind.FIRES)]
    assert fired(await stage.recall("The rain is falling on us.", "c")) == []


async def test_without_an_encoder_words_tell_which_are_alike() -> None:
    """Other words for the same are then another habit; the same words are one."""
    stage = await opened(None)
    taught = habits("zh")
    stage.llm.then([seeing(taught)])
    await stage.sync("c", chat("zh", taught, seed=1))
    await stage.rest()
    assert len(await learned(stage)) < 0.5 * len(taught)
    stage.llm.then([humming(("hums an old tune", 0.5))])
    await stage.sync("d", rainy(66, (4, 24, 44)))
    await stage.rest()
    assert "hums an old tune" in await learned(stage)
    await stage.stop()
