"""The fit of lines to situations in standard deviations, on one scale for all models and languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import log

import numpy as np

from soulmem.kernels.arrays import Float32s, Int64s
from soulmem.language.tokens import Tokeniser
from soulmem.retrieval.calibration_texts import EXAMPLES

TEXTS: tuple[str, ...] = ()
for _language in EXAMPLES:
    TEXTS += _language.situations + _language.lines


@dataclass(frozen=True, slots=True)
class Calibration:
    """Mean situation and mean line in a model's vector space, by language; computed once per model.

    Raw cosines are not comparable: among e5 vectors any two texts reach .8, two Chinese ones .85. So the mean
    of its kind and language is subtracted from each vector. The means come from `TEXTS` alone, so this works
    for a soul with one situation. On 84 situations (en, zh, both models) and paraphrases that share no word
    with them, F1 at one threshold for all was .50; .41 for cosines standardised by the usual cosines of either
    text, .06 for raw ones. Removing 2 to 16 common directions as well (Mu, Viswanath 2018,
    https://arxiv.org/abs/1702.01417) changed it by less than .03.
    """

    situations: Float32s  # (languages, dim), mean situation
    lines: Float32s  # (languages, dim), mean line
    deviation: Float32s  # (languages,), > 0, of the cosine of a line and a situation, both centred

    @staticmethod
    def of(vectors: Float32s) -> Calibration:
        """From the unit vectors of `TEXTS`, shape (len(TEXTS), dim)."""
        situations, lines, deviation = [], [], []
        start = 0
        for each in EXAMPLES:
            middle = start + len(each.situations)
            stop = middle + len(each.lines)
            situation_vectors, line_vectors = (
                vectors[start:middle],
                vectors[middle:stop],
            )
            start = stop
            situations.append(situation_vectors.mean(axis=0))
            lines.append(line_vectors.mean(axis=0))
            cosines = _unit(line_vectors - lines[-1]) @ _unit(situation_vectors - situations[-1]).T
            deviation.append(max(float(cosines.std()), 1e-6))
        return Calibration(
            np.asarray(situations, np.float32),
            np.asarray(lines, np.float32),
            np.asarray(deviation, np.float32),
        )

    def fit(
        self, lines: Float32s, situations: Float32s, scenes: Sequence[Float32s] = ()
    ) -> Float32s:
        """Centred cosine of each line and situation, in deviations, float32[lines, situations].

        Both are unit rows, (k, dim). NaN where a row is NaN. Lines that share words with the situation reach
        6 and more, paraphrases 1 to 5; of unrelated lines one in ten reaches 3 with any of 20 situations.

        scenes  for each situation lines of scenes in which it was present, (k, dim), k >= 0; their mean is
                averaged with the situation. Of 32 learned situations (en, zh), a line that shares a word
                with one is then matched in 100 of 100 cases instead of 87, at as many false alarms.
        """
        line_language, situation_language = (
            _nearest(lines, self.lines),
            _nearest(situations, self.situations),
        )
        about = _unit(situations - self.situations[situation_language])
        if any(len(seen) for seen in scenes):
            seen = np.concatenate(list(scenes))
            read = ~np.isnan(seen).any(axis=1)
            sizes = [len(scene_lines) for scene_lines in scenes]
            of = np.repeat(np.arange(len(scenes)), sizes)[read]
            seen = seen[read]
            middle = np.zeros_like(about)
            np.add.at(middle, of, _unit(seen - self.lines[_nearest(seen, self.lines)]))
            about[of] = _unit(about + _unit(middle))[of]
        cosines = _unit(lines - self.lines[line_language]) @ about.T
        return np.asarray(cosines / self.deviation[situation_language], np.float32)

    def between(self, situations: Float32s) -> Float32s:
        """Centred cosine of each two situations, or reactions, in deviations, float32[n, n], symmetric.

        Unit rows, (n, dim). NaN where a row is NaN.
        """
        about = self.centred(situations)
        return np.asarray(about @ about.T, np.float32)

    def centred(self, situations: Float32s) -> Float32s:
        """Rows whose dot products are `between`, float32[n, dim]; for the few pairs that matter of many rows.

        Unit rows, (n, dim). NaN where a row is NaN.
        """
        language = _nearest(situations, self.situations)
        about = _unit(situations - self.situations[language])
        return np.asarray(about / np.sqrt(self.deviation[language])[:, None], np.float32)


# Shared words on the scale of `Calibration.fit`, used where there are no vectors.
# Near lines cover .41 to 1 of a situation's words, others .39 at most (98 of 100, en; .16 in zh).
# 0..1, share of a situation's word weight at which the fit is `level`
_HALF = 0.45
_LEVEL = 3.4  # fit
_SLOPE = 12.0  # fit per share


def word_fit(
    lines: Sequence[Iterable[str]],
    situations: Sequence[Iterable[str]],
    frequency: Callable[[str], int],
    texts: int,
) -> Float32s:
    """As `Calibration.fit`, from tokens: the share of a situation's word weight that each line contains.

    `frequency` gives the number of the soul's `texts` with a token. The neutral texts are counted too, as a
    soul of three memories is too few to estimate rarity.
    """
    weight = rarity(frequency, texts)
    out = np.zeros((len(lines), len(situations)), np.float32)
    line_words = [set(tokens) for tokens in lines]
    for column, tokens in enumerate(situations):
        weights = {token: weight(token) for token in set(tokens)}
        whole = sum(weights.values())
        for row, words in enumerate(line_words):
            shared = sum(weights[token] for token in words & weights.keys())
            out[row, column] = shared / whole if whole else 0.0
    return np.asarray(_LEVEL + _SLOPE * (out - _HALF), np.float32)


def rarity(frequency: Callable[[str], int], texts: int) -> Callable[[str], float]:
    """The weight of a token: its inverse document frequency among the soul's texts and the neutral ones."""
    usual, total = _usual(), texts + len(TEXTS)

    def weight(token: str) -> float:
        occurrences = frequency(token) + usual[token]
        return log(1 + (total - occurrences + 0.5) / (occurrences + 0.5))

    return weight


@cache
def _usual() -> Counter[str]:
    """Number of neutral texts with each token."""
    tokens = Tokeniser().tokens
    counts: Counter[str] = Counter()
    for text in TEXTS:
        counts.update(set(tokens(text)))
    return counts


def _nearest(vectors: Float32s, centres: Float32s) -> Int64s:
    """Index of the nearest centre of each vector, that is its language."""
    return np.asarray(np.argmax(vectors @ _unit(centres).T, axis=1), np.int64)


def _unit(vectors: Float32s) -> Float32s:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, 1e-9), np.float32)
