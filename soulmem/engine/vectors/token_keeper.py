"""TokenKeeper: opens the token files of minds, fills them and removes what is not needed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from soulmem.domain.errors import SoulMemError, StoreError
from soulmem.domain.ids import Owner, SoulId
from soulmem.domain.phrases import Wording
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.token_table import TokenTable
from soulmem.engine.mind.vector_queue import PendingText
from soulmem.engine.runtime.worker import Worker, compute_only
from soulmem.engine.vectors.passes import Passes, Vector
from soulmem.kernels.token_codes import Center, pack
from soulmem.ports.embedder import Embedder, TokenStates
from soulmem.ports.token_store import TokenFile, TokenStore

log = logging.getLogger(__name__)

_LOOKED_UP = 500  # texts looked up in one step: about 10 ms
_ERASED = 200  # records erased in one step


class TokenKeeper:
    """The token files of all open minds. Files are used on the compute thread alone."""

    def __init__(self, *, store: TokenStore | None, compute: Worker, passes: Passes) -> None:
        """`store` None: no token states are kept, and recall does without."""
        self._store = store
        self._compute = compute
        self._passes = passes
        self._owners: WeakKeyDictionary[Mind, Owner] = WeakKeyDictionary()
        # The open file of each soul, and its model.
        self._files: dict[tuple[Owner, SoulId], tuple[TokenFile, str]] = {}
        # The center of new files of each model
        self._centers: dict[str, Center] = {}
        # How many texts each mind had dropped when its file was last tidied.
        self._tidied: WeakKeyDictionary[Mind, int] = WeakKeyDictionary()
        # One at a time tidies or closes files.
        self._tidying = asyncio.Lock()
        self.note: Wording | None = None  # why there are none, for the user

    def serves(self, embedder: Embedder) -> bool:
        """Whether token states of this model are kept."""
        return self._store is not None and self.note is None and embedder.token_width > 0

    def register(self, owner: Owner, mind: Mind) -> None:
        """Note whose mind it is, before `attach`."""
        self._owners[mind] = owner

    async def table(self, mind: Mind, embedder: Embedder) -> TokenTable | None:
        """A table of the mind's token states of this model, which the mind does not use yet; None without any."""
        owner = self._owners.get(mind)
        if owner is None or not self.serves(embedder):
            return None
        try:
            file = await self._opened((owner, mind.soul.id), embedder)
        except StoreError as error:
            self._fail(error)
            return None
        return await self._compute.run(_table, mind, file)

    async def attach(self, mind: Mind, embedder: Embedder) -> None:
        """Let the mind use its token states of this model, or none where there are none."""
        table = await self.table(mind, embedder)
        await self._compute.run(_attach, mind, table)

    async def read(
        self,
        embedder: Embedder,
        table: TokenTable | None,
        texts: Sequence[PendingText],
        *,
        few: bool = False,
    ) -> tuple[list[Vector], list[TokenStates | None]]:
        """The vector of each text, and its states where the table needs them. Raises EmbedderError.

        few  these are all the texts that are new, so a query with them will soon come
        """
        if table is None:
            whole = [text.text for text in texts]
            vectors = await self._passes.vectors(embedder, whole, with_tokens=False)
            return list(vectors), [None] * len(texts)
        if table.file.center is None and embedder.model not in self._centers:
            self._centers[embedder.model] = await self._passes.center(embedder)
        needed = await self._compute.run(_needed, table, texts)
        contents = [text.content for text in texts]
        results = await self._passes.in_context(embedder, contents, needed, few=few)
        return [vector for vector, _ in results], [states for _, states in results]

    async def missing(self, mind: Mind, limit: int) -> tuple[list[PendingText], bool]:
        """At most `limit` texts without states, the newest first; whether more texts are to be looked up."""
        return await self._compute.run(_missing, mind, limit)

    async def keep(
        self,
        mind: Mind,
        table: TokenTable | None,
        texts: Sequence[PendingText],
        states: Sequence[TokenStates | None],
    ) -> None:
        """Keep the states of these texts where they are needed and the text is still so."""
        if table is None:
            return
        pairs = list(zip(texts, states, strict=True))
        try:
            await self._compute.run(self._keep, mind, table, pairs)
        except SoulMemError as error:
            await self._compute.run(_attach, mind, None)
            self._fail(error)

    async def tidy(self, mind: Mind) -> None:
        """Remove the states that no text of the mind needs any more, and free their room.

        Quick where no text was dropped since the last time.
        """
        async with self._tidying:
            await self._tidy(mind)

    async def drop(self, owner: Owner, soul: SoulId) -> None:
        """Delete the file of a soul that is no longer used."""
        if self._store is None:
            return
        await self.release(owner, soul)
        async with self._tidying:
            await asyncio.to_thread(self._store.drop, owner, soul)

    async def release(self, owner: Owner, soul: SoulId) -> None:
        """Close the file of a soul, whose minds do without token states from now on."""
        async with self._tidying:
            opened = self._files.pop((owner, soul), None)
            for mind in list(self._owners):
                if self._owners.get(mind) == owner and mind.soul.id == soul:
                    await self._compute.run(_attach, mind, None)
            if opened is not None:
                await self._compute.run(opened[0].close)

    async def close(self) -> None:
        """Close all files."""
        async with self._tidying:
            for mind in list(self._owners):
                await self._compute.run(_attach, mind, None)
            for file, _ in self._files.values():
                await self._compute.run(file.close)
            self._files.clear()

    async def _tidy(self, mind: Mind) -> None:
        dropped = mind.vector_queue.dropped_texts
        if self._tidied.get(mind) == dropped:
            return
        try:
            while await self._compute.run(_look_up, mind):
                pass
            while await self._compute.run(_erase_unneeded, mind):
                pass
            while await self._compute.run(_look_up, mind):
                pass  # memories that were counted by an erased record
            await self._compact(mind)
        except SoulMemError as error:
            log.warning("token states of %s: %s", mind.soul.id, error.message)
            return
        self._tidied[mind] = dropped

    async def _opened(self, soul: tuple[Owner, SoulId], embedder: Embedder) -> TokenFile:
        """The soul's open file of this model. Raises StoreError."""
        assert self._store is not None
        opened = self._files.get(soul)
        if opened is not None and opened[1] == embedder.model:
            return opened[0]
        if opened is not None:
            del self._files[soul]
            await self._compute.run(opened[0].close)
        file = await asyncio.to_thread(
            self._store.open, *soul, embedder.model, embedder.token_width
        )
        self._files[soul] = file, embedder.model
        return file

    async def _compact(self, mind: Mind) -> None:
        table = mind.vector_queue.tokens
        if table is None:
            return
        steps = table.file.compact()
        while await self._compute.run(next, steps, self) is not self:
            pass

    @compute_only
    def _keep(
        self,
        mind: Mind,
        table: TokenTable,
        texts: Sequence[tuple[PendingText, TokenStates | None]],
    ) -> None:
        models = [m for file, m in self._files.values() if file is table.file]
        if not models:
            return  # it was closed meanwhile
        present = mind.vector_queue.are_present([pending for pending, _ in texts])
        wanted = [
            (pending.key, states)
            for (pending, states), is_present in zip(texts, present, strict=True)
            if is_present and states is not None and table.needs(pending.key)
        ]
        if wanted:
            read = [states for _, states in wanted]
            center = table.file.center
            if center is None:
                center = self._centers[models[0]]
            packed = pack(
                [s.states for s in read],
                [s.pieces for s in read],
                center,
                [s.begins for s in read],
            )
            table.store([key for key, _ in wanted], packed)

    def _fail(self, error: SoulMemError) -> None:
        """Do without token states until the next start."""
        log.warning("no token states: %s", error.message)
        self.note = error.wording


