"""How is a soul written out whole, as it is at one moment?"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Iterable,
    Sequence,
)
from itertools import islice
from typing import TypeVar

from soulmem import __version__
from soulmem.domain.ids import Owner, SoulId
from soulmem.engine.learning.learner import Learner
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import ChatLog, World
from soulmem.transfer import bundle as lines
from soulmem.transfer.bundle import Line, encode

_LINES = 500  # written at once: some 5 ms

T = TypeVar("T")


class BundleExport:
    """Writes bundles."""

    def __init__(
        self,
        services: Services,
        *,
        learner: Learner,
    ) -> None:
        self._world = services.world_of
        self._store = services.store
        self._clock = services.clock
        self._learner = learner

    async def bundle(self, owner: Owner, soul: SoulId) -> AsyncGenerator[bytes, None]:
        """The file of a soul in pieces, for `transfer.bundle` to read. Raises NotFound at once.

        All of it is read before the first piece is there, so that it shows one moment however slowly it is
        fetched: writers wait for the reading only. It is held compressed in memory, never on a disk.
        """
        world = await self._world(owner)
        world.soul(soul)
        await self._learner.drain()
        async with world.writing:
            packed = [piece async for piece in self._packed(world, soul)]
        return _unpacked(packed)

    async def _packed(self, world: World, soul: SoulId) -> AsyncIterator[bytes]:
        written = 0
        async for part in self._parts(world, soul):
            for piece in _pieces(part):
                written += len(piece)
                yield await asyncio.to_thread(_pack, piece)
        yield _pack([lines.End(written)])

    async def _parts(self, world: World, soul: SoulId) -> AsyncIterator[Iterable[Line]]:
        """What the bundle says, in its order."""
        found = world.souls[soul]
        head = lines.Head(lines.VERSION, soul, self._clock.now(), __version__)
        yield [head, lines.SoulLine(found)]
        for log in await _chats(world, soul):
            chat = log.head.id
            yield [
                lines.ChatLine(log.head),
                *(lines.MessageLine(chat, m) for m in log.messages),
            ]
        async for memories in self._store.memory_pages(world.owner, soul):
            yield (lines.MemoryLine(memory) for memory in memories)
        async for page in self._store.edge_pages(world.owner, soul):
            yield (lines.EdgeLine(edge) for edge in page.edges(soul))
        recalls = await self._store.recalls(world.owner, soul)
        yield (lines.UsageLine(usage) for usage in recalls.usages)
        yield (lines.RecallLine(record) for record in recalls.records)
        opinions = await self._store.opinions(world.owner, soul)
        yield (lines.OpinionLine(opinion) for opinion in opinions)
        derived = await self._store.derivations(world.owner, soul)
        yield (lines.DerivationLine(one) for one in derived)


async def _chats(world: World, soul: SoulId) -> Sequence[ChatLog]:
    """The soul's chats and those they branched from, every parent before its branches."""
    found: dict[str, ChatLog] = {}
    for head in [h for h in world.heads.values() if soul in h.cast or soul in h.souls]:
        log = await world.log(head.id)
        if log is not None:
            for one in (*reversed(await world.ancestors(head)), log):
                found.setdefault(one.head.id, one)
    return list(found.values())


def _pack(piece: Sequence[Line]) -> bytes:
    return zlib.compress(encode(piece), 1)


async def _unpacked(packed: Sequence[bytes]) -> AsyncGenerator[bytes, None]:
    for piece in packed:
        yield await asyncio.to_thread(zlib.decompress, piece)


def _pieces(part: Iterable[T]) -> Iterable[list[T]]:
    left = iter(part)
    while piece := list(islice(left, _LINES)):
        yield piece
