"""Writes changes of memories, edges and opinions together with their audit entries, and
reads the entries.

Every change that does not follow from a chat is stored in one commit with its entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from soulmem.domain.audit import Action, Actor, AuditEntry, AuditQuery
from soulmem.domain.edges import Edge
from soulmem.domain.ids import MemoryId, Owner, SoulId
from soulmem.domain.memories import BINNED, Memory, MemoryKind, MemoryState
from soulmem.domain.opinions import Opinion
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.linker import Linker, Steps
from soulmem.engine.runtime.events import Events
from soulmem.engine.runtime.worker import Worker, compute_only
from soulmem.engine.runtime.write_lock import WriteToken
from soulmem.engine.views.doubted import opinion_of
from soulmem.engine.world.world import World
from soulmem.governance.audit_values import (
    MEMORY_FIELDS,
    edge_difference,
    edge_values,
    fading_values,
    memory_difference,
    memory_values,
    opinion_values,
)
from soulmem.governance.undoing import EDGES, FADING, OPINION, undone_by
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
_OF_DIGESTS = ("kind", "state", "origin", "timelines")


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Audit entries, newest first; `cursor` is None on the last page."""

    entries: Sequence[AuditEntry]
    cursor: str | None
    undone: frozenset[str] = frozenset()  # ids of entries that were undone since


class TraceEraser(Protocol):
    """Removes purged memories from stored recall traces."""

    async def forget(self, owner: Owner, soul: SoulId, purged: Mapping[MemoryId, str]) -> None:
        """Remove the purged memories, and questions that quote their texts."""

    async def drop(self, owner: Owner, soul: SoulId) -> None:
        """Remove all traces of the soul."""


