"""What a change means to one mind: the memories and edges it writes or drops, and a chat's new strand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from soulmem.domain.audit import Actor, AuditEntry
from soulmem.domain.edges import Edge
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, Origin
from soulmem.graph.lineage import Strand


@dataclass(frozen=True, slots=True)
class MindChange:
    """What is to be stored, then applied: memories and edges written anew or dropped, and at most one new
    strand.
    """

    put_memories: tuple[Memory, ...] = ()
    drop_memories: tuple[MemoryId, ...] = ()
    put_edges: tuple[Edge, ...] = ()
    drop_edges: tuple[str, ...] = ()
    strand: Strand | None = None
    by: Actor = Actor.ENGINE
    audit: tuple[AuditEntry, ...] = ()
    purge_audit: tuple[str, ...] = ()  # targets whose entries lose their words

    def pieces(self, size: int) -> Iterator[MindChange]:
        """The same change in steps: new memories unseen at first, then the strand that shows them all at
        once.
        """
        early = max(0, len(self.put_memories) - size)
        for start in range(0, early, size):
            yield MindChange(put_memories=self.put_memories[start : min(start + size, early)])
        yield replace(self, put_memories=self.put_memories[early:])


def renamed(before: Iterable[Memory], now: Iterable[Memory]) -> dict[MemoryId, Memory]:
    """For each of `now` that its message had under another id in `before`: what it was then.

    The id of an episode changes with the name of its speaker and with the root of its chats.
    """
    former = {m.evidence[0]: m for m in before if m.origin is Origin.CHAT}
    pairs = ((m.id, former.get(m.evidence[0])) for m in now)
    return {key: old for key, old in pairs if old is not None and old.id != key}
