"""Learned names: the concepts of names that at least two messages contain, or that one introduces.

A function of the messages and the other names. Names of the card and the user win, names of
speakers are not learned, and a learned name that the user changed or binned stays so.
Compute thread only.
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
from soulmem.language.name_tokens import fold
from soulmem.language.names import without_title

ENOUGH = 2  # messages


def learned_id(soul: SoulId, folded: str) -> MemoryId:
    """The id of the concept of a learned name, given its fold."""
    return MemoryId(derived_id("n", soul, folded))


def learned_name_changes(
    names: KnownNames, counts: NameCounts, folds: Iterable[str], created: datetime
) -> tuple[list[Memory], list[MemoryId]]:
    """Concepts to write, and ids of those to drop, for the learned names of these folds.

    Names that sound alike are included. New concepts bear the time `created`.
    """
    put: list[Memory] = []
    drop: list[MemoryId] = []
    for folded in sorted(set[str]().union(*map(counts.sounding_alike, folds))):
        existing = names.concept(learned_id(names.soul.id, folded))
        if existing is not None and (
            not existing.is_learned_name or existing.state is MemoryState.BIN
        ):
            continue  # the user has changed or binned it
        spellings = _spellings_to_learn(names, counts, folded)
        if spellings is None:
            if existing is not None:
                drop.append(existing.id)
        elif existing is None:
            put.append(_concept(names.soul.id, folded, spellings, created))
        else:
            put += _updated(existing, spellings)
    return put, drop


def _updated(existing: Memory, spellings: tuple[str, ...]) -> list[Memory]:
    """The concept with these spellings; empty if it has them already."""
    aliases = existing.concept.aliases if existing.concept else ()
    if spellings == (existing.text, *aliases):
        return []
    detail = ConceptDetail(aliases=spellings[1:])
    revision = existing.revision + 1
    return [replace(existing, text=spellings[0], concept=detail, revision=revision)]


def _spellings_to_learn(
    names: KnownNames, counts: NameCounts, folded: str
) -> tuple[str, ...] | None:
    """The spellings of the learned name, its own first; None if it is not to be learned.

    A Chinese name and Latin names that sound like it are one concept, that of the Chinese name.
    """
    spellings = counts.spellings(folded)
    if not spellings or _is_taken(names, folded, spellings[0]):
        return None
    others = _in_other_script(counts, folded)
    if any(map(counts.is_speaker, (folded, *others))):
        return None
    if not folded.isascii():
        if not _is_frequent(counts, folded, others):
            return None
        latin = (counts.spellings(other)[0] for other in sorted(others))
        return (spellings[0], *latin)
    for chinese in others:
        if _is_frequent(counts, chinese, [folded]) and not names.is_taken(chinese):
            return None  # it becomes an alias of the Chinese name
    return (spellings[0],) if _is_frequent(counts, folded, ()) else None


def _is_taken(names: KnownNames, folded: str, spelling: str) -> bool:
    """Whether it is a name of card, user or soul, with a title or without: Sir Bob is Bob."""
    return names.is_taken(folded) or names.is_taken(fold(without_title(spelling)))


def _in_other_script(counts: NameCounts, folded: str) -> list[str]:
    """The folds that sound alike: Latin ones of a Chinese name, and the reverse."""
    alike = counts.sounding_alike(folded)
    return [other for other in alike if other.isascii() != folded.isascii()]


def _is_frequent(counts: NameCounts, folded: str, others: Iterable[str]) -> bool:
    """Whether enough messages contain one of these names; one that introduces somebody by it is enough."""
    names = (folded, *others)
    if any(map(counts.introduced_in, names)):
        return True
    messages = set[MemoryId]().union(*map(counts.memories_with, names))
    return len(messages | counts.memories_with_whole(folded)) >= ENOUGH


def _concept(soul: SoulId, folded: str, spellings: tuple[str, ...], created: datetime) -> Memory:
    return Memory(
        id=learned_id(soul, folded),
        soul=soul,
        kind=MemoryKind.CONCEPT,
        text=spellings[0],
        origin=Origin.CHAT,
        created=created,
        concept=ConceptDetail(aliases=spellings[1:]),
    )
