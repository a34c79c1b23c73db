"""Which texts want a vector is told as of a list, and takes no room once none do."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np

from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.vector_queue import TextKey, VectorQueue
from soulmem.graph.pairs import Pairs
from soulmem.graph.row_numbers import Rows
from soulmem.graph.vectors import VectorTable
from soulmem.ports.embedder import TextInContext


def queue_of(count: int) -> VectorQueue:
    rows: Rows[MemoryId] = Rows()
    for number in range(count):
        rows.add(MemoryId(f"m{number}"))
    pairs = Pairs(rows)
    pairs.add((MemoryId("m0"), MemoryId("m1")))

    def content_of(key: TextKey) -> TextInContext:
        return TextInContext(str(key))

    out = VectorQueue(rows, pairs, content_of, lambda: np.ones(len(rows), np.bool_))
    out.use_model(2, "small")
    return out


def test_those_asked_for_are_wanted_no_more_and_what_they_took_is_given_back() -> None:
    queue, vector = queue_of(1000), np.asarray([1.0, 0.0], np.float32)
    while wanted := queue.next_texts(300):
        queue.store_vectors((pending, vector) for pending in wanted[:-1])
        queue.drop(wanted[-1].key, None)
    assert queue.pending_keys() == []
    assert sys.getsizeof(queue._pending) < 1000
    queue.enqueue(MemoryId("m7"))
    assert [pending.key for pending in queue.next_texts(9)] == ["m7"]
    assert queue.pending_memory_count() == 1


def test_with_a_new_model_memories_get_their_vectors_before_pairs_do() -> None:
    queue, vector, counts = queue_of(20), np.asarray([1.0, 0.0], np.float32), []
    while wanted := queue.next_texts(5):
        queue.store_vectors((pending, vector) for pending in wanted)
        counts.append(queue.pending_memory_count())
    assert counts == [15, 10, 5, 0, 0]


def test_a_large_list_is_let_go_when_its_last_text_goes() -> None:
    queue = queue_of(1000)
    for key in queue.pending_keys():
        assert queue.pending_keys()
        queue.drop(key, None)
    assert (queue.pending_keys(), sys.getsizeof(queue._pending) < 1000) == ([], True)


def test_a_batch_is_the_newest_text_with_others_of_its_length() -> None:
    rows: Rows[MemoryId] = Rows()
    names = [MemoryId(f"m{number}") for number in range(64)]
    for name in names:
        rows.add(name)

    def content_of(key: TextKey) -> TextInContext:
        number = names.index(MemoryId(str(key)))
        return TextInContext("word " * (1 if number % 2 else 40))

    queue = VectorQueue(rows, Pairs(rows), content_of, lambda: np.ones(len(rows), np.bool_))
    queue.use_model(2, "small")
    batches = []
    while wanted := queue.next_texts(16):
        batches.append({len(pending.text) for pending in wanted})
        assert wanted[0].key == queue.pending_keys()[-1]
        for pending in wanted:
            queue.drop(pending.key, None)
    assert batches == [{5}, {200}, {5}, {200}]
    queue.enqueue(names[0])
    queue.enqueue(names[1])
    assert [pending.key for pending in queue.next_texts(1)] == [names[1]]


def test_of_what_is_restored_only_searched_texts_without_a_vector_are_pending() -> None:
    rows: Rows[MemoryId] = Rows()
    names = [MemoryId(f"m{number}") for number in range(4)]
    for name in names:
        rows.add(name)
    pairs = Pairs(rows)
    for first, second in pairwise(names):
        pairs.add((first, second))
    searched = np.array([True, True, False, True])
    queue = VectorQueue(rows, pairs, lambda key: TextInContext(str(key)), lambda: searched)
    texts, following = VectorTable(2, 4), VectorTable(2, 3)
    texts.put(0, np.asarray([1.0, 0.0], np.float32))
    following.put(0, np.asarray([1.0, 0.0], np.float32))
    queue.restore("small", texts, following)
    pending = queue.pending_keys()
    assert pending == [(names[2], names[3]), names[1], names[3]]
    assert queue.pending_memory_count() == 2
    queue.drop(names[1], None)
    queue.enqueue((names[1], names[2]))  # its second is not searched
    assert (queue.pending_count(), queue.pending_memory_count()) == (2, 1)
