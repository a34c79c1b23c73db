"""Vectors of texts by their words, for telling kinds of lines apart without an encoder."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Float32s
from soulmem.language.kinds.kind_lines import KIND_FOLDER, kinds
from soulmem.language.kinds.line_kinds import (
    LineKinds,
    fitted,
    identity,
    lines_of,
    unpacked,
)
from soulmem.language.scripts import UNSPACED, is_unspaced

MODEL = "words of examples"
# What was fitted: `python -m tests.bench.kinds --write` makes it anew
FITTED = KIND_FOLDER / "words.npz"
_DIM = 4096
_RUN = re.compile(rf"(?:(?![{UNSPACED}_])\w)+|[{UNSPACED}]+|[^\w\s]")
_STEM = 4  # signs of a word that its forms have in common
_LONGEST = 2000  # signs that are read


def embed(texts: Sequence[str]) -> Float32s:
    """Unit vectors, float32[n, 4096]: words and their beginnings, weighed by their rarity in the examples."""
    counts = _counts(texts) * _rarity()
    length = np.linalg.norm(counts, axis=1, keepdims=True)
    return np.asarray(counts / np.where(length > 0, length, 1.0), np.float32)


@cache
def word_kinds() -> LineKinds:
    """The kinds as the words of their examples tell them apart: read from `FITTED`, or fitted anew."""
    kept = _kept()
    return fit() if kept is None else unpacked(kept)


def scores_of(texts: Sequence[str]) -> Float32s:
    """Scores of texts by their words, float32[n, kinds]; see `LineKinds.of_texts`. Takes 0.2 ms a line."""
    lines = [lines_of(text) for text in texts]
    vectors = embed(list(chain.from_iterable(lines)))
    return word_kinds().of_texts(vectors, list(map(len, lines)))


def likeliest(lines: Sequence[str], among: Sequence[str]) -> list[str]:
    """Which of these kinds each line is most like by its words; see `LineKinds.likeliest`."""
    return word_kinds().likeliest(embed(lines), among)


def fit() -> LineKinds:
    """Fit the kinds to the words of their examples, which takes some seconds."""
    return fitted(embed, plain=True)


def write() -> Path:
    """Fit the kinds and write what was fitted to `FITTED`, whose path is returned."""
    arrays = {**fit().packed(), "rarity": _rarity_of_examples()}
    np.savez_compressed(FITTED, identity=np.array(_identity()), **arrays)  # type: ignore[arg-type]
    return FITTED


@cache
def _kept() -> Mapping[str, NDArray[Any]] | None:
    """The arrays of `FITTED`; None if examples or settings have changed since it was written."""
    if not FITTED.exists():
        return None
    with np.load(FITTED, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    return arrays if arrays.pop("identity") == _identity() else None


def _identity() -> str:
    """Differs where examples or settings of the fit do."""
    ways = repr((identity(), _DIM, _STEM, _LONGEST, _RUN.pattern))
    return hashlib.sha256(ways.encode()).hexdigest()[:12]


@cache
def _rarity() -> Float32s:
    kept = _kept()
    return _rarity_of_examples() if kept is None else kept["rarity"]


def _rarity_of_examples() -> Float32s:
    lines = [line for kind in kinds() for line in kind.lines]
    held = np.count_nonzero(_counts(lines), axis=0)
    return np.asarray(np.log((1 + len(lines)) / (1 + held)), np.float32)


def _counts(texts: Sequence[str]) -> Float32s:
    out = np.zeros((len(texts), _DIM), np.float32)
    for row, text in zip(out, texts, strict=True):
        for part in set(_parts(text[:_LONGEST].lower())):
            row[zlib.crc32(part.encode()) % _DIM] += 1.0
    return out


def _parts(text: str) -> Iterator[str]:
    """Words with their beginnings; of a script without spaces signs and pairs of signs; marks."""
    for match in _RUN.finditer(text):
        run = match.group()
        if is_unspaced(run):
            yield from run
            yield from map("".join, pairwise(run))
        else:
            yield run
            yield run[:_STEM] + "-"
