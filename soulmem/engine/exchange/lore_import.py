"""How does what a card or a world says become memory, and follow when the card changes?

What a card made is marked by its source and goes when the card no longer says it. What the user changed,
tied to something, or put into the bin is the user's from then on, and stays as it is.
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
from soulmem.engine.propagation.renaming import joined_by_hand
from soulmem.engine.runtime.jobs import JobRun
from soulmem.engine.sync.chat_writer import ChatWriter
from soulmem.engine.world.audit import Hand
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.transfer.lore import PROMPT_PARTS, Cast, Lore, Statement, is_source

_PIECE = 50  # memories written in one go; a recall that comes meanwhile waits for one
_LOOKED_AT = 500  # memories looked through in one go
_PLAYER = "User"  # SillyTavern's own name for who gave none


@dataclass(frozen=True, slots=True)
class LoreCounts:
    """What an import did, or would do: `kept` memories are the user's by now and stay as they are."""

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

    def told(self) -> dict[str, Any]:
        """As the result of a job has it."""
        return {
            "added": self.added,
            "changed": self.changed,
            "removed": self.removed,
            "kept": self.kept,
        }


class LoreImport:
    """Brings what sources say into souls."""

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
        """Who {{char}} and {{user}} are: the player as given, else as in the soul's latest chat."""
        world = await self._world_of(owner)
        heads = [
            head for head in world.heads.values() if soul in head.souls and head.persona
        ]
        told = persona or next((head.persona for head in reversed(heads)), _PLAYER)
        return Cast(world.soul(soul).name, told)

    async def expected(
        self, owner: Owner, soul: SoulId, lore: Lore, source: str
    ) -> tuple[LoreCounts, list[str]]:
        """What taking it in would do, and the texts that are new; changes nothing."""
        world = await self._world_of(owner)
        mind = await world.mind(soul)
        put, counts = await self._compute.run(
            _put, mind, lore.statements, source, self._clock.now()
        )
        change, gone = await self._withdrawn(mind, lore, source)
        fresh = [m.text for m in put if m.id not in mind.memories]
        return counts + gone, fresh if change is not None else []

    async def take_in(self, run: JobRun, lore: Lore, source: str) -> LoreCounts:
        """Make what the source made in the soul's memory equal to what it says now."""
        world = await self._world_of(run.owner)
        mind = await world.mind(run.soul)
        counts, total = LoreCounts(), len(lore.statements)
        await self._teach(world, run.soul, lore.names, source)
        for start in range(0, total, _PIECE):
            run.tell(start, total, "memories")
            piece = lore.statements[start : start + _PIECE]
            async with world.writing:
                mind = await world.mind_while_writing(run.soul)
                put, some = await self._compute.run(
                    _put, mind, piece, source, self._clock.now()
                )
                put = await self._compute.run(_read, put)
                await self._write(run, world, mind, MindChange(put_memories=tuple(put)))
            counts += some
        run.tell(total, total, "memories")
        async with world.writing:
            mind = await world.mind_while_writing(run.soul)
            change, some = await self._withdrawn(mind, lore, source, owner=run.owner)
            await self._write(run, world, mind, change)
        return counts + some

    async def _teach(
        self, world: World, key: SoulId, names: tuple[KnownName, ...], source: str
    ) -> None:
        """Let the soul know the names of this source, and no others of it."""
        async with world.writing:
            old = world.soul(key)
            others = tuple(known for known in old.names if known.source != source)
            new: Soul = replace(old, names=(*others, *names))
            if set(new.names) != set(old.names):
                await self._writer.change_soul(
                    world, await world.mind_while_writing(key), new
                )
                world.souls[key] = new

    async def _withdrawn(
        self, mind: Mind, lore: Lore, source: str, owner: Owner | None = None
    ) -> tuple[MindChange, LoreCounts]:
        """What the source said once and does not say now. With `owner` ties drawn by hand are looked for."""
        said = {_key(mind.soul.id, one) for one in lore.statements}
        keys = await self._compute.run(lambda: list(mind.memories))
        gone: list[Memory] = []
        for start in range(0, len(keys), _LOOKED_AT):
            gone += await self._compute.run(
                _made_by, mind, keys[start : start + _LOOKED_AT], source, said
            )
        left = [
            replace(m, tags=tags, revision=m.revision + 1)
            for m in gone
            if (tags := _others(m, source))
        ]
        drop = [m.id for m in gone if not _others(m, source)]
        if owner is not None:
            await self._loader.complete(owner, mind, drop)
        kept = await self._compute.run(joined_by_hand, mind, drop)
        drop = [key for key in drop if key not in {m.id for m in kept}]
        counts = LoreCounts(changed=len(left), removed=len(drop), kept=len(kept))
        binned = [_binned(m) for m in gone if m.id in set(drop) and _was_in_prompt(m)]
        drop = [key for key in drop if key not in {m.id for m in binned}]
        return MindChange(
            put_memories=(*left, *kept, *binned), drop_memories=tuple(drop)
        ), counts

    async def _write(
        self, run: JobRun, world: World, mind: Mind, change: MindChange
    ) -> None:
        if change.put_memories or change.drop_memories:
            await self._auditor.carry_out(
                world, mind, change, Hand(Actor.IMPORT, run.record.job)
            )


