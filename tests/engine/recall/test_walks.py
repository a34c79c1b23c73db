"""Walks of a soul do not keep its memory alive, and their graph fades behind an answer."""

from __future__ import annotations

import gc
from weakref import WeakKeyDictionary

from soulmem.domain.ids import SoulId
from soulmem.domain.soul import Soul
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.mind.mind import Mind
from soulmem.engine.params import EngineParams
from soulmem.engine.recall.walk_graph import WalkGraphParams
from soulmem.engine.recall.walks import WalkingParams, Walks
from tests.engine.stage import Stage, line


def test_walks_do_not_keep_the_memory_they_go_over() -> None:
    kept: WeakKeyDictionary[Mind, Walks] = WeakKeyDictionary()
    mind = Mind(Soul(SoulId("s"), "Mira"))
    kept[mind] = Walks(mind)
    kept[mind].refresh(0)
    assert len(kept) == 1
    del mind
    gc.collect()
    assert not kept


async def test_strengths_are_updated_behind_an_answer() -> None:
    """The recall itself walks on those of up to five exchanges ago."""
    walking = WalkingParams(graph=WalkGraphParams(many=0, step=1))
    stage = Stage(params=EngineParams(rest_by_itself=False, walking=walking))
    await stage.start()
    await stage.soul()
    await stage.note("The key is under the bridge.")
    await stage.sync("c1", [line("m1", "The key?"), line("m2", "Under the bridge.")])
    await stage.recall("Where is the key?", "c1", mode=RecallMode.WALK)
    graphs = stage.engine.recaller._walks[await stage.mind()]._graphs
    stage.clock.advance(30, turns=5)
    await stage.recall("Where is the key?", "c1", mode=RecallMode.WALK)
    await stage.engine.recaller.walk_renewal.stop()
    assert graphs._graph is not None
    assert graphs._built_for is not None
    assert graphs._built_for.faded == 1
    assert not graphs._is_behind
    await stage.stop()
