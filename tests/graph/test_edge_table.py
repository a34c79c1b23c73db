"""The table of edges does what a dictionary of them would."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import product

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from soulmem.domain.calendar import EPOCH, MICROSECOND
from soulmem.domain.edges import DECAYING, Edge, EdgeKind, EdgePage
from soulmem.domain.forgetting_curve import Decay
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Origin
from soulmem.graph.columns import microseconds
from soulmem.graph.edge_arrays import EDGE_KINDS
from soulmem.graph.edge_table import EdgeTable
from soulmem.graph.latest_mentions import LATEST
from soulmem.graph.row_numbers import Rows
from tests.examples import few

MEMORIES = tuple(MemoryId(f"m{n}") for n in range(9))
NOON = datetime(2026, 3, 1, 12, 0, 0, 123457, timezone(timedelta(hours=8)))

shares = st.floats(0.0, 1.0)
edges = st.builds(
    Edge,
    soul=st.just(SoulId("s")),
    source=st.sampled_from(MEMORIES),
    target=st.sampled_from(MEMORIES),
    kind=st.sampled_from(EdgeKind),
    origin=st.sampled_from(Origin),
    touched=st.datetimes(timezones=st.just(timezone.utc)),
    strength=shares,
    confidence=shares,
    stability=st.floats(1e-3, 1e9),
    uses=st.integers(0, 2**32 - 1),
    verb=st.sampled_from([None, "", "loves", "爱"]),
    probability=st.none() | shares,
    at_turn=st.none() | st.floats(-10, 1e6),
    made=st.none() | st.integers(0, 2**52).map(lambda n: EPOCH + n * MICROSECOND),
)


def table() -> EdgeTable:
    rows: Rows[MemoryId] = Rows()
    rows.add(MemoryId("gone"))
    for memory in MEMORIES:
        rows.add(memory)
    rows.drop(MemoryId("gone"))
    return EdgeTable(SoulId("s"), rows)


def page(of: Iterable[Edge]) -> EdgePage:
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    items = list(of)
    return EdgePage(
        id=[e.id for e in items],
        source=[e.source for e in items],
        target=[e.target for e in items],
        kind=[e.kind.value for e in items],
        origin=[e.origin.value for e in items],
        touched=[(e.touched - epoch) // timedelta(microseconds=1) for e in items],
        strength=[e.strength for e in items],
        confidence=[e.confidence for e in items],
        stability=[e.stability for e in items],
        uses=[e.uses for e in items],
        verb=[e.verb for e in items],
        probability=[e.probability for e in items],
        at_turn=[e.at_turn for e in items],
        made=[
            None if e.made is None else (e.made - epoch) // timedelta(microseconds=1) for e in items
        ],
    )


class Machine(RuleBasedStateMachine):
    """Any series of changes, against a dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.table = table()
        self.model: dict[str, Edge] = {}

    @initialize(first=st.lists(edges, max_size=40, unique_by=lambda e: e.id))
    def load_first(self, first: list[Edge]) -> None:
        self.load(first)

    @rule(more=st.lists(edges, max_size=20, unique_by=lambda e: e.id))
    def load(self, more: list[Edge]) -> None:
        new = [e for e in more if e.id not in self.model]
        self.table.load(page(new))
        self.model.update((e.id, e) for e in new)

    @rule(edge=edges)
    def put(self, edge: Edge) -> None:
        before = self.table.revision
        self.table.put(edge)
        self.model[edge.id] = edge
        assert self.table.revision > before

    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from([*self.model, "unknown"]))
        before = self.table.revision
        self.table.drop(key)
        assert (self.table.revision > before) is (key in self.model)
        self.model.pop(key, None)

    @rule(memory=st.sampled_from(MEMORIES))
    def drop_of(self, memory: MemoryId) -> None:
        self.table.drop_of(memory)
        self.model = {key: e for key, e in self.model.items() if memory not in (e.source, e.target)}

    @rule(data=st.data())
    def keep(self, data: st.DataObject) -> None:
        kept = data.draw(st.sets(st.sampled_from([*self.model])) if self.model else st.just(set()))
        slots = self.table.arrays().slot
        before = self.table.revision
        self.table.keep(slots[[self.table.edge_at(int(slot)).id in kept for slot in slots]])
        assert self.table.revision > before
        self.model = {key: e for key, e in self.model.items() if key in kept}

    @rule()
    def put_away_and_fetched(self) -> None:
        """As through a file; what is packed is not changed by what comes later."""
        item = edge("m0", "m1", EdgeKind.RELATES, verb="one more")
        packed = self.table.packed()
        copied = {name: array.copy() for name, array in packed.items()}
        self.table.put(item)
        self.table.drop(item.id)
        for name, array in copied.items():
            assert np.array_equal(array, packed[name], equal_nan=array.dtype.kind == "f"), name
        self.table = table()
        self.table.restore(packed)

    @rule(memory=st.sampled_from(MEMORIES), kind=st.sampled_from(EdgeKind))
    def of_a_kind(self, memory: MemoryId, kind: EdgeKind) -> None:
        edges_found = sorted(e.id for e in self.table.of(memory, kind))
        ends = {key: (e.source, e.target) for key, e in self.model.items() if e.kind is kind}
        assert edges_found == sorted(
            key for key, both_kinds in ends.items() if memory in both_kinds
        )

    @invariant()
    def says_the_same(self) -> None:
        assert len(self.table) == len(self.model)
        assert dict(self.table) == self.model
        assert sorted(e.id for e in self.table.every()) == sorted(self.model)
        for memory in MEMORIES:
            edges_found = [e.id for e in self.table.of(memory)]
            rows = [key for key, e in self.model.items() if memory in (e.source, e.target)]
            assert sorted(edges_found) == sorted(rows)
        for edge in self.model.values():
            assert self.table.find(edge.kind, edge.source, edge.target, edge.verb) == edge
        assert "unknown" not in self.table
        some = MEMORIES[::2]
        among = [key for key, e in self.model.items() if e.source in some and e.target in some]
        assert sorted(e.id for e in self.table.between([*some, MemoryId("unknown")])) == sorted(
            among
        )

    @invariant()
    def arrays_say_the_same(self) -> None:
        arrays = self.table.arrays()
        edges_found = {}
        for i, slot in enumerate(arrays.slot):
            edge = self.table.edge_at(int(slot))
            edges_found[edge.id] = edge
            assert self.table._end(arrays.source[i]) == edge.source
            assert self.table._end(arrays.target[i]) == edge.target
            assert EDGE_KINDS[arrays.kind[i]] is edge.kind
            assert (arrays.strength[i], arrays.confidence[i]) == (
                edge.strength,
                edge.confidence,
            )
            assert (arrays.stability[i], arrays.touched[i]) == (
                edge.stability,
                microseconds(edge.touched),
            )
            assert (
                np.isnan(arrays.at_turn[i])
                if edge.at_turn is None
                else arrays.at_turn[i] == edge.at_turn
            )
        assert edges_found == self.model
        chances = np.nan_to_num(self.table.probabilities(arrays.slot), nan=-1.0)
        known_rows = (self.table.edge_at(slot).probability for slot in arrays.slot.tolist())
        assert chances.tolist() == [-1.0 if chance is None else chance for chance in known_rows]
        mentions = [e for e in self.model.values() if e.kind is EdgeKind.MENTIONS]
        for first in (0, 1):
            ends = [self.table._row(memory) for memory in MEMORIES[first::2]]
            rows, touched, turns = self.table.mentions(np.asarray(ends))
            slots = zip(rows.tolist(), touched, np.nan_to_num(turns, nan=-1.0), strict=True)
            asked = [
                (self.table._row(e.target), e)
                for e in mentions
                if self.table._row(e.target) in ends
            ]
            assert sorted((end, int(position), turn) for end, position, turn in slots) == sorted(
                (row, microseconds(e.touched), -1.0 if e.at_turn is None else e.at_turn)
                for row, e in asked
            )
        only = {e.id for e in self.model.values() if e.kind in DECAYING}
        assert {
            self.table.edge_at(int(s)).id for s in self.table.arrays(list(DECAYING)).slot
        } == only


