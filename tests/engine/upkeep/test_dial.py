"""The forgetting setting sets how fast links fade: 0 never, 2 twice as fast."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from math import exp

import pytest

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.soul import Soul, SoulSettings
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind

SOUL = SoulId("s")
NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize("dial", [0.0, 0.5, 1.0, 2.0])
def test_links_fade_at_the_pace_of_the_dial(dial: float) -> None:
    mind = Mind(Soul(SOUL, "Mira", settings=SoulSettings(forgetting=dial)))
    ends = tuple(
        Memory(MemoryId(key), SOUL, MemoryKind.NOTE, key, Origin.USER, NOW) for key in "ab"
    )
    edge = Edge(
        SOUL,
        ends[0].id,
        ends[1].id,
        EdgeKind.ASSOCIATES,
        Origin.USER,
        NOW,
        strength=0.8,
        at_turn=0.0,
    )
    step = replace(edge, kind=EdgeKind.INSTANCE_OF)
    mind.apply(MindChange(ends, put_edges=(edge, step)))
    expected = 0.8 * exp(-dial * 150 / edge.stability)
    arrays = mind.edges.arrays([EdgeKind.ASSOCIATES])
    assert mind.edge_strengths(arrays, 150).tolist() == pytest.approx([expected])
    assert mind.edge_strength(edge, 150) == pytest.approx(expected)
    assert mind.edge_strength(step, 150) == 0.8
