"""KnownNames: which concepts the names in a text stand for, by the card, the user and the messages.

A name on the card becomes a card concept, unless the user has a concept of that name:
then the user's concept stands for it, under the card's aliases too. The soul's own name
stands for no concept, because it occurs in every line.
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
from soulmem.engine.mind.topic_tags import TopicTags
from soulmem.graph.names import NameIndex
from soulmem.language.name_tokens import fold
from soulmem.language.names import names
from soulmem.language.pinyin import romanised, sound
from soulmem.language.scripts import HAN

_HAN = re.compile(f"[{HAN}]")


@dataclass(frozen=True, slots=True)
class CardName:
    """A name on the card; spellings that fold to the same string are one name."""

    id: MemoryId
    name: str
    aliases: tuple[str, ...]

    def memory(self, soul: SoulId, created: datetime) -> Memory:
        """A new card concept for the name."""
        return Memory(
            id=self.id,
            soul=soul,
            kind=MemoryKind.CONCEPT,
            text=self.name,
            origin=Origin.CARD,
            created=created,
            concept=ConceptDetail(aliases=self.aliases),
        )


class ConceptNames(NamedTuple):
    """What a concept is recognised by in a text."""

    names: tuple[str, ...] = ()
    # Pinyin keys of its names in Latin letters: Chinese names that sound so match it.
    sounds: frozenset[str] = frozenset()


class KnownNames:
    """Names to concepts, updated with the soul and its concepts. Compute thread only."""

    def __init__(self, soul: Soul) -> None:
        self.index: NameIndex[MemoryId] = NameIndex()
        self.topic_tags = TopicTags(soul.id)
        self._concepts: dict[MemoryId, Memory] = {}
        # The names of each concept in the index.
        self._names: dict[MemoryId, tuple[str, ...]] = {}
        # Folded name to the user's concepts of that name.
        self._claims: dict[str, tuple[MemoryId, ...]] = {}
        self._soul = soul
        self._own, self._card = _card(soul)
        self._own_words = frozenset(self._own).union(*map(str.split, self._own))
        self._card_fold = {card.id: folded for folded, card in self._card.items()}
        # Folds and sounds of all names of card and user concepts, with their number.
        self._taken: Counter[str] = Counter()
        # The names of each card or user concept that are counted in `_taken`.
        self._counted: dict[MemoryId, tuple[str, ...]] = {}
        # The sounds of the Latin names of each card or user concept, and the reverse.
        self._heard: dict[MemoryId, frozenset[str]] = {}
        self._sounds: defaultdict[str, set[MemoryId]] = defaultdict(set)

    @property
    def soul(self) -> Soul:
        """The soul whose names these are."""
        return self._soul

    def spot(self, text: str) -> list[MemoryId]:
        """Concepts that the text names, in order of appearance; matches by sound alone come last."""
        matches = self.index.find(text)
        if self._sounds and _HAN.search(text):
            by_sound: set[MemoryId] = set()
            for name in names(text):
                key = None if name.isascii() else sound(name)
                if key is not None:
                    by_sound.update(self._sounds.get(key, ()))
            matches += sorted(by_sound.difference(matches))
        return matches

    def concept(self, key: MemoryId) -> Memory | None:
        """The concept of that id in any state; None if there is none."""
        return self._concepts.get(key)

    def is_taken(self, folded: str) -> bool:
        """Whether the card, the user or the soul has a name of this fold or sound.

        For the soul's own name the beginning of one of its words is enough.
        """
        if any(word.startswith(folded) for word in self._own_words):
            return True
        keys = _fold_and_sound(folded)
        return any(key in self._taken or key in self._on_card for key in keys)

    def names_of(self, key: MemoryId) -> tuple[str, ...]:
        """The names by which texts are searched for the concept; empty if it is not in use."""
        return self._names.get(key, ())

    def concept_names(self, key: MemoryId) -> ConceptNames:
        """The names and sounds by which texts are searched for the concept."""
        return ConceptNames(self._names.get(key, ()), self._heard.get(key, frozenset()))

    def all_concept_names(self) -> dict[MemoryId, ConceptNames]:
        """The names and sounds of each concept in use."""
        return {key: self.concept_names(key) for key in self._names}

    def concepts(self) -> list[Memory]:
        """All concepts in any state, except those drafted by a language model."""
        return list(self._concepts.values())

    def card_names(self) -> Iterator[tuple[CardName, frozenset[MemoryId]]]:
        """Each name of the card with the concepts in use that stand for it."""
        for folded, card in self._card.items():
            own = {card.id} & self._names.keys()
            yield card, frozenset((*own, *self._claims.get(folded, ())))

    @cached_property
    def _on_card(self) -> frozenset[str]:
        """Folds and sounds of the card's names. Computed late: __init__ may run outside the compute thread."""
        return frozenset().union(*map(_card_folds_and_sounds, self._card.values()))

    def put(self, memory: Memory) -> None:
        """Add or replace a concept.

        Memories of another kind are ignored, and concepts that a language model drafted:
        mentions in texts must not depend on those.
        """
        if memory.kind is MemoryKind.CONCEPT and memory.origin is not Origin.MODEL:
            self._unclaim(memory.id)
            self._concepts[memory.id] = memory
            self.topic_tags.put(memory)
            if _may_stand_for_card(memory):
                for folded in _folds(memory):
                    self._claims[folded] = (*self._claims.get(folded, ()), memory.id)
            self._index(memory.id)

    def drop(self, key: MemoryId) -> None:
        """Remove a concept; other ids are ignored."""
        self._unclaim(key)
        self.topic_tags.drop(key)
        if self._concepts.pop(key, None) is not None:
            self._index(key)

    @contextmanager
    def as_if(
        self, memories: Iterable[Memory], dropped: Iterable[MemoryId] = ()
    ) -> Iterator[KnownNames]:
        """Inside the block: with `memories` put and `dropped` removed; undone afterwards."""
        concepts = [m for m in memories if m.kind is MemoryKind.CONCEPT]
        dropped = tuple(dropped)
        before = {memory.id: self._concepts.get(memory.id) for memory in concepts}
        before.update((key, self._concepts.get(key)) for key in dropped)
        for memory in concepts:
            self.put(memory)
        for key in dropped:
            self.drop(key)
        try:
            yield self
        finally:
            for key, old in before.items():
                if old is None:
                    self.drop(key)
                else:
                    self.put(old)

    def card_changes(
        self, created: datetime, near: Iterable[Memory] | None = None
    ) -> tuple[list[Memory], list[MemoryId]]:
        """Card concepts to write, and ids of those to drop, so that they follow card and user.

        With `near` only card names that one of these concepts shares or may share are checked.
        New concepts bear the time `created`.
        """
        if near is None:
            folds: Iterable[str] = self._card
            unwanted = [key for key in self._concepts if key not in self._card_fold]
        else:
            folds = self._card_folds_near(near)
            unwanted = []
        put: list[Memory] = []
        for folded in folds:
            card = self._card[folded]
            existing = self._concepts.get(card.id)
            if existing is not None and existing.origin is not Origin.CARD:
                continue  # the user has made it their own
            if self._claims.get(folded):
                unwanted.append(card.id)
            elif existing is None:
                put.append(card.memory(self._soul.id, created))
            else:
                put += _updated(existing, card)
        return put, [key for key in unwanted if self._is_card_concept(key)]

    def _card_folds_near(self, concepts: Iterable[Memory]) -> set[str]:
        """The folds of card names that one of the concepts has or was made from."""
        out: set[str] = set()
        for memory in concepts:
            out.update(_folds(memory))
            out.add(self._card_fold.get(memory.id, ""))
        return out & self._card.keys()

    def _is_card_concept(self, key: MemoryId) -> bool:
        memory = self._concepts.get(key)
        return memory is not None and memory.origin is Origin.CARD

    def _unclaim(self, key: MemoryId) -> None:
        """Remove the concept from `_claims`."""
        old = self._concepts.get(key)
        if old is None or not _may_stand_for_card(old):
            return
        for folded in _folds(old):
            claims = self._claims.pop(folded, ())
            remaining = tuple(other for other in claims if other != key)
            if remaining:
                self._claims[folded] = remaining

    def _index(self, key: MemoryId) -> None:
        """Update the index and the counts of taken names for the concept `key`."""
        memory = self._concepts.get(key)
        spelled: tuple[str, ...] = ()
        if memory is not None and _is_name(memory):
            spelled = self._spellings(memory)
        if spelled != self._names.get(key, ()):
            self.index.put(key, spelled)
            self._names[key] = spelled
        if not spelled:
            self._names.pop(key, None)
        if memory is not None and memory.origin is not Origin.CHAT:
            self._count_taken(key, spelled)
            self._put_sounds(key, spelled, _written(memory))
        else:
            self._count_taken(key, ())
            self._put_sounds(key, (), ())

    def _count_taken(self, key: MemoryId, spelled: tuple[str, ...]) -> None:
        """Count `spelled` as the names of the card or user concept `key`, instead of its former ones."""
        for name in self._counted.pop(key, ()):
            for taken in _fold_and_sound(fold(name)):
                self._taken[taken] -= 1
                if not self._taken[taken]:
                    del self._taken[taken]
        for name in spelled:
            self._taken.update(_fold_and_sound(fold(name)))
        if spelled:
            self._counted[key] = spelled

    def _put_sounds(
        self, key: MemoryId, spelled: tuple[str, ...], written: tuple[str, ...]
    ) -> None:
        """Record the sounds of the concept's Latin names; of `spelled` only those that are `written`."""
        for heard in self._heard.pop(key, ()):
            self._sounds[heard].discard(key)
            if not self._sounds[heard]:
                del self._sounds[heard]
        latin = (name for name in spelled if name in written and name.isascii())
        sounds = frozenset(filter(None, map(sound, latin)))
        if sounds:
            self._heard[key] = sounds
            for heard in sounds:
                self._sounds[heard].add(key)

    def _spellings(self, memory: Memory) -> tuple[str, ...]:
        """All names of a concept: as written, as on the card, romanised; without the soul's own."""
        spelled = list(_written(memory))
        if memory.origin is Origin.USER:
            folds = [*_folds(memory)] if _may_stand_for_card(memory) else []
            for folded in (*folds, self._card_fold.get(memory.id, "")):
                card = self._card.get(folded)
                spelled += (card.name, *card.aliases) if card is not None else ()
        for name in tuple(spelled):
            spelled += romanised(name)
        usable = (name for name in dict.fromkeys(spelled) if fold(name))
        return tuple(name for name in usable if fold(name) not in self._own)


