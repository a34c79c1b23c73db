"""Plans and reflections of a real model of half a billion parameters can be read, in both languages.

Measured on 2026-11-24, seeds of five that pass: en 5, zh 5.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from soulmem.adapters.litellm_endpoint import LitellmEndpoint
from soulmem.prompts import deep
from soulmem.prompts.deep import Decision
from tests.real_llm import SEEDS, TooLittle, model_folder, passing_seeds

__all__ = ["model_folder"]  # a fixture

pytestmark = [
    pytest.mark.llm,
    pytest.mark.slow("a language model answers"),
    pytest.mark.timeout(1800),
    pytest.mark.filterwarnings("ignore::Warning:litellm", "ignore::Warning:pydantic"),
]

LEAST_PASSING = 4  # of five seeds
_QUESTIONS = {
    "en": ("Where would I find the mandolin of Ada now?", "Who has Bela's things?"),
    "zh": ("艾达的曼陀林现在到哪里去找？", "贝拉的东西在谁那里？"),
}
_MEMORIES = {
    "en": (
        "Ada: I traded my mandolin with Bela last week.",
        "Ada: I dreamt of the moon again.",
        "Bela: I gave everything I owned to Cid when I left.",
        "Mira: The soup is good.",
    ),
    "zh": (
        "艾达：我上星期拿曼陀林跟贝拉做了交换。",
        "艾达：我又梦见月亮了。",
        "贝拉：我走的时候把所有家当都给了希德。",
        "米拉：这汤真不错。",
    ),
}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_it_plans_and_reflects(model_folder: Path, language: str) -> None:
    (question, asked), memories = _QUESTIONS[language], _MEMORIES[language]

    async def attempt(endpoint: LitellmEndpoint) -> None:
        prompt = deep.render_plan(question, "Mira", memories[:2])
        plan = deep.parse_plan((await endpoint.complete(prompt)).text, 2)
        if not plan.useful:
            raise TooLittle("a plan that points at no memory")
        prompt = deep.render_reflection(question, "Mira", [asked], memories)
        reflection = deep.parse_reflection((await endpoint.complete(prompt)).text, 4)
        if reflection.decision is not Decision.ENOUGH and reflection.ask is None:
            raise TooLittle("no end, and no question")

    passing = await passing_seeds(model_folder, attempt)
    assert len(passing) >= LEAST_PASSING, f"{passing} of {SEEDS} passed"
