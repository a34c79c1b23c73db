"""The messages of a chat in order, and which message belongs to which episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from soulmem.conversation.chat_digest import ChatDigest
from soulmem.domain.dialogue import Chat, Message, Version
from soulmem.domain.ids import MemoryId, SlotId
from soulmem.domain.sequences import Grown, Places

_NEWEST = 16  # messages that are looked at one by one: in play only they are new


@dataclass(frozen=True, slots=True)
class ChatLog:
    """A chat's head and its messages, in order."""

    head: Chat
    messages: Grown[Message] = field(default_factory=Grown)
    ranks: Grown[int] = field(default_factory=Grown)  # sort keys of the messages
    index: Places[SlotId] = field(default_factory=Places)  # slot to position
    digests: ChatDigest = field(default_factory=ChatDigest, compare=False, repr=False)

    @staticmethod
    def of(head: Chat, messages: Sequence[Message], ranks: Sequence[int]) -> ChatLog:
        """A log of `messages` with their sort keys."""
        return ChatLog(
            head,
            messages if isinstance(messages, Grown) else Grown(messages),
            ranks if isinstance(ranks, Grown) else Grown(ranks),
            Places(m.slot for m in messages),
        )

    def text(self, version: Version) -> str | None:
        """The text of a version this chat holds."""
        index = self.index.get(version.slot)
        return (
            self.messages[index].text
            if index is not None and self.messages[index].hash == version.hash
            else None
        )


class EpisodeMessages:
    """Maps episodes to their messages and message positions to episodes."""

    def __init__(
        self, keys: Sequence[MemoryId | None], messages: Sequence[Message]
    ) -> None:
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
        return (
            None
            if position is None or position >= len(self._keys)
            else self._keys[position]
        )
