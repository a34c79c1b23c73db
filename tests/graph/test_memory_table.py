"""The table of memories does what a dictionary of them would, whatever of it is bytes."""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind
from soulmem.domain.terms import Term
from soulmem.graph import memory_table
from soulmem.graph.encoded import decoded, encoded, text_of
from soulmem.graph.memory_table import MemoryTable
from soulmem.graph.row_numbers import Rows
from tests.ports.stores import memory, without_context

KEYS = st.sampled_from([MemoryId(f"m{n}") for n in range(9)])
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(str.strip)


@given(
    TEXTS,
    st.datetimes(timezones=st.just(timezone(timedelta(hours=8)))),
    st.floats(0, 1),
    st.sampled_from(MemoryKind),
)
def test_a_memory_comes_back_in_full(
    text: str, created: datetime, importance: float, kind: MemoryKind
) -> None:
    for full in (memory(), without_context(memory())):
        item = replace(full, text=text, created=created, importance=importance, kind=kind)
        record = encoded(item)
        assert decoded(record, item.id) == item
        assert text_of(record) == text


def test_every_field_is_kept() -> None:
    """The value used above has no field left empty, so none can be forgotten."""
    bare = without_context(memory())
    full = memory()
    assert all(getattr(full, f.name) not in (None, (), "") for f in fields(Memory))
    assert decoded(encoded(full), full.id) == full != bare == decoded(encoded(bare), bare.id)


@given(
    st.lists(
        st.tuples(
            TEXTS,
            st.one_of(st.floats(0, 1), st.integers(0, 1000).map(lambda n: n / 1000)),
        ),
        max_size=20,
    )
)
def test_terms_come_back_to_the_last_digit(terms: list[tuple[str, float]]) -> None:
    item = replace(memory(), text="What THE text says", terms=tuple(Term(*term) for term in terms))
    assert decoded(encoded(item), item.id).terms == item.terms


def test_what_most_memories_say_alike_and_words_of_the_text_take_little_room() -> None:
    text = "Alice hid the silver lantern below the old mill before the harvest feast began"
    words = tuple(Term(word, 0.4 + len(word) / 1000) for word in text.lower().split())
    record = encoded(replace(without_context(memory()), text=text, terms=words))
    assert len(record) < len(text) + 150


class Table(RuleBasedStateMachine):
    """Puts, drops, packs and restores, with a dictionary beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: Rows[MemoryId] = Rows()
        self.table = MemoryTable(self.rows)
        self.model: dict[MemoryId, Memory] = {}

    @rule(key=KEYS, text=TEXTS)
    def put(self, key: MemoryId, text: str) -> None:
        self.table[key] = self.model[key] = replace(memory(key), text=text)
        self.rows.add(key)

    @rule(key=KEYS)
    def drop(self, key: MemoryId) -> None:
        assert self.table.pop(key, None) == self.model.pop(key, None)
        self.rows.drop(key)

    @rule(most=st.integers(1, 4))
    def pack(self, most: int) -> None:
        before = self.table.unpacked()
        assert self.table.pack(most) == self.table.unpacked() == max(0, before - most)

    @rule()
    def settle(self) -> None:
        while self.table.pack(3):
            pass
        self.table.packed()

    @rule()
    def put_away(self) -> None:
        while self.table.pack(3):
            pass
        packed = self.table.packed()
        self.table = MemoryTable(self.rows)
        self.table.restore(packed)

    @invariant()
    def same(self) -> None:
        assert dict(self.table) == self.model
        assert len(self.table) == len(self.model)
        for number in range(9):
            key = MemoryId(f"m{number}")
            assert (key in self.table) == (key in self.model)
            assert self.table.get(key) == self.model.get(key)
            if key in self.model:
                assert self.table.text(key) == self.model[key].text
                row = self.rows.row(key)
                assert row is not None
                assert self.table.text_at(row) == self.model[key].text


TestTable = Table.TestCase


def test_what_is_not_here_is_missed() -> None:
    table = MemoryTable(Rows())
    for ask in (table.__getitem__, table.text, table.__delitem__):
        with pytest.raises(KeyError):
            ask(MemoryId("nobody"))


def test_what_is_not_packed_cannot_be_put_away() -> None:
    rows: Rows[MemoryId] = Rows()
    table = MemoryTable(rows)
    table[MemoryId("m")] = memory("m")
    with pytest.raises(ValueError, match="1 memories are not packed"):
        table.packed()
    with pytest.raises(KeyError):
        table.pack(1)  # nobody gave it a row


def test_what_became_bytes_leaves_no_room_behind() -> None:
    rows: Rows[MemoryId] = Rows()
    table = MemoryTable(rows)
    for number in range(1000):
        rows.add(key := MemoryId(f"m{number}"))
        table[key] = memory(key)
    while table.pack(300):
        assert len(table) == 1000
    assert sys.getsizeof(table._fresh) < 1000
    assert len(list(table)) == 1000


def test_what_was_read_of_late_is_kept_within_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory_table, "_REMEMBERED", 4)
    rows: Rows[MemoryId] = Rows()
    table = MemoryTable(rows)
    for number in range(20):
        rows.add(key := MemoryId(f"m{number}"))
        table[key] = memory(key)
    table.pack(20)
    assert [table[MemoryId(f"m{n}")].id for n in range(20)] == [f"m{n}" for n in range(20)]
    assert len(table._recent) <= 4
    assert table[MemoryId("m19")] is table[MemoryId("m19")]
    assert np.asarray(table.packed()["lengths"]).size == 20
