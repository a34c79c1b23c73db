"""MindChange: memories, edges and derivations to write or drop, and at most one chat's new branch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from soulmem.domain.audit import Actor, AuditEntry
from soulmem.domain.derivations import Derivation
from soulmem.domain.edge_vectors import EdgeVector
from soulmem.domain.edges import Edge
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.ids import MemoryId, Owner
from soulmem.domain.memories import Memory, Origin
from soulmem.domain.opinions import Opinion
from soulmem.domain.soul import Soul
from soulmem.domain.usage import Usage
from soulmem.graph.branches import Branch
from soulmem.ports.store import Change


@dataclass(frozen=True, slots=True)
class MindChange:
    """A change that is stored first and then applied to the loaded mind.

    `branch` is the new order of one chat's episodes; None leaves all chats as they are.
    """

    put_memories: tuple[Memory, ...] = ()
    drop_memories: tuple[MemoryId, ...] = ()
    put_edges: tuple[Edge, ...] = ()
    drop_edges: tuple[str, ...] = ()
    branch: Branch | None = None
    by: Actor = Actor.ENGINE
    audit: tuple[AuditEntry, ...] = ()
    purge_audit: tuple[str, ...] = ()  # targets whose audit entries lose their texts
    put_derivations: tuple[Derivation, ...] = ()
    drop_derivations: tuple[str, ...] = ()
    put_opinions: tuple[Opinion, ...] = ()
    put_fading: tuple[FadingRecord, ...] = ()  # an empty one is dropped
    put_usages: tuple[Usage, ...] = ()
    put_edge_vectors: tuple[EdgeVector, ...] = ()

    def to_store_change(self, owner: Owner, souls: Sequence[Soul] = ()) -> Change:
        """The part of the change that the store keeps; `souls` are written along with it."""
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
            put_fading=self.put_fading,
            put_usages=self.put_usages,
            put_edge_vectors=self.put_edge_vectors,
        )

    def with_source(self, job: str) -> MindChange:
        """A copy whose new derivations have the job `job` as their source."""
        return replace(
            self,
            put_derivations=tuple(replace(d, source=job) for d in self.put_derivations),
        )

    def batches(self, size: int) -> Iterator[MindChange]:
        """The change as batches of at most `size` new memories, to be stored and applied in order.

        An edge is in the first batch by which both its ends exist. All else, the branch
        that makes the new memories visible included, is in the last batch.
        """
        early = max(0, len(self.put_memories) - size)
        if not early:
            yield self
            return
        step = {memory.id: position // size for position, memory in enumerate(self.put_memories)}
        last = early // size + (early % size > 0)
        edges: defaultdict[int, list[Edge]] = defaultdict(list)
        for edge in self.put_edges:
            edges[max(step.get(edge.source, 0), step.get(edge.target, 0))].append(edge)
        for number in range(last):
            some = self.put_memories[number * size : (number + 1) * size]
            yield MindChange(put_memories=some, put_edges=tuple(edges[number]))
        rest: list[Edge] = []
        for number, some_edges in edges.items():
            if number >= last:
                rest += some_edges
        yield replace(
            self,
            put_memories=self.put_memories[last * size :],
            put_edges=tuple(rest),
        )


def episodes_with_new_ids(
    before: Iterable[Memory], after: Iterable[Memory]
) -> dict[MemoryId, Memory]:
    """New id to old memory, for each of `after` whose message had another id in `before`.

    The id of an episode depends on the name of its speaker and on the root chat of its
    family, so it changes with them.
    """
    former = {m.evidence[0]: m for m in before if m.origin is Origin.CHAT}
    pairs = ((m.id, former.get(m.evidence[0])) for m in after)
    return {key: old for key, old in pairs if old is not None and old.id != key}
