"""NameCounts: which messages contain which names, and who speaks in them.

Only episodes made from messages count, while they are in use. Compute thread only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import NAMEABLE, Memory, MemoryKind, Origin
from soulmem.domain.situation import ParticipantKind
from soulmem.graph.packed_arrays import (
    Arrays,
    named,
    packed_runs,
    packed_texts,
    part,
    unpacked_runs,
    unpacked_texts,
)
from soulmem.graph.row_numbers import Rows
from soulmem.language.name_tokens import Tokens, fold
from soulmem.language.names import introduced
from soulmem.language.pinyin import sound

Swap = tuple[Memory | None, Memory | None]  # a memory before and after a change; None: absent


_SPEAKERS = 256  # names whose words are kept: a chat has few speakers


class NameCounts:
    """The names in messages by spelling, by fold and by sound, updated message by message."""

    def __init__(self) -> None:
        self._memories: dict[str, set[MemoryId]] = {}  # by spelling
        self._spellings: dict[str, dict[str, None]] = {}  # by fold
        self._alike: dict[str, dict[str, None]] = {}  # folds by sound
        # By the fold of its first word: the spellings of names of several words.
        self._wider: dict[str, dict[str, None]] = {}
        # By fold: the messages that introduce somebody of that name.
        self._introduced: dict[str, set[MemoryId]] = {}
        # Messages by the folded words of their speakers' names.
        self._speakers: Counter[str] = Counter()

    def swap(self, old: Memory | None, new: Memory | None) -> set[str]:
        """Count `new` instead of `old`; returns the folds of the names whose counts or speakers change."""
        before, after = _names(old), _names(new)
        changed = set[str]()
        if old is not None:
            for name in before.difference(after):
                changed.update(self._remove(name, old.id))
            changed |= self._introduce_no_more(_introduced(old), old.id)
        if new is not None:
            for name in after.difference(before):
                changed.update(self._add(name, new.id))
            changed |= self._introduce(_introduced(new), new.id)
        return changed | self._swap_speaker(old, new)

    def _introduce(self, folds: set[str], memory: MemoryId) -> set[str]:
        for folded in folds:
            self._introduced.setdefault(folded, set()).add(memory)
        return folds

    def _introduce_no_more(self, folds: set[str], memory: MemoryId) -> set[str]:
        for folded in folds:
            self._introduced[folded].discard(memory)
            if not self._introduced[folded]:
                del self._introduced[folded]
        return folds

    def _swap_speaker(self, old: Memory | None, new: Memory | None) -> set[str]:
        changed = set[str]()
        spoke, speaks = _speaker(old), _speaker(new)
        if spoke != speaks:
            for word in spoke:
                changed.update(self._count_speaker(word, -1))
            for word in speaks:
                changed.update(self._count_speaker(word, 1))
        return changed

    @contextmanager
    def as_if(self, swaps: Sequence[Swap]) -> Iterator[set[str]]:
        """Inside the block: with these swaps made; yields the folds they change. UndoResult afterwards."""
        done: list[Swap] = []
        try:
            changed = set[str]()
            for old, new in swaps:
                done.append((old, new))
                changed |= self.swap(old, new)
            yield changed
        finally:
            for old, new in reversed(done):
                self.swap(new, old)

    def folds(self) -> list[str]:
        """The folds of all names."""
        return list(self._spellings)

    def sounding_alike(self, folded: str) -> list[str]:
        """The folds of the names that sound like this one, itself first."""
        key = sound(folded)
        if key is None:
            return [folded]
        return list(dict.fromkeys((folded, *self._alike.get(key, ()))))

    def memories_with(self, folded: str) -> set[MemoryId]:
        """The episodes that contain a name of this fold."""
        spellings = self._spellings.get(folded, ())
        return set().union(*(self._memories[spelling] for spelling in spellings))

    def memories_with_whole(self, folded: str) -> set[MemoryId]:
        """The episodes that contain a longer name whose first word has this fold: Given Family for Given."""
        wider = self._wider.get(folded, ())
        return set().union(*(self._memories[spelling] for spelling in wider))

    def introduced_in(self, folded: str) -> Set[MemoryId]:
        """The episodes that introduce somebody by a name of this fold."""
        return self._introduced.get(folded, frozenset())

    def spellings(self, folded: str) -> list[str]:
        """The spellings of the name, the most frequent first."""
        return sorted(
            self._spellings.get(folded, ()),
            key=lambda spelling: (-len(self._memories[spelling]), spelling),
        )

    def is_speaker(self, folded: str) -> bool:
        """Whether a word of some speaker's name begins with it; False for a single character."""
        if len(folded) < 2:
            return False
        return any(word.startswith(folded) for word in self._speakers)

    def packed(self, rows: Rows[MemoryId]) -> dict[str, NDArray[Any]]:
        """The counts as arrays for a snapshot, by rows of memories."""
        runs = [_sorted_rows(memories, rows) for memories in self._memories.values()]
        return {
            "spelled": packed_texts(list(self._memories)),
            **named("held", packed_runs(runs)),
            "introduced": packed_texts(list(self._introduced)),
            **named(
                "introducing",
                packed_runs([_sorted_rows(m, rows) for m in self._introduced.values()]),
            ),
            "speakers": packed_texts(list(self._speakers)),
            "spoke": np.asarray(list(self._speakers.values()), np.int64),
        }

    def restore(self, arrays: Arrays, id_at: Callable[[int], MemoryId]) -> None:
        """Replace everything by what `packed` gave."""
        names = unpacked_texts(arrays["spelled"])
        runs = unpacked_runs(part("held", arrays))
        for name, rows in zip(names, runs, strict=True):
            if name is not None:
                for row in rows.tolist():
                    self._add(name, id_at(row))
        folds = unpacked_texts(arrays["introduced"])
        runs = unpacked_runs(part("introducing", arrays))
        self._introduced = {
            folded: set(map(id_at, rows.tolist()))
            for folded, rows in zip(folds, runs, strict=True)
            if folded and rows.size
        }
        words = unpacked_texts(arrays["speakers"])
        counts = zip(words, arrays["spoke"].tolist(), strict=True)
        self._speakers = Counter({word: count for word, count in counts if word})

    def _add(self, name: str, memory: MemoryId) -> tuple[str, str]:
        """Count the name in the memory; returns its fold, and that of its first word."""
        folded, first = fold(name), _first_word(name)
        memories = self._memories.get(name)
        if memories is None:
            memories = self._memories[name] = set()
            self._spellings.setdefault(folded, {})[name] = None
            if first != folded:
                self._wider.setdefault(first, {})[name] = None
            if (key := sound(folded)) is not None:
                self._alike.setdefault(key, {})[folded] = None
        memories.add(memory)
        return folded, first

    def _remove(self, name: str, memory: MemoryId) -> tuple[str, str]:
        """Count the name in the memory no longer; returns as `_add`."""
        folded, first = fold(name), _first_word(name)
        memories = self._memories[name]
        memories.discard(memory)
        if not memories:
            del self._memories[name]
            del self._spellings[folded][name]
            if first != folded:
                del self._wider[first][name]
                if not self._wider[first]:
                    del self._wider[first]
            if not self._spellings[folded]:
                del self._spellings[folded]
                if (key := sound(folded)) is not None:
                    self._alike[key].pop(folded, None)
                    if not self._alike[key]:
                        del self._alike[key]
        return folded, first

    def _count_speaker(self, word: str, more: int) -> Iterable[str]:
        """Add `more` messages of speakers with this word; returns the beginnings whose state changes."""
        was = self._speakers[word]
        self._speakers[word] += more
        if self._speakers[word] <= 0:
            del self._speakers[word]
        if (was > 0) == (was + more > 0):
            return ()
        return [word[:length] for length in range(2, len(word) + 1)]


