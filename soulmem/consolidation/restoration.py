"""Restoration: what was told and kept is clearer from then on, and fades more slowly."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from soulmem.consolidation.plasticity import (
    PlasticityParams,
    potentiated,
    stability_after,
)
from soulmem.domain.micro_units import Retention

# 0..1; what is less visible is read out as `xxx` without a hint of what it was (design 6)
HINTED = 0.25


def is_read_out(state: Retention) -> bool:
    """Whether something of it was told: its words or its gist."""
    return state.visibility >= HINTED


def restored(
    state: Retention,
    elapsed: float,
    moment: datetime,
    turn: float,
    params: PlasticityParams,
) -> Retention:
    """The state after what was read out so clear was kept, at `turn` of the soul's clock.

    Visibility gains as an edge does of full share; S grows at spaced recalls. `elapsed` are the turns since the
    last touch. A clock that was set back moves no touch into the past.
    """
    return replace(
        state,
        visibility=potentiated(state.visibility, 1.0, params),
        stability=stability_after(state.stability, elapsed, params),
        touched=max(moment, state.touched),
        at_turn=max(turn, state.at_turn or 0.0),
    )
