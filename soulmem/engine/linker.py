"""How a change of texts or names is carried on to the mentions, in pieces that leave room for a recall."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from soulmem.domain.edges import TEXTS, Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.soul import Soul
from soulmem.engine.changes import MindChange
from soulmem.engine.known_names import KnownNames
from soulmem.engine.linking import After, affected, relinked
from soulmem.engine.mind import Mind
from soulmem.engine.worker import Worker
from soulmem.graph.names import Glance
from soulmem.ports.clock import Clock

_PIECE_SIGNS = 30_000  # of text looked through in one go: some 10 ms on the compute thread
_PIECE_TEXTS = 150
_AT_ONCE = 1_000  # rows; larger changes are stored in several transactions

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Moved:
    """What a change of names means."""

    gained: tuple[str, ...]  # names that texts may hold now
    lost: frozenset[MemoryId]  # concepts that may lose texts
    concepts: frozenset[MemoryId]  # all those whose names differ


@dataclass(frozen=True, slots=True)
class _Renaming:
    """A change of names, thought through but for the texts: `names` gives them as they will be."""

    change: MindChange
    fresh: KnownNames | None  # None: the mind's own, with the concepts of the change
    moved: Moved

    def names(self, mind: Mind) -> AbstractContextManager[KnownNames]:
        """The names to link by, on the compute thread, for one piece of work."""
        if self.fresh is not None:
            return nullcontext(self.fresh)
        return mind.names.as_if(self.change.put_memories, self.change.drop_memories)


@dataclass(slots=True)
class _Found:
    """Edges found so far, and texts still to be looked at."""

    put: list[Edge] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    abstract: dict[MemoryId, None] = field(default_factory=dict)

    def on(self, change: MindChange) -> MindChange:
        """The change with these edges."""
        return replace(
            change,
            put_edges=(*change.put_edges, *self.put),
            drop_edges=(*change.drop_edges, *self.drop),
        )


@dataclass(frozen=True, slots=True)
class Steps:
    """Changes to be stored and taken over one after the other; `names`, if any, are the mind's afterwards."""

    changes: Sequence[MindChange]
    names: KnownNames | None = None


class Linker:
    """Adds what follows for mentions to a change before it is stored. Whoever asks holds `World.writing`.

    `complete` returns when all edges of some memories are in memory, with how many had to be loaded.
    """

    def __init__(
        self,
        compute: Worker,
        clock: Clock,
        complete: Callable[[Mind, Iterable[MemoryId]], Awaitable[int]],
    ) -> None:
        self._compute = compute
        self._clock = clock
        self._complete = complete

    async def linked(self, mind: Mind, change: MindChange) -> MindChange:
        """The change of texts, with their mentions; names stay as they are."""
        after, texts = await self._compute.run(_to_link, mind, change)
        found = _Found()
        for piece in _pieces(texts):
            await self._complete(mind, [m.id for m in piece])
            await self._compute.run(self._link, after, mind.names, [m.id for m in piece], found)
        return found.on(change)

    async def steps(self, mind: Mind, change: MindChange, soul: Soul | None = None) -> Steps:
        """The change with all that follows; it may bring, alter or take concepts, `soul` other names.

        One step, but for very large changes: what those leave undone when interrupted, `unfinished` finds.
        """
        if soul is not None:
            return await self._carried_on(mind, await self._new_card(mind, change, soul))
        if any(m.kind is MemoryKind.CONCEPT for m in change.put_memories):
            now = self._clock.now()
            renaming = await self._compute.run(_concepts_changed, mind, change, now)
            while await self._complete(mind, renaming.change.drop_memories):  # what ties them decides
                renaming = await self._compute.run(_concepts_changed, mind, change, now)
            return await self._carried_on(mind, renaming)
        return Steps([await self.linked(mind, change)])

    async def unfinished(self, mind: Mind) -> Steps:
        """What an interrupted change of names left to do; nothing, as a rule."""
        await self._complete(mind, await self._compute.run(_not_in_use, mind))
        suspects = await self._compute.run(_left_over, mind, self._clock.now())
        if suspects is None:
            return Steps([])
        back = tuple(replace(m, state=MemoryState.ACTIVE) for m in suspects if m.state is MemoryState.STALE)
        ids = {m.id for m in suspects}
        renaming = await self._new_card(mind, MindChange(put_memories=back), mind.soul, ids)
        return await self._carried_on(mind, renaming)

    async def _new_card(
        self, mind: Mind, change: MindChange, soul: Soul, suspects: Collection[MemoryId] = ()
    ) -> _Renaming:
        """`suspects`: concepts of which it is not known what they are linked to."""
        now = self._clock.now()
        concepts = {m.id: m for m in (*await self._compute.run(mind.names.concepts), *change.put_memories)}
        fresh = await asyncio.to_thread(_names_of, soul, concepts.values())
        written = {m.id: m for m in change.put_memories}
        while True:
            put, drop = await asyncio.to_thread(fresh.due, now)
            await self._complete(mind, drop)
            kept = await self._compute.run(_joined_by_hand, mind, drop)
            if not kept:
                break
            _take(fresh, kept)
            written.update((m.id, m) for m in kept)
        written.update((m.id, m) for m in put)
        await asyncio.to_thread(_take, fresh, put, drop)
        change = replace(change, put_memories=tuple(written.values()), drop_memories=tuple(drop))
        moved = await asyncio.to_thread(_moved, mind.names.everything(), fresh.everything(), suspects)
        return _Renaming(change, fresh, moved)

    async def _carried_on(self, mind: Mind, renaming: _Renaming) -> Steps:
        await self._complete(mind, renaming.moved.lost)
        after, texts, forced = await self._compute.run(_to_look_at, mind, renaming)
        glance = Glance(renaming.moved.gained)
        found = _Found()
        for piece in _pieces(texts):
            keys = await self._compute.run(_worth_a_look, renaming, after, glance, forced, piece, found)
            if keys:
                await self._complete(mind, keys)
                await self._compute.run(self._link_as, mind, renaming, after, keys, found)
        covers = [m for key in found.abstract if (m := after.memory(key)) is not None]
        for piece in _pieces(covers):
            await self._complete(mind, [m.id for m in piece])
            await self._compute.run(self._link_as, mind, renaming, after, [m.id for m in piece], found)
        whole = found.on(renaming.change)
        steps = [whole]
        if _rows(whole) > _AT_ONCE:
            steps = await self._compute.run(_in_steps, mind, renaming.moved.concepts, whole)
        return Steps(steps, renaming.fresh)

    def _link_as(
        self, mind: Mind, renaming: _Renaming, after: After, keys: Iterable[MemoryId], found: _Found
    ) -> None:
        with renaming.names(mind) as names:
            self._link(after, names, keys, found)

    def _link(self, after: After, names: KnownNames, keys: Iterable[MemoryId], found: _Found) -> None:
        put, drop = relinked(after, names, keys, self._clock.now(), self._clock.extra_turns)
        found.put += put
        found.drop += drop


