"""What is loaded of a large soul: complete memories have all their edges, and only what is needed stays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Origin
from soulmem.graph.edge_table import EdgeTable
from soulmem.graph.residency import LINKS, Residency
from soulmem.graph.row_numbers import Rows
from tests.engine.web import key, links
from tests.examples import few
from tests.fakes.store import page_of

COUNT = 8
UNUSED = 20
ends = st.integers(0, COUNT - 1)
kinds = st.sampled_from([*LINKS, EdgeKind.RELATES])


class Machine(RuleBasedStateMachine):
    """A store, a table that holds a part of it, and what is said of that part."""

    def __init__(self) -> None:
        super().__init__()
        rows: Rows[MemoryId] = Rows()
        for n in range(COUNT):
            rows.add(key(n))
        self.table = EdgeTable(SoulId("s"), rows)
        self.known = Residency()
        self.turn = 0
        self.stored: dict[str, Edge] = {}
        self.used: dict[int, int] = {}  # of complete rows, the turn of their last use

    @initialize(pairs=st.lists(st.tuples(ends, ends, kinds), max_size=40, unique=True))
    def open(self, pairs: list[tuple[int, int, EdgeKind]]) -> None:
        (like,) = links([(0, 0)], 1)
        for memory, two, kind in pairs:
            edge = Edge(like.soul, key(memory), key(two), kind, Origin.CHAT, like.touched)
            self.stored[edge.id] = edge
        self.known.mark_partial(COUNT)
        self.table.load(page_of([e for e in self.stored.values() if e.kind is EdgeKind.RELATES]))

    def around(self, row: int) -> set[str]:
        return {name for name, e in self.stored.items() if key(row) in (e.source, e.target)}

    @rule(rows=st.sets(ends, min_size=1))
    def read(self, rows: set[int]) -> None:
        wanted = {name for row in rows for name in self.around(row)} - set(self.table)
        self.table.load(page_of([self.stored[name] for name in wanted]))
        self.known.mark_loaded(sorted(rows), self.turn)
        self.used.update(dict.fromkeys(rows, self.turn))

    @rule(row=ends)
    def use(self, row: int) -> None:
        self.known.mark_used([row], self.turn)
        if row in self.used:
            self.used[row] = self.turn

    @rule(turns=st.sampled_from([1, UNUSED - 1, UNUSED]))
    def live(self, turns: int) -> None:
        self.turn += turns

    @rule(memory=ends, two=ends)
    def link(self, memory: int, two: int) -> None:
        (edge,) = links([(memory, two)], 1)
        self.stored[edge.id] = edge
        self.table.put(edge)

    @rule(row=ends)
    def made_anew(self, row: int) -> None:
        """The memory of the row is gone, and the row is another's."""
        self.table.drop_of(key(row))
        for name in self.around(row):
            del self.stored[name]
        self.known.reset_row(row)
        self.used[row] = self.turn
        self.known.mark_used([row], self.turn)

    @rule(most=st.integers(0, 40), hot=st.sets(ends, max_size=2))
    def release(self, most: int, hot: set[int]) -> None:
        stays = self.staying(most, hot)
        before = len(self.table)
        released = self.known.release(
            self.table, COUNT, self.turn, unused=UNUSED, most=most, hot=hot
        )
        assert len(self.table) == before - released
        self.used = {row: index for row, index in self.used.items() if row in stays}

    def staying(self, most: int, hot: set[int]) -> set[int]:
        """The rows that stay complete: one age after the other goes, as long as there are too many edges."""
        stays = {
            row for row, index in self.used.items() if row in hot or self.turn - index < UNUSED
        }
        for age in sorted({self.used[row] for row in stays - hot} - {self.turn}):
            kept = {name for row in stays for name in self.around(row)}
            if sum(name in kept or e.kind not in LINKS for name, e in self.table.items()) <= most:
                break
            stays -= {row for row in stays - hot if self.used[row] == age}
        return stays

    @invariant()
    def complete_rows_have_all_their_edges(self) -> None:
        complete = {row for row in range(COUNT) if self.known.is_complete(row)}
        assert complete == set(self.used)
        boundary = self.known.boundary(COUNT)
        assert boundary is not None
        assert boundary[sorted(set(range(COUNT)) - complete)].all()
        for row in complete:
            assert self.around(row) <= set(self.table)

    @invariant()
    def nothing_is_there_that_is_not_stored(self) -> None:
        assert set(self.table) <= set(self.stored)
        relations = {name for name, edge in self.stored.items() if edge.kind is EdgeKind.RELATES}
        assert relations <= set(self.table)


TestResidency = pytest.mark.timeout(60)(Machine.TestCase)
TestResidency.settings = few(30, stateful_step_count=20)


def test_a_whole_soul_has_no_boundary() -> None:
    rows = Residency()
    assert rows.boundary(5) is None
    assert rows.is_complete(3)
    np.testing.assert_array_equal(rows.mentions(4, np.asarray([1, 1, 3])), [0, 2, 0, 1])


def test_texts_are_counted_once() -> None:
    rows: Rows[MemoryId] = Rows()
    for n in range(4):
        rows.add(key(n))
    table, known_rows = EdgeTable(SoulId("s"), rows), Residency()
    (like,) = links([(0, 0)], 1)
    table.load(
        page_of(
            [
                Edge(
                    like.soul,
                    key(text),
                    key(3),
                    EdgeKind.MENTIONS,
                    Origin.CHAT,
                    like.touched,
                )
                for text in range(3)
            ]
        )
    )
    known_rows.mark_partial(4)
    known_rows.mark_loaded([0, 3], 1)
    assert list(known_rows.texts_to_count(table, [3])) == [1, 2]
    known_rows.set_mention_counts([1, 2], [5, 7])
    known_rows.mark_weighed([3])
    assert list(known_rows.texts_to_count(table, [3])) == []
    np.testing.assert_array_equal(known_rows.mentions(4, np.asarray([0, 1, 2])), [1, 5, 7, 0])
    boundary = known_rows.boundary(4)
    assert boundary is not None
    assert list(boundary) == [
        True,
        True,
        True,
        False,
    ]  # nobody has counted what the first is mentioned by
