"""Export of a soul as a bundle that shows one moment."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Iterable,
    Iterator,
    Sequence,
)
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from soulmem import __version__
from soulmem.domain.ids import Owner, SoulId
from soulmem.engine.learning.learner import Learner
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import ChatLog, World
from soulmem.transfer import bundle as lines
from soulmem.transfer.bundle import Line, encode

_LINES = 500  # encoded at once: some 5 ms

T = TypeVar("T")


@dataclass(kw_only=True, eq=False)
class BundleExport:
    """Writes bundles."""

    services: Services
    learner: Learner

    async def bundle(self, owner: Owner, soul: SoulId) -> AsyncGenerator[bytes, None]:
        """The bundle of a soul in pieces of text, for `transfer.bundle` to read. Raises NotFound at once.

        Everything is read before the first piece, so that the bundle shows one moment
        however slowly it is fetched, and writers wait for the reading only. Until then
        it is in memory, compressed, not on disk.
        """
        world = await self.services.world_of(owner)
        world.soul(soul)
        await self.learner.drain()
        async with world.writing:
            packed = [piece async for piece in self._packed(world, soul)]
        return _unpacked(packed)

    async def _packed(self, world: World, soul: SoulId) -> AsyncIterator[bytes]:
        """The lines of the bundle in compressed pieces."""
        written = 0
        async for part in self._parts(world, soul):
            for piece in _pieces(part):
                written += len(piece)
                yield await asyncio.to_thread(_pack, piece)
        yield _pack([lines.End(written)])

    async def _parts(self, world: World, soul: SoulId) -> AsyncIterator[Iterable[Line]]:
        """The lines in the order of the format, but for the end."""
        head = lines.Head(lines.VERSION, soul, self.services.clock.now(), __version__)
        yield [head, lines.SoulLine(world.souls[soul])]
        for log in await _chats(world, soul):
            chat = log.head.id
            messages = (lines.MessageLine(chat, message) for message in log.messages)
            yield [lines.ChatLine(log.head), *messages]
        async for memories in self.services.store.memory_pages(world.owner, soul):
            yield (lines.MemoryLine(memory) for memory in memories)
        async for page in self.services.store.edge_pages(world.owner, soul):
            yield (lines.EdgeLine(edge) for edge in page.edges(soul))
        recalls = await self.services.store.recalls(world.owner, soul)
        yield (lines.UsageLine(usage) for usage in recalls.usages)
        yield (lines.RecallLine(record) for record in recalls.records)
        opinions = await self.services.store.opinions(world.owner, soul)
        yield (lines.OpinionLine(opinion) for opinion in opinions)
        fading = await self.services.store.fading(world.owner, soul)
        yield (lines.FadingLine(record) for record in fading)
        derivations = await self.services.store.derivations(world.owner, soul)
        yield (lines.DerivationLine(derivation) for derivation in derivations)


async def _chats(world: World, soul: SoulId) -> Sequence[ChatLog]:
    """The soul's chats and those they branched from, every parent before its branches."""
    logs: dict[str, ChatLog] = {}
    for head in [h for h in world.heads.values() if soul in h.cast or soul in h.souls]:
        log = await world.log(head.id)
        if log is None:
            continue
        for ancestor in reversed(await world.ancestors(head)):
            logs.setdefault(ancestor.head.id, ancestor)
        logs.setdefault(log.head.id, log)
    return list(logs.values())


def _pack(piece: Sequence[Line]) -> bytes:
    return zlib.compress(encode(piece), 1)


async def _unpacked(packed: Sequence[bytes]) -> AsyncGenerator[bytes, None]:
    for piece in packed:
        yield await asyncio.to_thread(zlib.decompress, piece)


def _pieces(part: Iterable[T]) -> Iterator[list[T]]:
    remaining = iter(part)
    while piece := list(islice(remaining, _LINES)):
        yield piece
