"""Ease: what hangs on a memory in mind comes more easily, and so does what came to mind again and again.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.brought import lived_edges
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.runtime.worker import compute_only

_FADES = 4.0  # exchanges after which a memory in mind makes others come 1 / e as easily
_OVER = 12  # exchanges after which it makes none
# A link of this strength makes a memory come half as easily as the strongest; it is that of one reply together.
_HALF = 0.1
# A memory that came in so many exchanges comes as easily as one that the strongest link primes by a third. As many
# activations promote a memory.
_PRACTISED = 4
_PRACTICE = 1 / 3


@compute_only
def ease_of(mind: Mind, rows: Sequence[int], primed: Mapping[int, float]) -> NDArray[np.float64]:
    """How much more easily than by its text each of these rows comes to mind, float64[m], 0..1."""
    out = []
    for row in rows:
        usage = mind.recalls.usage(mind.id_at(row))
        times = 0 if usage is None else usage.exchanges()
        practice = _PRACTICE * min(times / _PRACTISED, 1.0)
        out.append(max(primed.get(row, 0.0), practice))
    return np.array(out)


@compute_only
def primed_rows(mind: Mind, context: RecallContext) -> dict[int, float]:
    """How much the replies of the last exchanges make each row come more easily, 0..1; other rows are left out."""
    working = mind.recalls.working
    if working is None:
        return {}
    turn = mind.lived_turns(context.extra_turns)
    active = [(mind.row(a.memory), a.turn) for a in working.recalled_since(turn - _OVER)]
    turns = {row: then for row, then in active if row is not None}
    lived = lived_edges(mind, list(turns), context.extra_turns)
    present = np.exp((np.fromiter(turns.values(), np.float64) - turn) / _FADES)
    primed = present[lived.place] * lived.strength / (lived.strength + _HALF)
    out: dict[int, float] = {}
    for row, share in zip(lived.far.tolist(), primed.tolist(), strict=True):
        out[row] = max(share, out.get(row, 0.0))
    return out
