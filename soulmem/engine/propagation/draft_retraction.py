"""What falls with messages that vanish? All that a language model drafted from them, with its words.

What another answer drafted as well, from messages that are left, stays by that one alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from soulmem.domain.derivations import Derivation
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryState, Origin
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.views.concept_descriptions import drafted_detail


def with_retracted_drafts(mind: Mind, change: MindChange) -> MindChange:
    """The change with what follows for what was drafted: what falls for good, what goes to the bin with its
    chat, and what comes back with it. Computes; unchanged when nothing follows.
    """
    if not mind.derivations:
        return change
    put = {m.id: m for m in change.put_memories}
    gone = {key for key in change.drop_memories if key not in put}
    if change.branch is not None:
        went = mind.branches.compare(change.branch).went
        gone |= {
            key
            for key in went
            if key not in put or put[key].state is not MemoryState.RETRACTED
        }
    fallen = {one.id: one for one in mind.derivations.invalidated_by(gone)}
    if fallen:
        change = _fell(mind, change, fallen)
    return _binned(mind, change)


def _fell(mind: Mind, change: MindChange, fallen: dict[str, Derivation]) -> MindChange:
    """Take them away, with what nothing else speaks for."""
    put = {m.id: m for m in change.put_memories}
    drop, cut = dict.fromkeys(change.drop_memories), dict.fromkeys(change.drop_edges)
    worded = dict.fromkeys(change.purge_audit)
    for made in {
        made.id: made for one in fallen.values() for made in one.products
    }.values():
        others = mind.derivations.without(made.id, fallen)
        if made.is_edge:
            edge = mind.edges.get(made.id)
            if not others and (edge is None or edge.origin is Origin.MODEL):
                cut[made.id] = None
                if edge is not None:
                    worded.update(dict.fromkeys((edge.source, edge.target)))
            continue
        key = MemoryId(made.id)
        known = mind.memories.get(key)
        if (
            known is None
            or known.origin is not Origin.MODEL
            or known.permanent
            or known.locked
        ):
            continue
        worded[key] = None
        if not others:
            drop[key] = None
            put.pop(key, None)
        elif (left := replace(known, concept=drafted_detail(known, others))) != known:
            put[key] = replace(left, revision=known.revision + 1)
    return replace(
        change,
        put_memories=tuple(put.values()),
        drop_memories=tuple(drop),
        drop_edges=tuple(cut),
        purge_audit=tuple(worded),
        drop_derivations=(*change.drop_derivations, *fallen),
    )


def _binned(mind: Mind, change: MindChange) -> MindChange:
    """What was drafted goes to the bin with the messages it was drafted from, and comes back with them."""
    gone_with, back_with = [], []
    for memory in change.put_memories:
        known = mind.memories.get(memory.id)
        if (
            known is not None
            and memory.origin is Origin.CHAT
            and known.state is not memory.state
        ):
            if memory.state is MemoryState.RETRACTED:
                gone_with.append(memory.id)
            elif known.state is MemoryState.RETRACTED:
                back_with.append(memory.id)
    if not gone_with and not back_with:
        return change
    without = {one.id for one in mind.derivations.invalidated_by(gone_with)}
    is_told = _Told(mind, change, without)
    touched = mind.derivations.invalidated_by([*gone_with, *back_with])
    put = {}
    for key in {
        made.id for one in touched for made in one.products if not made.is_edge
    }:
        known = mind.memories.get(MemoryId(key))
        if known is None or known.origin is not Origin.MODEL:
            continue
        makers = [one for one in mind.derivations.of(key) if one.id not in without]
        stands = any(map(is_told, makers))
        if not stands and known.state is MemoryState.ACTIVE:
            put[known.id] = replace(known, state=MemoryState.RETRACTED)
        elif stands and known.state is MemoryState.RETRACTED:
            put[known.id] = replace(known, state=MemoryState.ACTIVE)
    kept = [m for m in change.put_memories if m.id not in put]
    return replace(change, put_memories=(*kept, *put.values()))


class _Told:
    """Which derivations a chat will tell all of, once a change is taken over; each is looked at once."""

    def __init__(
        self, mind: Mind, change: MindChange, without: Collection[str]
    ) -> None:
        self._mind = mind
        self._after = {m.id: m for m in change.put_memories}
        self._known: dict[str, bool] = dict.fromkeys(without, False)

    def __call__(self, one: Derivation) -> bool:
        """Whether all that it read, and what it goes on from, is in use."""
        chain, at = [one], one.id
        while (
            at not in self._known
            and (before := self._mind.derivations.get(chain[-1].after or ""))
            is not None
        ):
            chain.append(before)
            at = before.id
        stands = self._known.get(at, chain[-1].after is None)
        for each in reversed(chain):
            stands = self._known.setdefault(
                each.id, stands and all(map(self._is_in_use, each.read))
            )
        return stands

    def _is_in_use(self, key: MemoryId) -> bool:
        found = self._after.get(key) or self._mind.memories.get(key)
        return found is not None and found.state is not MemoryState.RETRACTED


def orphaned_drafts(mind: Mind) -> MindChange:
    """What must go because its messages are not even in the store any more. Computes."""
    read: Iterable[MemoryId] = dict.fromkeys(
        key for one in mind.derivations for key in one.read
    )
    gone = [key for key in read if key not in mind.memories]
    fallen = {one.id: one for one in mind.derivations.invalidated_by(gone)}
    return _fell(mind, MindChange(), fallen) if fallen else MindChange()
