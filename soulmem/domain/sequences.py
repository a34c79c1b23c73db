"""Sequences that grow at their end: what two versions have in common is shared, and found without a look at it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar, overload

T = TypeVar("T")
Key = TypeVar("Key")


class Grown(Sequence[T]):
    """An immutable sequence. One that goes on from it shares its items, and is made in time of what is new."""

    __slots__ = ("_count", "_items")

    def __init__(self, items: Iterable[T] = ()) -> None:
        # Items behind `_count` belong to sequences that went on from this one.
        self._items = list(items)
        self._count = len(self._items)

    def first(self, count: int) -> Grown[T]:
        """The first `count` items, at most all."""
        out = Grown[T].__new__(Grown)
        out._items, out._count = self._items, min(count, self._count)
        return out

    def extended(self, items: Iterable[T]) -> Grown[T]:
        """These items, then others. In time of the others, unless another sequence went on from this one."""
        more = list(items)
        if not more:
            return self
        if self._count < len(self._items):
            return Grown([*self, *more])
        self._items.extend(more)
        return self.first(self._count)._with(len(self._items))

    def shared_with(self, other: object) -> int:
        """How many items both begin with because they share them; 0 where they share nothing."""
        if isinstance(other, Grown) and other._items is self._items:
            return min(self._count, other._count)
        return 0

    def _with(self, count: int) -> Grown[T]:
        self._count = count
        return self

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._count)
            if (start, step) == (0, 1):
                return self.first(stop)
            if step > 0:
                return tuple(self._items[start:stop:step])
            return tuple(self._items[: self._count][index])
        if not -self._count <= index < self._count:
            raise IndexError(index)
        return self._items[index if index >= 0 else index + self._count]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        return islice(self._items, self._count)

    def __reversed__(self) -> Iterator[T]:
        return map(self._items.__getitem__, range(self._count - 1, -1, -1))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(other) != self._count:
            return False
        if self.shared_with(other) == self._count:
            return True
        return self._items[: self._count] == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Grown({list(self)!r})"


class Places(Mapping[Key, int]):
    """The place of each of so many distinct keys in a sequence; shared with versions that go on from it."""

    __slots__ = ("_count", "_place")

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        self._place = {key: place for place, key in enumerate(keys)}
        self._count = len(self._place)

    def extended(self, keys: Iterable[Key]) -> Places[Key]:
        """With further keys behind the others; as `Grown.extended`."""
        out = Places[Key].__new__(Places)
        out._place, out._count = self._place, self._count
        if len(self._place) > self._count:
            out._place = {key: self._place[key] for key in self}
        for key in keys:
            out._place[key] = out._count
            out._count += 1
        return out

    def __getitem__(self, key: Key) -> int:
        place = self._place[key]
        if place >= self._count:
            raise KeyError(key)
        return place

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Key]:
        return islice(self._place, self._count)


def common_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """Lengths of the longest common prefix, and of the longest common suffix of the rest.

    Edits of a long chat mostly touch a few places near its end; callers compare the middle only. What both
    share, see `Grown`, is not looked at.
    """
    shorter = min(len(old), len(new))
    prefix = old.shared_with(new) if isinstance(old, Grown) else 0
    step = shorter - prefix
    while step:  # halving steps: slices compare far faster than a loop over single elements
        if old[prefix : prefix + step] == new[prefix : prefix + step]:
            prefix += step
            step = min(step, shorter - prefix)
        else:
            step //= 2
    suffix = 0
    limit = shorter - prefix
    while suffix < limit and _same(old[len(old) - 1 - suffix], new[len(new) - 1 - suffix]):
        suffix += 1
    return prefix, suffix


def _same(item: object, other: object) -> bool:
    return item is other or item == other
