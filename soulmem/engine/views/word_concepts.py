"""Ordinary words of topics, shown as concepts: read from the texts that have them, and stored nowhere.

So a word goes with the last text that has it. Compute thread only.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.situation import ConceptDetail, ConceptType
from soulmem.engine.api.results import MemoryView
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.concept_activation import term_activations
from soulmem.engine.views.provenance import (
    rows_in_use,
    source_places,
    texts_with_term,
)
from soulmem.kernels.arrays import Int64s

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
def member_terms(mind: Mind, topic: MemoryId) -> Int64s:
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


_PLACES = 50  # most places shown of a word, the latest


@compute_only
def word_concept(mind: Mind, key: MemoryId) -> Memory | None:
    """The word of a topic that is shown under this id, as a concept of revision 0, which is not stored; None
    for any other id, and for a word that no text in use has.
    """
    word = mind.names.topic_tags.word(key)
    if word is None or mind.terms.incidence.number(word) is None:
        return None
    texts = texts_with_term(mind, word)
    if not texts:
        return None
    return Memory(
        id=key,
        soul=mind.soul.id,
        kind=MemoryKind.CONCEPT,
        text=word,
        origin=Origin.CHAT,
        created=min(mind.memories[text].created for text in texts),
        revision=0,
        concept=ConceptDetail(concept_type=ConceptType.ABSTRACT),
    )


@compute_only
def words_of_topic(mind: Mind, topic: MemoryId) -> list[MemoryId]:
    """The ids of the words of a topic that some text in use has, the strongest first."""
    tags, incidence = mind.names.topic_tags, mind.terms.incidence
    counts = incidence.counts(rows_in_use(mind))
    numbered = ((tag, incidence.number(tag)) for tag in tags.of_topic(topic))
    return [
        tags.id_of(tag) for tag, number in numbered if number is not None and counts[number] > 0
    ]


@compute_only
def topics_of_word(mind: Mind, key: MemoryId) -> list[MemoryId]:
    """The topics that the word of this id belongs to, by id; none for any other id."""
    tags = mind.names.topic_tags
    word = tags.word(key)
    return [] if word is None else list(tags.topics_with(word))


@compute_only
def word_edges(mind: Mind, key: MemoryId) -> list[Edge]:
    """The `topic_of` edges that join a word to its topics, or the words of a topic to it; like those of other
    concepts they do not fade.
    """
    if mind.names.topic_tags.is_topic(key):
        return [_edge(mind, word, key) for word in words_of_topic(mind, key)]
    if word_concept(mind, key) is None:
        return []
    return [_edge(mind, key, topic) for topic in topics_of_word(mind, key)]


@compute_only
def word_view(mind: Mind, word: Memory, extra_turns: int) -> MemoryView:
    """A word with the messages that have it, the latest first, its activation and the last recall of them."""
    in_use = rows_in_use(mind)
    number = mind.terms.incidence.number(word.text)
    assert number is not None  # of `word_concept`
    active = term_activations(mind, np.asarray([number]), in_use, None, extra_turns)
    texts = [mind.memories[key] for key in texts_with_term(mind, word.text)]
    texts.sort(key=lambda text: (text.happened, text.id), reverse=True)
    places = [place for text in texts[:_PLACES] for place in source_places(mind, text)]
    recalls = (mind.recalls.usage(text.id) for text in texts)
    usages = [usage for usage in recalls if usage is not None]
    return MemoryView(
        word,
        tuple(dict.fromkeys(places)),
        edges=tuple(word_edges(mind, word.id)),
        strength=float(active[0]),
        usage=max(usages, key=lambda usage: usage.last.moment, default=None),
        base_activation=float(active[0]),
    )


def _edge(mind: Mind, word: MemoryId, topic: MemoryId) -> Edge:
    return Edge(
        mind.soul.id,
        word,
        topic,
        EdgeKind.TOPIC_OF,
        Origin.CHAT,
        mind.memories[topic].created,
        strength=1.0,
    )
