"""Import of what a card, a world or a store states, as memories that follow the source when it changes.

Memories made from a source are tagged with it and removed when no source states them any
more. Those written about messages that the soul remembers are derivations of these, so they
go with them as well. What the user changed, linked or put into the bin belongs to the user
from then on and is kept; what went into the bin because an import was undone comes back with
the next one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from soulmem.conversation.importance import UNREAD
from soulmem.conversation.text_analysis import read
from soulmem.domain.audit import Action, Actor, AuditQuery
from soulmem.domain.derivations import Derivation, Work
from soulmem.domain.edges import TEXTS
from soulmem.domain.ids import MemoryId, Owner, SoulId, derived_id
from soulmem.domain.memories import (
    Memory,
    MemoryKind,
    MemoryState,
    Origin,
    Timelines,
)
from soulmem.domain.situation import Situation
from soulmem.domain.soul import KnownName, Soul
from soulmem.engine.exchange.statement_evidence import (
    EvidenceByRef,
    FoundEvidence,
    KnownChats,
    derivation_of,
    find_evidence,
    known_chats,
    time_span,
)
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.renaming import user_linked_concepts
from soulmem.engine.runtime.jobs import JobRun
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.runtime.write_lock import WriteToken
from soulmem.engine.sync.chat_writer import ChatWriter
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.transfer.lore import (
    Cast,
    EvidenceRef,
    Lore,
    Statement,
    is_source,
)

_PIECE = 50  # memories written at once, while a recall has to wait
_LOOKED_AT = 500  # memories searched at once
_PLAYER = "User"  # SillyTavern's name of a player who set none


@dataclass(frozen=True, slots=True)
class LoreCounts:
    """Memories that an import changed, or would change.

    kept      belong to the user by now
    absent    left out: the soul knows the chat, but not the messages they were written about
    unlinked  of chats that the soul does not know: they cannot go with their messages
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    kept: int = 0
    absent: int = 0
    unlinked: int = 0

    def __add__(self, other: LoreCounts) -> LoreCounts:
        return LoreCounts(
            self.added + other.added,
            self.changed + other.changed,
            self.removed + other.removed,
            self.kept + other.kept,
            self.absent + other.absent,
            self.unlinked + other.unlinked,
        )

    def as_result(self) -> dict[str, Any]:
        """The counts as part of a job's result."""
        return asdict(self)


