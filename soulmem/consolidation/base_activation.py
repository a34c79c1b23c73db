"""Base activation of concepts, independent of the query: mentions and recalls raise it, time lowers it.

As in EMGAS, 2.4 and 5.1, but not stored: the activation is a function of the times of mentions and recalls, so
it does not depend on how often it is read, nor on the order in which they became known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp

import numpy as np

from soulmem.kernels.arrays import Float64s, Int64s

STABILITY = 300.0  # turns; S0 of design 6, as for the edges of a concept
# 0..1, gain of a mention of salience 1, as a share of what is missing to 1
MENTION_GAIN = 0.2
RECALL_GAIN = 0.35  # 0..1, the same for a recall that is learned from
FORGOTTEN = 0.05  # 0..1, below which a concept is forgotten; design 6


@dataclass(frozen=True, slots=True)
class ActivationEvent:
    """A mention or recall of a concept."""

    turn: float  # turns of the soul's clock
    gain: float  # 0..1, share of what is missing to 1


def mention_event(turn: float, salience: float) -> ActivationEvent:
    """A mention; `salience`, 0..1, is how much the text is about the concept."""
    return ActivationEvent(turn, MENTION_GAIN * salience)


def recall_event(turn: float) -> ActivationEvent:
    """A recall that is learned from."""
    return ActivationEvent(turn, RECALL_GAIN)


def base_activations(
    concept: Int64s,
    turns: Float64s,
    gain: Float64s,
    current_turn: float,
    pace: float = 1.0,
) -> Float64s:
    """`base_activation` of many concepts at once, float64[largest concept + 1].

    concept  int64[m]    concept of each event
    at       float64[m]  turns of the soul's clock
    gain     float64[m]  0..1
    """
    turns = np.minimum(turns, current_turn)
    # Sorted by time, then by concept with a small integer type (counting sort): `lexsort` takes twice as long.
    # The order of events of one moment does not matter.
    order = np.argsort(turns)
    small = concept[order].astype(np.min_scalar_type(int(concept.max(initial=0))))
    order = order[np.argsort(small, kind="stable")]
    concept, turns = concept[order], turns[order]
    # log of the share of earlier activation that each event leaves
    kept = np.log1p(-np.minimum(gain[order], 1 - 1e-12))
    upto = np.cumsum(kept)
    last = (
        np.append(np.flatnonzero(concept[1:] != concept[:-1]), concept.size - 1)
        if concept.size
        else concept
    )
    ends = np.zeros(int(concept[-1]) + 1 if concept.size else 0)
    ends[concept[last]] = upto[last]
    remaining_share = np.exp(ends[concept] - upto - pace * (current_turn - turns) / STABILITY)
    return np.asarray(
        np.bincount(concept, weights=gain[order] * remaining_share, minlength=ends.size),
        np.float64,
    )


def base_activation(
    met: Iterable[ActivationEvent],
    current_turn: float,
    pace: float = 1.0,
) -> float:
    """The activation at a turn of the soul's clock, 0..1.

        A' = A * exp(-pace * elapsed / stability)   between two moments
        A' = A + gain * (1 - A)                     at each

    Events are applied in order of time; those of one moment commute. An event later than `current_turn`
    counts as one at `current_turn`. `pace` 0..2 is the soul's forgetting setting: at 0 nothing fades.
    """
    activation, last = 0.0, None
    for event in sorted(met, key=lambda m: m.turn):
        turn = min(event.turn, current_turn)
        if last is not None:
            activation *= exp(-pace * (turn - last) / STABILITY)
        activation += event.gain * (1.0 - activation)
        last = turn
    if last is None:
        return 0.0
    return activation * exp(-pace * (current_turn - last) / STABILITY)
