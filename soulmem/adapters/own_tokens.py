"""Reads texts in their context with a sentence-transformers model and keeps the states of their own tokens."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from soulmem.adapters.model_passes import ModelPasses, Row
from soulmem.kernels.arrays import Float32s
from soulmem.language.passages import grouped, passages
from soulmem.ports.embedder import TextInContext, TokenStates

T = TypeVar("T")

_LEAST = 2  # tokens that are kept of a text, however short
_TRIES = 4  # cuts of a context before it is left out: cut text may split into more tokens
_BEFORE = 4  # a window has one part in so many for what stands before it
_MOST_WINDOWS = 64  # of a text: some 12,000 tokens, beyond which none are read
# No state is kept of these classes of Unicode: punctuation, space, control. On four role-play chats that loses
# nothing, and saves a fifth of the bytes.
_SILENT = "PZC"


@dataclass(frozen=True, slots=True)
class Window:
    """What a model reads at once: a text or a part of it, and where in that its passages begin."""

    text: TextInContext
    starts: tuple[int, ...]


class TokenReader:
    """The token states of one model and prompt."""

    def __init__(self, model: Any, prompt: str, passes: ModelPasses) -> None:
        self._model = model
        self._prompt = prompt
        self._passes = passes
        self._tokenizer: Any = getattr(model, "tokenizer", None)
        self._has_offsets = bool(getattr(self._tokenizer, "is_fast", False))

    def width(self) -> int:
        """Length of a token's state; 0 if the model shows no states of tokens."""
        try:
            text = TextInContext("warm", "up")
            return int(self.read([text])[0].states.shape[1])
        except (
            AttributeError,
            IndexError,
            KeyError,
            NotImplementedError,
            RuntimeError,
            TypeError,
            ValueError,
        ):
            return 0

    def read(self, texts: Sequence[TextInContext]) -> list[TokenStates]:
        """The states of each text; vectors as the model gives them, of any length."""
        windows = [self.windows(text) for text in texts]
        return list(map(_joined, windows, self._read(windows, self._own)))

    def vectors(self, texts: Sequence[str]) -> list[Float32s]:
        """The vector of each text, of any length."""
        windows = [self.windows(TextInContext(text)) for text in texts]
        read = self._read(windows, lambda _, row: _vector(row))
        return list(map(_mean, windows, read))

    def _read(
        self, texts: Sequence[Sequence[Window]], own: Callable[[Window, Row], T]
    ) -> list[list[T]]:
        """What `own` takes of the passes over the windows of each text."""
        fitting = [
            replace(window, text=self._fitting(window.text))
            for window in chain.from_iterable(texts)
        ]
        rows = self._passes.rows([window.text.whole for window in fitting])
        read = map(own, fitting, rows)
        return [list(islice(read, len(windows))) for windows in texts]

    def windows(self, text: TextInContext) -> list[Window]:
        """The text, or where the model cannot read it at once, its parts, each behind what stands before it."""
        said, limit = text.text, self._limit()
        starts = tuple(start for start, _ in passages(said))
        if len(said) <= limit or self._tokenizer is None:
            return [Window(text, starts)]
        written = [said[slice(*bounds)] for bounds in pairwise((*starts, len(said)))]
        read = self._tokenizer(written, add_special_tokens=False, verbose=False)
        lengths = [len(pieces) for pieces in read["input_ids"]]
        added = len(self._tokenizer(self._prompt)["input_ids"])
        if sum(lengths) + added <= limit:
            return [Window(text, starts)]
        room = max(1, limit - added - limit // _BEFORE)
        cuts: list[int] = []  # where the parts begin that are read at once
        sizes: list[float] = []  # their tokens
        for start, passage, length in zip(starts, written, lengths, strict=True):
            count = max(1, -(-length // room))  # a passage may be too long by itself
            cuts += [start + len(passage) * n // count for n in range(count)]
            sizes += [length / count] * count
        out = []
        for first, behind in grouped(sizes, room)[:_MOST_WINDOWS]:
            begin, end = cuts[first], [*cuts, len(said)][behind]
            before = said[cuts[max(0, first - 2)] : begin].strip()
            part = TextInContext(said[begin:end], before if first else text.context)
            inside = (start - begin for start in starts if begin <= start < end)
            out.append(Window(part, tuple(inside)))
        return out

    def _own(self, window: Window, row: Row) -> TokenStates:
        """What the features of one text say of it alone, without the padding of its batch."""
        text = window.text
        real = row["attention_mask"].bool()
        states = row["token_embeddings"][real].float().numpy()
        pieces = row["input_ids"][real].numpy().astype(np.int32)
        spans = self._spans(text, pieces)
        own = self._own_tokens(text, pieces, spans)
        begins = np.zeros(own.size, np.bool_)
        begins[0] = bool(window.starts) and window.starts[0] == 0
        if spans is not None and window.starts:
            starts = np.asarray(window.starts) + self._start(text)
            # A token over the border of two passages belongs to the later one.
            passage = np.searchsorted(starts, spans[own, 1] - 1, side="right")
            begins[1:] = np.diff(passage) > 0
        return TokenStates(
            _vector(row),
            np.ascontiguousarray(states[own]),
            pieces[own],
            begins,
        )

    def _own_tokens(
        self,
        text: TextInContext,
        pieces: NDArray[np.int32],
        spans: NDArray[np.int64] | None,
    ) -> NDArray[np.int64]:
        """Places of the text's own tokens among those of the pass, without punctuation."""
        own: NDArray[np.int64]
        plain: NDArray[np.int64] = np.flatnonzero(~np.isin(pieces, self._tokenizer.all_special_ids))
        if spans is not None:
            read = self._prompt + text.whole
            own = plain[spans[plain, 1] > self._start(text)]
            written = [read[start:end] for start, end in spans[own].tolist()]
        else:
            alone = self._tokenizer(text.text, add_special_tokens=False)["input_ids"]
            own = plain[max(0, plain.size - len(alone)) :]
            written = self._tokenizer.convert_ids_to_tokens(pieces[own].tolist())
        spoken: NDArray[np.int64] = own[[*map(_is_spoken, written)]] if written else own
        if spoken.size >= _LEAST:
            return spoken
        if own.size >= _LEAST:
            return own
        last: NDArray[np.int64] = np.arange(pieces.size)
        if plain.size >= _LEAST:
            last = plain
        return last[-_LEAST:]

    def _start(self, text: TextInContext) -> int:
        """Number of characters before the text in what the model reads."""
        return len(self._prompt) + len(text.whole) - len(text.text)

    def _spans(self, text: TextInContext, pieces: NDArray[np.int32]) -> NDArray[np.int64] | None:
        """Where each token begins and ends in what the model reads, in characters: int64[k, 2].

        None where the tokenizer does not say it of these tokens.
        """
        if not self._has_offsets:
            return None
        split = self._split(text, truncation=True, max_length=self._limit())
        if not np.array_equal(split["input_ids"], pieces):
            return None
        return np.asarray(split["offset_mapping"], np.int64).reshape(-1, 2)

    def _split(self, text: TextInContext, **options: Any) -> Any:
        return self._tokenizer(
            self._prompt + text.whole,
            return_offsets_mapping=self._has_offsets,
            verbose=False,
            **options,
        )

    def _limit(self) -> int:
        return int(self._model.max_seq_length)

    def _fitting(self, text: TextInContext) -> TextInContext:
        """The text with as much of the end of its context as the model can read beside it."""
        excess = 0
        for _ in range(_TRIES):
            if not text.context:
                return text
            split = self._split(text)
            excess = max(0, len(split["input_ids"]) - self._limit())
            if not excess:
                return text
            text = TextInContext(text.text, self._cut(text, split, excess))
        return TextInContext(text.text)

    def _cut(self, text: TextInContext, split: Any, excess: int) -> str:
        """The context without its first `excess` tokens."""
        context = text.context
        if not self._has_offsets:
            return context[len(context) // 2 + 1 :]
        first = len(self._prompt)
        ends = [end - first for _, end in split["offset_mapping"] if end > first]
        return context[ends[min(excess, len(ends)) - 1] :].lstrip()


def _vector(row: Row) -> Float32s:
    return np.asarray(row["sentence_embedding"].float().numpy())


def _joined(windows: Sequence[Window], read: Sequence[TokenStates]) -> TokenStates:
    """The states of a text from those of its windows."""
    if len(read) == 1:
        return read[0]
    return TokenStates(
        _mean(windows, [part.pooled for part in read]),
        np.concatenate([part.states for part in read]),
        np.concatenate([part.pieces for part in read]),
        np.concatenate([part.begins for part in read]),
    )


def _mean(windows: Sequence[Window], vectors: Sequence[Float32s]) -> Float32s:
    """The mean of the windows' vectors by the length of what they say."""
    lengths = [max(1, len(window.text.text)) for window in windows]
    return np.average(vectors, axis=0, weights=lengths).astype(np.float32)


def _is_spoken(token: str) -> bool:
    """Whether there is more to a token than punctuation and space: a letter, a digit or a symbol."""
    return any(unicodedata.category(c)[0] not in _SILENT for c in token)