@dataclass(kw_only=True, eq=False)
class LoreImport:
    """Imports the statements of cards and worlds."""

    services: Services
    writer: ChatWriter

    async def cast(self, owner: Owner, soul: SoulId, persona: str) -> Cast:
        """Names for {{char}} and {{user}}; without `persona` the user's in the soul's latest chat."""
        world = await self.services.world_of(owner)
        personas = [
            head.persona for head in world.heads.values() if soul in head.souls and head.persona
        ]
        latest = personas[-1] if personas else _PLAYER
        return Cast(world.soul(soul).name, persona or latest)

    async def expected(
        self, owner: Owner, soul: SoulId, lore: Lore, source: str
    ) -> tuple[LoreCounts, list[str]]:
        """The counts of an import of this, and the texts of new memories. Changes nothing."""
        world = await self.services.world_of(owner)
        mind = await world.mind(soul)
        chats = await known_chats(world, soul, _asked(lore.statements))
        found = await self._found(mind, chats, lore.statements)
        undone = await self._undone(owner, mind, lore.statements)
        piece = _Piece(mind, source, found, undone, self.services.clock.now())
        change, counts = await self.services.compute.run(piece.change, lore.statements)
        _, withdrawn = await self._withdrawn(mind, lore, source, found)
        put = change.put_memories
        new = [memory.text for memory in put if memory.id not in mind.memories]
        return counts + withdrawn, new

    async def take_in(self, run: JobRun, lore: Lore, source: str) -> LoreCounts:
        """Make the soul's memories of this source equal to what it states now."""
        world = await self.services.world_of(run.owner)
        mind = await world.mind(run.soul)
        counts, total = LoreCounts(), len(lore.statements)
        chats = await known_chats(world, run.soul, _asked(lore.statements))
        undone = await self._undone(run.owner, mind, lore.statements)
        await self._teach(world, run.soul, lore.names, source)
        for start in range(0, total, _PIECE):
            run.report(start, total, "memories")
            statements = lore.statements[start : start + _PIECE]
            async with world.writing as token:
                mind = await world.mind_while_writing(token, run.soul)
                found = await self._found(mind, chats, statements)
                now, job = self.services.clock.now(), run.record.job
                piece = _Piece(mind, source, found, undone, now, job)
                change, some = await self.services.compute.run(piece.change, statements)
                put = await self.services.compute.run(_read, change.put_memories)
                change = replace(change, put_memories=tuple(put))
                await self._write(token, run, world, mind, change)
            counts += some
        run.report(total, total, "memories")
        async with world.writing as token:
            mind = await world.mind_while_writing(token, run.soul)
            found = await self._found(mind, chats, lore.statements)
            change, some = await self._withdrawn(mind, lore, source, found, owner=run.owner)
            await self._write(token, run, world, mind, change)
        return counts + some

    async def _teach(
        self, world: World, key: SoulId, names: tuple[KnownName, ...], source: str
    ) -> None:
        """Replace the names that the soul knows from this source."""
        async with world.writing as token:
            old = world.soul(key)
            others = tuple(name for name in old.names if name.source != source)
            new: Soul = replace(old, names=(*others, *names))
            if set(new.names) != set(old.names):
                await self.writer.change_soul(
                    token, world, await world.mind_while_writing(token, key), new
                )
                world.souls[key] = new

    async def _undone(
        self, owner: Owner, mind: Mind, statements: Iterable[Statement]
    ) -> frozenset[str]:
        """Those of the statements' memories that are in the bin because an import was undone."""
        binned = await self.services.compute.run(_binned_notes, mind, statements)
        if not binned:
            return frozenset()
        put_there: dict[str, tuple[str, Action]] = {}
        for action in (Action.BIN, Action.UNDO):
            wanted = AuditQuery(mind.soul.id, action=action)
            for entry in await self.services.auditor.every(owner, wanted):
                if entry.target in binned:
                    latest = put_there.get(entry.target, ("", action))
                    put_there[entry.target] = max(latest, (entry.id, action))
        return frozenset(
            target for target, (_, action) in put_there.items() if action is Action.UNDO
        )

    async def _found(
        self, mind: Mind, chats: KnownChats, statements: Iterable[Statement]
    ) -> EvidenceByRef:
        """The messages that these statements were written about."""
        asked = _asked(statements)
        return await self.services.compute.run(find_evidence, mind, chats, asked)

    async def _withdrawn(
        self,
        mind: Mind,
        lore: Lore,
        source: str,
        found: EvidenceByRef,
        owner: Owner | None = None,
    ) -> tuple[MindChange, LoreCounts]:
        """The change for memories that the source stated once and does not state now.

        With `owner` their edges are loaded first, so that those linked by hand are
        kept.
        """
        stated = [statement for statement in lore.statements if not _is_absent(statement, found)]
        withdrawn = await self._no_longer_stated(mind, stated, source)
        untagged, drop = [], []
        for memory in withdrawn:
            tags = _other_tags(memory, source)
            if tags:
                revision = memory.revision + 1
                untagged.append(replace(memory, tags=tags, revision=revision))
            else:
                drop.append(memory.id)
        if owner is not None:
            await self.services.loader.complete(owner, mind, drop)
        kept = await self.services.compute.run(user_linked_concepts, mind, drop)
        removed = set(drop) - {memory.id for memory in kept}
        counts = LoreCounts(changed=len(untagged), removed=len(removed), kept=len(kept))
        change = MindChange(
            put_memories=(*untagged, *kept),
            drop_memories=tuple(key for key in drop if key in removed),
            drop_derivations=await self.services.compute.run(_makers_of, mind, removed),
        )
        return change, counts

    async def _no_longer_stated(
        self, mind: Mind, statements: Iterable[Statement], source: str
    ) -> list[Memory]:
        """The memories that the source made and does not state now."""
        stated = {_key(mind.soul.id, statement) for statement in statements}
        keys = await self.services.compute.run(lambda: list(mind.memories))
        withdrawn: list[Memory] = []
        for start in range(0, len(keys), _LOOKED_AT):
            withdrawn += await self.services.compute.run(
                _made_by, mind, keys[start : start + _LOOKED_AT], source, stated
            )
        return withdrawn

    async def _write(
        self,
        token: WriteToken,
        run: JobRun,
        world: World,
        mind: Mind,
        change: MindChange,
    ) -> None:
        if change != MindChange():
            await self.services.auditor.carry_out(
                token, world, mind, change, ChangeAuthor(Actor.IMPORT, run.record.job)
            )


