"""A store is prepared before it is opened: what is merged already is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from surrealdb_embedded import SyncEmbeddedDB

from soulmem.adapters.surreal import tidy as tidying
from soulmem.adapters.surreal.tidy import tidy


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that was opened so often that the engine has merged tables."""
    folder = tmp_path / "store"
    for _ in range(9):
        opened_and_closed(folder)
    return folder


def opened_and_closed(folder: Path) -> None:
    engine = SyncEmbeddedDB(f"surrealkv://{folder}")
    engine.connect()
    engine.close()


def levels(folder: Path) -> list[tuple[int, ...]]:
    """The numbers of the store's tables, level by level."""
    return tidying._levels(str(folder / "manifest"))


def test_a_prepared_store_has_few_new_tables(store: Path) -> None:
    for _ in range(4):
        tidy(f"surrealkv://{store}", str(store))
        assert 0 < len(levels(store)[0]) < 4


def test_tables_are_merged_only_when_four_are_new(store: Path) -> None:
    """Each preparation opens the store, which adds a table; before, each merged a store of several levels."""
    merged = []
    for _ in range(6):
        before = levels(store)
        tidy(f"surrealkv://{store}", str(store))
        after = levels(store)
        merged.append(after[1:] != before[1:])
        assert merged[-1] is (len(before[0]) + 1 >= 4)
    assert 0 < sum(merged) < 6


def test_where_the_list_of_tables_cannot_be_read_all_count_as_new(store: Path) -> None:
    tables = tidying._tables(str(store))
    assert tidying._new_tables(str(store), tables) == len(levels(store)[0])
    (manifest,) = (store / "manifest").iterdir()
    for damaged in (manifest.read_bytes()[:30], b"", b"\xff" * 64):
        manifest.write_bytes(damaged)
        assert tidying._new_tables(str(store), tables) == len(tables)
