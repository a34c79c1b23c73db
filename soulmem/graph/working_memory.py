"""Working memory: recently recalled or written memories, and the recall paths between them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from soulmem.domain.ids import MemoryId

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, slots=True)
class WorkingParams:
    """How long memories stay in working memory, and how many; design 3 and 5."""

    hot: int = 100  # memories recalled most often; they stay
    cold: int = 500  # turns without use after which a memory leaves
    grace: int = 100  # turns that a new memory has to be promoted in
    most: int = 2000  # memories active at once; a person's day holds fewer, and the graph some MB


@dataclass(frozen=True, slots=True)
class Active:
    """A memory in working memory."""

    memory: MemoryId
    count: int  # recalls that led to it or over it
    turn: int  # of the last one; of a new memory the turn it was seen at
    is_new: bool  # not yet promoted


class WorkingMemory:
    """Directed graph of active memories; an edge is a recall step, with count and last turn.

    The first instance imports networkx, which takes 0.1 s: create it off the event loop.
    """

    def __init__(self, params: WorkingParams | None = None) -> None:
        import networkx

        self.params = params or WorkingParams()
        self.graph: networkx.DiGraph[MemoryId] = networkx.DiGraph()

    def __len__(self) -> int:
        return int(self.graph.number_of_nodes())

    def __contains__(self, memory: MemoryId) -> bool:
        return memory in self.graph

    def __iter__(self) -> Iterator[MemoryId]:
        return iter(list(self.graph))

    def add_recall(self, ways: Iterable[Sequence[MemoryId]], turn: int) -> None:
        """Count one recall with these paths, each from the first memory to the recalled one.

        A memory or step on several paths is counted once.
        """
        paths = [list(way) for way in ways]
        for memory in dict.fromkeys(chain.from_iterable(paths)):
            node = self._node(memory, turn)
            node["count"] += 1
            node["turn"] = max(node["turn"], turn)
        for step in dict.fromkeys(chain.from_iterable(map(pairwise, paths))):
            if not self.graph.has_edge(*step):
                self.graph.add_edge(*step, count=0, turn=turn)
            taken = self.graph.edges[step]
            taken["count"] += 1
            taken["turn"] = max(taken["turn"], turn)

    def add_new(self, memory: MemoryId, turn: int) -> None:
        """Add a memory written at that turn, which is not promoted yet."""
        self._node(memory, turn)["new"] = True

    def promote(self, memory: MemoryId) -> None:
        """Mark the memory as promoted; one that is not active is ignored."""
        if memory in self.graph:
            self.graph.nodes[memory]["new"] = False

    def drop(self, memory: MemoryId) -> None:
        """Remove a deleted memory; one that is not active is ignored."""
        if memory in self.graph:
            self.graph.remove_node(memory)

    def release(self, turn: int, kept: Collection[MemoryId]) -> list[MemoryId]:
        """Remove memories that are cold or, coldest first, too many; never those in `kept`.

        Returns the removed memories.
        """
        params = self.params
        released = [
            memory
            for memory, node in self.graph.nodes(data=True)
            if memory not in kept
            and turn - node["turn"] > (params.grace if node["new"] else params.cold)
        ]
        self.graph.remove_nodes_from(released)
        over = len(self) - params.most
        if over > 0:
            free = [active for active in self.active() if active.memory not in kept]
            coldest = [active.memory for active in free[::-1][:over]]
            self.graph.remove_nodes_from(coldest)
            released += coldest
        return released

    def activations(self, memory: MemoryId) -> int:
        """Number of recalls whose paths contained the memory; 0 if it is not active."""
        return int(self.graph.nodes[memory]["count"]) if memory in self.graph else 0

    def active(self, limit: int | None = None) -> list[Active]:
        """Active memories, latest first, at most `limit`."""
        order = (
            (-node["turn"], -node["count"], memory) for memory, node in self.graph.nodes(data=True)
        )
        first = sorted(order) if limit is None else nsmallest(limit, order)
        return [
            Active(memory, -count, -turn, self.graph.nodes[memory]["new"])
            for turn, count, memory in first
        ]

    def recalled_since(self, turn: int) -> list[Active]:
        """Memories that a recall led to or over at that turn or later, in no order."""
        return [
            Active(memory, node["count"], node["turn"], node["new"])
            for memory, node in self.graph.nodes(data=True)
            if node["count"] and node["turn"] >= turn
        ]

    def _node(self, memory: MemoryId, turn: int) -> dict[str, int]:
        if memory not in self.graph:
            self.graph.add_node(memory, count=0, turn=turn, new=False)
        node: dict[str, int] = self.graph.nodes[memory]
        return node