def _key(soul: SoulId, statement: Statement) -> MemoryId:
    """The same statement is the same memory, whoever says it."""
    return MemoryId(derived_id("n", soul, statement.kind.value, statement.text))


def _put(
    mind: Mind, statements: Sequence[Statement], source: str, now: datetime
) -> tuple[list[Memory], LoreCounts]:
    """Memories to be written so that the source says these."""
    put: dict[MemoryId, Memory] = {}
    kept = 0
    for one in statements:
        key = _key(mind.soul.id, one)
        known = mind.memories.get(key)
        importance = (
            importance_of(one.text) if one.importance is None else one.importance
        )
        if key in put:
            continue
        if known is None:
            put[key] = Memory(
                id=key,
                soul=mind.soul.id,
                kind=one.kind,
                text=one.text,
                origin=Origin.CARD,
                created=now,
                tags=(source, one.part),
                importance=importance,
            )
        elif known.origin is not Origin.CARD or known.state is not MemoryState.ACTIVE:
            kept += 1
        elif source not in known.tags:
            tags = (*known.tags, source)
            importance = max(importance, known.importance)
            put[key] = replace(
                known, tags=tags, importance=importance, revision=known.revision + 1
            )
        elif (
            len([tag for tag in known.tags if is_source(tag)]) == 1
            and known.importance != importance
        ):
            put[key] = replace(
                known, importance=importance, revision=known.revision + 1
            )
    added = sum(key not in mind.memories for key in put)
    return list(put.values()), LoreCounts(
        added=added, changed=len(put) - added, kept=kept
    )


def _read(memories: Iterable[Memory]) -> list[Memory]:
    """With what their texts are about, and whom they name."""
    out = []
    for memory in memories:
        told = read(memory.text) if memory.kind in TEXTS else None
        out.append(
            replace(memory, terms=told.terms, names=told.names) if told else memory
        )
    return out


def _made_by(
    mind: Mind, keys: Iterable[MemoryId], source: str, said: set[MemoryId]
) -> list[Memory]:
    """Those of the memories that the source made, but for what is still `said`."""
    found = (
        mind.memories[key] for key in keys if key not in said and key in mind.memories
    )
    return [
        m
        for m in found
        if m.origin is Origin.CARD
        and m.state is MemoryState.ACTIVE
        and source in m.tags
    ]


def _others(memory: Memory, source: str) -> tuple[str, ...]:
    """The memory's tags without this source, if another one still says it; else nothing."""
    rest = tuple(tag for tag in memory.tags if tag != source)
    return rest if any(map(is_source, rest)) else ()


def _was_in_prompt(memory: Memory) -> bool:
    """Whether it is a note of what stands in every prompt, as an earlier version made them."""
    return memory.kind is MemoryKind.NOTE and not PROMPT_PARTS.isdisjoint(memory.tags)


def _binned(memory: Memory) -> Memory:
    """The memory in the bin, where its user may fetch it from: the card says it still."""
    return replace(memory, state=MemoryState.BIN, revision=memory.revision + 1)
