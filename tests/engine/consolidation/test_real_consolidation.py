"""Consolidation of 60 messages by a real model of half a billion parameters: what it drafts was said.

Measured on 2026-11-24 with version 4 of the prompt, seeds of five that pass: en 3 (seeds 2, 4, 5), zh 4 (seeds 2
to 5). In en seed 1 no fact and no concept could be kept, in en seed 3 and zh seed 1 no episode. Nothing false was
kept, with any seed.
A seed gives the same answers again on one kind of processor; another may round, and so answer, differently.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from soulmem.adapters.litellm_endpoint import LitellmEndpoint
from soulmem.consolidation.short_term import MarkParams
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.engine.consolidation.consolidator import ConsolidationParams
from soulmem.engine.params import EngineParams
from tests.engine.evenings import talk
from tests.engine.model_stage import ModelStage
from tests.engine.reflexes import PATIENT
from tests.engine.stage import ME
from tests.real_llm import SEEDS, TooLittle, model_folder, passing_seeds

__all__ = ["model_folder"]  # a fixture

pytestmark = [
    pytest.mark.llm,
    pytest.mark.slow("a language model answers"),
    # five attempts at some 10 tokens a second, on a machine that does other things too
    pytest.mark.timeout(3600),
    pytest.mark.filterwarnings("ignore::Warning:litellm", "ignore::Warning:pydantic"),
]

LEAST_PASSING = {"en": 3, "zh": 4}  # of five seeds
WANTED = {MemoryKind.SUMMARY, MemoryKind.EPISODE, MemoryKind.CONCEPT}
# The chat in one stretch: two calls, of which each takes such a model a minute.
WHOLE = EngineParams(
    rest_by_itself=False,
    consolidation=ConsolidationParams(marks=MarkParams(least=30)),
    recall=PATIENT,
)


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
async def test_it_becomes_lasting_memory(model_folder: Path, language: str) -> None:
    async def attempt(endpoint: LitellmEndpoint) -> None:
        async with engine_with(endpoint) as stage:
            await consolidate_once(stage, language)

    passing = await passing_seeds(model_folder, attempt)
    assert len(passing) >= LEAST_PASSING[language], f"{passing} of {SEEDS} passed"


async def consolidate_once(stage: ModelStage, language: str) -> None:
    """Consolidate the chat. All that was made is checked, also where it is too little."""
    await stage.soul(name={"en": "Mira", "zh": "米拉"}[language])
    await stage.sync("c1", talk(language))
    await stage.engine.idle.run()
    made = await stage.drafted()
    facts = await drafted_facts(stage)
    await check(stage, made, facts, language)
    missing = WANTED - {memory.kind for memory in made}
    if missing or not facts:
        names = ", ".join(sorted(kind.value for kind in missing)) or "none"
        raise TooLittle(f"{len(facts)} facts; kinds of memory that are missing: {names}")
    await check_recall(stage, made)


async def drafted_facts(stage: ModelStage) -> list[Edge]:
    """The relations that the model made."""
    edges = (await stage.store.graph(ME, SoulId("s1"))).edges
    relations = (edge for edge in edges if edge.kind is EdgeKind.RELATES)
    return [edge for edge in relations if edge.origin is Origin.MODEL]


async def check(stage: ModelStage, made: list[Memory], facts: list[Edge], language: str) -> None:
    """All of it was said, and costs what it should."""
    for fact in facts:
        await check_fact(stage, fact, language)
    report = await stage.engine.consolidator.usage_report(ME, SoulId("s1"))
    spent = report.totals["consolidation"]
    # One for the summary, one for all else, each asked again at most once.
    assert 2 <= spent.calls <= 4
    assert spent.prompt_tokens / spent.calls < 2500

    for memory in made:
        await check_memory(stage, memory, language)


async def check_recall(stage: ModelStage, made: list[Memory]) -> None:
    """The text of a memory recalls a memory that was made."""
    wanted = next(m.text for m in made if m.kind is not MemoryKind.SUMMARY)
    recalled = await stage.recall(wanted, "c1")
    assert {m.id for m in recalled.memories} & {m.id for m in made}


async def check_memory(stage: ModelStage, memory: Memory, language: str) -> None:
    """It rests on messages of the chat, a habit on three of them."""
    sources = set(await stage.sources_of(memory.id))
    assert sources
    assert sources <= {message.slot for message in talk(language)}
    assert memory.kind is not MemoryKind.ACTION or len(sources) >= 3
    check_language(memory, language)


async def check_fact(stage: ModelStage, fact: Edge, language: str) -> None:
    """A line says it: it has the thing, and it or one of the two before has whom it is about."""
    ends = [
        (await stage.engine.memories.get(ME, end)).memory.text or ""
        for end in (fact.source, fact.target)
    ]
    thing = ends[1].removeprefix("the ").casefold()
    lines = [f"{message.speaker}: {message.text}" for message in talk(language)]
    saying = [index for index, text in enumerate(lines) if thing in text.casefold()]
    assert any(ends[0] in "\n".join(lines[max(0, index - 2) : index + 1]) for index in saying), (
        ends,
        fact.verb,
    )


def check_language(memory: Memory, language: str) -> None:
    """It is in the chat's language, and names nobody whom the chat does not know."""
    if language == "zh":
        assert not re.search(r"[A-Za-z]{3,}", memory.text)
        return
    assert not re.search(r"[^\W\d_A-Za-zÀ-ɏ]", memory.text)  # no letter that is not Latin
    within = re.findall(r"(?<=[a-z,] )[A-Z][a-z]+", memory.text)
    chat_text = "\n".join(f"{message.speaker} {message.text}" for message in talk(language))
    assert set(within) <= set(re.findall(r"[A-Z][a-z]*", chat_text)), memory.text
