"""Lists of slots by row: doubly linked lists in flat arrays, 8 bytes per slot and 4 per row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.graph.packed_arrays import Arrays
from soulmem.kernels.warm import kernels

_ROOM = 1 << 15  # slots: more of them are counted before there is room


class Chains:
    """A list of slots for each row; adding and removing a slot take constant time."""

    def __init__(self) -> None:
        self._first = np.full(64, -1, np.int32)  # by row
        self._next = np.full(64, -1, np.int32)  # by slot, as is _before
        self._before = np.full(64, -1, np.int32)

    def packed(self, slots: int) -> dict[str, NDArray[Any]]:
        """Copies of the arrays for a snapshot, of the first `slots` slots."""
        columns = {
            "first": self._first,
            "next": self._next[:slots],
            "before": self._before[:slots],
        }
        return {name: column.copy() for name, column in columns.items()}

    @classmethod
    def unpacked(cls, arrays: Arrays) -> Chains:
        """The lists from arrays of `packed`, which are used without a copy."""
        chains = cls()
        chains._first, chains._next, chains._before = (
            arrays["first"],
            arrays["next"],
            arrays["before"],
        )
        return chains

    def of(self, row: int) -> Iterator[int]:
        """Slots of the row; nothing may be added or removed during iteration."""
        following = self._next
        slot = self._first.item(row) if row < self._first.size else -1
        while slot >= 0:
            yield slot
            slot = following.item(slot)

    def of_one(self, row: int, codes: NDArray[np.uint8], code: int) -> list[int]:
        """Slots of the row whose entry in `codes` is `code`."""
        wanted = np.zeros(256, np.uint8)
        wanted[code] = 1
        slots: list[int] = self.of_all(np.asarray([row]), codes, wanted)[0].tolist()
        return slots

    def of_all(
        self,
        rows: NDArray[np.int64],
        codes: NDArray[np.uint8],
        wanted: NDArray[np.uint8],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The slots of these rows whose code is among those that are 1 in `wanted`, uint8[256].

        Returns the slots, row by row, and how many there are up to each row.
        """
        slots, ends = np.empty(_ROOM, np.int64), np.empty(rows.size, np.int64)
        follow = kernels().follow
        count = follow(self._first, self._next, rows, codes, wanted, ends, slots)
        if count > slots.size:
            slots = np.empty(count, np.int64)
            follow(self._first, self._next, rows, codes, wanted, ends, slots)
        return slots[:count], ends

    def add_worth(
        self,
        rows: NDArray[np.int64],
        codes: NDArray[np.uint8],
        code: int,
        ends: NDArray[np.uint32],
        worth: NDArray[np.uint8],
        most: int,
        out: NDArray[np.int64],
    ) -> None:
        """For each row the sum of `worth` at the `ends` of its slots of that code; see `lookups.add_worth`."""
        add_worth = kernels(rows.size).add_worth
        lists = self._first, self._next
        add_worth(*lists, rows, codes, code, ends, worth, most, out)

    def add(self, row: int, slot: int) -> None:
        """Insert `slot` at the front of the row's list."""
        self._reserve(row + 1, slot + 1)
        head = self._first[row]
        self._next[slot], self._before[slot] = head, -1
        if head >= 0:
            self._before[head] = slot
        self._first[row] = slot

    def add_all(self, rows: NDArray[np.int64], slots: NDArray[np.int32]) -> None:
        """`add` for each (row, slot); the arrays have the same length, at least 1."""
        self._reserve(int(rows.max()) + 1, int(slots.max()) + 1)
        order = np.argsort(rows, kind="stable")
        rows, slots = rows[order], slots[order]
        # The first slot of each row among these
        opens = np.append(True, rows[1:] != rows[:-1])
        closes = np.append(opens[1:], True)
        self._next[slots[:-1]] = slots[1:]
        self._before[slots[1:]] = slots[:-1]
        self._before[slots[opens]] = -1
        heads = self._first[rows[closes]]
        self._next[slots[closes]] = heads
        has_head = heads >= 0
        self._before[heads[has_head]] = slots[closes][has_head]
        self._first[rows[opens]] = slots[opens]

    def remove(self, row: int, slot: int) -> None:
        """Remove `slot` from the row's list; it must be there."""
        before, after = int(self._before[slot]), int(self._next[slot])
        if after >= 0:
            self._before[after] = before
        if before >= 0:
            self._next[before] = after
        else:
            self._first[row] = after

    def _reserve(self, rows: int, slots: int) -> None:
        self._first = _at_least(self._first, rows)
        self._next = _at_least(self._next, slots)
        self._before = _at_least(self._before, slots)


def _at_least(array: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    if size <= array.size:
        return array
    more = max(size, array.size + array.size // 4) - array.size
    return np.concatenate([array, np.full(more, -1, np.int32)])
