"""Compares a branch of a chat with a mind: episodes that were added, removed or never stored.

Nothing here changes the mind; `Mind.apply` applies the result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from soulmem.conversation.fading_after_edit import fading_after_edit
from soulmem.domain.dialogue import text_hash
from soulmem.domain.edge_vectors import EdgeVector
from soulmem.domain.edges import Edge, EdgeKind, edge_id
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryState, Origin
from soulmem.domain.opinions import Opinion
from soulmem.domain.sequences import common_ends
from soulmem.domain.usage import Usage
from soulmem.engine.mind.changes import MindChange, episodes_with_new_ids
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.sequence import joins_forgotten, next_edge
from soulmem.engine.runtime.worker import compute_only
from soulmem.graph.branches import Branch
from soulmem.graph.edge_arrays import pair_of

# Links that use has changed; the linker drops a mention that the text no longer makes.
_LEARNED = (EdgeKind.MENTIONS, EdgeKind.ASSOCIATES)


@dataclass(slots=True)
class Inherited:
    """The data that new ids inherit."""

    usages: list[Usage] = field(default_factory=list)
    opinions: list[Opinion] = field(default_factory=list)
    edges: dict[str, Edge] = field(default_factory=dict)  # by id
    vectors: list[EdgeVector] = field(default_factory=list)


@compute_only
def inherited(
    mind: Mind, former: Mapping[MemoryId, Memory], came: Mapping[MemoryId, Memory]
) -> Inherited:
    """What the episodes that `came` inherit from their `former` versions, by new id."""
    out = Inherited()
    heirs = {old.id: key for key, old in former.items() if key in came and key not in mind.memories}
    for old_id, key in heirs.items():
        usage, opinion = mind.recalls.usage(old_id), mind.opinions.of(old_id)
        if usage is not None:
            out.usages.append(replace(usage, memory=key))
        if opinion is not None:
            is_doubted = opinion.doubted == text_hash(former[key].text)
            doubted = text_hash(came[key].text) if is_doubted else None
            out.opinions.append(replace(opinion, memory=key, doubted=doubted))
        vector = mind.edge_vectors.get(old_id)
        if vector is not None:
            out.vectors.append(replace(vector, edge=key, source=key, target=key))
        for edge in list(mind.edges.of(old_id)):
            is_own = edge.origin is Origin.USER and edge.kind is not EdgeKind.NEXT
            if edge.kind in _LEARNED or is_own:
                _add_edge(mind, out, edge, heirs)
    return out


def _add_edge(mind: Mind, out: Inherited, edge: Edge, heirs: Mapping[MemoryId, MemoryId]) -> None:
    """The edge between the new ids of its ends, with its vector."""
    source = heirs.get(edge.source, edge.source)
    target = heirs.get(edge.target, edge.target)
    moved = replace(edge, source=source, target=target)
    out.edges[moved.id] = moved
    vector = mind.edge_vectors.get(edge.id)
    if vector is not None:
        out.vectors.append(replace(vector, edge=moved.id, source=source, target=target))


Draft = Callable[[MemoryId], Memory]  # creates the memory of an episode of the branch


@compute_only
def compare(
    mind: Mind,
    branch: Branch,
    draft: Draft,
    changed: Collection[MemoryId],
    current_time: datetime,
    *,
    retract: bool = False,
) -> MindChange:
    """What a changed branch means for the mind.

    `changed` are episodes whose message changed in anything but its text. With
    `retract` memories that only this chat supports are retracted and can come back;
    without, they are dropped, and the audit loses what it holds of their texts.
    """
    change = mind.branches.compare(branch)
    came = {key: draft(key) for key in _missing(mind, change.came)}
    former = _former_versions(mind, branch, came)
    put = [_added_episode(mind, fresh, former.get(key)) for key, fresh in came.items()]
    put += _new_situations(mind, [key for key in changed if key not in came], draft)
    heirs = {memory.id for memory in former.values()}
    learned = inherited(mind, former, came)
    leaving = _unsupported(mind, change.went, heirs)
    drop = [] if retract else [memory.id for memory in leaving]
    if retract:
        put += [replace(memory, state=MemoryState.RETRACTED) for memory in leaving]
    return MindChange(
        put_memories=tuple(put),
        drop_memories=tuple(drop),
        put_edges=(
            *learned.edges.values(),
            *(
                next_edge(mind.soul.id, pair, current_time)
                for pair in change.paired
                if not joins_forgotten(mind, pair)
            ),
        ),
        drop_edges=tuple(edge_id(EdgeKind.NEXT, *pair) for pair in change.parted),
        branch=branch,
        put_fading=_kept_fading(mind, former, came),
        put_opinions=tuple(learned.opinions),
        put_usages=tuple(learned.usages),
        put_edge_vectors=tuple(learned.vectors),
        purge_audit=tuple(drop),  # anchors and rewordings have words of the messages
    )


def _kept_fading(
    mind: Mind, former: Mapping[MemoryId, Memory], came: Mapping[MemoryId, Memory]
) -> tuple[FadingRecord, ...]:
    """What the user anchored, or marked as units, in episodes that continue under other ids."""
    records = []
    for key, old in former.items():
        record = mind.fading.of(old.id)
        if record is not None and key in came and record.fits(old.text):
            moved = fading_after_edit(record, old.text, came[key].text, key)
            if not moved.is_empty:
                records.append(moved)
    return tuple(records)


def _new_situations(mind: Mind, keys: Iterable[MemoryId], draft: Draft) -> list[Memory]:
    """Existing episodes with the new situation of their message, where it differs."""
    changed = []
    for key in keys:
        memory = mind.memories.get(key)
        if memory is None or memory.origin is Origin.USER:
            continue
        situation = draft(key).situation
        if situation != memory.situation:
            changed.append(replace(memory, situation=situation))
    return changed


def _unsupported(mind: Mind, keys: Iterable[MemoryId], heirs: Collection[MemoryId]) -> list[Memory]:
    """Episodes that no chat supports any more.

    Those that the user put into the bin stay there, unless they continue under another
    id (`heirs`).
    """
    leaving = []
    for key in keys:
        memory = mind.memories.get(key)
        if memory is None or memory.origin is Origin.USER:
            continue
        if memory.state is not MemoryState.BIN or key in heirs:
            leaving.append(memory)
    return leaving


@compute_only
def missing_parts(mind: Mind, branch: Branch, draft: Draft, current_time: datetime) -> MindChange:
    """What of a stored chat is missing in the mind, after a change that was interrupted."""
    missing = {key: draft(key) for key in _missing(mind, branch.order)}
    former = episodes_with_new_ids(_without_chat(mind), missing.values()) if missing else {}
    put = [_added_episode(mind, fresh, former.get(key)) for key, fresh in missing.items()]
    rows = mind.chat_rows(branch.chat)
    sources = np.unique(rows)
    targets, ends = mind.edges.target_rows(sources, EdgeKind.NEXT)
    existing = pair_of(np.repeat(sources, np.diff(ends, prepend=0)), targets)
    alone = np.flatnonzero(~np.isin(pair_of(rows[:-1], rows[1:]), existing))
    pairs = ((branch.order[index], branch.order[index + 1]) for index in alone.tolist())
    edges = tuple(
        next_edge(mind.soul.id, pair, current_time)
        for pair in pairs
        if not joins_forgotten(mind, pair)
    )
    older = tuple(memory.id for memory in former.values())
    return MindChange(put_memories=tuple(put), drop_memories=older, put_edges=edges)


def chat_pairs(mind: Mind) -> NDArray[np.int64]:
    """Row pairs of consecutive episodes in all chats, int64, encoded as in `EdgeArrays.pair`."""
    orders = [mind.chat_rows(branch.chat) for branch in mind.branches]
    return np.concatenate(
        [pair_of(rows[:-1], rows[1:]) for rows in orders] or [np.zeros(0, np.int64)]
    )


def _former_versions(
    mind: Mind, branch: Branch, came: Mapping[MemoryId, Memory]
) -> dict[MemoryId, Memory]:
    """Earlier versions of added episodes, by new id: same message, other id."""
    old = mind.branches.branch(branch.chat)
    order = old.order if old else ()
    prefix, suffix = common_ends(order, branch.order)
    before, former_order = (
        order[prefix : len(order) - suffix],
        branch.order[prefix : len(branch.order) - suffix],
    )
    current_branch = (came.get(key) or mind.memories[key] for key in former_order)
    return episodes_with_new_ids((mind.memories[key] for key in before), current_branch)


def _without_chat(mind: Mind) -> list[Memory]:
    """Episodes that no chat contains, e.g. because they were stored under other ids."""
    return [m for m in mind.memories.values() if m.evidence and not mind.branches.holders(m.id)]


def _missing(mind: Mind, episodes: Sequence[MemoryId]) -> list[MemoryId]:
    """Those of these episodes that the mind has not, or only as retracted ones."""
    known = ~mind.columns.in_state(mind.size, [MemoryState.RETRACTED])
    known &= mind.columns.created[: mind.size] != 0
    rows = map(mind.row, episodes)
    return [key for key, row in zip(episodes, rows, strict=True) if row is None or not known[row]]


def _added_episode(mind: Mind, fresh: Memory, former: Memory | None) -> Memory:
    """The memory to write for an added episode; keeps what the user set on its earlier version."""
    existing = mind.memories.get(fresh.id)
    if existing is not None:
        return replace(existing, state=MemoryState.ACTIVE, situation=fresh.situation)
    kept = former or fresh
    # Whether the new version tells the same as others is compared anew.
    is_merged = kept.state is MemoryState.MERGED
    return replace(
        fresh,
        tags=kept.tags,
        importance=kept.importance,
        importance_given=kept.importance_given,
        state=MemoryState.ACTIVE if is_merged else kept.state,
        kept_apart=kept.kept_apart,
        brought_back=kept.brought_back,
    )
