"""What kind of line a text is, by its likeness to example lines: a ridge on sentence vectors, in closed form.

One ridge for each group of kinds that are told from each other, no list of words. It works in every language of
the encoder. With the kernel exp(sharpness (cos - 1)) of centred vectors both encoders were right more often than
with a plain ridge (`python -m tests.bench.kinds`), which serves where vectors are counts of words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Float32s, Float64s
from soulmem.language.kinds.kind_lines import Kind, kinds
from soulmem.language.segmentation import sentences
from soulmem.language.world_lines import world_scenes

Encode = Callable[[Sequence[str]], Float32s]  # texts to unit vectors, float32[n, dim]

_MOST_LINES = 256  # of one text that are judged
# Of the kernel, how much more the nearest examples count: of kinds that are told from all others, and of those
# that are told from a few, which are nearly alike
_SHARPNESS, _SHARPER = 1.0, 2.0
_STRENGTH = 0.2  # of the ridge; .1 to 1 judge alike
_MIDDLE = 2.2  # log odds of .9: the score of the middle example of a kind, with .5 at the bar
_NARROWEST = 0.1  # of the way from the bar to the middle example
# Share of the world's plain lines that stay below the bar of a kind that matters
_USUAL = 0.97
_WORLD_STEP = 6  # of so many lines of the world one is read: more set no other bar
# Share of the examples of a kind, and of others, that must be told apart, each left out in turn. Sentence
# encoders reach .92, words alone .89.
_TRUSTED = 0.9
_LENT = 2  # of so many lines a kind lends one to another: a fit takes the cube of their number
_UNSURE = 0.49  # a score below .5
KINDS = tuple(kind.name for kind in kinds())
# What a question and its answer may both be about: fear, food, family ..; columns of `KINDS`
THEMES = [place for place, name in enumerate(KINDS) if name.startswith("theme_")]
_OF_ALL = ("bars", "middles", "right")
_OF_A_GROUP = ("columns", "mean", "own", "weights", "base")  # as `_Group` takes them


@dataclass(frozen=True, slots=True)
class _Group:
    """Kinds that are told from each other: columns of scores, vectors of their examples, weights."""

    columns: NDArray[np.int64]  # of the kinds that are judged
    mean: Float64s  # [dim]
    own: Float32s | None  # [examples, dim], centred unit rows; None for a plain ridge
    weights: Float64s  # [examples, kinds], or [dim, kinds]
    base: Float64s  # [kinds]

    def raw(self, vectors: Float32s) -> Float64s:
        """About 1 for a line of the kind, -1 for one of another; [n, kinds]."""
        likeness = _centred(vectors, self.mean)
        if self.own is not None:
            # With float64 on the left each product would convert all examples to float64.
            near = likeness.astype(np.float32) @ self.own.T
            likeness = _kernel(near.astype(np.float64), self.columns)
        return np.asarray(likeness @ self.weights + self.base)


class LineKinds:
    """The kinds of lines as one encoder tells them apart; safe in any thread."""

    def __init__(
        self,
        groups: Sequence[_Group],
        bars: Float64s,
        middles: Float64s,
        right: Float64s,
    ) -> None:
        """`bars` have the score .5, `middles` .9; `right` 0..1, how far examples are told apart; all [kinds]."""
        self._groups = groups
        self._fitted = bars, middles, right
        self._bars = bars
        self._steepness = _MIDDLE / np.maximum(middles - bars, _NARROWEST)
        self._whole = np.array([kind.whole for kind in kinds()])
        self._lesser = _lesser_kinds()
        # What is told apart badly is never sure enough to leave a text out.
        self._most = np.where(self._whole & (right < _TRUSTED), _UNSURE, 1.0)

    @property
    def by_words(self) -> bool:
        """Whether vectors are counts of words, by which kinds are told apart less surely."""
        return self._groups[0].own is None

    def packed(self) -> dict[str, NDArray[Any]]:
        """What was fitted, as arrays by name for `unpacked`; float64 becomes float32."""
        out = {
            name: value.astype(np.float32)
            for name, value in zip(_OF_ALL, self._fitted, strict=True)
        }
        for place, group in enumerate(self._groups):
            for name in _OF_A_GROUP:
                value = getattr(group, name)
                if value is not None:
                    wide = value.dtype == np.float64
                    out[f"{name}_{place}"] = value.astype(np.float32) if wide else value
        return out

    def of_sentences(self, vectors: Float32s) -> Float32s:
        """Calibrated scores of lines, float32[n, kinds] in the order of `KINDS`: .5 and more is one of them."""
        beyond = self._steepness * (self._raw(vectors) - self._bars)
        scores = np.minimum(1.0 / (1.0 + np.exp(-beyond)), self._most)
        return np.asarray(scores, np.float32)

    def centred(self, vectors: Float32s) -> Float32s:
        """Unit vectors for comparing lines: their differences from the mean of all examples."""
        return _centred(vectors, self._groups[0].mean).astype(np.float32)

    def likeliest(self, vectors: Float32s, among: Sequence[str]) -> list[str]:
        """Which of these kinds, of one group, each line is most like, however little."""
        columns = [KINDS.index(name) for name in among]
        best = self._raw(vectors)[:, columns].argmax(axis=1)
        return [among[place] for place in best.tolist()]

    def of_texts(self, vectors: Float32s, counts: Sequence[int]) -> Float32s:
        """Scores of texts by the vectors of their sentences: `counts[i]` rows for text i, which has at least one.

        The best sentence counts; for kinds that are of a whole text the worst. One that says even less does not
        keep a text from being of such a kind: plain talk behind a "Hm." is plain talk.
        """
        return self.gathered(self.of_sentences(vectors), counts)

    def gathered(self, scores: Float32s, counts: Sequence[int]) -> Float32s:
        """Scores of texts by those of their sentences, as `of_texts`."""
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
        best = np.maximum.reduceat(scores, starts, axis=0)
        at_most = scores.copy()
        for kind, lesser in self._lesser:
            at_most[:, kind] = scores[:, [kind, *lesser]].max(axis=1)
        worst = np.minimum(np.minimum.reduceat(at_most, starts, axis=0), best)
        return np.where(self._whole, worst, best).astype(np.float32)

    def _raw(self, vectors: Float32s) -> Float64s:
        raw = np.zeros((len(vectors), len(KINDS)))
        for group in self._groups:
            raw[:, group.columns] = group.raw(vectors)
        return raw


def unpacked(arrays: Mapping[str, NDArray[Any]]) -> LineKinds:
    """The kinds that `LineKinds.packed` gave as these arrays. Raises KeyError if one is missing."""
    groups: list[_Group] = []
    while f"columns_{len(groups)}" in arrays:
        columns, mean, own, weights, base = (
            arrays.get(f"{name}_{len(groups)}") for name in _OF_A_GROUP
        )
        wide = map(_wide, (weights, base))
        groups.append(_Group(columns, _wide(mean), own, *wide))  # type: ignore[arg-type]
    return LineKinds(groups, *(_wide(arrays[name]) for name in _OF_ALL))


def _wide(values: NDArray[Any] | None) -> Any:
    return None if values is None else values.astype(np.float64)


def lines_of(text: str) -> list[str]:
    """The lines of a text that are judged one by one, each once; the text itself where it has none.

    Of a text with very many so many that are spread over it: their vectors would take gigabytes.
    """
    lines = list(dict.fromkeys(sentences(text))) or [text]
    if len(lines) <= _MOST_LINES:
        return lines
    places = np.linspace(0, len(lines) - 1, _MOST_LINES).astype(int)
    return [lines[place] for place in places.tolist()]


@cache
def identity() -> str:
    """Differs where the examples, the world's lines or the way of judging do. The first call reads files."""
    ways = _SHARPNESS, _SHARPER, _STRENGTH, _MIDDLE, _USUAL, _LENT, _TRUSTED
    whole = repr((kinds(), _world(), ways))
    return hashlib.sha256(whole.encode()).hexdigest()[:12]


