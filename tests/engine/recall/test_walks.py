"""Walks of a soul do not keep its memory alive."""

from __future__ import annotations

import gc
from weakref import WeakKeyDictionary

from soulmem.domain.ids import SoulId
from soulmem.domain.soul import Soul
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.walks import Walks


def test_walks_do_not_keep_the_memory_they_go_over() -> None:
    kept: WeakKeyDictionary[Mind, Walks] = WeakKeyDictionary()
    mind = Mind(Soul(SoulId("s"), "Mira"))
    kept[mind] = Walks(mind)
    kept[mind].refresh(0)
    assert len(kept) == 1
    del mind
    gc.collect()
    assert not kept
