"""Routes of memories: create, list, read, change, delete, restore."""

from __future__ import annotations

from soulmem.domain.ids import MemoryId, SoulId
from soulmem.engine.api.results import MemoryView
from soulmem.server.json_response import Reply
from soulmem.server.responses.common import Done
from soulmem.server.responses.memories import (
    MemoriesResponse,
    MemoryResponse,
    memories_response,
    memory_response,
)
from soulmem.server.routes import Call, route
from soulmem.server.schemas.common import Confirm, NoBody, NoQuery
from soulmem.server.schemas.memories import (
    MemoriesQuery,
    NewMemoryBody,
    PatchBody,
    memory_filter,
    memory_patch,
    new_memory,
)


@route(
    "POST",
    "/v1/memories",
    query=NoQuery,
    body=NewMemoryBody,
    response=MemoryResponse,
    statuses=(201,),
)
async def create_memory(call: Call[NoQuery, NewMemoryBody]) -> Reply[MemoryResponse]:
    """Create a memory on behalf of the user."""
    new = await call.convert(lambda: new_memory(call.body))
    return _full_reply(await call.engine.memories.create(call.owner, new), status=201)


@route("GET", "/v1/memories", query=MemoriesQuery, body=None, response=MemoriesResponse)
async def list_memories(call: Call[MemoriesQuery, NoBody]) -> Reply[MemoriesResponse]:
    """A soul's memories or facts by filter and search text, page by page."""
    wanted = memory_filter(call.query)
    page = await call.engine.memories.list(call.owner, wanted)
    if call.query.reads and not wanted.only_facts:
        page = await call.engine.overviews.as_read(
            call.owner, SoulId(call.query.soul), page
        )
    return Reply(lambda: memories_response(page), rows=len(page.memories))


@route(
    "GET", "/v1/memories/{memory}", query=NoQuery, body=None, response=MemoryResponse
)
async def get_memory(call: Call[NoQuery, NoBody]) -> Reply[MemoryResponse]:
    """A memory with everything that belongs to it. Reading does not strengthen it."""
    return _full_reply(
        await call.engine.memories.get(call.owner, MemoryId(call.ids["memory"]))
    )


@route(
    "PATCH",
    "/v1/memories/{memory}",
    query=NoQuery,
    body=PatchBody,
    response=MemoryResponse,
)
async def patch_memory(call: Call[NoQuery, PatchBody]) -> Reply[MemoryResponse]:
    """Change a memory on behalf of the user. 409 if `revision` is out of date."""
    patch = await call.convert(lambda: memory_patch(call.body))
    return _full_reply(
        await call.engine.memories.patch(
            call.owner, MemoryId(call.ids["memory"]), patch
        )
    )


@route("DELETE", "/v1/memories/{memory}", query=Confirm, body=None, response=Done)
async def delete_memory(call: Call[Confirm, NoBody]) -> Reply[Done]:
    """Move a memory to the bin (a permanent one needs confirm=permanent), or erase it with confirm=purge."""
    await call.engine.memories.delete(
        call.owner, MemoryId(call.ids["memory"]), call.query.confirm
    )
    return Reply(Done)


@route(
    "POST",
    "/v1/memories/{memory}/restore",
    query=NoQuery,
    body=NoBody,
    response=MemoryResponse,
)
async def restore_memory(call: Call[NoQuery, NoBody]) -> Reply[MemoryResponse]:
    """Restore a memory from the bin."""
    return _full_reply(
        await call.engine.memories.restore(call.owner, MemoryId(call.ids["memory"]))
    )


def _full_reply(view: MemoryView, status: int = 200) -> Reply[MemoryResponse]:
    parts = len(view.units) + len(view.anchors)
    rows = parts + len(view.edges) + len(view.sources) + len(view.memory.evidence)
    return Reply(lambda: memory_response(view), rows=rows, status=status)


ROUTES = (
    create_memory,
    list_memories,
    get_memory,
    patch_memory,
    delete_memory,
    restore_memory,
)
