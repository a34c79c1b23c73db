"""Writes changes of memories, edges and opinions together with their audit entries, and
reads the entries.

Every change that does not follow from a chat is stored in one commit with its entries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from soulmem.domain.audit import Action, Actor, AuditEntry, AuditQuery
from soulmem.domain.edges import Edge
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.memories import BINNED, Memory, MemoryState
from soulmem.domain.opinions import Opinion
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.linker import Steps
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.runtime.events import Events
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.runtime.write_lock import WriteToken
from soulmem.engine.views.doubted import opinion_of
from soulmem.engine.world.world import World
from soulmem.governance.audit_values import (
    edge_difference,
    edge_values,
    memory_difference,
    memory_values,
    opinion_values,
)
from soulmem.governance.undoing import EDGES, OPINION, undone_by
from soulmem.ports.clock import Clock
from soulmem.ports.store import Store


@dataclass(frozen=True, slots=True)
class ChangeAuthor:
    """Who makes a change, by which request or job (`source`) and why."""

    actor: Actor
    source: str = ""
    reason: str = ""
    action: Action | None = None  # None: derived from the change


BY_USER = ChangeAuthor(Actor.USER)


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Audit entries, newest first; `cursor` is None on the last page."""

    entries: Sequence[AuditEntry]
    cursor: str | None
    undone: frozenset[str] = frozenset()  # ids of entries that were undone since


class TraceEraser(Protocol):
    """Removes purged memories from stored recall traces."""

    async def forget(
        self, owner: Owner, soul: SoulId, purged: Mapping[MemoryId, str]
    ) -> None:
        """Remove the purged memories, and questions that quote their texts."""

    async def drop(self, owner: Owner, soul: SoulId) -> None:
        """Remove all traces of the soul."""


class Auditor:
    """Commits changes with their audit entries, and reads entries."""

    def __init__(
        self,
        *,
        store: Store,
        compute: Worker,
        clock: Clock,
        events: Events,
        traces: TraceEraser,
    ) -> None:
        self.events = events
        self.traces = traces
        self._store = store
        self._compute = compute
        self._clock = clock
        self._last: dict[Owner, int] = {}

    async def carry_out(
        self,
        token: WriteToken,
        world: World,
        mind: Mind,
        change: MindChange,
        author: ChangeAuthor,
    ) -> tuple[AuditEntry, ...]:
        """Store and apply the change, its consequences and its audit entries; returns the entries.

        Raises Protected when the author may not change a memory.
        """
        entries = await self.entries(world.owner, mind, change, author)
        purged = {
            key: mind.memories[key].text
            for key in change.drop_memories
            if key in change.purge_audit
        }
        steps = await world.linker.steps(token, mind, change)
        await world.carry_out(token, mind, with_author(steps, author.actor, entries))
        if purged:
            await self.traces.forget(world.owner, mind.soul.id, purged)
        touched = list(dict.fromkeys(entry.target for entry in entries))
        if touched:
            self.events.publish(
                "memory",
                world.owner,
                soul=mind.soul.id,
                memories=touched,
                actor=author.actor.value,
            )
        return entries

    async def entries(
        self, owner: Owner, mind: Mind, change: MindChange, author: ChangeAuthor
    ) -> tuple[AuditEntry, ...]:
        """The audit entries of a change that is not applied yet: one per memory or edge source."""
        changes = await self._compute.run(_entry_values, mind, change)
        made = []
        for changed in changes:
            action = author.action or changed.action
            made.append(
                await self.entry(
                    owner,
                    mind.soul.id,
                    author,
                    action,
                    changed.target,
                    changed.before,
                    changed.after,
                )
            )
        return tuple(made)

    async def entry(
        self,
        owner: Owner,
        soul: SoulId,
        author: ChangeAuthor,
        action: Action,
        target: str,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
    ) -> AuditEntry:
        """An entry to be stored with a change; its id sorts after all earlier ones."""
        current_time = self._clock.now()
        number = max(await self._newest(owner) + 1, int(current_time.timestamp() * 1e6))
        self._last[owner] = number
        key = f"c{number:016x}"
        return AuditEntry(
            key,
            soul,
            current_time,
            author.actor,
            action,
            target,
            before,
            after,
            author.source,
            author.reason,
        )

    async def page(self, owner: Owner, wanted: AuditQuery) -> AuditPage:
        """One page of entries that match the query."""
        entries = await self._store.audit(
            owner, replace(wanted, limit=wanted.limit + 1)
        )
        cursor = entries[wanted.limit - 1].id if len(entries) > wanted.limit else None
        return AuditPage(entries[: wanted.limit], cursor)

    async def page_with_undone(self, owner: Owner, wanted: AuditQuery) -> AuditPage:
        """As `page`, with the ids of entries that were undone since."""
        page = await self.page(owner, wanted)
        if not page.entries:
            return page
        oldest = page.entries[-1]
        undos = await self.every(
            owner, AuditQuery(oldest.soul, since=oldest.moment, action=Action.UNDO)
        )
        return replace(page, undone=undone_by(undos, page.entries))

    async def every(self, owner: Owner, wanted: AuditQuery) -> list[AuditEntry]:
        """All entries that match the query, newest first, over all pages."""
        out: list[AuditEntry] = []
        while True:
            page = await self.page(owner, wanted)
            out += page.entries
            if page.cursor is None:
                return out
            wanted = replace(wanted, before=page.cursor)

    async def since_binned(self, owner: Owner, target: str) -> datetime | None:
        """When the memory or soul was put into the bin; None without an entry about it."""
        for entry in await self.every(owner, AuditQuery(target=target, limit=50)):
            if (entry.after or {}).get("state") == MemoryState.BIN.value:
                return entry.moment
        return None

    async def _newest(self, owner: Owner) -> int:
        newest = self._last.get(owner)
        if newest is None:
            entry = await self._store.audit(owner, AuditQuery(limit=1))
            newest = self._last.setdefault(
                owner, int(entry[0].id[1:], 16) if entry else 0
            )
        return self._last.get(owner, newest)


