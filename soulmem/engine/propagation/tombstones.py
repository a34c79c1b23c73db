"""Tombstones: binned memories that must stay in the bin, as purging would have them created again."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timezone

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.learned_names import learned_name_changes
from soulmem.engine.propagation.renaming import all_folded_names
from soulmem.engine.runtime.worker import compute_only
from soulmem.language.name_tokens import fold

_SOME_TIME = datetime(2000, 1, 1, tzinfo=timezone.utc)


@compute_only
def recreated_if_purged(mind: Mind, binned: Collection[Memory]) -> set[MemoryId]:
    """Ids of the binned memories that chats still hold, or that card or messages still name."""
    out = {memory.id for memory in binned if mind.branches.holders(memory.id)}
    concepts = [memory for memory in binned if memory.kind is MemoryKind.CONCEPT]
    if not concepts:
        return out
    with mind.names.as_if((), [memory.id for memory in concepts]) as names:
        created = names.card_changes(_SOME_TIME)[0]
        folds = all_folded_names(mind)
        counts = mind.name_counts
        created += learned_name_changes(names, counts, folds, _SOME_TIME)[0]
    ids = {memory.id for memory in created}
    folded = set[str]().union(*map(_folds, created))
    for concept in concepts:
        if concept.id in ids or not folded.isdisjoint(_folds(concept)):
            out.add(concept.id)
    return out


def _folds(memory: Memory) -> set[str]:
    """The folds of all names of a concept."""
    aliases = memory.concept.aliases if memory.concept else ()
    return {fold(name) for name in (memory.text, *aliases)}
