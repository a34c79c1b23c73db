"""What is being made of drafts: new memories and edges, each with the episodes that speak for it.

Everything here computes: worker only. Nothing is changed: a change is made to be carried out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from soulmem.domain.derivations import Product
from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin, Timelines
from soulmem.engine.mind.mind import Mind


class DraftBuilder:
    """What one derivation becomes. What the user has decided about is left as it is."""

    def __init__(self, mind: Mind, now: datetime, turn: float) -> None:
        """turn  the soul's clock, from which edges decay"""
        self.mind = mind
        self.now = now
        self.turn = turn
        self.memories: dict[MemoryId, Memory] = {}
        self.edges: dict[str, Edge] = {}
        self.cited: dict[str, dict[MemoryId, None]] = {}

    def products(self) -> tuple[Product, ...]:
        """All of it, with its evidence."""
        made = (
            (key, tuple(cited), key in self.edges) for key, cited in self.cited.items()
        )
        return tuple(Product(key, cited, is_edge) for key, cited, is_edge in made)

    def plainly(
        self, key: MemoryId, kind: MemoryKind, text: str, importance: float
    ) -> Memory:
        """A memory of nothing but its text."""
        return Memory(
            id=key,
            soul=self.mind.soul.id,
            kind=kind,
            text=text,
            origin=Origin.MODEL,
            created=self.now,
            importance=importance,
            timelines=Timelines.THIS,
        )

    def put(self, memory: Memory, cited: Iterable[MemoryId]) -> None:
        """Take it up; one that is there already keeps its words and becomes no less important."""
        known = self.mind.memories.get(memory.id)
        if known is not None and (
            known.origin is not Origin.MODEL or known.state is MemoryState.BIN
        ):
            memory = known  # the user has decided about it
        elif known is not None:
            worth = max(known.importance, memory.importance)
            memory = replace(
                known,
                concept=memory.concept,
                importance=worth,
                state=MemoryState.ACTIVE,
            )
        if known != memory:
            self.memories[memory.id] = memory
        self.cited.setdefault(memory.id, {}).update(dict.fromkeys(cited))

    def edge(
        self,
        kind: EdgeKind,
        source: MemoryId,
        target: MemoryId,
        cited: Iterable[MemoryId],
        strength: float,
        verb: str | None = None,
        probability: float | None = None,
    ) -> Edge:
        """Join two memories, or tell that these episodes speak for it, too; the edge as it is then."""
        edge = Edge(
            soul=self.mind.soul.id,
            source=source,
            target=target,
            kind=kind,
            origin=Origin.MODEL,
            touched=self.now,
            strength=strength,
            verb=verb,
            probability=probability,
            at_turn=self.turn,
        )
        known = self.mind.edges.get(edge.id)
        if known is None:
            self.edges.setdefault(edge.id, edge)
        self.cited.setdefault(edge.id, {}).update(dict.fromkeys(cited))
        return self.edges.setdefault(edge.id, known or edge)
