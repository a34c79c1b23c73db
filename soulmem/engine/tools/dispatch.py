"""Carries out the tool calls of language models: search, save, summarise, update,
request a deletion.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from soulmem.domain.audit import Action, Actor
from soulmem.domain.errors import NotFound, Unprocessable
from soulmem.domain.ids import MemoryId, Owner
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.domain.soul import Soul
from soulmem.engine.api.requests import (
    MemoryPatch,
    NewMemory,
    RecallRequest,
    RecallType,
    TimeRange,
)
from soulmem.engine.api.results import RecalledMemory
from soulmem.engine.consolidation.digests import DigestWriter
from soulmem.engine.editing.deletion_requests import DeletionRequests
from soulmem.engine.editing.memory_editor import MemoryEditor
from soulmem.engine.llm.calls import LlmTask
from soulmem.engine.llm.usage import DIGEST
from soulmem.engine.recall.recaller import Recaller
from soulmem.engine.tools import definitions as wanted
from soulmem.engine.tools.definitions import Arguments, arguments_of
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.governance.protection import check_unprotected
from soulmem.ports.store import Change

_BUDGET = 1_000_000  # tokens: no limit, as a search is limited by its count
_CORE = 0.9  # importance of permanent memories
_CALLS = 4  # model calls within one tool call, for the latest digests; the caller waits

Result = dict[str, Any]


class Tools:
    """Carries out tool calls, from every interface."""

    def __init__(
        self,
        services: Services,
        *,
        memories: MemoryEditor,
        recaller: Recaller,
        deletions: DeletionRequests,
        digest_writer: DigestWriter,
        review: bool = False,
    ) -> None:
        """With `review` a new permanent memory lies in the bin until the user restores it."""
        self._review = review
        self._world_of = services.world_of
        self._store = services.store
        self._compute = services.compute
        self._auditor = services.auditor
        self._memories = memories
        self._recaller = recaller
        self._deletions = deletions
        self._digest_writer = digest_writer

    async def call(
        self,
        owner: Owner,
        name: str,
        soul: str,
        actor: Actor,
        arguments: Mapping[str, Any],
    ) -> Result:
        """The result of the tool.

        Raises NotFound, Forbidden for a protected memory or a tool of another actor,
        Unprocessable.
        """
        asked = arguments_of(name, actor, arguments)
        world = await self._world_of(owner)
        whose = world.soul(soul)  # type: ignore[arg-type]
        work: dict[
            type[Arguments], Callable[[World, Soul, Actor, Any], Awaitable[Result]]
        ] = {
            wanted.CallAssistant: self._call_assistant,
            wanted.SavePermanentMemory: self._save,
            wanted.SearchMemories: self._search,
            wanted.SearchMemoriesInTime: self._search,
            wanted.CreateDailySummary: self._summary,
            wanted.ArchiveMemories: self._archive,
            wanted.UpdateMemoryNode: self._update,
            wanted.DeleteMemory: self._delete,
        }
        return await work[type(asked)](world, whose, actor, asked)

    async def _call_assistant(
        self, _world: World, _soul: Soul, _actor: Actor, _asked: wanted.CallAssistant
    ) -> Result:
        raise Unprocessable(
            "the archivist takes no requests: it works by itself in quiet moments, and its tools can be"
            " called one by one"
        )

    async def _save(
        self, world: World, soul: Soul, actor: Actor, asked: wanted.SavePermanentMemory
    ) -> Result:
        new = NewMemory(
            soul.id,
            MemoryKind.NOTE,
            asked.content,
            tuple(asked.tags),
            importance=_CORE,
            permanent=True,
        )
        state = MemoryState.BIN if self._review else MemoryState.ACTIVE
        view = await self._memories.create(
            world.owner, new, ChangeAuthor(actor, reason=asked.reason), state
        )
        result: Result = {"memory": view.memory.id, "permanent": True}
        return result | {"status": "awaiting_confirmation"} if self._review else result

    async def _search(
        self, world: World, soul: Soul, actor: Actor, asked: wanted.SearchMemories
    ) -> Result:
        span = None
        if (
            isinstance(asked, wanted.SearchMemoriesInTime)
            and asked.time_range is not None
        ):
            span = TimeRange(asked.time_range.start, asked.time_range.end)
            if (
                span.start is not None
                and span.end is not None
                and span.end <= span.start
            ):
                raise Unprocessable(
                    "the time range ends before it begins",
                    field="arguments.time_range.to",
                )
        request = RecallRequest(
            soul.id,
            query=asked.query,
            type=RecallType.QUIET,
            budget_tokens=_BUDGET,
            max_items=asked.limit,
            time_range=span,
        )
        recalled = await self._recaller.recall(world.owner, request)
        logged_query = {
            "query": asked.query,
            "found": [memory.id for memory in recalled.memories],
        }
        entry = await self._auditor.entry(
            world.owner,
            soul.id,
            ChangeAuthor(actor, source=recalled.trace),
            Action.READ,
            soul.id,
            None,
            logged_query,
        )
        await self._store.commit(Change(world.owner, audit=[entry], by=actor))
        return {"memories": [_recalled(memory) for memory in recalled.memories]}

    async def _summary(
        self, world: World, soul: Soul, _actor: Actor, asked: wanted.CreateDailySummary
    ) -> Result:
        task = LlmTask(world.owner, soul.id, DIGEST)
        days = await self._digest_writer.digests(
            world, task, "day", asked.context, most=1
        )
        return (
            days[0]
            if days
            else {"from": None, "to": None, "text": "", "memories": [], "by": "quotes"}
        )

    async def _archive(
        self, world: World, soul: Soul, _actor: Actor, asked: wanted.ArchiveMemories
    ) -> Result:
        task = LlmTask(world.owner, soul.id, DIGEST)
        digests = await self._digest_writer.digests(
            world, task, asked.period, calls=_CALLS
        )
        return {"period": asked.period, "digests": digests}

    async def _update(
        self, world: World, soul: Soul, actor: Actor, asked: wanted.UpdateMemoryNode
    ) -> Result:
        await self._memory(world, soul, asked.memory_id)
        patch = MemoryPatch(text=asked.new_content)
        view = await self._memories.patch(
            world.owner, MemoryId(asked.memory_id), patch, ChangeAuthor(actor)
        )
        return {
            "memory": view.memory.id,
            "text": view.memory.text,
            "revision": view.memory.revision,
        }

    async def _delete(
        self, world: World, soul: Soul, actor: Actor, asked: wanted.DeleteMemory
    ) -> Result:
        memory = await self._memory(world, soul, asked.memory_id)
        request = await self._deletions.ask(
            world, memory, ChangeAuthor(actor, reason=asked.reason)
        )
        return {"request": request.id, "status": request.state.value}

    async def _memory(self, world: World, soul: Soul, key: str) -> Memory:
        """The memory of that soul. Raises NotFound, and Forbidden for a protected one."""
        memory = (await world.mind(soul.id)).memories.get(MemoryId(key))
        if memory is None:
            raise NotFound(
                f"no memory {key!r} of soul {soul.id!r}", field="arguments.memory_id"
            )
        check_unprotected(memory)
        return memory


def _recalled(memory: RecalledMemory) -> Result:
    """A recalled memory as the result of a tool."""
    return {
        "id": memory.id,
        "kind": memory.kind,
        "text": memory.text,
        "score": memory.score,
        "permanent": memory.permanent,
        "why": memory.why,
        "sources": [
            {"chat": place.chat, "slot": place.slot} for place in memory.sources
        ],
    }
