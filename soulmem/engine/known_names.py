"""Which concepts do a soul's known names stand for?

A name on the card becomes a card-made concept, unless a concept of the user's own goes by it: then that one
stands for it, with the card's aliases too. The soul's own name stands for nothing: it is in every line.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from soulmem.domain.ids import MemoryId, SoulId, derived_id
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin, Timelines
from soulmem.domain.situation import ConceptDetail, ConceptType
from soulmem.domain.soul import Soul
from soulmem.graph.names import NameIndex, fold

_IN_USE = (MemoryState.ACTIVE, MemoryState.STALE)


@dataclass(frozen=True, slots=True)
class CardName:
    """A name as the card has it: spellings that fold alike are one."""

    id: MemoryId
    name: str
    aliases: tuple[str, ...]

    def memory(self, soul: SoulId, now: datetime) -> Memory:
        """The concept it becomes."""
        return Memory(
            id=self.id,
            soul=soul,
            kind=MemoryKind.CONCEPT,
            text=self.name,
            origin=Origin.CARD,
            created=now,
            concept=ConceptDetail(aliases=self.aliases),
        )


class KnownNames:
    """Kept in step with the soul and its concepts. Computes: its mind's thread only."""

    def __init__(self, soul: Soul) -> None:
        self.index: NameIndex[MemoryId] = NameIndex()
        self._concepts: dict[MemoryId, Memory] = {}
        self._names: dict[MemoryId, tuple[str, ...]] = {}  # what is in the index
        self._claims: defaultdict[str, set[MemoryId]] = defaultdict(set)  # folded, to concepts of the user's
        self._soul = soul
        self._own, self._card = _card(soul)
        self._card_fold = {one.id: folded for folded, one in self._card.items()}

    def spot(self, text: str) -> list[MemoryId]:
        """The concepts that the text names, in order of appearance."""
        return self.index.find(text)

    def names_of(self, key: MemoryId) -> tuple[str, ...]:
        """What the concept is spotted by; nothing when it is not in use."""
        return self._names.get(key, ())

    def everything(self) -> dict[MemoryId, tuple[str, ...]]:
        """What each concept in use is spotted by."""
        return dict(self._names)

    def concepts(self) -> list[Memory]:
        """Every concept, whatever its state."""
        return list(self._concepts.values())

    def card_names(self) -> Iterator[tuple[CardName, frozenset[MemoryId]]]:
        """Each name of the card with the concepts in use that stand for it."""
        for folded, one in self._card.items():
            own = {one.id} & self._names.keys()
            yield one, frozenset(own | self._claims.get(folded, set()))

    def take(self, memory: Memory) -> None:
        """A concept as it is now; a memory of another kind is ignored."""
        if memory.kind is MemoryKind.CONCEPT:
            self._unclaim(memory.id)
            self._concepts[memory.id] = memory
            if _stands(memory):
                for folded in _folds(memory):
                    self._claims[folded].add(memory.id)
            self._index(memory.id)

    def forget(self, key: MemoryId) -> None:
        """The memory is gone."""
        self._unclaim(key)
        if self._concepts.pop(key, None) is not None:
            self._index(key)

    @contextmanager
    def as_if(self, memories: Iterable[Memory], gone: Iterable[MemoryId] = ()) -> Iterator[KnownNames]:
        """The names as they would be with these concepts, without those; afterwards all is as before."""
        memories = [m for m in memories if m.kind is MemoryKind.CONCEPT]
        before = {key: self._concepts.get(key) for key in (*(m.id for m in memories), *gone)}
        for memory in memories:
            self.take(memory)
        for key in gone:
            self.forget(key)
        try:
            yield self
        finally:
            for key, old in before.items():
                if old is None:
                    self.forget(key)
                else:
                    self.take(old)

    def due(self, now: datetime, near: Iterable[Memory] | None = None) -> tuple[list[Memory], list[MemoryId]]:
        """Card-made concepts to be written anew, and those nobody wants any more.

        With `near` only those that may share a name with one of these concepts are looked at.
        """
        if near is None:
            folds: Iterable[str] = self._card
            unwanted = [m.id for m in self._concepts.values() if m.id not in self._card_fold]
        else:
            folds = {f for m in near for f in (*_folds(m), self._card_fold.get(m.id, "")) if f in self._card}
            unwanted = []
        put = []
        for folded in folds:
            one = self._card[folded]
            known = self._concepts.get(one.id)
            if known is not None and known.origin is not Origin.CARD:
                continue
            if self._claims.get(folded):
                unwanted.append(one.id)
            elif known is None:
                put.append(one.memory(self._soul.id, now))
            elif (known.text, known.concept) != (one.name, detail := ConceptDetail(aliases=one.aliases)):
                put.append(replace(known, text=one.name, concept=detail, revision=known.revision + 1))
        drop = [key for key in unwanted if (m := self._concepts.get(key)) and m.origin is Origin.CARD]
        return put, drop

    def _unclaim(self, key: MemoryId) -> None:
        old = self._concepts.get(key)
        for folded in _folds(old) if old is not None and _stands(old) else ():
            self._claims[folded].discard(key)
            if not self._claims[folded]:
                del self._claims[folded]

    def _index(self, key: MemoryId) -> None:
        """Bring the index in line with what the concept goes by now."""
        memory = self._concepts.get(key)
        names = self._spellings(memory) if memory is not None and _is_name(memory) else ()
        if names != self._names.get(key, ()):
            self.index.put(key, names)
            self._names[key] = names
        if not names:
            self._names.pop(key, None)

    def _spellings(self, memory: Memory) -> tuple[str, ...]:
        names = list(_written(memory))
        if memory.origin is not Origin.CARD:
            folds = [*_folds(memory)] if _stands(memory) else []
            for folded in (*folds, self._card_fold.get(memory.id)):
                one = self._card.get(folded) if folded is not None else None
                names += (one.name, *one.aliases) if one is not None else ()
        return tuple(n for n in dict.fromkeys(names) if (f := fold(n)) and f not in self._own)


def _card(soul: Soul) -> tuple[frozenset[str], dict[str, CardName]]:
    """What the soul itself is called, and the other names on its card, folded."""
    own = {fold(soul.name)} - {""}
    merged: dict[str, dict[str, str]] = {}  # folded name to its spellings by their fold, its own first
    for known in soul.names:
        if folded := fold(known.name):
            some = merged.setdefault(folded, {folded: known.name.strip()})
            some.update((f, a.strip()) for a in known.aliases if (f := fold(a)) and f not in some)
    for folded in list(merged):
        if folded in own:
            own |= merged.pop(folded).keys()
    card = {}
    for folded, spellings in merged.items():
        name, *aliases = spellings.values()
        card[folded] = CardName(MemoryId(derived_id("k", soul.id, folded)), name, tuple(aliases))
    return frozenset(own), card


def _written(memory: Memory) -> tuple[str, ...]:
    return (memory.text, *(memory.concept.aliases if memory.concept else ()))


def _folds(memory: Memory) -> set[str]:
    return {folded for name in _written(memory) if (folded := fold(name))}


def _is_name(memory: Memory) -> bool:
    """Whether texts may name it: topics are about words, they are not words themselves."""
    topic = memory.concept is not None and memory.concept.concept_type is ConceptType.TOPIC
    return memory.state in _IN_USE and not topic


def _stands(memory: Memory) -> bool:
    """Whether it may stand for a name of the card: where it is not known, the card's own must be."""
    return memory.origin is not Origin.CARD and memory.timelines is Timelines.ALL and _is_name(memory)
