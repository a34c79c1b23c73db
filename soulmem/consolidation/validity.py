"""Which of the facts about something still hold, and since when do the others not?

A function of what is known alone: who takes a fact away that ended another one has that one hold again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from soulmem.domain.ids import MemoryId
from soulmem.language.relations import Relation

Moment = tuple[float, int]  # POSIX seconds, and the place among what is as old


@dataclass(frozen=True, slots=True)
class FactClaim:
    """A fact as it was told: of whom, what of them, and when."""

    key: str
    subject: str
    object: str
    relation: Relation
    times: tuple[Moment, ...]  # ascending, at least one
    by_hand: bool = False  # only what is made by hand, too, ends it


@dataclass(frozen=True, slots=True)
class FactValidity:
    """From when to when a fact holds; times are aware."""

    since: datetime | None = None  # when it was told first; None: not known
    until: datetime | None = (
        None  # None: it holds, or it is not known when it ceased to
    )
    story: str | None = None  # when it ceased to, in the story's own words
    by: MemoryId | None = None  # the fact that it ceased through; None: it holds


@dataclass(frozen=True, slots=True)
class FactEnd:
    """When a fact ceased to hold, and through which other one."""

    moment: Moment
    by: str


def fact_end(claim: FactClaim, others: Sequence[FactClaim]) -> FactEnd | None:
    """Since when the fact holds no more, by these others; None where it holds.

    What was told last counts: a fact that was told again after its contrary holds once more, and then the
    contrary does not.
    """
    last = claim.times[-1]
    contradictions: list[tuple[Moment, str]] = []
    for other in others:
        if (claim.by_hand and not other.by_hand) or not are_exclusive(other, claim):
            continue
        # Told in one breath, that it is over is the later of the two.
        is_later = other.times[-1] > last or (
            other.times[-1] == last
            and other.relation.is_over
            and not claim.relation.is_over
        )
        if is_later:
            contradictions.append(
                (next(moment for moment in other.times if moment >= last), other.key)
            )
    return FactEnd(*min(contradictions)) if contradictions else None


def are_exclusive(claim: FactClaim, other: FactClaim) -> bool:
    """Whether the two cannot both hold at a time."""
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
    """Whether two verbs, apart from whether it is over, tell the same of the same."""
    if relation.base == other.base:
        return True
    return relation.topic is not None and (relation.topic, relation.pole) == (
        other.topic,
        other.pole,
    )


def is_same_fact(claim: FactClaim, other: FactClaim) -> bool:
    """Whether the two are one fact in two wordings."""
    if claim.relation.is_over is not other.relation.is_over or not _is_same_pair(
        claim, other
    ):
        return False
    return is_same_relation(claim.relation, other.relation)


def _is_same_pair(claim: FactClaim, other: FactClaim) -> bool:
    if (claim.subject, claim.object) == (other.subject, other.object):
        return True
    mutual = claim.relation.is_mutual and other.relation.is_mutual
    return mutual and (claim.subject, claim.object) == (other.object, other.subject)
