"""Collects the memories and edges of one derivation, each with the episodes that are its evidence.

Compute thread only. Nothing is changed here: the result is a change to be carried out.
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
from soulmem.language.relations import NAME_STABILITY


class DraftBuilder:
    """The products of one derivation. Memories that the user decided about stay as they are."""

    def __init__(self, mind: Mind, current_time: datetime, turn: float) -> None:
        """turn  the soul's clock, from which edges decay"""
        self.mind = mind
        self.current_time = current_time
        self.turn = turn
        self.memories: dict[MemoryId, Memory] = {}
        self.edges: dict[str, Edge] = {}
        self.cited: dict[str, dict[MemoryId, None]] = {}  # evidence of each product
        self._confidence: dict[str, float] = {}  # of each product

    def products(self) -> tuple[Product, ...]:
        """All memories and edges with their evidence, existing ones included."""
        return tuple(
            Product(key, tuple(cited), key in self.edges, self._confidence.get(key, 1.0))
            for key, cited in self.cited.items()
        )

    def carried(self, key: str, confidence: float) -> None:
        """Record how far the lines carry a memory or edge, 0..1; the best of several drafts counts."""
        self._confidence[key] = max(confidence, self._confidence.get(key, 0.0))

    def new_memory(self, key: MemoryId, kind: MemoryKind, text: str, importance: float) -> Memory:
        """A memory with nothing but its text; it is not added yet."""
        return Memory(
            id=key,
            soul=self.mind.soul.id,
            kind=kind,
            text=text,
            origin=Origin.MODEL,
            created=self.current_time,
            importance=importance,
            timelines=Timelines.THIS,
        )

    def put(self, memory: Memory, cited: Iterable[MemoryId]) -> None:
        """Add a memory; an existing one of that id keeps its text and becomes no less important."""
        existing = self.mind.memories.get(memory.id)
        if existing is not None and (
            existing.origin is not Origin.MODEL or existing.state is MemoryState.BIN
        ):
            memory = existing  # the user decided about it
        elif existing is not None:
            memory = replace(
                existing,
                concept=memory.concept,
                importance=max(existing.importance, memory.importance),
                state=MemoryState.ACTIVE,
            )
        if existing != memory:
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
        confidence: float = 1.0,
    ) -> Edge:
        """Add an edge, or more evidence for it; the existing edge if there is one, else the new one."""
        edge = Edge(
            soul=self.mind.soul.id,
            source=source,
            target=target,
            kind=kind,
            origin=Origin.MODEL,
            touched=self.current_time,
            strength=strength,
            verb=verb,
            probability=probability,
            at_turn=self.turn,
            confidence=confidence,
        )
        existing = self.mind.edges.get(edge.id)
        self.cited.setdefault(edge.id, {}).update(dict.fromkeys(cited))
        return self.edges.setdefault(edge.id, existing or edge)

    def join_names(
        self,
        concept: MemoryId,
        other: MemoryId,
        verb: str,
        cited: Iterable[MemoryId],
    ) -> Edge:
        """Add a relation, or more evidence for it, that says that two concepts are names of one thing."""
        edge = self.edge(EdgeKind.RELATES, concept, other, cited, 1.0, verb=verb)
        if edge.origin is Origin.MODEL and edge.id not in self.mind.edges:
            edge = self.edges[edge.id] = replace(edge, stability=NAME_STABILITY)
        return edge
