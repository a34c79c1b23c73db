"""Everything that a soul's loaded memory says, as plain values that two engines can be compared by."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np

from soulmem.domain.edge_vectors import EdgeVector
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.engine.mind.mind import Mind
from soulmem.graph.edge_vectors import decoded
from tests.engine.stage import ME, Stage
from tests.fakes.embedder import FakeEmbedder

Picture = dict[str, Any]


async def picture(stage: Stage, soul: str) -> Picture:
    """Memories, edges, order, neighbours, ages, words, recalls and sight of a soul in each chat."""
    await stage.engine.learner.drain()
    mind = await stage.mind(soul)
    heads = await stage.engine.chats.list(ME, None)
    chats: list[str | None] = [None, *(head.id for head, _ in heads)]
    return {
        "fingerprint": await stage.fingerprint(soul),
        "memories": dict(mind.memories),
        "edges": dict(mind.edges),
        "vectors": memory_vectors(mind),
        "usages": {usage.memory: usage for usage in mind.recalls},
        "uses": _by_memory(mind, mind.recalls.uses(mind.size)),
        "records": mind.recalls.records(),
        "fading": _fading(mind),
        "branches": {s.chat: s for s in mind.branches},
        "visible": {chat: sorted(m.id for m in await stage.visible(chat, soul)) for chat in chats},
        "neighbours": {chat: _neighbours(mind, chat) for chat in chats},
        "ages": {
            chat: _by_memory(mind, mind.exchange_ages(ChatId(chat) if chat else None, 0))
            for chat in chats
        },
        "tokens": {key: int(mind.token_costs([row])[0]) for key, row in mind._rows},
        "words": _by_memory(
            mind,
            mind.words.scores({"ring": 1.0, "雨": 1.0, "mira": 0.5}, mind.size).round(4),
        ),
    }


def _fading(mind: Mind) -> dict[MemoryId, FadingRecord]:
    """How texts fade; each record is of a memory that is there."""
    records = {record.memory: record for record in mind.fading}
    assert records.keys() <= set(mind.memories)
    assert not any(record.is_empty for record in records.values())
    return records


def memory_vectors(mind: Mind) -> dict[str, EdgeVector]:
    """The memory vectors of edges and memories, each of one that is there."""
    vectors = {vector.edge: vector for vector in mind.edge_vectors}
    assert len(vectors) == len(mind.edge_vectors) <= mind.edge_vectors.most
    for key, vector in vectors.items():
        edge = mind.edges.get(key)
        ends = (key, key) if edge is None else (edge.source, edge.target)
        assert ends == (vector.source, vector.target)
        assert edge is not None or MemoryId(key) in mind.memories
        assert np.isfinite(decoded(vector.data)).all()
    return vectors


async def stray_vectors(mind: Mind, embedder: FakeEmbedder) -> list[object]:
    """Memories and pairs whose vector is not that of their text, and those in the bin that have one."""
    return await asyncio.to_thread(_stray_vectors, mind, embedder)


def _stray_vectors(mind: Mind, embedder: FakeEmbedder) -> list[object]:
    out: list[object] = []
    met = [(key, row) for key, row in mind._rows if not mind.memory_at(row).is_bare_name]
    searched = [(key, row) for key, row in met if mind.memory_at(row).is_searched]
    turns = mind.vector_queue.text_vectors
    if turns is not None:
        out += [
            key for key, row in met if mind.memory_at(row).is_binned and turns.has(row + 1)[row]
        ]
    for rows, table in (
        (searched, mind.vector_queue.text_vectors),
        (list(mind._pairs), mind.vector_queue.pair_vectors),
    ):
        assert table is not None
        for key, row in rows:
            expected = embedder.embed([mind.text_of(key)])
            if not np.allclose(
                table.rows(np.asarray([row])), expected, atol=0.01
            ):  # a step of a byte
                out.append(key)
    return out


def _by_memory(mind: Mind, values: Any) -> dict[MemoryId, float]:
    return {key: float(values[row]) for key, row in mind._rows}


def _neighbours(mind: Mind, chat: str | None) -> dict[MemoryId, tuple[Any, ...]]:
    """For each memory those before and after it, the two pairs, and its place; the chat's own first."""
    beside = mind.neighbours(ChatId(chat) if chat else None)
    branch = mind.branches.branch(ChatId(chat)) if chat else None
    out = {}
    for key in branch.order if branch else ():
        row = mind.row(key)
        ids = [mind._rows.id(int(column[row])) for column in (beside.before, beside.after)]
        pairs = [mind._pairs.id(int(column[row])) for column in (beside.pair_in, beside.pair_out)]
        out[key] = (*ids, *pairs, int(beside.position[row]))
    return out