@dataclass(kw_only=True, eq=False)
class Auditor:
    """Commits changes with their audit entries, and reads entries."""

    store: Store
    compute: Worker
    clock: Clock
    events: Events
    traces: TraceEraser

    def __post_init__(self) -> None:
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
        prepared = await self.compute.run(_prepare, world.linker, mind, change)
        return await self._store_prepared(token, world, mind, prepared, author)

    async def carry_out_made(
        self,
        token: WriteToken,
        world: World,
        mind: Mind,
        make: Callable[[Mind], MindChange | None],
        author: ChangeAuthor,
    ) -> MindChange | None:
        """As `carry_out`, with the change that `make` makes on the compute thread; returns that.

        None if it makes nothing.
        """
        prepared = await self.compute.run(_make_and_prepare, world.linker, mind, make)
        if prepared is None:
            return None
        await self._store_prepared(token, world, mind, prepared, author)
        return prepared.change

    async def _store_prepared(
        self,
        token: WriteToken,
        world: World,
        mind: Mind,
        prepared: _Prepared,
        author: ChangeAuthor,
    ) -> tuple[AuditEntry, ...]:
        """Store and apply the change with its audit entries, and publish it; returns the entries."""
        owner, soul = world.owner, mind.soul.id
        entries = await self._entries(owner, soul, prepared.values, author)
        steps = prepared.steps
        if steps is None:
            steps = await world.linker.steps(token, mind, prepared.change)
        await world.carry_out(token, mind, with_author(steps, author.actor, entries))
        if prepared.purged:
            await self.traces.forget(owner, soul, prepared.purged)
        touched = list(dict.fromkeys(entry.target for entry in entries))
        if touched:
            self.events.publish(
                "memory", owner, soul=soul, memories=touched, actor=author.actor.value
            )
        return entries

    async def _entries(
        self,
        owner: Owner,
        soul: SoulId,
        values: Iterable[_EntryValues],
        author: ChangeAuthor,
    ) -> tuple[AuditEntry, ...]:
        """The audit entries with these values, one per memory or edge source."""
        entries: list[AuditEntry] = []
        for changed in values:
            action = author.action or changed.action
            where = owner, soul, author, action, changed.target
            entry = await self.entry(*where, changed.before, changed.after)
            # One change has one moment; the store keeps entries that say the same together.
            moment = entries[0].moment if entries else entry.moment
            entries.append(replace(entry, moment=moment))
        return tuple(entries)

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
        current_time = self.clock.now()
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
        entries = await self.store.audit(owner, replace(wanted, limit=wanted.limit + 1))
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
            entry = await self.store.audit(owner, AuditQuery(limit=1))
            newest = self._last.setdefault(owner, int(entry[0].id[1:], 16) if entry else 0)
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


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A change with all that is computed before it is stored."""

    change: MindChange
    values: Sequence[_EntryValues]  # of its audit entries
    purged: Mapping[MemoryId, str]  # texts of the memories that it purges
    steps: Steps | None  # None: to be prepared in pieces between which recalls run


def _make_and_prepare(
    linker: Linker, mind: Mind, make: Callable[[Mind], MindChange | None]
) -> _Prepared | None:
    """The change that `make` makes, prepared; None if it makes none."""
    change = make(mind)
    if change is None or change == MindChange():
        return None
    return _prepare(linker, mind, change)


@compute_only
def _prepare(linker: Linker, mind: Mind, change: MindChange) -> _Prepared:
    """The change with its audit values and, unless it is large, all that follows from it."""
    purged = {
        key: mind.memories[key].text for key in change.drop_memories if key in change.purge_audit
    }
    steps = linker.steps_at_once(mind, change)
    return _Prepared(change, _entry_values(mind, change), purged, steps)


def _entry_values(mind: Mind, change: MindChange) -> list[_EntryValues]:
    """The values of all audit entries of a change that is not applied yet."""
    fields = _further_fields(mind, change)
    opinions = {changed.memory: changed for changed in change.put_opinions}
    out = []
    for memory in change.put_memories:
        old, (before, after) = (
            mind.memories.get(memory.id),
            fields.pop(memory.id, ({}, {})),
        )
        if old is not None and old.importance != memory.importance:
            # What it mattered so far, which is not stored while the kinds of its lines say it
            old = mind.line_kinds.weighed(old)
        out += _memory_entries(old, memory, before, after)
        opinion = opinions.get(memory.id)
        if opinion is not None and opinion != (old_opinion := opinion_of(mind, memory.id)):
            out.append(_opinion_entry(old_opinion, opinion))
    for key in change.drop_memories:
        if key in mind.memories:
            was = None if key in change.purge_audit else memory_values(mind.memories[key])
            out.append(_EntryValues(key, Action.PURGE, was, None))
    for target, (before, after) in fields.items():
        out.append(_EntryValues(target, Action.CHANGE, before, after))
    return out


def _memory_entries(
    old: Memory | None,
    new: Memory,
    before: dict[str, Any],
    after: dict[str, Any],
) -> list[_EntryValues]:
    """The entry of one stored memory, with its further fields before and after.

    Empty when nothing but its revision changes.
    """
    if old is None:
        # A digest is undone by dropping it, and says what the messages say: its words need not be kept twice.
        names = _OF_DIGESTS if new.kind is MemoryKind.DIGEST else MEMORY_FIELDS
        values = memory_values(new, names) | after
        return [_EntryValues(new.id, Action.CREATE, None, values)]
    was, values_after = memory_difference(old, new)
    was, values_after = was | before, values_after | after
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


def _further_fields(
    mind: Mind, change: MindChange
) -> dict[MemoryId, tuple[dict[str, Any], dict[str, Any]]]:
    """Edges and fading records before and after, as fields of entries, by memory."""
    out: dict[MemoryId, tuple[dict[str, Any], dict[str, Any]]] = {}
    for key, (before, after) in _edges_by_memory(mind, change).items():
        out[key] = ({EDGES: before}, {EDGES: after})
    for record in change.put_fading:
        old = fading_values(mind.fading.of(record.memory))
        new = fading_values(record)
        if old != new:
            fields_before, fields_after = out.setdefault(record.memory, ({}, {}))
            fields_before[FADING] = {record.memory: old}
            fields_after[FADING] = {record.memory: new}
    return out


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
        key = edge.target if edge.target in put and edge.source not in put else edge.source
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