def _updated(existing: Memory, card: CardName) -> list[Memory]:
    """The card concept with name and aliases of the card; empty if it has them already."""
    detail = ConceptDetail(aliases=card.aliases)
    if (existing.text, existing.concept) == (card.name, detail):
        return []
    revision = existing.revision + 1
    return [replace(existing, text=card.name, concept=detail, revision=revision)]


def _card(soul: Soul) -> tuple[frozenset[str], dict[str, CardName]]:
    """The folds of the soul's own names, and the other names on its card by their fold."""
    own = {fold(soul.name)} - {""}
    # Folded name to its spellings by their folds, its own spelling first.
    merged: dict[str, dict[str, str]] = {}
    for person in soul.names:
        folded = fold(person.name)
        if folded:
            spellings = merged.setdefault(folded, {folded: person.name.strip()})
            for alias in person.aliases:
                if alias_fold := fold(alias):
                    spellings.setdefault(alias_fold, alias.strip())
    for folded in list(merged):
        if folded in own:
            own |= merged.pop(folded).keys()
    card = {}
    for folded, spellings in merged.items():
        name, *others = spellings.values()
        key = MemoryId(derived_id("k", soul.id, folded))
        card[folded] = CardName(key, name, tuple(others))
    return frozenset(own), card


def _fold_and_sound(folded: str) -> tuple[str, ...]:
    """The folded name, and its pinyin key behind a "~" if it has one."""
    heard = sound(folded)
    return (folded,) if heard is None else (folded, f"~{heard}")


def _card_folds_and_sounds(card: CardName) -> set[str]:
    out: set[str] = set()
    for name in (card.name, *card.aliases):
        for spelled in (name, *romanised(name)):
            out.update(_fold_and_sound(fold(spelled)))
    return out


def _written(memory: Memory) -> tuple[str, ...]:
    """The text and the aliases of a concept."""
    return (memory.text, *(memory.concept.aliases if memory.concept else ()))


def _folds(memory: Memory) -> set[str]:
    return set(map(fold, _written(memory))) - {""}


def _is_name(memory: Memory) -> bool:
    """Whether texts may mention the concept: it is in use and no topic."""
    is_topic = (
        memory.concept is not None and memory.concept.concept_type is ConceptType.TOPIC
    )
    return memory.state in NAMEABLE and not is_topic


def _may_stand_for_card(memory: Memory) -> bool:
    """Whether it may replace a card concept: the user's own, accessible in every timeline."""
    return (
        memory.origin is Origin.USER
        and memory.timelines is Timelines.ALL
        and _is_name(memory)
    )
