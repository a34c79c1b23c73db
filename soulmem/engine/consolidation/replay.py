"""The job `replay`: goes over a region of memory again.

It joins tellings of one event and names of one thing, strengthens the edges of the region
and links memories that were recalled together. A language model reads deferred input of
its chats again and names kinds of its scenes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from soulmem.consolidation.plasticity import potentiated
from soulmem.consolidation.rehearsal import RehearsalParams, pairs_to_link
from soulmem.domain import change_reasons
from soulmem.domain.audit import Actor
from soulmem.domain.edges import DECAYING, Edge, EdgeKind
from soulmem.domain.errors import NotFound, Unprocessable, no_memory, span_backwards
from soulmem.domain.forgetting_curve import stability_after
from soulmem.domain.ids import ID_PATTERN, ChatId, MemoryId
from soulmem.domain.memories import Origin
from soulmem.domain.phrases import phrase
from soulmem.engine.consolidation.consolidator import Consolidator
from soulmem.engine.consolidation.joined_tellings import Joiner
from soulmem.engine.consolidation.linking import worthiest
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.names.stated_names import StatedNames
from soulmem.engine.runtime.jobs import JobKind, JobRun
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.kernels.arrays import Bools

_HOPS = 2  # edges between a memory and the end of its neighbourhood
_Time = Annotated[datetime, Meta(tz=True)]
_Key = Annotated[str, Meta(pattern=ID_PATTERN)]


class ReplayRegion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The part of a soul's memory that is replayed; None does not restrict it."""

    chat: _Key | None = None  # its episodes, and memories drafted from it
    start: _Time | None = msgspec.field(name="from", default=None)  # inclusive
    end: _Time | None = msgspec.field(name="to", default=None)  # exclusive
    around: _Key | None = None  # a memory and its neighbourhood


@dataclass(kw_only=True, eq=False)
class ReplayJob:
    """Registers the job `replay`."""

    services: Services
    consolidator: Consolidator
    joiner: Joiner
    stated_names: StatedNames
    params: RehearsalParams = field(default_factory=RehearsalParams)

    def job_kinds(self) -> tuple[JobKind, ...]:
        """The jobs that this service runs."""
        return (JobKind("replay", self._job, ("chat", "from", "to", "around"), resumes=True),)

    async def _job(self, run: JobRun) -> dict[str, Any]:
        region = requested_region(run.arguments)
        world = await self.services.world_of(run.owner)
        mind = await world.mind(run.soul)
        joined = await self.joiner.join(world, mind, run.record.job)
        names = await self.stated_names.join(world, mind, run.record.job)
        if region.around is not None:
            await self.services.loader.complete(world.owner, mind, [MemoryId(region.around)])
        extra = self.services.clock.extra_turns
        keys = await self.services.compute.run(region_memories, mind, region, extra, self.params)
        await self.services.loader.complete(world.owner, mind, keys)
        run.report(0, 0, "memories")
        rehearsal = await self._rehearse(world, mind, keys, run)
        chats = await self.services.compute.run(chats_of, mind, keys)
        consolidated = await self.consolidator.run_region(
            world, mind, chats, frozenset(keys), run.record.job, run.report
        )
        return {
            "memories": len(keys),
            "joined": joined.merged,
            "released": joined.released,
            "names": names,
            **rehearsal,
            **consolidated,
        }

    async def _rehearse(
        self, world: World, mind: Mind, keys: Sequence[MemoryId], run: JobRun
    ) -> dict[str, int]:
        """Strengthen and link, as one change that is undone by the job."""
        async with world.writing as token:
            if world.minds.get(mind.soul.id) is not mind:
                return {"strengthened": 0, "linked": 0}
            current_time = self.services.clock.now()
            turn = mind.lived_turns(self.services.clock.extra_turns)
            stronger, new = await self.services.compute.run(
                rehearsed_edges, mind, keys, current_time, turn, self.params
            )
            change = MindChange(put_edges=(*stronger, *new))
            if change != MindChange():
                author = ChangeAuthor(
                    Actor.ENGINE,
                    source=run.record.job,
                    reason=str(change_reasons.REPLAY),
                )
                await self.services.auditor.carry_out(token, world, mind, change, author)
        return {"strengthened": len(stronger), "linked": len(new)}


def requested_region(arguments: object) -> ReplayRegion:
    """The region that the arguments of a job ask for. Raises Unprocessable."""
    try:
        region = msgspec.convert(arguments, ReplayRegion)
    except msgspec.ValidationError as error:
        words, _, place = str(error).partition(" - at `$")
        raise Unprocessable(
            phrase("replay_arguments", "replay: {words}", words=words),
            field=f"arguments{place.rstrip('`')}",
        ) from error
    if region.start is not None and region.end is not None and region.end <= region.start:
        raise span_backwards("arguments.to")
    return region


