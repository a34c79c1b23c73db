"""Edges between memories: kinds, legal ends, and strength over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import Enum

from soulmem.domain.calendar import EPOCH, MICROSECOND
from soulmem.domain.errors import Unprocessable
from soulmem.domain.forgetting_curve import Decay, retained
from soulmem.domain.ids import MemoryId, SoulId, derived_id
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.domain.phrases import phrase

_EPISODES = (MemoryKind.EPISODE, MemoryKind.ABSTRACT_EPISODE)
TEXTS = (*_EPISODES, MemoryKind.NOTE)  # what names people and things


EDGE_STABILITY = 300.0  # turns; S of an edge that was never used (design 6)


class EdgeKind(str, Enum):
    """Meaning of an edge."""

    RELATES = "relates"
    MENTIONS = "mentions"
    INSTANCE_OF = "instance_of"
    NEXT = "next"
    ASSOCIATES = "associates"
    TOPIC_OF = "topic_of"
    TRIGGERS = "triggers"
    FIRES = "fires"
    KNOWS_HABIT = "knows_habit"


# What fades when it is not used (design 2); the others say what is so.
DECAYING = frozenset({EdgeKind.RELATES, EdgeKind.MENTIONS, EdgeKind.ASSOCIATES})

_JOINS: dict[EdgeKind, tuple[tuple[MemoryKind, ...], tuple[MemoryKind, ...]]] = {
    EdgeKind.RELATES: ((MemoryKind.CONCEPT,), (MemoryKind.CONCEPT,)),
    EdgeKind.MENTIONS: (TEXTS, (MemoryKind.CONCEPT,)),
    EdgeKind.INSTANCE_OF: ((MemoryKind.EPISODE,), (MemoryKind.ABSTRACT_EPISODE,)),
    EdgeKind.NEXT: ((MemoryKind.EPISODE,), (MemoryKind.EPISODE,)),
    EdgeKind.ASSOCIATES: (tuple(MemoryKind), tuple(MemoryKind)),
    EdgeKind.TOPIC_OF: ((MemoryKind.CONCEPT,), (MemoryKind.CONCEPT,)),
    EdgeKind.TRIGGERS: (_EPISODES, (MemoryKind.TRIGGER,)),
    EdgeKind.FIRES: ((MemoryKind.TRIGGER,), (MemoryKind.ACTION,)),
    EdgeKind.KNOWS_HABIT: ((MemoryKind.CONCEPT,), (MemoryKind.ACTION,)),
}


def start_strength(kind: EdgeKind, *, is_overwhelming: bool = False) -> float:
    """Initial strength of an edge, 0..1.

    `is_overwhelming`: of a trigger that one concrete episode sets off; design 2.
    """
    return 1.0 if kind is EdgeKind.FIRES and is_overwhelming else 0.5


def check_join(
    kind: EdgeKind, source: MemoryKind, target: MemoryKind, field: str = "edges.kind"
) -> None:
    """Raises Unprocessable, naming `field`, unless `kind` may run from `source` to `target`."""
    sources, targets = _JOINS[kind]
    if source not in sources or target not in targets:
        legal = (
            f"{' or '.join(s.value for s in sources)} -> {' or '.join(t.value for t in targets)}"
        )
        raise Unprocessable(
            phrase(
                "edge_kinds",
                "'{kind}' cannot join {source} -> {target}; it joins {legal}",
                kind=kind.value,
                source=source.value,
                target=target.value,
                legal=legal,
            ),
            field=field,
        )


@dataclass(frozen=True, slots=True)
class Edge:
    """A directed association; `strength` is as of `touched` and `at_turn`."""

    soul: SoulId
    source: MemoryId
    target: MemoryId
    kind: EdgeKind
    origin: Origin
    touched: datetime  # aware
    strength: float = 0.5  # 0..1
    confidence: float = 1.0  # 0..1
    stability: float = EDGE_STABILITY  # turns; S of the curve
    uses: int = 0
    verb: str | None = None
    probability: float | None = None  # 0..1; of `fires`
    # the soul's clock when touched, in turns; None: not known, so as `touched` says
    at_turn: float | None = None
    made: datetime | None = None  # aware; when the user drew it

    def __post_init__(self) -> None:
        for name in ("strength", "confidence", "probability"):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value <= 1.0:
                raise Unprocessable(
                    phrase(
                        "share_range",
                        "{name} {value} is outside 0..1",
                        name=name,
                        value=value,
                    ),
                    field=f"edges.{name}",
                )
        if not self.stability > 0.0:
            raise Unprocessable(
                phrase(
                    "stability_range",
                    "stability {stability} is not above 0",
                    stability=self.stability,
                ),
                field="edges.stability",
            )

    @property
    def id(self) -> str:
        """Derived from ends, kind and verb: equal ones are the same edge."""
        return edge_id(self.kind, self.source, self.target, self.verb)

    def strength_at(
        self, turn: float, pace: float = 1.0, decay: Decay = Decay.EXPONENTIAL
    ) -> float:
        """The strength, 0..1, at a `turn` of the soul's clock: what is `retained` after pace * elapsed turns.

        `pace` 0..2 is the soul's dial of forgetting. A clock that was set back strengthens nothing; without
        `at_turn` nothing has faded yet.
        """
        if self.kind not in DECAYING or self.at_turn is None:
            return self.strength
        elapsed = pace * max(0.0, turn - self.at_turn)
        growth = self.stability / EDGE_STABILITY
        return self.strength * retained(elapsed, self.stability, growth, decay)


@dataclass(frozen=True, slots=True)
class EdgePage:
    """Many edges of one soul as columns of one length, with the fields of `Edge`."""

    id: Sequence[str]
    source: Sequence[MemoryId]
    target: Sequence[MemoryId]
    kind: Sequence[str]
    origin: Sequence[str]
    touched: Sequence[int]  # microseconds since 1970, UTC
    strength: Sequence[float]
    confidence: Sequence[float]
    stability: Sequence[float]
    uses: Sequence[int]
    verb: Sequence[str | None]
    probability: Sequence[float | None]
    at_turn: Sequence[float | None]
    made: Sequence[int | None]  # microseconds since 1970, UTC

    def pick(self, which: Sequence[int]) -> EdgePage:
        """The edges at these indices."""
        columns = (getattr(self, field.name) for field in fields(self))
        return EdgePage(*(list(map(column.__getitem__, which)) for column in columns))

    def edges(self, soul: SoulId) -> list[Edge]:
        """The edges as values, of that soul."""
        return [
            Edge(
                soul=soul,
                source=self.source[index],
                target=self.target[index],
                kind=EdgeKind(self.kind[index]),
                origin=Origin(self.origin[index]),
                touched=EPOCH + self.touched[index] * MICROSECOND,
                strength=self.strength[index],
                confidence=self.confidence[index],
                stability=self.stability[index],
                uses=self.uses[index],
                verb=self.verb[index],
                probability=self.probability[index],
                at_turn=self.at_turn[index],
                made=_at(self.made[index]),
            )
            for index in range(len(self.id))
        ]


def _at(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else EPOCH + microseconds * MICROSECOND


def edge_id(kind: EdgeKind, source: MemoryId, target: MemoryId, verb: str | None = None) -> str:
    """Id of the edge of that kind and verb between two memories."""
    return derived_id("l", kind.value, source, target, verb or "")
