"""What does going over a region of memory again do? It strengthens its ways and links what came to mind
together; a language model reads again what was parked, and names what its scenes have in common.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from soulmem.consolidation.plasticity import potentiated, steadied
from soulmem.consolidation.rehearsal import RehearsalParams, to_link, worth
from soulmem.domain.audit import Actor
from soulmem.domain.edges import DECAYING, Edge, EdgeKind
from soulmem.domain.errors import NotFound, Unprocessable
from soulmem.domain.ids import ID_PATTERN, ChatId, MemoryId, Owner
from soulmem.domain.memories import Origin
from soulmem.engine.consolidation.consolidator import Consolidator
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.jobs import JobKind, JobRun, Jobs
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.world.audit import Auditor, Hand
from soulmem.engine.world.edge_loader import Loader
from soulmem.engine.world.world import World
from soulmem.ports.clock import Clock

Bools = NDArray[np.bool_]

_HOPS = 2  # of the surroundings of one memory
_Time = Annotated[datetime, Meta(tz=True)]
_Key = Annotated[str, Meta(pattern=ID_PATTERN)]


class Region(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which part of the memory is gone over; what is not said does not matter."""

    chat: _Key | None = None  # what it tells
    start: _Time | None = msgspec.field(name="from", default=None)  # inclusive
    end: _Time | None = msgspec.field(name="to", default=None)  # exclusive
    around: _Key | None = None  # a memory, and what is near it


class ReplayJob:
    """The job `replay`."""

    def __init__(
        self,
        jobs: Jobs,
        world_of: Callable[[Owner], Awaitable[World]],
        compute: Worker,
        clock: Clock,
        auditor: Auditor,
        loader: Loader,
        consolidator: Consolidator,
        params: RehearsalParams | None = None,
    ) -> None:
        self._world_of = world_of
        self._compute = compute
        self._clock = clock
        self._auditor = auditor
        self._loader = loader
        self._consolidator = consolidator
        self._params = params or RehearsalParams()
        jobs.register(
            JobKind("replay", self._job, ("chat", "from", "to", "around"), resumes=True)
        )

    async def _job(self, run: JobRun) -> dict[str, Any]:
        wanted = region_asked(run.arguments)
        world = await self._world_of(run.owner)
        mind = await world.mind(run.soul)
        if wanted.around is not None:
            await self._loader.complete(world.owner, mind, [MemoryId(wanted.around)])
        extra = self._clock.extra_turns
        keys = await self._compute.run(region_of, mind, wanted, extra, self._params)
        await self._loader.complete(world.owner, mind, keys)
        run.tell(0, 0, "memories")
        told = await self._rehearse(world, mind, keys, run)
        chats = await self._compute.run(chats_of, mind, keys)
        read = await self._consolidator.region(
            world, mind, chats, frozenset(keys), run.record.job, run.tell
        )
        return {"memories": len(keys), **told, **read}

    async def _rehearse(
        self, world: World, mind: Mind, keys: Sequence[MemoryId], run: JobRun
    ) -> dict[str, int]:
        """Strengthen and link, as one change that is undone by the job."""
        async with world.writing:
            if world.minds.get(mind.soul.id) is not mind:
                return {"strengthened": 0, "linked": 0}
            now, turn = self._clock.now(), mind.turns(self._clock.extra_turns)
            known, new = await self._compute.run(
                rehearsed, mind, keys, now, turn, self._params
            )
            change = MindChange(put_edges=(*known, *new))
            if change != MindChange():
                hand = Hand(Actor.ENGINE, source=run.record.job, reason="replay")
                await self._auditor.carry_out(world, mind, change, hand)
        return {"strengthened": len(known), "linked": len(new)}


def region_asked(arguments: object) -> Region:
    """The region. Raises Unprocessable."""
    try:
        wanted = msgspec.convert(arguments, Region)
    except msgspec.ValidationError as error:
        words, _, place = str(error).partition(" - at `$")
        raise Unprocessable(
            f"replay: {words}", field=f"arguments{place.rstrip('`')}"
        ) from error
    if (
        wanted.start is not None
        and wanted.end is not None
        and wanted.end <= wanted.start
    ):
        raise Unprocessable("the span ends before it begins", field="arguments.to")
    return wanted


