"""Topics of ordinary words as steps of spreading activation, with the reason, where the chat has learned them."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator

import pytest

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.memories import Memory, MemoryState
from soulmem.engine.api.requests import RecallMode, RecallType
from soulmem.engine.api.results import RecalledMemory
from tests.engine.stage import Stage, line

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries

# Of each circle the first and the last are never said together; what is told of the last, and asked of the first.
CIRCLES = {
    "en": (
        ("umbrella", "raincoat", "lantern", "puddle"),
        "The {} beside the {} again.",
        "My brother lost a ring in the puddle.",
        "Shall we get an umbrella?",
        '"umbrella" makes Mira think of',
    ),
    "zh": (
        ("雨伞", "雨衣", "胶鞋", "水坑"),
        "{}和{}。",
        "水坑弄丢了弟弟的戒指。",
        "要不要买把雨伞？",
        "「雨伞」让Mira想到",
    ),
}
FILL = [
    "The bus was late.",
    "Dinner was salty.",
    "公交车晚点。",
    "晚饭有点咸。",
]


def said(language: str, times: int = 4) -> list[str]:
    """Each two of the circle but the first and last, again and again, among small talk; then what is told."""
    circle, frame, told = CIRCLES[language][:3]
    texts: list[str] = []
    for _ in range(times):
        for first, second in itertools.combinations(circle, 2):
            if (first, second) == (circle[0], circle[-1]):
                continue
            texts += [frame.format(first, second), *FILL]
    return [*texts, told, *FILL, "."]


def messages_of(texts: list[str]) -> list[SentMessage]:
    roles = (Role.CHARACTER, Role.USER)
    return [line(f"m{i}", text, roles[i % 2]) for i, text in enumerate(texts)]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    new_stage = Stage()
    await new_stage.start()
    await new_stage.soul(forgetting=0.0)
    yield new_stage
    await new_stage.stop()


async def tell(stage: Stage, language: str) -> list[SentMessage]:
    messages = messages_of(said(language))
    await stage.sync("c1", messages, confirm=True)
    await stage.close("c1")
    await stage.engine.idle.run()
    return messages


async def topic_of(stage: Stage, word: str) -> Memory | None:
    """The topic in use with this word."""
    memories = (await stage.mind()).memories.values()
    topics = [m for m in memories if m.is_found_topic and word in m.tags]
    return next((m for m in topics if m.state is MemoryState.ACTIVE), None)


async def told_of(stage: Stage, language: str, chat: str = "c1") -> RecalledMemory | None:
    """What is told of the last of the circle, when the first is asked for."""
    _, _, told, query, _ = CIRCLES[language]
    answer = await stage.recall(
        query, chat, type=RecallType.QUIET, mode=RecallMode.SPREAD, max_items=50
    )
    return next((m for m in answer.memories if told in m.text), None)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_topic_leads_from_one_of_its_words_to_another_and_says_so(
    stage: Stage, language: str
) -> None:
    await tell(stage, language)
    circle, why = CIRCLES[language][0], CIRCLES[language][4]
    topic = await topic_of(stage, circle[0])
    assert topic is not None
    memory = await told_of(stage, language)
    assert memory is not None
    assert [step.label for step in memory.path[:3]] == [
        circle[0],
        topic.text,
        circle[3],
    ]
    assert [step.edge for step in memory.path] == [
        None,
        "topic_of",
        "topic_of",
        "mentions",
    ]
    assert memory.path[1].id == topic.id
    assert memory.why.startswith(why)
    assert topic.text in memory.why


async def test_a_branch_that_has_not_met_the_words_together_is_led_nowhere(
    stage: Stage,
) -> None:
    """The topic was found in another branch."""
    circle = CIRCLES["en"][0]
    told = messages_of([*said("en", 0)])
    await stage.sync("c1", told)
    more = [line(f"b{i}", text, Role.USER) for i, text in enumerate(said("en")[: -len(told)])]
    await stage.sync("c1", [*told, *more, line("b")])
    branch = [*told, line("k1", "An umbrella."), line("k2", "A puddle."), line("k3")]
    await stage.sync("c2", branch, parent=("c1", told[-1].slot))
    for chat in ("c1", "c2"):
        await stage.close(chat)
    await stage.engine.idle.run()
    assert await topic_of(stage, circle[0]) is not None
    learned = await told_of(stage, "en", "c1")
    assert learned is not None
    assert "topic_of" in str(learned.path)
    other = await told_of(stage, "en", "c2")
    assert other is None or "topic_of" not in str(other.path)


async def test_a_word_that_no_text_has_any_more_is_no_step(stage: Stage) -> None:
    messages = await tell(stage, "en")
    circle = CIRCLES["en"][0]
    rest = [m for m in messages if "lantern" not in (m.text or "")]
    await stage.sync("c1", rest, confirm=True)
    assert await topic_of(stage, circle[0]) is None
    memory = await told_of(stage, "en")
    assert memory is not None
    labels = [step.label for step in memory.path]
    assert labels[:-1] == [circle[0], "raincoat", circle[3]]
