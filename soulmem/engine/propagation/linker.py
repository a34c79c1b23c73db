"""How a change of texts or names is carried on to the mentions, in pieces that leave room for a recall."""

from __future__ import annotations

import asyncio
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Sequence,
)
from dataclasses import dataclass, field, replace
from datetime import datetime

from soulmem.domain.edges import TEXTS, Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.domain.soul import Soul
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.known_names import KnownNames
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.draft_retraction import with_retracted_drafts
from soulmem.engine.propagation.learned_names import learned_name_changes
from soulmem.engine.propagation.mentions import (
    MindAfter,
    mention_changes,
    texts_to_relink,
)
from soulmem.engine.propagation.name_texts import candidate_texts
from soulmem.engine.propagation.renaming import (
    NameChanges,
    Renaming,
    all_folded_names,
    apply_concepts,
    card_known_names,
    compare_names,
    renaming_by_concepts,
    renaming_by_messages,
    transaction_steps,
    unlinked_concepts,
    user_linked_concepts,
)
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.runtime.write_lock import WriteToken
from soulmem.graph.names import Glance
from soulmem.language.pinyin import sound
from soulmem.ports.clock import Clock

_PIECE_SIGNS = (
    30_000  # of text looked through in one go: some 10 ms on the compute thread
)
_PIECE_TEXTS = 150
_AT_ONCE = 40  # texts linked together with what else a message means: some 5 ms
_PIECE_CONCEPTS = 300

Due = tuple[
    list[Memory], list[MemoryId]
]  # concepts to be written anew, and those that are to go


@dataclass(slots=True)
class _Found:
    """Edges found so far, and texts still to be looked at."""

    put: list[Edge] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    abstract: dict[MemoryId, None] = field(default_factory=dict)

    def on(self, change: MindChange) -> MindChange:
        """The change with these edges, which have the last word: undoing may put back what is to go."""
        gone, here = {*self.drop}, {edge.id for edge in self.put}
        return replace(
            change,
            put_edges=(
                *(edge for edge in change.put_edges if edge.id not in gone),
                *self.put,
            ),
            drop_edges=(
                *(key for key in change.drop_edges if key not in here),
                *self.drop,
            ),
        )


@dataclass(frozen=True, slots=True)
class Steps:
    """Changes to be stored and taken over one after the other; `names`, if any, are the mind's afterwards."""

    changes: Sequence[MindChange]
    names: KnownNames | None = None


