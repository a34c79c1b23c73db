"""How are things named?"""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import check_id, derived_id, new_id

PARTS = st.lists(st.sampled_from(["", "a", "b", "ab", "雨"]), min_size=1, max_size=4)


@given(st.text(max_size=70))
def test_an_id_is_1_to_64_plain_signs(text: str) -> None:
    """Exactly A-Z a-z 0-9 _ - in any mixture; everything else is refused with the field's name."""
    plain = 1 <= len(text) <= 64 and all(c.isascii() and (c.isalnum() or c in "_-") for c in text)
    if plain:
        assert check_id(text, "chat") == text
    else:
        with pytest.raises(Unprocessable) as refused:
            check_id(text, "chat")
        assert refused.value.field == "chat"


@pytest.mark.parametrize("text", ["a\n", "é", "", "a b", "x" * 65, "../etc"])
def test_what_only_looks_like_an_id_is_refused(text: str) -> None:
    """A line break at the end, letters beyond ASCII, nothing, a space, one too many, a path."""
    with pytest.raises(Unprocessable):
        check_id(text, "soul")


@given(PARTS, PARTS)
def test_derived_ids_are_equal_exactly_for_equal_parts(one: list[str], other: list[str]) -> None:
    """The parts are told apart, not just their concatenation."""
    assert (derived_id("e", *one) == derived_id("e", *other)) == (one == other)


def test_every_made_id_is_a_legal_id() -> None:
    """What the engine names, a client may send back."""
    for made in (new_id("m"), derived_id("e", "安娜", "m1")):
        assert check_id(made, "id") == made


def test_new_ids_sort_by_birth_and_never_repeat() -> None:
    """Two ids of different milliseconds sort by time; ten thousand of one moment differ."""
    early = new_id("m")
    time.sleep(0.002)
    assert early < new_id("m")
    assert len({new_id("m") for _ in range(10_000)}) == 10_000
