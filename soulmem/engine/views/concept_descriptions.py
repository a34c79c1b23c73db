"""Drafted concepts: their ids, usable aliases, and their fields merged from all drafts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from soulmem.domain.derivations import Derivation
from soulmem.domain.drafts import DraftConcept
from soulmem.domain.ids import MemoryId, SoulId, derived_id
from soulmem.domain.memories import Memory
from soulmem.domain.situation import ConceptDetail
from soulmem.language.function_words import NOBODY
from soulmem.language.name_tokens import fold
from soulmem.language.scripts import is_unspaced

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
    return any(
        word[0].isupper() and word.casefold() not in NOBODY for word in alias.split()
    )


def drafted_detail(
    memory: Memory, derivations: Iterable[Derivation]
) -> ConceptDetail | None:
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
