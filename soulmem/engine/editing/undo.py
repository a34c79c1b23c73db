"""Undoes automatic changes and leaves what the user changed since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from soulmem.domain.audit import Action, Actor, AuditEntry, AuditQuery
from soulmem.domain.derivations import Derivation
from soulmem.domain.edges import Edge
from soulmem.domain.errors import NotFound, Unprocessable
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import DERIVED, Memory, MemoryKind, MemoryState
from soulmem.domain.phrases import phrase
from soulmem.engine.editing.memory_editor import with_text_analysis
from soulmem.engine.editing.user_edges import check_fires
from soulmem.engine.learning.vector_update import apply_vector_update, undone_update
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.governance.audit_values import (
    STATES,
    edge_of_values,
    edge_with_values,
    fading_of_values,
    memory_with_values,
    opinion_of_values,
    opinion_values,
    with_states,
)
from soulmem.governance.undoing import (
    OPINION,
    SINCE,
    VECTORS,
    Reversal,
    is_undoable,
    reversal,
    undone_by,
)
from soulmem.ports.store import Change


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What was undone: ids of entries and memories; `skipped` is what the user changed since."""

    changes: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    edges: int = 0
    skipped: tuple[tuple[str, str], ...] = ()  # target and field


@dataclass(eq=False)
class Undo:
    """Undoes changes, as one change by the user."""

    services: Services

    async def undo(
        self,
        world: World,
        soul: SoulId,
        *,
        since: datetime | None,
        change: str | None,
        job: str | None,
    ) -> UndoResult:
        """Undo the chosen changes. Raises NotFound for a change or a job without effect
        on this soul.
        """
        async with world.writing as token:
            mind = await world.mind_while_writing(token, soul)
            entries, chosen = await self._chosen(world, soul, since, change, job)
            plan = reversal(entries, chosen)
            if not plan.undone:
                return UndoResult()
            await self.services.loader.complete(
                world.owner, mind, [MemoryId(key) for key in plan.memories]
            )
            source = change or job or ""
            reason = "" if source else f"{SINCE}{entries[-1].id}"
            back = await self.services.compute.run(_reverting_change, mind, plan)
            back = replace(
                back,
                put_derivations=await self.services.compute.run(
                    _reduced_derivations, mind, since, job
                ),
            )
            await self.services.auditor.carry_out(
                token,
                world,
                mind,
                back,
                ChangeAuthor(Actor.USER, source=source, reason=reason, action=Action.UNDO),
            )
            await self._undo_opinions(world, mind, plan, ChangeAuthor(Actor.USER, source, reason))
            await self._undo_vectors(world, mind, plan, ChangeAuthor(Actor.USER, source, reason))
            return UndoResult(
                changes=tuple(plan.undone),
                memories=tuple(memory.id for memory in back.put_memories),
                edges=len(back.put_edges) + len(back.drop_edges),
                skipped=tuple(plan.skipped),
            )

    async def _undo_opinions(
        self, world: World, mind: Mind, plan: Reversal, author: ChangeAuthor
    ) -> None:
        for key, values in plan.memories.items():
            if OPINION not in values:
                continue
            old, new = (
                mind.opinions.of(MemoryId(key)),
                opinion_of_values(values[OPINION]),
            )
            before = None if old is None else {OPINION: opinion_values(old)}
            after = {OPINION: opinion_values(new)}
            entry = await self.services.auditor.entry(
                world.owner, mind.soul.id, author, Action.UNDO, key, before, after
            )
            await self.services.store.commit(
                Change(world.owner, put_opinions=[new], audit=[entry], by=Actor.USER)
            )
            await self.services.compute.run(mind.opinions.put, [new])

    async def _undo_vectors(
        self, world: World, mind: Mind, plan: Reversal, author: ChangeAuthor
    ) -> None:
        """Take the undone lessons out of memory vectors; later lessons stay in them."""
        if not plan.vectors:
            return
        values = [(entry.after or {})[VECTORS] for entry in plan.vectors]
        update = await self.services.compute.run(undone_update, mind, values)
        entries = []
        for target in dict.fromkeys(entry.target for entry in plan.vectors):
            entries.append(
                await self.services.auditor.entry(
                    world.owner, mind.soul.id, author, Action.UNDO, target
                )
            )
        await self.services.store.commit(
            Change(
                world.owner,
                put_edge_vectors=update.put,
                drop_edge_vectors=update.drop,
                audit=entries,
                by=Actor.USER,
            )
        )
        await self.services.compute.run(apply_vector_update, mind, update)

    async def _chosen(
        self,
        world: World,
        soul: SoulId,
        since: datetime | None,
        change: str | None,
        job: str | None,
    ) -> tuple[list[AuditEntry], set[str]]:
        """All entries from the oldest chosen one on, newest first, and the ids of those chosen."""
        if since is not None:
            entries = await self.services.auditor.every(world.owner, AuditQuery(soul, since=since))
            undone_ids = undone_by(entries, entries)  # what was undone already is not undone again
            return entries, {entry.id for entry in entries if is_undoable(entry)} - undone_ids
        by_name = change is not None
        field = "change" if by_name else "job"
        query = AuditQuery(soul, id=change) if by_name else AuditQuery(soul, source=job)
        picked = await self.services.auditor.every(world.owner, query)
        if not picked:
            unknown_change = phrase("no_change", "no change '{change}' of this soul", change=change)
            unknown_job = phrase(
                "job_no_change",
                "no job '{job}' that changed something of this soul",
                job=job,
            )
            raise NotFound(unknown_change if by_name else unknown_job, field=field)
        chosen = {entry.id for entry in picked if is_undoable(entry, by_name=by_name)}
        if not chosen:
            raise Unprocessable(
                phrase(
                    "not_automatic",
                    "that was the user's own doing, or changed nothing: only automatic changes are undone",
                ),
                field=field,
            )
        oldest = min(chosen)
        entries = await self.services.auditor.every(world.owner, AuditQuery(soul))
        return [entry for entry in entries if entry.id >= oldest], chosen


