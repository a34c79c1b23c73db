"""Selection stays within the budget, avoids repetition and takes the best first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.kernels.arrays import Float32s
from soulmem.retrieval.diversity import RelativeSimilarity, choose_diverse


def units(*rows: tuple[float, ...]) -> Float32s:
    raw = np.asarray(rows, np.float32)
    return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), np.float32)


@st.composite
def candidates(
    draw: st.DrawFn,
) -> tuple[Float32s, Float32s, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    m = draw(st.integers(0, 15))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    scores = rng.normal(size=m).astype(np.float32)
    scores[rng.random(m) < 0.2] = -np.inf
    vectors = rng.normal(size=(m, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[rng.random(m) < 0.2] = np.nan
    return scores, vectors, rng.integers(0, 60, m)


@given(candidates(), st.integers(0, 200), st.integers(0, 10), st.floats(0, 1))
def test_the_budget_and_the_number_hold_and_room_is_used(
    case: tuple[Float32s, Float32s, np.ndarray[tuple[int], np.dtype[np.int64]]],
    budget: int,
    max_items: int,
    novelty: float,
) -> None:
    scores, vectors, tokens = case
    chosen = choose_diverse(
        scores,
        vectors,
        tokens.item,
        budget=budget,
        max_items=max_items,
        novelty=novelty,
    )
    spent = int(tokens[chosen].sum()) if chosen else 0
    assert spent <= budget
    assert len(chosen) == len(set(chosen)) <= max_items
    assert np.isfinite(scores[chosen]).all()
    unused = [i for i in range(scores.size) if i not in chosen and np.isfinite(scores[i])]
    assert len(chosen) == max_items or all(spent + tokens[i] > budget for i in unused)


@given(candidates())
def test_without_novelty_the_score_alone_ranks(
    case: tuple[Float32s, Float32s, np.ndarray[tuple[int], np.dtype[np.int64]]],
) -> None:
    scores, vectors, tokens = case
    chosen = choose_diverse(scores, vectors, tokens.item, budget=10**6, max_items=99, novelty=0.0)
    assert scores[chosen].tolist() == sorted(scores[np.isfinite(scores)].tolist(), reverse=True)


def test_a_repetition_gives_way_to_something_else() -> None:
    vectors = units((1, 0.02, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
    scores = np.asarray([3.0, 2.9, 2.6, 0.0], np.float32)
    tokens = np.full(4, 10)
    assert choose_diverse(scores, vectors, tokens.item, budget=20, max_items=2, novelty=0.3) == [
        0,
        2,
    ]
    assert choose_diverse(scores, vectors, tokens.item, budget=20, max_items=2, novelty=0.0) == [
        0,
        1,
    ]


def test_a_memory_too_long_for_the_room_left_does_not_end_the_choice() -> None:
    scores = np.asarray([3.0, 2.0, 1.0], np.float32)
    vectors = units((1, 0), (0, 1), (1, 1))
    assert choose_diverse(
        scores, vectors, np.asarray([10, 50, 10]).item, budget=25, max_items=3
    ) == [0, 2]


def test_likeness_is_measured_against_what_is_usual() -> None:
    spread = units((1, 0, 0), (1, 0.05, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0))
    squeezed = units(
        *(tuple(row + np.asarray([0, 0, 0, 2.0])) for row in np.pad(spread, ((0, 0), (0, 1))))
    )
    for vectors in (spread, squeezed):
        alike = RelativeSimilarity(vectors).to(0)
        assert alike[1] > 0.9
        assert alike[2] < 0.4
    assert (squeezed @ squeezed.T).min() > 0.5  # every cosine is high, as among e5 vectors


def test_candidates_without_vectors_resemble_nothing() -> None:
    vectors = np.full((3, 4), np.nan, np.float32)
    assert not RelativeSimilarity(vectors).to(0).any()
    scores = np.asarray([1.0, 3.0, 2.0], np.float32)
    assert choose_diverse(scores, vectors, np.full(3, 5).item, budget=99, max_items=3) == [
        1,
        2,
        0,
    ]


def test_the_seated_go_in_before_better_ones_as_far_as_they_fit() -> None:
    scores = np.asarray([3.0, 2.0, 1.0, 0.0, np.nan], np.float32)
    vectors = np.full((5, 2), np.nan, np.float32)
    tokens = np.asarray([10, 10, 10, 90, 10])
    picked = choose_diverse(
        scores,
        vectors,
        tokens.item,
        budget=30,
        max_items=3,
        novelty=0.0,
        reserved=(3, 4, 2),
    )
    assert picked == [2, 0, 1]
    assert choose_diverse(
        scores,
        vectors,
        tokens.item,
        budget=30,
        max_items=1,
        novelty=0.0,
        reserved=(2, 1),
    ) == [2]
    assert choose_diverse(
        scores,
        vectors,
        tokens.item,
        budget=30,
        max_items=3,
        novelty=0.0,
        reserved=(1, 1),
    ) == [1, 0, 2]


def test_where_both_have_no_room_the_better_one_comes_before_one_with_a_slot() -> None:
    scores = np.array([4.0, 3.0, 1.0], np.float32)
    apart = np.eye(3, dtype=np.float32)
    tokens = [20, 20, 5]

    def chosen(budget: int) -> list[int]:
        return choose_diverse(
            scores,
            apart,
            tokens.__getitem__,
            budget=budget,
            max_items=3,
            reserved=(0, 2),
        )

    assert chosen(40) == [0, 1]
    assert chosen(45) == [0, 2, 1]
    assert chosen(39) == [0, 2]  # the better one has no room by itself either


def test_the_usual_is_the_mean_cosine_of_all_pairs() -> None:
    """As computed pair by pair, with a row that has no vector."""
    vectors = np.random.default_rng(4).normal(size=(12, 6)) + 0.5
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[3] = np.nan
    known = np.delete(np.arange(12), 3)
    cosine = vectors[known] @ vectors[known].T
    usual = (cosine.sum() - known.size) / (known.size * (known.size - 1))
    expected = np.clip((cosine - usual) / (1 - usual), 0, 1)
    np.fill_diagonal(expected, 0.0)
    alike = RelativeSimilarity(vectors.astype(np.float32))
    found = np.stack([alike.to(i) for i in known.tolist()])
    assert found[:, known] == pytest.approx(expected, abs=1e-5)
    assert not found[:, 3].any()
