"""Many edges as columns of arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import DECAYING, EDGE_STABILITY, EdgeKind
from soulmem.domain.forgetting_curve import Decay
from soulmem.kernels.arrays import Float64s, Int64s

EDGE_KINDS = tuple(EdgeKind)  # an edge's kind is stored as its place here
_DECAYING = np.asarray([kind in DECAYING for kind in EDGE_KINDS])

Codes = NDArray[np.uint8]
RowNumbers = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class EdgeArrays:
    """Edges as columns, shape (m,) each; rows are those of the table's `Rows`.

    May be views of the table: read them before the next put or drop, and do not write.
    """

    slot: Int64s  # what `EdgeTable.at` knows the edge by
    source: RowNumbers
    target: RowNumbers
    kind: Codes  # place in EDGE_KINDS
    strength: Float64s  # 0..1, as of `at_turn`
    confidence: Float64s  # 0..1
    stability: Float64s  # turns, > 0
    at_turn: Float64s  # NaN where it is not known
    touched: Int64s  # microseconds since 1970

    @property
    def pair(self) -> Int64s:
        """Source and target row in one int64; see `pair_of`."""
        return pair_of(self.source.astype(np.int64), self.target.astype(np.int64))

    def strength_at(
        self,
        turn: float,
        at_turn: Float64s,
        pace: float = 1.0,
        decay: Decay = Decay.EXPONENTIAL,
    ) -> Float64s:
        """`Edge.strength_at` of each edge, last touched at these turns; shape (m,)."""
        elapsed = pace * np.maximum(turn - at_turn, 0.0)
        spent = elapsed / self.stability
        if decay is Decay.HYBRID:
            power = np.maximum(1.0 - EDGE_STABILITY / self.stability, 0.0)
            tail = np.log1p(power * spent) / np.where(power > 0.0, power, 1.0)
            spent = np.where(power > 0.0, tail, spent)
        fades = _DECAYING[self.kind]
        return np.where(fades, self.strength * np.exp(-spent), self.strength)


def pair_of(source: Int64s, target: Int64s) -> Int64s:
    """source * 2^32 + target: one sortable key per pair of rows."""
    return np.asarray(source << np.int64(32) | target, np.int64)
