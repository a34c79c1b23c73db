"""Plasticity of edges and their memory vectors: what is used strengthens, what is offered and not used weakens."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import ceil, cos, pi, sqrt

# 0..1, part of <q, m> that an edge loses which was offered and not used. A third of what a first use
# gives (.64), as `eta_d` is a third of `eta`.
IDLE_LOSS = 0.2
# 0..1, least share of an edge that is taught: those of a path that hardly counted need no vector
LEAST_SHARE = 0.1


def growth(length: float) -> float:
    """What one use adds to a memory vector of that length: 2/pi * cos(pi/2 * length), 0 from 1 on (design 4.7)."""
    return 2.0 / pi * cos(pi / 2.0 * min(1.0, length))


def strengthened(length: float, match: float, times: float) -> float:
    """How much of the unit query q a memory vector m gains by `times` uses, >= 0.

    length  of m
    match   <q, m>
    """
    total = 0.0
    for number in range(ceil(times)):
        part = min(1.0, times - number)
        longer = sqrt(max(0.0, length**2 + 2.0 * match * total + total**2))
        total += part * growth(longer)
    return total


def weakened(match: float, rate: float) -> float:
    """How much of q it loses, <= 0: the part `rate`, 0..1, of <q, m>. Nothing across q changes."""
    return -rate * max(0.0, match)


FLOOR = 0.05  # 0..1; a weaker edge is not walked over (design 6)


@dataclass(frozen=True, slots=True)
class PlasticityParams:
    """Rates of learning."""

    # LTP, s += eta * (1 - s) * share. Ten uses of full share raise a new link from 0.1 to 0.69; at one use in
    # 20 turns that exceeds the decay in between, 6 % at S = 300 turns.
    eta: float = 0.1  # 0..1
    # LTD, s *= 1 - eta_d. A third of eta: an edge used every third time it is offered settles at 0.6.
    # One that is never used falls from 0.5 below the floor after 75 times.
    eta_d: float = 0.03  # 0..1
    # 0..1, share of an edge whose two ends were recalled by other paths (Hebb)
    together: float = 0.5
    # An edge counts as offered when its flow was at least this part of that of the strongest used one, which
    # excludes the many weak edges of a hub.
    strong: float = 0.1  # 0..1


@dataclass(frozen=True, slots=True)
class PlasticityUpdate:
    """The update of one recall: the share, 0..1, of each used edge, and the edges offered but not used."""

    used: Mapping[str, float]
    idle: frozenset[str]


def plasticity_update(
    paths: Mapping[str, float],
    together: Collection[str],
    walked: Mapping[str, float],
    params: PlasticityParams,
) -> PlasticityUpdate:
    """Sort the edges of a recall into used and idle.

    paths     flow, >= 0, of each edge over which a recalled memory was reached
    together  edges between two recalled memories
    walked    flow, >= 0, of each edge of the walk, with or without those of `paths`

    The share of an edge is relative to the strongest flow, so that the number of recalled memories does not
    matter.
    """
    peak = max(paths.values(), default=0.0)
    used = {edge: flow / peak if peak > 0.0 else 1.0 for edge, flow in paths.items()}
    for edge in together:
        used[edge] = max(used.get(edge, 0.0), params.together)
    least = params.strong * (peak if peak > 0.0 else max(walked.values(), default=0.0))
    idle = frozenset(
        edge for edge, flow in walked.items() if flow >= least > 0.0 and edge not in used
    )
    return PlasticityUpdate(used, idle)


def potentiated(strength: float, share: float, params: PlasticityParams) -> float:
    """The strength, 0..1, of an edge after a use: s + eta * (1 - s) * share."""
    return min(1.0, strength + params.eta * (1.0 - strength) * share)


def depressed(strength: float, *, keep: bool, params: PlasticityParams) -> float:
    """The strength, 0..1, of an edge that was offered and not used: s * (1 - eta_d).

    With `keep`, for an edge that was used before, it does not fall below the floor: only time does that.
    """
    lower = strength * (1.0 - params.eta_d)
    return max(lower, min(strength, FLOOR)) if keep else lower


def strength_before(strength: float, uses: float, params: PlasticityParams) -> float:
    """The strength, 0..1, before so many uses of full share: the inverse of `potentiated`."""
    remaining_gap = (1.0 - params.eta) ** uses
    return max(0.0, 1.0 - (1.0 - strength) / remaining_gap) if remaining_gap > 0.0 else 0.0
