"""SetTrie: finds which of many sets of words lie within a set, without a look at each (Savnik 2013)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Node:
    """A beginning that sets share; `values` are those of the sets that end here."""

    longer: dict[str, _Node] = field(default_factory=dict)
    values: list[int] = field(default_factory=list)


class SetTrie:
    """Sets of words, each with a number, as paths from the first of their words in `order` to the last.

    order  every word that a set may have; rare ones first, so that a search ends early
    """

    def __init__(self, order: Iterable[str]) -> None:
        self._rank = {word: rank for rank, word in enumerate(order)}
        self._root = _Node()

    def add(self, words: Iterable[str], value: int) -> None:
        """Add a set. Raises KeyError for a word that has no place in the order."""
        node = self._root
        for word in sorted(words, key=self._rank.__getitem__):
            node = node.longer.setdefault(word, _Node())
        node.values.append(value)

    def within(self, words: Iterable[str], needed: Collection[str]) -> Iterator[int]:
        """Numbers of the sets that have no other words than these, and all that are needed."""
        own = {word for word in words if word in self._rank}
        if not own.issuperset(needed):
            return
        known = sorted(own, key=self._rank.__getitem__)
        is_needed = [word in needed for word in known]
        least = max((at for at, needs in enumerate(is_needed, 1) if needs), default=0)
        waiting = [(self._root, 0)]
        while waiting:
            node, start = waiting.pop()
            if start >= least:
                yield from node.values
            for at in range(start, len(known)):
                longer = node.longer.get(known[at])
                if longer is not None:
                    waiting.append((longer, at + 1))
                if is_needed[at]:
                    break  # no set without it
