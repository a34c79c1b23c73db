"""Pieces of background work: one that fails is noted with its soul and tried again, and the others go on."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from soulmem.domain.calendar import shifted
from soulmem.domain.errors import SoulMemError, StoreDamaged
from soulmem.domain.ids import Owner, SoulId
from soulmem.domain.phrases import Wording, phrase
from soulmem.engine.mind.mind import Mind
from soulmem.engine.world.world import World
from soulmem.ports.clock import Clock

log = logging.getLogger(__name__)

_RETRY = timedelta(minutes=10)  # from the end of a round with failures to the next

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of background work.

    part  the kind of work, in one word
    soul  whose it is; None where it is of no soul alone
    what  tells pieces of one kind and soul apart
    """

    part: str
    owner: Owner | None = None
    soul: SoulId | None = None
    what: str = ""


class Attempts:
    """Carries out pieces of background work, in rounds, and keeps which failed at their last try."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failed: dict[Piece, Wording] = {}
        self._untried: set[Piece] = set()  # failed before, and not tried in this round
        self._next_round: datetime | None = None

    def begin_round(self) -> None:
        """A round in which every piece is tried begins."""
        self._untried = set(self._failed)

    def end_round(self) -> None:
        """The round is over; what failed once and does not exist any more is forgotten."""
        for piece in self._untried:
            self._failed.pop(piece, None)
        self._untried = set()
        again = shifted(self._clock.now(), _RETRY)
        self._next_round = again if self._failed else None

    def is_round_due(self) -> bool:
        """Whether what failed is to be tried again by now."""
        return self._next_round is not None and self._clock.now() >= self._next_round

    def notes(self) -> list[Wording]:
        """For the user: what failed at its last try."""
        return list(self._failed.values())

    async def with_minds(
        self,
        part: str,
        worlds: Iterable[World],
        work: Callable[[World, Mind], Awaitable[object]],
        *,
        passing: type[BaseException] | tuple[type[BaseException], ...] = (),
    ) -> None:
        """Carry out this work on every open mind, each by itself."""
        for world in worlds:
            for mind in list(world.minds.values()):
                await self.carry_out(
                    Piece(part, world.owner, mind.soul.id),
                    partial(work, world, mind),
                    name=mind.soul.name,
                    passing=passing,
                )

    async def open_souls(self, world: World) -> None:
        """Open every soul of the world that is to be open, each by itself."""
        for soul in world.souls_to_open():
            await self.carry_out(
                Piece("opening", world.owner, soul.id),
                partial(world.open_soul, soul.id),
                name=soul.name,
            )

    async def carry_out(
        self,
        piece: Piece,
        work: Callable[[], Awaitable[_T]],
        *,
        name: str = "",
        passing: type[BaseException] | tuple[type[BaseException], ...] = (),
    ) -> _T | None:
        """What the work returns; None where it failed, whatever it raised.

        name     of the soul
        passing  what is no failure: it is raised
        """
        # A task of its own tells a cancelled caller from work in which something was cancelled.
        task = asyncio.ensure_future(work())
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.wait({task})
            raise
        self._untried.discard(piece)
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is None:
            self._failed.pop(piece, None)
            return task.result()
        if isinstance(error, passing):
            raise error
        self._failed[piece] = _note(piece, name, error)
        _tell(piece, error)
        return None


def _note(piece: Piece, name: str, error: BaseException) -> Wording:
    if isinstance(error, StoreDamaged):
        return error.wording
    # What an exception says may quote a chat; what the engine says never does.
    why = error.message if isinstance(error, SoulMemError) else type(error).__name__
    if piece.soul is None:
        return phrase(
            "idle_failed",
            "a part of the background work failed ({part}: {why}). It is tried again; the log says more",
            part=piece.part,
            why=why,
        )
    return phrase(
        "idle_soul_failed",
        "background work on {soul} failed ({part}: {why}). It is tried again; other characters have theirs",
        soul=name or piece.soul,
        part=piece.part,
        why=why,
    )


def _tell(piece: Piece, error: BaseException) -> None:
    """Log the failure, without words of a chat."""
    if isinstance(error, SoulMemError):
        why = error.message
    else:
        places = "".join(traceback.format_tb(error.__traceback__))
        why = f"{type(error).__name__}\n{places}"
    log.error("background work %s of soul %s failed: %s", piece.part, piece.soul, why)
