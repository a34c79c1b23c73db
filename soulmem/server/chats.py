"""Routes of chats: sync, read, list, delete, and the client's activity."""

from __future__ import annotations

from soulmem.domain.ids import ChatId, SoulId
from soulmem.server.json_response import Reply
from soulmem.server.responses.chats import (
    ChatResponse,
    ChatsResponse,
    SyncResponse,
    chat_response,
    chats_response,
    sync_response,
)
from soulmem.server.responses.common import Done
from soulmem.server.routes import Call, route
from soulmem.server.schemas.chats import (
    ActivityBody,
    ChatsQuery,
    SyncBody,
    sync_request,
)
from soulmem.server.schemas.common import NoBody, NoQuery


@route("PUT", "/v1/chats/{chat}", query=NoQuery, body=SyncBody, response=SyncResponse)
async def sync_chat(call: Call[NoQuery, SyncBody]) -> Reply[SyncResponse]:
    """Make the stored chat equal to the client's. Sending the same body again changes nothing."""
    request = await call.convert(
        lambda: sync_request(ChatId(call.ids["chat"]), call.body)
    )
    done = await call.engine.chats.sync(call.owner, request)
    return Reply(lambda: sync_response(done), rows=len(done.needs_text))


@route("GET", "/v1/chats/{chat}", query=NoQuery, body=None, response=ChatResponse)
async def get_chat(call: Call[NoQuery, NoBody]) -> Reply[ChatResponse]:
    """A stored chat with its messages, in order."""
    chat, messages = await call.engine.chats.get(call.owner, ChatId(call.ids["chat"]))
    return Reply(lambda: chat_response(chat, messages), rows=len(messages))


@route("GET", "/v1/chats", query=ChatsQuery, body=None, response=ChatsResponse)
async def list_chats(call: Call[ChatsQuery, NoBody]) -> Reply[ChatsResponse]:
    """The caller's chats, or those of one soul."""
    soul = call.query.soul
    chats = await call.engine.chats.list(call.owner, SoulId(soul) if soul else None)
    return Reply(lambda: chats_response(chats), rows=len(chats))


@route("DELETE", "/v1/chats/{chat}", query=NoQuery, body=None, response=Done)
async def delete_chat(call: Call[NoQuery, NoBody]) -> Reply[Done]:
    """Move a chat to the bin, with the memories that only this chat supports."""
    await call.engine.chats.delete(call.owner, ChatId(call.ids["chat"]))
    return Reply(Done)


@route("POST", "/v1/activity", query=NoQuery, body=ActivityBody, response=Done)
async def tell_activity(call: Call[NoQuery, ActivityBody]) -> Reply[Done]:
    """Report what the client of a chat is doing; `closed` makes its last message final."""
    await call.engine.chats.activity(
        call.owner, ChatId(call.body.chat), call.body.state
    )
    return Reply(Done)


ROUTES = (sync_chat, get_chat, list_chats, delete_chat, tell_activity)
