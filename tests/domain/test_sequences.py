"""Where do two versions of a sequence differ?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.sequences import common_ends

SHORT = st.lists(st.integers(0, 2), max_size=12)


def naive(old: Sequence[int], new: Sequence[int]) -> tuple[int, int]:
    """The definition, word for word."""

    def shared(item: Sequence[int], other: Sequence[int]) -> int:
        return sum(
            1
            for _ in takewhile(
                lambda pair: pair[0] == pair[1], zip(item, other, strict=False)
            )
        )

    prefix = shared(old, new)
    return prefix, shared(old[prefix:][::-1], new[prefix:][::-1])


@given(SHORT, SHORT)
def test_it_agrees_with_the_definition(old: list[int], new: list[int]) -> None:
    """Longest common prefix, then the longest common suffix of what is left."""
    assert common_ends(old, new) == naive(old, new)


@given(head=SHORT, tail=SHORT, old=SHORT, new=SHORT)
def test_nothing_at_the_shared_ends_is_overlooked(
    head: list[int], tail: list[int], old: list[int], new: list[int]
) -> None:
    """A sequence edited in its middle differs only there, however long the ends are."""
    item, other = head * 9 + old + tail * 9, head * 9 + new + tail * 9
    prefix, suffix = common_ends(item, other)
    assert prefix + suffix <= min(len(item), len(other))
    assert prefix + suffix >= len(head * 9) + len(tail * 9)
    assert (prefix, suffix) == naive(item, other)
