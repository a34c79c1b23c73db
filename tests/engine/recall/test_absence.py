"""A name that is asked for and that nothing tells of is said to be unknown; nothing else is."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.domain.dialogue import Role
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.soul import SoulSettings
from soulmem.engine.api.requests import RecallRequest
from soulmem.engine.api.results import Recalled
from tests.engine.reflexes import PACKAGED
from tests.engine.stage import ME, Stage, line

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries

TOLD = (
    "Otmar taught me how to skate when I was small.",
    "Lunch was too salty today.",
    "The tram was late again.",
    "沈青禾小时候教过我吹口哨。",
    "午饭太咸了。",
)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A soul that knows Otmar and 沈青禾."""
    made = Stage(fallback=PACKAGED, judges_lines=True)
    await made.start()
    await made.soul()
    await made.sync("c1", [line(f"m{i}", text) for i, text in enumerate(TOLD)])
    await made.close("c1")
    await made.engine.embedding.wait_pending()
    yield made
    await made.stop()


def absence(answer: Recalled) -> str:
    """What the block of unknown things says; nothing without one."""
    return "".join(block.text for block in answer.blocks if block.section == "absence")


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Do you remember Velimir?", "Velimir"),
        ("The rain stopped. Who is Velimir?", "Velimir"),
        ("你还记得陆远山吗？", "陆远山"),
        ("你还记得韩长风吗？", "韩长风"),  # its given name is a word, too
        ("你还记得顾青禾吗？", "顾青禾"),  # another of that given name is known
        ("你记得陆若水吧？", "陆若水"),  # its end and the question's are a word
        ("秦如眉后来怎么样了？", "秦如眉"),  # a word of grammar is in it
        ("你认识江青河吗？", "江青河"),  # another name is in it
    ],
)
async def test_a_name_that_nothing_tells_of_is_said_to_be_unknown(
    stage: Stage, question: str, name: str
) -> None:
    answer = await stage.recall(question)
    assert absence(answer).splitlines()[-1] == name
    assert absence(answer).startswith("[Mira")
    assert answer.tokens >= sum(block.tokens for block in answer.blocks) > 0


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember Otmar?",
        "你还记得沈青禾吗？",
        "你还记得青禾吗？",
        "你还喜欢黄午饭吗？",  # what looks like a given name is known
        "石头路好走吗？",
        "A certain Velimir sold me these pears.",
        "What would you like to do now?",
        "Velimir sold me these pears. Shall we sit down?",
        "Do you remember Mira?",
        "What about Velimir?",  # may be a proposal
        "「红叶楼」怎么样了？",
    ],
)
async def test_what_is_known_and_what_is_only_told_is_not(stage: Stage, text: str) -> None:
    assert absence(await stage.recall(text)) == ""


async def test_a_question_that_was_asked_before_tells_of_nobody(stage: Stage) -> None:
    question = "Do you remember Velimir?"
    asked = [line(f"m{i}", text) for i, text in enumerate(TOLD)]
    asked += [line("q", question), line("a", "Hm, no.", Role.CHARACTER)]
    await stage.sync("c1", [*asked, *[line(f"n{i}", "All right.") for i in range(4)]])
    await stage.engine.embedding.wait_pending()
    assert "Velimir" in absence(await stage.recall(question))


async def test_a_name_that_the_prompt_says_is_known(stage: Stage) -> None:
    lines = [line(f"m{i}", text) for i, text in enumerate(TOLD)]
    lines += [line("v", "Velimir waits outside."), line("q", "Who is Velimir?")]
    await stage.sync("c1", lines)
    answer = await stage.engine.recaller.recall(
        ME, RecallRequest(SoulId("s1"), ChatId("c1"), context_from=SlotId("v"))
    )
    assert absence(answer) == ""


async def test_it_can_be_switched_off(stage: Stage) -> None:
    await stage.engine.souls.put(
        ME, SoulId("s1"), "Mira", (), SoulSettings(sections_off=("absence",))
    )
    assert absence(await stage.recall("Do you remember Velimir?")) == ""


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("what did Velimir teach you", 0),
        ("What did Velimir teach you when you were small?", 0),
        ("陆远山小时候教过你什么？", 0),
        ("Did Otmar and Velimir teach you how to skate?", 1),
    ],
)
async def test_what_is_asked_of_somebody_unknown_brings_nothing_of_others(
    stage: Stage, question: str, told: int
) -> None:
    await stage.soul(restraint=1.0)
    answer = await stage.recall(question)
    assert absence(answer)
    assert bool(answer.memories) == bool(told)


async def test_of_whom_only_a_question_is_kept_that_comes(stage: Stage) -> None:
    await stage.sync("c2", [line("q1", "Do you still know the tale of Velimir?")])
    await stage.close("c2")
    await stage.engine.embedding.wait_pending()
    await stage.soul(restraint=1.0)
    answer = await stage.recall("What do you know about Velimir?")
    assert "Velimir" in absence(answer)
    assert any("Velimir" in memory.text for memory in answer.memories)
