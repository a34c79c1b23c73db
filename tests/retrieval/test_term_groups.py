"""Groups of terms join their terms as far as these occur together in visible texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.graph.cooccurrence import npmi
from soulmem.graph.incidence import Incidence
from soulmem.graph.windows import Windows
from soulmem.kernels.spread import SpreadParams
from soulmem.retrieval.association import (
    ActiveTerms,
    AssociationParams,
    associated_rows,
    row_energy,
    spread_energy,
)
from soulmem.retrieval.term_groups import TermGroups

pytestmark = pytest.mark.timeout(60)

# Of the circle only neighbours are met: umbrella and puddle never are.
CIRCLE = ("umbrella", "coat", "boots", "puddle")
TEXTS = ["umbrella coat", "coat boots", "boots puddle"] * 3
TEXTS += ["puddle letter", *["bus late", "table chair"] * 8]


def held(texts: list[str]) -> Incidence:
    incidence = Incidence()
    for row, text in enumerate(texts):
        incidence.put(row, [(word, 1.0) for word in text.split()])
    return incidence


def numbers(incidence: Incidence, words: tuple[str, ...]) -> list[int]:
    return [n for word in words if (n := incidence.number(word)) is not None]


def spread_from(
    incidence: Incidence, word: str, groups: list[tuple[str, ...]], **more: float
) -> ActiveTerms:
    active = spread_energy(
        incidence,
        np.asarray(numbers(incidence, (word,)), np.int64),
        np.ones(1),
        np.ones(len(TEXTS), np.bool_),
        AssociationParams(spread=SpreadParams(**more)),  # type: ignore[arg-type]
        groups=[np.asarray(numbers(incidence, group), np.int64) for group in groups],
    )
    assert active is not None
    return active


def test_a_group_leads_to_what_its_terms_alone_do_not_reach() -> None:
    """Coat and boots are too far for the threshold; the circle is one step from both ends."""
    incidence = held(TEXTS)
    puddle = incidence.number("puddle")
    alone = spread_from(incidence, "umbrella", [], threshold=0.15)
    assert puddle not in alone.terms.tolist()
    active = spread_from(incidence, "umbrella", [CIRCLE], threshold=0.15)
    position = active.terms.tolist().index(puddle)
    way = [int(active.terms[place]) for place in active.chain(position)]
    assert way == [incidence.number("umbrella"), active.first_group, puddle]


def test_a_group_brings_the_texts_of_its_terms_and_none_of_its_own() -> None:
    incidence = held(TEXTS)
    visible = np.ones(len(TEXTS), np.bool_)
    active = spread_from(incidence, "umbrella", [CIRCLE])
    (place,) = np.flatnonzero(active.terms >= active.first_group).tolist()
    assert active.pull[place] == 0.0
    energy = row_energy(active, incidence, visible)
    assert energy[TEXTS.index("puddle letter")] > 0.0
    assert energy[TEXTS.index("bus late")] == 0.0
    reached = associated_rows(active, incidence, visible, 2, 0.0, 0.0)
    assert TEXTS.index("puddle letter") in reached.rows.tolist()


def test_where_a_chat_has_not_met_two_of_a_group_together_it_joins_nothing() -> None:
    incidence = held(TEXTS)
    circle = np.asarray(numbers(incidence, CIRCLE), np.int64)
    visible = np.ones(len(TEXTS), np.bool_)
    visible[: TEXTS.index("puddle letter")] = False
    groups = TermGroups(incidence, [circle], visible)
    assert not groups.members(groups.first).terms.size


@given(
    st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=1), min_size=1),
    st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=2), min_size=1, max_size=2),
    st.integers(0, 9999) | st.none(),
)
def test_group_and_term_are_counted_like_two_terms(
    texts: list[frozenset[str]], of_groups: list[frozenset[str]], seed: int | None
) -> None:
    """As if each window with two of the group had one more term, which stands for the group.

    seed  of a random partition of the texts into windows; None: each by itself
    """
    incidence = held([" ".join(sorted(text)) for text in texts])
    n = len(texts)
    visible = np.arange(n) % 3 != 1
    of, windows = np.arange(n), None
    if seed is not None:
        of = np.random.default_rng(seed).integers(0, n, n)
        windows = Windows.by(of.astype(np.int32))
    said = [
        frozenset[str]().union(*(texts[row] for row in np.flatnonzero((of == w) & visible)))
        for w in range(n)
    ]
    shown = [words for words in said if words]
    members = [numbers(incidence, tuple(sorted(group))) for group in of_groups]
    arrays = [np.asarray(terms, np.int64) for terms in members]
    groups = TermGroups(incidence, arrays, visible, windows)
    for i, (group, terms) in enumerate(zip(of_groups, members, strict=True)):
        of_group = [words for words in shown if len(words & group) > 1]
        found = groups.members(groups.first + i)
        expected = {}
        for term in terms:
            word = incidence.key(term)
            pair = sum(word in words for words in of_group)
            alone = sum(word in words for words in shown)
            counts = np.asarray([[pair], [alone], [len(of_group)]], np.int64)
            strength = float(npmi(counts[0], counts[1], counts[2], len(shown))[0])
            if strength > 0:
                expected[term] = (pytest.approx(strength), pair, alone)
        each = zip(
            found.strength.tolist(),
            found.pair.tolist(),
            found.windows.tolist(),
            strict=True,
        )
        assert dict(zip(found.terms.tolist(), each, strict=True)) == expected
