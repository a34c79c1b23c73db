"""The members of topics, which are ordinary words and concepts, and found topics that have lost one.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.engine.views.provenance import texts_with_term

Ints = NDArray[np.int64]

# Members of a topic that are looked at. A found topic names 12; the user may link any number of concepts.
_MOST = 24


@compute_only
def topics_of_term(mind: Mind, term: int) -> list[MemoryId]:
    """The topics in use that a term belongs to: a word by their tags, a concept by `topic_of` edges."""
    concept = mind.terms.concept_of(term)
    tags = mind.names.topic_tags
    if concept is None:
        return list(tags.topics_with(mind.terms.incidence.key(term)))
    edges = mind.edges.of(concept, EdgeKind.TOPIC_OF)
    topics = sorted({edge.target for edge in edges if edge.source == concept})
    return [topic for topic in topics if tags.is_topic(topic)]


@compute_only
def member_terms(mind: Mind, topic: MemoryId) -> Ints:
    """The terms of a topic's words and concepts that some text has, int64[k], distinct; the words first."""
    members = dict.fromkeys(islice(_members(mind, topic), _MOST))
    return np.fromiter(members, np.int64, len(members))


def _members(mind: Mind, topic: MemoryId) -> Iterator[int]:
    for tag in mind.names.topic_tags.of_topic(topic):
        number = mind.terms.incidence.number(tag)
        if number is not None:
            yield number
    edges = mind.edges.of(topic, EdgeKind.TOPIC_OF)
    for concept in sorted(edge.source for edge in edges if edge.target == topic):
        number = mind.terms.term_of(concept)
        if number is not None:
            yield number


@compute_only
def stale_topics(mind: Mind) -> list[MemoryId]:
    """Found topics with a tag that no text in use contains any more."""
    is_lost: dict[str, bool] = {}
    out: list[MemoryId] = []
    for memory in mind.names.special_concepts():
        if not memory.is_found_topic:
            continue
        for name in memory.tags:
            if name not in is_lost:
                is_lost[name] = not texts_with_term(mind, name)
        if any(is_lost[name] for name in memory.tags):
            out.append(memory.id)
    return out
