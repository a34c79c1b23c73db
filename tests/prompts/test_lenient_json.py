"""Broken JSON is read as far as it goes, and nothing is invented."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.prompts.reading.lenient_json import Partial, read_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-99, 99)
    | st.sampled_from([0.5, 0.25, -1.5])
    | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4)
    ),
    max_leaves=12,
)
CONTAINERS = st.lists(VALUES, max_size=4) | st.dictionaries(TEXTS, VALUES, max_size=4)


def is_part(value: Any, whole: Any) -> bool:
    """Whether `value` is `whole` without something of its end."""
    if isinstance(value, Partial):
        return isinstance(whole, str)
    if isinstance(value, list):
        return (
            isinstance(whole, list)
            and all(map(is_part, value, whole))
            and len(value) <= len(whole)
        )
    if isinstance(value, dict):
        return isinstance(whole, dict) and all(
            k in whole and is_part(v, whole[k]) for k, v in value.items()
        )
    return bool(value == whole)


@given(VALUES, st.text(max_size=5))
def test_sound_json_is_read_as_it_is(value: Any, behind: str) -> None:
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float) and not isinstance(value, bool):
        behind = " " + behind
    assert read_json(text + behind) == (value, len(text))


@given(CONTAINERS, st.data())
def test_what_was_cut_off_keeps_its_whole_parts(
    value: Any, data: st.DataObject
) -> None:
    text = json.dumps(value)
    cut = data.draw(st.integers(1, len(text)))
    result, end = read_json(text[:cut])
    assert is_part(result, value)
    assert end <= cut


@given(st.text("{}[]\"':,\\u0041 ntx1.-“”\n", min_size=1, max_size=60))
def test_nothing_breaks_it(text: str) -> None:
    try:
        _, end = read_json(text)
    except ValueError:
        return
    assert 0 < end <= len(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ("{'a': 'it''s', 'b': True, 'c': None}", {"a": "it''s", "b": True, "c": None}),
        (
            '{"a": "she said "no" to him", "b": 1}',
            {"a": 'she said "no" to him', "b": 1},
        ),
        ("{“a”: “他说”, “b”: 2}", {"a": "他说", "b": 2}),
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
        ('{a: yes, "b": 0.5}', {"a": "yes", "b": 0.5}),
        ('{"a": 1 // why\n, "b": 2}', {"a": 1, "b": 2}),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
        ('{"a": [1, 2}', {"a": [1, 2]}),
        ('{"a": , "b": 2}', {"b": 2}),
        ('{"a": "\\u6797\\ud83d\\ude00"', {"a": "林😀"}),
        ('{"a": 0.12', {}),
    ],
)
def test_usual_slips(text: str, value: Any) -> None:
    assert read_json(text)[0] == value


def test_the_text_under_way_is_known_to_be_cut() -> None:
    value, _ = read_json('{"a": "whole", "b": "half of')
    assert not isinstance(value["a"], Partial)
    assert isinstance(value["b"], Partial)


def test_depth_is_limited() -> None:
    with pytest.raises(ValueError, match="deep"):
        read_json("[" * 5000)


@pytest.mark.parametrize("character", ["\\ud83d", "\\ude00", "\\ud83dx"])
def test_half_an_emoji_is_a_sign_that_can_be_stored(character: str) -> None:
    for text in (
        f'{{"a": ["by the wall {character}"], "{character}": 1}}',
        f'{{"a": ["by the wall {character}',
    ):
        value, _ = read_json(text)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
        assert value["a"][0].startswith("by the wall")
    assert read_json('"\\ud83d\\ude00"')[0] == "\U0001f600"
