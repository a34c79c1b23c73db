"""Restraint: whether a line calls for a memory of this soul, and how much of what fits is given to the prompt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RestraintParams:
    """The bar of the evidence and what stands near the best, at restraint 1.

    Chosen on four role-play chats in two languages; bars fitted to three of them differed by a few percent.
    """

    bar: float = 0.36  # least evidence
    near: float = 0.45  # 0..1, least score of a memory as a share of the best
    # the same at restraint 2, or where a line has no more evidence than it needs
    most_near: float = 0.95
    # Share of the token budget below which what stands less near may come as well: it costs next to nothing.
    cheap: float = 0.05


def evidence(
    matches: Floats,
    idf: Floats,
    usual: Floats,
    rarity: Floats,
    pieces: NDArray[np.int32],
) -> Floats:
    """What a line says of each of m memories that the world does not say as well; float32[m], >= 0.

        log(1 + sum over distinct pieces of: idf * rarity * max(0, match - usual))

    A piece that the line repeats counts once, so length is no evidence.

    matches  float32[q, m]  cosine of each token of the line with its best token of a memory or the one before
    idf      float32[q]     of the pieces in this soul
    usual    float32[q]     cosine that the tokens have with plain lines of anybody
    rarity   float32[q]     of the pieces in such lines
    """
    excess = np.nan_to_num(matches - usual[:, None])
    shares = (idf * rarity)[:, None] * np.maximum(excess, 0.0) / _SCALE
    distinct, place = np.unique(pieces, return_inverse=True)
    highest = np.zeros((distinct.size, matches.shape[1]), np.float32)
    np.maximum.at(highest, place, shares)
    return np.asarray(np.log1p(highest.sum(axis=0)), np.float32)


def line_evidence(
    words: Floats, usual_words: Floats, cosines: Floats, usual_cosines: Floats
) -> float:
    """What a line says of some of m memories that n plain lines do not say as well, without token states.

        log((1 + most words of a memory) / (1 + words of a plain line))
            + .4 * (highest cosine of a memory - cosine of a plain line) / standard deviation of plain lines

    By words and cosines nearly all plain lines stay below what is taken of them, so length is no evidence: a
    long line shares words with them as well. Cosines count only where there are some of either.

    words          float32[m]  idf * rarity of the distinct words that a memory or the one before it shares
    usual_words    float32[n]  the same of plain lines
    cosines        float32[m]  of the line with each memory
    usual_cosines  float32[n]  of the line with each plain line
    """
    most = float(words.max(initial=0.0)) / _WORDS
    out = np.log1p(most) - np.log1p(_usual(usual_words) / _WORDS)
    if cosines.size and usual_cosines.size:
        spread = max(float(usual_cosines.std()), 1e-6)
        out += _DEVIATION * (cosines.max() - _usual(usual_cosines)) / spread
    return float(out)


def _usual(values: Floats) -> float:
    """What nearly all plain lines stay below; 0 without any."""
    return float(np.quantile(values, _USUAL)) if values.size else 0.0


_WORDS = 20.0  # idf * rarity; a word that few texts and no plain line has weighs some 35. 6 to 20 judge alike
_DEVIATION = 0.4  # of a standard deviation of cosines; .3 to 1 judge alike
_USUAL = 0.99  # share of the plain lines
_LEAST_SURE = 1e-3
_SCALE = 6.0  # rarity of a piece that none of some 360 lines has


def bar(
    restraint: float, generosity: float, params: RestraintParams | None = None
) -> float:
    """Least evidence for which a line calls for memories.

    restraint   0 (any line does) .. 2
    generosity  0..1, see `generosity`
    """
    p = params or RestraintParams()
    return p.bar * restraint * generosity


def sureness(times: float) -> float:
    """How surely a line calls for memories that has so many times the evidence it needs: above 0 .. 1."""
    return min(max(times - 1.0, _LEAST_SURE), 1.0)


def nearness(
    restraint: float, sureness: float = 1.0, params: RestraintParams | None = None
) -> float:
    """Least score of a memory as a share of the best one, 0..1; 0 at restraint 0.

    A line that hardly calls for anything brings what is nearest alone.
    """
    p = params or RestraintParams()
    near = p.near + (p.most_near - p.near) * (1.0 - sureness)
    if restraint <= 1.0:
        return near * restraint
    return near + (p.most_near - near) * (restraint - 1.0)


def least_share(
    nearness: float, spent: int, budget: int, params: RestraintParams | None = None
) -> float:
    """The share of the best score that the next memory must have, when with it `spent` of `budget` tokens go.

    Where the budget is far larger than the cost of what is taken, more may come.
    """
    p = params or RestraintParams()
    return nearness * min(1.0, spent / max(p.cheap * budget, 1.0))


def generosity(budget: int, usual_budget: int) -> float:
    """How far the bar stands, 0..1: a request for far more tokens than the soul's budget searches, and gets
    more than what a reply calls for.
    """
    return min(1.0, usual_budget / max(budget, 1))
