"""Entry numbers by 32-bit key: open addressing in flat arrays, 12 to 24 bytes an entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.graph.packed_arrays import Arrays

_NEVER, _GONE = -1, -2


class HashIndex:
    """Entry numbers by key. Several entries may share a key: the caller checks each."""

    def __init__(self) -> None:
        self._cells = np.full(64, _NEVER, np.int32)
        self._keys = np.zeros(64, np.uint32)
        self._filled = 0  # cells that once held an entry

    def packed(self) -> dict[str, NDArray[Any]]:
        """Keys and entries as arrays for a snapshot."""
        used = np.flatnonzero(self._cells >= 0)
        return {"keys": self._keys[used], "entries": self._cells[used]}

    @classmethod
    def unpacked(cls, arrays: Arrays) -> HashIndex:
        """The index of arrays from `packed`."""
        index = cls()
        index.put_all(arrays["keys"], arrays["entries"])
        return index

    def put(self, key: int, entry: int) -> None:
        """Add `entry` (0 .. 2^31 - 1) under `key` (0 .. 2^32 - 1)."""
        self._reserve(1)
        mask = self._cells.size - 1
        cell = key & mask
        while self._cells[cell] >= 0:
            cell = (cell + 1) & mask
        self._filled += int(self._cells[cell] == _NEVER)
        self._cells[cell], self._keys[cell] = entry, key

    def put_all(self, keys: NDArray[np.uint32], entries: NDArray[np.int32]) -> None:
        """`put` for each of many."""
        self._reserve(keys.size)
        mask = np.uint32(self._cells.size - 1)
        cell_of = (keys & mask).astype(np.int64)
        waiting = np.arange(keys.size)
        while waiting.size:
            free = self._cells[cell_of[waiting]] < 0
            placed, cells = waiting[free], cell_of[waiting[free]]
            fresh = self._cells[cells] == _NEVER
            # Of several that want one cell the last gets it
            self._cells[cells] = entries[placed]
            got = self._cells[cells] == entries[placed]
            self._filled += int(np.count_nonzero(got & fresh))  # each cell has one
            self._keys[cells[got]] = keys[placed[got]]
            waiting = np.concatenate([waiting[~free], placed[~got]])
            cell_of[waiting] = (cell_of[waiting] + 1) & int(mask)

    def find(self, key: int) -> Iterator[int]:
        """Entries under `key`."""
        mask = self._cells.size - 1
        cell = key & mask
        while (entry := int(self._cells[cell])) != _NEVER:
            if entry >= 0 and int(self._keys[cell]) == key:
                yield entry
            cell = (cell + 1) & mask

    def only(self, key: int) -> int:
        """The entry under `key` if there is exactly one, else -1."""
        cells, keys = self._cells, self._keys
        mask = cells.size - 1
        cell, match = key & mask, -1
        while (entry := cells.item(cell)) != _NEVER:
            if entry >= 0 and keys.item(cell) == key:
                if match >= 0:
                    return -1
                match = entry
            cell = (cell + 1) & mask
        return match

    def drop(self, key: int, entry: int) -> None:
        """Remove `entry` under `key`. Raises KeyError when it is not there."""
        mask = self._cells.size - 1
        cell = key & mask
        while (occupant := int(self._cells[cell])) != _NEVER:
            if occupant == entry:
                self._cells[cell] = _GONE
                return
            cell = (cell + 1) & mask
        raise KeyError(key)

    def keep(self, entries: NDArray[np.int64]) -> None:
        """Keep only these distinct entries, renumbered by their position in `entries`."""
        place = np.full(max(int(self._cells.max()), int(entries.max(initial=-1))) + 1, -1, np.int32)
        place[entries] = np.arange(entries.size, dtype=np.int32)
        used = self._cells >= 0
        keys, places = self._keys[used], place[self._cells[used]]
        self._cells = np.full(64, _NEVER, np.int32)
        self._keys = np.zeros(64, np.uint32)
        self._filled = 0
        self.put_all(keys[places >= 0], places[places >= 0])

    def _reserve(self, more: int) -> None:
        """Make room for `more` entries, with at most two thirds of the cells filled."""
        if 3 * (self._filled + more) <= 2 * self._cells.size:
            return
        used = self._cells >= 0
        keys, entries = self._keys[used], self._cells[used]
        size = 64
        while 2 * (entries.size + more) > size:
            size *= 2
        self._cells = np.full(size, _NEVER, np.int32)
        self._keys = np.zeros(size, np.uint32)
        self._filled = 0
        self.put_all(keys, entries)
