"""One thing under several names is one thing, for whoever was told so, and as long as that stands."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping

import pytest

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.ids import MemoryId
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.domain.situation import ConceptDetail
from soulmem.engine.views.fact_validity import fact_validities
from tests.engine.model_stage import ModelStage, obliging, read_of, talk
from tests.engine.stage import line

_ALIAS = re.compile(r"(\w+) is also known as ([\w ]+?)[.]|(\w{2})又叫(\w{2})")
_FACT = re.compile(
    r"((?:[Tt]he )?\w+) (lives in|found|polished) ((?:the )?\w+)[.]|(\w{2})(住在|喜欢)(\w{2})"
)

NAMED = "Robert is also known as Bob."
BOB = "Bob lives in Rome."
ROBERT = "Robert lives in Paris."


def fact_model(prompt: Prompt) -> str:
    """A model that writes down who is also called what, and facts."""
    if prompt.name == "summary":
        return obliging(prompt)
    facts, concepts = [], []
    for number, _, text in read_of(prompt):
        for match in _ALIAS.findall(text):
            name, alias = filter(None, match)
            concepts.append({"lines": [number], "name": name, "type": "entity", "aliases": [alias]})
        for match in _FACT.findall(text):
            subject, verb, thing = filter(None, match)
            facts.append({"lines": [number], "subject": subject, "verb": verb, "object": thing})
    drafts: dict[str, list[object]] = {"episodes": [], "habits": [], "kinds": []}
    return json.dumps(drafts | {"facts": facts, "concepts": concepts})


def chat_with(texts: Mapping[int, str], count: int = 90) -> list[SentMessage]:
    """A talk in which these messages say something of their own."""
    out = talk(count)
    for index, text in texts.items():
        out[index - 1] = line(f"m{index}", text, Role.CHARACTER)
    return out


@pytest.fixture
async def stage() -> AsyncIterator[ModelStage]:
    """An engine with such a model and one soul: s1, Mira."""
    model_stage = ModelStage(fact_model)
    await model_stage.start()
    await model_stage.soul()
    yield model_stage
    await model_stage.stop()


async def recalled(stage: ModelStage, query: str, chat: str = "c") -> list[str]:
    """The facts that a recall tells, best first."""
    answer = await stage.recall(query, chat, context_from="m89", max_items=8)
    return [m.text for m in answer.memories if m.kind == "fact"]


async def ended_facts(stage: ModelStage) -> set[str]:
    """The facts that hold no more."""
    mind = await stage.mind()
    validities = fact_validities(mind, mind.edges.every())
    return {
        mind.facts[MemoryId(key)].text
        for key, validity in validities.items()
        if validity.by is not None
    }


@pytest.mark.parametrize("order", [(3, 30, 60), (30, 3, 60), (60, 3, 30)])
async def test_what_is_said_of_one_name_is_said_of_the_other(
    stage: ModelStage, order: tuple[int, int, int]
) -> None:
    named, first, second = order
    messages = chat_with({named: NAMED, first: ROBERT, second: BOB})
    await stage.sync("c", messages)
    await stage.rest()
    assert await ended_facts(stage) == {"Robert lives in Paris"}
    assert "Robert is also called Bob" in await recalled(stage, "Who is Bob?")

    messages[named - 1] = talk(1, named, "other")[0]  # nobody says any more that they are one
    await stage.sync("c", messages)
    await stage.rest()
    assert await ended_facts(stage) == set()
    assert "also called" not in await stage.words()
    assert {"Robert lives in Paris", "Bob lives in Rome"} <= set(
        await recalled(stage, "Bob and Robert")
    )


async def test_one_fact_under_two_names_is_told_once_with_both_messages(
    stage: ModelStage,
) -> None:
    await stage.sync("c", chat_with({3: NAMED, 20: "Robert found amber.", 60: "Bob found amber."}))
    await stage.rest()
    answer = await stage.recall("Who found amber?", "c", context_from="m89")
    (fact,) = [m for m in answer.memories if m.kind == "fact" and "amber" in m.text]
    assert {place.slot for place in fact.sources} == {"m20", "m60"}


@pytest.mark.parametrize("is_named", [True, False])
async def test_a_cue_with_one_name_finds_what_the_other_is_in(
    stage: ModelStage, is_named: bool
) -> None:
    texts = {index: f"Tom{index} polished copper." for index in range(10, 60, 8)} | {
        45: "Robert polished silver."
    }
    await stage.sync("c", chat_with({**texts, 3: NAMED} if is_named else texts))
    await stage.rest()
    assert ("Robert polished silver" in await recalled(stage, "What about Bob?")) is is_named


@pytest.mark.parametrize("is_named", [True, False])
async def test_so_does_a_cue_with_a_name_that_is_known_without_drafts(
    stage: ModelStage, is_named: bool
) -> None:
    await stage.note("Robert", kind=MemoryKind.CONCEPT)
    texts = {index: f"Tom{index} polished copper." for index in range(10, 60, 8)} | {
        45: "Bob polished silver."
    }
    await stage.sync("c", chat_with({**texts, 3: NAMED} if is_named else texts))
    await stage.rest()
    assert ("Bob polished silver" in await recalled(stage, "What about Robert?")) is is_named


async def test_a_branch_that_was_not_told_does_not_know_that_two_are_one(
    stage: ModelStage,
) -> None:
    messages = chat_with({3: ROBERT, 20: BOB, 60: NAMED})
    await stage.sync("c", messages)
    await stage.rest()
    await stage.sync("b", [*messages[:50], *talk(40, 51, "other")], parent=("c", "m50"))
    await stage.rest()
    told_there = set(await recalled(stage, "Where do Bob and Robert live?", "b"))
    assert told_there == {"Robert lives in Paris", "Bob lives in Rome"}
    in_chat = await recalled(stage, "Where do Bob and Robert live?", "c")
    assert [text for text in in_chat if text.startswith("Robert lives in Paris (until ")]


async def test_chinese_names_are_one_too(stage: ModelStage) -> None:
    roles = (Role.CHARACTER, Role.USER)
    messages = [line(f"m{i}", f"他们谈了很久第{i}件事。", roles[i % 2]) for i in range(1, 91)]
    for index, text in (
        (3, "小安又叫阿宁。"),
        (20, "小安住在北京。"),
        (60, "阿宁住在上海。"),
    ):
        messages[index - 1] = line(f"m{index}", text, Role.CHARACTER)
    await stage.sync("c", messages)
    await stage.rest()
    assert await ended_facts(stage) == {"小安住在北京"}


@pytest.mark.parametrize("alias", ["she", "Al", "Mira", "Robert", "the man"])
async def test_what_is_no_name_of_its_own_makes_nobody_one(stage: ModelStage, alias: str) -> None:
    await stage.sync("c", chat_with({3: f"Robert is also known as {alias}."}))
    await stage.rest()
    mind = await stage.mind()
    drafted = {
        m.text
        for m in mind.memories.values()
        if m.kind is MemoryKind.CONCEPT and m.origin is Origin.MODEL
    }
    assert drafted == {"Robert"}


@pytest.mark.parametrize("why", ["apart", "two of the user's"])
async def test_who_is_only_mentioned_near_somebody_is_not_made_one(
    stage: ModelStage, why: str
) -> None:
    mistaken = {"lines": [1], "name": "Robert", "type": "entity", "aliases": ["Bob"]}
    drafts = {
        "episodes": [],
        "facts": [],
        "concepts": [mistaken],
        "habits": [],
        "kinds": [],
    }
    stage.llm.then(
        [lambda prompt: obliging(prompt) if prompt.name == "summary" else json.dumps(drafts)]
    )
    texts = {1: "Robert met Bob."}
    if why == "apart":
        texts = {1: "Robert came.", 2: "Then Bob came."}
    else:
        for name in ("Robert", "Bob"):
            await stage.note(name, kind=MemoryKind.CONCEPT)
    await stage.sync("c", chat_with(texts, 30))
    await stage.rest()
    mind = await stage.mind()
    assert [
        m.text for m in mind.memories.values() if m.origin is Origin.MODEL and m.text == "Robert"
    ]
    assert not [key for key in mind.facts if "also called" in mind.facts[key].text]


async def test_articles_make_no_other_thing(stage: ModelStage) -> None:
    await stage.sync(
        "c",
        chat_with({3: "Robert polished lantern.", 40: "Robert polished the lantern."}),
    )
    await stage.rest()
    assert (
        len([text for text in await recalled(stage, "Robert polished what?") if "lantern" in text])
        == 1
    )
    mind = await stage.mind()
    drafted = [
        m
        for m in mind.memories.values()
        if m.kind is MemoryKind.CONCEPT and m.origin is Origin.MODEL
    ]
    assert {m.text for m in drafted} == {"Robert", "lantern"}


async def test_what_the_user_says_goes_by_several_names_is_one(
    stage: ModelStage,
) -> None:
    await stage.note("Robert", kind=MemoryKind.CONCEPT, concept=ConceptDetail(aliases=("Bob",)))
    await stage.sync("c", chat_with({20: ROBERT, 60: BOB}))
    await stage.rest()
    assert await ended_facts(stage) == {"Robert lives in Paris"}
