"""Vectors in the store: the key of a text, which texts wait for one, and how vectors get into a mind."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.vector_queue import PendingText, TextKey
from soulmem.engine.runtime.worker import compute_only
from soulmem.graph.vectors import VectorTable

_FEW = 8  # new texts: not an import, so a query with them will soon come


def vector_key(text: str) -> str:
    """The key of a text's vector in the store."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@compute_only
def texts_by_key(mind: Mind, keys: Sequence[TextKey]) -> dict[str, list[PendingText]]:
    """The texts of these keys, by the keys of their vectors in the store."""
    out: dict[str, list[PendingText]] = {}
    for wanted in mind.vector_queue.texts(keys):
        out.setdefault(vector_key(wanted.text), []).append(wanted)
    return out


@compute_only
def take_stored(
    mind: Mind, wanted: Mapping[str, Sequence[PendingText]], stored: Mapping[str, bytes]
) -> None:
    """Let the mind keep vectors that were read, by their key in the store."""
    mind.vector_queue.store_vectors(
        (text, vector)
        for name, data in stored.items()
        for vector in (np.frombuffer(data, "<f4"),)
        for text in wanted[name]
    )


@compute_only
def next_texts(mind: Mind, limit: int) -> tuple[list[PendingText], bool]:
    """At most `limit` pending texts, the newest first; whether few are pending in all."""
    queue = mind.vector_queue
    return queue.next_texts(limit), queue.pending_count() <= _FEW


def take_made(
    table: VectorTable,
    mind: Mind,
    vectors: Sequence[tuple[PendingText, NDArray[np.float32]]],
) -> None:
    """Let the mind keep vectors that were made, unless it has tables of another model by now."""
    if mind.vector_queue.text_vectors is table:
        mind.vector_queue.store_vectors(vectors)
