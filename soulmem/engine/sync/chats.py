"""The chat service: sync, reading, activity and deletion of chats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from soulmem.domain.dialogue import Chat, ChatState, Message
from soulmem.domain.ids import ChatId, Owner, SoulId
from soulmem.engine.api.requests import Activity, SyncAnswer, SyncRequest
from soulmem.engine.sync.chat_writer import ChatWriter
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World


@dataclass(kw_only=True, eq=False)
class ChatService:
    """The chats of all owners.

    on_settled     called when replies of a chat may have been settled
    on_new_texts   called when texts may want a vector
    on_generating  called with whether the client waits for a reply, or its user types
    """

    services: Services
    writer: ChatWriter
    on_settled: Callable[[World, ChatId], None]
    on_new_texts: Callable[[], None]
    on_generating: Callable[[Owner, ChatId, bool], None]

    async def sync(self, owner: Owner, request: SyncRequest) -> SyncAnswer:
        """Apply a chat as its client shows it."""
        world = await self.services.world_of(owner)
        answer = await self.writer.sync(world, request)
        self.on_settled(world, request.chat)
        self.on_new_texts()
        return answer

    async def get(self, owner: Owner, chat: ChatId) -> tuple[Chat, list[Message]]:
        """A chat and its messages, in order. Raises NotFound."""
        world = await self.services.world_of(owner)
        head = world.head(chat, "chat")
        log = await world.log(chat)
        return head, list(log.messages) if log is not None else []

    async def list(self, owner: Owner, soul: SoulId | None) -> list[tuple[Chat, int]]:
        """Active chats with their message counts, of one soul or all. Raises NotFound for the soul."""
        world = await self.services.world_of(owner)
        if soul is not None:
            world.soul(soul)
        chats = []
        for head in list(world.heads.values()):
            if head.state is not ChatState.ACTIVE:
                continue
            if soul is None or soul in head.cast or soul in head.souls:
                chats.append((head, await world.message_count(head.id)))
        return chats

    async def delete(self, owner: Owner, chat: ChatId) -> None:
        """Put the chat into the bin, with what only it supports. Raises NotFound."""
        await self.writer.delete_chat(await self.services.world_of(owner), chat)

    async def activity(self, owner: Owner, chat: ChatId, state: Activity) -> None:
        """Take note of what the client does: background work pauses, closing settles.

        Raises NotFound.
        """
        world = await self.services.world_of(owner)
        world.open_ahead(world.head(chat).souls)
        is_waiting = state in (Activity.GENERATING, Activity.TYPING)
        self.on_generating(owner, chat, is_waiting)
        if state is Activity.CLOSED:
            await self.writer.close(world, chat)
            self.on_settled(world, chat)
            self.on_new_texts()
