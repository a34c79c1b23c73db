"""Validity of facts depends on statements and their order alone."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from soulmem.consolidation.validity import FactClaim, Moment, are_exclusive, fact_end
from soulmem.language.relations import relation_of

VERBS = (
    "lives in",
    "resides in",
    "no longer lives in",
    "is married to",
    "loves",
    "hates",
    "spoke of",
    "住在",
)
MOMENTS: st.SearchStrategy[Moment] = st.tuples(st.integers(0, 6).map(float), st.integers(0, 3))


@st.composite
def claims(draw: st.DrawFn) -> list[FactClaim]:
    """Facts about a few things, each of which was told some times; each is there once."""
    ends = st.sampled_from("abcd")
    keys = draw(st.lists(st.tuples(ends, st.sampled_from(VERBS), ends), unique=True, max_size=8))
    return [
        FactClaim(
            key=f"{subject} {verb} {thing}",
            subject=subject,
            object=thing,
            relation=relation_of(verb),
            times=tuple(sorted(draw(st.sets(MOMENTS, min_size=1, max_size=3)))),
            by_hand=draw(st.booleans()),
        )
        for subject, verb, thing in keys
        if subject != thing
    ]


@given(claims(), st.randoms())
def test_the_order_in_which_facts_are_looked_at_does_not_matter(
    some: list[FactClaim], random: object
) -> None:
    shuffled = list(some)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for claim in some:
        assert fact_end(claim, some) == fact_end(claim, shuffled)


@given(claims())
def test_a_fact_ends_only_by_what_was_told_no_earlier_and_rules_it_out(
    some: list[FactClaim],
) -> None:
    by_key = {claim.key: claim for claim in some}
    for claim in some:
        end = fact_end(claim, some)
        if end is not None:
            ender = by_key[end.by]
            assert are_exclusive(ender, claim)
            assert end.moment >= claim.times[-1]
            assert end.moment in ender.times
            assert ender.by_hand or not claim.by_hand


@given(claims())
def test_without_what_ended_it_a_fact_holds(some: list[FactClaim]) -> None:
    for claim in some:
        remaining = list(some)
        while (end := fact_end(claim, remaining)) is not None:
            remaining = [other for other in remaining if other.key != end.by]
        assert fact_end(claim, [other for other in some if not are_exclusive(other, claim)]) is None


@given(claims())
def test_of_what_rules_out_one_another_not_all_is_over_and_what_was_told_last_holds(
    some: list[FactClaim],
) -> None:
    drafted = [replace(claim, by_hand=False) for claim in some]
    for claim in drafted:
        others = [other for other in drafted if are_exclusive(other, claim)]
        if all(other.times[-1] < claim.times[-1] for other in others):
            assert fact_end(claim, drafted) is None
        if any(other.times[-1] > claim.times[-1] for other in others):
            assert fact_end(claim, drafted) is not None


@given(claims(), MOMENTS)
def test_what_is_told_in_one_breath_ends_by_a_denial_alone(
    some: list[FactClaim], moment: Moment
) -> None:
    at_once = [replace(claim, times=(moment,), by_hand=False) for claim in some]
    for claim in at_once:
        denied = [
            other for other in at_once if are_exclusive(other, claim) and other.relation.is_over
        ]
        assert (fact_end(claim, at_once) is not None) is bool(denied and not claim.relation.is_over)


@given(claims())
def test_ruling_out_is_mutual(some: list[FactClaim]) -> None:
    for claim in some:
        assert not are_exclusive(claim, claim)
        for other in some:
            assert are_exclusive(claim, other) is are_exclusive(other, claim)
