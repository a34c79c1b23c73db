"""Do scenes begin where time passes or the talk turns, and do those that stand stay?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np

from soulmem.domain.dialogue import SentMessage
from soulmem.domain.ids import SoulId
from soulmem.engine.api.requests import MemoryFilter
from soulmem.graph.vectors import VectorTable
from tests.engine.stage import ME, Stage, line
from tests.engine.views.test_people import START, told

_DIM = 16


async def scenes(stage: Stage) -> list[list[str]]:
    """The lines of each scene, in their order."""
    page = await stage.engine.memories.list(ME, MemoryFilter(SoulId("s1"), limit=200))
    page = await stage.engine.overviews.as_read(ME, SoulId("s1"), page)
    out: dict[str | None, list[str]] = {}
    for view in reversed(page.memories):
        out.setdefault(view.scene, []).append(view.memory.text.partition(": ")[2])
    return list(out.values())


async def embed(stage: Stage, subjects: Sequence[int]) -> None:
    """Give each line, in its order, a vector that is near to those of its subject."""
    mind = await stage.mind()
    rng = np.random.default_rng(3)
    table = VectorTable(_DIM)
    rows = sorted(range(len(subjects)), key=lambda row: mind.memory_at(row).happened)
    for row, subject in zip(rows, subjects, strict=True):
        vector = np.eye(_DIM)[subject] + rng.normal(0, 0.02, _DIM)
        table.put(row, (vector / np.linalg.norm(vector)).astype(np.float32))
    mind.vector_queue.text_vectors = table


async def tell(stage: Stage, messages: Sequence[SentMessage], chat: str = "a") -> None:
    """A whole chat: the last message may be swiped until it is closed."""
    await stage.sync(chat, messages)
    await stage.close(chat)


def texts(count: int) -> list[str]:
    return [f"We talk of thing {i}." for i in range(count)]


async def test_a_pause_ends_a_scene_and_so_does_the_end_of_a_chat(stage: Stage) -> None:
    later = [
        line(f"l{i}", f"Again {i}.", sent_at=START + timedelta(minutes=40 + i)) for i in range(2)
    ]
    await tell(stage, [*told(texts(3)), *later])
    await tell(stage, told(["Elsewhere."], "b"), "b")
    found = await scenes(stage)
    assert sorted(map(len, found)) == [1, 2, 3]
    assert ["Again 0.", "Again 1."] in found


async def test_a_scene_ends_where_the_talk_turns(stage: Stage) -> None:
    await tell(stage, told(texts(30)))
    assert [len(scene) for scene in await scenes(stage)] == [30], "without vectors"
    await embed(stage, [0] * 11 + [1] * 12 + [2] * 7)
    assert [len(scene) for scene in await scenes(stage)] == [11, 12, 7]


async def test_what_comes_later_moves_no_scene_far_before_it(stage: Stage) -> None:
    await tell(stage, told(texts(40)))
    subjects = [0] * 9 + [1] * 8 + [2] * 12 + [3] * 40
    await embed(stage, subjects[:40])
    before = await scenes(stage)
    await tell(stage, told(texts(69)))
    await embed(stage, subjects)
    after = await scenes(stage)
    assert [len(scene) for scene in before[:3]] == [9, 8, 12]
    assert after[:3] == before[:3]


async def test_a_talk_that_never_turns_is_cut_all_the_same(stage: Stage) -> None:
    await tell(stage, told(texts(101)))
    assert [len(scene) for scene in await scenes(stage)] == [40, 40, 21]
