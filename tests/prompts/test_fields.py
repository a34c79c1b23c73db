"""Fields of an answer, from values of any type."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.prompts.reading import fields

ANYTHING: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(ANYTHING)
def test_every_value_has_a_reading(value: Any) -> None:
    words = fields.text(value, 30)
    assert words is None or (0 < len(words) <= 30 and words == words.strip() and "\n" not in words)
    name = fields.label(value, 10)
    assert name is None or 0 < len(name) <= 10
    assert len(fields.labels(value)) <= 8
    assert 0.0 <= fields.share(value, 0.5) <= 1.0
    expected = fields.numbers(value)
    assert list(expected) == sorted(set(expected))
    fields.objects(value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (" a  b\nc ", "a b c"),
        (["only one"], None),
        (7, None),
        ("", None),
        ("One. " * 300, "One. " * 79 + "One."),
        (
            ("It rained. " + "They went home and " * 30)[:400],
            "It rained.",
        ),  # cut by the schema
        ("It rained" * 60, None),
        ("Al hid it. [1] Mira saw it [2, 3].", "Al hid it. Mira saw it."),
        ("[4]", None),
        ("Room [a] on floor 2", "Room [a] on floor 2"),
    ],
)
def test_texts(value: Any, words: str | None) -> None:
    assert fields.text(value) == words


@pytest.mark.parametrize(
    ("value", "name"), [(" Lena\n Ruiz", "Lena Ruiz"), ("x" * 61, None), (7, None)]
)
def test_names(value: Any, name: str | None) -> None:
    assert fields.label(value) == name


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (["Lena", "Lena", {"name": "Anton"}, 3, None, "Anton"], ("Lena", "Anton")),
        ({"a": 1}, ()),
        ("", ()),
    ],
)
def test_lists_of_names(value: Any, names: tuple[str, ...]) -> None:
    assert fields.labels(value) == names


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0.3, 0.3),
        (1, 1.0),
        (7, 0.5),
        (-2, 0.5),
        ("0.3", 0.5),
        (True, 0.5),
        (float("nan"), 0.5),
        (float("inf"), 0.5),
        (None, 0.5),
    ],
)
def test_shares(value: Any, number: float) -> None:
    assert fields.share(value, 0.5) == pytest.approx(number)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([3, 1, 3], (1, 3)),
        (["2", "[4]", "L7"], (2, 4, 7)),
        ("1, 3", (1, 3)),
        (6, (6,)),
        ([True, None, {}, 2.0], ()),
        ("12345678901234567890", ()),
    ],
)
def test_line_numbers(value: Any, expected: tuple[int, ...]) -> None:
    assert fields.numbers(value) == expected


def test_objects() -> None:
    assert fields.objects({"a": 1}) is None
    assert fields.objects([{"a": 1}, 7]) == [{"a": 1}]
    assert fields.objects([]) == []
    assert fields.objects([42, None]) is None
    assert fields.objects("none") is None
