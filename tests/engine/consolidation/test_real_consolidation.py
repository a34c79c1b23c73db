"""A chat of 60 messages and a real model of half a billion parameters: what lasts, and was it said?"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from soulmem.adapters.litellm_endpoint import LitellmEndpoint
from soulmem.consolidation.marks import MarkParams
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.engine.consolidation.consolidator import ConsolidationParams
from soulmem.engine.params import EngineParams
from tests.engine.evenings import talk
from tests.engine.model_stage import ModelStage
from tests.engine.reflexes import PATIENT
from tests.engine.stage import ME
from tests.real_llm import llama

__all__ = ["llama"]  # a fixture

pytestmark = [
    pytest.mark.llm,
    pytest.mark.slow,
    pytest.mark.timeout(
        1800
    ),  # some 10 tokens a second, on a machine that does other things too
    pytest.mark.filterwarnings("ignore::Warning:litellm", "ignore::Warning:pydantic"),
]

MOST_TRIES = 8
WANTED = {MemoryKind.SUMMARY, MemoryKind.EPISODE, MemoryKind.CONCEPT}
# The chat in one stretch: two calls, of which each takes such a model a minute.
WHOLE = EngineParams(
    rest_by_itself=False,
    consolidation=ConsolidationParams(marks=MarkParams(least=30)),
    recall=PATIENT,
)


@pytest.fixture
async def endpoint(llama: str) -> AsyncIterator[LitellmEndpoint]:
    """The real model."""
    one = LitellmEndpoint(llama, "small", "", 900.0)
    yield one
    await one.stop()


@asynccontextmanager
async def engine_with(endpoint: LitellmEndpoint) -> AsyncIterator[ModelStage]:
    """An engine with the real model, that knows nothing yet."""
    stage = ModelStage(model=endpoint, params=WHOLE)
    await stage.start()
    try:
        yield stage
    finally:
        await stage.stop()


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_it_becomes_lasting_memory(
    endpoint: LitellmEndpoint, language: str
) -> None:
    # In one run of five nothing of the episodes that such a model makes stands. It tries with a mind that is
    # as new: one that has what the last try made asks for the same things, and gets like answers.
    for left in reversed(range(MOST_TRIES)):
        async with engine_with(endpoint) as stage:
            await stage.soul(name={"en": "Mira", "zh": "米拉"}[language])
            await stage.sync("c1", talk(language))
            await stage.engine.idle.run()
            made = [
                memory
                for memory in await stage.listed()
                if memory.origin is Origin.MODEL
            ]
            edges = (await stage.store.graph(ME, SoulId("s1"))).edges
            facts = [
                e
                for e in edges
                if e.kind is EdgeKind.RELATES and e.origin is Origin.MODEL
            ]
            if left and not (facts and {memory.kind for memory in made} >= WANTED):
                continue
            assert facts
            assert {memory.kind for memory in made} >= WANTED
            await check(stage, made, facts, language)
            return


async def check(
    stage: ModelStage, made: list[Memory], facts: list[Edge], language: str
) -> None:
    """All of it was said, costs what it should, and is recalled."""
    chat = talk(language)
    for fact in facts:
        await check_fact(stage, fact, language)
    books = await stage.engine.consolidator.usage_report(ME, SoulId("s1"))
    spent = books.totals["consolidation"]
    # One for the summary, one for all else, each asked again at most once.
    assert 2 <= spent.calls <= 4
    assert spent.prompt_tokens / spent.calls < 2500

    told = {message.slot: f"{message.speaker}: {message.text}" for message in chat}
    for memory in made:
        slots = [
            place.slot
            for place in (await stage.engine.memories.get(ME, memory.id)).sources
        ]
        assert slots
        assert set(slots) <= set(told)
        check_language(memory, language)
        assert memory.kind is not MemoryKind.ACTION or len(slots) >= 3
    wanted = next(m.text for m in made if m.kind is not MemoryKind.SUMMARY)
    recalled = await stage.recall(wanted, "c1")
    assert {m.id for m in recalled.memories} & {m.id for m in made}


async def check_fact(stage: ModelStage, fact: Edge, language: str) -> None:
    """A line says it: it has the thing, and it or one of the two before has whom it is about."""
    ends = [
        (await stage.engine.memories.get(ME, end)).memory.text or ""
        for end in (fact.source, fact.target)
    ]
    thing = ends[1].removeprefix("the ").casefold()
    told = [f"{message.speaker}: {message.text}" for message in talk(language)]
    saying = [at for at, text in enumerate(told) if thing in text.casefold()]
    assert any(ends[0] in "\n".join(told[max(0, at - 2) : at + 1]) for at in saying), (
        ends,
        fact.verb,
    )


def check_language(memory: Memory, language: str) -> None:
    """It is in the chat's language, and names nobody whom the chat does not know."""
    if language == "zh":
        assert not re.search(r"[A-Za-z]{3,}", memory.text)
        return
    assert not re.search(
        r"[^\W\d_A-Za-zÀ-ɏ]", memory.text
    )  # no letter that is not Latin
    within = re.findall(r"(?<=[a-z,] )[A-Z][a-z]+", memory.text)
    told = "\n".join(f"{message.speaker} {message.text}" for message in talk(language))
    assert set(within) <= set(re.findall(r"[A-Z][a-z]*", told)), memory.text
