"""A chat of 60 messages and a real model of half a billion parameters: what lasts, and was it said?"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest

from soulmem.adapters.litellm_endpoint import LitellmEndpoint
from soulmem.consolidation.marks import MarkParams
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.engine.consolidating import ConsolidationParams
from soulmem.engine.engine import EngineParams
from tests.engine.evenings import talk
from tests.engine.model_stage import ModelStage
from tests.engine.reflexes import PATIENT
from tests.engine.stage import ME
from tests.real_llm import llama

__all__ = ["llama"]  # a fixture

pytestmark = [
    pytest.mark.llm,
    pytest.mark.slow,
    pytest.mark.timeout(1800),  # some 10 tokens a second, on a machine that does other things too
    pytest.mark.filterwarnings("ignore::Warning:litellm", "ignore::Warning:pydantic"),
]

MOST_TRIES = 4
WANTED = {MemoryKind.SUMMARY, MemoryKind.EPISODE, MemoryKind.CONCEPT}
# The chat in one stretch: two calls, of which each takes such a model a minute.
WHOLE = EngineParams(
    rest_by_itself=False, consolidation=ConsolidationParams(marks=MarkParams(least=30)), recall=PATIENT
)


@pytest.fixture
async def stage(llama: str) -> AsyncIterator[ModelStage]:
    """An engine with the real model."""
    endpoint = LitellmEndpoint(llama, "small", "", 900.0)
    one = ModelStage(model=endpoint, params=WHOLE)
    await one.start()
    yield one
    await one.stop()
    await endpoint.stop()


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_it_becomes_lasting_memory(stage: ModelStage, language: str) -> None:
    await stage.soul(name={"en": "Mira", "zh": "米拉"}[language])
    chat, tries, made, facts = talk(language), 0, list[Memory](), list[Edge]()
    kinds = set[MemoryKind]()
    # Now and then nothing of what such a model says stands.
    while not (facts and kinds >= WANTED) and tries < MOST_TRIES:
        tries += 1
        await stage.sync(f"c{tries}", chat)
        await stage.engine.run_idle()
        made = [memory for memory in await stage.listed() if memory.origin is Origin.MODEL]
        kinds = {memory.kind for memory in made}
        edges = (await stage.store.graph(ME, SoulId("s1"))).edges
        facts = [e for e in edges if e.kind is EdgeKind.RELATES and e.origin is Origin.MODEL]
    assert facts
    assert kinds >= WANTED
    for fact in facts:
        await check_fact(stage, fact, language)
    books = await stage.engine.consolidator.books(await stage.world(), SoulId("s1"))
    spent = books.totals["consolidation"]
    # One for the summary, one for all else, each asked again at most once.
    assert 2 * tries <= spent.calls <= 4 * tries
    assert spent.prompt_tokens / spent.calls < 2500

    told = {message.slot: f"{message.speaker}: {message.text}" for message in chat}
    for memory in made:
        slots = [place.slot for place in (await stage.engine.get_memory(ME, memory.id)).sources]
        assert slots
        assert set(slots) <= set(told)
        check_language(memory, language)
        assert memory.kind is not MemoryKind.ACTION or len(slots) >= 3
    wanted = next(m.text for m in made if m.kind is not MemoryKind.SUMMARY)
    recalled = await stage.recall(wanted, f"c{tries}")
    assert {m.id for m in recalled.memories} & {m.id for m in made}


async def check_fact(stage: ModelStage, fact: Edge, language: str) -> None:
    """A line says it: it has the thing, and it or one of the two before has whom it is about."""
    ends = [(await stage.engine.get_memory(ME, end)).memory.text or "" for end in (fact.source, fact.target)]
    thing = ends[1].removeprefix("the ").casefold()
    told = [f"{message.speaker}: {message.text}" for message in talk(language)]
    saying = [at for at, text in enumerate(told) if thing in text.casefold()]
    assert any(ends[0] in "\n".join(told[max(0, at - 2) : at + 1]) for at in saying), (ends, fact.verb)


def check_language(memory: Memory, language: str) -> None:
    """It is in the chat's language, and names nobody whom the chat does not know."""
    if language == "zh":
        assert not re.search(r"[A-Za-z]{3,}", memory.text)
        return
    assert not re.search(r"[^\W\d_A-Za-zÀ-ɏ]", memory.text)  # no letter that is not Latin
    within = re.findall(r"(?<=[a-z,] )[A-Z][a-z]+", memory.text)
    told = "\n".join(f"{message.speaker} {message.text}" for message in talk(language))
    assert set(within) <= set(re.findall(r"[A-Z][a-z]*", told)), memory.text
