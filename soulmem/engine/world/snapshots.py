"""Writes snapshots of minds and restores minds from them, so that large souls open fast.

A snapshot has a token. While the store keeps this token for the soul, the snapshot and
what the store lists as changed since give what the rows would.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import time
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

import soulmem
from soulmem.domain.ids import ChatId, Owner, SoulId
from soulmem.domain.soul import Soul
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.packing import Pieces, packed_parts, restore_steps
from soulmem.engine.runtime.worker import Worker, compute_only
from soulmem.engine.world.world import World
from soulmem.ports.snapshot_store import Snapshot, SnapshotStore, SnapshotWriter
from soulmem.ports.store import Mark, Store

log = logging.getLogger(__name__)

_FORGOTTEN_PER_MEMORY = 4  # forgotten memories that take as long to open as one in use
_LEMMATISER = "simplemma"  # lemmatiser: another version may give other words


@dataclass(frozen=True, slots=True)
class SnapshotParams:
    """Which minds get snapshots, and how often."""

    # memories in use and edges; a smaller soul opens within half a second anyway
    least: int = 20_000
    pause: float = 900.0  # seconds between two snapshots of a mind in use: each may take 150 MB


@dataclass(frozen=True, slots=True)
class _SnapshotState:
    """A snapshot that was written or read, and the state of the mind it stands for."""

    token: str
    basis: Mapping[str, Any]
    revision: tuple[int, ...]
    model: str | None  # name of the embedding model
    pending: int  # texts without a vector
    written_at: float  # monotonic seconds


@dataclass(kw_only=True, eq=False)
class SnapshotKeeper:
    """Writes and reads snapshots of minds. Used on the event loop."""

    images: SnapshotStore | None
    store: Store
    compute: Worker
    params: SnapshotParams = SnapshotParams()

    def __post_init__(self) -> None:
        self._kept: WeakKeyDictionary[Mind, _SnapshotState] = WeakKeyDictionary()
        # By owner and soul: Idle and the stop may both come to the same one, whose file is one.
        self._updating: defaultdict[tuple[Owner, SoulId], asyncio.Lock] = defaultdict(asyncio.Lock)

    async def open(self, world: World, soul: Soul, most_edges: int) -> tuple[Mind, Mark] | None:
        """The soul's mind from its snapshot, and what changed since; None when it must be read from the store.

        The caller holds `World.writing`.
        """
        if self.images is None:
            return None
        restored = await self._restored(self.images, world, soul)
        if restored is None:  # an unusable snapshot may hold texts that were deleted
            await asyncio.to_thread(self.images.drop, world.owner, soul.id)
            return None
        return restored if len(restored[0].edges) <= most_edges else None

    async def update(self, world: World, mind: Mind, *, last: bool) -> None:
        """Write the mind's snapshot if it is out of date.

        last  the mind will be released: how old the snapshot is does not matter
        """
        async with self._updating[world.owner, mind.soul.id]:
            await self._update(world, mind, last)

    async def drop(self, world: World, soul: Soul) -> None:
        """Delete the snapshot of a soul that is no longer used."""
        if self.images is not None:
            await asyncio.to_thread(self.images.drop, world.owner, soul.id)

    async def _restored(
        self, images: SnapshotStore, world: World, soul: Soul
    ) -> tuple[Mind, Mark] | None:
        mark = await self.store.marked(world.owner, soul.id)
        if mark is None:
            return None
        image, basis = await asyncio.gather(
            asyncio.to_thread(images.read, world.owner, soul.id, mark.token),
            _basis(world, soul),
        )
        if image is None or not _is_usable(image.head["basis"], basis, mark.chats):
            return None
        mind = await self._mind(soul, image)
        if mind is None:
            return None
        self._kept[mind] = await self.compute.run(
            _state, mind, mark.token, image.head["basis"], float("-inf")
        )
        return mind, mark

    async def _mind(self, soul: Soul, image: Snapshot) -> Mind | None:
        mind = Mind(soul)
        steps = restore_steps(mind, image.arrays, image.head["model"])
        try:
            while await self.compute.run(next, steps, self) is not self:
                pass
        except Exception:  # a broken snapshot costs time only: the store has everything
            log.warning("the image of soul %s cannot be used", soul.id, exc_info=True)
            return None
        return mind

    async def _is_worth_it(self, world: World, mind: Mind) -> bool:
        if not mind.residency.whole or mind.soul.id in world.pending_writes:
            return False
        return await self.compute.run(_size, mind) >= self.params.least

    async def _update(self, world: World, mind: Mind, last: bool) -> None:
        if self.images is None or not await self._is_worth_it(world, mind):
            return
        basis = await _basis(world, mind.soul)
        state = await self.compute.run(_state, mind, secrets.token_hex(16), basis, time.monotonic())
        old = self._kept.get(mind)
        if old is None or not _is_same_state(old, state):
            if (
                old is not None
                and not last
                and state.written_at - old.written_at < self.params.pause
            ):
                return
            if not await self._write(self.images, world, mind, state):
                return
        else:
            state = old
        async with world.writing:
            current_state = await self.compute.run(
                _state, mind, state.token, basis, state.written_at
            )
            unchanged = world.minds.get(mind.soul.id) is mind and _is_same_state(
                current_state, state
            )
            if unchanged and await _basis(world, mind.soul) == basis:
                mark = await self.store.marked(world.owner, mind.soul.id)
                if mark is None or mark.token != state.token or not mark.is_current:
                    await self.store.mark(world.owner, mind.soul.id, state.token)
                self._kept[mind] = state

    async def _write(
        self, images: SnapshotStore, world: World, mind: Mind, state: _SnapshotState
    ) -> bool:
        """Whether a snapshot of that state was written; False when the mind changed meanwhile."""
        owner, soul = world.owner, mind.soul.id
        writer: SnapshotWriter = await asyncio.to_thread(images.write, owner, soul, state.token)
        try:
            source = packed_parts(mind)
            while (piece := await self.compute.run(_next_piece, mind, state, source)) is not None:
                await asyncio.to_thread(writer.add, piece)
            await asyncio.to_thread(writer.finish, {"basis": state.basis, "model": state.model})
            return True
        except _Changed:
            return False
        finally:
            await asyncio.to_thread(writer.give_up)


class _Changed(Exception):
    """The mind has changed since the snapshot was begun."""


def _next_piece(
    mind: Mind, state: _SnapshotState, source: Pieces
) -> dict[str, NDArray[Any]] | None:
    """The next piece, None when there are no more. Raises _Changed."""
    if (mind.revision, mind.vector_queue.model) != (state.revision, state.model):
        raise _Changed
    return next(source, None)


@compute_only
def _size(mind: Mind) -> int:
    """How many memories and edges are to be opened. What is forgotten has neither vector nor words nor links."""
    used = int(np.count_nonzero(mind.columns.in_use[: mind.size]))
    forgotten = max(len(mind.memories) - used, 0)
    return used + len(mind.edges) + forgotten // _FORGOTTEN_PER_MEMORY


@compute_only
def _state(mind: Mind, token: str, basis: Mapping[str, Any], written_at: float) -> _SnapshotState:
    """The present state of the mind."""
    embedded = mind.vector_queue
    return _SnapshotState(
        token,
        basis,
        mind.revision,
        embedded.model,
        embedded.pending_count(),
        written_at,
    )


def _is_same_state(first: _SnapshotState, other: _SnapshotState) -> bool:
    """Whether one snapshot would do for both states."""
    return replace(first, token="", written_at=0.0) == replace(other, token="", written_at=0.0)


async def _basis(world: World, soul: Soul) -> dict[str, Any]:
    """The inputs of a snapshot apart from commits to the soul."""
    code = await asyncio.to_thread(_code_hash)
    chats = (head for head in world.heads.values() if soul.id in head.cast or soul.id in head.souls)
    return {
        "code": code,
        "names": list(soul.known_names()),
        "chats": sorted([head.id, world.family(head.id)] for head in chats),
    }


def _is_usable(
    basis: Mapping[str, Any], current: Mapping[str, Any], changed: Collection[ChatId]
) -> bool:
    """Whether a snapshot of that basis differs from the present one by these chats at most."""

    def known(of: Mapping[str, Any]) -> dict[str, Any]:
        chats = [pair for pair in of["chats"] if pair[0] not in changed]
        return {**of, "chats": chats}

    return known(basis) == known(current)


@cache
def _code_hash() -> str:
    """A hash of SoulMem's code: another version may derive other data from a text.
    Reads files; blocks.
    """
    digest = hashlib.blake2b(
        f"{soulmem.__version__} {metadata.version(_LEMMATISER)}".encode(),
        digest_size=16,
    )
    for path in sorted(Path(soulmem.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