def _key(soul: SoulId, statement: Statement) -> MemoryId:
    """Id of a statement's memory: the same for the same statement of any source."""
    return MemoryId(derived_id("n", soul, statement.kind.value, statement.text))


@dataclass(eq=False)
class _Piece:
    """What some statements of a source mean for a mind.

    undone  memories in the bin that come back
    job     that imports; empty for a dry run
    """

    mind: Mind
    source: str
    found: EvidenceByRef
    undone: frozenset[str]
    current_time: datetime
    job: str = ""

    def __post_init__(self) -> None:
        self._put: dict[MemoryId, Memory] = {}
        self._derivations: dict[str, Derivation] = {}
        self._kept: set[MemoryId] = set()
        self._absent = self._unlinked = 0

    def _counts(self) -> LoreCounts:
        """The counts of the statements so far."""
        added = sum(key in self.undone or key not in self.mind.memories for key in self._put)
        return LoreCounts(
            added=added,
            changed=len(self._put) - added,
            kept=len(self._kept),
            absent=self._absent,
            unlinked=self._unlinked,
        )

    @compute_only
    def change(self, statements: Iterable[Statement]) -> tuple[MindChange, LoreCounts]:
        """The new and changed memories of these statements, and their counts."""
        for statement in statements:
            if _is_absent(statement, self.found):
                self._absent += 1
            else:
                self._take_in(statement)
        change = MindChange(
            put_memories=tuple(self._put.values()),
            put_derivations=tuple(self._derivations.values()),
        )
        return change, self._counts()

    def _take_in(self, statement: Statement) -> None:
        """Make the memory of a statement, or let an existing one follow it."""
        key = _key(self.mind.soul.id, statement)
        stored = self._put.get(key) or self.mind.memories.get(key)
        existing = stored
        if existing is not None and key in self.undone:
            existing = _out_of_bin(existing)
        if existing is not None and _is_users(existing):
            self._kept.add(key)
            return
        given = statement.importance
        importance = UNREAD if given is None else given
        if existing is None:
            memory = self._new(key, statement, importance)
        else:
            memory = _updated(existing, self.source, importance) or existing
        found = self.found.get(statement.evidence) if statement.evidence else None
        if found is None:
            self._unlinked += statement.evidence is not None
        elif memory.origin is Origin.MODEL or statement.part in memory.tags:
            memory = self._linked(memory, found)
        if memory is not stored:
            self._put[key] = memory

    def _new(self, key: MemoryId, statement: Statement, importance: float) -> Memory:
        return Memory(
            id=key,
            soul=self.mind.soul.id,
            kind=statement.kind,
            text=statement.text,
            origin=Origin.CARD,
            created=self.current_time,
            tags=(self.source, statement.part),
            importance=importance,
            importance_given=statement.importance is not None,
        )

    def _linked(self, memory: Memory, found: FoundEvidence) -> Memory:
        """The memory as one that goes with the messages it was written about."""
        mind = self.mind
        derivation = derivation_of(mind, memory.id, found, self.job, self.current_time)
        if derivation is not None:
            self._derivations[derivation.id] = derivation
        if memory.origin is Origin.MODEL:
            return memory
        return replace(
            memory,
            origin=Origin.MODEL,
            timelines=Timelines.THIS,
            situation=Situation(time_span=time_span(mind, found.episodes)),
            revision=memory.revision + (memory.id in mind.memories),
        )


