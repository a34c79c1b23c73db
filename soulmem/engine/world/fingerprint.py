"""A hash of a soul's memory that is equal for equal surviving chats, whatever the order of events.

Design promise 2. Ids and times of computation are left out; a chat is identified by its
content. The last message of a chat is left out too: whether it is settled depends on
the order of events.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from itertools import pairwise

from soulmem.conversation.episodes import spoken
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory, MemoryState, Origin
from soulmem.engine.mind.known_names import KnownNames
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.name_counts import NameCounts
from soulmem.engine.propagation.learned_names import learned_name_changes
from soulmem.engine.propagation.renaming import all_folded_names
from soulmem.engine.propagation.sequence import joins_forgotten
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.world.world import World

_FIXED_TIME = datetime(2000, 1, 1, tzinfo=timezone.utc)

ChatPosition = tuple[str, int]  # hash of a chat's content, and the position of an episode in it


@compute_only
def fingerprint(world: World, mind: Mind) -> str:
    """Hex SHA-256 over derived memories in use with their provenance and what they are about, their `next`
    edges, and the names of the card and of their own that they mention.
    """
    digest_lines: defaultdict[MemoryId, list[ChatPosition]] = defaultdict(list)
    paired: defaultdict[tuple[MemoryId, MemoryId], list[ChatPosition]] = defaultdict(list)
    for branch in mind.branches:
        order = _settled_order(world, branch.chat, branch.order, mind)
        name = _hash(_content(mind.memories[m]) for m in order)
        for index, memory in enumerate(order):
            digest_lines[memory].append((name, index))
        for index, pair in enumerate(pairwise(order)):
            paired[pair].append((name, index))
    lines = []
    for memory, places in digest_lines.items():
        digest = mind.memories[memory]
        if digest.origin is Origin.CHAT and digest.state is not MemoryState.BIN:
            line = ["memory", _content(digest), sorted(places), digest.terms]
            lines.append(json.dumps(line, ensure_ascii=False))
    # Forgotten messages have no edges, which does not change what the chats say.
    joined = {pair for pair in paired if joins_forgotten(mind, pair)}
    for edge in mind.edges.every():
        places = paired.get((edge.source, edge.target), [])
        if edge.kind is EdgeKind.NEXT and edge.origin is Origin.CHAT and places:
            joined.add((edge.source, edge.target))
    for pair in joined:
        ends = [_content(mind.memories[m]) for m in pair]
        line = ["next", ends, sorted(paired[pair])]
        lines.append(json.dumps(line, ensure_ascii=False))
    return _hash(sorted([*lines, *_names(mind, digest_lines)]))


def _names(mind: Mind, lines: Mapping[MemoryId, list[ChatPosition]]) -> Iterator[str]:
    """Lines on the names of the card and of messages, and on the derived memories linked to them.

    Concepts of the user are left out, and so are their effects: one with a longer name
    takes mentions from a shorter one, one with a name of the card or of a message
    stands for it, a deleted one leaves it without any.
    """
    alone = KnownNames(mind.soul)  # without concepts of the user
    standing: dict[MemoryId, frozenset[MemoryId]] = {}
    spelled: dict[MemoryId, str] = {}
    unmade = {m.id for m in mind.names.card_changes(_FIXED_TIME)[0]}
    for card_name, concepts in mind.names.card_names():
        alone.put(card_name.memory(mind.soul.id, _FIXED_TIME))
        standing[card_name.id], spelled[card_name.id] = concepts, card_name.name
        if card_name.id not in unmade:
            name_line = ["name", card_name.name, card_name.aliases]
            yield json.dumps(name_line, ensure_ascii=False)
    missing, remaining = learned_name_changes(
        mind.names, mind.name_counts, all_folded_names(mind), _FIXED_TIME
    )
    yield from (
        json.dumps(["nobody gives this name", mind.memories[key].text]) for key in remaining
    )
    for concept in _concepts_from_names(alone, mind, lines):
        alone.put(concept)
        standing[concept.id], spelled[concept.id] = (
            frozenset((concept.id,)),
            concept.text,
        )
        if concept.id not in {m.id for m in missing}:
            detail = concept.concept.aliases if concept.concept else ()
            yield json.dumps(["learned", concept.text, detail], ensure_ascii=False)
    for key, places in lines.items() if spelled else ():
        memory = mind.memories[key]
        if memory.origin is not Origin.CHAT or memory.state is MemoryState.BIN:
            continue
        words = spoken(memory)
        spotted, expected = set(mind.names.spot(words)), set(alone.spot(words))
        direct, linked = _linked_concepts(mind, key)
        names = [
            name
            for name in expected
            if memory.state is MemoryState.FORGOTTEN or _is_linked(standing[name], spotted, linked)
        ]
        for name in direct - spotted - expected:  # stale
            if mind.memories[name].origin is not Origin.USER:
                names.append(name)
        for name in names:
            line = [
                "mention",
                _content(memory),
                sorted(places),
                spelled.get(name, name),
            ]
            yield json.dumps(line, ensure_ascii=False)


def _is_linked(
    concepts: frozenset[MemoryId], spotted: set[MemoryId], linked: set[MemoryId]
) -> bool:
    """Whether a text is linked to one of the concepts of a name, or contains none of them."""
    wanted = concepts & spotted
    return not wanted or bool(wanted & linked)


def _concepts_from_names(alone: KnownNames, mind: Mind, lines: Iterable[MemoryId]) -> list[Memory]:
    """The concepts of names that these memories introduce."""
    sightings = NameCounts()
    for key in lines:
        sightings.swap(None, mind.memories[key])
    return learned_name_changes(alone, sightings, sightings.folds(), _FIXED_TIME)[0]


def _linked_concepts(mind: Mind, episode: MemoryId) -> tuple[set[MemoryId], set[MemoryId]]:
    """Concepts that the episode itself mentions (not by the user's hand), and those
    that it or its abstract episode mentions.
    """
    direct: set[MemoryId] = set()
    linked: set[MemoryId] = set()
    for edge in mind.edges.of(episode):
        if edge.kind is EdgeKind.MENTIONS:
            linked.add(edge.target)
            if edge.origin is not Origin.USER:
                direct.add(edge.target)
        elif edge.kind is EdgeKind.INSTANCE_OF:
            cover = mind.edges.of(edge.target)
            linked.update(e.target for e in cover if e.kind is EdgeKind.MENTIONS)
    return direct, linked


def _settled_order(
    world: World, chat: ChatId, order: Iterable[MemoryId], mind: Mind
) -> list[MemoryId]:
    log = world.loaded_log(chat)
    last = log.messages[-1].version if log is not None and log.messages else None
    return [m for m in order if mind.memories[m].evidence[0][0] != last]


def _content(memory: Memory) -> str:
    return json.dumps([memory.kind.value, memory.text], ensure_ascii=False)


def _hash(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
