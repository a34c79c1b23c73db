"""Drafted concepts: their ids, usable aliases, and their fields merged from all drafts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.derivations import Derivation
from soulmem.domain.drafts import DraftConcept
from soulmem.domain.ids import MemoryId, SoulId, derived_id
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.situation import ConceptDetail
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.language.function_words import NOBODY
from soulmem.language.name_tokens import fold
from soulmem.language.scripts import is_unspaced


@compute_only
def repeated_concepts(mind: Mind) -> dict[MemoryId, MemoryId]:
    """By each drafted concept that lists leave out: the known concept of that name, which they show."""
    in_use = mind.columns.in_use
    return {
        draft: known
        for draft, known in mind.drafted.known(mind.names, mind.revision).items()
        if (row := mind.row(known)) is not None and in_use[row]
    }


@compute_only
def drafts_of(mind: Mind, concept: Memory) -> list[Memory]:
    """The drafted concepts, in any state, that have a name of this concept; none for a draft itself."""
    if concept.kind is not MemoryKind.CONCEPT or concept.origin is Origin.MODEL:
        return []
    names = (concept.text, *(concept.concept.aliases if concept.concept else ()))
    keys = dict.fromkeys(concept_id(mind.soul.id, name) for name in names)
    drafts = (mind.memories.get(key) for key in keys)
    return [d for d in drafts if d is not None and d.origin is Origin.MODEL]


@compute_only
def repeats_of(mind: Mind, concept: Memory, shown_as: Mapping[MemoryId, MemoryId]) -> list[Memory]:
    """The drafted concepts that lists leave out for this concept; `shown_as` as `repeated_concepts` returns it."""
    drafts = drafts_of(mind, concept) if shown_as else ()
    return [draft for draft in drafts if shown_as.get(draft.id) == concept.id]


@compute_only
def described(mind: Mind, memory: Memory, shown_as: Mapping[MemoryId, MemoryId]) -> Memory:
    """The memory; a concept without a description gets that of a draft with its name."""
    detail = memory.concept
    if detail is None or detail.description:
        return memory
    for draft in repeats_of(mind, memory, shown_as):
        if draft.concept and draft.concept.description:
            told = replace(detail, description=draft.concept.description)
            return replace(memory, concept=told)
    return memory


@compute_only
def shown_rows(mind: Mind, shown_as: Mapping[MemoryId, MemoryId]) -> NDArray[np.int64]:
    """Each row itself, but for a repeated concept the row of the concept that is shown, int64[rows]."""
    shown = np.arange(mind.size, dtype=np.int64)
    for draft, known in shown_as.items():
        row, known_row = mind.row(draft), mind.row(known)
        if row is not None and known_row is not None:
            shown[row] = known_row
    return shown


_ARTICLE = re.compile(r"^(?:the|a|an) (?=\S)")
_LONGEST = 40  # characters of a name


def concept_id(soul: SoulId, name: str) -> MemoryId:
    """The id of the drafted concept of a name.

    Spellings that fold alike have one id, and so have "the old mill" and "old mill".
    """
    folded = fold(name) or name
    return MemoryId(derived_id("d", soul, "concept", _ARTICLE.sub("", folded)))


def usable_aliases(draft: DraftConcept, taken: Collection[str]) -> list[str]:
    """The aliases of a drafted concept that read like names and are nobody else's.

    A wrong alias would join two things into one. `taken` are the folded names of others.
    """
    out: list[str] = []
    for alias in dict.fromkeys(map(str.strip, draft.aliases)):
        folded = fold(alias)
        is_other = folded and folded != fold(draft.name) and folded not in taken
        if is_other and _is_own(alias):
            out.append(alias)
    return out


def _is_own(alias: str) -> bool:
    """Whether it reads like a name; "she" and "the man" do not."""
    if len(alias) > _LONGEST:
        return False
    if is_unspaced(alias):
        return len(alias) > 1 and alias not in NOBODY
    return any(word[0].isupper() and word.casefold() not in NOBODY for word in alias.split())


def drafted_detail(memory: Memory, derivations: Iterable[Derivation]) -> ConceptDetail | None:
    """The concept fields drafted by these derivations, the last draft counting; None if it is no concept."""
    if memory.concept is None:
        return None
    drafted: list[DraftConcept] = []
    for derivation in sorted(derivations, key=lambda d: (d.made, d.id)):
        for draft in derivation.drafts.concepts:
            if concept_id(memory.soul, draft.name) == memory.id:
                drafted.append(draft)
    return merged_detail(memory.text, drafted)


def merged_detail(name: str, drafted: Iterable[DraftConcept]) -> ConceptDetail:
    """The fields of several drafts of one concept merged; type and description are the last ones."""
    merged = ConceptDetail()
    for draft in drafted:
        aliases = dict.fromkeys((*merged.aliases, draft.name, *draft.aliases))
        merged = ConceptDetail(
            concept_type=draft.concept_type,
            aliases=tuple(a for a in aliases if a.strip() and a != name),
            description=draft.description or merged.description,
        )
    return merged
