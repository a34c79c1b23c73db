"""Memories by id: fresh ones as objects, settled and binned ones as bytes decoded on access."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory
from soulmem.graph.encoded import decoded, encoded, text_of
from soulmem.graph.packed_arrays import Arrays
from soulmem.graph.row_numbers import Rows

# memories read of late, some 5 MB: those of one list, and what comes to mind each turn
_REMEMBERED = 2048
_NO_MEMORY = b""


@dataclass(frozen=True, slots=True)
class _Settled:
    """Records in one buffer, row i at starts[i]:starts[i + 1]; saves 40 bytes per record."""

    starts: array[int]
    records: memoryview

    @staticmethod
    def of(lengths: NDArray[np.int64], records: memoryview) -> _Settled:
        """From the length of each record."""
        starts = array("q", [0])
        starts.frombytes(np.cumsum(lengths, dtype=np.int64).tobytes())
        return _Settled(starts, records)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def at(self, row: int) -> memoryview:
        """Record of a row, empty where there is no memory."""
        starts = self.starts
        return self.records[starts[row] : starts[row + 1]] if row + 1 < len(starts) else _EMPTY


_EMPTY = memoryview(_NO_MEMORY)
_NOTHING = _Settled(array("q", [0]), _EMPTY)


class MemoryTable(MutableMapping[MemoryId, Memory]):
    """Memories by id. `rows` must know an id once its memory is packed and while it stays.

    Memories in the bin are packed at once, which saves 1 kB each. One thread writes; others
    may read meanwhile, as every step leaves each memory findable.
    """

    def __init__(self, rows: Rows[MemoryId]) -> None:
        self._rows = rows
        self._fresh: dict[MemoryId, Memory] = {}
        # Records of fresh memories may be out of date, too; of late ones only the settled are.
        self._late: dict[int, bytes] = {}  # by row; empty for none
        self._settled = _NOTHING
        # And where it was read
        self._recent: dict[MemoryId, tuple[object, Memory]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, key: object) -> bool:
        if key in self._fresh:
            return True
        row = self._rows.row(key)  # type: ignore[arg-type]
        return row is not None and bool(self._record(row)[0])

    def __iter__(self) -> Iterator[MemoryId]:
        """In no particular order; nothing may come or go meanwhile."""
        yield from self._fresh
        fresh = self._fresh
        for row in range(self._rows.capacity):
            if (
                self._record(row)[0]
                and (key := self._rows.id(row)) is not None
                and key not in fresh
            ):
                yield key

    def __getitem__(self, key: MemoryId) -> Memory:
        fresh = self._fresh.get(key)
        if fresh is not None:
            return fresh
        row = self._rows.row(key)
        record, place = self._record(row) if row is not None else (None, None)
        if not record:
            raise KeyError(key)
        recent = self._recent.get(key)
        if recent is not None and recent[0] is place:
            return recent[1]
        memory = decoded(record, key)
        if len(self._recent) >= _REMEMBERED:
            self._recent.clear()
        self._recent[key] = place, memory
        return memory

    def many(self, keys: Iterable[MemoryId]) -> list[Memory]:
        """The memories with these ids, in order. Raises KeyError."""
        return [self[key] for key in keys]

    def __setitem__(self, key: MemoryId, memory: Memory) -> None:
        self._count += key not in self
        self._fresh[key] = memory
        if memory.is_binned and self._rows.row(key) is not None:
            self._pack(key, memory)

    def load(self, rows: Sequence[int], memories: Sequence[Memory], *, packed: bool) -> None:
        """Add memories that are not in the table, whose rows these are, as bytes if `packed`."""
        for row, memory in zip(rows, memories, strict=True):
            if packed or memory.is_binned:
                self._late[row] = encoded(memory)
            else:
                self._fresh[memory.id] = memory
        self._count += len(memories)

    def __delitem__(self, key: MemoryId) -> None:
        if key not in self:
            raise KeyError(key)
        row = self._rows.row(key)
        if row is not None and self._record(row)[0]:
            self._late[row] = _NO_MEMORY
        self._fresh.pop(key, None)
        self._recent.pop(key, None)
        self._count -= 1

    def text(self, key: MemoryId) -> str:
        """Text of a memory without decoding the rest. Raises KeyError."""
        fresh = self._fresh.get(key)
        if fresh is not None:
            return fresh.text
        row = self._rows.row(key)
        record = self._record(row)[0] if row is not None else None
        if not record:
            raise KeyError(key)
        return text_of(record)

    def text_at(self, row: int) -> str | None:
        """Text of the memory at a row, without an id; None where there is none."""
        if self._fresh:
            key = self._rows.id(row)
            fresh = self._fresh.get(key) if key is not None else None
            if fresh is not None:
                return fresh.text
        record = self._record(row)[0]
        return text_of(record) if record else None

    def texts_at(self, rows: Sequence[int]) -> list[str]:
        """The texts of the memories at these rows. Raises KeyError where there is none."""
        fresh, out = self._fresh, list[str]()
        keys = self._rows.ids(rows) if fresh else ()
        for i, row in enumerate(rows):
            memory = fresh.get(keys[i]) if keys else None
            if memory is not None:
                out.append(memory.text)
                continue
            record = self._record(row)[0]
            if not record:
                raise KeyError(f"no memory at row {row}")
            out.append(text_of(record))
        return out

    def unpacked(self) -> int:
        """Number of memories that are not packed yet."""
        return len(self._fresh)

    def pack(self, most: int) -> int:
        """Pack at most `most` memories; returns how many remain. Some 3 ms per thousand."""
        for key, memory in list(islice(self._fresh.items(), most)):
            self._pack(key, memory)
        return len(self._fresh)

    def _pack(self, key: MemoryId, memory: Memory) -> None:
        row = self._rows.row(key)
        if row is None:
            raise KeyError(key)
        self._late[row] = encoded(memory)
        del self._fresh[key]
        if not self._fresh:
            self._fresh = {}  # one that was emptied keeps the room of all it held

    def packed(self) -> dict[str, NDArray[Any]]:
        """Lengths and records for a snapshot. Raises ValueError while a memory is not packed."""
        if self._fresh:
            raise ValueError(f"{len(self._fresh)} memories are not packed")
        self._settle()
        starts = np.frombuffer(self._settled.starts, np.int64)
        return {
            "lengths": np.diff(starts),
            "records": np.frombuffer(self._settled.records, np.uint8),
        }

    def restore(self, arrays: Arrays) -> None:
        """Replace the content by that of `packed`."""
        self._settled = _Settled.of(arrays["lengths"], arrays["records"].data)
        self._late, self._fresh, self._recent = {}, {}, {}
        self._count = int(np.count_nonzero(arrays["lengths"]))

    def _settle(self) -> None:
        """Merge the late records into the buffer of settled ones."""
        old, late = self._settled, self._late
        lengths = np.zeros(max(len(old), 1 + max(late, default=-1)), np.int64)
        lengths[: len(old)] = np.diff(np.frombuffer(old.starts, np.int64))
        parts: list[bytes | memoryview] = []
        offset = 0
        for row in sorted(late):
            parts += old.records[offset : old.starts[min(row, len(old))]], late[row]
            offset = old.starts[min(row + 1, len(old))]
            lengths[row] = len(late[row])
        parts.append(old.records[offset:])
        self._settled = _Settled.of(lengths, memoryview(b"".join(parts)))
        self._late = {}

    def _record(self, row: int) -> tuple[bytes | memoryview, object]:
        """Record of a row, empty for none, and an object whose identity changes with the record."""
        late = self._late.get(row)
        if late is not None:
            return late, late
        settled = self._settled
        return settled.at(row), settled
