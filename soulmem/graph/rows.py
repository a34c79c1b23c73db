"""Which array row stands for which id; rows that become free are used again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key")


class Rows(Generic[Key]):
    """A two-way table of ids and row numbers 0 .. capacity - 1."""

    def __init__(self) -> None:
        self._row: dict[Key, int] = {}
        self._id: list[Key | None] = []
        self._free: list[int] = []

    def __len__(self) -> int:
        """Rows in use."""
        return len(self._row)

    def __contains__(self, key: Key) -> bool:
        return key in self._row

    def __iter__(self) -> Iterator[tuple[Key, int]]:
        return iter(self._row.items())

    @property
    def capacity(self) -> int:
        """One more than the highest row ever used: the length arrays must have."""
        return len(self._id)

    def ids(self) -> list[Key | None]:
        """What each row stands for, None where it is free; of length `capacity`."""
        return list(self._id)

    def restore(self, ids: list[Key | None]) -> None:
        """Let row i stand for the i-th of `ids`, None for a free one, instead of anything there was."""
        self._id = ids
        self._row = {key: row for row, key in enumerate(ids) if key is not None}
        self._free = [row for row, key in enumerate(ids) if key is None]

    def add(self, key: Key) -> int:
        """The row of `key`, a new one if it has none."""
        row = self._row.get(key)
        if row is None:
            if self._free:
                row = self._free.pop()
                self._id[row] = key
            else:
                row = len(self._id)
                self._id.append(key)
            self._row[key] = row
        return row

    def drop(self, key: Key) -> int | None:
        """Free the row of `key` and return it; None when it had none."""
        row = self._row.pop(key, None)
        if row is not None:
            self._id[row] = None
            self._free.append(row)
        return row

    def row(self, key: Key) -> int | None:
        """The row of `key`, or None."""
        return self._row.get(key)

    def id(self, row: int) -> Key | None:
        """The id at `row`, or None when the row is free."""
        return self._id[row] if 0 <= row < len(self._id) else None