def _sorted_rows(memories: Iterable[MemoryId], rows: Rows[MemoryId]) -> NDArray[np.int64]:
    """The rows of these memories, ascending; those without a row are left out."""
    numbers = (rows.row(memory) for memory in memories)
    return np.asarray(sorted(row for row in numbers if row is not None), np.int64)


def _counts(memory: Memory | None) -> bool:
    """Whether names in the memory count: it is a message, also one that the user corrected."""
    return (
        memory is not None
        and memory.kind is MemoryKind.EPISODE
        and (memory.origin is Origin.CHAT or _is_corrected(memory))
        and memory.state in NAMEABLE
    )


def _is_corrected(memory: Memory) -> bool:
    return memory.origin is Origin.USER and bool(memory.evidence)


def _names(memory: Memory | None) -> set[str]:
    if memory is None or not _counts(memory):
        return set()
    return {name for name in memory.names if fold(name)}


def _first_word(name: str) -> str:
    return fold(name.split(maxsplit=1)[0])


def _introduced(memory: Memory) -> set[str]:
    """The folds of the names by which the memory introduces somebody."""
    if not _counts(memory):
        return set()
    return set(map(fold, introduced(memory.text, memory.names))) - {""}


def _speaker(memory: Memory | None) -> list[str]:
    """The folded name of the memory's speaker, and its words of two or more characters."""
    if memory is None or not _counts(memory):
        return []
    participants = memory.situation.participants
    speakers = (p for p in participants if p.kind is not ParticipantKind.UNKNOWN)
    first = next(speakers, None)
    return [] if first is None else list(_words_of(first.name))


@lru_cache(_SPEAKERS)
def _words_of(name: str) -> tuple[str, ...]:
    """The folded name, and its words of two or more characters."""
    whole = fold(name)
    words = (word for word in Tokens.of(name).folded if len(word) > 1)
    return tuple(dict.fromkeys((whole, *words))) if whole else ()