def _asked(statements: Iterable[Statement]) -> list[EvidenceRef]:
    """The messages that these statements were written about, where the file names them."""
    named = dict.fromkeys(statement.evidence for statement in statements)
    return [evidence for evidence in named if evidence is not None]


def _is_absent(statement: Statement, found: EvidenceByRef) -> bool:
    """Whether the chat of the statement is known, and its messages are not in memory."""
    if statement.evidence is None or statement.evidence not in found:
        return False
    return not found[statement.evidence].episodes


@compute_only
def _makers_of(mind: Mind, memories: Iterable[MemoryId]) -> tuple[str, ...]:
    """The derivations by which imported memories go with their messages."""
    makers = (each for key in memories for each in mind.derivations.of(key))
    return tuple(dict.fromkeys(each.id for each in makers if each.work is Work.IMPORT))


@compute_only
def _binned_notes(mind: Mind, statements: Iterable[Statement]) -> frozenset[str]:
    """The memories of these statements that are in the bin; habits stay there, as others may fire by now."""
    keys = {_key(mind.soul.id, each) for each in statements}
    notes = (mind.memories.get(key) for key in keys)
    return frozenset(
        note.id
        for note in notes
        if note is not None and note.state is MemoryState.BIN and note.kind is MemoryKind.NOTE
    )


def _out_of_bin(memory: Memory) -> Memory:
    """The memory in use; itself if it is in use already."""
    if memory.state is not MemoryState.BIN:
        return memory
    return replace(memory, state=MemoryState.ACTIVE, revision=memory.revision + 1)


def _is_users(memory: Memory) -> bool:
    """Whether a memory of a source belongs to the user by now."""
    is_imported = memory.origin is Origin.CARD or (
        memory.origin is Origin.MODEL and any(map(is_source, memory.tags))
    )
    return not is_imported or memory.state is not MemoryState.ACTIVE


def _updated(memory: Memory, source: str, importance: float) -> Memory | None:
    """The memory, stated by this source, too; None if that changes nothing.

    Several sources give it the highest importance, a single one its own.
    """
    tags = memory.tags
    if source not in tags:
        tags = (*tags, source)
        importance = max(importance, memory.importance)
    elif (
        sum(map(is_source, tags)) != 1  # other sources count, too
        or memory.importance == importance
    ):
        return None
    return replace(memory, tags=tags, importance=importance, revision=memory.revision + 1)


def _read(memories: Iterable[Memory]) -> list[Memory]:
    """The memories with the terms and names of their texts."""
    analysed = []
    for memory in memories:
        if memory.kind in TEXTS:
            analysis = read(memory.text)
            memory = replace(memory, terms=analysis.terms, names=analysis.names)
        analysed.append(memory)
    return analysed


def _made_by(
    mind: Mind, keys: Iterable[MemoryId], source: str, stated: set[MemoryId]
) -> list[Memory]:
    """Those of the memories that the source made, without the `stated` ones."""
    made = []
    for key in keys:
        memory = mind.memories.get(key) if key not in stated else None
        if memory is not None and not _is_users(memory) and source in memory.tags:
            made.append(memory)
    return made


def _other_tags(memory: Memory, source: str) -> tuple[str, ...]:
    """The memory's tags without this source, if another source still states it; else nothing."""
    tags = tuple(tag for tag in memory.tags if tag != source)
    return tags if any(map(is_source, tags)) else ()