def region_of(
    mind: Mind, wanted: Region, extra: int, params: RehearsalParams
) -> list[MemoryId]:
    """The memories of the region, the worthiest first, as many as are gone over at once. Computes.

    Raises NotFound for a chat or a memory that the soul does not have.
    """
    n, columns = mind.size, mind.columns
    inside = columns.in_use[:n] & columns.live[:n] & columns.searched[:n]
    inside[mind.facts.rows()[0]] = False  # a fact is an edge
    if wanted.chat is not None:
        inside &= _told_in(mind, ChatId(wanted.chat))
    if wanted.start is not None:
        inside &= columns.ended[:n] >= wanted.start.timestamp()
    if wanted.end is not None:
        inside &= columns.happened[:n] < wanted.end.timestamp()
    if wanted.around is not None:
        inside &= _near(mind, MemoryId(wanted.around))
    rows = np.flatnonzero(inside)
    ages, uses = (
        mind.ages(None, extra, rows),
        mind.recalls.uses(n)[rows].astype(np.int64),
    )
    value = worth(columns.importance[rows], uses, ages.astype(np.float64), params)
    best = np.lexsort((rows, -value))[: params.memories]
    return [mind.id_at(int(rows[at])) for at in best]


def rehearsed(
    mind: Mind,
    keys: Sequence[MemoryId],
    now: datetime,
    turn: int,
    params: RehearsalParams,
) -> tuple[list[Edge], list[Edge]]:
    """The ways between these memories, and to what they name, after all of it came to mind: those
    known that become stronger, and new ones between what was recalled together. What the user drew stays as
    it is. Computes.
    """
    named = (
        edge.target for key in keys for edge in mind.edges.of(key, EdgeKind.MENTIONS)
    )
    known = mind.edges.between(dict.fromkeys((*keys, *named)))
    stronger = [
        _stronger(mind, edge, now, turn, params)
        for edge in known
        if edge.kind in DECAYING
        and edge.origin is not Origin.USER
        and mind.time.since(edge, turn) >= params.rest
    ]
    there = frozenset(keys)
    came = [
        there.intersection(t.memory for t in record.trails)
        for record in mind.recalls.records()
    ]
    usages = ((key, mind.recalls.usage(key)) for key in keys)
    frequency = {key: usage.frequency() for key, usage in usages if usage is not None}
    joined = {frozenset((edge.source, edge.target)) for edge in known}
    return stronger, [
        Edge(
            soul=mind.soul.id,
            source=one,
            target=other,
            kind=EdgeKind.ASSOCIATES,
            origin=Origin.CHAT,
            touched=now,
            strength=params.strength,
            at_turn=float(turn),
        )
        for one, other in to_link(came, frequency, joined, params)
    ]


def chats_of(mind: Mind, keys: Sequence[MemoryId]) -> list[ChatId]:
    """The chats that tell of these memories, or that they were drafted for. Computes."""
    found: dict[ChatId, None] = {}
    for key in keys:
        found.update(
            dict.fromkeys(
                (*mind.lineages.holders(key), *sorted(mind.derived.holders(key)))
            )
        )
    return sorted(found)


def _stronger(
    mind: Mind, edge: Edge, now: datetime, turn: int, params: RehearsalParams
) -> Edge:
    p = params.plasticity
    return replace(
        edge,
        touched=now,
        at_turn=float(turn),
        strength=potentiated(mind.strength_of(edge, turn), p.together, p),
        stability=steadied(edge.stability, mind.time.since(edge, turn), p),
    )


def _told_in(mind: Mind, chat: ChatId) -> Bools:
    if mind.lineages.strand(chat) is None:
        raise NotFound(f"the soul knows no chat {chat!r}", field="arguments.chat")
    out = np.zeros(mind.size, bool)
    out[mind.order(chat)] = True
    made = (mind.row(MemoryId(key)) for key in mind.derived.products(chat))
    out[[row for row in made if row is not None]] = True
    return out


def _near(mind: Mind, centre: MemoryId) -> Bools:
    if centre not in mind.memories:
        raise NotFound(f"no memory {centre!r} of this soul", field="arguments.around")
    edges = mind.edges.arrays()
    near = np.zeros(mind.size, bool)
    near[mind.row_of(mind.memories[centre])] = True
    for _ in range(_HOPS):
        met = near[edges.source] | near[edges.target]
        near[edges.source[met]] = near[edges.target[met]] = True
    return near