TestTable = Machine.TestCase
TestTable.settings = few(15, long=120, stateful_step_count=12)


def edge(
    source: str = "m0",
    target: str = "m1",
    kind: EdgeKind = EdgeKind.MENTIONS,
    **more: object,
) -> Edge:
    made = Edge(SoulId("s"), MemoryId(source), MemoryId(target), kind, Origin.CHAT, NOON)
    return replace(made, **more)  # type: ignore[arg-type]


def test_an_end_without_a_row_is_refused_alone_and_left_out_of_many() -> None:
    rows = table()
    with pytest.raises(KeyError):
        rows.put(edge("m0", "stranger"))
    rows.load(page([edge("m0", "stranger"), edge("m0", "m1"), edge("gone", "m1")]))
    rows.load(page([edge("stranger", "m1")]))
    assert list(rows.every()) == [edge("m0", "m1")]


def test_uses_are_counted_up_to_four_billion() -> None:
    for uses, counted in (
        (2**32 - 1, 2**32 - 1),
        (2**32, 2**32 - 1),
        (2**40, 2**32 - 1),
        (-3, 0),
    ):
        put, loaded = table(), table()
        put.put(edge(uses=uses))
        loaded.load(page([edge(uses=uses)]))
        assert [e.uses for rows in (put, loaded) for e in rows.every()] == [
            counted,
            counted,
        ]


