"""Which concepts do names stand for that messages give? A function of the messages and of other names.

A name is learned while two messages give it: what was said once may be a slip. Those of the card and of the
user win, nobody who speaks is learned, and what the user threw away does not come back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from soulmem.domain.ids import MemoryId, SoulId, derived_id
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.situation import ConceptDetail
from soulmem.engine.mind.known_names import KnownNames
from soulmem.engine.mind.name_counts import NameCounts

ENOUGH = 2  # messages


def learned_id(soul: SoulId, folded: str) -> MemoryId:
    """The concept of a learned name."""
    return MemoryId(derived_id("n", soul, folded))


def learned_name_changes(
    names: KnownNames, sightings: NameCounts, folds: Iterable[str], now: datetime
) -> tuple[list[Memory], list[MemoryId]]:
    """Concepts to be written anew, and those that nobody gives any more, of the names that fold so."""
    put: list[Memory] = []
    drop: list[MemoryId] = []
    for folded in sorted(
        {one for some in folds for one in sightings.sounding_alike(some)}
    ):
        known = names.concept(learned_id(names.soul.id, folded))
        if known is not None and (
            not known.is_learned_name or known.state is MemoryState.BIN
        ):
            continue  # the user has decided about it
        wanted = _wanted(names, sightings, folded)
        if wanted is None:
            if known is not None:
                drop.append(known.id)
        elif known is None:
            put.append(_concept(names.soul.id, folded, wanted, now))
        elif wanted != (known.text, *(known.concept.aliases if known.concept else ())):
            text, *aliases = wanted
            detail = ConceptDetail(aliases=tuple(aliases))
            put.append(
                replace(known, text=text, concept=detail, revision=known.revision + 1)
            )
    return put, drop


def _wanted(
    names: KnownNames, sightings: NameCounts, folded: str
) -> tuple[str, ...] | None:
    """What the concept of that name is called, its own name first; None when there is to be none."""
    spellings = sightings.spellings(folded)
    if not spellings or names.is_taken(folded):
        return None
    others = [
        one
        for one in sightings.sounding_alike(folded)
        if one != folded and one.isascii() != folded.isascii()
    ]
    if any(sightings.is_speaker(one) for one in (folded, *others)):
        return None
    if folded.isascii():  # the Latin spelling of a Chinese name goes with that
        if any(
            _is_enough(sightings, one, [folded]) and not names.is_taken(one)
            for one in others
        ):
            return None
        return (spellings[0],) if _is_enough(sightings, folded, ()) else None
    if not _is_enough(sightings, folded, others):
        return None
    return (spellings[0], *(sightings.spellings(one)[0] for one in sorted(others)))


def _is_enough(sightings: NameCounts, folded: str, others: Iterable[str]) -> bool:
    return (
        len(
            sightings.memories_with(folded).union(
                *(sightings.memories_with(one) for one in others)
            )
        )
        >= ENOUGH
    )


def _concept(
    soul: SoulId, folded: str, wanted: tuple[str, ...], now: datetime
) -> Memory:
    text, *aliases = wanted
    return Memory(
        id=learned_id(soul, folded),
        soul=soul,
        kind=MemoryKind.CONCEPT,
        text=text,
        origin=Origin.CHAT,
        created=now,
        concept=ConceptDetail(aliases=tuple(aliases)),
    )
