"""The background of the texts of a mind, against which queries are compared with memory vectors."""

from __future__ import annotations

from soulmem.engine.mind.mind import Mind
from soulmem.graph.edge_vectors import TextBackground


def text_background(mind: Mind) -> TextBackground | None:
    """Mean and spread of the vectors of the texts; None while there is none. Compute thread only."""
    table = mind.vector_queue.text_vectors
    if table is None:
        return None
    return mind.edge_vectors.backgrounds.of(table, mind.size)
