"""Which concepts do a soul's known names stand for?

A name on the card becomes a card-made concept, unless a concept of the user's own goes by it: then that one
stands for it, with the card's aliases too. The soul's own name stands for nothing: it is in every line.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from soulmem.domain.ids import MemoryId, SoulId, derived_id
from soulmem.domain.memories import NAMEABLE, Memory, MemoryKind, Origin, Timelines
from soulmem.domain.situation import ConceptDetail, ConceptType
from soulmem.domain.soul import Soul
from soulmem.graph.names import NameIndex
from soulmem.language.name_tokens import fold
from soulmem.language.names import names
from soulmem.language.pinyin import romanised, sound
from soulmem.language.scripts import HAN

_HAN = re.compile(f"[{HAN}]")


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


class Called(NamedTuple):
    """What a concept is spotted by."""

    names: tuple[str, ...] = ()
    sounds: frozenset[str] = (
        frozenset()
    )  # of names in Latin letters, that Chinese ones are known by


class KnownNames:
    """Kept in step with the soul and its concepts. Computes: its mind's thread only."""

    def __init__(self, soul: Soul) -> None:
        self.index: NameIndex[MemoryId] = NameIndex()
        self._concepts: dict[MemoryId, Memory] = {}
        self._names: dict[MemoryId, tuple[str, ...]] = {}  # what is in the index
        self._claims: dict[
            str, tuple[MemoryId, ...]
        ] = {}  # folded, to concepts of the user's
        self._soul = soul
        self._own, self._card = _card(soul)
        self._own_words = frozenset(
            w for name in self._own for w in (name, *name.split())
        )
        self._card_fold = {one.id: folded for folded, one in self._card.items()}
        self._taken: Counter[str] = (
            Counter()
        )  # folds and sounds of what the card and the user have named
        self._given: dict[
            MemoryId, tuple[str, ...]
        ] = {}  # names of the card's and the user's
        self._heard: dict[
            MemoryId, frozenset[str]
        ] = {}  # sounds of Latin names of the card's and the user's
        self._sounds: defaultdict[str, set[MemoryId]] = defaultdict(
            set
        )  # the same the other way round

    @property
    def soul(self) -> Soul:
        """Whose names they are."""
        return self._soul

    def spot(self, text: str) -> list[MemoryId]:
        """The concepts that the text names, in order of appearance; those named by sound alone come last."""
        found = self.index.find(text)
        if self._sounds and _HAN.search(text):
            heard = (
                key
                for name in names(text)
                if not name.isascii() and (key := sound(name)) is not None
            )
            found += sorted(
                {one for key in heard for one in self._sounds.get(key, ())}.difference(
                    found
                )
            )
        return found

    def concept(self, key: MemoryId) -> Memory | None:
        """The concept of that id, whatever its state."""
        return self._concepts.get(key)

    def is_taken(self, folded: str) -> bool:
        """Whether a name that messages give is the card's, the user's or the soul's own already."""
        if any(word.startswith(folded) for word in self._own_words):
            return True
        return any(
            one in self._taken or one in self._on_card for one in _kinds_of(folded)
        )

    def names_of(self, key: MemoryId) -> tuple[str, ...]:
        """What the concept is spotted by; nothing when it is not in use."""
        return self._names.get(key, ())

    def called(self, key: MemoryId) -> Called:
        """The same, and what it is known by when it is only heard."""
        return Called(self._names.get(key, ()), self._heard.get(key, frozenset()))

    def everything(self) -> dict[MemoryId, Called]:
        """What each concept in use is spotted by."""
        return {key: self.called(key) for key in self._names}

    def concepts(self) -> list[Memory]:
        """Every concept, whatever its state."""
        return list(self._concepts.values())

    def card_names(self) -> Iterator[tuple[CardName, frozenset[MemoryId]]]:
        """Each name of the card with the concepts in use that stand for it."""
        for folded, one in self._card.items():
            own = {one.id} & self._names.keys()
            yield one, frozenset((*own, *self._claims.get(folded, ())))

    @cached_property
    def _on_card(self) -> frozenset[str]:
        """Made when it is asked for: names are made ready where nothing may be computed."""
        return frozenset(one for card in self._card.values() for one in _taken_by(card))

    def take(self, memory: Memory) -> None:
        """A concept as it is now. Ignored are memories of another kind, and what a language model drafted:
        what texts name must not depend on that.
        """
        if memory.kind is MemoryKind.CONCEPT and memory.origin is not Origin.MODEL:
            self._unclaim(memory.id)
            self._concepts[memory.id] = memory
            if _stands(memory):
                for folded in _folds(memory):
                    self._claims[folded] = (*self._claims.get(folded, ()), memory.id)
            self._index(memory.id)

    def forget(self, key: MemoryId) -> None:
        """The memory is gone."""
        self._unclaim(key)
        if self._concepts.pop(key, None) is not None:
            self._index(key)

    @contextmanager
    def as_if(
        self, memories: Iterable[Memory], gone: Iterable[MemoryId] = ()
    ) -> Iterator[KnownNames]:
        """The names as they would be with these concepts, without those; afterwards all is as before."""
        memories = [m for m in memories if m.kind is MemoryKind.CONCEPT]
        before = {
            key: self._concepts.get(key) for key in (*(m.id for m in memories), *gone)
        }
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

    def due(
        self, now: datetime, near: Iterable[Memory] | None = None
    ) -> tuple[list[Memory], list[MemoryId]]:
        """Card-made concepts to be written anew, and those nobody wants any more.

        With `near` only those that may share a name with one of these concepts are looked at.
        """
        if near is None:
            folds: Iterable[str] = self._card
            unwanted = [
                m.id for m in self._concepts.values() if m.id not in self._card_fold
            ]
        else:
            folds = {
                f
                for m in near
                for f in (*_folds(m), self._card_fold.get(m.id, ""))
                if f in self._card
            }
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
            elif (known.text, known.concept) != (
                one.name,
                detail := ConceptDetail(aliases=one.aliases),
            ):
                put.append(
                    replace(
                        known,
                        text=one.name,
                        concept=detail,
                        revision=known.revision + 1,
                    )
                )
        drop = [
            key
            for key in unwanted
            if (m := self._concepts.get(key)) and m.origin is Origin.CARD
        ]
        return put, drop

    def _unclaim(self, key: MemoryId) -> None:
        old = self._concepts.get(key)
        for folded in _folds(old) if old is not None and _stands(old) else ():
            left = tuple(
                other for other in self._claims.pop(folded, ()) if other != key
            )
            if left:
                self._claims[folded] = left

    def _index(self, key: MemoryId) -> None:
        """Bring the index in line with what the concept goes by now."""
        memory = self._concepts.get(key)
        spelled = (
            self._spellings(memory) if memory is not None and _is_name(memory) else ()
        )
        before = self._names.get(key, ())
        if spelled != before:
            self.index.put(key, spelled)
            self._names[key] = spelled
        if not spelled:
            self._names.pop(key, None)
        given = memory is not None and memory.origin is not Origin.CHAT
        self._give(
            key, spelled if given else (), _written(memory) if memory and given else ()
        )

    def _give(
        self, key: MemoryId, spelled: tuple[str, ...], as_written: tuple[str, ...]
    ) -> None:
        """What the card or the user calls it, and how it is written, not only to be read."""
        for name, more in (
            *((n, -1) for n in self._given.pop(key, ())),
            *((n, 1) for n in spelled),
        ):
            for one in _kinds_of(fold(name)):
                self._taken[one] += more
                if not self._taken[one]:
                    del self._taken[one]
        if key in self._heard:
            for heard in self._heard.pop(key):
                self._sounds[heard].discard(key)
                if not self._sounds[heard]:
                    del self._sounds[heard]
        latin = (n for n in spelled if n in as_written and n.isascii())
        written = frozenset(latin_sound for n in latin if (latin_sound := sound(n)))
        if written:
            self._heard[key] = written
            for heard in written:
                self._sounds[heard].add(key)
        if spelled:
            self._given[key] = spelled

    def _spellings(self, memory: Memory) -> tuple[str, ...]:
        called = list(_written(memory))
        if memory.origin is Origin.USER:
            folds = [*_folds(memory)] if _stands(memory) else []
            for folded in (*folds, self._card_fold.get(memory.id)):
                one = self._card.get(folded) if folded is not None else None
                called += (one.name, *one.aliases) if one is not None else ()
        called += [latin for name in called for latin in romanised(name)]
        return tuple(
            n for n in dict.fromkeys(called) if (f := fold(n)) and f not in self._own
        )


