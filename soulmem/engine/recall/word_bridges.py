"""A step of the walk over ordinary words: from the best texts to others that share their rarer words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.retrieval.best import best_rows

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BridgeParams:
    """How a step over words is taken. Restart .2 to .5, and shares of 4 to 10 %, score alike."""

    texts: int = 20  # best texts to start at
    # a text one standard deviation better gets e^sharpness times the share
    sharpness: float = 1.5
    restart: float = 0.3  # as in a walk
    # Words in one text lead nowhere; those in more than this share, or `few` texts, lead everywhere.
    common: float = 0.06
    few: int = 4
    # Weight of the text after and before, beside the inverse document frequencies of the words.
    after: float = 5.0
    before: float = 2.5


@compute_only
def word_bridges(
    mind: Mind,
    context: RecallContext,
    score: Floats,
    params: BridgeParams | None = None,
) -> Floats:
    """What arrives at each row of a walk that goes on from the best texts over their words or to the texts
    beside them; float32[n], >= 0.

    score  float32[n]  standardised text score, -inf where not visible
    """
    p = params or BridgeParams()
    arrived = np.zeros(score.size)
    starts = best_rows(score, p.texts)
    if not starts.size:
        return arrived.astype(np.float32)
    pull = np.exp(p.sharpness * (score[starts] - score[starts[0]]).astype(np.float64))
    pull /= pull.sum()
    incidence = mind.terms.incidence
    counts = incidence.counts(context.visible)
    most = max(p.few, p.common * incidence.windows(context.visible))
    cells = incidence.cells(starts)
    place, column = np.nonzero(cells >= 0)
    terms = cells[place, column]
    bridging = (counts[terms] >= 2) & (counts[terms] <= most)
    place, terms = place[bridging], terms[bridging]
    total = max(float(np.count_nonzero(context.visible)), 1.0)
    weight = np.log(total / counts[terms])
    beside = mind.neighbours(context.request.chat)
    after, before = beside.after[starts], beside.before[starts]
    degree = np.bincount(place, weight, starts.size).astype(np.float64)
    degree += p.after * (after >= 0) + p.before * (before >= 0)
    flow = pull / np.maximum(degree, 1e-9)
    # Two steps over words: to the words, and from each word to all texts that have it.
    distinct, index = np.unique(terms, return_inverse=True)
    at_words = np.bincount(index, flow[place] * weight, distinct.size)
    which, rows = incidence.rows_of(distinct.astype(np.int64), context.visible)
    onward = (1 - p.restart) ** 2
    share = onward * at_words[which] / counts[distinct[which]]
    np.add.at(arrived, rows, share)
    step = p.restart * (1 - p.restart)
    for neighbours, strength in ((after, p.after), (before, p.before)):
        reached = neighbours >= 0
        np.add.at(arrived, neighbours[reached], step * strength * flow[reached])
    return arrived.astype(np.float32)
