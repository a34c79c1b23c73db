"""Walks reach memories that no word of the query leads to, and explain the path.

Chains of two to four steps hang on a name that hundreds of other memories mention; no two members of a chain
share a word, so a search by text cannot reach their end.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import NewEdge, RecallMode
from soulmem.engine.api.results import RecalledMemory
from soulmem.kernels.warm import installed_cache, warm
from tests.engine.stage import ME, Stage
from tests.examples import sized

CHAINS = sized(10, 50)  # in each language
DISTRACTORS = sized(250, 500)
FIRST = 5  # places

CUE = {"en": "lantern", "zh": "灯笼"}
CROWD = {
    "en": [
        "A {word} lay beside the lantern.",
        "Somebody traded the lantern for a {word}.",
        "The {word} and a lantern.",
    ],
    "zh": ["灯笼旁边放着{word}。", "有人用灯笼换了{word}。", "那年的{word}和灯笼。"],
}
QUERY = {"en": "What about the lantern?", "zh": "说说灯笼吧。"}

EPISODE, ABSTRACT, CONCEPT, NOTE = (
    MemoryKind.EPISODE,
    MemoryKind.ABSTRACT_EPISODE,
    MemoryKind.CONCEPT,
    MemoryKind.NOTE,
)
# From a memory of a kind to a new one: its kind, the edge, and whether the edge starts at the new one.
STEPS: dict[MemoryKind, list[tuple[MemoryKind, EdgeKind, bool]]] = {
    CONCEPT: [
        (CONCEPT, EdgeKind.RELATES, False),
        (CONCEPT, EdgeKind.RELATES, True),
        (EPISODE, EdgeKind.MENTIONS, True),
        (NOTE, EdgeKind.ASSOCIATES, False),
    ],
    EPISODE: [
        (CONCEPT, EdgeKind.MENTIONS, False),
        (ABSTRACT, EdgeKind.INSTANCE_OF, False),
        (NOTE, EdgeKind.ASSOCIATES, True),
    ],
    ABSTRACT: [
        (EPISODE, EdgeKind.INSTANCE_OF, True),
        (CONCEPT, EdgeKind.MENTIONS, False),
    ],
    NOTE: [(EPISODE, EdgeKind.ASSOCIATES, False), (CONCEPT, EdgeKind.ASSOCIATES, True)],
}


@dataclass(frozen=True, slots=True)
class Link:
    """A member of a chain, and the edge that leads to it."""

    memory: MemoryId
    edge: str | None


class Words:
    """Generates made-up words without repetition."""

    def __init__(self, language: str, seed: int) -> None:
        self._rng = random.Random(f"{language}{seed}")
        self._language = language
        self._given: set[str] = set()

    def new(self) -> str:
        while True:
            word = self._draw()
            if not self._given.intersection(word if self._language == "zh" else [word]):
                self._given.update(word if self._language == "zh" else [word])
                return word

    def _draw(self) -> str:
        if self._language == "zh":
            return "".join(chr(self._rng.randrange(0x5000, 0x9000)) for _ in range(2))
        return "".join(
            self._rng.choice("bdfgklmnprstvz") + self._rng.choice("aeiou") for _ in range(4)
        )


async def stage_with_distractors(language: str) -> Stage:
    """A soul with the concept of the query and many memories that merely mention it."""
    stage = Stage()
    await stage.start()
    await stage.soul(forgetting=0.0)
    rng, words = random.Random(language), Words("en" if language == "en" else "zh", -1)
    for _ in range(DISTRACTORS):
        await stage.note(rng.choice(CROWD[language]).format(word=words.new()), kind=EPISODE)
    return stage


async def chain(stage: Stage, language: str, seed: int) -> list[Link]:
    """The concept of the query and two to four memories that lead away from it in a row."""
    rng, words = random.Random(f"chain{language}{seed}"), Words(language, seed)
    cue = await stage.note(CUE[language], kind=CONCEPT)
    links, kind = [Link(cue.memory.id, None)], CONCEPT
    for _ in range(rng.randint(2, 4)):
        kind, edge, back = rng.choice(STEPS[kind])
        last = links[-1].memory
        verb = words.new() if edge is EdgeKind.RELATES else None
        joined = (
            NewEdge(edge, to=last, verb=verb) if back else NewEdge(edge, source=last, verb=verb)
        )
        text = ("" if language == "zh" else " ").join(words.new() for _ in range(4))
        made = await stage.note(text, kind=kind, edges=(joined,))
        links.append(Link(made.memory.id, verb or edge.value))
    return links


async def bin_chain(stage: Stage, links: list[Link]) -> None:
    """Put the memories of the chain into the bin."""
    for link in links:
        await stage.engine.memories.delete(ME, link.memory, None)


def is_explained(recalled: RecalledMemory, links: list[Link]) -> bool:
    """Whether the path and the reason of the memory contain every member of the chain."""
    path = [(step.id, step.edge) for step in recalled.path]
    return path == [(link.memory, link.edge) for link in links] and recalled.hops == len(links) - 1


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compiles the kernels: without them only the best of the reached memories are explained."""
    warm(installed_cache())


@pytest_asyncio.fixture(params=["en", pytest.param("zh", marks=pytest.mark.nightly)])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[tuple[str, Stage]]:
    made = await stage_with_distractors(request.param)
    yield request.param, made
    await made.stop()


@pytest.mark.timeout(180)
async def test_the_end_of_a_chain_is_among_the_first(stage: tuple[str, Stage]) -> None:
    language, soul_stage = stage
    reached, by_text, lost = 0, 0, []
    for seed in range(CHAINS):
        links = await chain(soul_stage, language, seed)
        answer = await soul_stage.recall(QUERY[language])
        plain = await soul_stage.recall(QUERY[language], mode=RecallMode.BASELINE)
        end = links[-1].memory
        ends = [m for m in answer.memories[:FIRST] if m.id == end]
        if ends and is_explained(ends[0], links):
            reached += 1
        else:
            lost.append(
                (
                    seed,
                    [link.edge for link in links],
                    [m.id == end for m in answer.memories],
                )
            )
        by_text += any(m.id == end for m in plain.memories[:FIRST])
        await bin_chain(soul_stage, links)
    assert reached >= 0.95 * CHAINS, lost
    assert by_text <= 0.05 * CHAINS
