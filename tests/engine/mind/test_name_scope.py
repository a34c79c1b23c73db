"""A learned name may be used where two accessible texts mention it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

import numpy as np

from soulmem.engine.mind.mind import Mind
from tests.engine.stage import Stage, line

TEXTS = ("Ask Kaelith.", "Where is Kaelith?", "Kaelith is here.", "Well.")


def usable(mind: Mind, hidden: Collection[int]) -> bool:
    """Whether the learned name may be used while these rows may not."""
    accessible = np.ones(mind.size, np.bool_)
    accessible[list(hidden)] = False
    mind.name_scope.hide_unsupported(accessible)
    return bool(accessible[mind.name_scope.rows(mind.size)].all())


async def test_two_texts_that_may_be_used_are_enough_and_one_is_not(
    stage: Stage,
) -> None:
    await stage.soul()
    texts = (*TEXTS, "Good night.")
    await stage.sync("c1", [line(f"k{i}", text) for i, text in enumerate(texts)])
    mind = await stage.mind()
    rows = await asyncio.to_thread(mind.name_scope.rows, mind.size)
    assert [mind.memory_at(int(row)).text for row in rows] == ["Kaelith"]
    keys = [await stage.find(f"Al: {text}") for text in TEXTS]
    mentions = [mind.row(key) for key in keys]
    assert None not in mentions
    first, second, third, other = (int(row or 0) for row in mentions)

    for hidden, is_usable in (
        ((), True),
        ((first,), True),
        ((other,), True),
        ((first, second), False),
        ((first, second, third), False),
    ):
        assert await asyncio.to_thread(usable, mind, hidden) is is_usable, hidden


async def test_without_learned_names_nothing_is_hidden(stage: Stage) -> None:
    await stage.soul()
    await stage.sync("c1", [line("k1", "Well."), line("k2", "Well, well.")])
    mind = await stage.mind()
    accessible = np.ones(mind.size, np.bool_)
    await asyncio.to_thread(mind.name_scope.hide_unsupported, accessible)
    assert accessible.all()
    assert (await asyncio.to_thread(mind.name_scope.rows, mind.size)).size == 0
