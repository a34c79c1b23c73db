"""Priority of memories for rehearsal, and the pairs that are linked."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from soulmem.consolidation.rehearsal import (
    RehearsalParams,
    pairs_to_link,
    rehearsal_worth,
)

SHARE, COUNT, AGE = st.floats(0.01, 1.0), st.integers(0, 100), st.floats(0.0, 1e5)
CAME = st.lists(st.sets(st.sampled_from("abcdefghijkl"), max_size=8), max_size=12)


def worths(*memories: tuple[float, int, float]) -> list[float]:
    """What each is worth, by its importance, recalls and age."""
    importance, recalls, age = zip(*memories, strict=True)
    values = rehearsal_worth(
        np.asarray(importance), np.asarray(recalls), np.asarray(age), RehearsalParams()
    )
    return [float(factor) for factor in values]


@given(st.tuples(SHARE, COUNT, AGE), st.tuples(SHARE, COUNT, AGE))
def test_each_of_the_three_raises_the_worth(
    factor: tuple[float, int, float], other: tuple[float, int, float]
) -> None:
    """Property: within 0..1, and no less for more importance, more recalls or less age."""
    best = (
        max(factor[0], other[0]),
        max(factor[1], other[1]),
        min(factor[2], other[2]),
    )
    values = worths(factor, other, best)
    assert 0.0 < max(values[:2]) <= values[2] <= 1.0


def test_recalls_and_recency_count() -> None:
    expected, unknown, old = worths((0.5, 5, 10.0), (0.5, 0, 10.0), (0.5, 5, 900.0))
    assert expected > unknown
    assert expected > old


@given(
    CAME,
    st.sets(st.frozensets(st.sampled_from("abcdefghijkl"), min_size=2, max_size=2)),
)
def test_what_came_together_most_often_is_linked_once(
    came: list[set[str]], joined: set[frozenset[str]]
) -> None:
    """Property: only pairs that came together and have no link, each once, the most often met first, and no
    other that met more often is left out.
    """
    p = RehearsalParams(links=5)
    pairs = pairs_to_link(came, {"a": 1.0}, joined, p)
    times = {
        pair: sum(set(pair) <= factor for factor in came)
        for pair in combinations("abcdefghijkl", 2)
        if frozenset(pair) not in joined
    }
    met = [times[pair] for pair in pairs]
    assert len(set(pairs)) == len(pairs) == min(5, sum(count > 0 for count in times.values()))
    assert met == sorted(times.values(), reverse=True)[: len(met)]


def test_among_pairs_met_as_often_the_frequent_come_first() -> None:
    came = [{"a", "b"}, {"c", "d"}]
    pairs = pairs_to_link(came, {"d": 0.5}, set(), RehearsalParams(links=1))
    assert pairs == {("c", "d"): 1}


def test_a_link_of_many_recalls_is_stronger_than_one_of_few() -> None:
    """One recall gives .1; five give what is strong enough to bring a memory (.25), four do not."""
    one, four, five, many = map(RehearsalParams().strength_after, (1, 4, 5, 100))
    assert one == 0.1
    assert four < 0.25 < five < many <= 1.0
