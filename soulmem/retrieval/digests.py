"""When a digest is recalled: how well its period fits what is asked, and how strong a cue it needs."""

from __future__ import annotations

from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.digests import Period

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]


# How strong a cue brings a digest that nobody asks for by its time (design 8): see `cue_strengths`.
LEAST = {
    Period.HIGHLIGHT: 0.0,
    Period.HOUR: 0.0,
    Period.DAY: 0.0,
    Period.WEEK: 0.5,
    Period.MONTH: 1.0,
    Period.CHAT: 1.0,
    Period.YEAR: 1.5,
}
_DOUBLING = 0.25  # added for each doubling of its age beyond a month, at forgetting 1
_MONTH = 30.0  # days
WORD = 1.5  # strength of a rare word that a digest without messages shares with the cue
SCARCE = 3.0  # added where it costs a large share of the token budget, at restraint 1
MOST = 3.0  # standard deviations that one message counts at most
FEW = 2.0  # messages that fit not at all, by which the mean of a digest with few is drawn to 0
ALIKE = 0.5  # least share of its period in the time asked for, or of that in its period


def cue_strengths(scores: Floats, messages: Ints) -> Doubles:
    """How well a cue fits each of k digests as a whole, by the messages that it tells; float64[k].

        sum(min(score, MOST)) / (messages + FEW)

    scores    float32[m]  standard deviations that each message fits better than memories usually do: first
                          those of the first digest, then those of the next
    messages  int64[k]    how many each digest tells; they sum to m

    A cue that fits one message alone, however well, means that message, and few messages say little of a day.
    """
    bounded = np.clip(scores, -MOST, MOST)
    digest = np.repeat(np.arange(messages.size), messages)
    total = np.bincount(digest, weights=bounded, minlength=messages.size)
    return np.asarray(total / (messages + FEW), np.float64)


def needed_cues(least: Doubles, age_days: Doubles, forgetting: float) -> Doubles:
    """How strong a cue digests of these ages need, of periods that need at least so much; float64[k]."""
    doublings = np.log2(np.maximum(age_days, 1.0) / _MONTH)
    return least + _DOUBLING * forgetting * np.maximum(doublings, 0.0)


def time_fit(
    digest: tuple[datetime, datetime], asked: tuple[datetime, datetime]
) -> tuple[float, float]:
    """The share of a digest's period that lies in the time asked for, and the share of that time in its period.

    Spans from (inclusive), to (exclusive).
    """
    start, end = max(digest[0], asked[0]), min(digest[1], asked[1])
    shared = max(0.0, (end - start).total_seconds())
    return (
        shared / max((digest[1] - digest[0]).total_seconds(), 1.0),
        shared / max((asked[1] - asked[0]).total_seconds(), 1.0),
    )
