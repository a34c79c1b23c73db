"""Edge weights: strength, confidence, number of names, class, mood and query."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from soulmem.domain.edges import EdgeKind
from soulmem.domain.memories import MemoryKind
from soulmem.graph.arcs import arc_class
from soulmem.graph.edge_arrays import EDGE_KINDS, EdgeArrays
from soulmem.language.relations import RelationClass
from soulmem.retrieval.edge_weights import (
    EdgeWeightParams,
    class_factors,
    edge_weights,
    fact_factors,
    relation_factor,
    restart_in,
)

FLAT = EdgeWeightParams(fan=0.0)


def edges(*given: tuple[int, int, EdgeKind, float]) -> EdgeArrays:
    """Edges of source, target, kind and confidence."""
    m = len(given)
    ends = np.asarray([(source, target) for source, target, _, _ in given], np.uint32).reshape(m, 2)
    return EdgeArrays(
        slot=np.arange(m),
        source=ends[:, 0],
        target=ends[:, 1],
        kind=np.asarray([EDGE_KINDS.index(kind) for _, _, kind, _ in given], np.uint8),
        strength=np.ones(m),
        confidence=np.asarray([sure for *_, sure in given], np.float64),
        stability=np.full(m, 300.0),
        at_turn=np.full(m, np.nan),
        touched=np.zeros(m, np.int64),
    )


def test_an_edge_weighs_its_strength_times_its_confidence() -> None:
    some = edges((0, 1, EdgeKind.RELATES, 0.5), (0, 2, EdgeKind.MENTIONS, 1.0))
    assert_allclose(edge_weights(some, np.asarray([0.4, 0.8]), FLAT), [0.2, 0.8])


def test_a_text_that_names_many_is_less_about_each() -> None:
    some = edges(
        (0, 9, EdgeKind.MENTIONS, 1.0),
        *((1, name, EdgeKind.MENTIONS, 1.0) for name in (6, 7, 8, 9)),
        *((1, other, EdgeKind.ASSOCIATES, 1.0) for other in (2, 3)),
    )
    weight = edge_weights(some, np.ones(7), EdgeWeightParams(fan=0.5))
    assert_allclose(weight, [1, 0.5, 0.5, 0.5, 0.5, 1, 1])
    assert edge_weights(edges(), np.zeros(0)).size == 0


def test_back_along_a_sequence_is_half_of_on() -> None:
    factor = class_factors()
    on = factor[arc_class(EdgeKind.NEXT, MemoryKind.EPISODE)]
    assert factor[arc_class(EdgeKind.NEXT, MemoryKind.EPISODE, back=True)] == pytest.approx(
        0.5 * on
    )
    for kind in (EdgeKind.MENTIONS, EdgeKind.RELATES, EdgeKind.ASSOCIATES):
        assert factor[arc_class(kind, MemoryKind.CONCEPT)] == 1.0
        assert factor[arc_class(kind, MemoryKind.CONCEPT, back=True)] == 1.0


def test_edges_to_the_kind_that_is_wanted_weigh_more() -> None:
    factor = class_factors(kinds={"episode": 1.25, "fact": 1.5})
    to_text = arc_class(EdgeKind.MENTIONS, MemoryKind.EPISODE, back=True)
    assert factor[to_text] == pytest.approx(1.25)
    assert factor[arc_class(EdgeKind.MENTIONS, MemoryKind.CONCEPT)] == 1.0
    on = arc_class(EdgeKind.RELATES, MemoryKind.CONCEPT)
    assert factor[on] == pytest.approx(1.5)


def test_irritation_halves_the_steps() -> None:
    assert restart_in(0.5, 0.0) == 0.5
    assert restart_in(0.5, 1.0) == pytest.approx(0.75)
    assert restart_in(0.2, 0.5) == pytest.approx(1 - 0.8 * 0.75)
    assert restart_in(0.5, 9.0) == restart_in(0.5, 1.0)


def test_a_fact_that_fits_the_cue_weighs_more_however_squeezed_the_space() -> None:
    wide = np.asarray([0.0, 0.1, 0.9, -0.2], np.float32)
    squeezed = 0.8 + 0.2 * wide
    for cosine in (wide, squeezed):
        factor = fact_factors(cosine.astype(np.float32))
        assert np.argmax(factor) == 2
        assert 1.2 < factor[2] <= 1.5
        assert factor.min() == 1.0
    assert_allclose(fact_factors(squeezed.astype(np.float32)), fact_factors(wide), atol=1e-5)


def test_facts_without_vectors_or_without_rivals_are_as_they_are() -> None:
    assert fact_factors(np.asarray([0.9], np.float32)).tolist() == [1.0]
    unknown = np.asarray([np.nan, 0.1, 0.9], np.float32)
    assert fact_factors(unknown)[0] == 1.0
    assert fact_factors(np.zeros(0, np.float32)).size == 0


def test_relations_weigh_by_what_they_say_and_what_is_asked() -> None:
    plain, why = (
        {says: relation_factor(says, asks_why=asks_why) for says in RelationClass}
        for asks_why in (False, True)
    )
    same, cause = RelationClass.SAME, RelationClass.CAUSE
    contrast, other = RelationClass.CONTRAST, RelationClass.OTHER
    assert plain[same] == plain[cause] == plain[other] == 1.0 > plain[contrast] > 0.0
    assert why[same] == why[cause] == 1.0 > why[other] > why[contrast] > 0.0
