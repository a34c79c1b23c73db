"""A step of the walk over ordinary words: from the best texts to others that share their rarer words, or have
words of one topic with these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.topic_words import member_terms, topics_of_term
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.term_groups import TermGroups

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


# How a step over words is taken. Restart .2 to .5, and shares of 4 to 10 %, score alike.
_TEXTS = 20  # best texts to start at
# a text one standard deviation better gets e^sharpness times the share
_SHARPNESS = 1.5
_RESTART = 0.3  # as in a walk
# Words in one text lead nowhere; those in more than this share, or `few` texts, lead everywhere.
_COMMON = 0.06
_FEW = 4
# Weight of the text after and before, beside the inverse document frequencies of the words.
_AFTER = 5.0
_BEFORE = 2.5
# Over so many topics the walk goes on, those that most arrives at; each costs a count of its texts.
_TOPICS = 4


@compute_only
def word_bridges(
    mind: Mind,
    context: RecallContext,
    score: Floats,
) -> Floats:
    """What arrives at each row of a walk that goes on from the best texts over their words or to the texts
    beside them; float32[n], >= 0.

    score  float32[n]  standardised text score, -inf where not visible
    """
    arrived = np.zeros(score.size)
    starts = best_rows(score, _TEXTS)
    if not starts.size:
        return arrived.astype(np.float32)
    pull = np.exp(_SHARPNESS * (score[starts] - score[starts[0]]).astype(np.float64))
    pull /= pull.sum()
    incidence = mind.terms.incidence
    counts = incidence.counts(context.visible)
    most = max(_FEW, _COMMON * incidence.windows(context.visible))
    cells = incidence.cells(starts)
    place, column = np.nonzero(cells >= 0)
    terms = cells[place, column]
    is_bridge = (counts >= 2) & (counts <= most)  # by number
    bridging = is_bridge[terms]
    place, terms = place[bridging], terms[bridging]
    total = max(float(np.count_nonzero(context.visible)), 1.0)
    weight = np.log(total / counts[terms])
    beside = mind.neighbours(context.request.chat)
    after, before = beside.after[starts], beside.before[starts]
    degree = np.bincount(place, weight, starts.size).astype(np.float64)
    degree += _AFTER * (after >= 0) + _BEFORE * (before >= 0)
    flow = pull / np.maximum(degree, 1e-9)
    # Two steps over words: to the words, and from each word to all texts that have it.
    distinct, index = np.unique(terms, return_inverse=True)
    at_words = np.bincount(index, flow[place] * weight, distinct.size)
    which, rows = incidence.rows_of(distinct.astype(np.int64), context.visible)
    onward = (1 - _RESTART) ** 2
    topics = [topics_of_term(mind, term) for term in distinct.tolist()]
    # From a word it goes to each text that has it, and as much to its topics.
    ways = counts[distinct] + np.fromiter(map(bool, topics), np.int64, distinct.size)
    going = at_words / ways
    np.add.at(arrived, rows, onward * going[which])
    words, over_topics = _over_topics(mind, context, topics, going, is_bridge)
    which, rows = incidence.rows_of(words, context.visible)
    going = over_topics / (counts[words] + 1.0)
    np.add.at(arrived, rows, onward**2 * going[which])
    step = _RESTART * (1 - _RESTART)
    for neighbours, strength in ((after, _AFTER), (before, _BEFORE)):
        reached = neighbours >= 0
        np.add.at(arrived, neighbours[reached], step * strength * flow[reached])
    return arrived.astype(np.float32)


def _over_topics(
    mind: Mind,
    context: RecallContext,
    topics: Sequence[Sequence[MemoryId]],
    share: Doubles,
    is_bridge: Bools,
) -> tuple[Ints, Doubles]:
    """The words that a walk comes to over topics, int64[k], distinct, and what arrives at each, float64[k].

    topics     for each word that it stands at the topics of this word
    share      float64[words], what goes on to these
    is_bridge  bool[terms], the words that the walk may pass

    A topic leads only to words that occur in an exchange of visible texts with another word of it.
    """
    arriving: dict[MemoryId, float] = {}
    for of_word, going in zip(topics, share.tolist(), strict=True):
        for topic in of_word:
            arriving[topic] = arriving.get(topic, 0.0) + going / len(of_word)
    rows = ((key, mind.row(key)) for key in arriving)
    usable = [k for k, row in rows if row is not None and context.accessible[row]]
    best = sorted(usable, key=lambda key: (-arriving[key], key))[:_TOPICS]
    groups = [member_terms(mind, topic) for topic in best]
    windows = mind.exchange_windows(context.request.chat)
    joined = TermGroups(mind.terms.incidence, groups, context.visible, windows)
    out: dict[int, float] = {}
    for group, topic in enumerate(best):
        terms = joined.members(joined.first + group).terms
        terms = terms[is_bridge[terms]]
        for term in terms.tolist():
            out[term] = out.get(term, 0.0) + arriving[topic] / terms.size
    words = np.fromiter(out, np.int64, len(out))
    return words, np.fromiter(out.values(), np.float64, len(out))
