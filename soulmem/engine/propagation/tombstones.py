"""What would come back if it were purged? It lies in the bin for as long, so that it stays thrown away."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timezone

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.learned_names import learned_name_changes
from soulmem.engine.propagation.renaming import all_folded_names
from soulmem.language.name_tokens import fold

_SOME_TIME = datetime(2000, 1, 1, tzinfo=timezone.utc)


def recreated_if_purged(mind: Mind, binned: Collection[Memory]) -> set[MemoryId]:
    """Those of the memories in the bin that a chat tells, and concepts that the card or messages name.
    Computes.
    """
    out = {memory.id for memory in binned if mind.branches.holders(memory.id)}
    concepts = [memory for memory in binned if memory.kind is MemoryKind.CONCEPT]
    if not concepts:
        return out
    with mind.names.as_if((), [memory.id for memory in concepts]) as names:
        made = names.card_changes(_SOME_TIME)[0]
        made += learned_name_changes(
            names, mind.name_counts, all_folded_names(mind), _SOME_TIME
        )[0]
    ids = {memory.id for memory in made}
    called = {folded for memory in made for folded in _folds(memory)}
    return out | {
        m.id for m in concepts if m.id in ids or not called.isdisjoint(_folds(m))
    }


def _folds(memory: Memory) -> set[str]:
    aliases = memory.concept.aliases if memory.concept else ()
    return {fold(name) for name in (memory.text, *aliases)}
