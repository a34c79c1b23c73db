"""Import of what a card or a world states, as memories that follow the source when it changes.

Memories made from a card are tagged with their source and removed when no source states
them any more. What the user changed, linked or put into the bin belongs to the user
from then on and is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from soulmem.conversation.importance import importance_of
from soulmem.conversation.text_analysis import read
from soulmem.domain.audit import Actor
from soulmem.domain.edges import TEXTS
from soulmem.domain.ids import MemoryId, Owner, SoulId, derived_id
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.soul import KnownName, Soul
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.propagation.renaming import user_linked_concepts
from soulmem.engine.runtime.jobs import JobRun
from soulmem.engine.runtime.write_lock import WriteToken
from soulmem.engine.sync.chat_writer import ChatWriter
from soulmem.engine.world.audit import ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.transfer.lore import PROMPT_PARTS, Cast, Lore, Statement, is_source

_PIECE = 50  # memories written at once, while a recall has to wait
_LOOKED_AT = 500  # memories searched at once
_PLAYER = "User"  # SillyTavern's name of a player who set none


@dataclass(frozen=True, slots=True)
class LoreCounts:
    """Memories that an import changed, or would change; `kept` ones belong to the user by now."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    kept: int = 0

    def __add__(self, other: LoreCounts) -> LoreCounts:
        return LoreCounts(
            self.added + other.added,
            self.changed + other.changed,
            self.removed + other.removed,
            self.kept + other.kept,
        )

    def as_result(self) -> dict[str, Any]:
        """The counts as part of a job's result."""
        return {
            "added": self.added,
            "changed": self.changed,
            "removed": self.removed,
            "kept": self.kept,
        }