def test_a_slot_that_is_used_again_has_not_the_probability_of_the_edge_before() -> None:
    rows = table()
    first = edge("m0", "m1", EdgeKind.FIRES, probability=0.3)
    rows.load(page([first, edge("m0", "m2", EdgeKind.FIRES, probability=0.7), edge("m0", "m3")]))
    rows.put(replace(first, probability=None))
    rows.drop(edge("m0", "m2", EdgeKind.FIRES).id)
    assert rows.packed()["probability.slots"].size == 0
    rows.put(edge("m0", "m4"))
    assert [e.probability for e in rows.every()] == [None, None, None]
    rows.put(edge("m5", "m6", EdgeKind.FIRES, probability=0.9))
    rows.keep(rows.arrays([EdgeKind.FIRES]).slot[::-1])
    assert {e.target: e.probability for e in rows.every()} == {"m6": 0.9, "m1": None}
    rows.keep(rows.arrays().slot[:0])
    assert rows.packed()["probability.slots"].size == 0


def test_a_thousand_edges_of_one_memory_come_and_go() -> None:
    rows = table()
    many = [edge("m0", "m1", verb=str(n)) for n in range(1000)]
    rows.load(page(many[:500]))
    for item in many[500:]:
        rows.put(item)
    for item in many[::2]:
        rows.drop(item.id)
    assert {e.verb for e in rows.of(MemoryId("m0"))} == {str(n) for n in range(1, 1000, 2)}
    for item in many[::2]:
        rows.put(item)
    assert {e.verb for e in rows.of(MemoryId("m1"))} == {str(n) for n in range(1000)}


def test_of_a_great_many_mentions_the_latest_are_told_whatever_came_and_went() -> None:
    known_rows = table()
    later = [NOON + timedelta(minutes=n) for n in range(700)]
    many = [
        edge(f"m{n % 9}", "m1", verb=str(n), touched=later[n], at_turn=float(n)) for n in range(600)
    ]

    def turns() -> list[float]:
        rows, _, slots = known_rows.mentions(np.asarray([1, 2]))
        assert set(rows.tolist()) <= {2}
        return sorted(slots.tolist())

    known_rows.load(page(many[:300]))
    assert turns() == list(range(300 - LATEST, 300))
    for item in reversed(many[300:]):
        known_rows.put(item)
    assert turns() == list(range(600 - LATEST, 600))
    known_rows.put(replace(many[7], touched=later[650], at_turn=650.0))
    assert turns() == [*range(601 - LATEST, 600), 650]
    known_rows.put(many[7])  # it was not so
    known_rows.drop(many[599].id)
    assert turns() == list(range(599 - LATEST, 599))
    known_rows.keep(known_rows.arrays().slot[:400])
    assert len(turns()) == LATEST
    for item in list(known_rows.of(MemoryId("m1")))[100:]:
        known_rows.drop(item.id)
    assert len(turns()) == 100
    known_rows.drop_of(MemoryId("m1"))
    assert turns() == []


def test_what_is_let_go_gives_its_room_back() -> None:
    rows: Rows[MemoryId] = Rows()
    names = [f"m{n}" for n in range(150)]
    for name in names:
        rows.add(MemoryId(name))
    many = page(edge(item, two) for item in names for two in names)
    tracemalloc.start()
    try:
        known_rows = EdgeTable(SoulId("s"), rows)
        known_rows.load(many)
        full = tracemalloc.get_traced_memory()[0]
        known_rows.keep(known_rows.arrays().slot[7:12])
        remaining = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert [e.id for e in known_rows.every()] == many.id[7:12]
    assert remaining < full / 10, (remaining, full)


@pytest.mark.parametrize("kind", list(EdgeKind))
def test_strength_of_many_is_that_of_each(kind: EdgeKind) -> None:
    rows = table()
    stored = [
        edge(
            "m0",
            f"m{n}",
            kind,
            at_turn=10.0 * n,
            stability=50.0 + 90.0 * n,
            strength=0.8,
        )
        for n in range(9)
    ]
    rows.load(page(stored))
    arrays = rows.arrays()
    assert arrays.slot.size == len(stored)
    for turn, decay in product((0.0, 35.5, 400.0), Decay):
        edges_found = arrays.strength_at(turn, arrays.at_turn, 1.5, decay)
        edges = [rows.edge_at(int(slot)) for slot in arrays.slot]
        expected = [edge.strength_at(turn, 1.5, decay) for edge in edges]
        np.testing.assert_allclose(edges_found, expected, rtol=1e-12)
