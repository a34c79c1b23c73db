"""Does each name of somebody bring what the chat says of them under another?"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from soulmem.domain.dialogue import Role
from soulmem.engine.api.requests import MemoryPatch
from tests.engine.reflexes import PACKAGED
from tests.engine.stage import ME, Stage, line

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries

STORY = (
    "My friend Tobias is a dentist in Leeds.",
    "Is he good at it?",
    "Tobias is afraid of pigeons, he crosses the street when he sees one.",
    "Then he must never come to this harbour.",
    "我有个朋友叫周屿，在长沙当牙医。",
    "他手艺好吗？",
    "周屿特别怕鸽子，看见就绕着街走。",
    "那他千万别来这个码头。",
    "The tide is low today.",
    "Hm.",
)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """Tobias was renamed Theo by hand, and 周屿 陈江."""
    made = Stage(fallback=PACKAGED, judges_lines=True)
    await made.start()
    await made.soul(restraint=1.0)
    roles = (Role.USER, Role.CHARACTER)
    told = [line(f"m{i}", text, roles[i % 2]) for i, text in enumerate(STORY)]
    await made.sync("c1", told)
    await made.close("c1")
    await made.engine.embedding.wait_pending()
    mind = await made.mind()
    for former, name in (("Tobias", "Theo"), ("周屿", "陈江")):
        (key,) = mind.names.spot(former)
        await made.engine.memories.patch(ME, key, MemoryPatch(text=name))
    yield made
    await made.stop()


@pytest.mark.parametrize(
    ("asked", "answer", "names"),
    [
        ("How is Theo doing?", STORY[0], "Theo is also called Tobias"),
        ("What is Tobias afraid of?", STORY[2], "Theo is also called Tobias"),
        ("陈江最近怎么样？", STORY[6], "陈江又名周屿"),
    ],
)
async def test_a_new_name_brings_what_was_said_under_the_former_one(
    stage: Stage, asked: str, answer: str, names: str
) -> None:
    told = [memory.text for memory in (await stage.recall(asked)).memories]
    assert f"Al: {answer}" in told
    assert names in told
