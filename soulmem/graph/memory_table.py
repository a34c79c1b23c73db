"""Where are a soul's memories? What was just written as it is, the rest and the bin as bytes, read when asked
for.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory
from soulmem.graph.encoded import decoded, encoded, text_of
from soulmem.graph.packing import Arrays
from soulmem.graph.rows import Rows

_REMEMBERED = 4096  # memories read of late, some 5 MB: those of one list, and what comes to mind each turn


class MemoryTable(MutableMapping[MemoryId, Memory]):
    """Memories by id; `rows` must know an id when its memory is packed, and as long as it then stays.
    What goes to the bin is packed at once: 1 kB less of each for the week that it lies there.

    One thread writes. Others may look one up meanwhile: each step leaves every memory to be found.
    """

    def __init__(self, rows: Rows[MemoryId]) -> None:
        self._rows = rows
        self._fresh: dict[MemoryId, Memory] = {}
        self._packed: list[bytes | None] = []  # by row; what is fresh as well may be out of date
        self._recent: dict[MemoryId, tuple[bytes, Memory]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, key: object) -> bool:
        return key in self._fresh or self._record(key) is not None

    def __iter__(self) -> Iterator[MemoryId]:
        """In no particular order; nothing may come or go meanwhile."""
        yield from self._fresh
        fresh = self._fresh
        for row, record in enumerate(self._packed):
            if record is not None and (key := self._rows.id(row)) is not None and key not in fresh:
                yield key

    def __getitem__(self, key: MemoryId) -> Memory:
        found = self._fresh.get(key)
        if found is not None:
            return found
        record = self._record(key)
        if record is None:
            raise KeyError(key)
        known = self._recent.get(key)
        if known is not None and known[0] is record:
            return known[1]
        memory = decoded(record, key)
        if len(self._recent) >= _REMEMBERED:
            self._recent.clear()
        self._recent[key] = record, memory
        return memory

    def __setitem__(self, key: MemoryId, memory: Memory) -> None:
        self._count += key not in self
        self._fresh[key] = memory
        if memory.is_gone and self._rows.row(key) is not None:
            self._pack(key, memory)

    def __delitem__(self, key: MemoryId) -> None:
        if key not in self:
            raise KeyError(key)
        row = self._rows.row(key)
        if row is not None and row < len(self._packed):
            self._packed[row] = None
        self._fresh.pop(key, None)
        self._recent.pop(key, None)
        self._count -= 1

    def text(self, key: MemoryId) -> str:
        """The text of a memory, without the price of the rest. Raises KeyError."""
        found = self._fresh.get(key)
        if found is not None:
            return found.text
        record = self._record(key)
        if record is None:
            raise KeyError(key)
        return text_of(record)

    def unpacked(self) -> int:
        """How many are not bytes yet."""
        return len(self._fresh)

    def pack(self, most: int) -> int:
        """Make bytes of at most `most` memories; returns how many are left. Some 3 ms a thousand."""
        for key, memory in list(islice(self._fresh.items(), most)):
            self._pack(key, memory)
        return len(self._fresh)

    def _pack(self, key: MemoryId, memory: Memory) -> None:
        row = self._rows.row(key)
        if row is None:
            raise KeyError(key)
        if row >= len(self._packed):
            self._packed += [None] * (row + 1 - len(self._packed))
        self._packed[row] = encoded(memory)
        del self._fresh[key]

    def packed(self) -> dict[str, NDArray[Any]]:
        """All of it as arrays, which nothing changes later; every memory must have been made bytes."""
        if self._fresh:
            raise ValueError(f"{len(self._fresh)} memories are not packed")
        lengths = np.asarray([0 if record is None else len(record) for record in self._packed], np.int64)
        return {"lengths": lengths, "records": np.frombuffer(b"".join(filter(None, self._packed)), np.uint8)}

    def restore(self, arrays: Arrays) -> None:
        """Take over what was packed, instead of anything there was."""
        ends = np.cumsum(arrays["lengths"]).tolist()
        records, start = arrays["records"].tobytes(), 0
        out: list[bytes | None] = []
        for end in ends:
            out.append(records[start:end] if end > start else None)
            start = end
        self._packed, self._fresh, self._recent = out, {}, {}
        self._count = int(np.count_nonzero(arrays["lengths"]))

    def _record(self, key: object) -> bytes | None:
        row = self._rows.row(key)  # type: ignore[arg-type]
        return self._packed[row] if row is not None and row < len(self._packed) else None
