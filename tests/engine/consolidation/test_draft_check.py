"""A model is asked its questions once in idle time; by the answers its drafts are read strictly, or checked."""

from __future__ import annotations

import json

import pytest

from soulmem.domain.drafts import DraftFact, Drafts
from soulmem.domain.ids import SoulId
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.engine.consolidation.draft_reader import with_answers
from soulmem.prompts.model_questions import QUESTIONS
from tests.engine.model_stage import ModelStage, read_of, talk
from tests.engine.stage import ME, ended

REWORDED = "Al spoke of word1 with silver lanterns and parrots."  # a quarter is in the lines
RETOLD = "Al said word1 beside silver lanterns."  # half of it


class Model:
    """A model with a share of right answers. `line`: what it answers to the check of its drafts."""

    def __init__(self, right: int, line: int = 1) -> None:
        self.right, self.line = right, line

    def __call__(self, prompt: Prompt) -> str:
        if prompt.name == "summary":
            return json.dumps({"summary": RETOLD})
        if prompt.name == "checking" and QUESTIONS["en"][0].statement in prompt.user:
            lines = [question.line for question in QUESTIONS["en"]]
            return json.dumps({"answers": lines[: self.right] + [9] * (6 - self.right)})
        if prompt.name == "checking":
            return json.dumps({"answers": [self.line]})
        number = read_of(prompt)[0][0]
        return json.dumps({"episodes": [{"lines": [number], "text": REWORDED}]})


async def played(model: Model) -> ModelStage:
    stage = ModelStage(model, asks_questions=True)
    await stage.start()
    await stage.soul()
    await stage.sync("c", talk(30))
    return stage


async def drafted(stage: ModelStage) -> Memory:
    every = [
        *await stage.drafted(),
        *await stage.drafted(MemoryState.WAITING),
    ]
    (memory,) = (memory for memory in every if memory.text == REWORDED)
    return memory


async def confidence(stage: ModelStage) -> float:
    memory = await drafted(stage)
    return (await stage.engine.memories.get(ME, memory.id)).confidence


async def summary_confidence(stage: ModelStage) -> float:
    drafted = await stage.drafted()
    (made,) = (memory for memory in drafted if memory.kind is MemoryKind.SUMMARY)
    return (await stage.engine.memories.get(ME, made.id)).confidence


async def test_a_new_model_is_asked_once() -> None:
    stage = await played(Model(6))
    await stage.rest()
    assert stage.calls == ["summary", "checking", "extraction", "checking"]
    report = await stage.engine.consolidator.usage_report(ME, SoulId("s1"))
    assert report.totals["test"].calls == 1
    assert report.totals["consolidation"].calls == 3
    await stage.restart()
    await stage.sync("c", talk(60))
    await stage.rest()
    assert "test" in report.totals
    report = await stage.engine.consolidator.usage_report(ME, SoulId("s1"))
    assert report.totals["test"].calls == 1
    await stage.stop()


async def test_a_job_makes_no_call_that_was_not_announced() -> None:
    stage = await played(Model(6))
    job = await stage.engine.jobs.ask(ME, "consolidate", SoulId("s1"), {})
    assert (await ended(stage, job)).result["calls"] == 2
    assert stage.calls == ["summary", "extraction"]
    await stage.stop()


@pytest.mark.parametrize(("line", "rises"), [(1, True), (0, False)])
async def test_a_capable_model_checks_its_drafts(line: int, rises: bool) -> None:
    unasked = await played(Model(6))
    job = await unasked.engine.jobs.ask(ME, "consolidate", SoulId("s1"), {})
    await ended(unasked, job)
    before = await confidence(unasked)
    await unasked.stop()
    stage = await played(Model(6, line))
    await stage.rest()
    after = await confidence(stage)
    expected = 1.0 - (1.0 - before) / 2 if rises else before / 2
    assert after == pytest.approx(expected)
    await stage.stop()


async def test_a_model_that_fails_is_read_strictly() -> None:
    stage = await played(Model(2))
    job = await stage.engine.jobs.ask(ME, "consolidate", SoulId("s1"), {})
    await ended(stage, job)
    plain = await confidence(stage)
    before = await summary_confidence(stage)
    await stage.stop()
    stage = await played(Model(2))
    await stage.rest()
    assert stage.calls == ["summary", "checking", "extraction"]  # it checks nothing
    assert await confidence(stage) < plain
    assert await summary_confidence(stage) < before
    await stage.stop()


def test_a_line_that_the_draft_does_not_cite_settles_nothing() -> None:
    fact = DraftFact("Al", "sold", "a boat", 0.5, 0.4, (3,), 0.5)
    (same,) = with_answers(Drafts(facts=(fact,)), [fact], [7]).facts
    assert same == fact
