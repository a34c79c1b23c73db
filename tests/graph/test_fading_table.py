"""Fading records are kept packed, come back as they were, and are counted by their changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.fading_records import FadingRecord, Retelling
from soulmem.domain.ids import ChatId, MemoryId, SlotId, SoulId
from soulmem.domain.micro_units import (
    Anchor,
    AnchorKind,
    MicroUnit,
    Retention,
    UnitSpan,
)
from soulmem.graph.fading_table import FadingTable
from soulmem.graph.packed_fading import packed_fading, unpacked_fading

M1, M2, S1 = MemoryId("m1"), MemoryId("m2"), SoulId("s1")
# What can be encoded; a text of the store has no lone surrogates.
words = st.text(st.characters(codec="utf-8"), max_size=12)
moments = st.datetimes(timezones=st.just(timezone.utc))
turns = st.none() | st.floats(0.0, 1e6)
states = st.builds(Retention, st.floats(0.0, 1.0), st.floats(1e-3, 1e6), moments, turns)
spans = st.builds(
    UnitSpan,
    st.integers(0, 99),
    st.integers(100, 999),
    words,
    st.booleans(),
    st.floats(0.0, 1.0),
)
records = st.builds(
    FadingRecord,
    memory=st.just(M1),
    soul=st.just(S1),
    wording=words,
    units=st.lists(st.builds(MicroUnit, spans, states), max_size=3).map(tuple),
    anchors=st.lists(st.builds(Anchor, words, st.sampled_from(AnchorKind), states), max_size=3).map(
        tuple
    ),
    own_units=st.booleans(),
    own_anchors=st.booleans(),
    reworded=st.none() | words,
    retold=st.none() | st.builds(Retelling, words, words.map(ChatId), words.map(SlotId)),
)


@given(records)
def test_a_record_comes_back_as_it_was(record: FadingRecord) -> None:
    """From the table, and as JSON from the store."""
    table = FadingTable(S1)
    table.put([record])
    assert table.of(M1) == (None if record.is_empty else record)
    text = msgspec.json.encode(packed_fading(record))
    assert unpacked_fading(msgspec.json.decode(text), M1, S1) == record


def test_the_revision_differs_after_each_change() -> None:
    state = Retention(0.5, 600.0, datetime(2024, 1, 1, tzinfo=timezone.utc))
    record = FadingRecord(M1, S1, "x", (MicroUnit(UnitSpan(0, 3), state),))
    table = FadingTable(S1)
    seen = {table.revision}
    for put, drop in (
        ([record], []),
        ([replace(record, own_units=True)], []),
        ([replace(record, memory=M2)], []),
        ([], [M1]),
        ([replace(record, memory=M2, units=())], []),
    ):
        table.drop(drop)
        table.put(put)
        assert table.revision not in seen
        seen.add(table.revision)
    assert (len(table), list(table)) == (0, [])
    table.drop([M1, M2])
    assert table.revision in seen


def test_the_memories_that_a_reply_reworded_are_found_until_they_are_told_otherwise() -> None:
    table, first = FadingTable(S1), FadingRecord(M1, S1, "w", reworded="A.", reply=M2)
    table.put([first, replace(first, memory=M2, reply=M1)])
    assert table.reworded_by([M2]) == [M1]
    assert table.reworded_by([M1, M2]) == [M1, M2]
    table.put([replace(first, reply=M1)])
    assert table.reworded_by([M2]) == []
    assert table.reworded_by([M1]) == [M1, M2]
    table.put([FadingRecord(M1, S1, "w")])
    table.drop([M2])
    assert table.reworded_by([M1, M2]) == []
