"""Provenance: the messages that a memory comes from. Compute thread only."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice, starmap
from itertools import product as product_of

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Place
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.doubted import is_in_doubt
from soulmem.language.name_tokens import fold

_SHOWN = 4  # messages for each concept that names a topic
_NAMES = 3  # concepts of a topic
_MOST = 500  # messages of a digest or a name: a year has thousands


@compute_only
def source_places(
    mind: Mind,
    memory: Memory,
    first: ChatId | None = None,
    reached: NDArray[np.bool_] | None = None,
) -> tuple[Place, ...]:
    """The messages that the memory comes from, those in the chat `first` before others.

    Of a learned name the messages with the name (the first 500), of a found topic those with its first
    concepts, of a draft its evidence, of a digest the messages that it tells and then the others
    that it was made from (500 at most), of an episode its own message, and of tellings that are
    joined those of all; of those a chat may know only some, `reached` (bool[rows]).
    """
    places = _places_of(mind, memory, first)
    joined = mind.tellings.merged(memory.id)
    if reached is not None:  # a merged telling may stand in for the others
        joined = mind.tellings.merged(mind.tellings.centre(memory.id) or memory.id)
    for key in joined:
        row = mind.row(key)
        if row is not None and (reached is None or reached[row]):
            places += _places_of(mind, mind.memories[key], first)
    return tuple(dict.fromkeys(places)) if joined else places


def _places_of(mind: Mind, memory: Memory, first: ChatId | None) -> tuple[Place, ...]:
    if memory.is_learned_name:
        return _places_of_texts(mind, _texts_with_name(mind, memory), first)
    if memory.is_found_topic:
        texts: dict[MemoryId, None] = {}
        for name in memory.tags[:_NAMES]:
            texts.update(dict.fromkeys(texts_with_term(mind, name)[-_SHOWN:]))
        return _places_of_texts(mind, list(texts), first)
    cited = mind.derivations.cited(memory.id)
    if cited and memory.kind is MemoryKind.DIGEST:
        return _places_of_texts(mind, _texts_of_digest(mind, memory, cited), first)
    if cited:
        return _places_of_evidence(mind, memory.id, cited, first)
    return _own_places(mind, memory, first)


@compute_only
def texts_with_term(mind: Mind, name: str) -> list[MemoryId]:
    """The texts in use with the word `name` or a concept of that name, by row."""
    incidence = mind.terms.incidence
    numbers = [incidence.number(name)]
    numbers += map(mind.terms.term_of, concepts_named(mind, name))
    terms = np.unique(np.asarray([n for n in numbers if n is not None], np.int64))
    _, rows = incidence.rows_of(terms, rows_in_use(mind))
    return mind.ids_at(np.unique(rows).tolist())


@compute_only
def concepts_named(mind: Mind, name: str) -> list[MemoryId]:
    """The concepts in use whose text is exactly `name`, without topics."""
    out: list[MemoryId] = []
    for key in mind.names.spot(name):
        concept = mind.names.concept(key)
        if concept is None or concept.state is not MemoryState.ACTIVE:
            continue
        if concept.text == name:
            out.append(key)
    return out


@compute_only
def rows_in_use(mind: Mind) -> NDArray[np.bool_]:
    """The rows in use in any chat, bool[rows]."""
    return np.asarray(mind.columns.in_use[: mind.size] & mind.columns.live[: mind.size])


def _texts_of_digest(mind: Mind, digest: Memory, cited: Iterable[MemoryId]) -> list[MemoryId]:
    """The episodes that a digest goes with, those that it tells first; none that the user called wrong."""
    read = chain.from_iterable(d.read for d in mind.derivations.of(digest.id))
    texts = dict.fromkeys((*cited, *islice(read, _MOST)))
    good = [k for k in texts if k in mind.memories and not is_in_doubt(mind, k)]
    return good[:_MOST]


def _texts_with_name(mind: Mind, name: Memory) -> list[MemoryId]:
    """The first episodes that contain a learned name, oldest first."""
    texts: set[MemoryId] = set()
    for spelling in (name.text, *(name.concept.aliases if name.concept else ())):
        texts |= mind.name_counts.memories_with(fold(spelling))
    happened = mind.columns.happened
    rows = {key: row for key in texts if (row := mind.row(key)) is not None}
    return sorted(rows, key=lambda key: (happened[rows[key]], key))[:_MOST]


def _places_of_texts(mind: Mind, texts: list[MemoryId], first: ChatId | None) -> tuple[Place, ...]:
    out: list[Place] = []
    for text in texts:
        out += _own_places(mind, mind.memories[text], first)
    return tuple(out)


def _places_of_evidence(
    mind: Mind, product: MemoryId, cited: tuple[MemoryId, ...], first: ChatId | None
) -> tuple[Place, ...]:
    """The cited messages in each chat that holds all that the draft was made from.

    If there is no such chat any more, in the chats that hold the single messages.
    """
    holders = mind.derivations.holders(product)
    chats = sorted(holders, key=lambda chat: (chat != first, chat))
    evidence = [key for key in cited if key in mind.memories]
    if not chats:
        return _places_of_texts(mind, evidence, first)
    slots = [
        memory.evidence[0][0].slot
        for memory in map(mind.memories.__getitem__, evidence)
        if memory.evidence
    ]
    return tuple(starmap(Place, product_of(chats, slots)))


def _own_places(mind: Mind, memory: Memory, first: ChatId | None) -> tuple[Place, ...]:
    """The message of the memory in each chat that holds it."""
    holders = mind.branches.holders(memory.id)
    chats = sorted(holders, key=lambda chat: chat != first)
    versions = memory.evidence[0] if memory.evidence else ()
    slots = [version.slot for version in versions]
    return tuple(starmap(Place, product_of(chats, slots)))
