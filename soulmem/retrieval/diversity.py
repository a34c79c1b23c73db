"""Which of the best memories go in together: relevant, not repeating each other, within the token budget?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def choose(
    scores: NDArray[np.float32],
    vectors: NDArray[np.float32],
    tokens: NDArray[np.int64],
    *,
    budget: int,
    max_items: int,
    novelty: float = 0.3,
) -> list[int]:
    """Positions of the chosen candidates, as they were chosen; their tokens sum to at most `budget`.

    scores   float32[m]       higher is better; candidates that are not finite are never chosen
    vectors  float32[m, dim]  unit rows; a row of NaN resembles nothing
    tokens   int64[m]         >= 0, cost of each
    novelty  0..1             0 ranks by score alone, 1 by difference from what is chosen already

    Maximal marginal relevance: next = argmax (1 - novelty) * relevance - novelty * max cosine to the chosen,
    with relevance the score scaled to 0..1 over the candidates (Carbonell, Goldstein 1998,
    https://doi.org/10.1145/290941.291025). A candidate that no longer fits is passed over for a smaller one.
    """
    left = np.isfinite(scores)
    if not left.any():
        return []
    low, high = float(scores[left].min()), float(scores[left].max())
    relevance = np.where(left, (scores - low) / (high - low) if high > low else 1.0, 0.0)
    known = np.nan_to_num(vectors)
    likeness = np.zeros(scores.size, np.float32)
    chosen: list[int] = []
    room = budget
    while len(chosen) < max_items:
        left &= tokens <= room
        if not left.any():
            break
        gain = (1 - novelty) * relevance - novelty * likeness
        best = int(np.argmax(np.where(left, gain, -np.inf)))
        chosen.append(best)
        left[best] = False
        room -= int(tokens[best])
        likeness = np.maximum(likeness, known @ known[best])
    return chosen
