"""Is each relation of a soul a fact that reads as a sentence and follows what it tells of?"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from soulmem.domain.edges import Edge, EdgeKind
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.soul import Soul
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.facts import fact_text
from soulmem.engine.mind.mind import Mind

SOUL = SoulId("s")
NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)


def concept(key: str, text: str) -> Memory:
    return Memory(MemoryId(key), SOUL, MemoryKind.CONCEPT, text, Origin.USER, NOW)


def relation(source: str, target: str, verb: str | None = None) -> Edge:
    return Edge(
        SOUL,
        MemoryId(source),
        MemoryId(target),
        EdgeKind.RELATES,
        Origin.USER,
        NOW,
        verb=verb,
    )


@pytest.fixture
def mind() -> Mind:
    made = Mind(Soul(SOUL, "Mira"))
    made.apply(
        MindChange(
            (
                concept("a", "Zhang San"),
                concept("b", "Li Si"),
                concept("c", "the tower"),
            )
        )
    )
    return made


def shown(mind: Mind) -> set[str]:
    visible = mind.visible_rows(None, None, lambda *_: True)
    return {mind.memory_at(row).text for row in range(mind.size) if visible[row]}


@pytest.mark.parametrize(
    ("subject", "verb", "object_", "text"),
    [
        ("Zhang San", "is a friend of", "Li Si", "Zhang San is a friend of Li Si"),
        ("Mira", "afraid_of", "dogs", "Mira afraid of dogs"),
        ("张三", "讨厌", "李四", "张三讨厌李四"),
        ("张三", "讨厌", "Bob", "张三讨厌 Bob"),
        ("tea", None, "rain", "tea relates to rain"),
    ],
)
def test_a_relation_reads_as_a_sentence(
    subject: str, verb: str | None, object_: str, text: str
) -> None:
    assert fact_text(subject, verb, object_) == text


def test_a_fact_is_found_by_its_words_and_wants_a_vector(mind: Mind) -> None:
    edge = relation("a", "b", "envies")
    mind.apply(MindChange(put_edges=(edge,)))
    row = mind.row(MemoryId(edge.id))
    assert row is not None
    words = dict.fromkeys(mind.tokeniser.tokens("envies"), 1.0)
    assert mind.words.scores(words, mind.size)[row] > 0
    assert edge.id in {wanted.key for wanted in mind.vector_queue.next_texts(10)}
    assert "Zhang San envies Li Si" in shown(mind)


def test_a_fact_follows_the_words_of_what_it_tells_of(mind: Mind) -> None:
    mind.apply(MindChange(put_edges=(relation("a", "b", "envies"),)))
    mind.apply(MindChange((concept("b", "Old Li"),)))
    assert "Zhang San envies Old Li" in shown(mind)
    assert "Zhang San envies Li Si" not in shown(mind)


def test_a_fact_goes_with_its_edge_and_its_row_is_free(mind: Mind) -> None:
    edge = relation("a", "b", "envies")
    mind.apply(MindChange(put_edges=(edge,)))
    size = mind.size
    mind.apply(MindChange(drop_edges=(edge.id,)))
    assert shown(mind) == {"Zhang San", "Li Si", "the tower"}
    mind.apply(MindChange((concept("d", "the sea"),)))
    assert mind.size == size


def test_a_fact_goes_with_either_of_those_it_tells_of(mind: Mind) -> None:
    mind.apply(MindChange(put_edges=(relation("a", "b", "envies"), relation("b", "c", "built"))))
    mind.apply(MindChange(drop_memories=(MemoryId("a"),)))
    assert shown(mind) == {"Li Si", "the tower", "Li Si built the tower"}


def test_a_fact_is_known_where_both_are(mind: Mind) -> None:
    mind.apply(MindChange(put_edges=(relation("a", "b", "envies"),)))
    binned = replace(mind.memories[MemoryId("b")], state=MemoryState.BIN)
    mind.apply(MindChange((binned,)))
    assert shown(mind) == {"Zhang San", "the tower"}


def test_other_edges_are_no_facts(mind: Mind) -> None:
    edge = replace(relation("a", "b"), kind=EdgeKind.ASSOCIATES)
    mind.apply(MindChange(put_edges=(edge,)))
    assert not mind.facts
