"""The parts of a query that asks for several things, each with its own text scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import (
    RecallContext,
    RecallQuery,
    TextScores,
    score_texts,
    start_cosines,
)
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.retrieval.fusion import FusionParams

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """A part of a query: its words, the concepts it names, and how well each text fits it."""

    text: str
    concepts: tuple[MemoryId, ...]
    scores: TextScores


@compute_only
def score_sub_questions(
    mind: Mind,
    context: RecallContext,
    vectors: Floats | None,
    params: FusionParams,
) -> tuple[SubQuestion, ...]:
    """The parts of the query with their scores; none where it asks for one thing.

    vectors  float32[parts, dim]  a unit row per part, or None
    """
    out = []
    for index, text in enumerate(context.query.sub_questions):
        concepts = tuple(mind.names.spot(text))
        query = RecallQuery(((text, 1.0),), ((text, 1.0),))
        own = replace(context, query=query, named_concepts=((concepts, 1.0),))
        vector = None if vectors is None else vectors[index : index + 1]
        cosines = start_cosines(mind, query, vector)
        scores = score_texts(mind, own, cosines, params)
        out.append(SubQuestion(text, concepts, scores))
    return tuple(out)
