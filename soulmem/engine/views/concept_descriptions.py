"""What is said of a concept that a language model drafted, by the answers that are left?"""

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
_LONGEST = 40  # signs of a name


def concept_id(soul: SoulId, name: str) -> MemoryId:
    """The concept of a name: spellings that fold alike are one, whichever answer drafts it, and so are "the
    old mill" and "old mill".
    """
    folded = fold(name) or name
    return MemoryId(derived_id("d", soul, "concept", _ARTICLE.sub("", folded)))


def usable_aliases(draft: DraftConcept, taken: Collection[str]) -> list[str]:
    """What the drafted concept is also called, as far as that picks one thing out: a name of its own, and
    nobody else's. Two things made one tell what nobody said.

    taken  the folded names of others
    """
    mine = fold(draft.name)
    return [
        alias
        for alias in dict.fromkeys(a.strip() for a in draft.aliases)
        if (folded := fold(alias))
        and folded != mine
        and folded not in taken
        and _is_own(alias)
    ]


def _is_own(alias: str) -> bool:
    """Whether it reads like a name: not "she", nor "the man"."""
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
    return merged_detail(memory.text, drafted)


def merged_detail(name: str, drafted: Iterable[DraftConcept]) -> ConceptDetail:
    """What several drafts of one concept say together."""
    found = ConceptDetail()
    for draft in drafted:
        aliases = dict.fromkeys((*found.aliases, draft.name, *draft.aliases))
        found = ConceptDetail(
            concept_type=draft.concept_type,
            aliases=tuple(
                alias for alias in aliases if alias.strip() and alias != name
            ),
            description=draft.description or found.description,
        )
    return found
