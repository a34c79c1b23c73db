"""TopicTags: which topics a word belongs to. The words of a topic are its tags."""

from __future__ import annotations

from collections import defaultdict

from soulmem.domain.ids import MemoryId, SoulId, derived_id
from soulmem.domain.memories import Memory, MemoryState


class TopicTags:
    """Topics in use by their tags, kept in step with the soul's concepts. Compute thread only.

    An ordinary word is no memory. As a member of a topic it is shown like a concept, under an id that
    follows from its spelling.
    """

    def __init__(self, soul: SoulId) -> None:
        self._soul = soul
        self._tags: dict[MemoryId, tuple[str, ...]] = {}
        self._topics: defaultdict[str, list[MemoryId]] = defaultdict(list)
        self._words: dict[MemoryId, str] = {}

    def put(self, memory: Memory) -> None:
        """Add or replace a topic; a concept that is none, or not in use, is removed."""
        self.drop(memory.id)
        if not memory.is_topic or memory.state is not MemoryState.ACTIVE:
            return
        self._tags[memory.id] = tuple(dict.fromkeys(memory.tags))
        for tag in self._tags[memory.id]:
            self._topics[tag].append(memory.id)
            self._words[self.id_of(tag)] = tag

    def drop(self, key: MemoryId) -> None:
        """Remove a topic; other ids are ignored."""
        for tag in self._tags.pop(key, ()):
            self._topics[tag].remove(key)
            if not self._topics[tag]:
                del self._topics[tag]
                del self._words[self.id_of(tag)]

    def is_topic(self, key: MemoryId) -> bool:
        """Whether this is a topic in use."""
        return key in self._tags

    def of_topic(self, topic: MemoryId) -> tuple[str, ...]:
        """The tags of a topic, the strongest first; empty for any other id."""
        return self._tags.get(topic, ())

    def topics_with(self, tag: str) -> tuple[MemoryId, ...]:
        """The topics with this tag, by id."""
        return tuple(sorted(self._topics.get(tag, ())))

    def id_of(self, word: str) -> MemoryId:
        """The id under which a word is shown."""
        return MemoryId(derived_id("w", self._soul, word))

    def word(self, key: MemoryId) -> str | None:
        """The tag that is shown under this id; None for any other id."""
        return self._words.get(key)