@cache
def examples() -> tuple[str, ...]:
    """All lines that `fitted` embeds: examples, and the world's plain lines. The first call reads files."""
    own = chain.from_iterable(kind.lines for kind in kinds())
    return tuple(dict.fromkeys((*own, *_world())))


def fitted(encode: Encode, *, plain: bool = False) -> LineKinds:
    """The kinds as this encoder sees them. Blocks: some two seconds beside the vectors of `examples`.

    plain  a plain ridge, for vectors of many dimensions that are mostly zero
    """
    by_name = {kind.name: kind for kind in kinds()}
    groups = []
    bars, middles, right = (np.zeros(len(KINDS)) for _ in range(3))
    world = encode(_world())
    for members in _groups(by_name):
        group, own, others = _fit(members, encode, plain)
        groups.append(group)
        raw = group.raw(world)
        for place, kind in enumerate(members[: len(group.columns)]):
            middle = float(np.median(own[place]))
            bar = (middle + float(np.median(others[place]))) / 2
            if kind.importance is not None and not kind.whole:
                bar = max(bar, float(np.quantile(raw[:, place], _USUAL)))
            column = group.columns[place]
            bars[column], middles[column] = bar, middle
            shares = (own[place] >= bar).mean(), (others[place] < bar).mean()
            right[column] = sum(shares) / 2
    return LineKinds(groups, bars, middles, right)


