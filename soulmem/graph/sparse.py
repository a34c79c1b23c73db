"""Which number has a slot, where few have one? A dictionary instead of a column that says nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.graph.packing import Arrays

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Sparse(dict[int, float]):
    """Numbers by slot."""

    def put(self, slot: int, value: float | None) -> None:
        """Let the slot have this number, or none."""
        if value is None:
            self.pop(slot, None)
        else:
            self[slot] = value

    def put_all(self, first: int, values: Iterable[float | None]) -> None:
        """The same of slots in a row that have none yet."""
        self.update(
            (first + i, value) for i, value in enumerate(values) if value is not None
        )

    def of(self, slots: Ints) -> Floats:
        """The numbers of these slots, NaN where there is none."""
        return np.asarray(
            [self.get(slot, np.nan) for slot in slots.tolist()], np.float64
        )

    def kept(self, slots: Ints) -> Sparse:
        """Those of these distinct slots, by their places among them."""
        places = np.flatnonzero(np.isin(slots, list(self)))
        return Sparse(
            zip(places.tolist(), self.of(slots[places]).tolist(), strict=True)
        )

    def packed(self) -> dict[str, NDArray[Any]]:
        """All of it as arrays, which nothing changes later."""
        return {
            "slots": np.fromiter(self, np.int32, len(self)),
            "values": np.fromiter(self.values(), np.float64, len(self)),
        }

    @classmethod
    def unpacked(cls, arrays: Arrays) -> Sparse:
        """What was packed."""
        return cls(
            zip(arrays["slots"].tolist(), arrays["values"].tolist(), strict=True)
        )
