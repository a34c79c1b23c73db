"""Start distribution of a walk: the names in a query and the texts that match it best."""

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
    """How names and texts share the start distribution.

    Measured together on LoCoMo, MADial-Bench, role-play, 2Wiki, MuSiQue and HotpotQA; each is flat around its
    value: text_mass .05 to .3, common_mass .1 to .6, texts 10 to 40, sharpness 1.5 to 3 move no set by
    more than a point or two.
    """

    text_mass: float = 0.1  # 0..1, share of all texts together beside a rare name, whatever their number
    # 0..1, the same where even the rarest name is in very many memories
    common_mass: float = 0.6
    common: float = 15.0  # memories that mention a name at which the share is half way between the two
    texts: int = 20  # best texts used
    # a text one standard deviation better gets e^sharpness times the share
    sharpness: float = 2.5


def seeds(
    text_score: Floats,
    visible: Bools,
    concept_rows: Rows,
    document_frequency: NDArray[np.floating],
    params: SeedParams | None = None,
    name_share: Shares | None = None,
) -> tuple[Rows, Shares]:
    """Rows to start at, distinct and ascending, and the share of each: > 0, sum 1. May be empty.

    text_score          float32[n]  `TextScores.own`: with pairs, but without neighbours, which the walk
                                    reaches itself. From texts alone LoCoMo loses 4 points of R@5
    visible             bool[n]     texts that may be used
    concept_rows        uint32[k]   rows of the concepts that the query names
    document_frequency  float[k]    number of memories that mention each; 0: the name is ignored
    name_share            float64[k]  share of the query that names each, > 0; None: equal shares

    The share of a name is inverse to its document frequency (node specificity, HippoRAG,
    https://arxiv.org/abs/2405.14831); that of a text is proportional to exp(sharpness * z), z
    standardised over the visible texts. Texts of equal score get none.
    """
    p = params or SeedParams()
    named = np.flatnonzero(document_frequency > 0)
    texts, pull = _best_texts(text_score, visible, p)
    mass = _text_mass(document_frequency[named], p)
    if not texts.size:
        mass = 0.0
    specific = (1.0 if name_share is None else name_share[named]) / document_frequency[
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
    """Share of the walk that starts at texts: it rises with the frequency of the rarest name."""
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
