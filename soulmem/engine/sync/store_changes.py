"""Builds the store's changes from changes of chats and minds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from soulmem.domain.audit import AuditEntry
from soulmem.domain.edge_vectors import EdgeVector
from soulmem.domain.edges import Edge
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.ids import MemoryId, Owner
from soulmem.domain.memories import Memory
from soulmem.domain.opinions import Opinion
from soulmem.domain.sequences import common_ends
from soulmem.domain.usage import Usage
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.world.message_log import ChatLog
from soulmem.ports.store import Change, ChatChange, RankedMessage


def rewritten_messages(old: ChatLog, new: ChatLog) -> list[RankedMessage]:
    """Messages that differ from the stored ones or have another rank."""
    if old.messages is new.messages:
        return []
    same, _ = common_ends(old.messages, new.messages)
    in_place, _ = common_ends(old.ranks, new.ranks)
    start = min(same, in_place)
    stands = set(zip(old.ranks[start:], old.messages[start:], strict=True))
    ranked = zip(new.ranks[start:], new.messages[start:], strict=True)
    return [RankedMessage(r, m) for r, m in ranked if (r, m) not in stands]


def store_change(
    owner: Owner,
    chat: ChatChange,
    changes: Iterable[MindChange],
    audit: Sequence[AuditEntry],
) -> Change:
    """One change of the store from a change of a chat and of all minds in it."""
    put_memories: list[Memory] = []
    drop_memories: list[MemoryId] = []
    put_edges: list[Edge] = []
    drop_edges: list[str] = []
    purged: list[str] = []
    retracted: list[str] = []
    fading: list[FadingRecord] = []
    usages: list[Usage] = []
    opinions: list[Opinion] = []
    vectors: list[EdgeVector] = []
    for change in changes:
        put_memories.extend(change.put_memories)
        drop_memories.extend(change.drop_memories)
        put_edges.extend(change.put_edges)
        drop_edges.extend(change.drop_edges)
        purged.extend(change.purge_audit)
        retracted.extend(change.drop_derivations)
        fading.extend(change.put_fading)
        usages.extend(change.put_usages)
        opinions.extend(change.put_opinions)
        vectors.extend(change.put_edge_vectors)
    return Change(
        owner=owner,
        chats=[chat],
        put_memories=put_memories,
        drop_memories=drop_memories,
        put_edges=put_edges,
        drop_edges=drop_edges,
        purge_audit=purged,
        drop_derivations=retracted,
        put_fading=fading,
        put_usages=usages,
        put_opinions=opinions,
        put_edge_vectors=vectors,
        audit=audit,
    )


def united_changes(changes: Sequence[Change]) -> Change:
    """One change with the effect of all of them in order; `chats` are those of the first."""
    memories: dict[MemoryId, Memory] = {}
    edges: dict[str, Edge] = {}
    dropped: set[MemoryId] = set()
    cut: set[str] = set()
    purged: set[str] = set()
    retracted: set[str] = set()
    fading: dict[MemoryId, FadingRecord] = {}
    usages: dict[MemoryId, Usage] = {}
    opinions: dict[MemoryId, Opinion] = {}
    vectors: dict[str, EdgeVector] = {}
    for change in changes:
        purged.update(change.purge_audit)
        retracted.update(change.drop_derivations)
        dropped.update(change.drop_memories)
        cut.update(change.drop_edges)
        for memory in change.drop_memories:
            memories.pop(memory, None)
            fading.pop(memory, None)
            usages.pop(memory, None)
            opinions.pop(memory, None)
        for edge in change.drop_edges:
            edges.pop(edge, None)
            vectors.pop(edge, None)
        memories.update((m.id, m) for m in change.put_memories)
        edges.update((e.id, e) for e in change.put_edges)
        fading.update((r.memory, r) for r in change.put_fading)
        usages.update((u.memory, u) for u in change.put_usages)
        opinions.update((o.memory, o) for o in change.put_opinions)
        vectors.update((v.edge, v) for v in change.put_edge_vectors)
    left_out = dropped - memories.keys()
    return replace(
        changes[0],
        put_memories=list(memories.values()),
        drop_memories=dropped,
        put_edges=[
            e for e in edges.values() if e.source not in left_out and e.target not in left_out
        ],
        drop_edges=cut,
        purge_audit=purged,
        drop_derivations=retracted,
        put_fading=list(fading.values()),
        put_usages=list(usages.values()),
        put_opinions=list(opinions.values()),
        put_edge_vectors=[
            v for v in vectors.values() if v.source not in left_out and v.target not in left_out
        ],
    )
