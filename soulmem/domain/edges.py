"""How memories hang together: the kinds of edges, what each may join, and an edge as of a moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import MemoryId, SoulId, derived_id
from soulmem.domain.memories import MemoryKind, Origin

_EPISODES = (MemoryKind.EPISODE, MemoryKind.ABSTRACT_EPISODE)


class EdgeKind(str, Enum):
    """What an edge says."""

    RELATES = "relates"
    MENTIONS = "mentions"
    INSTANCE_OF = "instance_of"
    NEXT = "next"
    ASSOCIATES = "associates"
    TOPIC_OF = "topic_of"
    TRIGGERS = "triggers"
    FIRES = "fires"
    KNOWS_HABIT = "knows_habit"


_JOINS: dict[EdgeKind, tuple[tuple[MemoryKind, ...], tuple[MemoryKind, ...]]] = {
    EdgeKind.RELATES: ((MemoryKind.CONCEPT,), (MemoryKind.CONCEPT,)),
    EdgeKind.MENTIONS: (_EPISODES, (MemoryKind.CONCEPT,)),
    EdgeKind.INSTANCE_OF: ((MemoryKind.EPISODE,), (MemoryKind.ABSTRACT_EPISODE,)),
    EdgeKind.NEXT: ((MemoryKind.EPISODE,), (MemoryKind.EPISODE,)),
    EdgeKind.ASSOCIATES: (tuple(MemoryKind), tuple(MemoryKind)),
    EdgeKind.TOPIC_OF: ((MemoryKind.CONCEPT,), (MemoryKind.CONCEPT,)),
    EdgeKind.TRIGGERS: (_EPISODES, (MemoryKind.TRIGGER,)),
    EdgeKind.FIRES: ((MemoryKind.TRIGGER,), (MemoryKind.ACTION,)),
    EdgeKind.KNOWS_HABIT: ((MemoryKind.CONCEPT,), (MemoryKind.ACTION,)),
}


def check_join(kind: EdgeKind, source: MemoryKind, target: MemoryKind) -> None:
    """Raises Unprocessable when `kind` may not run from `source` to `target`."""
    sources, targets = _JOINS[kind]
    if source not in sources or target not in targets:
        legal = f"{' or '.join(s.value for s in sources)} -> {' or '.join(t.value for t in targets)}"
        raise Unprocessable(
            f"{kind.value!r} cannot join {source.value} -> {target.value}; it joins {legal}",
            field="edges.kind",
        )


@dataclass(frozen=True, slots=True)
class Edge:
    """A directed association; `strength` is as of `touched`."""

    soul: SoulId
    source: MemoryId
    target: MemoryId
    kind: EdgeKind
    origin: Origin
    touched: datetime  # aware
    strength: float = 0.5  # 0..1
    confidence: float = 1.0  # 0..1
    stability: float = 300.0  # turns; S in R = exp(-t / S), design 6
    uses: int = 0
    verb: str | None = None
    probability: float | None = None  # 0..1; of `fires`

    def __post_init__(self) -> None:
        for name in ("strength", "confidence", "probability"):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value <= 1.0:
                raise Unprocessable(f"{name} {value} is outside 0..1", field=f"edges.{name}")

    @property
    def id(self) -> str:
        """The same ends, kind and verb are the same edge."""
        return edge_id(self.kind, self.source, self.target, self.verb)


def edge_id(kind: EdgeKind, source: MemoryId, target: MemoryId, verb: str | None = None) -> str:
    """Name of the edge of that kind (and verb) between two memories."""
    return derived_id("l", kind.value, source, target, verb or "")
