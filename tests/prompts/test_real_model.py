"""Answers of a real model of half a billion parameters: form, language, limits, evidence."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.adapters.litellm_endpoint import LitellmEndpoint
from soulmem.domain.drafts import Drafts, Passage
from soulmem.domain.llm import Unreadable
from soulmem.prompts import extraction, summary
from soulmem.prompts.grounding.evidence import Grounds
from tests.prompts.passages import EN, ZH
from tests.real_llm import llama

__all__ = ["llama"]  # a fixture

pytestmark = [
    pytest.mark.llm,
    pytest.mark.slow,
    # some 10 tokens a second, on a machine that does other things too
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore::Warning:litellm", "ignore::Warning:pydantic"),
]


MOST_TRIES = 4


@pytest.fixture
async def endpoint(llama: str) -> AsyncIterator[LitellmEndpoint]:
    """The model, through litellm."""
    made = LitellmEndpoint(llama, "small", "", 600.0)
    yield made
    await made.stop()


async def summed_up(endpoint: LitellmEndpoint, passage: Passage) -> str:
    """Its summary; now and then nothing of what such a model says stands."""
    reason = ""
    for _ in range(MOST_TRIES):
        answer = await endpoint.complete(summary.render(passage))
        try:
            return summary.parse(answer.text, passage)
        except Unreadable as error:
            reason = error.message
    raise AssertionError(f"no summary of {MOST_TRIES} can be read: {reason}")


async def extracted(endpoint: LitellmEndpoint, passage: Passage) -> Drafts:
    """What it drafts; as JSON, or else as lines."""
    for plain in (False, True):
        answer = await endpoint.complete(extraction.render(passage, plain=plain))
        assert answer.prompt_tokens < 1000
        try:
            return extraction.parse(answer.text, passage)
        except Unreadable as error:
            reason = error.message
    raise AssertionError(f"neither answer can be read: {reason}")


@pytest.mark.parametrize("passage", [EN, ZH], ids=["en", "zh"])
async def test_it_summarises(endpoint: LitellmEndpoint, passage: Passage) -> None:
    stated, grounds = await summed_up(endpoint, passage), Grounds(passage)
    assert len(stated) > 5
    assert not grounds.is_foreign(stated)
    assert grounds.share(stated) > 0.3


@pytest.mark.parametrize("passage", [EN, ZH], ids=["en", "zh"])
async def test_it_drafts_only_what_the_chat_says(
    endpoint: LitellmEndpoint, passage: Passage
) -> None:
    drafts, grounds = await extracted(endpoint, passage), Grounds(passage)
    for _ in range(
        MOST_TRIES - 1
    ):  # now and then nothing of what such a model says stands
        if not drafts.facts:
            drafts = await extracted(endpoint, passage)
    assert drafts.facts
    for episode in drafts.episodes:
        words = "\n".join(passage.lines[number - 1].text for number in episode.lines)
        assert episode.text
        assert set(episode.lines) <= set(range(1, len(passage.lines) + 1))
        assert not grounds.is_foreign(episode.text)
        assert words
    for fact in drafts.facts:
        assert grounds.holds(fact.subject)
        assert grounds.holds(fact.object)
    for concept in drafts.concepts:
        assert grounds.holds(concept.name)
