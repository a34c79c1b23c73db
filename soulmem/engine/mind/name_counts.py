"""Which messages give which names, and who speaks? Counted as messages come and go, by what changed.

Only episodes of messages count, as long as they are in use. Computes: its mind's thread only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import NAMEABLE, Memory, MemoryKind, Origin
from soulmem.domain.situation import ParticipantKind
from soulmem.graph.packing import (
    Arrays,
    named,
    packed_runs,
    packed_texts,
    part,
    unpacked_runs,
    unpacked_texts,
)
from soulmem.graph.rows import Rows
from soulmem.language.name_tokens import Tokens, fold
from soulmem.language.pinyin import sound

Swap = tuple[Memory | None, Memory | None]  # what a memory was, and what it is to be


class NameCounts:
    """Names by their fold, those that sound alike together."""

    def __init__(self) -> None:
        self._told: dict[str, set[MemoryId]] = {}  # by spelling
        self._spellings: dict[str, dict[str, None]] = {}  # by fold
        self._alike: dict[str, dict[str, None]] = {}  # folds by sound
        self._speakers: Counter[str] = (
            Counter()
        )  # folded words of the names of who speaks

    def swap(self, old: Memory | None, new: Memory | None) -> set[str]:
        """Count `new` instead of `old`; returns the folds of all names for which that may matter."""
        before, after = _names(old), _names(new)
        changed = set[str]()
        if old is not None:
            for name in before.difference(after):
                changed.add(self._forget(name, old.id))
        if new is not None:
            for name in after.difference(before):
                changed.add(self._see(name, new.id))
        spoke, speaks = _speaker(old), _speaker(new)
        if spoke != speaks:
            for word in spoke:
                changed.update(self._speaks(word, -1))
            for word in speaks:
                changed.update(self._speaks(word, 1))
        return changed

    @contextmanager
    def as_if(self, swaps: Sequence[Swap]) -> Iterator[set[str]]:
        """As it would be after these; gives the folds concerned. Afterwards all is as before."""
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
        """Every name there is."""
        return list(self._spellings)

    def sounding_alike(self, folded: str) -> list[str]:
        """The folds of names that sound as this one, itself included."""
        key = sound(folded)
        return (
            list(dict.fromkeys((folded, *self._alike.get(key, ()))))
            if key is not None
            else [folded]
        )

    def memories_with(self, folded: str) -> set[MemoryId]:
        """Who gives the name."""
        return set().union(
            *(self._told[one] for one in self._spellings.get(folded, ()))
        )

    def spellings(self, folded: str) -> list[str]:
        """How the name is written, the commonest first."""
        return sorted(
            self._spellings.get(folded, ()),
            key=lambda one: (-len(self._told[one]), one),
        )

    def is_speaker(self, folded: str) -> bool:
        """Whether somebody who speaks is called so, or is called so for short."""
        return (
            any(word.startswith(folded) for word in self._speakers)
            if len(folded) > 1
            else False
        )

    def packed(self, rows: Rows[MemoryId]) -> dict[str, NDArray[Any]]:
        """All of it as arrays; rows are those of the memories."""
        spelled = list(self._told)
        held = [
            sorted(row for m in self._told[s] if (row := rows.row(m)) is not None)
            for s in spelled
        ]
        counts = np.asarray(list(self._speakers.values()), np.int64)
        return {
            "spelled": packed_texts(spelled),
            **named("held", packed_runs([np.asarray(some, np.int64) for some in held])),
            "speakers": packed_texts(list(self._speakers)),
            "spoke": counts,
        }

    def restore(self, arrays: Arrays, id_at: Callable[[int], MemoryId]) -> None:
        """Take over what was packed, instead of anything there was."""
        for name, held in zip(
            unpacked_texts(arrays["spelled"]),
            unpacked_runs(part("held", arrays)),
            strict=True,
        ):
            if name is not None:
                for row in held.tolist():
                    self._see(name, id_at(row))
        words = unpacked_texts(arrays["speakers"])
        self._speakers = Counter(
            {
                word: count
                for word, count in zip(words, arrays["spoke"].tolist(), strict=True)
                if word
            }
        )

    def _see(self, name: str, memory: MemoryId) -> str:
        folded = fold(name)
        held = self._told.get(name)
        if held is None:
            held = self._told[name] = set()
            self._spellings.setdefault(folded, {})[name] = None
            if (key := sound(folded)) is not None:
                self._alike.setdefault(key, {})[folded] = None
        held.add(memory)
        return folded

    def _forget(self, name: str, memory: MemoryId) -> str:
        folded = fold(name)
        held = self._told[name]
        held.discard(memory)
        if not held:
            del self._told[name]
            del self._spellings[folded][name]
            if not self._spellings[folded]:
                del self._spellings[folded]
                if (key := sound(folded)) is not None:
                    self._alike[key].pop(folded, None)
                    if not self._alike[key]:
                        del self._alike[key]
        return folded

    def _speaks(self, word: str, more: int) -> Iterable[str]:
        was = self._speakers[word]
        self._speakers[word] += more
        if self._speakers[word] <= 0:
            del self._speakers[word]
        if (was > 0) == (was + more > 0):
            return ()
        return [word[:length] for length in range(2, len(word) + 1)]


def _counts(memory: Memory | None) -> bool:
    return (
        memory is not None
        and memory.kind is MemoryKind.EPISODE
        and memory.origin is Origin.CHAT
        and memory.state in NAMEABLE
    )


def _names(memory: Memory | None) -> set[str]:
    if memory is None or not _counts(memory):
        return set()
    return {name for name in memory.names if fold(name)}


def _speaker(memory: Memory | None) -> list[str]:
    """The words of the name of who speaks, and the name as a whole, folded."""
    if memory is None or not _counts(memory):
        return []
    spoken = (
        p
        for p in memory.situation.participants
        if p.kind is not ParticipantKind.UNKNOWN
    )
    first = next(spoken, None)
    if first is None or not (whole := fold(first.name)):
        return []
    return list(
        dict.fromkeys((whole, *(w for w in Tokens.of(first.name).folded if len(w) > 1)))
    )
