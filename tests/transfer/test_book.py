"""Worlds are read in every format, as statements of limited length and names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.errors import Unprocessable
from soulmem.domain.soul import KnownName
from soulmem.transfer.book import read_world
from soulmem.transfer.lore import BrokenPart, Cast, Lore
from soulmem.transfer.statements import LONGEST, columns

CAST = Cast("Mira", "Ann")


def read(entries: Any, **more: Any) -> Lore:
    return read_world(json.dumps({"entries": entries, **more}).encode(), "Isles", CAST)


def entry(content: Any, *keys: str, **more: Any) -> dict[str, Any]:
    """An entry as SillyTavern writes it."""
    return {
        "uid": 0,
        "key": [*keys],
        "keysecondary": [],
        "comment": "",
        "content": content,
        **more,
    }


def test_entries_are_told_with_what_they_are_about() -> None:
    lore = read(
        {
            "0": entry("{{user}} was born in Varn.", "Varn"),
            "1": entry("A realm of forests.", "eldoria", comment="Eldoria", constant=True),
            "2": entry("Off.", "off", disable=True),
            "3": entry("   "),
            "7": entry(None, "x"),
            "9": "no entry",
        }
    )
    assert [
        (statement.text, statement.part, statement.importance) for statement in lore.statements
    ] == [
        ("Ann was born in Varn.", "world info", None),
        ("Eldoria: A realm of forests.", "world info", 0.8),
    ]
    assert lore.names == (
        KnownName("Varn", (), "world: Isles"),
        KnownName("Eldoria", (), "world: Isles"),
    )
    assert (lore.disabled, set(lore.broken)) == (
        1,
        {BrokenPart("7", "no_text"), BrokenPart("9", "not_an_object")},
    )


def test_a_book_of_a_card_by_itself_is_read_too() -> None:
    row = {"keys": ["Varn"], "content": "Varn is an island.", "enabled": True}
    for whole in (
        {"entries": [row]},
        {"spec": "lorebook_v3", "data": {"entries": [row]}},
    ):
        lore = read_world(json.dumps(whole).encode(), "Isles", CAST)
        assert [statement.text for statement in lore.statements] == ["Varn is an island."]


def test_a_long_entry_is_cut_between_sentences_and_each_piece_says_what_it_is_about() -> None:
    sentences = [
        f"In the year {n} the harbour burned and was built again of stone." for n in range(80)
    ]
    lore = read([entry(" ".join(sentences), "Varn")])
    assert len(lore.statements) > 3
    assert all(statement.text.startswith("Varn: ") for statement in lore.statements)
    assert all(columns(statement.text) <= LONGEST for statement in lore.statements)
    assert "".join(statement.text for statement in lore.statements).count("burned") == 80


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        (["Lin Yue", "林月"], [("Lin Yue", ("林月",))]),
        (
            ["林月", "沈舟", "Lin Yue"],
            [("林月", ()), ("沈舟", ()), ("Lin Yue", ())],
        ),  # whose is it?
        (["Sera", "Seraphina"], [("Sera", ("Seraphina",))]),
        (["Bob", "Alice"], [("Bob", ()), ("Alice", ())]),
        (["sword", "a long sentence of many words here", "/re/i", "x"], []),
        (["Monday", "I", "NPC"], []),
    ],
)
def test_only_what_is_plainly_one_is_taken_for_one(
    keys: list[str], names: list[tuple[str, Any]]
) -> None:
    lore = read([entry("It is so.", *keys)])
    assert [(known_names.name, known_names.aliases) for known_names in lore.names] == names


@pytest.mark.parametrize(
    "text", ["", "[]", "7", '{"entries": null}', '{"name": "x"}', "{", "\ufeff"]
)
def test_what_is_no_world_is_refused_in_words(text: str) -> None:
    with pytest.raises(Unprocessable, match=r"empty|no JSON|no `entries`"):
        read_world(text.encode(), "Isles", CAST)


JSON = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=20)
    | st.lists(st.text(max_size=9), max_size=3)
)
FIELDS = ["key", "keys", "content", "comment", "name", "disable", "enabled", "constant"]


@given(
    st.dictionaries(
        st.text(max_size=4),
        JSON | st.dictionaries(st.sampled_from(FIELDS), JSON),
        max_size=5,
    )
)
def test_any_entries_are_read_without_a_fault(entries: dict[str, Any]) -> None:
    lore = read(entries)
    stated = len(lore.statements) + len(lore.broken) + lore.disabled
    assert stated <= len(entries)
    assert all(statement.text.strip() for statement in lore.statements)
