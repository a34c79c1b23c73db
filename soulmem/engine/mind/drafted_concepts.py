"""Names of the concepts that a language model drafted, apart from those that texts are linked to.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Mapping

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.engine.mind.known_names import KnownNames
from soulmem.graph.name_search import NameIndex


class DraftedConcepts:
    """The drafted concepts in use by name; names are indexed when they are first asked for."""

    def __init__(self) -> None:
        self._index: NameIndex[MemoryId] = NameIndex()
        self._unread: dict[MemoryId, str | None] = {}  # None: not in use
        self._known: dict[MemoryId, MemoryId] = {}
        self._known_at: tuple[int, ...] = ()

    def put(self, memory: Memory) -> None:
        """Add or replace a drafted concept; one that is in the bin, or the user's by now, is removed."""
        is_draft = memory.kind is MemoryKind.CONCEPT and memory.origin is Origin.MODEL
        if is_draft and memory.state is MemoryState.ACTIVE:
            self._unread[memory.id] = memory.text
        else:
            self.drop(memory.id)

    def drop(self, key: MemoryId) -> None:
        """Remove a concept; other ids are ignored."""
        if key in self._unread or key in self._index:
            self._unread[key] = None

    @property
    def index(self) -> NameIndex[MemoryId]:
        """The concepts by their names."""
        for key, name in self._unread.items():
            self._index.put(key, () if name is None else (name,))
        self._unread.clear()
        return self._index

    def known(self, names: KnownNames, revision: tuple[int, ...]) -> Mapping[MemoryId, MemoryId]:
        """To each draft that repeats a name of the card, the user or the chat the concept of that name.

        A name that several of them have says of none of them that it is meant. Kept for this `revision` of the
        mind; else 5 microseconds a name.
        """
        if revision != self._known_at:
            self._known, self._known_at = {}, revision
            for drafts, concepts in self.index.shared_with(names.index):
                if len(concepts) == 1:
                    self._known.update(dict.fromkeys(drafts, *concepts))
        return self._known
