"""Where the vectors of rows lie: one growing float32 matrix, searched exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class VectorTable:
    """Unit vectors by row. A row without a vector answers NaN."""

    def __init__(self, dim: int, rows: int = 0) -> None:
        """With room for `rows` vectors and some more; it grows beyond."""
        self.dim = dim
        size = max(64, rows + rows // 50)
        self._matrix = np.zeros((size, dim), np.float32)
        self._has = np.zeros(size, np.bool_)

    def put(self, row: int, vector: Floats) -> None:
        """Keep `vector` (length `dim`, unit) at `row`. Raises ValueError for another length."""
        if vector.shape != (self.dim,):
            raise ValueError(
                f"a vector of shape {vector.shape} does not fit a table of {self.dim} dimensions"
            )
        self._grow(row + 1)
        self._matrix[row] = vector
        self._has[row] = True

    def drop(self, row: int) -> None:
        """Forget the vector at `row`; one that is not there is ignored."""
        if row < self._has.size:
            self._has[row] = False

    def has(self, n: int) -> NDArray[np.bool_]:
        """Which of the first `n` rows hold a vector, shape (n,)."""
        self._grow(n)
        return self._has[:n]

    def rows(self, rows: NDArray[np.int64]) -> Floats:
        """Vectors at `rows`, shape (len(rows), dim); NaN where there is none."""
        out = np.full((rows.size, self.dim), np.nan, np.float32)
        inside = (rows >= 0) & (rows < self._has.size)
        known = np.zeros(rows.size, np.bool_)
        known[inside] = self._has[rows[inside]]
        out[known] = self._matrix[rows[known]]
        return out

    def cosines(self, query: Floats, n: int) -> Floats:
        """Cosine of the unit vector `query` with the first `n` rows, shape (n,); NaN where there is no
        vector.
        """
        self._grow(n)
        out = self._matrix[:n] @ query
        out[~self._has[:n]] = np.nan
        return np.asarray(out, np.float32)

    def _grow(self, n: int) -> None:
        size = self._has.size
        if n > size:
            wanted = max(n, size + size // 4)
            grown = np.zeros((wanted, self.dim), np.float32)
            grown[:size] = self._matrix
            self._matrix = grown
            self._has = np.concatenate([self._has, np.zeros(wanted - size, np.bool_)])
