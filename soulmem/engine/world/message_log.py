"""The messages of a chat in order, and which message belongs to which episode."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from soulmem.conversation.story_texts import StoryTexts
from soulmem.domain.dialogue import Chat, Message, Version, digest_lines
from soulmem.domain.ids import MemoryId, SlotId
from soulmem.domain.sequences import Grown, Places
from soulmem.domain.soul import Soul


class ChatDigest:
    """The same as `digest`. Messages that begin with those of the last call are hashed from there on."""

    def __init__(self) -> None:
        self._messages: Grown[Message] = Grown()
        self._hash = hashlib.sha256()

    def of(self, messages: Sequence[Message]) -> str:
        """SHA-256 hex of the messages, as `digest`."""
        count = len(self._messages)
        if self._messages != messages[:count]:
            self._hash, self._messages, count = hashlib.sha256(), Grown(), 0
        self._hash.update(digest_lines(messages[count:]).encode())
        self._messages = messages if isinstance(messages, Grown) else Grown(messages)
        return self._hash.hexdigest()


_NEWEST = 16  # messages that are looked at one by one: in play only they are new


@dataclass(frozen=True, slots=True)
class ChatLog:
    """A chat's head and its messages, in order."""

    head: Chat
    messages: Grown[Message] = field(default_factory=Grown)
    ranks: Grown[int] = field(default_factory=Grown)  # sort keys of the messages
    index: Places[SlotId] = field(default_factory=Places)  # slot to position
    digests: ChatDigest = field(default_factory=ChatDigest, compare=False, repr=False)
    _stories: StoryTexts = field(default_factory=StoryTexts, compare=False, repr=False)

    @staticmethod
    def of(
        head: Chat,
        messages: Sequence[Message],
        ranks: Sequence[int],
        before: ChatLog | None = None,
    ) -> ChatLog:
        """A log of `messages` with their sort keys; `before` is the same chat as it was."""
        stories = before._stories if before is not None else StoryTexts()
        return ChatLog(
            head,
            messages if isinstance(messages, Grown) else Grown(messages),
            ranks if isinstance(ranks, Grown) else Grown(ranks),
            Places(m.slot for m in messages),
            _stories=stories,
        )

    @property
    def stories(self) -> Grown[Message]:
        """The messages with what they tell of the story as their texts. The first look at a chat reads it."""
        return self._stories.of(self.messages, self.head.persona)

    def remembered(self, soul: Soul) -> Grown[Message]:
        """The messages as the soul remembers them: their stories, or all of their texts where it keeps these."""
        return self.messages if soul.settings.whole_messages else self.stories

    def continued(self, head: Chat, messages: Grown[Message], ranks: Grown[int]) -> ChatLog:
        """The log after messages were appended."""
        index = self.index.extended(m.slot for m in messages[len(self.messages) :])
        return ChatLog(head, messages, ranks, index, self.digests, self._stories)

    def text(self, version: Version) -> str | None:
        """The text of a version this chat holds."""
        index = self.index.get(version.slot)
        return (
            self.messages[index].text
            if index is not None and self.messages[index].hash == version.hash
            else None
        )


def remembered_parts(soul: Soul) -> tuple[bool, bool]:
    """The messages that the soul remembers, by its settings."""
    return soul.settings.remember_hidden, soul.settings.whole_messages


def stories_of(soul: Soul | None, chat: Chat, messages: Sequence[Message]) -> Sequence[Message]:
    """The messages of a chat that is not stored, as the soul remembers them."""
    if soul is not None and soul.settings.whole_messages:
        return messages
    return StoryTexts().of(messages, chat.persona)


class EpisodeMessages:
    """Maps episodes to their messages and message positions to episodes."""

    def __init__(self, keys: Sequence[MemoryId | None], messages: Sequence[Message]) -> None:
        self._keys = keys
        self._messages = messages
        self._message_by_episode: dict[MemoryId, Message] | None = None

    def message(self, key: MemoryId) -> Message:
        """The message of the episode. Raises KeyError."""
        if self._message_by_episode is None:
            last = len(self._keys) - 1
            for position in range(last, max(-1, last - _NEWEST), -1):
                if self._keys[position] == key:
                    return self._messages[position]
            messages = zip(self._keys, self._messages, strict=True)
            self._message_by_episode = {
                message: m for message, m in messages if message is not None
            }
        return self._message_by_episode[key]

    def key(self, position: int | None) -> MemoryId | None:
        """The episode of the message at `position`, None without one."""
        return None if position is None or position >= len(self._keys) else self._keys[position]
