"""Linker: adds to a change of texts or names what follows for mentions, in pieces between which recalls run."""

from __future__ import annotations

import asyncio
import re
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
from soulmem.engine.propagation.learned_names import learned_name_changes
from soulmem.engine.propagation.lost_replies import without_lost_rewordings
from soulmem.engine.propagation.mentions import (
    MindAfter,
    mention_changes,
    texts_to_relink,
)
from soulmem.engine.propagation.released_tellings import with_consequences
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
from soulmem.engine.propagation.sequence import with_ends, with_sequence
from soulmem.engine.runtime.worker import Worker, compute_only
from soulmem.engine.runtime.write_lock import WriteToken
from soulmem.graph.name_search import Glance
from soulmem.language.pinyin import sound
from soulmem.language.scripts import UNSPACED
from soulmem.ports.clock import Clock

_UNSPACED = re.compile(f"[{UNSPACED}]+")


def candidate_texts(mind: Mind, names: Iterable[str]) -> list[MemoryId]:
    """All memories with one of the names, and some without."""
    out: dict[MemoryId, None] = {}
    for name in names:
        rows = _rows(mind, name)
        if rows is None:
            glance = Glance([name])
            out.update((m.id, None) for m in mind.memories.values() if glance.may_hold(m.text))
        else:
            out.update((mind.id_at(row), None) for row in rows)
    return list(out)


def _rows(mind: Mind, name: str) -> list[int] | None:
    """Rows with the rarest part of the name, ascending; None if no part of it is indexed."""
    best: list[int] | None = None
    for part in mind.tokeniser.parts(name):
        rows: set[int] = set()
        for token in part:
            rows.update(map(int, mind.words.rows(token)))
        if best is None or len(rows) < len(best):
            best = sorted(rows)
    return best


@compute_only
def with_reawakened(mind: Mind, change: MindChange) -> MindChange:
    """The change, with the forgotten concepts active again that it adds mentions of."""
    put = {memory.id: memory for memory in change.put_memories}
    woken: dict[MemoryId, Memory] = {}
    for edge in change.put_edges:
        if edge.kind is not EdgeKind.MENTIONS or edge.target in woken:
            continue
        concept = put.get(edge.target) or mind.memories.get(edge.target)
        if concept is not None and concept.state is MemoryState.FORGOTTEN:
            revision = concept.revision + 1
            woken[edge.target] = replace(concept, state=MemoryState.ACTIVE, revision=revision)
    if not woken:
        return change
    return replace(change, put_memories=tuple((put | woken).values()))


_PIECE_CHARACTERS = 30_000  # of texts in one piece: some 10 ms on the compute thread
_PIECE_TEXTS = 150
_AT_ONCE = 40  # texts that are linked in the same hand-off as all else: some 5 ms
_PIECE_CONCEPTS = 300

# Concepts to write, and ids of those to drop.
ConceptChanges = tuple[list[Memory], list[MemoryId]]


@dataclass(slots=True)
class _Mentions:
    """Mentions to write and to drop, collected so far, and abstract episodes still to be linked."""

    put: list[Edge] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    abstract: dict[MemoryId, None] = field(default_factory=dict)

    def on(self, change: MindChange) -> MindChange:
        """The change with these edges; they win over its own, since undoing may restore a mention to drop."""
        dropped, written = {*self.drop}, {edge.id for edge in self.put}
        put = (edge for edge in change.put_edges if edge.id not in dropped)
        drop = (key for key in change.drop_edges if key not in written)
        return replace(change, put_edges=(*put, *self.put), drop_edges=(*drop, *self.drop))


@dataclass(frozen=True, slots=True)
class Steps:
    """Changes to store and apply in order; then `names`, if any, become the known names of the mind."""

    changes: Sequence[MindChange]
    names: KnownNames | None = None


