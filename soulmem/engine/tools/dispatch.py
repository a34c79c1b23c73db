"""Carries out the tool calls of language models: search, save, summarise, update,
request a deletion.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from soulmem.domain.audit import Action, Actor
from soulmem.domain.calendar import within_calendar
from soulmem.domain.digests import Period
from soulmem.domain.errors import Unprocessable, no_memory, span_backwards
from soulmem.domain.ids import MemoryId, Owner
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.domain.phrases import phrase
from soulmem.domain.soul import Soul
from soulmem.engine.api.requests import (
    MemoryPatch,
    NewMemory,
    RecallRequest,
    RecallType,
    TimeRange,
)
from soulmem.engine.api.results import RecalledMemory
from soulmem.engine.digests.digest_writer import DigestWriter
from soulmem.engine.editing.deletion_requests import DeletionRequests
from soulmem.engine.editing.memory_editor import MemoryEditor
from soulmem.engine.learning.ratings import Ratings
from soulmem.engine.llm.calls import LlmTask
from soulmem.engine.llm.usage import DIGEST
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.recaller import Recaller
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.tools import definitions as wanted
from soulmem.engine.tools.assistant import Assistant
from soulmem.engine.tools.definitions import Arguments, arguments_of
from soulmem.engine.views.doubted import is_in_doubt
from soulmem.engine.views.provenance import source_places
from soulmem.engine.views.tag_levels import (
    NO_LEVEL,
    level_of,
    tag_level,
    tags_of,
)
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.governance.protection import check_unprotected
from soulmem.ports.store import Change

Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TagSearch:
    """What is asked for: tags (casefolded), the span of time, and how many memories at most."""

    tags: tuple[str, ...]
    span: TimeRange | None
    limit: int


@compute_only
def with_tagged(mind: Mind, recalled: Sequence[RecalledMemory], asked: TagSearch) -> list[Result]:
    """The recalled memories and those that carry a tag, best level first, then in the order of the recall."""
    # level, then recalled or not, then the rank of the recall or the newest first
    ranked: list[tuple[int, int, float, Result]] = []
    for rank, found in enumerate(recalled):
        memory = mind.memories.get(found.id)  # None for a fact
        levels = [level_of(mind, memory, tag) for tag in asked.tags] if memory else []
        level = min(levels, default=NO_LEVEL)
        ranked.append((level, 0, rank, recalled_fields(found)))
    known = {found.id for found in recalled}
    for memory in mind.memories.values():
        level = min(tag_level(tags_of(memory), tag) for tag in asked.tags)
        if level != NO_LEVEL and memory.id not in known and _fits(mind, memory, asked):
            newest = -memory.happened.timestamp()
            ranked.append((level, 1, newest, _tagged_fields(mind, memory)))
    ranked.sort(key=lambda entry: entry[:3])
    return [result for *_, result in ranked[: asked.limit]]


def _fits(mind: Mind, memory: Memory, asked: TagSearch) -> bool:
    """Whether a recall might bring the memory, and it lies in the span."""
    if memory.state is not MemoryState.ACTIVE or is_in_doubt(mind, memory.id):
        return False
    start = asked.span.start if asked.span else None
    end = asked.span.end if asked.span else None
    is_after = start is None or memory.ended >= start
    return is_after and (end is None or memory.happened < end)


def _tagged_fields(mind: Mind, memory: Memory) -> Result:
    return {
        "id": memory.id,
        "kind": memory.kind.value,
        "text": memory.text,
        "score": 0.0,
        "permanent": memory.permanent,
        "why": "it carries a tag that was asked for",
        "sources": [
            {"chat": place.chat, "slot": place.slot} for place in source_places(mind, memory)
        ],
    }


def recalled_fields(memory: RecalledMemory) -> Result:
    """A recalled memory as the result of a tool."""
    return {
        "id": memory.id,
        "kind": memory.kind,
        "text": memory.text,
        "score": memory.score,
        "permanent": memory.permanent,
        "why": memory.why,
        "sources": [{"chat": place.chat, "slot": place.slot} for place in memory.sources],
    }


_BUDGET = 1_000_000  # tokens: no limit, as a search is limited by its count
_CORE = 0.9  # importance of permanent memories
_CALLS = 4  # model calls within one tool call, for the latest digests; the caller waits


@dataclass(kw_only=True, eq=False)
class Tools:
    """Carries out tool calls, from every interface.

    With `review` a new permanent memory lies in the bin until the user restores it.
    """

    services: Services
    memories: MemoryEditor
    recaller: Recaller
    deletions: DeletionRequests
    digest_writer: DigestWriter
    ratings: Ratings
    assistant: Assistant
    review: bool = False

    async def call(
        self,
        owner: Owner,
        name: str,
        soul: str,
        actor: Actor,
        arguments: Mapping[str, Any],
        *,
        source: str = "",
        for_reply: bool = False,
    ) -> Result:
        """The result of the tool.

        source     the job that calls it, by which its changes are undone
        for_reply  a reply that is being written waits for it

        Raises NotFound, Forbidden for a protected memory or a tool of another actor,
        Unprocessable.
        """
        asked = arguments_of(name, actor, arguments)
        world = await self.services.world_of(owner)
        whose = world.soul(soul)  # type: ignore[arg-type]
        work: dict[
            type[Arguments],
            Callable[[World, Soul, ChangeAuthor, Any], Awaitable[Result]],
        ] = {
            wanted.SavePermanentMemory: self._save,
            wanted.Remember: self._remember,
            wanted.SearchMemories: self._search,
            wanted.SearchMemoriesInTime: self._search,
            wanted.CreateDailySummary: self._summary,
            wanted.ArchiveMemories: self._archive,
            wanted.UpdateMemoryNode: self._update,
            wanted.DeleteMemory: self._delete,
            wanted.RateMemories: self._rate,
        }
        if isinstance(asked, wanted.CallAssistant):
            return await self.assistant.help(
                owner, whose.id, asked.instruction, for_reply=for_reply
            )
        author = ChangeAuthor(actor, source=source)
        return await work[type(asked)](world, whose, author, asked)

    async def _save(
        self,
        world: World,
        soul: Soul,
        author: ChangeAuthor,
        asked: wanted.SavePermanentMemory,
    ) -> Result:
        new = NewMemory(
            soul.id,
            MemoryKind.NOTE,
            asked.content,
            tuple(asked.tags),
            importance=_CORE,
            permanent=True,
        )
        state = MemoryState.BIN if self.review else MemoryState.ACTIVE
        view = await self.memories.create(
            world.owner, new, replace(author, reason=asked.reason), state
        )
        result: Result = {"memory": view.memory.id, "permanent": True}
        return result | {"status": "awaiting_confirmation"} if self.review else result

    async def _remember(
        self, world: World, soul: Soul, author: ChangeAuthor, asked: wanted.Remember
    ) -> Result:
        new = NewMemory(
            soul.id,
            MemoryKind.NOTE,
            asked.content,
            tuple(asked.tags),
            importance=asked.importance,
        )
        view = await self.memories.create(world.owner, new, author)
        return {"memory": view.memory.id, "importance": view.memory.importance}

    async def _rate(
        self, world: World, soul: Soul, author: ChangeAuthor, asked: wanted.RateMemories
    ) -> Result:
        ratings = {MemoryId(r.memory_id): r.useful for r in asked.ratings}
        scores = await self.ratings.rate(world, soul.id, ratings, author)
        return {"feedback": scores}

    async def _search(
        self,
        world: World,
        soul: Soul,
        author: ChangeAuthor,
        asked: wanted.SearchMemories,
    ) -> Result:
        span = None
        if isinstance(asked, wanted.SearchMemoriesInTime) and asked.time_range is not None:
            start, end = asked.time_range.start, asked.time_range.end
            span = TimeRange(within_calendar(start), within_calendar(end))
            if span.start is not None and span.end is not None and span.end <= span.start:
                raise span_backwards("arguments.time_range.to")
        folded = (tag.strip().casefold() for tag in asked.tags)
        tags = tuple(dict.fromkeys(tag for tag in folded if tag))
        request = RecallRequest(
            soul.id,
            query=asked.query,
            type=RecallType.QUIET,
            budget_tokens=_BUDGET,
            max_items=asked.limit,
            time_range=span,
            tags=tags,
            restraint=0.0,  # who searches wants all there is
        )
        recalled = await self.recaller.recall(world.owner, request)
        results = await self._with_tagged(
            world, soul, recalled.memories, TagSearch(tags, span, asked.limit)
        )
        logged_query = {
            "query": asked.query,
            "found": [result["id"] for result in results],
        }
        entry = await self.services.auditor.entry(
            world.owner,
            soul.id,
            replace(author, source=recalled.trace),
            Action.READ,
            soul.id,
            None,
            logged_query,
        )
        await self.services.store.commit(Change(world.owner, audit=[entry], by=author.actor))
        return {"memories": results}

    async def _with_tagged(
        self,
        world: World,
        soul: Soul,
        recalled: Sequence[RecalledMemory],
        asked: TagSearch,
    ) -> list[Result]:
        """The results of a search: the recalled memories, and those with a tag that is asked for."""
        if not asked.tags:
            return [recalled_fields(memory) for memory in recalled]
        mind = await world.mind(soul.id)
        return await self.services.compute.run(with_tagged, mind, recalled, asked)

    async def _summary(
        self,
        world: World,
        soul: Soul,
        author: ChangeAuthor,
        asked: wanted.CreateDailySummary,
    ) -> Result:
        task = LlmTask(world.owner, soul.id, DIGEST, source=author.source)
        key = await self.digest_writer.make_latest_day(world, task, asked.context)
        if key is None:
            raise Unprocessable(
                phrase("no_day", "there is no day to sum up: the soul has no messages yet")
            )
        return {"digest": key}

    async def _archive(
        self,
        world: World,
        soul: Soul,
        author: ChangeAuthor,
        asked: wanted.ArchiveMemories,
    ) -> Result:
        task = LlmTask(world.owner, soul.id, DIGEST, source=author.source)
        keys = await self.digest_writer.make(
            world, task, Period(asked.period), going_on=True, calls=_CALLS
        )
        return {"digests": keys}

    async def _update(
        self,
        world: World,
        soul: Soul,
        author: ChangeAuthor,
        asked: wanted.UpdateMemoryNode,
    ) -> Result:
        await self._memory(world, soul, asked.memory_id)
        patch = MemoryPatch(text=asked.new_content)
        view = await self.memories.patch(world.owner, MemoryId(asked.memory_id), patch, author)
        return {
            "memory": view.memory.id,
            "text": view.memory.text,
            "revision": view.memory.revision,
        }

    async def _delete(
        self, world: World, soul: Soul, author: ChangeAuthor, asked: wanted.DeleteMemory
    ) -> Result:
        memory = await self._memory(world, soul, asked.memory_id)
        request = await self.deletions.ask(world, memory, replace(author, reason=asked.reason))
        return {"request": request.id, "status": request.state.value}

    async def _memory(self, world: World, soul: Soul, key: str) -> Memory:
        """The memory of that soul. Raises NotFound, and Forbidden for a protected one."""
        memory = (await world.mind(soul.id)).memories.get(MemoryId(key))
        if memory is None:
            raise no_memory(key, field="arguments.memory_id")
        check_unprotected(memory)
        return memory