class Linker:
    """Adds what follows for mentions to a change before it is stored.

    `complete` returns when all edges of some memories are in memory, with how many had to be loaded.
    """

    def __init__(
        self,
        *,
        compute: Worker,
        clock: Clock,
        complete: Callable[[Mind, Iterable[MemoryId]], Awaitable[int]],
    ) -> None:
        self._compute = compute
        self._clock = clock
        self._complete = complete

    def with_mentions_at_once(
        self, mind: Mind, change: MindChange
    ) -> MindChange | None:
        """As `linked`, in one go on the compute thread; None for what needs edges that are not loaded, or
        looks at too many texts to be done while a recall waits.
        """
        if not mind.residency.whole or len(change.put_memories) > _AT_ONCE:
            return None
        change = with_retracted_drafts(mind, change)
        renaming = renaming_by_messages(mind, change, self._clock.now())
        links = _Found()
        if renaming is None:
            after, texts = _to_link(mind, change)
            if len(texts) > _AT_ONCE:
                return None
            self._link(after, mind.names, [m.id for m in texts], links)
            return links.on(change)
        sources = _sources(mind, renaming.name_changes.losing_concepts)
        after, texts, forced = _to_look_at(mind, renaming, sources)
        if len(texts) > _AT_ONCE:
            return None
        glance = Glance(renaming.name_changes.gained_names)
        keys = _worth_a_look(renaming, after, glance, forced, texts, links)
        self._link_as(mind, renaming, after, keys, links)
        covers = [key for key in links.abstract if after.memory(key) is not None]
        self._link_as(mind, renaming, after, covers, links)
        return links.on(renaming.change)

    async def with_mentions(
        self, token: WriteToken, mind: Mind, change: MindChange
    ) -> MindChange:
        """The change of texts, with the names they teach and their mentions; other names stay as they are.

        What was drafted from texts that go, goes with them.
        """
        change = await self._compute.run(with_retracted_drafts, mind, change)
        renaming = await self._compute.run(
            renaming_by_messages, mind, change, self._clock.now()
        )
        while renaming is not None and await self._complete(
            mind, renaming.name_changes.losing_concepts
        ):
            renaming = await self._compute.run(
                renaming_by_messages, mind, change, self._clock.now()
            )
        if renaming is not None:
            return await self._followed(mind, renaming)
        after, texts = await self._compute.run(_to_link, mind, change)
        found = _Found()
        for piece in _pieces(texts):
            await self._complete(mind, [m.id for m in piece])
            await self._compute.run(
                self._link, after, mind.names, [m.id for m in piece], found
            )
        return found.on(change)

    async def steps(
        self,
        token: WriteToken,
        mind: Mind,
        change: MindChange,
        soul: Soul | None = None,
    ) -> Steps:
        """The change with all that follows; it may bring, alter or take concepts, `soul` other names.

        One step, but for very large changes: what those leave undone when interrupted, `unfinished` finds.
        """
        if soul is not None:
            return await self._carried_on(
                mind, await self._new_card(mind, change, soul)
            )
        change = await self._compute.run(with_retracted_drafts, mind, change)
        if any(m.kind is MemoryKind.CONCEPT for m in change.put_memories):
            now = self._clock.now()
            renaming = await self._compute.run(renaming_by_concepts, mind, change, now)
            while await self._complete(
                mind, renaming.change.drop_memories
            ):  # what ties them decides
                renaming = await self._compute.run(
                    renaming_by_concepts, mind, change, now
                )
            return await self._carried_on(mind, renaming)
        return Steps([await self.with_mentions(token, mind, change)])

    async def unfinished(self, token: WriteToken, mind: Mind) -> Steps:
        """What an interrupted change of names left to do; nothing, as a rule."""
        await self._complete(mind, await self._compute.run(_not_in_use, mind))
        suspects = await self._compute.run(unlinked_concepts, mind, self._clock.now())
        if suspects is None:
            return Steps([])
        back = tuple(
            replace(m, state=MemoryState.ACTIVE)
            for m in suspects
            if m.state is MemoryState.STALE
        )
        ids = {m.id for m in suspects}
        renaming = await self._new_card(
            mind, MindChange(put_memories=back), mind.soul, ids
        )
        return await self._carried_on(mind, renaming)

    async def _new_card(
        self,
        mind: Mind,
        change: MindChange,
        soul: Soul,
        suspects: Collection[MemoryId] = (),
    ) -> Renaming:
        """`suspects`: concepts of which it is not known what they are linked to."""
        concepts = {
            m.id: m
            for m in (
                *await self._compute.run(mind.names.concepts),
                *change.put_memories,
            )
        }
        fresh = await asyncio.to_thread(card_known_names, soul, concepts.values())
        written = {m.id: m for m in change.put_memories}
        gone: list[MemoryId] = []
        for due in (
            _card_due,
            _learned_due,
        ):  # what is learned depends on what the card has
            put, drop, kept = await self._due(mind, fresh, due)
            await asyncio.to_thread(apply_concepts, fresh, put, drop)
            written.update((m.id, m) for m in (*kept, *put))
            gone += drop
        change = replace(
            change, put_memories=tuple(written.values()), drop_memories=tuple(gone)
        )
        moved = await asyncio.to_thread(
            compare_names,
            mind.names.all_concept_names(),
            fresh.all_concept_names(),
            suspects,
        )
        return Renaming(change, fresh, moved)

    async def _due(
        self,
        mind: Mind,
        fresh: KnownNames,
        due: Callable[[Mind, KnownNames, datetime], Due],
    ) -> tuple[list[Memory], list[MemoryId], list[Memory]]:
        """What is due, with what stays because the user tied something to it; `fresh` knows of that."""
        known: list[Memory] = []
        while True:
            put, drop = await asyncio.to_thread(due, mind, fresh, self._clock.now())
            await self._complete(mind, drop)
            kept: list[Memory] = []
            for start in range(0, len(drop), _PIECE_CONCEPTS):
                some = drop[start : start + _PIECE_CONCEPTS]
                kept += await self._compute.run(user_linked_concepts, mind, some)
            if not kept:
                return put, drop, known
            apply_concepts(fresh, kept)
            known += kept

    async def _carried_on(self, mind: Mind, renaming: Renaming) -> Steps:
        whole = await self._followed(mind, renaming)
        steps = await asyncio.to_thread(
            transaction_steps, mind, renaming.name_changes.changed_concepts, whole
        )
        return Steps(steps, renaming.card_names)

    async def _followed(self, mind: Mind, renaming: Renaming) -> MindChange:
        """The change with all the mentions that it alters."""
        await self._complete(mind, renaming.name_changes.losing_concepts)
        lost, sources = list(renaming.name_changes.losing_concepts), set[MemoryId]()
        for start in range(0, len(lost), _PIECE_CONCEPTS):
            sources |= await self._compute.run(
                _sources, mind, lost[start : start + _PIECE_CONCEPTS]
            )
        after, texts, forced = await self._compute.run(
            _to_look_at, mind, renaming, sources
        )
        glance = Glance(renaming.name_changes.gained_names)
        found = _Found()
        for piece in _pieces(texts):
            keys = await self._compute.run(
                _worth_a_look, renaming, after, glance, forced, piece, found
            )
            if keys:
                await self._complete(mind, keys)
                await self._compute.run(
                    self._link_as, mind, renaming, after, keys, found
                )
        covers = [m for key in found.abstract if (m := after.memory(key)) is not None]
        for piece in _pieces(covers):
            await self._complete(mind, [m.id for m in piece])
            await self._compute.run(
                self._link_as, mind, renaming, after, [m.id for m in piece], found
            )
        return found.on(renaming.change)

    def _link_as(
        self,
        mind: Mind,
        renaming: Renaming,
        after: MindAfter,
        keys: Iterable[MemoryId],
        found: _Found,
    ) -> None:
        with renaming.names(mind) as names:
            self._link(after, names, keys, found)

    def _link(
        self,
        after: MindAfter,
        names: KnownNames,
        keys: Iterable[MemoryId],
        found: _Found,
    ) -> None:
        put, drop = mention_changes(
            after, names, keys, self._clock.now(), self._clock.extra_turns
        )
        found.put += put
        found.drop += drop


