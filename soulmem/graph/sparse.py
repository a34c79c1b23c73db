"""Numbers by slot for a column that few slots use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.graph.packed_arrays import Arrays
from soulmem.kernels.arrays import Float64s, Int64s


class Sparse(dict[int, float]):
    """Numbers by slot."""

    def put(self, slot: int, value: float | None) -> None:
        """Set the number of the slot; None removes it."""
        if value is None:
            self.pop(slot, None)
        else:
            self[slot] = value

    def put_all(self, first: int, values: Iterable[float | None]) -> None:
        """Set numbers of consecutive slots from `first` that have none yet."""
        self.update((first + i, value) for i, value in enumerate(values) if value is not None)

    def of(self, slots: Int64s) -> Float64s:
        """Numbers of these slots, NaN where there is none."""
        return np.asarray([self.get(slot, np.nan) for slot in slots.tolist()], np.float64)

    def kept(self, slots: Int64s) -> Sparse:
        """Numbers of these distinct slots, renumbered by position."""
        places = np.flatnonzero(np.isin(slots, list(self)))
        return Sparse(zip(places.tolist(), self.of(slots[places]).tolist(), strict=True))

    def packed(self) -> dict[str, NDArray[Any]]:
        """Slots and values as arrays for a snapshot."""
        return {
            "slots": np.fromiter(self, np.int32, len(self)),
            "values": np.fromiter(self.values(), np.float64, len(self)),
        }

    @classmethod
    def unpacked(cls, arrays: Arrays) -> Sparse:
        """Inverse of `packed`."""
        return cls(zip(arrays["slots"].tolist(), arrays["values"].tolist(), strict=True))
