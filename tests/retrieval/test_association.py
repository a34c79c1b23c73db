"""Associated terms: found by co-occurrence in visible rows alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from soulmem.graph.incidence import Incidence
from soulmem.kernels.spread import SpreadParams
from soulmem.retrieval.association import (
    ActiveTerms,
    AssociationParams,
    associated_rows,
    row_energy,
    spread_energy,
)

pytestmark = pytest.mark.timeout(60)
Bools = NDArray[np.bool_]
# Rows 0-2 tie the query to the penguin, 3 once to the wolf; 4 and 5 tell of these without the query.
TEXTS = [
    "umbrella penguin",
    "umbrella penguin",
    "umbrella penguin rain",
    "umbrella wolf",
    "penguin letter",
]
TEXTS += ["wolf bread", *["rain bus", "bus late", "table chair"] * 6]


def held(texts: list[str]) -> Incidence:
    incidence = Incidence()
    for row, text in enumerate(texts):
        incidence.put(row, [(word, 1.0) for word in text.split()])
    return incidence


def spread(incidence: Incidence, words: str, visible: Bools, **more: float) -> ActiveTerms | None:
    numbers = [n for word in words.split() if (n := incidence.number(word)) is not None]
    params = AssociationParams(spread=SpreadParams(**more))  # type: ignore[arg-type]
    return spread_energy(
        incidence, np.asarray(numbers, np.int64), np.ones(len(numbers)), visible, params
    )


def names(incidence: Incidence, active: ActiveTerms) -> list[str]:
    return [incidence.key(int(term)) for term in active.terms]


def test_what_was_met_often_calls_up_what_holds_it() -> None:
    incidence, visible = held(TEXTS), np.ones(len(TEXTS), np.bool_)
    active = spread(incidence, "umbrella", visible)
    assert active is not None
    energy = dict(zip(names(incidence, active), active.energy.tolist(), strict=True))
    assert energy["penguin"] > energy["wolf"] > 0
    associated = associated_rows(active, incidence, visible, 2, 0.0, 0.0)
    assert associated.rows.tolist() == [4]
    assert [
        incidence.key(int(active.terms[row]))
        for row in active.chain(int(associated.term_position[0]))
    ] == [
        "umbrella",
        "penguin",
    ]
    assert associated.direct_rows.tolist() == [0, 1, 2, 3]
    assert associated_rows(active, incidence, visible, 1, 0.0, 0.0).rows.tolist()[:2] == [
        4,
        5,
    ]
    assert associated_rows(active, incidence, visible, 2, 1.0, 0.0).rows.size == 0


def test_what_was_met_lately_receives_more_and_nothing_more_than_all() -> None:
    incidence = held(["violin sea", "violin sea", "violin hill", "violin hill", "bus"])
    visible, seeds = np.ones(5, np.bool_), np.asarray([incidence.number("violin")])
    lately = incidence.number("hill")

    def energy(share: float) -> dict[str, float]:
        active = spread_energy(
            incidence,
            seeds,
            np.ones(1),
            visible,
            AssociationParams(base=share),
            base=lambda terms: (terms == lately).astype(np.float64),
        )
        assert active is not None
        return dict(zip(names(incidence, active), active.energy.tolist(), strict=True))

    assert energy(0.0)["hill"] == energy(0.0)["sea"]
    assert energy(0.5)["hill"] > energy(0.5)["sea"] >= energy(0.0)["sea"] * 0.9
    assert energy(1.0)["violin"] + energy(1.0)["hill"] + energy(1.0)["sea"] < 3.0


def test_what_is_not_known_leads_nowhere() -> None:
    incidence, visible = held(TEXTS), np.ones(len(TEXTS), np.bool_)
    visible[:3] = False
    active = spread(incidence, "umbrella", visible)
    assert active is not None
    assert "penguin" not in names(incidence, active)
    visible[3] = False
    assert spread(incidence, "umbrella", visible) is None


def test_a_row_is_as_active_as_its_terms_together() -> None:
    incidence, visible = held(TEXTS), np.ones(len(TEXTS), np.bool_)
    active = spread(incidence, "umbrella", visible)
    assert active is not None
    energy = row_energy(active, incidence, visible)
    pull = dict(zip(names(incidence, active), active.pull.tolist(), strict=True))
    for row, text in enumerate(TEXTS):
        assert energy[row] == pytest.approx(sum(pull.get(word, 0.0) for word in text.split()))
    assert energy.argmax() in (0, 1, 2)


WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=4, unique=True).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=20), st.data())
def test_it_depends_on_the_known_rows_alone(texts: list[str], data: st.DataObject) -> None:
    """Rows in another order, among rows that are not known: the same energy for the same terms."""
    unknown = data.draw(st.lists(WORDS, max_size=10))
    order = data.draw(st.permutations(range(len(texts))))
    query = data.draw(WORDS)
    item = held(texts)
    other = held([*unknown, *(texts[row] for row in order)])
    associated = [
        spread(item, query, np.ones(len(texts), np.bool_), threshold=0.02),
        spread(
            other,
            query,
            np.arange(len(unknown) + len(texts)) >= len(unknown),
            threshold=0.02,
        ),
    ]
    energies = [
        {}
        if active is None
        else dict(zip(names(incidence, active), active.energy.tolist(), strict=True))
        for incidence, active in zip((item, other), associated, strict=True)
    ]
    assert energies[0] == pytest.approx(energies[1], abs=1e-9)
