"""Selection of candidates that are relevant and differ from each other, within a token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Float32s


def choose_diverse(
    scores: Float32s,
    vectors: Float32s,
    cost: Callable[[int], int],
    *,
    budget: int,
    max_items: int,
    novelty: float = 0.15,
    reserved: Sequence[int] = (),
    is_new: Callable[[int], bool] | None = None,
) -> list[int]:
    """Positions of the chosen candidates, as they were chosen; their costs sum to at most `budget`.

    scores   float32[m]       higher is better; candidates that are not finite are never chosen
    vectors  float32[m, dim]  unit rows; a row of NaN resembles nothing
    cost     tokens, >= 0, of a candidate; called once at most, and not for all: counting takes time
    novelty  0..1             0 ranks by score alone, 1 by difference from what is chosen already
    reserved   positions selected before all others, in this order; one waits while a better one would have no room
               beside it
    is_new   whether a candidate adds anything new; called for each that fits right before it is selected

    Maximal marginal relevance (Carbonell, Goldstein 1998, https://doi.org/10.1145/290941.291025):
        next = argmax (1 - novelty) * relevance - novelty * greatest similarity to the chosen
    with relevance the score scaled to 0..1 over the candidates, and similarity by `RelativeSimilarity`.
    A candidate that no longer fits is skipped for a smaller one.
    """
    available = np.isfinite(scores)
    if not available.any():
        return []
    low, high = float(scores[available].min()), float(scores[available].max())
    relevance = np.where(available, (scores - low) / (high - low) if high > low else 1.0, 0.0)
    alike = RelativeSimilarity(vectors)
    repeats = np.zeros(scores.size, np.float32)
    chosen: list[int] = []
    room = budget
    waiting = [position for position in reversed(reserved) if available[position]]
    tokens_of = cache(cost)
    while len(chosen) < max_items and available.any():
        gain = (1 - novelty) * relevance - novelty * repeats
        best = int(np.argmax(np.where(available, gain, -np.inf)))
        slot = _first_that_fits(waiting, available, tokens_of, room)
        if slot is not None and not _leaves_no_room(tokens_of, slot, best, room):
            best = slot
        available[best] = False
        tokens = tokens_of(best)
        if tokens > room:
            continue
        if is_new is not None and not is_new(best):
            continue
        chosen.append(best)
        room -= tokens
        repeats = np.maximum(repeats, alike.to(best))
    return chosen


def _first_that_fits(
    waiting: list[int],
    available: NDArray[np.bool_],
    tokens_of: Callable[[int], int],
    room: int,
) -> int | None:
    """The last of those that wait, without any that is taken or too long; None where none is left."""
    while waiting and not (available[waiting[-1]] and tokens_of(waiting[-1]) <= room):
        waiting.pop()
    return waiting[-1] if waiting else None


def _leaves_no_room(tokens_of: Callable[[int], int], slot: int, best: int, room: int) -> bool:
    """Whether the best fits by itself, and not beside the one in a slot."""
    if slot == best or tokens_of(best) > room:
        return False
    return tokens_of(slot) + tokens_of(best) > room


class RelativeSimilarity:
    """Similarity of vectors beyond that of the average pair: among e5 vectors any two texts reach .8, among
    others .1.

    (cosine - c) / (1 - c), 0..1, where c is the mean cosine of two of them. 0 for a vector and itself, for rows of
    NaN, and everywhere when all vectors are the same.
    """

    def __init__(self, vectors: Float32s) -> None:
        """`vectors`: float32[m, dim], unit rows."""
        known = np.asarray(np.isfinite(vectors).all(axis=1))
        whole = known.all()
        self._known = known
        self._vectors = vectors if whole else np.where(known[:, None], vectors, 0)
        # All cosines are those of the sum with itself, so that no pair need be compared; a row with itself has 1.
        count = int(np.count_nonzero(known))
        total = self._vectors.sum(axis=0, dtype=np.float64)
        pairs = count * (count - 1)
        self._usual = (float(total @ total) - count) / pairs if pairs else 1.0

    def to(self, position: int) -> Float32s:
        """How similar each is to the one at a position, float32[m]."""
        if not self._known[position] or self._usual >= 1 - 1e-6:
            return np.zeros(self._known.size, np.float32)
        cosine = self._vectors @ self._vectors[position]
        out = np.clip((cosine - self._usual) / (1 - self._usual), 0, 1)
        out[~self._known] = 0.0
        out[position] = 0.0
        return np.asarray(out, np.float32)