@dataclass(kw_only=True, eq=False)
class Linker:
    """Adds what follows for mentions to a change before it is stored.

    `complete` loads all edges of the given memories and returns how many were not in memory before.
    """

    compute: Worker
    clock: Clock
    complete: Callable[[Mind, Iterable[MemoryId]], Awaitable[int]]

    @compute_only
    def with_mentions_at_once(self, mind: Mind, change: MindChange) -> MindChange | None:
        """As `with_mentions`, in one hand-off.

        None if it needs edges that are not loaded, or too many texts to keep a recall waiting.
        """
        if not mind.residency.whole or len(change.put_memories) > _AT_ONCE:
            return None
        return self._texts_at_once(mind, self._followed(mind, change))

    @compute_only
    def steps_at_once(self, mind: Mind, change: MindChange) -> Steps | None:
        """As `steps` for an unchanged card, in one hand-off; None where `with_mentions_at_once` is."""
        if not mind.residency.whole or len(change.put_memories) > _AT_ONCE:
            return None
        change = self._followed(mind, change)
        if not _has_concepts(change):
            linked = self._texts_at_once(mind, change)
            return None if linked is None else Steps([linked])
        renaming = renaming_by_concepts(mind, change, self.clock.now())
        whole = self._renamed_at_once(mind, renaming)
        if whole is None:
            return None
        changed = renaming.name_changes.changed_concepts
        return Steps(transaction_steps(mind, changed, whole), renaming.card_names)

    def _followed(self, mind: Mind, change: MindChange) -> MindChange:
        """The change with its consequences for drafts, tellings, rewordings and the order of messages."""
        change = with_consequences(mind, change)
        change = without_lost_rewordings(mind, change)
        change = with_sequence(mind, change, self.clock.now())
        return with_ends(mind, change)

    def _texts_at_once(self, mind: Mind, change: MindChange) -> MindChange | None:
        """The change with learned names and mentions; None if there are too many texts."""
        renaming = renaming_by_messages(mind, change, self.clock.now())
        if renaming is not None:
            return self._renamed_at_once(mind, renaming)
        after, texts = _to_link(mind, change)
        if len(texts) > _AT_ONCE:
            return None
        mentions = _Mentions()
        self._link(after, mind.names, [m.id for m in texts], mentions)
        return mentions.on(change)

    def _renamed_at_once(self, mind: Mind, renaming: Renaming) -> MindChange | None:
        """As `_renamed`; None if there are too many texts."""
        sources = _sources(mind, renaming.name_changes.losing_concepts)
        after, texts, forced = _to_look_at(mind, renaming, sources)
        if len(texts) > _AT_ONCE:
            return None
        glance, mentions = Glance(renaming.name_changes.gained_names), _Mentions()
        keys = _worth_a_look(renaming, after, glance, forced, texts, mentions)
        self._link_as(mind, renaming, after, keys, mentions)
        covers = [key for key in mentions.abstract if after.memory(key) is not None]
        self._link_as(mind, renaming, after, covers, mentions)
        return mentions.on(renaming.change)

    async def with_mentions(self, token: WriteToken, mind: Mind, change: MindChange) -> MindChange:
        """The change of texts with retracted drafts, learned names and mentions.

        It must not change concepts; `steps` is for those.
        """
        change = await self.compute.run(self._followed, mind, change)
        renaming = await self.compute.run(renaming_by_messages, mind, change, self.clock.now())
        while renaming is not None and await self.complete(
            mind, renaming.name_changes.losing_concepts
        ):
            renaming = await self.compute.run(renaming_by_messages, mind, change, self.clock.now())
        if renaming is not None:
            return await self._renamed(mind, renaming)
        after, texts = await self.compute.run(_to_link, mind, change)
        mentions = _Mentions()
        for piece in _pieces(texts):
            await self.complete(mind, [m.id for m in piece])
            await self.compute.run(self._link, after, mind.names, [m.id for m in piece], mentions)
        return mentions.on(change)

    async def steps(
        self,
        token: WriteToken,
        mind: Mind,
        change: MindChange,
        soul: Soul | None = None,
    ) -> Steps:
        """The change with all that follows. It may change concepts; `soul`, if given, has a changed card.

        One step, except for very large changes; `unfinished` completes those after an interruption.
        """
        if soul is not None:
            renaming = await self._new_card(mind, change, soul)
            return await self._as_steps(mind, renaming)
        change = await self.compute.run(self._followed, mind, change)
        if _has_concepts(change):
            time = self.clock.now()
            renaming = await self.compute.run(renaming_by_concepts, mind, change, time)
            # Whether a card concept may be dropped depends on its edges.
            while await self.complete(mind, renaming.change.drop_memories):
                renaming = await self.compute.run(renaming_by_concepts, mind, change, time)
            return await self._as_steps(mind, renaming)
        return Steps([await self.with_mentions(token, mind, change)])

    async def unfinished(self, token: WriteToken, mind: Mind) -> Steps:
        """The rest of an interrupted renaming; as a rule none."""
        await self.complete(mind, await self.compute.run(_not_in_use, mind))
        suspects = await self.compute.run(unlinked_concepts, mind, self.clock.now())
        if suspects is None:
            return Steps([])
        stale = (m for m in suspects if m.state is MemoryState.STALE)
        active = tuple(replace(m, state=MemoryState.ACTIVE) for m in stale)
        ids = {m.id for m in suspects}
        change = MindChange(put_memories=active)
        renaming = await self._new_card(mind, change, mind.soul, ids)
        return await self._as_steps(mind, renaming)

    async def _new_card(
        self,
        mind: Mind,
        change: MindChange,
        soul: Soul,
        suspects: Collection[MemoryId] = (),
    ) -> Renaming:
        """The renaming by the card of `soul`; of the concepts `suspects` the mentions are unknown."""
        existing = await self.compute.run(mind.names.concepts)
        concepts = {m.id: m for m in (*existing, *change.put_memories)}
        fresh = await asyncio.to_thread(card_known_names, soul, concepts.values())
        written = {m.id: m for m in change.put_memories}
        dropped: list[MemoryId] = []
        # The card first: which names are learned depends on its names.
        for due in (_card_changes, _learned_changes):
            put, drop, kept = await self._without_linked(mind, fresh, due)
            await asyncio.to_thread(apply_concepts, fresh, put, drop)
            written.update((m.id, m) for m in (*kept, *put))
            dropped += drop
        change = replace(change, put_memories=tuple(written.values()), drop_memories=tuple(dropped))
        changes = await asyncio.to_thread(
            compare_names,
            mind.names.all_concept_names(),
            fresh.all_concept_names(),
            suspects,
        )
        return Renaming(change, fresh, changes)

    async def _without_linked(
        self,
        mind: Mind,
        fresh: KnownNames,
        due: Callable[[Mind, KnownNames, datetime], ConceptChanges],
    ) -> tuple[list[Memory], list[MemoryId], list[Memory]]:
        """Concepts to write, ids to drop, and concepts kept because the user linked something to them.

        The kept ones are put into `fresh`.
        """
        all_kept: list[Memory] = []
        while True:
            put, drop = await asyncio.to_thread(due, mind, fresh, self.clock.now())
            await self.complete(mind, drop)
            kept: list[Memory] = []
            for start in range(0, len(drop), _PIECE_CONCEPTS):
                some = drop[start : start + _PIECE_CONCEPTS]
                kept += await self.compute.run(user_linked_concepts, mind, some)
            if not kept:
                return put, drop, all_kept
            apply_concepts(fresh, kept)
            all_kept += kept

    async def _as_steps(self, mind: Mind, renaming: Renaming) -> Steps:
        """The renaming with its mentions, in transactions of bounded size."""
        whole = await self._renamed(mind, renaming)
        steps = await asyncio.to_thread(
            transaction_steps, mind, renaming.name_changes.changed_concepts, whole
        )
        return Steps(steps, renaming.card_names)

    async def _renamed(self, mind: Mind, renaming: Renaming) -> MindChange:
        """The change of a renaming with all the mentions that it alters."""
        losing = list(renaming.name_changes.losing_concepts)
        await self.complete(mind, losing)
        sources = set[MemoryId]()
        for start in range(0, len(losing), _PIECE_CONCEPTS):
            some = losing[start : start + _PIECE_CONCEPTS]
            sources |= await self.compute.run(_sources, mind, some)
        after, texts, forced = await self.compute.run(_to_look_at, mind, renaming, sources)
        glance = Glance(renaming.name_changes.gained_names)
        mentions = _Mentions()
        for piece in _pieces(texts):
            keys = await self.compute.run(
                _worth_a_look, renaming, after, glance, forced, piece, mentions
            )
            if keys:
                await self.complete(mind, keys)
                await self.compute.run(self._link_as, mind, renaming, after, keys, mentions)
        abstract = (after.memory(key) for key in mentions.abstract)
        for piece in _pieces([m for m in abstract if m is not None]):
            await self.complete(mind, [m.id for m in piece])
            await self.compute.run(
                self._link_as, mind, renaming, after, [m.id for m in piece], mentions
            )
        return mentions.on(renaming.change)

    def _link_as(
        self,
        mind: Mind,
        renaming: Renaming,
        after: MindAfter,
        keys: Iterable[MemoryId],
        mentions: _Mentions,
    ) -> None:
        with renaming.names(mind) as names:
            self._link(after, names, keys, mentions)

    def _link(
        self,
        after: MindAfter,
        names: KnownNames,
        keys: Iterable[MemoryId],
        mentions: _Mentions,
    ) -> None:
        put, drop = mention_changes(after, names, keys, self.clock.now(), self.clock.extra_turns)
        mentions.put += put
        mentions.drop += drop


