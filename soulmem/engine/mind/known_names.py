"""KnownNames: which concepts the names in a text stand for, by the card, the user and the messages.

A name on the card becomes a card concept, unless the user has a concept of that name:
then the user's concept stands for it, under the card's aliases too. The soul's own name
stands for no concept, because it occurs in every line.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple

import msgspec

from soulmem.domain.ids import MemoryId, SoulId, derived_id
from soulmem.domain.memories import (
    NAMEABLE,
    Memory,
    MemoryKind,
    MemoryState,
    Origin,
    Timelines,
)
from soulmem.domain.situation import ConceptDetail, ConceptType
from soulmem.domain.soul import Soul
from soulmem.engine.mind.topic_tags import TopicTags
from soulmem.graph.name_search import NameIndex
from soulmem.language.name_tokens import CutName, cut, fold
from soulmem.language.names import names
from soulmem.language.pinyin import romanised, sound
from soulmem.language.scripts import HAN

_HAN = re.compile(f"[{HAN}]")
_AT_ONCE = 400  # concepts of one piece: some 10 ms


class _Entry(NamedTuple):
    """What a concept has in the tables; the default of one that is not in use.

    names    by which texts are searched for it
    cuts     each of these cut
    claims   folds of card names that it stands for, where the card has them
    taken    folds and sounds of its names that no other name is to have; empty of what chats taught
    sounds   pinyin keys of its names in Latin letters
    """

    names: tuple[str, ...] = ()
    cuts: tuple[CutName | None, ...] = ()
    claims: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    sounds: frozenset[str] = frozenset()


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[tuple[int, _Entry]])


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
    """The names by which a text mentions a concept."""

    names: tuple[str, ...] = ()
    # Pinyin keys of its names in Latin letters: Chinese names that sound so match it.
    sounds: frozenset[str] = frozenset()


class KnownNames:
    """Names to concepts, updated with the soul and its concepts. Compute thread only."""

    def __init__(self, soul: Soul, stored: Mapping[MemoryId, Memory] | None = None) -> None:
        """`stored` holds the concepts that `restore` names."""
        self.index: NameIndex[MemoryId] = NameIndex()
        self.topic_tags = TopicTags(soul.id)
        # None: a plain one, as `restore` put it, that was not asked for yet
        self._concepts: dict[MemoryId, Memory | None] = {}
        self._stored = stored if stored is not None else {}
        # The names of each concept in the index.
        self._names: dict[MemoryId, tuple[str, ...]] = {}
        # Folded name to the user's concepts of that name.
        self._claims: dict[str, tuple[MemoryId, ...]] = {}
        self._claimed: dict[MemoryId, tuple[str, ...]] = {}  # and the reverse
        self._soul = soul
        self._own, self._card = _card(soul)
        self._own_words = frozenset(self._own).union(*map(str.split, self._own))
        self._card_fold = {card.id: folded for folded, card in self._card.items()}
        # Folds and sounds of all names of card and user concepts, with their number.
        self._taken: Counter[str] = Counter()
        # Those of each card or user concept that are counted in `_taken`.
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
        memory = self._concepts.get(key)
        if memory is None and key in self._concepts:
            memory = self._concepts[key] = self._stored[key]
        return memory

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
        concepts = map(self.concept, self._concepts)
        return [memory for memory in concepts if memory is not None]

    def special_concepts(self) -> list[Memory]:
        """All concepts that are not plain, and some that are. Plain: active, no topic, without a description."""
        return [memory for memory in self._concepts.values() if memory is not None]

    def learned_folds(self) -> Iterator[str]:
        """The folds of all names learned in chats, each maybe several times."""
        for key, memory in self._concepts.items():
            if memory is not None and memory.is_learned_name:
                yield fold(memory.text)
            elif memory is None and key not in self._counted:
                yield fold(self._names[key][0])

    def packed(self, row_of: Callable[[MemoryId], int | None]) -> Iterator[bytes]:
        """The plain concepts for `restore`, in pieces."""
        keys = iter(self._concepts)
        while some := list(islice(keys, _AT_ONCE)):
            # None of them is kept as an object for this
            concepts = (self._concepts[key] or self._stored[key] for key in some)
            entries = ((row_of(m.id), self._entry(m)) for m in concepts if _is_plain(m))
            yield _encoder.encode([(r, e) for r, e in entries if e.names])

    def restore(self, packed: bytes, id_of: Callable[[int], MemoryId]) -> list[int]:
        """Put the concepts of a piece; their rows are returned."""
        entries = _decoder.decode(packed)
        for row, entry in entries:
            key = id_of(row)
            self._concepts[key] = None
            if entry.claims or entry.taken or entry.sounds:
                self._put_entry(key, entry)
            else:  # most
                self.index.put_cut(key, entry.names, entry.cuts)
                self._names[key] = entry.names
        return [row for row, _ in entries]

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
            self._concepts[memory.id] = memory
            self.topic_tags.put(memory)
            self._put_entry(memory.id, self._entry(memory))

    def drop(self, key: MemoryId) -> None:
        """Remove a concept; other ids are ignored."""
        self.topic_tags.drop(key)
        if key in self._concepts:
            del self._concepts[key]
            self._put_entry(key, _Entry())

    @contextmanager
    def as_if(
        self, memories: Iterable[Memory], dropped: Iterable[MemoryId] = ()
    ) -> Iterator[KnownNames]:
        """Inside the block: with `memories` put and `dropped` removed; undone afterwards."""
        concepts = [m for m in memories if m.kind is MemoryKind.CONCEPT]
        dropped = tuple(dropped)
        before = {memory.id: self.concept(memory.id) for memory in concepts}
        before.update((key, self.concept(key)) for key in dropped)
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
            existing = self.concept(card.id)
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

    def _entry(self, memory: Memory) -> _Entry:
        """The names, claims and sounds of the concept, for the tables."""
        if not _is_name(memory):
            return _Entry()
        spelled = self._spellings(memory)
        claims = sorted(_folds(memory)) if _may_stand_for_card(memory) else ()
        cuts = tuple(map(cut, spelled))
        if memory.origin is Origin.CHAT:
            return _Entry(spelled, cuts, tuple(claims))
        taken = chain.from_iterable(_fold_and_sound(fold(name)) for name in spelled)
        written = _written(memory)
        latin = (name for name in spelled if name in written and name.isascii())
        sounds = frozenset(filter(None, map(sound, latin)))
        return _Entry(spelled, cuts, tuple(claims), tuple(taken), sounds)

    def _put_entry(self, key: MemoryId, entry: _Entry) -> None:
        """Let this be what the concept has in the tables, in place of what it had."""
        self._claim(key, entry.claims)
        self._count_taken(key, entry.taken)
        self._put_sounds(key, entry.sounds)
        if entry.names != self._names.get(key, ()):
            self.index.put_cut(key, entry.names, entry.cuts)
            self._names[key] = entry.names
        if not entry.names:
            self._names.pop(key, None)

    def _claim(self, key: MemoryId, folds: tuple[str, ...]) -> None:
        for folded in self._claimed.pop(key, ()):
            remaining = tuple(c for c in self._claims.pop(folded) if c != key)
            if remaining:
                self._claims[folded] = remaining
        for folded in folds:
            self._claims[folded] = (*self._claims.get(folded, ()), key)
        if folds:
            self._claimed[key] = folds

    def _count_taken(self, key: MemoryId, taken: tuple[str, ...]) -> None:
        for old in self._counted.pop(key, ()):
            self._taken[old] -= 1
            if not self._taken[old]:
                del self._taken[old]
        for new in taken:
            self._taken[new] += 1
        if taken:
            self._counted[key] = taken

    def _put_sounds(self, key: MemoryId, sounds: frozenset[str]) -> None:
        for heard in self._heard.pop(key, ()):
            self._sounds[heard].discard(key)
            if not self._sounds[heard]:
                del self._sounds[heard]
        for heard in sounds:
            self._sounds[heard].add(key)
        if sounds:
            self._heard[key] = sounds

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
    is_topic = memory.concept is not None and memory.concept.concept_type is ConceptType.TOPIC
    return memory.state in NAMEABLE and not is_topic


def _is_plain(memory: Memory) -> bool:
    """Whether its names are all that is asked of it often."""
    described = memory.concept is not None and memory.concept.description
    return (
        memory.state is MemoryState.ACTIVE
        and memory.origin in (Origin.CHAT, Origin.USER)
        and not (memory.is_topic or described)
    )


def _may_stand_for_card(memory: Memory) -> bool:
    """Whether it may replace a card concept: the user's own, accessible in every timeline."""
    return memory.origin is Origin.USER and memory.timelines is Timelines.ALL and _is_name(memory)
