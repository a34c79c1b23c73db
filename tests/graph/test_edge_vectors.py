"""Memory vectors in memory: what they are compared with, which match, which go."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from soulmem.domain.edge_vectors import EdgeVector
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.graph.edge_vectors import (
    EdgeVectors,
    TextBackground,
    TextBackgrounds,
    decoded,
    encoded,
    length_of,
)
from soulmem.graph.vectors import VectorTable

Floats = NDArray[np.float32]
DIM = 64


def squeezed(rng: np.random.Generator, count: int) -> Floats:
    """Unit vectors of which any two have a cosine near .8, as those of e5."""
    common = np.zeros(DIM)
    common[0] = 2.0
    out = common + rng.normal(size=(count, DIM)) / np.sqrt(DIM)
    return np.asarray(out / np.linalg.norm(out, axis=1, keepdims=True), np.float32)


def table_of(vectors: Floats) -> VectorTable:
    table = VectorTable(DIM)
    for row, vector in enumerate(vectors):
        table.put(row, vector)
    return table


def background_of(vectors: Floats) -> TextBackground:
    found = TextBackgrounds().of(table_of(vectors), len(vectors))
    assert found is not None
    return found


def taught(
    edge: str, raw: Floats, weight: float, model: str = "m", turn: float = 0.0
) -> EdgeVector:
    """The vector of an edge to which `raw` was added once, times the weight."""
    data = encoded(np.float32(weight) * raw)
    ends = MemoryId(f"{edge}-a"), MemoryId(f"{edge}-b")
    return EdgeVector(SoulId("s"), edge, *ends, model, weight, turn, data)


def test_bytes_give_the_vector_back() -> None:
    vector = np.random.default_rng(1).normal(size=384).astype(np.float32)
    data = encoded(vector)
    assert len(data) == 388
    assert np.abs(decoded(data) - vector).max() <= np.abs(vector).max() / 254 * 1.001
    assert encoded(decoded(data)) == data
    assert not decoded(encoded(np.zeros(5, np.float32))).any()


def test_squeezed_cosines_are_spread_by_the_background() -> None:
    """Two like queries match as they would among vectors that are not squeezed; others do not."""
    rng = np.random.default_rng(2)
    texts = squeezed(rng, 800)
    assert 0.75 < float(np.median(texts[:100] @ texts[100:200].T)) < 0.85
    background = background_of(texts)
    query, other = squeezed(rng, 2)
    near = query + 0.3 * (other - query)
    near /= np.linalg.norm(near)
    direction = background.direction(near)
    assert direction is not None
    assert 0.08 < direction.noise < 0.18
    vectors = EdgeVectors()
    step = background.spread / np.linalg.norm(query - background.mean)
    vectors.put([taught("like", query, step), taught("unlike", texts[5], step)])
    keys, match = vectors.matches(direction, background.spread, "m")
    scores = dict(zip(keys, match.tolist(), strict=True))
    assert scores["like"] > 0.8
    assert abs(scores["unlike"]) < 3.5 * direction.noise


def test_a_vector_taught_once_has_the_length_of_what_was_added() -> None:
    rng = np.random.default_rng(3)
    background = background_of(squeezed(rng, 300))
    (query,) = squeezed(rng, 1)
    direction = background.direction(query)
    assert direction is not None
    step = 0.6 * background.spread / direction.length
    vector = taught("e", query, step)
    length, match = length_of(decoded(vector.data), step, direction, background)
    assert length == pytest.approx(0.6, abs=0.02)
    assert match == pytest.approx(0.6, abs=0.02)
    vectors = EdgeVectors()
    vectors.put([vector])
    _, matches = vectors.matches(direction, background.spread, "m")
    assert matches.tolist() == pytest.approx([match], abs=0.02)


def test_the_background_follows_the_texts() -> None:
    rng = np.random.default_rng(4)
    texts = squeezed(rng, 400)
    table, backgrounds = table_of(texts[:100]), TextBackgrounds()
    first = backgrounds.of(table, 100)
    table.put(100, texts[100])
    assert backgrounds.of(table, 101) is first
    for row in range(101, 200):
        table.put(row, texts[row])
    assert backgrounds.of(table, 200) is not first
    for row in range(150):
        table.drop(row)
    second = backgrounds.of(table, 200)
    assert second is not None
    assert len(second.sample) == 50
    assert TextBackgrounds().of(VectorTable(DIM), 40) is None
    assert background_of(texts).direction(background_of(texts).mean) is None


def test_one_text_alone_is_not_its_own_mean() -> None:
    (text,) = squeezed(np.random.default_rng(5), 1)
    background = background_of(text[None])
    assert background.spread > 0.5
    assert background.direction(text) is not None


def test_places_are_used_again_and_models_kept_apart() -> None:
    rng = np.random.default_rng(6)
    texts = squeezed(rng, 50)
    background = background_of(texts)
    direction = background.direction(texts[0])
    assert direction is not None

    def found(vectors: EdgeVectors, model: str) -> set[str | None]:
        keys, match = vectors.matches(direction, background.spread, model)
        assert len(keys) == match.size
        return set(keys) - {None}

    vectors = EdgeVectors(4)
    vectors.put([taught(f"e{n}", texts[n], 0.5) for n in range(4)])
    vectors.put([taught("x", texts[9], 0.5, "other")])
    assert found(vectors, "m") == {"e0", "e1", "e2", "e3"}
    assert found(vectors, "other") == {"x"}
    vectors.drop(["e1", "unknown"])
    assert found(vectors, "m") == {"e0", "e2", "e3"}
    vectors.put([taught("e5", texts[5], 0.5), taught("e2", texts[2], 0.5, "other")])
    assert found(vectors, "m") == {"e0", "e3", "e5"}
    vectors.drop_at({MemoryId("e0-b"), MemoryId("e3-a")})
    assert found(vectors, "m") == {"e5"}
    assert sorted(vector.edge for vector in vectors) == ["e2", "e5", "x"]
    assert vectors.get("e0") is None
    assert vectors.get("x") is not None


def test_what_goes_is_of_another_model_or_was_taught_longest_ago() -> None:
    raw = squeezed(np.random.default_rng(7), 1)[0]
    vectors = EdgeVectors(4)
    vectors.put([taught(f"e{n}", raw, 0.5, turn=10.0 - n) for n in range(3)])
    vectors.put([replace(taught("x", raw, 0.5, "other"), turn=99.0)])
    assert vectors.surplus(["e0"], "m") == []
    assert vectors.surplus(["n1"], "m") == ["x"]
    assert vectors.surplus(["n1", "n2", "e2"], "m") == ["x", "e1"]
