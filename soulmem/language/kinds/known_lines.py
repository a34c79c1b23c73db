"""The lines of a text that tell something lasting: what a friend would keep of a talk."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Float32s
from soulmem.language.kinds.line_kinds import KINDS

# Evidence from which on a line is kept: by sentence vectors four of five are right, by words half of them
SURE, SURE_BY_WORDS = 1.3, 1.8
# How much the kinds with plain examples say beside `lasting`, whose examples are told in passing
_PLAIN = {"fact": 0.5, "promise": 0.5, "momentous": 0.3}
# What the other lines of a text say counts for the next one so much, and for each further one by half of that: who
# says one thing that lasts says more of it before and after
_NEAR = 0.3
_FURTHER = 0.5
_NOT_AT_ALL, _FULLY = 1.0, 2.0  # evidence of a line whose `sure` is 0, and 1
_HUNDRED = 100.0  # steps of `sure` as it is stored
_PROMISED = 0.5  # score from which on it is a promise
# score from which on it is one of the other kinds, which are told from each other alone
_CLEAR = 0.7
_CHANGED = 0.8  # score from which on it ends what was said before
_NO = 0.5  # score from which on it is a question, or says nothing
_LASTING = KINDS.index("lasting")
_CHANGES = [KINDS.index(kind) for kind in ("changed", "correction")]
_QUESTION, _FILLER = (KINDS.index(kind) for kind in ("question", "filler"))
_NEVER = [_QUESTION, _FILLER]
FACT, PROMISE = "fact", "promise"
TOLD_AS = (FACT, PROMISE, "secret", "gift", "like", "date")
_SAID = [KINDS.index(kind) for kind in _PLAIN]
_WEIGHTS = np.array(list(_PLAIN.values()), np.float32)
_SPECIAL = [KINDS.index(kind) for kind in TOLD_AS[1:]]
_BARS = np.array([_PROMISED if k == PROMISE else _CLEAR for k in TOLD_AS[1:]])
_HEAD = struct.Struct("<HBBB")
_DIM = 512  # of a kept vector at most; longer ones, such as counts of words, are folded
_MOST = 127.0  # in a kept vector
# Differs where other lines are kept, or their places are others: each line of a text counts once, and is judged
# without the quotes round it.
WAY = (
    f"{SURE} {SURE_BY_WORDS} {_PLAIN} {_NEAR} {_FURTHER} {_NOT_AT_ALL} {_FULLY}"
    f" {_PROMISED} {_CLEAR} {_CHANGED} {_NO} once, unquoted"
)


@dataclass(frozen=True, slots=True)
class KnownLine:
    """A line that tells something lasting.

    place       its place among the lines of the text
    told_as     one of TOLD_AS
    corrects    it says that something said before is not so, or no longer
    sure        how clearly it tells something lasting, 0..1
    vector      int8[dim], whose direction counts
    """

    place: int
    told_as: str
    corrects: bool
    sure: float
    vector: NDArray[np.int8]


def known_lines(vectors: Float32s, scores: Float32s, *, by_words: bool) -> tuple[KnownLine, ...]:
    """Those lines of a text that tell something lasting, by vectors [lines, dim] and scores [lines, kinds].

    by_words  the scores are by words, see `LineKinds.by_words`
    """
    out = []
    least = SURE_BY_WORDS if by_words else SURE
    alone = scores[:, _LASTING] + (scores[:, _SAID] * _WEIGHTS).max(axis=1)
    says = np.flatnonzero(scores[:, _FILLER] < _NO)
    evidence = alone.copy()
    evidence[says] += _around(alone[says])
    for place in np.flatnonzero(evidence >= least).tolist():
        of = scores[place]
        if of[_NEVER].max() < _NO:
            beyond = of[_SPECIAL] - _BARS
            told_as = TOLD_AS[int(beyond.argmax()) + 1] if beyond.max() >= 0 else FACT
            corrects = bool(of[_CHANGES].max() >= _CHANGED)
            beyond_none = (float(evidence[place]) - _NOT_AT_ALL) / (_FULLY - _NOT_AT_ALL)
            sure = round(min(max(beyond_none, 0.0), 1.0), 2)
            short = _short(vectors[place])
            out.append(KnownLine(place, told_as, corrects, sure, short))
    return tuple(out)


def _around(evidence: Float32s) -> Float32s:
    """What the other lines of a text add to the evidence of each, float32[lines]; a single line adds to itself."""
    if len(evidence) == 1:
        return _NEAR * evidence
    places = np.arange(len(evidence))
    apart = np.abs(places[:, None] - places)
    share = np.where(apart > 0, _NEAR * _FURTHER ** (apart - 1.0), 0.0)
    return np.asarray(share @ evidence, np.float32)


def packed(lines: Iterable[KnownLine]) -> bytes:
    """The lines as bytes; `unpacked` reads them."""
    return b"".join(
        _HEAD.pack(
            line.place,
            TOLD_AS.index(line.told_as),
            line.corrects,
            round(_HUNDRED * line.sure),
        )
        + line.vector.tobytes()
        for line in lines
    )


def unpacked(data: bytes, dim: int) -> tuple[KnownLine, ...]:
    """The lines that were packed, of vectors that had so many dimensions. Raises ValueError for other bytes."""
    dim = _kept(dim)
    if len(data) % (_HEAD.size + dim):
        raise ValueError(f"{len(data)} bytes are no lines of {dim} dimensions")
    return tuple(_lines(data, dim))


def _lines(data: bytes, dim: int) -> Iterator[KnownLine]:
    for start in range(0, len(data), _HEAD.size + dim):
        place, told_as, corrects, sure = _HEAD.unpack_from(data, start)
        if told_as >= len(TOLD_AS):
            raise ValueError(f"{told_as} is no kind")
        vector = np.frombuffer(data, np.int8, dim, start + _HEAD.size)
        yield KnownLine(place, TOLD_AS[told_as], bool(corrects), sure / _HUNDRED, vector)


def likeness(vectors: Sequence[NDArray[np.int8]]) -> Float32s:
    """Cosines of each with each, float32[n, n]."""
    rows = np.stack(vectors).astype(np.float32)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return np.asarray(rows @ rows.T, np.float32)


def _kept(dim: int) -> int:
    """How many dimensions are kept of so many."""
    return _DIM if dim > _DIM and dim % _DIM == 0 else dim


def _short(vector: Float32s) -> NDArray[np.int8]:
    folded = vector.reshape(-1, _kept(vector.size)).sum(axis=0)
    most = max(float(np.abs(folded).max()), 1e-9)
    return np.asarray(np.round(folded / most * _MOST), np.int8)
