"""Where is a memory from? The messages it was told by, or that hold the names it is made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory, MemoryState, Place
from soulmem.engine.mind.mind import Mind
from soulmem.language.name_tokens import fold

_SHOWN = 4  # messages for each concept that names a topic
_NAMES = 3


def source_places(
    mind: Mind, memory: Memory, first: ChatId | None = None
) -> tuple[Place, ...]:
    """Where the memory was told, in the chat `first` before others; a learned name where it was given, a
    topic where its first concepts were told of; what was drafted where its evidence was. Computes.
    """
    if memory.is_learned_name:
        return _told(mind, _givers(mind, memory), first)
    if memory.is_found_topic:
        named = memory.tags[:_NAMES]
        texts = dict.fromkeys(
            text for name in named for text in texts_with_term(mind, name)[-_SHOWN:]
        )
        return _told(mind, list(texts), first)
    cited = mind.derivations.cited(memory.id)
    if cited:
        return _drafted(mind, memory.id, cited, first)
    return _own(mind, memory, first)


def texts_with_term(mind: Mind, name: str) -> list[MemoryId]:
    """The texts in use that hold a word, or a concept called so, in no particular order."""
    incidence = mind.terms.incidence
    numbers = [
        incidence.number(name),
        *(mind.terms.term_of(one) for one in concepts_named(mind, name)),
    ]
    terms = np.unique(np.asarray([n for n in numbers if n is not None], np.int64))
    _, rows = incidence.rows_of(terms, rows_in_use(mind))
    return [mind.id_at(int(row)) for row in np.unique(rows)]


def concepts_named(mind: Mind, name: str) -> list[MemoryId]:
    """The concepts in use that are called exactly so, topics left out."""
    spotted = ((key, mind.names.concept(key)) for key in mind.names.spot(name))
    return [
        key
        for key, m in spotted
        if m is not None and m.state is MemoryState.ACTIVE and m.text == name
    ]


def rows_in_use(mind: Mind) -> NDArray[np.bool_]:
    """The rows of what is in use, whatever chat tells it, bool[rows]."""
    return np.asarray(mind.columns.in_use[: mind.size] & mind.columns.live[: mind.size])


def _givers(mind: Mind, name: Memory) -> list[MemoryId]:
    """The memories of the messages that give a learned name, oldest first."""
    spelled = (name.text, *(name.concept.aliases if name.concept else ()))
    told = {
        one
        for spelling in spelled
        for one in mind.name_counts.memories_with(fold(spelling))
    }
    return sorted(told, key=lambda one: (mind.memories[one].happened, one))


def _told(mind: Mind, texts: list[MemoryId], first: ChatId | None) -> tuple[Place, ...]:
    return tuple(
        place for text in texts for place in _own(mind, mind.memories[text], first)
    )


def _drafted(
    mind: Mind, product: MemoryId, cited: tuple[MemoryId, ...], first: ChatId | None
) -> tuple[Place, ...]:
    """The messages that a language model named as evidence, in the chats that hold all it read; where no chat
    does any more, in those that tell one of them.
    """
    chats = sorted(
        mind.derivations.holders(product), key=lambda chat: (chat != first, chat)
    )
    told = [mind.memories[key] for key in cited if key in mind.memories]
    if not chats:
        return tuple(place for m in told for place in _own(mind, m, first))
    return tuple(
        Place(chat, m.evidence[0][0].slot) for chat in chats for m in told if m.evidence
    )


def _own(mind: Mind, memory: Memory, first: ChatId | None) -> tuple[Place, ...]:
    chats = sorted(mind.branches.holders(memory.id), key=lambda chat: chat != first)
    slots = memory.evidence[0] if memory.evidence else ()
    return tuple(Place(chat, version.slot) for chat in chats for version in slots)
