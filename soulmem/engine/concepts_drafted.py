"""What is said of a concept that a language model drafted, by the answers that are left?"""

from __future__ import annotations

from collections.abc import Iterable

from soulmem.domain.derivations import Derivation
from soulmem.domain.drafts import DraftConcept
from soulmem.domain.ids import MemoryId, SoulId, derived_id
from soulmem.domain.memories import Memory
from soulmem.domain.situation import ConceptDetail
from soulmem.graph.names import fold


def concept_id(soul: SoulId, name: str) -> MemoryId:
    """The concept of a name: spellings that fold alike are one, whichever answer drafts it."""
    return MemoryId(derived_id("d", soul, "concept", fold(name) or name))


def detail_of(memory: Memory, derivations: Iterable[Derivation]) -> ConceptDetail | None:
    """The fields of the concept by what these derivations drafted, the last one's word counting; None for
    what is no concept.
    """
    if memory.concept is None:
        return None
    drafted = [
        draft
        for one in sorted(derivations, key=lambda one: (one.made, one.id))
        for draft in one.drafts.concepts
        if concept_id(memory.soul, draft.name) == memory.id
    ]
    return detail(memory.text, drafted)


def detail(name: str, drafted: Iterable[DraftConcept]) -> ConceptDetail:
    """What several drafts of one concept say together."""
    found = ConceptDetail()
    for draft in drafted:
        aliases = dict.fromkeys((*found.aliases, draft.name, *draft.aliases))
        found = ConceptDetail(
            concept_type=draft.concept_type,
            aliases=tuple(alias for alias in aliases if alias.strip() and alias != name),
            description=draft.description or found.description,
        )
    return found