def _lesser_kinds() -> list[tuple[int, list[int]]]:
    """For each kind of a whole text those of them that matter less."""
    weights = {place: kind.importance or 0.0 for place, kind in enumerate(kinds()) if kind.whole}
    return [
        (place, [other for other, less in weights.items() if less < weight])
        for place, weight in weights.items()
    ]


def _groups(by_name: dict[str, Kind]) -> Iterator[list[Kind]]:
    """Kinds that are told from each other, those first that are judged; each is judged in one group.

    Kinds that are told from all others are mere examples in a group of those that say what they are told from.
    """
    yield [kind for kind in by_name.values() if not kind.against]
    judged: set[str] = set()
    for first in by_name.values():
        if first.against and first.name not in judged:
            group = [by_name[name] for name in sorted({first.name, *first.against})]
            group.sort(key=lambda kind: not kind.against)
            judged.update(kind.name for kind in group if kind.against)
            yield [_with_others(kind, by_name) for kind in group]


def _with_others(kind: Kind, by_name: dict[str, Kind]) -> Kind:
    """The kind with lines of those whose lines are its examples, too."""
    others = chain.from_iterable(by_name[name].lines[::_LENT] for name in kind.also)
    return replace(kind, lines=(*kind.lines, *others))


def _fit(
    members: Sequence[Kind], encode: Encode, plain: bool
) -> tuple[_Group, list[Float64s], list[Float64s]]:
    """The ridge of a group, and what it says of the examples that it was not fitted on: of own, of other kinds."""
    # In the first group nobody says what he is told from, and all are judged
    judged = [kind for kind in members if kind.against] or members
    columns = np.array([KINDS.index(kind.name) for kind in judged], np.int64)
    labels = np.repeat(np.arange(len(members)), [len(kind.lines) for kind in members])
    vectors = encode(list(chain.from_iterable(kind.lines for kind in members)))
    mean = vectors.mean(axis=0, dtype=np.float64)
    own = _centred(vectors, mean).astype(np.float32)  # twice as fast, and as right
    wanted = np.where(labels[:, None] == np.arange(len(members)), 1.0, -1.0)
    # Each kind weighs the same, however many examples it has
    share = (len(labels) / len(members) / np.bincount(labels))[labels]
    base = np.average(wanted, axis=0, weights=share)
    likeness = own @ own.T if plain else _kernel(own @ own.T, columns)
    likeness[np.diag_indices_from(likeness)] += _STRENGTH / share
    inverse = np.linalg.inv(likeness)
    weights = inverse @ (wanted - base)
    alone = wanted - weights / np.diag(inverse)[:, None]  # each left out in turn
    places = range(len(judged))
    weights, base = weights[:, places], base[places]
    return (
        _Group(
            columns,
            mean,
            None if plain else own,
            own.T @ weights if plain else weights,
            base,
        ),
        [alone[labels == place, place] for place in places],
        [alone[labels != place, place] for place in places],
    )


def _kernel(cosines: NDArray[Any], columns: NDArray[np.int64]) -> NDArray[Any]:
    """Likeness of lines in a group that judges these kinds, 1 for the same; in the type of `cosines`."""
    sharpness = _SHARPER if kinds()[int(columns[0])].against else _SHARPNESS
    return np.asarray(np.exp(sharpness * (cosines - 1.0)))


def _centred(vectors: Float32s, mean: Float64s) -> Float64s:
    moved = vectors - mean
    length = np.linalg.norm(moved, axis=1, keepdims=True)
    return np.asarray(moved / np.where(length > 0, length, 1.0))


def _world() -> list[str]:
    """What is said in the world's plain lines, without their speakers."""
    lines = chain.from_iterable(world_scenes(""))
    return [line.partition(": ")[2] for line in lines][::_WORLD_STEP]
