"""The doors to chats: sync, read, list, bin, and what the client is doing."""

from __future__ import annotations

from soulmem.domain.ids import ChatId, SoulId
from soulmem.server.answers.chats import (
    ChatAnswer,
    ChatsAnswer,
    SyncedAnswer,
    chat_answer,
    chats_answer,
    synced_answer,
)
from soulmem.server.answers.common import Done
from soulmem.server.as_json import Reply
from soulmem.server.doors import Call, door
from soulmem.server.schemas.chats import (
    ActivityBody,
    ChatsQuery,
    SyncBody,
    sync_request,
)
from soulmem.server.schemas.common import NoBody, NoQuery


@door("PUT", "/v1/chats/{chat}", query=NoQuery, body=SyncBody, answer=SyncedAnswer)
async def sync_chat(call: Call[NoQuery, SyncBody]) -> Reply[SyncedAnswer]:
    """Make the stored chat equal to the client's; the same body twice changes nothing."""
    request = await call.convert(
        lambda: sync_request(ChatId(call.ids["chat"]), call.body)
    )
    done = await call.engine.chats.sync(call.owner, request)
    return Reply(lambda: synced_answer(done), rows=len(done.needs_text))


@door("GET", "/v1/chats/{chat}", query=NoQuery, body=None, answer=ChatAnswer)
async def get_chat(call: Call[NoQuery, NoBody]) -> Reply[ChatAnswer]:
    """What is stored of a chat, in order."""
    chat, messages = await call.engine.chats.get(call.owner, ChatId(call.ids["chat"]))
    return Reply(lambda: chat_answer(chat, messages), rows=len(messages))


@door("GET", "/v1/chats", query=ChatsQuery, body=None, answer=ChatsAnswer)
async def list_chats(call: Call[ChatsQuery, NoBody]) -> Reply[ChatsAnswer]:
    """The caller's chats, or those of one soul."""
    soul = call.query.soul
    chats = await call.engine.chats.list(call.owner, SoulId(soul) if soul else None)
    return Reply(lambda: chats_answer(chats), rows=len(chats))


@door("DELETE", "/v1/chats/{chat}", query=NoQuery, body=None, answer=Done)
async def delete_chat(call: Call[NoQuery, NoBody]) -> Reply[Done]:
    """Move a chat, and what only it supports, to the bin."""
    await call.engine.chats.delete(call.owner, ChatId(call.ids["chat"]))
    return Reply(Done)


@door("POST", "/v1/activity", query=NoQuery, body=ActivityBody, answer=Done)
async def tell_activity(call: Call[NoQuery, ActivityBody]) -> Reply[Done]:
    """Say what the client of a chat is doing; `closed` settles its last message."""
    await call.engine.chats.activity(
        call.owner, ChatId(call.body.chat), call.body.state
    )
    return Reply(Done)


DOORS = (sync_chat, get_chat, list_chats, delete_chat, tell_activity)