def _card_due(mind: Mind, fresh: KnownNames, now: datetime) -> Due:
    return fresh.card_changes(now)


def _learned_due(mind: Mind, fresh: KnownNames, now: datetime) -> Due:
    return learned_name_changes(fresh, mind.name_counts, all_folded_names(mind), now)


def _worth_a_look(
    renaming: Renaming,
    after: MindAfter,
    glance: Glance,
    forced: Collection[MemoryId],
    texts: Iterable[Memory],
    found: _Found,
) -> list[MemoryId]:
    """Those of the texts that may hold a name that changed; abstract episodes are left for later."""
    keys = []
    for memory in texts:
        if memory.id in forced or _may_name(memory, renaming.name_changes, glance):
            if memory.kind is MemoryKind.ABSTRACT_EPISODE:
                found.abstract[memory.id] = None
            else:
                keys.append(memory.id)
                found.abstract.update(dict.fromkeys(after.classes(memory.id)))
    return keys


def _may_name(memory: Memory, moved: NameChanges, glance: Glance) -> bool:
    if moved.gained_names and glance.may_hold(memory.text):
        return True
    return bool(moved.gained_sounds) and any(
        not n.isascii() and sound(n) in moved.gained_sounds for n in memory.names
    )


def _not_in_use(mind: Mind) -> list[MemoryId]:
    return [m.id for m in mind.names.concepts() if m.state is not MemoryState.ACTIVE]


def _to_link(mind: Mind, change: MindChange) -> tuple[MindAfter, list[Memory]]:
    after = MindAfter(mind, change)
    return after, [
        m
        for key in texts_to_relink(mind, change, after)
        if (m := after.memory(key)) is not None
    ]


def _sources(mind: Mind, concepts: Iterable[MemoryId]) -> set[MemoryId]:
    """The texts that are linked to one of the concepts."""
    return {
        e.source
        for key in concepts
        for e in mind.edges.of(key)
        if e.kind is EdgeKind.MENTIONS
    }


def _to_look_at(
    mind: Mind, renaming: Renaming, sources: set[MemoryId]
) -> tuple[MindAfter, list[Memory], set[MemoryId]]:
    """The texts that may have to be linked anew, and those of them that must, with `sources`."""
    after = MindAfter(mind, renaming.change)
    forced = sources.union(texts_to_relink(mind, renaming.change, after))
    keys, moved = sorted(forced), renaming.name_changes
    if moved.gained_names or moved.gained_sounds:
        everywhere = renaming.naming_memories is None or moved.gained_sounds
        holding = (
            mind.memories if everywhere else candidate_texts(mind, moved.gained_names)
        )
        keys = list(
            dict.fromkeys((*holding, *(renaming.naming_memories or ()), *forced))
        )
    texts = [
        m for key in keys if (m := after.memory(key)) is not None and m.kind in TEXTS
    ]
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
