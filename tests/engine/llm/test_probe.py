"""The job `model_test` tells a good model from a bad, an unreachable and a missing one."""

from __future__ import annotations

import asyncio
import json

import pytest

from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import SoulId
from soulmem.domain.llm import Failure, LlmFailed, Prompt
from soulmem.engine.runtime.jobs import JobState
from soulmem.prompts.model_questions import QUESTIONS
from tests.engine.model_stage import ModelStage
from tests.engine.stage import ME, Stage, ended
from tests.fakes.llm import Reply

_SUMMED_UP = {
    "en": "Alice planted a rowan tree beside the mill.",
    "zh": "小雨在磨坊旁边种了一棵花楸树。",
}


_DRAFTED = {
    "en": {
        "lines": [1],
        "text": "Alice planted a rowan tree beside the mill.",
        "importance": 0.5,
    },
    "zh": {"lines": [1], "text": "小雨在磨坊旁边种了一棵花楸树。", "importance": 0.5},
}


def answers(language: str, right: int = 6) -> str:
    """Answers to the six questions, so many of them right."""
    lines = [question.line for question in QUESTIONS[language]]
    wrong = [line + 1 for line in lines[right:]]
    return json.dumps({"answers": lines[:right] + wrong})


def drafts(language: str) -> str:
    none: dict[str, list[object]] = {
        "facts": [],
        "concepts": [],
        "habits": [],
        "kinds": [],
    }
    return json.dumps({**none, "episodes": [_DRAFTED[language]]})


async def result_of(stage: Stage, language: str) -> dict[str, object]:
    """The result of the job."""
    job = await stage.engine.jobs.ask(ME, "model_test", SoulId("s1"), {"language": language})
    view = await ended(stage, job)
    assert view.state is JobState.DONE, view.error
    result: dict[str, object] = view.result
    return result


async def model_stage(*replies: Reply) -> ModelStage:
    """A stage with a model of this script."""
    stage = ModelStage(*replies)
    await stage.start()
    await stage.soul()
    return stage


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_good_model_sums_up_what_it_is_told(language: str) -> None:
    stage = await model_stage(
        json.dumps({"summary": _SUMMED_UP[language]}),
        drafts(language),
        answers(language),
    )
    result = await result_of(stage, language)
    assert result == {
        "state": "ok",
        "answer": _SUMMED_UP[language],
        "right": 6,
        "asked": 6,
        "model": "fake",
        "seconds": 0.0,
    }
    report = await stage.engine.consolidator.usage_report(ME, SoulId("s1"))
    assert (report.totals["test"].calls, "consolidation" in report.totals) == (3, False)
    await stage.stop()


@pytest.mark.parametrize(("right", "state"), [(0, "weak"), (4, "weak"), (5, "ok")])
async def test_right_answers_make_the_difference(right: int, state: str) -> None:
    stage = await model_stage(
        json.dumps({"summary": _SUMMED_UP["en"]}), drafts("en"), answers("en", right)
    )
    result = await result_of(stage, "en")
    assert (result["state"], result["right"]) == (state, right)
    trust = stage.engine.consolidator.trust
    assert trust.is_low(ME, "fake") is (state == "weak")
    await stage.restart()
    await stage.mind()
    assert stage.engine.consolidator.trust.right(ME, "fake") == right
    await stage.stop()


async def test_one_that_babbles_is_recognised() -> None:
    stage = await model_stage("{", '{"summary": "Bodo stole the moon from Cleopatra."}')
    result = await result_of(stage, "en")
    assert (result["state"], "answer" in result) == ("unreadable", False)
    assert len(stage.llm.asked) == 2
    assert stage.engine.consolidator.trust.is_low(ME, "fake")
    await stage.stop()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("refusal", ["Sorry, I cannot do that.", "抱歉，我不能这样做。", "{}"])
async def test_one_that_refuses_does_not_pass(language: str, refusal: str) -> None:
    for replies in (
        (refusal,),
        (json.dumps({"summary": _SUMMED_UP[language]}), refusal, refusal),
    ):
        stage = await model_stage(*replies)
        result = await result_of(stage, language)
        assert result["state"] == "unreadable"
        assert result["reason"]
        await stage.stop()


async def test_one_that_is_away_is_told_with_the_reason() -> None:
    stage = await model_stage(LlmFailed(Failure.UNREACHABLE, "the model fake cannot be reached"))
    result = await result_of(stage, "en")
    assert (result["state"], result["reason"]) == (
        "failed",
        "the model fake cannot be reached",
    )
    await stage.stop()


async def test_none_is_none() -> None:
    stage = Stage()
    await stage.start()
    await stage.soul()
    assert await result_of(stage, "en") == {"state": "off", "model": None}
    await stage.stop()


async def test_it_waits_for_the_reply_and_for_no_language_it_lacks() -> None:
    asked: list[bool] = []

    def answer(prompt: Prompt) -> str:
        asked.append(stage.engine.lifecycle.is_generating())
        return {
            "summary": json.dumps({"summary": _SUMMED_UP["en"]}),
            "extraction": drafts("en"),
            "checking": answers("en"),
        }[prompt.name]

    stage = await model_stage(answer)
    stage.engine.lifecycle.generating(ME, "c1", True)
    job = await stage.engine.jobs.ask(ME, "model_test", SoulId("s1"), {})
    for _ in range(20):
        await asyncio.sleep(0.005)
    assert stage.engine.jobs.get(ME, job).state is JobState.RUNNING
    assert asked == []
    stage.engine.lifecycle.generating(ME, "c1", False)
    assert (await ended(stage, job)).result["state"] == "ok"
    assert asked == [False, False, False]
    view = await ended(
        stage,
        await stage.engine.jobs.ask(ME, "model_test", SoulId("s1"), {"language": "elvish"}),
    )
    assert view.state is JobState.FAILED
    assert "en, zh" in str(view.error)
    with pytest.raises(Unprocessable):
        await stage.engine.jobs.ask(ME, "model_test", SoulId("s1"), {"word": "x"})
    await stage.stop()
