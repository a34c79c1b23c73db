"""Draft retraction: what a language model drafted goes with the messages it was drafted from.

What another answer drafted too, from messages that remain, stays with the fields of that
answer alone. Compute thread only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from soulmem.domain.derivations import Derivation, Product
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryState, Origin
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.concept_descriptions import drafted_detail


@compute_only
def with_retracted_drafts(mind: Mind, change: MindChange) -> MindChange:
    """The change, with what it means for drafts.

    Drafts are deleted with deleted messages, and move into the bin and out of it with
    messages that do. The same change if nothing follows.
    """
    if not mind.derivations:
        return change
    put = {m.id: m for m in change.put_memories}
    lost = {key for key in change.drop_memories if key not in put}
    if change.branch is not None:
        for key in mind.branches.compare(change.branch).went:
            if key not in put or put[key].state is not MemoryState.RETRACTED:
                lost.add(key)
    invalid = _by_id(mind.derivations.invalidated_by(lost))
    if invalid:
        change = without_derivations(mind, change, invalid)
    return _with_binned_drafts(mind, change)


@compute_only
def orphaned_drafts(mind: Mind) -> MindChange:
    """The deletion of drafts whose messages are not even stored any more."""
    read: dict[MemoryId, None] = {}
    for derivation in mind.derivations:
        read.update(dict.fromkeys(derivation.read))
    lost = [key for key in read if key not in mind.memories]
    invalid = _by_id(mind.derivations.invalidated_by(lost))
    if not invalid:
        return MindChange()
    return without_derivations(mind, MindChange(), invalid)


def _by_id(derivations: Iterable[Derivation]) -> dict[str, Derivation]:
    return {derivation.id: derivation for derivation in derivations}


@compute_only
def without_derivations(
    mind: Mind, change: MindChange, invalid: Mapping[str, Derivation]
) -> MindChange:
    """The change, with these derivations dropped, and the drafts that no other one made."""
    put = {m.id: m for m in change.put_memories}
    drop_memories = dict.fromkeys(change.drop_memories)
    drop_edges = dict.fromkeys(change.drop_edges)
    purge_audit = dict.fromkeys(change.purge_audit)
    for product in _products(invalid.values()):
        others = mind.derivations.without(product.id, invalid)
        if product.is_edge:
            edge = mind.edges.get(product.id)
            if not others and (edge is None or edge.origin is Origin.MODEL):
                drop_edges[product.id] = None
                if edge is not None:
                    purge_audit.update(dict.fromkeys((edge.source, edge.target)))
            continue
        memory = mind.memories.get(MemoryId(product.id))
        if memory is None or not _may_be_retracted(memory):
            continue
        purge_audit[memory.id] = None
        if not others:
            drop_memories[memory.id] = None
            put.pop(memory.id, None)
            continue
        remaining = replace(memory, concept=drafted_detail(memory, others))
        if remaining != memory:
            put[memory.id] = replace(remaining, revision=memory.revision + 1)
    return replace(
        change,
        put_memories=tuple(put.values()),
        drop_memories=tuple(drop_memories),
        drop_edges=tuple(drop_edges),
        purge_audit=tuple(purge_audit),
        drop_derivations=(*change.drop_derivations, *invalid),
    )


def _products(derivations: Iterable[Derivation]) -> list[Product]:
    """The products of these derivations, each id once."""
    out: dict[str, Product] = {}
    for derivation in derivations:
        out.update((product.id, product) for product in derivation.products)
    return list(out.values())


def _may_be_retracted(memory: Memory) -> bool:
    """Whether it is still a draft: the user did not take it over, protect or lock it."""
    return memory.origin is Origin.MODEL and not (memory.permanent or memory.locked)


def _with_binned_drafts(mind: Mind, change: MindChange) -> MindChange:
    """The change, with drafts moved into the bin and out of it with their messages."""
    into_bin, out_of_bin = _moved_messages(mind, change)
    if not into_bin and not out_of_bin:
        return change
    invalid = {d.id for d in mind.derivations.invalidated_by(into_bin)}
    is_valid = _ValidDerivations(mind, change, invalid)
    dropped = set(change.drop_memories)
    put: dict[MemoryId, Memory] = {}
    for product in _products(mind.derivations.invalidated_by(into_bin + out_of_bin)):
        memory = mind.memories.get(MemoryId(product.id))
        if product.is_edge or memory is None or memory.origin is not Origin.MODEL:
            continue
        if memory.id in dropped:  # with another message that went for good
            continue
        makers = mind.derivations.without(product.id, invalid)
        if any(map(is_valid, makers)):
            if memory.state is MemoryState.RETRACTED:
                put[memory.id] = replace(memory, state=MemoryState.ACTIVE)
        elif memory.state in (MemoryState.ACTIVE, MemoryState.MERGED):
            put[memory.id] = replace(memory, state=MemoryState.RETRACTED)
    others = [m for m in change.put_memories if m.id not in put]
    return replace(change, put_memories=(*others, *put.values()))


def _moved_messages(mind: Mind, change: MindChange) -> tuple[list[MemoryId], list[MemoryId]]:
    """The episodes of messages that the change moves into the bin, and those it moves out of it."""
    into_bin: list[MemoryId] = []
    out_of_bin: list[MemoryId] = []
    for memory in change.put_memories:
        old = mind.memories.get(memory.id)
        if old is None or memory.origin is not Origin.CHAT or old.state is memory.state:
            continue
        if memory.state is MemoryState.RETRACTED:
            into_bin.append(memory.id)
        elif old.state is MemoryState.RETRACTED:
            out_of_bin.append(memory.id)
    return into_bin, out_of_bin


class _ValidDerivations:
    """Says of derivations whether all their messages are in use after a change; each is checked once."""

    def __init__(self, mind: Mind, change: MindChange, invalid: Collection[str]) -> None:
        self._mind = mind
        self._after = {m.id: m for m in change.put_memories}
        self._checked: dict[str, bool] = dict.fromkeys(invalid, False)

    def __call__(self, derivation: Derivation) -> bool:
        """Whether all that it read is in use, and all that the derivations it continues read."""
        unchecked: list[Derivation] = []
        current: Derivation | None = derivation
        is_valid = True
        while current is not None:
            if current.id in self._checked:
                is_valid = self._checked[current.id]
                break
            unchecked.append(current)
            if current.after is None:
                break
            current = self._mind.derivations.get(current.after)
            is_valid = current is not None  # one whose former is gone is invalid
        for checked in reversed(unchecked):
            is_valid = is_valid and all(map(self._is_in_use, checked.read))
            self._checked[checked.id] = is_valid
        return is_valid

    def _is_in_use(self, key: MemoryId) -> bool:
        memory = self._after.get(key) or self._mind.memories.get(key)
        return memory is not None and memory.state is not MemoryState.RETRACTED
