"""EmbeddingService: gives texts their vectors, with models loaded in the background."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from soulmem.conversation.importance import importance_by_words, importances
from soulmem.domain.errors import SoulMemError
from soulmem.domain.ids import Owner
from soulmem.domain.phrases import Wording
from soulmem.engine.api.results import EmbedderHealth
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.vector_queue import PendingText
from soulmem.engine.runtime.worker import Worker
from soulmem.engine.vectors import model_notes
from soulmem.engine.vectors.encoder import ModelSource as ModelSource
from soulmem.engine.vectors.encoder import SituationEncoder
from soulmem.engine.vectors.kind_keeper import KindKeeper
from soulmem.engine.vectors.passes import Passes
from soulmem.engine.vectors.stored_vectors import (
    next_texts,
    take_made,
    take_stored,
    texts_by_key,
    vector_key,
)
from soulmem.engine.vectors.token_keeper import TokenKeeper
from soulmem.engine.vectors.vector_sweep import VectorSweep
from soulmem.engine.vectors.world_background import Usual
from soulmem.engine.vectors.world_keeper import WorldKeeper
from soulmem.language.world_lines import world_language
from soulmem.ports.embedder import Embedder, TokenStates
from soulmem.ports.store import Store
from soulmem.ports.token_store import TokenStore

log = logging.getLogger(__name__)

Vector = NDArray[np.float32]
NO_MODEL = "none"  # state and name where the user wants no model
_BATCH = 16  # texts in one call while no queries come
_SHORT_BATCH = 1  # texts in one call while queries come: a query waits for one call
_GIVE_WAY_SECONDS = 0.25  # before new texts are embedded while queries come
_ASKED_SECONDS = 30.0  # after a query, in which more queries are expected
_READ = 1000  # stored vectors read at once
_RETRY_SECONDS = 5.0  # after a failure of the store or the model


class EmbeddingService:
    """Embeds the texts of all open minds and of queries; the only caller of embedders.

    Until the wanted model is loaded, a fallback answers. All models share one thread, and texts
    are embedded in small batches, so a query waits for one batch at most.
    """

    def __init__(
        self,
        *,
        store: Store,
        compute: Worker,
        wanted: ModelSource | None,
        fallback: ModelSource | None,
        tokens: TokenStore | None = None,
        judges_lines: bool = False,
    ) -> None:
        """`tokens` None: no token states are made. `judges_lines`: whether kinds of lines are told."""
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
        self._notes: dict[str, Wording] = {}
        self._asked = float("-inf")  # monotonic seconds of the last query
        self._passes = Passes(self._models)
        self.tokens = TokenKeeper(store=tokens, compute=compute, passes=self._passes)
        self._minds: list[Mind] = []
        self._work = asyncio.Event()
        # Set when some model is in use, or none can be loaded.
        self._settled = asyncio.Event()
        # Set when nothing is pending or being embedded.
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._loading = asyncio.Lock()  # held while the wanted model is fetched or loaded
        self._tasks: list[asyncio.Task[None]] = []
        self._saving: asyncio.Task[None] | None = None
        self.encoder = SituationEncoder(fallback)
        self._worlds = WorldKeeper(store=tokens, models=self._models)
        self._kinds = KindKeeper(store=store, models=self._models, compute=compute)
        self._judges_lines = judges_lines
        self._sweep = VectorSweep(store=store, compute=compute)

    def start(self) -> None:
        """Start to load the models and to embed, in the background."""
        self._tasks = [
            asyncio.create_task(self._load()),
            asyncio.create_task(self._work_forever()),
        ]

    async def stop(self) -> None:
        """Stop; texts that are pending get their vectors after the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, self._saved(), return_exceptions=True)
        await self.tokens.close()
        await self._worlds.close()
        self._quiet.set()  # release those who wait for the work
        self._models.stop()
        self.encoder.stop()
        self._loader.stop()
        self._kinds.stop()

    def health(self) -> EmbedderHealth:
        """State, model and dimension for `GET /v1/health`."""
        source = self._wanted_source or self._fallback_source
        if self._embedder is not None:
            state = "error" if "embed" in self._notes else "ok"
            model = self._embedder
            return EmbedderHealth(state, model.name, model.dim, self._is_fallback, model.prompt)
        if source is None:
            return EmbedderHealth(NO_MODEL, NO_MODEL, None, False)
        if self._failed is not None:
            return EmbedderHealth("error", source.name, None, False)
        return EmbedderHealth("loading", source.name, None, False)

    def notes(self) -> tuple[Wording, ...]:
        """Messages to the user about the models."""
        notes = list(self._notes.values())
        if self.tokens.note is not None:
            notes.append(self.tokens.note)
        if self._embedder is not None and self._embedder.lacks_prompt:
            notes.append(model_notes.lacks_prompt(self._embedder.name))
        return tuple(notes)

    async def ready(self) -> None:
        """Wait until some model is in use, or none can be loaded."""
        await self._settled.wait()

    async def embed_query(self, texts: Sequence[str]) -> Vector | None:
        """Unit vectors of `texts`, shape (len(texts), dim); None without a model or if it fails."""
        embedder = self._embedder
        self._asked = time.monotonic()
        if embedder is None or not texts:
            return None
        try:
            return await self._passes.vectors(
                embedder, texts, with_tokens=self.tokens.serves(embedder)
            )
        except SoulMemError as error:
            self._fail(error)
            return None

    async def query_states(self, texts: Sequence[str]) -> list[TokenStates] | None:
        """Token states of `texts`, from the pass of `embed_query`; None where there are none or it fails."""
        embedder = self._embedder
        self._asked = time.monotonic()
        if embedder is None or not texts or not self.tokens.serves(embedder):
            return None
        try:
            return await self._passes.states(embedder, texts)
        except SoulMemError as error:
            self._fail(error)
            return None

    async def usual(self, states: TokenStates, language: str) -> Usual | None:
        """How plain chat lines in a language, see `world_language`, match these states.

        None while the states of these lines are not made yet, and without a model that has states.
        """
        embedder = self._embedder
        if embedder is None or not self.tokens.serves(embedder):
            return None
        if self._worlds.need(language):
            self.wake()
        try:
            return await self._worlds.usual(embedder, states, language)
        except SoulMemError as error:
            self._fail(error)
            return None

    async def kinds(self, texts: Sequence[str]) -> Vector | None:
        """How surely each text is of each kind of line, float32[n, kinds] in the order of `line_kinds.KINDS`.

        Words tell until the kinds of the model are fitted. None for no text, and if the model fails.
        """
        try:
            return await self._kinds.of_lines(self._embedder, texts)
        except SoulMemError as error:
            self._fail(error)
            return None

    async def importance(self, text: str) -> float | None:
        """How much a text matters by the kinds of its lines, 0..1; None where no lines are judged.

        Words tell where the model fails.
        """
        if not self._judges_lines:
            return None
        scores = await self.kinds([text])
        if scores is None:
            return await self._compute.run(importance_by_words, text)
        return round(float(importances(scores)[0]), 4)

    async def likeliest(self, lines: Sequence[str], among: Sequence[str]) -> list[str] | None:
        """Which of these kinds, told from each other, each line is most like; None if the model fails."""
        try:
            return await self._kinds.likeliest(self._embedder, lines, among)
        except SoulMemError as error:
            self._fail(error)
            return None

    async def seconds_per_text(self, texts: Sequence[str]) -> float:
        """Seconds that embedding takes for each of these texts, measured; 0 without a model or texts."""
        embedder = self._embedder
        if embedder is None or not texts:
            return 0.0
        began = time.perf_counter()
        await self._models.run(embedder.embed, list(texts))
        return (time.perf_counter() - began) / len(texts)

    async def add_mind(self, owner: Owner, mind: Mind) -> None:
        """Load the stored vectors of a mind that was opened, and embed its texts from now on."""
        self.tokens.register(owner, mind)
        self._minds.append(mind)
        await self._equip(mind, self._embedder)
        self.wake()

    def remove_mind(self, mind: Mind) -> None:
        """Embed the texts of this mind no longer."""
        self._minds = [other for other in self._minds if other is not mind]

    @property
    def is_quiet(self) -> bool:
        """Whether no text is being embedded: none is pending, or none can be at present."""
        return self._quiet.is_set()

    @property
    def has_better_model(self) -> bool:
        """Whether `switch_model` has a model to change to."""
        return self._better is not None

    def wake(self) -> None:
        """Start to embed: some mind has new texts."""
        self._quiet.clear()
        self._work.set()

    async def wait_pending(self) -> None:
        """Wait until every text of every open mind has its vector and its kinds, or the model failed."""
        await self._settled.wait()
        if self._embedder is not None or self._is_without_model:
            self.wake()
            await self._quiet.wait()

    @property
    def _is_without_model(self) -> bool:
        """Whether none is wanted, so that words alone tell the kinds of lines."""
        return self._wanted_source is None and self._fallback_source is None

    async def switch_model(self) -> bool:
        """Idle work: once the wanted model is loaded, embed all texts with it, then use it.

        True if the model was changed.
        """
        better = self._better
        if better is None:
            return False
        for mind in list(self._minds):
            texts = await self._compute.run(mind.vector_queue.all_texts)
            await self._embed_missing(better, mind, texts)
        self._embedder, self._better, self._is_fallback = better, None, False
        self._notes.pop("fallback", None)
        self._passes.use(better)
        for mind in list(self._minds):
            await self._equip(mind, better)
        log.info("embedding model is now %s", better.name)
        self.wake()
        return True

    async def lacks_wanted(self) -> bool:
        """Whether the wanted model could not be loaded, once that was tried; False where none is wanted."""
        await asyncio.wait(self._tasks[:1])
        return self._wanted_source is not None and self._lacks_wanted

    async def try_again(self) -> bool:
        """Load the wanted model, which may be on this computer by now; whether it is in use already.

        False: it takes over at the next quiet moment, see `switch_model`. Raises SoulMemError if it cannot be
        loaded.
        """
        wanted = self._wanted_source
        await self._settled.wait()
        async with self._loading:
            if wanted is not None and self._lacks_wanted:
                await self._take(await self._loader.run(wanted.load))
            return self._better is None

    @property
    def _lacks_wanted(self) -> bool:
        """Whether the wanted model is neither in use nor about to be."""
        return self._better is None and (self._embedder is None or self._is_fallback)

    async def drop_unused_vectors(self) -> None:
        """Idle work: delete stored vectors that no text of any open mind needs; only while every soul is open."""
        if self._embedder is not None and self._better is None:
            await self._sweep.run(self._embedder.model, self._minds)

    async def _load(self) -> None:
        try:
            await self._load_models()
        finally:
            self._settled.set()

    async def _load_models(self) -> None:
        """Use the wanted model if it is local, else the fallback until the wanted one is loaded."""
        wanted, fallback = self._wanted_source, self._fallback_source
        if wanted is not None and await self._loader.run(wanted.is_local):
            embedder = await self._loaded(wanted)
            if embedder is not None:
                await self._use(embedder, is_fallback=False)
                return
            wanted = None
        if fallback is not None:
            embedder = await self._loaded(fallback)
            if embedder is not None:
                self.encoder.use_model(embedder)
                await self._use(embedder, is_fallback=self._wanted_source is not None)
        self._settled.set()
        if wanted is not None:
            await self._download(wanted)

    async def _download(self, wanted: ModelSource) -> None:
        """Load a model that is not on this computer yet; it is used at once if no mind has memories."""
        if self._embedder is not None:
            self._notes["fallback"] = model_notes.is_to_come(wanted.name, self._embedder.name)
            log.warning(self._notes["fallback"])
        async with self._loading:
            embedder = await self._loaded(wanted) if self._lacks_wanted else None
            if embedder is not None:
                await self._take(embedder)

    async def _take(self, embedder: Embedder) -> None:
        """Use the wanted model, which was loaded: at once if no mind has memories, else soon."""
        self._notes.pop("load", None)
        if self._embedder is None or not any(mind.memories for mind in self._minds):
            self._notes.pop("fallback", None)
            await self._use(embedder, is_fallback=False)
        else:
            self._better = embedder
            self._notes["fallback"] = model_notes.waits(embedder.name)

    async def _loaded(self, source: ModelSource) -> Embedder | None:
        """The model of the source; None, with a note for the user, if loading fails."""
        try:
            return await self._loader.run(source.load)
        except SoulMemError as error:
            log.warning("%s", error.message)
            self._notes["load"] = error.wording
            if self._embedder is None:
                self._failed = error.message
            return None

    async def _use(self, embedder: Embedder, *, is_fallback: bool) -> None:
        """Use this model from now on, once all open minds have its stored vectors."""
        equipped: set[int] = set()  # ids of minds; more may be opened meanwhile
        while minds := [m for m in self._minds if id(m) not in equipped]:
            equipped.add(id(minds[0]))
            await self._equip(minds[0], embedder)
        self._embedder, self._is_fallback, self._failed = embedder, is_fallback, None
        self._passes.use(embedder)
        log.info("embedding model: %s, %d dimensions", embedder.name, embedder.dim)
        self.wake()

    def _fail(self, error: SoulMemError) -> None:
        if self._notes.get("embed") != error.wording:
            log.error("%s", error.message)
        self._notes["embed"] = error.wording

    async def _equip(self, mind: Mind, embedder: Embedder | None) -> None:
        """Give the mind tables of the model's size if it has none, and the stored vectors it lacks."""
        if embedder is None:
            return
        if mind.vector_queue.model != embedder.model:  # else they came with a snapshot
            await self._compute.run(mind.vector_queue.use_model, embedder.dim, embedder.model)
        await self.tokens.attach(mind, embedder)
        keys = await self._compute.run(mind.vector_queue.pending_keys)
        # A pipeline: while vectors of a piece are taken in, those of the next are read, and keys of the third made
        asked, read = dict[str, list[PendingText]](), dict[str, list[PendingText]]()
        found: Mapping[str, bytes] = {}
        for start in range(0, len(keys) + 2 * _READ, _READ):
            piece = keys[start : start + _READ]
            coming, stored, _ = await asyncio.gather(
                self._compute.run(texts_by_key, mind, piece),
                self._store.vectors(embedder.model, list(asked)),
                self._compute.run(take_stored, mind, read, found),
            )
            asked, read, found = coming, asked, stored

    async def _work_forever(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            if self._is_asked():  # a sync is followed by a query, which should not wait
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
        """Embed one batch of pending texts, vectors before mere states; False if there are none."""
        embedder = self._embedder
        if embedder is None:
            return self._is_without_model and await self._one_batch_of_kinds()
        for mind in list(self._minds):
            wanted, few = await self._compute.run(next_texts, mind, self._batch())
            if (
                wanted
                and (table := mind.vector_queue.text_vectors) is not None
                and table.dim == embedder.dim
            ):
                tokens = mind.vector_queue.tokens
                self._note_language(wanted[0].text)
                vectors, states = await self.tokens.read(embedder, tokens, wanted, few=few)
                await self._compute.run(
                    take_made, table, mind, list(zip(wanted, vectors, strict=True))
                )
                # Vectors are stored while the next batch is embedded.
                await self._saved()
                stored = {
                    vector_key(w.text): v.tobytes() for w, v in zip(wanted, vectors, strict=True)
                }
                self._saving = asyncio.create_task(self._store.put_vectors(embedder.model, stored))
                await self.tokens.keep(mind, tokens, wanted, states)
                return True
        if await self._one_batch_of_states(embedder):
            return True
        if await self._one_batch_of_kinds():
            return True
        if not self.tokens.serves(embedder):
            return False
        return await self._worlds.make(embedder, self._batch())

    async def _one_batch_of_states(self, embedder: Embedder) -> bool:
        """Make states of texts that have only a vector: from an older version, or restored."""
        for mind in list(self._minds):
            wanted, more = await self.tokens.missing(mind, self._batch())
            if wanted:
                tokens = mind.vector_queue.tokens
                _, states = await self.tokens.read(embedder, tokens, wanted)
                await self.tokens.keep(mind, tokens, wanted, states)
            if wanted or more:
                return True
        return False

    async def _one_batch_of_kinds(self) -> bool:
        """Judge what kinds of lines some messages have; False if all are judged."""
        if not self._judges_lines:
            return False
        minds = list(self._minds)
        return await self._kinds.make(self._embedder, minds, asked=self._is_asked())

    async def _saved(self) -> None:
        """Wait until the vectors of the last batch are stored. Raises what storing them raised."""
        saving, self._saving = self._saving, None
        if saving is not None:
            await saving

    def _note_language(self, text: str) -> None:
        """From now on the world background of the language of this text is needed."""
        if self._worlds.need(world_language(text)):
            self.wake()

    def _batch(self) -> int:
        return _SHORT_BATCH if self._is_asked() else _BATCH

    def _is_asked(self) -> bool:
        return time.monotonic() - self._asked < _ASKED_SECONDS

    async def _embed_missing(
        self, embedder: Embedder, mind: Mind, texts: Sequence[PendingText]
    ) -> None:
        """Store the vectors and token states of a model that the mind does not use yet."""
        tokens = await self.tokens.table(mind, embedder)
        for start in range(0, len(texts), _READ):
            by_key = {vector_key(w.text): w for w in texts[start : start + _READ]}
            stored = await self._store.vectors(embedder.model, sorted(by_key))
            missing = [key for key in by_key if key not in stored]
            while missing:
                size = self._batch()
                keys, missing = missing[:size], missing[size:]
                wanted = [by_key[key] for key in keys]
                vectors, states = await self.tokens.read(embedder, tokens, wanted)
                await self._store.put_vectors(
                    embedder.model,
                    {k: v.tobytes() for k, v in zip(keys, vectors, strict=True)},
                )
                await self.tokens.keep(mind, tokens, wanted, states)