def _worth_a_look(
    renaming: _Renaming,
    after: After,
    glance: Glance,
    forced: Collection[MemoryId],
    texts: Iterable[Memory],
    found: _Found,
) -> list[MemoryId]:
    """Those of the texts that may hold a name that changed; abstract episodes are left for later."""
    keys = []
    for memory in texts:
        if memory.id in forced or (renaming.moved.gained and glance.may_hold(memory.text)):
            if memory.kind is MemoryKind.ABSTRACT_EPISODE:
                found.abstract[memory.id] = None
            else:
                keys.append(memory.id)
                found.abstract.update(dict.fromkeys(after.classes(memory.id)))
    return keys


def _not_in_use(mind: Mind) -> list[MemoryId]:
    return [m.id for m in mind.names.concepts() if m.state is not MemoryState.ACTIVE]


def _to_link(mind: Mind, change: MindChange) -> tuple[After, list[Memory]]:
    after = After(mind, change)
    return after, [m for key in affected(mind, change, after) if (m := after.memory(key)) is not None]


def _names_of(soul: Soul, concepts: Iterable[Memory]) -> KnownNames:
    names = KnownNames(soul)
    _take(names, concepts)
    return names


def _take(names: KnownNames, memories: Iterable[Memory], gone: Iterable[MemoryId] = ()) -> None:
    for memory in memories:
        names.take(memory)
    for key in gone:
        names.forget(key)


def _joined_by_hand(mind: Mind, drop: Iterable[MemoryId]) -> list[Memory]:
    """Those of the card-made concepts that the user tied to something: they become the user's own."""
    out = []
    for key in drop:
        if any(edge.origin is Origin.USER for edge in mind.edges.of(key)):
            old = mind.memories[key]
            out.append(replace(old, origin=Origin.USER, revision=old.revision + 1))
    return out


def _moved(
    before: Mapping[MemoryId, tuple[str, ...]],
    after: Mapping[MemoryId, tuple[str, ...]],
    suspects: Collection[MemoryId] = (),
) -> Moved:
    """What differs between two states of names."""
    gained: dict[str, None] = {}
    lost: set[MemoryId] = set(suspects)
    for key in before.keys() | after.keys():
        old = () if key in suspects else before.get(key, ())
        new = after.get(key, ())
        if old is not new:
            gained.update(dict.fromkeys(n for n in new if n not in old))
            if any(n not in new for n in old):
                lost.add(key)
    moved = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    return Moved(tuple(gained), frozenset(lost), frozenset(moved | lost))


