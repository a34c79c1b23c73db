"""Vectors of texts by their words, for telling kinds of lines apart without an encoder."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from soulmem.language.kinds.kind_lines import kinds
from soulmem.language.kinds.line_kinds import LineKinds, fitted
from soulmem.language.scripts import UNSPACED, is_unspaced

Floats = NDArray[np.float32]

MODEL = "words of examples"
_DIM = 4096
_RUN = re.compile(rf"(?:(?![{UNSPACED}_])\w)+|[{UNSPACED}]+|[^\w\s]")
_STEM = 4  # signs of a word that its forms have in common
_LONGEST = 2000  # signs that are read


def embed(texts: Sequence[str]) -> Floats:
    """Unit vectors, float32[n, 4096]: words and their beginnings, weighed by their rarity in the examples."""
    counts = _counts(texts) * _rarity()
    length = np.linalg.norm(counts, axis=1, keepdims=True)
    return np.asarray(counts / np.where(length > 0, length, 1.0), np.float32)


@cache
def word_kinds() -> LineKinds:
    """The kinds as the words of their examples tell them apart. The first call takes some seconds."""
    return fitted(embed, plain=True)


@cache
def _rarity() -> Floats:
    lines = [line for kind in kinds() for line in kind.lines]
    held = np.count_nonzero(_counts(lines), axis=0)
    return np.asarray(np.log((1 + len(lines)) / (1 + held)), np.float32)


def _counts(texts: Sequence[str]) -> Floats:
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
