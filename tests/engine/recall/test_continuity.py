"""Older messages count less where the newest is about something else."""

from __future__ import annotations

from math import sqrt
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from soulmem.domain.dialogue import Message
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallQuery
from soulmem.engine.recall.continuity import with_continuity
from soulmem.graph.vectors import VectorTable

Floats = NDArray[np.float32]
SHARES = (0.25, 0.25, 0.5)
TEXTS = ("older", "old", "new")


def at_cosine(cosine: float, axis: int) -> Floats:
    """A unit vector at that cosine with the newest message."""
    vector = np.zeros(4, np.float32)
    vector[0], vector[axis] = cosine, sqrt(1 - cosine**2)
    return vector


def mind_of(count: int, dim: int = 4) -> Mind:
    """A soul whose memories have cosines 0 and .2 with the newest message: mean .1, deviation .1."""
    table = VectorTable(dim)
    for row in range(count):
        vector = np.zeros(dim, np.float32)
        vector[:4] = at_cosine(0.2 * (row % 2), 1)
        table.put(row, vector)
    queue = SimpleNamespace(text_vectors=table)
    return cast("Mind", SimpleNamespace(size=count, vector_queue=queue))


def query_of(texts: tuple[str, ...] = TEXTS, newest: str = "new") -> RecallQuery:
    """A query of these texts in a chat of 20 messages."""
    parts = tuple(zip(texts, SHARES, strict=False))
    words = tuple((f"{text} words", share) for text, share in parts)
    messages = [SimpleNamespace(text=text) for text in (*["long ago"] * 19, newest)]
    return RecallQuery(parts, words, cast("tuple[Message, ...]", tuple(messages)))


def vectors_of(*older: float) -> Floats:
    """Older messages at these cosines with the newest, which comes last."""
    return np.stack([*(at_cosine(cosine, 2) for cosine in older), at_cosine(1.0, 1)])


@pytest.mark.parametrize(
    ("nearest", "factor"), [(0.0, 0.0), (0.2, 0.0), (0.3, 0.5), (0.4, 1.0), (0.9, 1.0)]
)
def test_older_messages_count_as_far_as_the_newest_is_nearer_to_them_than_to_memories(
    nearest: float, factor: float
) -> None:
    """From one deviation above what is usual to three they have their full share."""
    query = with_continuity(mind_of(40), query_of(), vectors_of(0.0, nearest))
    total = 0.5 + 0.5 * factor
    expected = [0.25 * factor / total, 0.25 * factor / total, 0.5 / total]
    for parts in (query.embed_parts, query.word_parts):
        assert_allclose([share for _, share in parts], expected, atol=0.02)
    assert [text for text, _ in query.embed_parts] == list(TEXTS)
    assert [text for text, _ in query.word_parts] == [f"{text} words" for text in TEXTS]


def test_the_nearest_of_the_older_messages_tells() -> None:
    query = with_continuity(mind_of(40), query_of(), vectors_of(0.9, 0.0))
    assert query == query_of()


def test_among_few_memories_all_messages_keep_their_shares() -> None:
    query = query_of()
    assert with_continuity(mind_of(15), query, vectors_of(0.0, 0.0)) == query


def test_vectors_of_another_model_tell_nothing() -> None:
    query = query_of()
    assert with_continuity(mind_of(40, dim=8), query, vectors_of(0.0, 0.0)) == query


def test_a_single_message_stays() -> None:
    query = query_of(("new",))
    assert with_continuity(mind_of(40), query, vectors_of()) is query


def test_a_query_that_ends_with_an_intent_stays() -> None:
    query = query_of(("old", "new", "to show that I care"))
    assert with_continuity(mind_of(40), query, vectors_of(0.0, 0.0)) is query
