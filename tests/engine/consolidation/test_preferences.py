"""A liking that several scenes show is one fact, in its first wording, with all of them as its sources."""

from __future__ import annotations

import json

import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.llm import Prompt
from tests.engine.model_stage import ModelStage, read_of
from tests.engine.stage import line


class Drafting:
    """Drafts of each stretch one fact of Mira and coffee, with the next of these verbs."""

    def __init__(self, *verbs: str) -> None:
        self._verbs = list(verbs)

    def __call__(self, prompt: Prompt) -> str:
        if prompt.name == "summary":
            return json.dumps({"summary": "They drank coffee."})
        fact = {"subject": "Mira", "verb": self._verbs.pop(0), "object": "coffee"}
        number = read_of(prompt)[0][0]
        return json.dumps({"facts": [{**fact, "lines": [number]}]})


async def facts_of(*verbs: str) -> tuple[list[Edge], list[list[str]]]:
    """The facts that come of two stretches, and the sources of each."""
    stage = ModelStage(Drafting(*verbs))
    await stage.start()
    await stage.soul()
    roles = (Role.CHARACTER, Role.USER)
    texts = [f"Mira had coffee number {number} here." for number in range(1, 55)]
    await stage.sync("c", [line(f"m{n}", text, roles[n % 2]) for n, text in enumerate(texts, 1)])
    await stage.rest()
    mind = await stage.mind()
    edges = [edge for key in mind.edges if (edge := mind.edges.get(key)) is not None]
    facts = [edge for edge in edges if edge.kind is EdgeKind.RELATES]
    sources = [list(mind.derivations.cited(fact.id)) for fact in facts]
    await stage.stop()
    return facts, [[str(key) for key in cited] for cited in sources]


@pytest.mark.parametrize("verbs", [("likes", "loves"), ("adores", "is fond of")])
async def test_a_liking_in_other_words_is_the_same_fact(verbs: tuple[str, str]) -> None:
    facts, sources = await facts_of(*verbs)
    assert [fact.verb for fact in facts] == [verbs[0]]
    assert len(sources[0]) == 2


@pytest.mark.parametrize(
    "verbs", [("likes", "hates"), ("likes", "no longer likes"), ("sells", "brews")]
)
async def test_what_says_something_else_is_a_fact_of_its_own(
    verbs: tuple[str, str],
) -> None:
    facts, _ = await facts_of(*verbs)
    assert {fact.verb for fact in facts} == set(verbs)
