"""How much stronger or weaker an association is after it was used, or was offered and not used."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

FLOOR = 0.05  # 0..1; a weaker edge is cut: nothing is reached over it (design 6)


@dataclass(frozen=True, slots=True)
class PlasticityParams:
    """How fast use teaches."""

    # LTP, s += eta * (1 - s) * share. Ten uses of full share carry a new link from 0.1 to 0.69; at one use in
    # 20 turns that outweighs what fades in between, 6 % at S = 300 turns.
    eta: float = 0.1  # 0..1
    # LTD, s *= 1 - eta_d. A third of eta: an edge that helps every third time it lights up settles at 0.6.
    # One that never does is cut after 75 times, from 0.5.
    eta_d: float = 0.03  # 0..1
    together: float = (
        0.5  # 0..1, share of an edge whose two ends came to mind by other ways (Hebb)
    )
    # An edge counts as offered when it carried at least this part of what the strongest used one did: a hub's
    # hundred faint edges were only there.
    strong: float = 0.1  # 0..1
    spacing: float = 1.8  # S grows by this at a use ..
    spaced: float = 10.0  # .. that comes so many turns after the last one (design 6)
    longest: float = (
        1e6  # turns; S grows no further: no chat lasts so long, and a float has an end
    )


@dataclass(frozen=True, slots=True)
class PlasticityUpdate:
    """What one recall teaches: the share, 0..1, of each edge it used, and which it was offered in vain."""

    used: Mapping[str, float]
    idle: frozenset[str]


def plasticity_update(
    paths: Mapping[str, float],
    together: Collection[str],
    walked: Mapping[str, float],
    params: PlasticityParams,
) -> PlasticityUpdate:
    """Sort the edges of a recall.

    paths     flow >= 0 by edge over which a recalled memory was reached
    together  edges between two recalled memories
    walked    flow >= 0 by edge that the walk went over, those of `paths` among them or not

    The share of an edge is its part of the strongest flow, so that it does not matter how many memories
    came. The order of what is given does not matter.
    """
    peak = max(paths.values(), default=0.0)
    used = {edge: flow / peak if peak > 0.0 else 1.0 for edge, flow in paths.items()}
    for edge in together:
        used[edge] = max(used.get(edge, 0.0), params.together)
    least = params.strong * (peak if peak > 0.0 else max(walked.values(), default=0.0))
    idle = frozenset(
        edge
        for edge, flow in walked.items()
        if flow >= least > 0.0 and edge not in used
    )
    return PlasticityUpdate(used, idle)


def potentiated(strength: float, share: float, params: PlasticityParams) -> float:
    """The strength, 0..1, of an edge after a use: s + eta * (1 - s) * share."""
    return min(1.0, strength + params.eta * (1.0 - strength) * share)


def depressed(strength: float, *, keep: bool, params: PlasticityParams) -> float:
    """The strength, 0..1, of an edge that was offered and not used: s * (1 - eta_d).

    With `keep` it does not fall below the floor by that: what was of use before is lost to time alone.
    """
    lower = strength * (1.0 - params.eta_d)
    return max(lower, min(strength, FLOOR)) if keep else lower


def strength_before(strength: float, uses: float, params: PlasticityParams) -> float:
    """The strength, 0..1, before so many uses of full share: the inverse of `potentiated`."""
    remaining_gap = (1.0 - params.eta) ** uses
    return (
        max(0.0, 1.0 - (1.0 - strength) / remaining_gap) if remaining_gap > 0.0 else 0.0
    )


def stability_after(
    stability: float, elapsed: float, params: PlasticityParams
) -> float:
    """S, in turns, after a use that came `elapsed` turns after the last one: spaced uses last longer."""
    if elapsed < params.spaced:
        return stability
    return max(stability, min(params.longest, stability * params.spacing))
