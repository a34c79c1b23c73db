"""Guidance: what a query asks for beside its words, and what that does to the walk and to the answer's length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from soulmem.language.questions import (
    asks_for_cause,
    asks_for_event,
    asks_for_fact,
    is_question,
    split_question,
)
from soulmem.retrieval.mood import Mood, irritation

EPISODE, FACT = "episode", "fact"


@dataclass(frozen=True, slots=True)
class GuidanceParams:
    """How strongly guidance acts; these are decisions, no measured set tells of them."""

    # > 1, factor of edges to the kind of memory that a question asks for; a split between two kinds moves by
    # a tenth with it
    wanted: float = 1.25
    # 0..1, share of the places in the answer that full irritation removes; as of the walk's steps
    irritation: float = 0.5
    most_parts: int = 4  # of a query; each costs a comparison with all texts
    most_signs: int = 2000  # of a text that are looked at; its last ones


@dataclass(frozen=True, slots=True)
class Guidance:
    """What a query asks for.

    parts       its questions; one where it asks for one thing or for nothing
    careful     whether it asks; otherwise it is casual
    kinds       factor of edges to each kind of memory
    irritation  0..1, of the mood
    causes      whether it asks why
    """

    parts: tuple[str, ...] = ()
    careful: bool = False
    kinds: Mapping[str, float] = field(default_factory=lambda: {EPISODE: 1.0, FACT: 1.0})
    irritation: float = 0.0
    causes: bool = False

    @property
    def depth(self) -> str:
        """`careful` or `casual`."""
        return "careful" if self.careful else "casual"


def parts_of(text: str, params: GuidanceParams | None = None) -> tuple[str, ...]:
    """The questions of a text, the last ones joined where there are too many; the whole text where it asks for
    one thing or for nothing.
    """
    p = params or GuidanceParams()
    parts = split_question(text[-p.most_signs :])
    if len(parts) <= p.most_parts:
        return tuple(parts)
    return (*parts[: p.most_parts - 1], " ".join(parts[p.most_parts - 1 :]))


def guidance_of(parts: Sequence[str], mood: Mood, params: GuidanceParams | None = None) -> Guidance:
    """The guidance of a query with these parts (of `parts_of`) in that mood."""
    p = params or GuidanceParams()
    careful = any(map(is_question, parts))
    events, facts = any(map(asks_for_event, parts)), any(map(asks_for_fact, parts))
    return Guidance(
        parts=tuple(parts),
        careful=careful,
        kinds={
            EPISODE: p.wanted if careful and events else 1.0,
            FACT: p.wanted if careful and facts else 1.0,
        },
        irritation=irritation(mood),
        causes=careful and any(map(asks_for_cause, parts)),
    )


def places(max_items: int, irritation: float, params: GuidanceParams | None = None) -> int:
    """How many memories an answer may have in that irritation, 1..max_items."""
    p = params or GuidanceParams()
    return max(1, ceil(max_items * (1.0 - p.irritation * irritation)))
