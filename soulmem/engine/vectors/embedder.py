"""How texts get their vectors: a model loaded in the background, a fallback until then, and work in small
batches.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.errors import SoulMemError
from soulmem.domain.ids import SoulId
from soulmem.engine.api.results import EmbedderHealth
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.vector_queue import PendingText, TextKey
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.vectors.encoder import SituationEncoder
from soulmem.engine.vectors.model_sources import ModelSource as ModelSource
from soulmem.graph.vectors import VectorTable
from soulmem.ports.embedder import Embedder
from soulmem.ports.store import Store

log = logging.getLogger(__name__)

Vector = NDArray[np.float32]
_BATCH = 16  # texts at once while nobody asks
_SHORT_BATCH = 1  # texts a question may have to stand behind while somebody does
_GIVE_WAY_SECONDS = 0.25  # before new texts are embedded while somebody asks
_ASKED_SECONDS = 30.0  # how long after a question somebody counts as asking
_READ = 1000  # stored vectors read in one go
_REMEMBERED = 4096  # texts whose vector is at hand: the last messages are asked for again every turn
_RETRY_SECONDS = 5.0  # after a failure of the store or the model

_NO_PROMPT = "the embedding model {} was trained with a prompt and is used without: set embedder.query_prompt"


class EmbeddingService:
    """The one place that calls an embedder.

    All models share one thread, so a question waits for one batch at most.
    """

    def __init__(
        self,
        *,
        store: Store,
        compute: Worker,
        wanted: ModelSource | None,
        fallback: ModelSource | None,
    ) -> None:
        self._store = store
        self._compute = compute
        self._wanted_source = wanted
        self._fallback_source = fallback
        self._models = Worker("soulmem-embed")
        self._loader = Worker("soulmem-load")
        self._embedder: Embedder | None = None
        self._better: Embedder | None = None
        self._is_fallback = False
        self._failed: str | None = None
        self._notes: dict[str, str] = {}
        self._asked = float("-inf")  # monotonic seconds of the last question
        self._recent: OrderedDict[str, Vector] = OrderedDict()
        self._minds: list[Mind] = []
        # The model, and how many texts of each soul had gone, when unused vectors were looked for last.
        self._swept: tuple[str, tuple[tuple[SoulId, int], ...]] | None = None
        self._work = asyncio.Event()
        self._settled = asyncio.Event()  # the first attempt to have any model is over
        self._quiet = asyncio.Event()  # nothing is wanted and nothing is under way
        self._quiet.set()
        self._tasks: list[asyncio.Task[None]] = []
        self._saving: asyncio.Task[None] | None = None
        self.encoder = SituationEncoder(fallback)

    def start(self) -> None:
        """Begin to load and to work; returns at once."""
        self._tasks = [
            asyncio.create_task(self._load()),
            asyncio.create_task(self._work_forever()),
        ]

    async def stop(self) -> None:
        """Stop working; what has no vector yet gets it after the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, self._saved(), return_exceptions=True)
        self._quiet.set()  # whoever waits for the work waits in vain
        self._models.stop()
        self.encoder.stop()
        self._loader.stop()

    def health(self) -> EmbedderHealth:
        """State, model and dimension, as `GET /v1/health` tells them."""
        source = self._wanted_source or self._fallback_source
        if self._embedder is not None:
            state = "error" if "embed" in self._notes else "ok"
            model = self._embedder
            return EmbedderHealth(
                state, model.name, model.dim, self._is_fallback, model.prompt
            )
        if source is None:
            return EmbedderHealth("ok", "none", None, False)
        if self._failed is not None:
            return EmbedderHealth("error", source.name, None, False)
        return EmbedderHealth("loading", source.name, None, False)

    def notes(self) -> tuple[str, ...]:
        """What the user should know, in words."""
        found = tuple(self._notes.values())
        if self._embedder is not None and self._embedder.lacks_prompt:
            found += (_NO_PROMPT.format(self._embedder.name),)
        return found

    async def ready(self) -> None:
        """Returns once some model answers, or none will."""
        await self._settled.wait()

    async def embed_query(self, texts: Sequence[str]) -> Vector | None:
        """Unit vectors of `texts`, shape (len(texts), dim); None while no model is loaded or when it
        failed.
        """
        embedder = self._embedder
        self._asked = time.monotonic()
        if embedder is None or not texts:
            return None
        try:
            return await self._vectors(embedder, texts)
        except SoulMemError as error:
            self._fail(error)
            return None

    async def seconds_per_text(self, texts: Sequence[str]) -> float:
        """Seconds that texts like these take each, measured on them; 0 without a model or texts."""
        embedder = self._embedder
        if embedder is None or not texts:
            return 0.0
        began = time.perf_counter()
        await self._models.run(embedder.embed, list(texts))
        return (time.perf_counter() - began) / len(texts)

    async def add_mind(self, mind: Mind) -> None:
        """Give a newly opened mind its stored vectors and look after it from now on."""
        self._minds.append(mind)
        await self._equip(mind, self._embedder)
        self.wake()

    def remove_mind(self, mind: Mind) -> None:
        """Look after this mind no more."""
        self._minds = [other for other in self._minds if other is not mind]

    def wake(self) -> None:
        """Some mind has new texts."""
        self._quiet.clear()
        self._work.set()

    async def wait_pending(self) -> None:
        """Returns when every text of every open mind has its vector, or no model can give it one."""
        await self._settled.wait()
        if self._embedder is not None:
            self.wake()
            await self._quiet.wait()

    async def switch_model(self) -> bool:
        """Idle work: once the wanted model is there, embed everything with it, then change over.

        True when changed.
        """
        better = self._better
        if better is None:
            return False
        for mind in list(self._minds):
            texts = await self._compute.run(mind.vector_queue.all_texts)
            await self._embed_missing(better, texts)
        self._embedder, self._better, self._is_fallback = better, None, False
        self._notes.pop("fallback", None)
        self._recent.clear()
        for mind in list(self._minds):
            await self._equip(mind, better)
        log.info("embedding model is now %s", better.name)
        self.wake()
        return True

    async def drop_unused_vectors(self) -> None:
        """Idle work: drop stored vectors that no text of any open mind needs.

        Only when every soul is open. Listing them takes 3 s for 280,000, so it is done once after a start,
        and whenever a text went since.
        """
        model = self._embedder.model if self._embedder else None
        if model is None or self._better is not None:
            return
        swept = (
            model,
            tuple(
                (mind.soul.id, mind.vector_queue.dropped_texts) for mind in self._minds
            ),
        )
        if swept == self._swept:
            return
        needed = {
            _key(w.text)
            for mind in self._minds
            for w in await self._compute.run(mind.vector_queue.all_texts)
        }
        async for stored in self._store.vector_keys(model):
            stale = [(m, key) for m, key in stored if key not in needed or m != model]
            if stale:
                await self._store.drop_vectors(stale)
        self._swept = swept

    async def _load(self) -> None:
        try:
            await self._load_models()
        finally:
            self._settled.set()

    async def _load_models(self) -> None:
        wanted, fallback = self._wanted_source, self._fallback_source
        if wanted is not None and await self._loader.run(wanted.is_local):
            embedder = await self._try(wanted)
            if embedder is not None:
                await self._use(embedder, is_fallback=False)
                return
            wanted = None
        if fallback is not None:
            embedder = await self._try(fallback)
            if embedder is not None:
                self.encoder.use_model(embedder)
                await self._use(embedder, is_fallback=self._wanted_source is not None)
        self._settled.set()
        if wanted is not None:
            if self._embedder is not None:
                self._notes["fallback"] = (
                    f"The embedding model {wanted.name} is not on this computer yet;"
                    f" {self._embedder.name}, which comes with SoulMem, answers until it is."
                    " Recall works, somewhat less precisely."
                )
                log.warning(self._notes["fallback"])
            embedder = await self._try(wanted)
            if embedder is None:
                return
            if self._embedder is None or not any(mind.memories for mind in self._minds):
                self._notes.pop("fallback", None)
                await self._use(embedder, is_fallback=False)
            else:
                self._better = embedder
                self._notes["fallback"] = (
                    f"{embedder.name} is loaded and takes over at the next quiet moment."
                )

    async def _try(self, source: ModelSource) -> Embedder | None:
        try:
            return await self._loader.run(source.load)
        except SoulMemError as error:
            log.warning("%s", error.message)
            self._notes["load"] = error.message
            if self._embedder is None:
                self._failed = error.message
            return None

    async def _use(self, embedder: Embedder, *, is_fallback: bool) -> None:
        equipped: set[int] = set()  # minds opened meanwhile are not to be missed
        while (
            mind := next((m for m in self._minds if id(m) not in equipped), None)
        ) is not None:
            equipped.add(id(mind))
            await self._equip(mind, embedder)
        self._embedder, self._is_fallback, self._failed = embedder, is_fallback, None
        self._recent.clear()
        log.info("embedding model: %s, %d dimensions", embedder.name, embedder.dim)
        self.wake()

    def _fail(self, error: SoulMemError) -> None:
        if self._notes.get("embed") != error.message:
            log.error("%s", error.message)
        self._notes["embed"] = error.message

    async def _equip(self, mind: Mind, embedder: Embedder | None) -> None:
        """Tables of the model's size, then what is stored and not in them."""
        if embedder is None:
            return
        if mind.vector_queue.model != embedder.model:  # else they came with an image
            await self._compute.run(
                mind.vector_queue.use_model, embedder.dim, embedder.model
            )
        keys = await self._compute.run(mind.vector_queue.pending_keys)
        taking: asyncio.Task[None] | None = None
        for start in range(0, len(keys), _READ):
            piece = await self._compute.run(
                _with_names, mind, keys[start : start + _READ]
            )
            found = await self._store.vectors(embedder.model, list(piece))
            if taking is not None:
                await taking
            taking = asyncio.create_task(self._compute.run(_take, mind, piece, found))
        if taking is not None:
            await taking

    async def _work_forever(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            if (
                self._is_asked()
            ):  # a sync is followed by a question, and that one should not have to wait
                await asyncio.sleep(_GIVE_WAY_SECONDS)
            try:
                while await self._one_batch():
                    pass
                await self._saved()
                self._notes.pop("embed", None)
            except SoulMemError as error:
                self._fail(error)
                self._quiet.set()
                await asyncio.sleep(_RETRY_SECONDS)
                self._work.set()
            if not self._work.is_set():
                self._quiet.set()

    async def _one_batch(self) -> bool:
        """Embed some of what is wanted; False when nothing is."""
        embedder = self._embedder
        if embedder is None:
            return False
        for mind in list(self._minds):
            wanted = await self._compute.run(
                mind.vector_queue.next_texts, self._batch()
            )
            if (
                wanted
                and (table := mind.vector_queue.text_vectors) is not None
                and table.dim == embedder.dim
            ):
                vectors = await self._vectors(embedder, [w.text for w in wanted])
                await self._compute.run(
                    _take_into, table, mind, list(zip(wanted, vectors, strict=True))
                )
                await (
                    self._saved()
                )  # storing goes on beside the next batch, one batch behind
                stored = {
                    _key(w.text): v.tobytes()
                    for w, v in zip(wanted, vectors, strict=True)
                }
                self._saving = asyncio.create_task(
                    self._store.put_vectors(embedder.model, stored)
                )
                return True
        return False

    async def _saved(self) -> None:
        """Returns once the vectors of the last batch are stored. Raises what storing them raised."""
        saving, self._saving = self._saving, None
        if saving is not None:
            await saving

    def _batch(self) -> int:
        return _SHORT_BATCH if self._is_asked() else _BATCH

    def _is_asked(self) -> bool:
        return time.monotonic() - self._asked < _ASKED_SECONDS

    async def _embed_missing(
        self, embedder: Embedder, texts: Sequence[PendingText]
    ) -> None:
        for start in range(0, len(texts), _READ):
            by_key = {_key(w.text): w.text for w in texts[start : start + _READ]}
            found = await self._store.vectors(embedder.model, sorted(by_key))
            missing = [key for key in by_key if key not in found]
            while missing:
                size = self._batch()
                keys, missing = missing[:size], missing[size:]
                vectors = await self._models.run(
                    embedder.embed, [by_key[k] for k in keys]
                )
                await self._store.put_vectors(
                    embedder.model,
                    {k: v.tobytes() for k, v in zip(keys, vectors, strict=True)},
                )

    async def _vectors(self, embedder: Embedder, texts: Sequence[str]) -> Vector:
        known = {t: self._recent[t] for t in texts if t in self._recent}
        missing = [t for t in dict.fromkeys(texts) if t not in known]
        if missing:
            made = await self._models.run(embedder.embed, missing)
            fresh = dict(zip(missing, made, strict=True))
            known |= fresh
            if embedder is self._embedder:
                self._remember(fresh.items())
        return np.stack([known[t] for t in texts])

    def _remember(self, pairs: Iterable[tuple[str, Vector]]) -> None:
        self._recent.update(pairs)
        while len(self._recent) > _REMEMBERED:
            self._recent.popitem(last=False)


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _with_names(mind: Mind, keys: Sequence[TextKey]) -> dict[str, list[PendingText]]:
    """These texts by the names that the store knows their vectors by."""
    out: dict[str, list[PendingText]] = {}
    for wanted in mind.vector_queue.texts(keys):
        out.setdefault(_key(wanted.text), []).append(wanted)
    return out


def _take(
    mind: Mind, wanted: Mapping[str, Sequence[PendingText]], stored: Mapping[str, bytes]
) -> None:
    for name, data in stored.items():
        vector = np.frombuffer(data, "<f4")
        mind.vector_queue.store_vectors((one, vector) for one in wanted[name])


def _take_into(
    table: VectorTable, mind: Mind, vectors: Sequence[tuple[PendingText, Vector]]
) -> None:
    """Unless another model has taken over meanwhile: its vectors do not mix with these."""
    if mind.vector_queue.text_vectors is table:
        mind.vector_queue.store_vectors(vectors)
