"""KindKeeper: tells the kinds of lines of all open minds' messages, by the model that embeds them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from itertools import chain

import numpy as np

from soulmem.conversation.episodes import spoken
from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.kind_table import Judged
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import Worker, compute_only
from soulmem.engine.vectors.stored_vectors import vector_key
from soulmem.kernels.arrays import Float32s
from soulmem.language.kinds import example_words
from soulmem.language.kinds.known_lines import (
    WAY,
    known_lines,
    packed,
    unpacked,
)
from soulmem.language.kinds.line_kinds import (
    KINDS,
    LineKinds,
    examples,
    fitted,
    identity,
    lines_of,
)
from soulmem.language.segmentation import without_quotes
from soulmem.ports.embedder import Embedder
from soulmem.ports.store import Store

log = logging.getLogger(__name__)


_READ = 64  # messages that are judged before new texts get their vectors
_SHORT = 16  # likewise while queries come
_LINES = 16  # lines that are embedded in one call
_WRITTEN = 500  # vectors of examples in one write
_KEPT = 8  # models whose ridge is kept
_fits: dict[str, LineKinds] = {}  # by model and examples: a fit takes seconds


@dataclass(frozen=True, slots=True)
class _Unread:
    """A memory whose kinds are not known."""

    key: MemoryId
    text: str  # as the memory tells it
    lines: tuple[str, ...]  # of what was said


class KindKeeper:
    """Fits the kinds for each model once, and judges with them. Vectors of examples and scores are stored."""

    def __init__(self, *, store: Store, models: Worker, compute: Worker) -> None:
        """`models` is the thread of all embedders."""
        self._store = store
        self._models = models
        self._compute = compute
        self._fitting = Worker("soulmem-kinds")
        self._is_read = False  # the files of examples
        # Vectors of examples, by the name that they are stored under, until all are made
        self._examples: dict[str, dict[str, Float32s]] = {}

    def stop(self) -> None:
        """Fit no more."""
        self._fitting.stop()

    def judge(self, embedder: Embedder | None) -> LineKinds | None:
        """The kinds as a model tells them, if they are fitted; without a model by words."""
        return _fits.get(_name(embedder)) if self._is_read else None

    async def of_lines(self, embedder: Embedder | None, texts: Sequence[str]) -> Float32s | None:
        """Scores of these texts, float32[n, kinds]; None for no text. Raises EmbedderError.

        Words tell until the kinds of the model are fitted.
        """
        if not texts:
            return None
        judge = self.judge(embedder)
        if judge is None:  # not in the thread that fits, which takes seconds
            return await self._compute.run(example_words.scores_of, texts)
        lines = [lines_of(text) for text in texts]
        found = await self._read(judge, embedder, lines)
        return np.stack([each.scores for each in found])

    async def likeliest(
        self, embedder: Embedder | None, lines: Sequence[str], among: Sequence[str]
    ) -> list[str]:
        """Which of these kinds each line is most like. Raises EmbedderError.

        Words tell until the kinds of the model are fitted.
        """
        if not lines:
            return []
        judge = self.judge(embedder)
        if judge is None:
            return await self._compute.run(example_words.likeliest, lines, among)
        encode = example_words.embed if embedder is None else embedder.embed
        vectors = await self._models.run(encode, list(map(without_quotes, lines)))
        return await self._fitting.run(judge.likeliest, vectors, among)

    async def make(self, embedder: Embedder | None, minds: Sequence[Mind], *, asked: bool) -> bool:
        """Judge some messages, and fit before that; False if all are judged. Raises EmbedderError and StoreError.

        asked  queries come, so a call must be short
        """
        if not self._is_read:
            await self._fitting.run(read_examples)
            self._is_read = True
        name = _name(embedder)
        for mind in minds:
            few = _SHORT if asked else _READ
            unread = await self._compute.run(_unread, mind, name, few)
            if not unread:
                continue
            if name not in _fits:
                await self._fit(name, embedder, asked=asked)
                return True
            judged = await self._stored(name, embedder, unread)
            judged |= await self._judged(
                name, embedder, [each for each in unread if each not in judged]
            )
            await self._compute.run(_take, mind, name, judged)
            return True
        return False

    async def _stored(
        self, name: str, embedder: Embedder | None, unread: Sequence[_Unread]
    ) -> dict[_Unread, Judged]:
        if embedder is None:
            return {}
        found = await self._store.vectors(name, [vector_key(u.text) for u in unread])
        out = {}
        for each in unread:
            judged = _unpacked(found.get(vector_key(each.text), b""), embedder.dim)
            if judged is not None:
                out[each] = judged
        return out

    async def _judged(
        self, name: str, embedder: Embedder | None, unread: Sequence[_Unread]
    ) -> dict[_Unread, Judged]:
        """The stored kinds of these texts."""
        if not unread:
            return {}
        lines = [each.lines for each in unread]
        found = await self._read(_fits[name], embedder, lines)
        if embedder is not None:
            rows = {
                vector_key(each.text): judged.scores.tobytes() + packed(judged.known)
                for each, judged in zip(unread, found, strict=True)
            }
            await self._store.put_vectors(name, rows)
        return dict(zip(unread, found, strict=True))

    async def _read(
        self,
        judge: LineKinds,
        embedder: Embedder | None,
        texts: Sequence[Sequence[str]],
    ) -> list[Judged]:
        """The kinds of texts by their lines; a query waits for at most `_LINES` lines."""
        encode = example_words.embed if embedder is None else embedder.embed
        flat = list(map(without_quotes, chain.from_iterable(texts)))
        vectors = [
            await self._models.run(encode, flat[start : start + _LINES])
            for start in range(0, len(flat), _LINES)
        ]
        counts = [len(lines) for lines in texts]
        return await self._fitting.run(_judge, judge, vectors, counts)

    async def _fit(self, name: str, embedder: Embedder | None, *, asked: bool) -> None:
        """Embed some example lines, or fit if all have vectors."""
        if embedder is None:
            _keep(name, await self._fitting.run(example_words.word_kinds))
            return
        own = _LINES_OF + embedder.model
        if own not in self._examples:
            self._examples = {own: await self._stored_examples(own, embedder.dim)}
        known = self._examples[own]
        missing = [line for line in examples() if line not in known]
        if missing:
            some = missing[: _LINES if asked else 4 * _LINES]
            vectors = await self._models.run(embedder.embed, some)
            known.update(zip(some, vectors, strict=True))
            if len(some) < len(missing):
                return
            for start in range(0, len(known), _WRITTEN):
                lines = list(known)[start : start + _WRITTEN]
                rows = await self._fitting.run(_stored_rows, known, lines)
                await self._store.put_vectors(own, rows)
        _keep(name, await self._fitting.run(fitted, lambda some: _rows(known, some)))
        self._examples.clear()
        log.info("kinds of lines are fitted for %s", embedder.name)

    async def _stored_examples(self, own: str, dim: int) -> dict[str, Float32s]:
        lines = await self._fitting.run(_example_lines)
        stored = await self._store.vectors(own, list(lines))
        rows = {lines[k]: np.frombuffer(row, "<f4") for k, row in stored.items()}
        return {line: row for line, row in rows.items() if row.size == dim}


_LINES_OF = "example lines of "


def is_kept(model: str, name: str, key: str, texts: AbstractSet[str]) -> bool:
    """Whether a row that is stored under `name` says of a model what kind of line one of these texts, or an
    example, is. `read_examples` comes first.
    """
    if name == _scores_of(model):
        return key in texts
    return name == _LINES_OF + model and key in _example_keys()


def _name(embedder: Embedder | None) -> str:
    return _scores_of(example_words.MODEL if embedder is None else embedder.model)


def _scores_of(model: str) -> str:
    """The name under which scores are stored: they are of one model and one set of examples."""
    return f"kinds of {model} {identity()} {WAY}"


def _judge(judge: LineKinds, vectors: Sequence[Float32s], counts: Sequence[int]) -> list[Judged]:
    rows = np.concatenate(vectors)
    scores, rows = judge.of_sentences(rows), judge.centred(rows)
    ends = np.cumsum(counts).tolist()
    texts = (slice(end - count, end) for end, count in zip(ends, counts, strict=True))
    return [
        Judged(whole, known_lines(rows[text], scores[text], by_words=judge.by_words))
        for whole, text in zip(judge.gathered(scores, counts), texts, strict=True)
    ]


def _unpacked(data: bytes, dim: int) -> Judged | None:
    """The stored kinds of a text; None for other bytes."""
    size = 4 * len(KINDS)
    try:
        known = unpacked(data[size:], dim)
    except ValueError:
        return None
    scores = np.frombuffer(data[:size], "<f4") if len(data) >= size else None
    return None if scores is None else Judged(scores, known)


def _rows(known: dict[str, Float32s], lines: Sequence[str]) -> Float32s:
    return np.stack([known[line] for line in lines])


def _stored_rows(known: dict[str, Float32s], lines: Sequence[str]) -> dict[str, bytes]:
    return {vector_key(line): known[line].tobytes() for line in lines}


def _keep(name: str, judge: LineKinds) -> None:
    while len(_fits) >= _KEPT:
        del _fits[next(iter(_fits))]
    _fits[name] = judge


def read_examples() -> None:
    """Read the examples, which the loop must not wait for."""
    examples()
    identity()
    _example_keys()


@cache
def _example_keys() -> frozenset[str]:
    return frozenset(map(vector_key, examples()))


def _example_lines() -> dict[str, str]:
    return {vector_key(line): line for line in examples()}


@compute_only
def _unread(mind: Mind, name: str, most: int) -> list[_Unread]:
    """At most `most` memories whose kinds are not known, the newest first."""
    mind.line_kinds.use_model(name)
    rows = mind.line_kinds.missing(mind.size)[::-1][:most]
    keys = mind.ids_at(rows.tolist())
    memories = (mind.memories[key] for key in keys)
    return [_Unread(m.id, m.text, tuple(lines_of(spoken(m)))) for m in memories]


@compute_only
def _take(mind: Mind, name: str, judged: Mapping[_Unread, Judged]) -> None:
    if mind.line_kinds.model == name:
        mind.line_kinds.take((each.key, each.text, found) for each, found in judged.items())
