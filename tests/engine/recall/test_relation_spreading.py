"""Relations pass activation on by what they say and what the query asks."""

from __future__ import annotations

import pytest

from soulmem.domain.edges import EdgeKind
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import NewEdge, RecallMode
from tests.engine.recall.test_activation import apart, messages_of
from tests.engine.stage import Stage


@pytest.mark.parametrize(
    ("names", "verbs", "texts", "why", "plain"),
    [
        (
            ("Lukas", "flood", "goose"),
            ("because of", "fears"),
            ("Lukas came late.", "The flood took the bridge.", "A goose bit a boy."),
            "Why is Lukas so quiet?",
            "Is Lukas so quiet?",
        ),
        (
            ("卢卡斯", "洪水", "大鹅"),
            ("因为", "害怕"),
            ("卢卡斯来晚了。", "洪水冲走了桥。", "大鹅咬了邮差。"),
            "卢卡斯为什么不说话？",
            "卢卡斯不说话吗？",
        ),
    ],
)
async def test_a_question_why_prefers_the_causal_relation(
    stage: Stage,
    names: tuple[str, str, str],
    verbs: tuple[str, str],
    texts: tuple[str, str, str],
    why: str,
    plain: str,
) -> None:
    """Of a causal and another relation the other is a little stronger: asked why, the cause comes first."""
    who, cause, other = names
    await stage.sync("c1", messages_of(apart(list(texts))))
    edges = []
    for name, verb, strength in ((cause, verbs[0], 0.6), (other, verbs[1], 0.7)):
        concept = (await stage.note(name, kind=MemoryKind.CONCEPT)).memory
        edge = NewEdge(
            EdgeKind.RELATES,
            to=concept.id,
            verb=verb,
            strength=strength,
            confidence=1.0,
        )
        edges.append(edge)
    await stage.note(who, kind=MemoryKind.CONCEPT, edges=tuple(edges))

    async def first(query: str) -> str:
        answer = await stage.recall(query, mode=RecallMode.SPREAD, max_items=20)
        told = [m.text for m in answer.memories if m.kind == "episode"]
        return next(t for t in told if cause in t or other in t)

    assert texts[1] in await first(why)
    assert texts[2] in await first(plain)
