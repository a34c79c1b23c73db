"""What matches with memory vectors mean, and which rows they open."""

from __future__ import annotations

import numpy as np
import pytest

from soulmem.engine.recall.vector_expansion import (
    VectorArc,
    VectorParams,
    evidence,
    opened_rows,
)
from soulmem.retrieval.reserved_slots import ReservedSlots, with_opened_slots


def arc(target: int, weight: float, value: float, edge: str = "") -> VectorArc:
    return VectorArc(target, edge or f"e{target}", weight, value)


def test_what_is_usual_among_the_texts_is_no_evidence() -> None:
    p = VectorParams(usual=2.0)
    out = evidence(np.asarray([-0.5, 0.0, 0.2, 0.6, 1.0, 1.2]), 0.1, p)
    assert out.tolist() == pytest.approx([0.0, 0.0, 0.0, 0.5, 1.0, 1.0])
    assert evidence(np.asarray([0.5]), 0.3, p) == [0.0]
    assert evidence(np.asarray([1.0]), 9.0, p) == pytest.approx([1.0])


def test_an_edge_opens_by_strength_and_evidence_together() -> None:
    p = VectorParams(opens=0.55)
    for weight, value, is_open in (
        (0.3, 0.3, True),
        (0.3, 0.25, False),
        (0.0, 0.56, True),
        (0.6, 0.01, True),
    ):
        opened = opened_rows([0], {0: [arc(1, weight, value)]}, p)
        assert [way.row for way in opened] == ([1] if is_open else [])


def test_a_strong_edge_without_a_vector_leads_on_but_opens_nothing() -> None:
    arcs = {0: [arc(1, 0.9, 0.0)], 1: [arc(2, 0.4, 0.4), arc(3, 0.9, 0.0)]}
    (way,) = opened_rows([0], arcs)
    assert (way.row, way.rows, way.edges) == (2, (0, 1, 2), ("e1", "e2"))
    assert way.score == pytest.approx(0.4)


def test_the_weakest_evidence_of_a_path_counts_and_the_best_path_wins() -> None:
    arcs = {
        0: [arc(1, 0.5, 0.9), arc(2, 0.5, 0.3)],
        1: [arc(3, 0.5, 0.2, "far"), arc(4, 0.5, 0.6)],
        2: [arc(3, 0.5, 0.5, "near")],
    }
    opened = opened_rows([0], arcs)
    assert [(way.row, round(way.score, 3)) for way in opened] == [
        (1, 0.9),
        (4, 0.6),
        (2, 0.3),
        (3, 0.3),
    ]
    assert opened[-1].edges == ("e2", "near")


def test_paths_are_short_and_do_not_return_to_seeds() -> None:
    arcs = {row: [arc(row + 1, 0.5, 0.5), arc(0, 0.5, 0.5)] for row in range(9)}
    opened = opened_rows([0, 0], arcs, VectorParams(hops=3))
    assert [way.row for way in opened] == [1, 2, 3]
    assert opened_rows([], arcs) == []


def test_equal_paths_are_no_trouble() -> None:
    arcs = {0: [arc(1, 0.5, 0.5, "a"), arc(1, 0.5, 0.5, "b")]}
    (way,) = opened_rows([0], arcs)
    assert way.edges == ("a",)


def test_what_is_opened_stands_before_other_reserved_rows() -> None:
    slots = ReservedSlots((7, 8), (9, 5))
    assert with_opened_slots(slots, [5, 8]) == ReservedSlots((5, 8, 7), (9,))
    assert with_opened_slots(slots, []) == slots
