"""Which edges of a bundle are taken in."""

from __future__ import annotations

import pytest

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Origin
from soulmem.domain.soul import Soul
from soulmem.engine.exchange.bundle_plan import StoredState, _step_of_edge
from tests.fakes.clock import StillClock

SOUL = SoulId("s1")
STORED = {MemoryId("stored"), MemoryId("forgotten")}
STATE = StoredState(
    Soul(SOUL, "Mira"), STORED, set(), set(), {}, {}, forgotten={MemoryId("forgotten")}
)


@pytest.mark.parametrize(
    ("source", "target", "step"),
    [
        ("new", "stored", 3),
        ("new", "newer", 4),
        ("new", "forgotten", -1),  # the store takes no edge to it
        ("new", "missing", -1),
        ("stored", "stored", -1),  # there the user decides
    ],
)
def test_an_edge_comes_with_the_later_of_its_ends(source: str, target: str, step: int) -> None:
    ends = MemoryId(source), MemoryId(target)
    moment = StillClock().now()
    edge = Edge(SOUL, *ends, EdgeKind.ASSOCIATES, Origin.USER, moment, strength=0.5)
    assert _step_of_edge(edge, {"new": 3, "newer": 4}, STATE) == step