def _has_concepts(change: MindChange) -> bool:
    return any(m.kind is MemoryKind.CONCEPT for m in change.put_memories)


def _card_changes(mind: Mind, fresh: KnownNames, time: datetime) -> ConceptChanges:
    return fresh.card_changes(time)


def _learned_changes(mind: Mind, fresh: KnownNames, time: datetime) -> ConceptChanges:
    return learned_name_changes(fresh, mind.name_counts, all_folded_names(mind), time)


def _worth_a_look(
    renaming: Renaming,
    after: MindAfter,
    glance: Glance,
    forced: Collection[MemoryId],
    texts: Iterable[Memory],
    mentions: _Mentions,
) -> list[MemoryId]:
    """Ids of the texts that must be linked or may contain a gained name; abstract episodes are set aside."""
    keys = []
    for memory in texts:
        if memory.id in forced or _may_name(memory, renaming.name_changes, glance):
            if memory.kind is MemoryKind.ABSTRACT_EPISODE:
                mentions.abstract[memory.id] = None
            else:
                keys.append(memory.id)
                mentions.abstract.update(dict.fromkeys(after.classes(memory.id)))
    return keys


def _may_name(memory: Memory, changes: NameChanges, glance: Glance) -> bool:
    """Whether the text may contain a gained name, or one that sounds like it."""
    if changes.gained_names and glance.may_hold(memory.text):
        return True
    if not changes.gained_sounds:
        return False
    sounds = (sound(name) for name in memory.names if not name.isascii())
    return any(heard in changes.gained_sounds for heard in sounds)


