"""Scenes of one kind cluster by the packaged encoder, whatever their places and order."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from soulmem.consolidation.clusters import (
    ALIKE,
    APART,
    LEAST,
    MOST,
    pair_deviations,
    scene_clusters,
)
from tests.consolidation.scenes import LIKE, OTHER
from tests.packaged import the_encoder

Floats = NDArray[np.float32]


@lru_cache
def told(language: str) -> tuple[tuple[str, ...], Floats]:
    """The kind of each scene, empty for those of none, and their vectors."""
    like = [(kind, text) for kind, texts in LIKE[language].items() for text in texts]
    every = [*like, *(("", text) for text in OTHER[language])]
    return tuple(kind for kind, _ in every), the_encoder().embed([text for _, text in every])


@pytest.mark.parametrize("language", LIKE)
def test_the_first_clusters_are_kinds(language: str) -> None:
    kinds, vectors = told(language)
    clusters_made = scene_clusters(vectors, range(0, 10 * len(kinds), 10), [0.5] * len(kinds))
    named = [[kinds[index] for index in cluster.scenes] for cluster in clusters_made]
    best = [max(set(some), key=some.count) for some in named[:3]]
    assert len(set(best) - {""}) == 3
    assert all(some.count(kind) >= 3 for some, kind in zip(named, best, strict=False))
    assert sum(some.count(kind) for some, kind in zip(named, best, strict=False)) >= 0.8 * sum(
        map(len, named[:3])
    )


@pytest.mark.parametrize("language", LIKE)
def test_what_was_said_in_one_breath_is_one_scene(language: str) -> None:
    kinds, vectors = told(language)
    found = scene_clusters(vectors, range(len(kinds)), [0.5] * len(kinds))
    assert found
    for cluster in found:
        assert min(np.diff(cluster.scenes)) >= APART
        assert {kinds[index] for index in cluster.scenes} != {"rain"}


def test_of_clusters_as_much_alike_the_worthier_comes_first() -> None:
    vectors = np.eye(12, dtype=np.float32)
    for group in (range(3), range(3, 6)):
        vectors[list(group)] += 2 * np.eye(12, dtype=np.float32)[group[0]]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for worthy in (0, 3):
        worth = [0.9 if worthy <= index < worthy + 3 else 0.1 for index in range(12)]
        clusters_made = scene_clusters(vectors, range(0, 120, 10), worth)
        assert clusters_made[0].scenes == tuple(range(worthy, worthy + 3))


@given(st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_clusters_keep_to_their_bounds(count: int, seed: int) -> None:
    """Property: whatever the vectors, clusters share no scene and are no smaller, wider, nearer or less alike
    than they may be; and the order in which scenes are given does not matter.
    """
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(count, 6)).astype(np.float32)
    vectors[rng.random(count) < 0.1] = np.nan
    places = np.sort(rng.integers(0, 300, count))
    worth = rng.random(count)
    clusters_made = scene_clusters(vectors, places.tolist(), worth.tolist())
    scenes = [index for cluster in clusters_made for index in cluster.scenes]
    assert len(set(scenes)) == len(scenes)
    assert not np.isnan(vectors[scenes]).any()
    for cluster in clusters_made:
        assert LEAST <= len(cluster.scenes) <= MOST
        assert cluster.alike >= ALIKE - 1e-6
        assert np.diff(places[list(cluster.scenes)]).min() >= APART
    mixed = rng.permutation(count)
    again = scene_clusters(vectors[mixed], places[mixed].tolist(), worth[mixed].tolist())
    assert {frozenset(mixed[list(cluster.scenes)].tolist()) for cluster in again} == {
        frozenset(cluster.scenes) for cluster in clusters_made
    }


def test_nothing_stands_out_of_what_is_all_the_same() -> None:
    assert not pair_deviations(np.ones((5, 3), np.float32)).any()
    assert not scene_clusters(np.ones((9, 3), np.float32), range(0, 90, 10), [0.5] * 9)
