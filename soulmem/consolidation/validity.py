"""Validity of facts: when a later fact ends an earlier one, and which facts are the same.

The result depends on the visible facts alone: without the fact that ended it, a fact is valid again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from soulmem.domain.ids import MemoryId
from soulmem.language.relations import Relation

# POSIX seconds, and the position among those of the same second
Moment = tuple[float, int]


@dataclass(frozen=True, slots=True)
class FactClaim:
    """A fact with its ends, its relation and the times at which it was stated."""

    key: str
    subject: str
    object: str
    relation: Relation
    times: tuple[Moment, ...]  # ascending, at least one
    by_hand: bool = False  # made by the user: only another one made by the user ends it


@dataclass(frozen=True, slots=True)
class FactValidity:
    """The time in which a fact is valid; times are aware."""

    since: datetime | None = None  # when it was first stated; None: unknown
    # None: it is valid, or the time of its end is unknown
    until: datetime | None = None
    story: str | None = None  # time of its end, in the words of the story
    by: MemoryId | None = None  # the fact that ended it; None: it is valid


@dataclass(frozen=True, slots=True)
class FactEnd:
    """The end of a fact: when, and by which other fact (its key)."""

    moment: Moment
    by: str


def fact_end(claim: FactClaim, others: Sequence[FactClaim]) -> FactEnd | None:
    """The end of the fact by one of these others; None where it is valid.

    The last statement counts: a fact that was stated again after its contrary is valid, and the contrary has
    ended.
    """
    last = claim.times[-1]
    contradictions: list[tuple[Moment, str]] = []
    for other in others:
        if (claim.by_hand and not other.by_hand) or not are_exclusive(other, claim):
            continue
        # Of two statements of one moment, that it is over counts as the later one.
        is_later = other.times[-1] > last or (
            other.times[-1] == last and other.relation.is_over and not claim.relation.is_over
        )
        if is_later:
            contradictions.append(
                (next(moment for moment in other.times if moment >= last), other.key)
            )
    return FactEnd(*min(contradictions)) if contradictions else None


def are_exclusive(claim: FactClaim, other: FactClaim) -> bool:
    """Whether the two facts cannot be valid at the same time."""
    mine, theirs = claim.relation, other.relation
    same_pair = _is_same_pair(claim, other)
    if mine.is_over is not theirs.is_over:
        return same_pair and is_same_relation(mine, theirs)
    if mine.is_over or mine.topic is None or mine.topic != theirs.topic:
        return False
    if mine.pole:
        return same_pair and mine.pole != theirs.pole
    if mine.is_mutual:
        ends = {claim.subject, claim.object} & {other.subject, other.object}
        return len(ends) == 1
    return claim.subject == other.subject and claim.object != other.object


def is_same_relation(relation: Relation, other: Relation) -> bool:
    """Whether two verbs mean the same, whether or not they say that it is over."""
    if relation.base == other.base:
        return True
    return relation.topic is not None and (relation.topic, relation.pole) == (
        other.topic,
        other.pole,
    )


def is_same_fact(claim: FactClaim, other: FactClaim) -> bool:
    """Whether the two are the same fact in two wordings."""
    if claim.relation.is_over is not other.relation.is_over or not _is_same_pair(claim, other):
        return False
    return is_same_relation(claim.relation, other.relation)


def _is_same_pair(claim: FactClaim, other: FactClaim) -> bool:
    if (claim.subject, claim.object) == (other.subject, other.object):
        return True
    mutual = claim.relation.is_mutual and other.relation.is_mutual
    return mutual and (claim.subject, claim.object) == (other.object, other.subject)
