"""The mood of a chat, stated or felt, decides between memories that are equal otherwise."""

from __future__ import annotations

import pytest

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.situation import Emotion, Situation
from soulmem.engine.api.requests import MemoryPatch
from tests.engine.stage import ME, Stage, line


@pytest.mark.parametrize("label", ["joy", "anger"])
@pytest.mark.parametrize("stated", [False, True])
async def test_what_fits_the_mood_comes_first(stage: Stage, label: str, stated: bool) -> None:
    """Without a mood in the request, the feelings of the chat's last memories make it."""
    await stage.soul(forgetting=0.0)
    made: dict[str, MemoryId] = {}
    for feeling, name in (("joy", "Anna"), ("anger", "Boris")):
        felt = Situation(emotions=(Emotion(feeling, 0.6),))
        text = f"I met {name} at the mill."
        made[feeling] = (await stage.note(text, kind=MemoryKind.EPISODE, situation=felt)).memory.id
    await stage.sync("c1", [line("m1", "Good evening."), line("m2", "Sit down.")])
    mood = Emotion(label, 0.9)
    if not stated:
        last = await stage.find("Al: Good evening.")
        await stage.engine.memories.patch(
            ME, last, MemoryPatch(situation=Situation(emotions=(mood,)))
        )
    answer = await stage.recall("Whom did I meet at the mill?", "c1", mood=mood if stated else None)
    met = [memory.id for memory in answer.memories if memory.id in made.values()]
    assert met[0] == made[label]
