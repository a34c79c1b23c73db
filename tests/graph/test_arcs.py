"""Are a soul's edges turned into the arcs that design 2 tells to walk?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.graph import arcs as module
from soulmem.graph.arcs import (
    MEMORY_KINDS,
    WALKED,
    AssociationParams,
    arc_class,
    arcs,
    arcs_along,
    arcs_back,
    slots_of,
)
from soulmem.graph.edge_table import EdgeTable
from soulmem.graph.row_numbers import Rows
from soulmem.kernels.csr import Csr
from soulmem.kernels.interpreted import interpreted
from soulmem.kernels.warm import installed_cache, kernels, warm

pytestmark = pytest.mark.timeout(300)  # the first test waits for the compiler
SOUL = SoulId("s")
NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
ONE_WAY = (EdgeKind.KNOWS_HABIT,)


both_ways = pytest.mark.parametrize("_way", ["compiled", "plain"], indirect=True)


@pytest.fixture(autouse=True, scope="module")
def _way(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compiled code; where a test asks for both ways, also plain code."""
    way = getattr(request, "param", "compiled")
    warm(installed_cache())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            module,
            "kernels",
            kernels if way == "compiled" else interpreted,
        )
        yield


def edge(kind: EdgeKind, source: int, target: int, strength: float = 0.5) -> Edge:
    ends = MemoryId(f"m{source}"), MemoryId(f"m{target}")
    return Edge(SOUL, *ends, kind, Origin.USER, NOW, strength=strength)


def table_of(edges: list[Edge], rows: int) -> EdgeTable:
    known_rows: Rows[MemoryId] = Rows()
    for n in range(rows):
        known_rows.add(MemoryId(f"m{n}"))
    table = EdgeTable(SOUL, known_rows)
    for edge in edges:
        table.put(edge)
    return table


def walked(edges: list[Edge], kinds: list[MemoryKind], class_mass: float = 1.0) -> Csr:
    columns = table_of(edges, len(kinds)).arrays(WALKED)
    codes = np.asarray([MEMORY_KINDS.index(kind) for kind in kinds], np.uint8)
    return arcs(
        columns,
        columns.strength * columns.confidence,
        codes,
        AssociationParams(class_mass),
    )


def found(graph: Csr) -> dict[tuple[int, int, int], float]:
    """(source, target, class) to weight, summed."""
    out: dict[tuple[int, int, int], float] = {}
    for arc, source in enumerate(graph.sources):
        key = int(source), int(graph.indices[arc]), int(graph.kind[arc])
        out[key] = out.get(key, 0.0) + float(graph.weight[arc])
    return out


random_edges = st.lists(
    st.builds(
        edge,
        st.sampled_from(EdgeKind),
        st.integers(0, 5),
        st.integers(0, 5),
        st.sampled_from([0.05, 0.5, 1.0]),
    ),
    max_size=30,
)


@both_ways
@given(random_edges, st.lists(st.sampled_from(MemoryKind), min_size=6, max_size=6))
def test_every_edge_is_an_arc_of_its_class_and_most_are_one_back_too(
    edges: list[Edge], kinds: list[MemoryKind]
) -> None:
    rows = {edge.id: edge for edge in edges}.values()
    expected: dict[tuple[int, int, int], float] = {}
    for edge in rows:
        if edge.kind in (EdgeKind.TRIGGERS, EdgeKind.FIRES):
            continue
        source, target = int(edge.source[1:]), int(edge.target[1:])
        ways = [(source, target, arc_class(edge.kind, kinds[target]))]
        if edge.kind not in ONE_WAY:
            ways.append((target, source, arc_class(edge.kind, kinds[source], back=True)))
        for key in ways:
            expected[key] = expected.get(key, 0.0) + edge.strength
    got = found(walked(list(rows), kinds, class_mass=1e6))
    assert got.keys() == expected.keys()
    assert all(np.isclose(got[key], weight) for key, weight in expected.items())


@given(random_edges, st.lists(st.sampled_from(MemoryKind), min_size=6, max_size=6))
def test_the_arcs_of_one_class_never_weigh_more_than_their_bound_and_keep_their_ratios(
    edges: list[Edge], kinds: list[MemoryKind]
) -> None:
    free, bounded = found(walked(edges, kinds, 1e6)), found(walked(edges, kinds, 1.0))
    for source in range(6):
        for code in {key[2] for key in free if key[0] == source}:
            group = [key for key in free if key[0] == source and key[2] == code]
            total = sum(free[key] for key in group)
            for key in group:
                assert np.isclose(bounded[key], free[key] / max(1.0, total), rtol=1e-5)


@given(random_edges, st.lists(st.booleans(), min_size=30, max_size=30))
def test_each_arc_names_its_edge(edges: list[Edge], gone: list[bool]) -> None:
    """Also where edges went, so that slots are empty."""
    table = table_of(edges, 6)
    for edge, is_gone in zip(edges, gone, strict=False):
        if is_gone:
            table.drop(edge.id)
    columns = table.arrays(WALKED)
    graph = arcs(columns, columns.strength, np.zeros(6, np.uint8))
    assert graph.edge.max(initial=0) < graph.numbers
    assert np.unique(graph.edge).size == graph.edge.size
    for number, source, target in zip(graph.edge, graph.sources, graph.indices, strict=True):
        (slot,) = slots_of(np.asarray([number]))
        rows = table.edge_at(int(slot))
        ends = (f"m{source}", f"m{target}")
        assert number in (arcs_along(slot), arcs_back(slot))
        if number == arcs_along(slot):
            assert ends == (rows.source, rows.target)
        else:
            assert rows.kind not in ONE_WAY
            assert ends == (rows.target, rows.source)


@both_ways
@given(
    random_edges,
    st.lists(st.sampled_from(MemoryKind), min_size=6, max_size=6),
    st.sets(st.integers(0, 5)),
)
def test_the_arcs_of_some_rows_are_those_of_all(
    edges: list[Edge], kinds: list[MemoryKind], some: set[int]
) -> None:
    table, rows = table_of(edges, 6), np.asarray(sorted(some), np.int64)
    codes = np.asarray([MEMORY_KINDS.index(kind) for kind in kinds], np.uint8)
    every, theirs = table.arrays(WALKED), table.arrays(WALKED, rows)
    whole = arcs(every, every.strength, codes)
    part = arcs(theirs, theirs.strength, codes, rows=rows)
    assert part.nodes == len(some)
    for place, row in enumerate(sorted(some)):
        mine, all_of = (
            slice(*part.indptr[place : place + 2]),
            slice(*whole.indptr[row : row + 2]),
        )
        for column in ("indices", "weight", "kind", "edge"):
            assert getattr(part, column)[mine].tolist() == getattr(whole, column)[all_of].tolist()