@compute_only
def _reverting_change(mind: Mind, plan: Reversal) -> MindChange:
    """The change that restores the former values. Memories that are gone stay gone."""
    put: dict[MemoryId, Memory] = {}
    for key, values in plan.memories.items():
        old = mind.memories.get(MemoryId(key))
        if old is not None and key not in plan.created:
            new = _restored(mind, old, values)
            if new != old:
                put[old.id] = replace(new, revision=old.revision + 1)
    for key in plan.created:
        old = mind.memories.get(MemoryId(key))
        if old is not None and old.state is not MemoryState.BIN:
            put[old.id] = replace(old, state=MemoryState.BIN, revision=old.revision + 1)
    edges, dropped = _reverted_edges(mind, plan)
    return MindChange(
        put_memories=tuple(put.values()),
        put_edges=edges,
        drop_edges=dropped,
        put_fading=_reverted_fading(mind, plan),
    )


def _reverted_fading(mind: Mind, plan: Reversal) -> tuple[FadingRecord, ...]:
    """The former fading records of memories that still exist; an empty one where there was none."""
    records = []
    for key, values in plan.fading.items():
        stored = mind.fading.of(MemoryId(key))
        if values is not None and STATES not in values:
            if MemoryId(key) in mind.memories:
                # What was undone is not done again in the next quiet moment
                records.append(replace(fading_of_values(values), retold=None))
        elif stored is not None:
            records.append(with_states(stored, values or {STATES: {}}))
    return tuple(records)


@compute_only
def _reduced_derivations(
    mind: Mind, since: datetime | None, job: str | None
) -> tuple[Derivation, ...]:
    """Derivations of the undone work, without memories that other derivations support.

    New memories stay with it, so that they still follow its messages.
    """
    undone = {
        d.id for d in mind.derivations if (d.source == job if since is None else d.made >= since)
    }
    if since is None and job is None:
        return ()
    out = []
    for derivation in map(mind.derivations.get, sorted(undone)):
        assert derivation is not None
        kept = tuple(p for p in derivation.products if not mind.derivations.without(p.id, undone))
        if kept != derivation.products:
            out.append(replace(derivation, products=kept))
    return tuple(out)


def _reverted_edges(mind: Mind, plan: Reversal) -> tuple[tuple[Edge, ...], tuple[str, ...]]:
    """Edges with their former values, and ids of edges that did not exist."""
    edges: list[Edge] = []
    dropped: list[str] = []
    for key, edge_values in plan.edges.items():
        stored_edge = mind.edges.get(key)
        if edge_values is None:
            if stored_edge is not None:
                dropped.append(key)
        elif stored_edge is not None:
            edges.append(edge_with_values(stored_edge, edge_values))
        elif (edge := _recreated_edge(mind, edge_values)) is not None:
            edges.append(edge)
    return tuple(edges), tuple(dropped)


def _restored(mind: Mind, old: Memory, values: Mapping[str, Any]) -> Memory:
    new = memory_with_values(old, values)
    if old.state is MemoryState.RETRACTED and new.origin in DERIVED:
        # What it was in use for is gone: it comes back with its messages alone.
        new = replace(new, state=old.state, merged_into=None)
    if new.text != old.text:
        new = with_text_analysis(new)
    if old.state is MemoryState.MERGED and new.state is MemoryState.ACTIVE:
        return replace(new, kept_apart=True)  # else the next Idle would join it again
    if old.state is MemoryState.FORGOTTEN and not new.is_binned:
        return replace(new, brought_back=True)  # else it would be forgotten again
    if (
        new.state is MemoryState.ACTIVE
        and old.state is MemoryState.BIN
        and old.kind is MemoryKind.ACTION
    ):
        try:
            check_fires(mind, old)
        except Unprocessable:  # the trigger's other actions have probability 1 by now
            return replace(new, state=old.state)
    return new


def _recreated_edge(mind: Mind, stored_values: Mapping[str, Any]) -> Edge | None:
    """A deleted edge, if both ends exist and the entry has all its values."""
    if "source" not in stored_values:
        return None
    edge = edge_of_values(mind.soul.id, stored_values)
    return edge if edge.source in mind.memories and edge.target in mind.memories else None
