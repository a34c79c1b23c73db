"""An answer is read as JSON wherever it stands, and as far as it goes; nothing is invented."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.llm import Unreadable
from soulmem.prompts.reading.json_answers import read_object

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def is_part(value: Any, whole: Any) -> bool:
    """Whether `value` is `whole` without something of its end."""
    if isinstance(value, str):
        return isinstance(whole, str) and whole.startswith(value)
    if isinstance(value, list):
        return (
            isinstance(whole, list) and all(map(is_part, value, whole)) and len(value) <= len(whole)
        )
    if isinstance(value, dict):
        return isinstance(whole, dict) and all(
            k in whole and is_part(v, whole[k]) for k, v in value.items()
        )
    return bool(value == whole)


@given(VALUES, st.text(max_size=5))
def test_sound_json_is_read_as_it_is(value: Any, behind: str) -> None:
    text = json.dumps({"a": value, "wanted": value})
    assert read_object(text + "\n" + behind, ("a", "wanted")) == json.loads(text)


@given(VALUES, st.data())
def test_what_was_cut_off_keeps_its_whole_parts(value: Any, data: st.DataObject) -> None:
    whole = {"a": [value], "b": value}
    text = json.dumps(whole)
    cut = data.draw(st.integers(1, len(text)))
    try:
        result = read_object(text[:cut], ("a", "b"))
    except Unreadable:
        return
    assert is_part(result, whole) or is_part(result, value)


@given(st.text("{}[]\"':,\\u0041 ntx1.-\n", min_size=1, max_size=60))
def test_nothing_breaks_it(text: str) -> None:
    try:
        read_object(text, ("x", "n"))
    except Unreadable:
        return


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('Sure! {"a": 1} I hope this helps.', {"a": 1}),
        ('{"result": {"a": 1}}', {"a": 1}),
        ('[{"b": 2}, {"a": 1}]', {"a": 1}),
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
        ('{"a": [{"b": 1}, {"b": 2}, {"c', {"a": [{"b": 1}, {"b": 2}]}),
        ('{"a": "It rained. They went ho', {"a": "It rained."}),
        ('{"a": "下雨了。他们回', {"a": "下雨了。"}),
        ('{"a": [{"b": [1, 2]}, {"b": "x. y', {"a": [{"b": [1, 2]}, {"b": "x."}]}),
        ('{"a": ["\\"}", 1], "b": 2', {"a": ['"}', 1]}),
    ],
)
def test_where_and_how_it_stands(text: str, value: Any) -> None:
    assert read_object(text, ("a",)) == value


@pytest.mark.parametrize(
    "text", ["", "a: 1", "{'a': 1}", '{"a": 0.12', '{"b": 1}', '{"a": "half of', "[1]"]
)
def test_what_cannot_be_read(text: str) -> None:
    with pytest.raises(Unreadable):
        read_object(text, ("a",))


def test_an_answer_of_any_depth_is_read_or_refused() -> None:
    """Reading and writing JSON have limits of depth that differ by a few levels."""
    limit, refused = sys.getrecursionlimit(), 0
    for depth in range(limit - 250, limit):
        try:
            answer = read_object('{"a":' + "[" * depth + "]" * depth + "}", ("a",))
        except Unreadable:
            refused += 1
            continue
        assert list(answer) == ["a"]
    assert 0 < refused <= 250


def test_depth_and_length_are_bounded() -> None:
    with pytest.raises(Unreadable):
        read_object('{"a":' * 50_000, ("a",))


@pytest.mark.parametrize("character", ["\\ud83d", "\\ude00", "\\ud83dx"])
def test_half_an_emoji_is_a_sign_that_can_be_stored(character: str) -> None:
    answer = read_object(f'{{"a": ["by {character}"], "{character}": 1}}', ("a",))
    json.dumps(answer, ensure_ascii=False).encode("utf-8")
    assert answer["a"][0].startswith("by")
    assert read_object('{"a": "\\ud83d\\ude00"}', ("a",))["a"] == "\U0001f600"
