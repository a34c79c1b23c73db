"""Where do two versions of a sequence differ?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.sequences import Grown, Places, common_ends

SHORT = st.lists(st.integers(0, 2), max_size=12)


def naive(old: Sequence[int], new: Sequence[int]) -> tuple[int, int]:
    """The definition, word for word."""

    def shared(item: Sequence[int], other: Sequence[int]) -> int:
        return sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(item, other, strict=False))
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


@given(st.lists(st.tuples(st.integers(0, 20), SHORT), max_size=8))
def test_a_grown_sequence_is_what_was_put_into_it(
    steps: list[tuple[int, list[int]]],
) -> None:
    """Each version stays as it is, whatever goes on from it; what two share is found."""
    versions: list[tuple[Grown[int], list[int]]] = [(Grown(), [])]
    for count, more in steps:
        grown, plain = versions[count % len(versions)]
        cut = count % (len(plain) + 1)
        versions.append((grown.first(cut).extended(more), plain[:cut] + more))
    for grown, plain in versions:
        assert list(grown) == plain == list(reversed(list(reversed(grown))))
        assert (len(grown), grown == plain, grown == tuple(plain)) == (
            len(plain),
            True,
            True,
        )
        for part in (
            slice(None, 2),
            slice(1, None),
            slice(-2, None),
            slice(None, None, -1),
        ):
            assert list(grown[part]) == plain[part]
        for other, others in versions:
            assert common_ends(grown, other) == naive(plain, others)
            assert (grown == other) == (plain == others)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=8))
def test_places_are_those_of_the_keys_whatever_goes_on_from_them(
    steps: list[tuple[int, int]],
) -> None:
    versions: list[tuple[Places[str], list[str]]] = [(Places(), [])]
    for number, (which, count) in enumerate(steps):
        places, keys = versions[which % len(versions)]
        more = [f"{number}.{i}" for i in range(count)]
        versions.append((places.extended(more), keys + more))
    every = {key for _, keys in versions for key in keys}
    for places, keys in versions:
        assert dict(places) == {key: place for place, key in enumerate(keys)}
        assert {key for key in every if key in places} == set(keys)
