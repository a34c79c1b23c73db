"""What a soul's memory is worth comparing by: equal for equal surviving chats, whatever the way there.

Design promise 2. Ids and times of computation are left out; a chat is named by what is said in it. The last
message
of a chat is left out too: whether it is settled depends on the way there.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory, MemoryState, Origin
from soulmem.engine.mind import Mind
from soulmem.engine.world import World

Told = tuple[str, int]  # a chat's name by content, and the place of an episode in it


def fingerprint(world: World, mind: Mind) -> str:
    """Hex SHA-256 over derived memories in use with their provenance, and their `next` edges. Computes."""
    told: defaultdict[MemoryId, list[Told]] = defaultdict(list)
    paired: defaultdict[tuple[MemoryId, MemoryId], list[Told]] = defaultdict(list)
    for strand in mind.lineages:
        order = _followed(world, strand.chat, strand.order, mind)
        name = _hash(_content(mind.memories[m]) for m in order)
        for at, memory in enumerate(order):
            told[memory].append((name, at))
        for at, pair in enumerate(pairwise(order)):
            paired[pair].append((name, at))
    lines = []
    for memory, places in told.items():
        found = mind.memories[memory]
        if found.origin is Origin.CHAT and found.state is not MemoryState.BIN:
            lines.append(json.dumps(["memory", _content(found), sorted(places)], ensure_ascii=False))
    for edge in mind.edges.every():
        places = paired.get((edge.source, edge.target), [])
        if edge.kind is EdgeKind.NEXT and edge.origin is Origin.CHAT and places:
            ends = [_content(mind.memories[m]) for m in (edge.source, edge.target)]
            lines.append(json.dumps(["next", ends, sorted(places)], ensure_ascii=False))
    return _hash(sorted(lines))


def _followed(world: World, chat: ChatId, order: Iterable[MemoryId], mind: Mind) -> list[MemoryId]:
    log = world.loaded_log(chat)
    last = log.messages[-1].version if log is not None and log.messages else None
    return [m for m in order if mind.memories[m].evidence[0][0] != last]


def _content(memory: Memory) -> str:
    return json.dumps([memory.kind.value, memory.text], ensure_ascii=False)


def _hash(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