def _not_in_use(mind: Mind) -> list[MemoryId]:
    return [m.id for m in mind.names.special_concepts() if m.state is not MemoryState.ACTIVE]


def _to_link(mind: Mind, change: MindChange) -> tuple[MindAfter, list[Memory]]:
    """The mind after the change, and the texts to link."""
    after = MindAfter(mind, change)
    texts = map(after.memory, texts_to_relink(mind, change, after))
    return after, [memory for memory in texts if memory is not None]


def _sources(mind: Mind, concepts: Iterable[MemoryId]) -> set[MemoryId]:
    """Ids of the texts that mention one of the concepts; concepts with edges that are loaded."""
    out: set[MemoryId] = set()
    for key in concepts:
        out.update(e.source for e in mind.edges.of(key) if e.kind is EdgeKind.MENTIONS)
    return out


def _to_look_at(
    mind: Mind, renaming: Renaming, sources: set[MemoryId]
) -> tuple[MindAfter, list[Memory], set[MemoryId]]:
    """The mind after the renaming, the texts to search, and ids of those to link in any case (`sources` too)."""
    after = MindAfter(mind, renaming.change)
    forced = sources.union(texts_to_relink(mind, renaming.change, after))
    keys, changes = sorted(forced), renaming.name_changes
    if changes.gained_names or changes.gained_sounds:
        everywhere = renaming.naming_memories is None or changes.gained_sounds
        holding = mind.memories if everywhere else candidate_texts(mind, changes.gained_names)
        keys = list(dict.fromkeys((*holding, *(renaming.naming_memories or ()), *forced)))
    memories = map(after.memory, keys)
    texts = [m for m in memories if m is not None and m.kind in TEXTS]
    return after, texts, forced


def _pieces(memories: Sequence[Memory]) -> Iterator[list[Memory]]:
    """The memories in portions of bounded text length and number."""
    piece: list[Memory] = []
    characters = 0
    for memory in memories:
        piece.append(memory)
        characters += len(memory.text)
        if characters > _PIECE_CHARACTERS or len(piece) == _PIECE_TEXTS:
            yield piece
            piece, characters = [], 0
    if piece:
        yield piece