def _concepts_changed(mind: Mind, change: MindChange, now: datetime) -> _Renaming:
    put = {m.id: m for m in change.put_memories}
    old = [m for key in put if (m := mind.memories.get(key)) is not None]
    while True:
        with mind.names.as_if(put.values(), change.drop_memories):
            fresh, drop = mind.names.due(now, [*old, *put.values()])
        kept = _joined_by_hand(mind, drop)
        if not kept:
            break
        put.update((m.id, m) for m in kept)
    put.update((m.id, m) for m in fresh)
    gone = (*change.drop_memories, *drop)
    ids = {*put, *gone}
    before = {key: mind.names.names_of(key) for key in ids}
    with mind.names.as_if(put.values(), gone):
        after = {key: mind.names.names_of(key) for key in ids}
    whole = replace(change, put_memories=tuple(put.values()), drop_memories=gone)
    return _Renaming(whole, None, _moved(before, after))


def _left_over(mind: Mind, now: datetime) -> list[Memory] | None:
    """Concepts whose links are not known to be complete; None when there is nothing to do at all."""
    concepts = mind.names.concepts()
    suspects = [
        m
        for m in concepts
        if m.state is MemoryState.STALE or (m.state is not MemoryState.ACTIVE and _is_linked(mind, m.id))
    ]
    put, drop = mind.names.due(now)
    return suspects if suspects or put or drop else None


def _is_linked(mind: Mind, key: MemoryId) -> bool:
    kind, user = EdgeKind.MENTIONS, Origin.USER
    return any(e.kind is kind and e.origin is not user for e in mind.edges.of(key))


def _to_look_at(mind: Mind, renaming: _Renaming) -> tuple[After, list[Memory], set[MemoryId]]:
    """The texts that may have to be linked anew, and those of them that must."""
    after = After(mind, renaming.change)
    forced = set(affected(mind, renaming.change, after))
    for key in renaming.moved.lost:
        forced.update(e.source for e in mind.edges.of(key) if e.kind is EdgeKind.MENTIONS)
    keys = dict.fromkeys((*mind.memories, *forced)) if renaming.moved.gained else sorted(forced)
    texts = [m for key in keys if (m := after.memory(key)) is not None and m.kind in TEXTS]
    return after, texts, forced


def _pieces(memories: Sequence[Memory]) -> Iterator[list[Memory]]:
    """The memories in portions of bounded length."""
    piece: list[Memory] = []
    signs = 0
    for memory in memories:
        piece.append(memory)
        signs += len(memory.text)
        if signs > _PIECE_SIGNS or len(piece) == _PIECE_TEXTS:
            yield piece
            piece, signs = [], 0
    if piece:
        yield piece


def _rows(change: MindChange) -> int:
    parts = (change.put_memories, change.drop_memories, change.put_edges, change.drop_edges)
    return sum(map(len, parts))


def _in_steps(mind: Mind, moved: Collection[MemoryId], whole: MindChange) -> list[MindChange]:
    """A large change of names in transactions of bounded size.

    Its concepts are stale from the first step to the last, so that an interruption shows. Without edges each
    step stands for itself.
    """
    put = {m.id: m for m in whole.put_memories}
    for key in moved:
        if key not in put and key in mind.memories and key not in whole.drop_memories:
            put[key] = mind.memories[key]
    if not whole.put_edges and not whole.drop_edges:
        steps = [MindChange(put_memories=tuple(piece)) for piece in _parts(list(put.values()))]
    else:
        marked = [replace(m, state=MemoryState.STALE) if _links(m) else m for m in put.values()]
        steps = [MindChange(put_memories=tuple(piece)) for piece in _parts(marked)]
        steps += [MindChange(drop_edges=tuple(piece)) for piece in _parts(whole.drop_edges)]
        steps += [MindChange(put_edges=tuple(piece)) for piece in _parts(whole.put_edges)]
        final = [m for m in put.values() if _links(m)]
        steps += [MindChange(put_memories=tuple(piece)) for piece in _parts(final)]
    steps += [MindChange(drop_memories=tuple(piece)) for piece in _parts(whole.drop_memories)]
    return steps


def _links(memory: Memory) -> bool:
    return memory.kind is MemoryKind.CONCEPT and memory.state is MemoryState.ACTIVE


def _parts(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))
