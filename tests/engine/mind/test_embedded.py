"""Which texts want a vector is told as of a list, and takes no room once none do."""

from __future__ import annotations

import sys

import numpy as np

from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.vector_queue import Embedded, TextKey
from soulmem.graph.pairs import Pairs
from soulmem.graph.rows import Rows


def embedded(count: int) -> Embedded:
    rows: Rows[MemoryId] = Rows()
    for number in range(count):
        rows.add(MemoryId(f"m{number}"))
    pairs = Pairs(rows)
    pairs.tell((MemoryId("m0"), MemoryId("m1")))

    def said(key: TextKey) -> str:
        return str(key)

    out = Embedded(rows, pairs, said, lambda _: True)
    out.use_model(2, "small")
    return out


def test_those_asked_for_are_wanted_no_more_and_what_they_took_is_given_back() -> None:
    held, vector = embedded(1000), np.asarray([1.0, 0.0], np.float32)
    while wanted := held.wanted(300):
        held.take((one, vector) for one in wanted[:-1])
        held.forget(wanted[-1].key, None)
    assert held.missing() == []
    assert sys.getsizeof(held._wanted) < 1000
    held.want(MemoryId("m7"))
    assert [one.key for one in held.wanted(9)] == ["m7"]
    assert held.pending() == 1


def test_a_large_list_is_let_go_when_its_last_text_goes() -> None:
    held = embedded(1000)
    for key in held.missing():
        assert held.missing()
        held.forget(key, None)
    assert (held.missing(), sys.getsizeof(held._wanted) < 1000) == ([], True)
