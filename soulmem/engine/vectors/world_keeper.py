"""WorldKeeper: makes the world backgrounds of the languages that texts are in, and asks them."""

from __future__ import annotations

import logging
from functools import partial

from soulmem.domain.errors import StoreError
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.vectors.world_background import Usual, WorldBackgrounds
from soulmem.ports.embedder import Embedder, TokenStates
from soulmem.ports.token_store import TokenStore

log = logging.getLogger(__name__)


class WorldKeeper:
    """The world backgrounds that are needed. Their files are used on the thread of the models alone."""

    def __init__(self, *, store: TokenStore | None, models: Worker) -> None:
        """`store` None: there are no token states."""
        self._worlds = WorldBackgrounds(store) if store is not None else None
        self._models = models
        self._languages: dict[str, None] = {}

    def need(self, language: str) -> bool:
        """From now on the background of a language is needed; False if it was already."""
        if language in self._languages:
            return False
        self._languages[language] = None
        return True

    async def usual(self, embedder: Embedder, states: TokenStates, language: str) -> Usual | None:
        """How plain chat lines in a language match these states.

        None while the states of these lines are not made yet.
        """
        worlds = self._worlds
        if worlds is None:
            return None
        asking = partial(_usual, worlds, embedder, language, states)
        try:
            return await self._models.run(asking)
        except StoreError as error:
            self._give_up(error)
            return None

    async def make(self, embedder: Embedder, limit: int) -> bool:
        """Make the states of at most `limit` lines; False if all are made.

        Raises EmbedderError.
        """
        worlds = self._worlds
        if worlds is None:
            return False
        for language in list(self._languages):
            prepare = partial(worlds.prepare, embedder, language, limit)
            try:
                if not await self._models.run(prepare):
                    return True
            except StoreError as error:
                self._give_up(error)
                return False
        return False

    async def close(self) -> None:
        """Close all files."""
        if self._worlds is not None:
            await self._models.run(self._worlds.close)

    def _give_up(self, error: StoreError) -> None:
        """Do without until the next start."""
        log.warning("no world background: %s", error.message)
        self._worlds = None


def _usual(
    worlds: WorldBackgrounds, embedder: Embedder, language: str, states: TokenStates
) -> Usual | None:
    if not worlds.prepare(embedder, language, 0):
        return None
    background = worlds.background(embedder.model, language)
    return background.usual(states) if background is not None else None
