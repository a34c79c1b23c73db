"""Clusters of similar episodes (scenes of one kind), without a language model.

The mean of all vectors is subtracted, as vectors of one chat are close to each other. The similarity of two is
the deviation of their cosine from that of all pairs, as models differ in their cosines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Float32s

# When scenes are of one kind. Measured on 34 scenes of four kinds among 48 others, two languages, two models:
# pairs of a kind have 2.7 deviations on average, one in 100 other pairs has 2.3.
LEAST = 3  # scenes; two may be chance (design 5)
MOST = 6  # scenes; more give no better name and cost tokens
APART = 6  # least messages between two scenes of one chat: one window of exchanges
ALIKE = 2.0  # least mean deviation of the pairs of a cluster
_NEVER = 0.3  # least deviation of every single pair


@dataclass(frozen=True, slots=True)
class SceneCluster:
    """Scenes of one kind, as indices in order of their places; `alike` is the mean deviation of their pairs."""

    scenes: tuple[int, ...]
    alike: float


def scene_clusters(
    vectors: Float32s, places: Sequence[int], worth: Sequence[float]
) -> list[SceneCluster]:
    """Disjoint clusters, the best first.

    vectors  float32[n, d], unit; rows of NaN are left out
    places   position of each episode in its chat, in messages
    worth    0..1 of each; of equally similar clusters the one of higher mean worth comes first

    About n^2 * d multiplications: 0.2 s for 1,500 episodes of 512 dimensions.
    """
    where = np.asarray(places, np.int64)
    kept = np.flatnonzero(~np.isnan(vectors).any(axis=1)) if vectors.size else np.zeros(0, np.int64)
    if kept.size < LEAST + 1:
        return []
    score = pair_deviations(vectors[kept])
    near = np.abs(where[kept][:, None] - where[kept][None, :]) < APART
    score[near] = -np.inf
    weight = np.asarray(worth, np.float64)[kept]
    grown = (_grown(score, seed) for seed in range(kept.size))
    candidates = [cluster for cluster in grown if cluster is not None]
    # Chance rarely makes a large cluster: similarity is weighted by the root of the number of scenes.
    rank = {
        candidate: candidate.alike
        * len(candidate.scenes) ** 0.5
        * (1.0 + weight[list(candidate.scenes)].mean())
        for candidate in candidates
    }
    order = sorted(rank, key=lambda candidate: (-rank[candidate], candidate.scenes))
    out: list[SceneCluster] = []
    taken: set[int] = set()
    for candidate in order:
        if taken.isdisjoint(candidate.scenes):
            taken.update(candidate.scenes)
            scenes = sorted(
                (int(kept[index]) for index in candidate.scenes),
                key=lambda index: (where[index], index),
            )
            out.append(SceneCluster(tuple(scenes), candidate.alike))
    return out


def pair_deviations(vectors: Float32s) -> NDArray[np.float32]:
    """Cosine of each pair, centred, in deviations from the median pair, float32[n, n]; all 0 where all vectors are
    the same. The deviation is that of the pairs below the median, which are of different kinds.
    """
    centred = vectors - vectors.mean(axis=0)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    centred /= np.where(length > 1e-6, length, 1.0)
    score = np.asarray(centred @ centred.T, np.float32)
    pairs = score[np.triu_indices(len(score), 1)]
    middle = np.median(pairs)
    below = middle - pairs[pairs <= middle]
    deviation = float(np.sqrt(np.mean(below.astype(np.float64) ** 2)))
    if deviation < 1e-6:
        return np.zeros_like(score)
    return np.asarray((score - middle) / np.float32(deviation), np.float32)


def _grown(score: NDArray[np.float32], seed: int) -> SceneCluster | None:
    """The cluster grown from an episode, adding the most similar one each time; None if too small."""
    scenes = [seed]
    total = score[seed].astype(np.float64)
    worst = total.copy()
    inside = 0.0  # sum over its pairs
    while len(scenes) < MOST:
        may = np.where(worst >= _NEVER, total, -np.inf)
        best = int(may.argmax())
        pairs = len(scenes) * (len(scenes) + 1) / 2
        if not may[best] > -np.inf or (inside + may[best]) / pairs < ALIKE:
            break
        inside += float(may[best])
        scenes.append(best)
        total += score[best]
        worst = np.minimum(worst, score[best])
    if len(scenes) < LEAST:
        return None
    return SceneCluster(tuple(sorted(scenes)), inside / (len(scenes) * (len(scenes) - 1) / 2))