@compute_only
def region_memories(
    mind: Mind, region: ReplayRegion, extra: int, params: RehearsalParams
) -> list[MemoryId]:
    """The worthiest memories of the region, best first, at most `params.memories`.

    Raises NotFound for a chat or a memory that the soul does not have.
    """
    n, columns = mind.size, mind.columns
    inside = columns.in_use[:n] & columns.live[:n] & columns.searched[:n]
    inside[mind.facts.row_arrays()[0]] = False  # a fact is an edge
    if region.chat is not None:
        inside &= _rows_of_chat(mind, ChatId(region.chat))
    if region.start is not None:
        inside &= columns.ended[:n] >= region.start.timestamp()
    if region.end is not None:
        inside &= columns.happened[:n] < region.end.timestamp()
    if region.around is not None:
        inside &= _near(mind, MemoryId(region.around))
    return worthiest(mind, np.flatnonzero(inside), extra, params)


@compute_only
def rehearsed_edges(
    mind: Mind,
    keys: Sequence[MemoryId],
    current_time: datetime,
    turn: int,
    params: RehearsalParams,
) -> tuple[list[Edge], list[Edge]]:
    """The edges that change when these memories are recalled together: stronger ones, and new ones.

    Edges among the memories and the concepts that they mention become stronger, but for
    those that the user drew or that changed too recently. New ones link memories that
    recalls brought together.
    """
    mentioned: dict[MemoryId, None] = dict.fromkeys(keys)
    for key in keys:
        for edge in mind.edges.of(key, EdgeKind.MENTIONS):
            mentioned[edge.target] = None
    existing = mind.edges.between(mentioned)
    stronger = [
        _strengthened(mind, edge, current_time, turn, params)
        for edge in existing
        if edge.kind in DECAYING
        and edge.origin is not Origin.USER
        and mind.time.edge_age(edge, turn) >= params.rest
    ]
    linked = {frozenset((edge.source, edge.target)) for edge in existing}
    pairs = pairs_to_link(_recalled_together(mind, keys), _frequency(mind, keys), linked, params)
    new = [
        Edge(
            soul=mind.soul.id,
            source=source,
            target=target,
            kind=EdgeKind.ASSOCIATES,
            origin=Origin.CHAT,
            touched=current_time,
            strength=params.strength_after(recalls),
            at_turn=float(turn),
        )
        for (source, target), recalls in pairs.items()
    ]
    return stronger, new


def _recalled_together(mind: Mind, keys: Sequence[MemoryId]) -> list[frozenset[MemoryId]]:
    """For each recall those of the memories that it brought."""
    replayed = frozenset(keys)
    together = []
    for record in mind.recalls.records():
        recalled = [trail.memory for trail in record.trails]
        together.append(replayed.intersection(recalled))
    return together


def _frequency(mind: Mind, keys: Sequence[MemoryId]) -> dict[MemoryId, float]:
    """How frequently each of the memories is recalled, for those with any recall."""
    frequency = {}
    for key in keys:
        usage = mind.recalls.usage(key)
        if usage is not None:
            frequency[key] = usage.frequency()
    return frequency


@compute_only
def chats_of(mind: Mind, keys: Sequence[MemoryId]) -> list[ChatId]:
    """Ids of the chats of these episodes, or that the memories were drafted from."""
    chats: set[ChatId] = set()
    for key in keys:
        chats.update(mind.branches.holders(key))
        chats.update(mind.derivations.holders(key))
    return sorted(chats)


def _strengthened(
    mind: Mind, edge: Edge, current_time: datetime, turn: int, params: RehearsalParams
) -> Edge:
    p = params.plasticity
    return replace(
        edge,
        touched=current_time,
        at_turn=float(turn),
        strength=potentiated(mind.edge_strength(edge, turn), p.together, p),
        stability=stability_after(edge.stability, mind.time.edge_age(edge, turn)),
    )


def _rows_of_chat(mind: Mind, chat: ChatId) -> Bools:
    """Which rows are episodes of the chat, or were drafted from it. Raises NotFound."""
    if mind.branches.branch(chat) is None:
        raise NotFound(
            phrase("chat_unknown", "the soul knows no chat '{chat}'", chat=chat),
            field="arguments.chat",
        )
    rows = np.zeros(mind.size, bool)
    rows[mind.chat_rows(chat)] = True
    for key in mind.derivations.products(chat):
        row = mind.row(MemoryId(key))
        if row is not None:
            rows[row] = True
    return rows


def _near(mind: Mind, centre: MemoryId) -> Bools:
    """Which rows are within `_HOPS` edges of a memory. Raises NotFound."""
    if centre not in mind.memories:
        raise no_memory(centre, field="arguments.around")
    edges = mind.edges.arrays()
    near = np.zeros(mind.size, bool)
    near[mind.row_of(mind.memories[centre])] = True
    for _ in range(_HOPS):
        met = near[edges.source] | near[edges.target]
        near[edges.source[met]] = near[edges.target[met]] = True
    return near
