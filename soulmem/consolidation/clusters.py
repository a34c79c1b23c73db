"""Which scenes are of one kind? Clusters of episodes that mean alike, found without a language model.

Vectors of one chat point much the same way: what tells scenes apart is what is left without their mean. How
alike two are is told by how far the pair stands out among all pairs, for models differ in their cosines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClusterParams:
    """When scenes are of one kind. Measured on 34 scenes of four kinds among 48 others, two languages, two
    models: pairs of a kind stand out by 2.7 on average, one pair in 100 of others by 2.3.
    """

    least: int = 3  # scenes; what was seen twice may be chance (design 5)
    most: int = 6  # scenes: more of them make no better name, and each costs tokens
    apart: int = 6  # messages between two scenes of one chat: one window of exchanges
    alike: float = 2.0  # standard deviations that the pairs of a cluster stand out by on average, at least
    never: float = 0.3  # .. and that every single one stands out by


@dataclass(frozen=True, slots=True)
class SceneCluster:
    """Scenes of one kind, by their places ascending; `alike` as in the params."""

    scenes: tuple[int, ...]
    alike: float


def scene_clusters(
    vectors: Floats,
    places: Sequence[int],
    worth: Sequence[float],
    params: ClusterParams,
) -> list[SceneCluster]:
    """Clusters that share no scene, the best first.

    vectors  float32[n, d], unit; rows of NaN are left out
    places   of the n episodes in their chat, in messages
    worth    0..1 of each: of clusters equally alike the worthier comes first

    About n^2 * d multiplications: 0.2 s for 1,500 episodes of 512 dimensions.
    """
    where = np.asarray(places, np.int64)
    kept = (
        np.flatnonzero(~np.isnan(vectors).any(axis=1))
        if vectors.size
        else np.zeros(0, np.int64)
    )
    if kept.size < params.least + 1:
        return []
    score = pair_deviations(vectors[kept])
    near = np.abs(where[kept][:, None] - where[kept][None, :]) < params.apart
    score[near] = -np.inf
    weight = np.asarray(worth, np.float64)[kept]
    candidates = [
        grown
        for seed in range(kept.size)
        if (grown := _grown(score, seed, params)) is not None
    ]
    # Chance seldom makes a large cluster: what n scenes have in common counts by the root of n.
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


def pair_deviations(vectors: Floats) -> NDArray[np.float32]:
    """By how many standard deviations each pair is more alike than pairs are, float32[n, n]; 0 throughout
    where all are the same. The deviation is told by the pairs below the median, where no two are of a kind.
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


def _grown(
    score: NDArray[np.float32], seed: int, params: ClusterParams
) -> SceneCluster | None:
    """The cluster round an episode: at each step with the one most like all that are in it."""
    scenes = [seed]
    total = score[seed].astype(np.float64)
    worst = total.copy()
    inside = 0.0  # sum over its pairs
    while len(scenes) < params.most:
        may = np.where(worst >= params.never, total, -np.inf)
        best = int(may.argmax())
        pairs = len(scenes) * (len(scenes) + 1) / 2
        if not may[best] > -np.inf or (inside + may[best]) / pairs < params.alike:
            break
        inside += float(may[best])
        scenes.append(best)
        total += score[best]
        worst = np.minimum(worst, score[best])
    if len(scenes) < params.least:
        return None
    return SceneCluster(
        tuple(sorted(scenes)), inside / (len(scenes) * (len(scenes) - 1) / 2)
    )
