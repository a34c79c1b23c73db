"""How much a text matters, by the kinds of its lines."""

from __future__ import annotations

import numpy as np

from soulmem.kernels.arrays import Float32s
from soulmem.language.kinds.example_words import scores_of
from soulmem.language.kinds.kind_lines import kinds

UNREAD = 0.2  # of a text whose kinds are not known
_BEYOND = np.array([(kind.importance or UNREAD) - UNREAD for kind in kinds()])


def importances(scores: Float32s) -> Float32s:
    """0..1 for each text by its scores, float32[n, kinds]: `UNREAD`, and what its surest kinds say beyond that.

    The less sure a kind that raises is than one that lowers, the less it raises.
    """
    weighed = scores * _BEYOND
    more = scores.max(axis=1, initial=0.0, where=_BEYOND > 0)
    less = scores.max(axis=1, initial=0.0, where=_BEYOND < 0)
    raised = weighed.max(axis=1, initial=0.0) * (1.0 - np.maximum(less - more, 0.0))
    lowered = weighed.min(axis=1, initial=0.0) * (1.0 - more)
    return np.asarray(np.clip(UNREAD + raised + lowered, 0.0, 1.0), np.float32)


def importance_by_words(text: str) -> float:
    """The same without an encoder, for texts that are no memories; some 0.2 ms a line."""
    return round(float(importances(scores_of([text]))[0]), 4)
