"""Where does a walk start? The names a cue holds and the texts that answer it best, as one distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.retrieval.best import best_rows
from soulmem.retrieval.fusion import standardised

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Rows = NDArray[np.uint32]
Shares = NDArray[np.float64]


_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, slots=True)
class SeedParams:
    """How names and texts share the start.

    Measured together on LoCoMo, MADial-Bench, role-play, 2Wiki, MuSiQue and HotpotQA; each is flat around its
    value: text_mass .05 to .3, common_mass .1 to .6, texts 10 to 40, sharpness 1.5 to 3 move no set by
    more than a point or two.
    """

    text_mass: float = 0.1  # 0..1, of all texts together beside a rare name; fixed, whatever their number
    common_mass: float = 0.6  # 0..1, the same when even the rarest name of the cue is in very many memories
    common: float = (
        15.0  # memories that mention a name when it is half way between the two
    )
    texts: int = 20  # best texts that take part
    sharpness: float = (
        2.5  # a text one standard deviation better starts e^sharpness times as much
    )


def seeds(
    text_score: Floats,
    visible: Bools,
    concept_rows: Rows,
    document_frequency: NDArray[np.floating],
    params: SeedParams | None = None,
    loudness: Shares | None = None,
) -> tuple[Rows, Shares]:
    """Rows to start at, distinct and ascending, and how much starts at each: > 0, sum 1. May be empty.

    text_score          float32[n]  `fusion.own_score`: with pairs, but without neighbours, where the walk
                                    goes by itself. From texts alone LoCoMo loses 4 points of R@5
    visible             bool[n]     texts that may take part
    concept_rows        uint32[k]   rows of the concepts whose names the cue holds
    document_frequency  float[k]    how many memories mention each; a name that leads nowhere (0) is left out
    loudness            float64[k]  how much of the cue names each, > 0; all alike when None

    A name starts in inverse proportion to how many memories mention it (node specificity, HippoRAG,
    https://arxiv.org/abs/2405.14831); a text by exp(sharpness * z), z standardised over the visible texts.
    Texts that are all alike say nothing.
    """
    p = params or SeedParams()
    named = np.flatnonzero(document_frequency > 0)
    texts, pull = _best_texts(text_score, visible, p)
    mass = _text_mass(document_frequency[named], p)
    if not texts.size:
        mass = 0.0
    specific = (1.0 if loudness is None else loudness[named]) / document_frequency[
        named
    ]
    share = np.concatenate(
        [(1.0 - mass) * specific / max(float(specific.sum()), _TINY), mass * pull]
    )
    rows, which = np.unique(
        np.concatenate([concept_rows[named], texts]), return_inverse=True
    )
    total = np.bincount(which, weights=share, minlength=rows.size)
    rows, total = rows[total > 0], total[total > 0]
    return rows.astype(np.uint32), total / max(float(total.sum()), _TINY)


def _text_mass(document_frequency: NDArray[np.floating], p: SeedParams) -> float:
    """How much of the walk starts at texts: the less the names pick out, the more."""
    if not document_frequency.size:
        return 1.0
    spread = (float(document_frequency.min()) / p.common) ** 2
    return p.text_mass + (p.common_mass - p.text_mass) * spread / (1.0 + spread)


def _best_texts(
    score: Floats, visible: Bools, p: SeedParams
) -> tuple[NDArray[np.int64], Shares]:
    """Rows of the best texts and their shares, sum 1."""
    among = np.full(score.shape, -np.inf, np.float32)
    np.copyto(among, score, where=visible)
    best = best_rows(among, p.texts)
    z = standardised(score, visible, best)
    if not best.size or z[0] <= 0:
        return np.zeros(0, np.int64), np.zeros(0)
    pull = np.exp(p.sharpness * (z - z[0]).astype(np.float64))
    return best, pull / pull.sum()