class LoreImport:
    """Imports the statements of cards and worlds."""

    def __init__(
        self,
        services: Services,
        *,
        writer: ChatWriter,
    ) -> None:
        self._world_of = services.world_of
        self._compute = services.compute
        self._clock = services.clock
        self._loader = services.loader
        self._writer = writer
        self._auditor = services.auditor

    async def cast(self, owner: Owner, soul: SoulId, persona: str) -> Cast:
        """Names for {{char}} and {{user}}; without `persona` the user's in the soul's latest chat."""
        world = await self._world_of(owner)
        personas = [
            head.persona
            for head in world.heads.values()
            if soul in head.souls and head.persona
        ]
        latest = personas[-1] if personas else _PLAYER
        return Cast(world.soul(soul).name, persona or latest)

    async def expected(
        self, owner: Owner, soul: SoulId, lore: Lore, source: str
    ) -> tuple[LoreCounts, list[str]]:
        """The counts of an import of this, and the texts of new memories. Changes nothing."""
        world = await self._world_of(owner)
        mind = await world.mind(soul)
        put, counts = await self._compute.run(
            _put, mind, lore.statements, source, self._clock.now()
        )
        _, withdrawn = await self._withdrawn(mind, lore, source)
        new = [memory.text for memory in put if memory.id not in mind.memories]
        return counts + withdrawn, new

    async def take_in(self, run: JobRun, lore: Lore, source: str) -> LoreCounts:
        """Make the soul's memories of this source equal to what it states now."""
        world = await self._world_of(run.owner)
        mind = await world.mind(run.soul)
        counts, total = LoreCounts(), len(lore.statements)
        await self._teach(world, run.soul, lore.names, source)
        for start in range(0, total, _PIECE):
            run.report(start, total, "memories")
            piece = lore.statements[start : start + _PIECE]
            async with world.writing as token:
                mind = await world.mind_while_writing(token, run.soul)
                put, some = await self._compute.run(
                    _put, mind, piece, source, self._clock.now()
                )
                put = await self._compute.run(_read, put)
                await self._write(
                    token, run, world, mind, MindChange(put_memories=tuple(put))
                )
            counts += some
        run.report(total, total, "memories")
        async with world.writing as token:
            mind = await world.mind_while_writing(token, run.soul)
            change, some = await self._withdrawn(mind, lore, source, owner=run.owner)
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
                await self._writer.change_soul(
                    token, world, await world.mind_while_writing(token, key), new
                )
                world.souls[key] = new

    async def _withdrawn(
        self, mind: Mind, lore: Lore, source: str, owner: Owner | None = None
    ) -> tuple[MindChange, LoreCounts]:
        """The change for memories that the source stated once and does not state now.

        With `owner` their edges are loaded first, so that those linked by hand are
        kept.
        """
        withdrawn = await self._no_longer_stated(mind, lore, source)
        untagged, drop = [], []
        for memory in withdrawn:
            tags = _other_tags(memory, source)
            if tags:
                revision = memory.revision + 1
                untagged.append(replace(memory, tags=tags, revision=revision))
            else:
                drop.append(memory.id)
        if owner is not None:
            await self._loader.complete(owner, mind, drop)
        kept = await self._compute.run(user_linked_concepts, mind, drop)
        removed = set(drop) - {memory.id for memory in kept}
        counts = LoreCounts(changed=len(untagged), removed=len(removed), kept=len(kept))
        binned = [
            _binned(m) for m in withdrawn if m.id in removed and _was_in_prompt(m)
        ]
        removed -= {memory.id for memory in binned}
        change = MindChange(
            put_memories=(*untagged, *kept, *binned),
            drop_memories=tuple(key for key in drop if key in removed),
        )
        return change, counts

    async def _no_longer_stated(
        self, mind: Mind, lore: Lore, source: str
    ) -> list[Memory]:
        """The memories that the source made and does not state now."""
        stated = {_key(mind.soul.id, statement) for statement in lore.statements}
        keys = await self._compute.run(lambda: list(mind.memories))
        withdrawn: list[Memory] = []
        for start in range(0, len(keys), _LOOKED_AT):
            withdrawn += await self._compute.run(
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
        if change.put_memories or change.drop_memories:
            await self._auditor.carry_out(
                token, world, mind, change, ChangeAuthor(Actor.IMPORT, run.record.job)
            )


def _key(soul: SoulId, statement: Statement) -> MemoryId:
    """Id of a statement's memory: the same for the same statement of any source."""
    return MemoryId(derived_id("n", soul, statement.kind.value, statement.text))


def _put(
    mind: Mind, statements: Sequence[Statement], source: str, current_time: datetime
) -> tuple[list[Memory], LoreCounts]:
    """The new and changed memories of these statements, and their counts."""
    put: dict[MemoryId, Memory] = {}
    added = kept = 0
    for statement in statements:
        key = _key(mind.soul.id, statement)
        if key in put:
            continue
        importance = statement.importance
        if importance is None:
            importance = importance_of(statement.text)
        existing = mind.memories.get(key)
        if existing is None:
            added += 1
            put[key] = Memory(
                id=key,
                soul=mind.soul.id,
                kind=statement.kind,
                text=statement.text,
                origin=Origin.CARD,
                created=current_time,
                tags=(source, statement.part),
                importance=importance,
            )
        elif _is_users(existing):
            kept += 1
        else:
            updated = _updated(existing, source, importance)
            if updated is not None:
                put[key] = updated
    counts = LoreCounts(added=added, changed=len(put) - added, kept=kept)
    return list(put.values()), counts


def _is_users(memory: Memory) -> bool:
    """Whether a memory of a card belongs to the user by now."""
    return memory.origin is not Origin.CARD or memory.state is not MemoryState.ACTIVE


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
    return replace(
        memory, tags=tags, importance=importance, revision=memory.revision + 1
    )


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


def _was_in_prompt(memory: Memory) -> bool:
    """Whether it is a note of a text that every prompt has, as earlier versions made them."""
    return memory.kind is MemoryKind.NOTE and not PROMPT_PARTS.isdisjoint(memory.tags)


def _binned(memory: Memory) -> Memory:
    """The memory in the bin: the card still states it, so the user may want it back."""
    return replace(memory, state=MemoryState.BIN, revision=memory.revision + 1)
