"""A habit of meeting somebody fires when he is here, not when he is only talked about."""

from __future__ import annotations

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryKind
from soulmem.domain.soul import KnownName, SoulSettings
from soulmem.engine.api.requests import NewEdge, NewMemory
from soulmem.engine.params import EngineParams
from soulmem.engine.vectors.kind_keeper import KindKeeper
from tests.engine.reflexes import PACKAGED, PATIENT
from tests.engine.stage import ME, Stage

pytestmark = pytest.mark.timeout(60)  # the first recall reads dictionaries

# Situation, lines in which he is here, lines that only talk of him
EN = (
    "meeting {}",
    (
        "{} walks up to you.",
        "Look, there is {}, right over there!",
        "{} blocks your way and smiles at you.",
    ),
    (
        "I got a letter from {} yesterday.",
        "What does {} do for a living?",
        "My aunt was once married to {}.",
    ),
)
ZH = (
    "\u9047\u5230{}",
    (
        "{}\u671d\u4f60\u8d70\u8fc7\u6765\u4e86\u3002",
        "\u5ffd\u7136{}\u7ad9\u5728\u6211\u4eec\u9762\u524d\u3002",
    ),
    (
        "\u6211\u6628\u5929\u6536\u5230{}\u7684\u4e00\u5c01\u4fe1\u3002",
        "{}\u662f\u505a\u4ec0\u4e48\u7684\uff1f",
    ),
)


async def met(name: str, situation: str) -> Stage:
    """A stage whose soul has a habit of meeting somebody of that name; the model has just been loaded."""
    params = EngineParams(recall=PATIENT)
    stage = Stage(fallback=PACKAGED, judges_lines=True, params=params)
    await stage.start()
    soul = SoulId("s1")
    await stage.engine.souls.put(ME, soul, "Mira", (KnownName(name),), SoulSettings())

    async def make(kind: MemoryKind, text: str, *edges: NewEdge) -> None:
        new = NewMemory(soul=soul, kind=kind, text=text, edges=edges)
        made.append((await stage.engine.memories.create(ME, new)).memory.id)

    made: list[MemoryId] = []
    await make(MemoryKind.ACTION, "hides both hands in the sleeves")
    await make(MemoryKind.ABSTRACT_EPISODE, situation)
    await make(
        MemoryKind.TRIGGER,
        f"{situation}!",
        NewEdge(EdgeKind.TRIGGERS, source=made[1]),
        NewEdge(EdgeKind.FIRES, made[0], probability=1.0),
    )
    return stage


async def fires(stage: Stage, text: str) -> bool:
    """Whether the habit fires at a line."""
    return any(m.fired for m in (await stage.recall(text)).memories)


# To the packaged encoder some names sound like talk, some like a meeting, some like nothing of the kind.
@pytest.mark.parametrize(
    ("name", "texts"),
    [("Kaldor", EN), ("Fenard", EN), ("Isble", EN)]
    + [(name, ZH) for name in ("\u5b59\u77e5\u8fdc", "\u7a0b\u7d20\u5fc3")],
)
async def test_a_habit_of_meeting_somebody_fires_when_he_is_here(
    name: str, texts: tuple[str, tuple[str, ...], tuple[str, ...]]
) -> None:
    situation, here, absent = texts
    stage = await met(name, situation.format(name))
    await stage.engine.embedding.wait_pending()
    await stage.engine.idle.run()
    lines = [line.format(name) for line in (*here, *absent)]
    fired = [line for line in lines if await fires(stage, line)]
    assert fired == lines[: len(here)]
    await stage.stop()


async def test_words_tell_before_the_kinds_of_the_model_are_fitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = await met("Kaldor", "meeting Kaldor")
    monkeypatch.setattr(KindKeeper, "judge", lambda keeper, embedder: None)
    assert await fires(stage, "Kaldor walks up to you.")
    assert not await fires(stage, "What does Kaldor do for a living?")
    await stage.stop()
