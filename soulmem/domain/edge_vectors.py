"""Memory vectors of edges and memories: for which queries they have led to what was used or wanted."""

from __future__ import annotations

from dataclasses import dataclass

from soulmem.domain.ids import MemoryId, SoulId


@dataclass(frozen=True, slots=True)
class EdgeVector:
    """The memory vector of one edge or memory: a weighted sum of query vectors of one embedding model.

    `source` and `target` are the ends of the edge, of a memory itself: it goes when one of them goes.
    Vectors of different models cannot be compared.
    """

    soul: SoulId
    edge: str  # its id, or that of the memory
    source: MemoryId
    target: MemoryId
    model: str
    weight: float  # sum of the weights of the queries; below 0 after penalties
    turn: float  # of the soul's clock, when it was last taught
    data: bytes  # float32 scale, then an int8 code for each dimension