@compute_only
def _table(mind: Mind, file: TokenFile) -> TokenTable:
    """A table of the mind's token states in this file."""
    frame = mind.frame()
    return TokenTable(
        file=file,
        rows=frame.rows,
        pairs=frame.pairs,
        columns=mind.columns,
        first_rows=frame.visibility.first_rows,
        content_of=mind.content_of,
    )


@compute_only
def _missing(mind: Mind, limit: int) -> tuple[list[PendingText], bool]:
    table = mind.vector_queue.tokens
    if table is None:
        return [], False
    more = table.look_up(_LOOKED_UP)
    return mind.vector_queue.texts(table.missing(limit)), more


@compute_only
def _look_up(mind: Mind) -> bool:
    table = mind.vector_queue.tokens
    return table is not None and table.look_up(_LOOKED_UP)


@compute_only
def _erase_unneeded(mind: Mind) -> bool:
    """Erase some records that are not needed; False if there are no more."""
    table = mind.vector_queue.tokens
    if table is None:
        return False
    table.look_up(_LOOKED_UP)  # what has come since
    records = table.unneeded()
    table.erase(records[:_ERASED])
    return bool(records.size > _ERASED)


@compute_only
def _attach(mind: Mind, table: TokenTable | None) -> None:
    mind.vector_queue.tokens = table


@compute_only
def _needed(table: TokenTable, texts: Sequence[PendingText]) -> list[bool]:
    """Whether the states of each of these texts are kept."""
    return [table.needs(text.key) for text in texts]
