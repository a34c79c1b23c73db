"""Row numbers by id and ids by row; free rows are used again."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

_END = b"\xff"  # after each id; no UTF-8 has it
# instead of the id of a free row; stands where the buffer begins, for all of them
_FREE = b"\xfe\xff"
_NEVER, _GONE = -1, -2  # cells that never held a row, and that hold none any more
_LEAST_WASTE = 1 << 12  # bytes: less is not worth a new buffer

Key = TypeVar("Key", bound=str)
State = tuple[bytearray, "array[int]", "array[int]"]


class Rows(Generic[Key]):
    """Table of ids and row numbers 0 .. capacity - 1.

    Ids lie as UTF-8 in one buffer, with 13 bytes each besides; a dictionary of texts takes
    some 150. A look-up takes 0.5 microseconds. `id` builds a new text on each call.

    One thread writes. Others may look up meanwhile, as every step leaves each row findable:
    buffer, places and cells are replaced together, or only appended to.
    """

    def __init__(self) -> None:
        # The ids; by row where each begins; rows, each at the hash of its id or in the next free cell.
        self._state: State = bytearray(_FREE), array("i"), array("i", [_NEVER]) * 64
        self._free: list[int] = []
        self._filled = 0  # cells that once held a row
        self._waste = 0  # bytes of ids that were dropped

    def __len__(self) -> int:
        """Rows in use."""
        return self.capacity - len(self._free)

    def __contains__(self, key: Key) -> bool:
        return self.row(key) is not None

    def __iter__(self) -> Iterator[tuple[Key, int]]:
        """Ids with their rows, in order of rows; nothing may change during iteration."""
        return ((key, row) for row in range(self.capacity) if (key := self.id(row)) is not None)

    @property
    def capacity(self) -> int:
        """Highest row ever used + 1: the length of arrays by row."""
        return len(self._state[1])

    def add(self, key: Key) -> int:
        """The row of `key`, a new one if it has none."""
        row = self.row(key)
        if row is None:
            if 3 * (self._filled + 1) > 2 * len(self._state[2]):
                self._lay_out(*self._state[:2])
            data = key.encode("utf-8", "surrogatepass") + _END
            ids, places, cells = self._state
            place = len(ids)
            ids += data
            if self._free:
                row = self._free.pop()
                places[row] = place
            else:
                row = len(places)
                places.append(place)
            cell = hash(data) % len(cells)
            while cells[cell] >= 0:
                cell = (cell + 1) % len(cells)
            self._filled += cells[cell] == _NEVER
            cells[cell] = row
        return row

    def drop(self, key: Key) -> int | None:
        """Free the row of `key` and return it; None when it had none."""
        row = self.row(key)
        if row is None:
            return None
        data = key.encode("utf-8", "surrogatepass") + _END
        ids, places, cells = self._state
        cell = hash(data) % len(cells)
        while cells[cell] != row:
            cell = (cell + 1) % len(cells)
        cells[cell] = _GONE
        places[row] = 0
        self._free.append(row)
        self._waste += len(data)
        if self._waste > max(_LEAST_WASTE, len(ids) // 2):
            self.restore(self.packed())
        return row

    def row(self, key: Key) -> int | None:
        """The row of `key`, or None."""
        wanted = key.encode("utf-8", "surrogatepass") + _END
        ids, places, cells = self._state
        size = len(cells)
        cell = hash(wanted) % size
        while (row := cells[cell]) != _NEVER:
            if row >= 0 and ids.startswith(wanted, places[row]):
                return row
            cell = (cell + 1) % size
        return None

    def rows_of(self, keys: Iterable[Key]) -> dict[Key, int]:
        """The rows of these ids; ids without a row are left out."""
        rows = ((key, self.row(key)) for key in keys)
        return {key: row for key, row in rows if row is not None}

    def id(self, row: int) -> Key | None:
        """The id at `row`, or None when the row is free."""
        ids, places, _ = self._state
        place = places[row] if 0 <= row < len(places) else 0
        if not place:
            return None
        return ids[place : ids.index(_END, place)].decode("utf-8", "surrogatepass")  # type: ignore[return-value]

    def ids(self, rows: Iterable[int]) -> list[Key]:
        """The ids at these rows. Raises KeyError where a row is free."""
        ids, places, _ = self._state
        used, out = len(places), list[Key]()
        for row in rows:
            place = places[row] if 0 <= row < used else 0
            if not place:
                raise KeyError(f"row {row} is free")
            data = ids[place : ids.index(_END, place)]
            out.append(data.decode("utf-8", "surrogatepass"))  # type: ignore[arg-type]
        return out

    def packed(self) -> NDArray[np.uint8]:
        """All ids as one uint8 array for a snapshot. Some 60 ms for 200,000 rows."""
        return np.frombuffer(b"".join(_pieces(*self._state[:2])), np.uint8)

    def restore(self, packed: NDArray[Any]) -> None:
        """Replace the content by that of `packed`. Takes as long."""
        begins = np.flatnonzero(packed == _END[0]) + 1
        begins = np.append(0, begins[:-1])[: begins.size]
        free = packed[begins] == _FREE[0]
        # No more than that: added to, a buffer keeps some to grow
        ids = bytearray(len(_FREE) + packed.size)
        ids[: len(_FREE)], ids[len(_FREE) :] = _FREE, packed.data
        places = np.where(free, 0, begins + len(_FREE)).astype(np.int32)
        self._free = np.flatnonzero(free).tolist()
        self._waste = len(_FREE) * len(self._free)
        self._lay_out(ids, array("i", places.tobytes()))

    def _lay_out(self, ids: bytearray, places: array[int]) -> None:
        """Use these ids and build the hash cells, half of them filled."""
        cell_of = np.fromiter(map(hash, _pieces(ids, places)), np.int64, len(places))
        # A copy: as long as anything holds a view, such as a profiler's frame, the places cannot grow
        rows = np.flatnonzero(np.array(places, np.int32)).astype(np.int32)
        size = 2 * rows.size + 64
        cells = np.full(size, _NEVER, np.int32)
        cell_of = cell_of[rows] % size
        waiting = np.arange(rows.size)
        while waiting.size:
            vacant = cells[cell_of[waiting]] == _NEVER
            placed = waiting[vacant]
            # Of several that want one cell the last gets it
            cells[cell_of[placed]] = rows[placed]
            lost = cells[cell_of[placed]] != rows[placed]
            waiting = np.concatenate([waiting[~vacant], placed[lost]])
            cell_of[waiting] = (cell_of[waiting] + 1) % size
        self._state = ids, places, array("i", cells.tobytes())
        self._filled = rows.size


def packed_ids(ids: Iterable[str]) -> NDArray[np.uint8]:
    """The distinct ids of the rows 0, 1, .. as `Rows.restore` takes them."""
    data = (key.encode("utf-8", "surrogatepass") + _END for key in ids)
    return np.frombuffer(b"".join(data), np.uint8)


def _pieces(ids: bytearray, places: array[int]) -> Iterator[bytes]:
    """Encoded id of each row with its end byte."""
    data = bytes(ids)
    return (data[place : data.index(_END, place) + 1] for place in places)