def with_author(steps: Steps, actor: Actor, entries: Sequence[AuditEntry]) -> Steps:
    """The steps with the actor set on each change; the first change gets the entries."""
    changes = [replace(change, by=actor) for change in steps.changes]
    if changes:
        changes[0] = replace(changes[0], audit=tuple(entries))
    return replace(steps, changes=changes)


@dataclass(frozen=True, slots=True)
class _EntryValues:
    """The values of one entry: target, action, values before and after."""

    target: str
    action: Action
    before: dict[str, Any] | None
    after: dict[str, Any] | None


@compute_only
def _entry_values(mind: Mind, change: MindChange) -> list[_EntryValues]:
    """The values of all audit entries of a change that is not applied yet."""
    edges = _edges_by_memory(mind, change)
    opinions = {changed.memory: changed for changed in change.put_opinions}
    out = []
    for memory in change.put_memories:
        old, (before, after) = (
            mind.memories.get(memory.id),
            edges.pop(memory.id, ({}, {})),
        )
        out += _memory_entries(old, memory, before, after)
        opinion = opinions.get(memory.id)
        if opinion is not None and opinion != (
            old_opinion := opinion_of(mind, memory.id)
        ):
            out.append(_opinion_entry(old_opinion, opinion))
    for key in change.drop_memories:
        if key in mind.memories:
            was = (
                None if key in change.purge_audit else memory_values(mind.memories[key])
            )
            out.append(_EntryValues(key, Action.PURGE, was, None))
    for target, (before, after) in edges.items():
        out.append(_EntryValues(target, Action.CHANGE, {EDGES: before}, {EDGES: after}))
    return out


def _memory_entries(
    old: Memory | None,
    new: Memory,
    edges_before: dict[str, Any],
    edges_after: dict[str, Any],
) -> list[_EntryValues]:
    """The entry of one stored memory; empty when nothing but its revision changes."""
    if old is None:
        after = memory_values(new) | ({EDGES: edges_after} if edges_after else {})
        return [_EntryValues(new.id, Action.CREATE, None, after)]
    was, values_after = memory_difference(old, new)
    if edges_before or edges_after:
        was[EDGES], values_after[EDGES] = edges_before, edges_after
    if not was:
        return []
    action = Action.CHANGE
    if old.state != new.state and new.state in BINNED:
        action = Action.BIN
    elif old.state in BINNED and new.state is MemoryState.ACTIVE:
        action = Action.RESTORE
    return [_EntryValues(new.id, action, was, values_after)]


def _opinion_entry(old: Opinion, new: Opinion) -> _EntryValues:
    """The entry of a changed opinion."""
    return _EntryValues(
        new.memory,
        Action.CHANGE,
        {OPINION: opinion_values(old)},
        {OPINION: opinion_values(new)},
    )


def _edges_by_memory(
    mind: Mind, change: MindChange
) -> dict[MemoryId, tuple[dict[str, Any], dict[str, Any]]]:
    """Edge values before and after, grouped by memory.

    The memory is the edge's target if the change puts it and not the source; else the
    source.
    """
    put = {memory.id for memory in change.put_memories}
    out: dict[MemoryId, tuple[dict[str, Any], dict[str, Any]]] = {}

    def side(edge: Edge) -> tuple[dict[str, Any], dict[str, Any]]:
        key = (
            edge.target
            if edge.target in put and edge.source not in put
            else edge.source
        )
        return out.setdefault(key, ({}, {}))

    for edge in change.put_edges:
        old = mind.edges.get(edge.id)
        if old is None:
            before, after = side(edge)
            before[edge.id], after[edge.id] = None, edge_values(edge)
        elif old != edge:
            before, after = side(edge)
            before[edge.id], after[edge.id] = edge_difference(old, edge)
    for key in change.drop_edges:
        dropped = mind.edges.get(key)
        if dropped is not None:
            before, after = side(dropped)
            before[key], after[key] = edge_values(dropped), None
    return out
