"""What a change means to one mind: the memories and edges it writes or drops, and a chat's new strand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from soulmem.domain.audit import Actor, AuditEntry
from soulmem.domain.derivations import Derivation
from soulmem.domain.edges import Edge
from soulmem.domain.ids import MemoryId, Owner
from soulmem.domain.memories import Memory, Origin
from soulmem.domain.opinions import Opinion
from soulmem.domain.soul import Soul
from soulmem.graph.lineage import Strand
from soulmem.ports.store import Change


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
    put_derivations: tuple[Derivation, ...] = ()
    drop_derivations: tuple[str, ...] = ()
    put_opinions: tuple[Opinion, ...] = ()

    def stored(self, owner: Owner, souls: Sequence[Soul] = ()) -> Change:
        """What of it the store keeps."""
        return Change(
            owner=owner,
            souls=souls,
            put_memories=self.put_memories,
            drop_memories=self.drop_memories,
            put_edges=self.put_edges,
            drop_edges=self.drop_edges,
            by=self.by,
            audit=self.audit,
            purge_audit=self.purge_audit,
            put_derivations=self.put_derivations,
            drop_derivations=self.drop_derivations,
            put_opinions=self.put_opinions,
        )

    def asked_by(self, job: str) -> MindChange:
        """The same, its derivations marked with the job."""
        return replace(
            self,
            put_derivations=tuple(replace(d, source=job) for d in self.put_derivations),
        )

    def pieces(self, size: int) -> Iterator[MindChange]:
        """The same change in steps: new memories unseen at first, with the edges among what is there by then,
        and then the strand that shows them all at once.
        """
        early = max(0, len(self.put_memories) - size)
        if not early:
            yield self
            return
        step = {memory.id: at // size for at, memory in enumerate(self.put_memories)}
        last = early // size + (early % size > 0)
        edges: defaultdict[int, list[Edge]] = defaultdict(list)
        for edge in self.put_edges:
            edges[max(step.get(edge.source, 0), step.get(edge.target, 0))].append(edge)
        for number in range(last):
            some = self.put_memories[number * size : (number + 1) * size]
            yield MindChange(put_memories=some, put_edges=tuple(edges[number]))
        rest = tuple(
            edge for number in edges if number >= last for edge in edges[number]
        )
        yield replace(
            self, put_memories=self.put_memories[last * size :], put_edges=rest
        )


def renamed(before: Iterable[Memory], now: Iterable[Memory]) -> dict[MemoryId, Memory]:
    """For each of `now` that its message had under another id in `before`: what it was then.

    The id of an episode changes with the name of its speaker and with the root of its chats.
    """
    former = {m.evidence[0]: m for m in before if m.origin is Origin.CHAT}
    pairs = ((m.id, former.get(m.evidence[0])) for m in now)
    return {key: old for key, old in pairs if old is not None and old.id != key}
