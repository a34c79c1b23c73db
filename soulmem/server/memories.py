"""The doors to memories: make, list, read, change, bin, restore."""

from __future__ import annotations

from soulmem.domain.ids import MemoryId
from soulmem.engine.api.results import MemoryView
from soulmem.server.answers.common import Done
from soulmem.server.answers.memories import (
    MemoriesAnswer,
    MemoryAnswer,
    memories_answer,
    memory_answer,
)
from soulmem.server.as_json import Reply
from soulmem.server.doors import Call, door
from soulmem.server.schemas.common import Confirm, NoBody, NoQuery
from soulmem.server.schemas.memories import (
    MemoriesQuery,
    NewMemoryBody,
    PatchBody,
    memory_filter,
    memory_patch,
    new_memory,
)


@door(
    "POST",
    "/v1/memories",
    query=NoQuery,
    body=NewMemoryBody,
    answer=MemoryAnswer,
    statuses=(201,),
)
async def create_memory(call: Call[NoQuery, NewMemoryBody]) -> Reply[MemoryAnswer]:
    """Make a memory by the user's hand."""
    new = await call.convert(lambda: new_memory(call.body))
    return _whole(await call.engine.memories.create(call.owner, new), status=201)


@door("GET", "/v1/memories", query=MemoriesQuery, body=None, answer=MemoriesAnswer)
async def list_memories(call: Call[MemoriesQuery, NoBody]) -> Reply[MemoriesAnswer]:
    """A soul's memories, filtered and searched, page by page."""
    page = await call.engine.memories.list(call.owner, memory_filter(call.query))
    return Reply(lambda: memories_answer(page), rows=len(page.memories))


@door("GET", "/v1/memories/{memory}", query=NoQuery, body=None, answer=MemoryAnswer)
async def get_memory(call: Call[NoQuery, NoBody]) -> Reply[MemoryAnswer]:
    """A memory with everything that belongs to it; reading never teaches."""
    return _whole(
        await call.engine.memories.get(call.owner, MemoryId(call.ids["memory"]))
    )


@door(
    "PATCH", "/v1/memories/{memory}", query=NoQuery, body=PatchBody, answer=MemoryAnswer
)
async def patch_memory(call: Call[NoQuery, PatchBody]) -> Reply[MemoryAnswer]:
    """Change a memory by the user's hand; 409 when `revision` is stale."""
    patch = await call.convert(lambda: memory_patch(call.body))
    return _whole(
        await call.engine.memories.patch(
            call.owner, MemoryId(call.ids["memory"]), patch
        )
    )


@door("DELETE", "/v1/memories/{memory}", query=Confirm, body=None, answer=Done)
async def delete_memory(call: Call[Confirm, NoBody]) -> Reply[Done]:
    """Move a memory to the bin (a permanent one: confirm=permanent); from there for good: confirm=purge."""
    await call.engine.memories.delete(
        call.owner, MemoryId(call.ids["memory"]), call.query.confirm
    )
    return Reply(Done)


@door(
    "POST",
    "/v1/memories/{memory}/restore",
    query=NoQuery,
    body=NoBody,
    answer=MemoryAnswer,
)
async def restore_memory(call: Call[NoQuery, NoBody]) -> Reply[MemoryAnswer]:
    """Take a memory out of the bin."""
    return _whole(
        await call.engine.memories.restore(call.owner, MemoryId(call.ids["memory"]))
    )


def _whole(view: MemoryView, status: int = 200) -> Reply[MemoryAnswer]:
    rows = len(view.edges) + len(view.sources) + len(view.memory.evidence)
    return Reply(lambda: memory_answer(view), rows=rows, status=status)


DOORS = (
    create_memory,
    list_memories,
    get_memory,
    patch_memory,
    delete_memory,
    restore_memory,
)