def _card(soul: Soul) -> tuple[frozenset[str], dict[str, CardName]]:
    """What the soul itself is called, and the other names on its card, folded."""
    own = {fold(soul.name)} - {""}
    merged: dict[
        str, dict[str, str]
    ] = {}  # folded name to its spellings by their fold, its own first
    for known in soul.names:
        if folded := fold(known.name):
            some = merged.setdefault(folded, {folded: known.name.strip()})
            some.update(
                (f, a.strip())
                for a in known.aliases
                if (f := fold(a)) and f not in some
            )
    for folded in list(merged):
        if folded in own:
            own |= merged.pop(folded).keys()
    card = {}
    for folded, spellings in merged.items():
        name, *aliases = spellings.values()
        card[folded] = CardName(
            MemoryId(derived_id("k", soul.id, folded)), name, tuple(aliases)
        )
    return frozenset(own), card


def _kinds_of(folded: str) -> tuple[str, ...]:
    """The name, and what it sounds like."""
    heard = sound(folded)
    return (folded,) if heard is None else (folded, f"~{heard}")


def _taken_by(card: CardName) -> Iterator[str]:
    for name in (card.name, *card.aliases):
        for spelled in (name, *romanised(name)):
            yield from _kinds_of(fold(spelled))


def _written(memory: Memory) -> tuple[str, ...]:
    return (memory.text, *(memory.concept.aliases if memory.concept else ()))


def _folds(memory: Memory) -> set[str]:
    return {folded for name in _written(memory) if (folded := fold(name))}


def _is_name(memory: Memory) -> bool:
    """Whether texts may name it: topics are about words, they are not words themselves."""
    topic = (
        memory.concept is not None and memory.concept.concept_type is ConceptType.TOPIC
    )
    return memory.state in NAMEABLE and not topic


def _stands(memory: Memory) -> bool:
    """Whether it may stand for a name of the card: where it is not known, the card's own must be."""
    return (
        memory.origin is Origin.USER
        and memory.timelines is Timelines.ALL
        and _is_name(memory)
    )
