"""JSON of others: any text becomes one that can be stored and sent, and no depth reaches a parser."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.foreign_json import (
    MOST_DEPTH,
    NestsTooDeep,
    check_depth,
    first_value,
    read_json,
    sound_json,
)

LONE = "\ufffd"
ANY_TEXT = st.text(
    st.characters(codec=None) | st.sampled_from(["\ud83d", "\ude00", "\\", '"', "u", "[", "}"])
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


def joined(text: str) -> str:
    """The text as a strict reader has it: pairs are one character, halves are replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@given(VALUES)
def test_whatever_json_holds_can_be_sent_again(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        msgspec.json.encode(read_json(text))


@given(ANY_TEXT)
def test_only_halves_of_pairs_are_replaced(text: str) -> None:
    assert read_json(json.dumps(text)) == joined(text)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (rb'"a\ud83d b"', f"a{LONE} b"),
        (rb'"\uDE00\uD83D"', LONE * 2),
        (rb'"\ud83d\ud83d\ude00"', LONE + "\U0001f600"),
        (rb'"\\ud83d"', r"\ud83d"),
        (rb'"\\\ud83d\\"', "\\" + LONE + "\\"),
    ],
)
def test_a_backslash_behind_a_backslash_begins_no_escape(raw: bytes, text: str) -> None:
    assert read_json(raw) == text
    assert json.loads(sound_json(raw)) == text


def test_bytes_that_are_no_utf8_are_refused_and_not_read_as_surrogates() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        read_json(b'"\xed\xa0\xbd"')


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("NaN", None),
        ("-Infinity", None),
        ("1e999", sys.float_info.max),
        ("9" * 400, sys.float_info.max),
        ("-" + "9" * 5000, -sys.float_info.max),
        ("9223372036854775807", 9223372036854775807),
        ("9223372036854775808", 9223372036854775808.0),
    ],
)
def test_a_number_that_no_program_takes_becomes_the_nearest(raw: str, value: float | None) -> None:
    read = read_json(raw)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("part", ["[", '{"a":', '[{"a":['])
def test_depth_is_bounded_before_anything_is_parsed(part: str) -> None:
    for text in (part * 100_000, f'{{"b": "[]", "a": {part * 1000}'):
        with pytest.raises(NestsTooDeep):
            read_json(text)
        with pytest.raises(NestsTooDeep):
            check_depth(text.encode())


def test_what_is_not_deep_is_read_however_many_brackets_it_has() -> None:
    whole = "[" * MOST_DEPTH + "]" * MOST_DEPTH
    assert read_json(f"[{whole[1:-1]}]") == json.loads(whole)
    assert read_json(json.dumps([[]] * 10_000)) == [[]] * 10_000
    brackets = ["[" * 5000, "\\" + "{" * 5000, '\\"[' * 3000]
    assert read_json(json.dumps(brackets)) == brackets


def test_a_value_in_a_longer_text_is_bounded_as_well() -> None:
    assert first_value('so: {"a": "x\n\\ud83d"} and', 4) == {"a": f"x\n{LONE}"}
    for depth in (MOST_DEPTH + 1, 100_000):
        with pytest.raises(NestsTooDeep):
            first_value("[" * depth + "]" * depth, 0)


# They read what SoulMem wrote itself, or files that are installed with it or with a model.
OWN = (
    "soulmem/adapters/surreal/",
    "soulmem/adapters/snapshot_folder.py",
    "soulmem/adapters/sentence_transformer.py",  # the config beside a model
    "soulmem/cli/demo.py",
    "soulmem/cli/words.py",
    "soulmem/domain/foreign_json.py",
)


def test_no_door_reads_json_another_way() -> None:
    root = Path(__file__).parents[2]
    listed = subprocess.run(
        ["git", "grep", "-lE", r"json\.loads?\(|RecursionError", "--", "soulmem"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert [name for name in listed if not name.startswith(OWN)] == []
