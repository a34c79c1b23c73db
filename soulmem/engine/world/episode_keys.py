"""The ids of the episodes of a chat's messages, kept from one look at a chat to the next."""

from __future__ import annotations

from dataclasses import dataclass, field

from soulmem.conversation.episodes import attended, episode_id, memorable
from soulmem.domain.dialogue import Chat, Message
from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.sequences import Grown, common_ends
from soulmem.domain.soul import Soul
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.world.message_log import ChatLog, remembered_parts


@dataclass(frozen=True, slots=True)
class ChatKeys:
    """Episode ids of a chat's messages, and what they were made from."""

    basis: tuple[ChatId, tuple[SoulId, ...], bool, bool]
    messages: Grown[Message] = field(default_factory=Grown)
    keys: Grown[MemoryId | None] = field(default_factory=Grown)
    order: Grown[MemoryId] = field(default_factory=Grown)  # the keys that are ids


class EpisodeKeys:
    """Episode ids by soul and chat. Compute thread only."""

    def __init__(self) -> None:
        self._kept: dict[tuple[SoulId, ChatId], ChatKeys] = {}

    def clear(self) -> None:
        """Forget all that was computed: chats are read again from the store."""
        self._kept.clear()

    @compute_only
    def of(self, soul: Soul, log: ChatLog, family: ChatId) -> ChatKeys:
        """For each message the id of its episode, None where the soul has none.

        Only messages that differ from the previous call are looked at.
        """
        basis = family, log.head.souls, *remembered_parts(soul)
        messages = log.remembered(soul)
        old = self._kept.get((soul.id, log.head.id))
        if old is None or old.basis != basis:
            old = ChatKeys(basis)
        prefix, suffix = common_ends(old.messages, messages)
        stop = len(messages) - suffix
        middle = (
            episode_id(soul.id, family, m) if _remembers(soul, log.head, m) else None
            for m in messages[prefix:stop]
        )
        behind = [*middle, *old.keys[len(old.keys) - suffix :]]
        gone = sum(key is not None for key in old.keys[prefix:])
        order = old.order.first(len(old.order) - gone)
        known = self._kept[soul.id, log.head.id] = ChatKeys(
            basis,
            messages,
            old.keys.first(prefix).extended(behind),
            order.extended(key for key in behind if key is not None),
        )
        return known


def _remembers(soul: Soul, chat: Chat, message: Message) -> bool:
    return (
        attended(chat, soul.id, message)
        and memorable(message)
        and (soul.settings.remember_hidden or not message.hidden)
    )
