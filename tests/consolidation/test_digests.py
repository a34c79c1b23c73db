"""Digests quote important and topical lines, without repetition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from soulmem.consolidation.digests import DigestLine, DigestParams, choose_lines

lines = st.lists(
    st.builds(
        DigestLine,
        st.text("ab ", min_size=1, max_size=4),
        st.floats(0, 1),
        st.lists(st.sampled_from("xyz"), max_size=3).map(tuple),
        st.floats(0, 1),
    ),
    max_size=12,
)


@given(lines, st.integers(1, 6))
def test_it_quotes_few_in_their_order_and_nothing_twice(
    given_lines: list[DigestLine], most: int
) -> None:
    chosen = choose_lines(given_lines, DigestParams(lines=most))

    assert chosen == sorted(set(chosen))
    quoted = {" ".join(line.text.split()).casefold() for line in given_lines}
    assert len(chosen) == min(most, len(quoted))
    assert len(
        {" ".join(given_lines[index].text.split()).casefold() for index in chosen}
    ) == len(chosen)


def test_what_matters_comes_first() -> None:
    lines = [DigestLine("a", 0.2), DigestLine("b", 0.9), DigestLine("c", 0.3)]
    assert choose_lines(lines, DigestParams(lines=1)) == [1]
    assert choose_lines(lines, DigestParams(lines=2)) == [1, 2]


def test_what_most_is_about_weighs() -> None:
    lines = [
        DigestLine("a", 0.3, ("rain",)),
        DigestLine("b", 0.2, ("storm",)),
        DigestLine("c", 0.2, ("storm",)),
    ]
    assert choose_lines(lines, DigestParams(lines=2)) == [1, 2]


def test_what_was_asked_for_weighs_most() -> None:
    lines = [
        DigestLine("a", 0.9, ("rain",)),
        DigestLine("b", 0.1, ("heron",), asked=1.0),
    ]
    assert choose_lines(lines, DigestParams(lines=1)) == [1]
