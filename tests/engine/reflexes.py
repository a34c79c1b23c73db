"""Reflexes of a soul made by hand, and what an answer holds of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from soulmem.domain.dialogue import Role
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import NewEdge
from soulmem.engine.api.results import Recalled, RecalledMemory
from soulmem.engine.params import EngineParams
from soulmem.engine.recall.context import RecallParams
from soulmem.engine.vectors.embedder import ModelSource
from tests.engine.stage import Stage, line
from tests.packaged import the_encoder

PACKAGED = ModelSource("packaged", lambda: True, the_encoder)
STORY = [
    line("m1", "Good evening, Mira."),
    line("m2", "Good evening.", Role.CHARACTER),
    line("m3", "Shall we eat?"),
]
# situation, action, near cue, talk about something else
REFLEXES = {
    "en": (
        "a stranger stares at her",
        "pulls her hood up",
        "That stranger keeps staring.",
        "Pass me the salt.",
    ),
    "zh": (
        "陌生人盯着她看",
        "把兜帽拉起来",
        "那个陌生人一直盯着你看。",
        "把盐递给我。",
    ),
}
SECRET = "NEVER-TOLD"
PATIENT = RecallParams(time_budget_ms=20_000)  # a busy machine takes its time to load the model


async def opened(model: ModelSource | None) -> Stage:
    """A stage with a soul and a short chat, its model loaded."""
    stage = Stage(fallback=model, params=EngineParams(rest_by_itself=False, recall=PATIENT))
    await stage.start()
    await stage.soul()
    await stage.sync("c1", STORY)
    await stage.engine.idle.run()
    return stage


async def made(
    stage: Stage,
    text: str,
    kind: MemoryKind,
    edges: Iterable[NewEdge] = (),
    **more: Any,
) -> MemoryId:
    """A memory made by hand."""
    return (await stage.note(text, kind=kind, edges=tuple(edges), **more)).memory.id


async def reflex(
    stage: Stage,
    situation: str | MemoryId,
    actions: Sequence[tuple[str, float]],
    kind: MemoryKind = MemoryKind.ABSTRACT_EPISODE,
    name: str = SECRET,
    **more: Any,
) -> list[MemoryId]:
    """The actions of a new trigger of that situation, by text or an id that is there."""
    is_known = situation in (await stage.mind()).memories
    scene = MemoryId(situation) if is_known else await made(stage, situation, kind)
    ids = [await made(stage, text, MemoryKind.ACTION) for text, _ in actions]
    fires = [
        NewEdge(EdgeKind.FIRES, to=i, probability=p) for i, (_, p) in zip(ids, actions, strict=True)
    ]
    edges = [NewEdge(EdgeKind.TRIGGERS, source=scene), *fires]
    await made(stage, name, MemoryKind.TRIGGER, edges, **more)
    return ids


def fired(answer: Recalled) -> list[str]:
    """Texts of the actions that fire."""
    return [m.text for m in answer.memories if m.fired]


def section(answer: Recalled, name: str) -> list[str]:
    """Texts of the items of a section."""
    return [item.text for block in answer.blocks if block.section == name for item in block.items]


def the(answer: Recalled, memory: MemoryId) -> RecalledMemory:
    """The one recalled memory of that id."""
    (found,) = [m for m in answer.memories if m.id == memory]
    return found
