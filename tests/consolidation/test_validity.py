"""Which facts hold is a function of what was told and in which order, however they are looked at."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from soulmem.consolidation.validity import Claim, Moment, ended, excludes
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
MOMENTS: st.SearchStrategy[Moment] = st.tuples(
    st.integers(0, 6).map(float), st.integers(0, 3)
)


@st.composite
def claims(draw: st.DrawFn) -> list[Claim]:
    """Facts about a few things, each of which was told some times; each is there once."""
    ends = st.sampled_from("abcd")
    keys = draw(
        st.lists(st.tuples(ends, st.sampled_from(VERBS), ends), unique=True, max_size=8)
    )
    return [
        Claim(
            key=f"{subject} {verb} {thing}",
            subject=subject,
            object=thing,
            relation=relation_of(verb),
            told=tuple(sorted(draw(st.sets(MOMENTS, min_size=1, max_size=3)))),
            by_hand=draw(st.booleans()),
        )
        for subject, verb, thing in keys
        if subject != thing
    ]


@given(claims(), st.randoms())
def test_the_order_in_which_facts_are_looked_at_does_not_matter(
    some: list[Claim], random: object
) -> None:
    shuffled = list(some)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for one in some:
        assert ended(one, some) == ended(one, shuffled)


@given(claims())
def test_a_fact_ends_only_by_what_was_told_no_earlier_and_rules_it_out(
    some: list[Claim],
) -> None:
    by_key = {one.key: one for one in some}
    for one in some:
        found = ended(one, some)
        if found is not None:
            ender = by_key[found.by]
            assert excludes(ender, one)
            assert found.at >= one.told[-1]
            assert found.at in ender.told
            assert ender.by_hand or not one.by_hand


@given(claims())
def test_without_what_ended_it_a_fact_holds(some: list[Claim]) -> None:
    for one in some:
        left = list(some)
        while (found := ended(one, left)) is not None:
            left = [other for other in left if other.key != found.by]
        assert ended(one, [other for other in some if not excludes(other, one)]) is None


@given(claims())
def test_of_what_rules_out_one_another_not_all_is_over_and_what_was_told_last_holds(
    some: list[Claim],
) -> None:
    drafted = [replace(one, by_hand=False) for one in some]
    for one in drafted:
        others = [other for other in drafted if excludes(other, one)]
        if all(other.told[-1] < one.told[-1] for other in others):
            assert ended(one, drafted) is None
        if any(other.told[-1] > one.told[-1] for other in others):
            assert ended(one, drafted) is not None


@given(claims(), MOMENTS)
def test_what_is_told_in_one_breath_ends_by_a_denial_alone(
    some: list[Claim], moment: Moment
) -> None:
    at_once = [replace(one, told=(moment,), by_hand=False) for one in some]
    for one in at_once:
        denied = [
            other
            for other in at_once
            if excludes(other, one) and other.relation.is_over
        ]
        assert (ended(one, at_once) is not None) is bool(
            denied and not one.relation.is_over
        )


@given(claims())
def test_ruling_out_is_mutual(some: list[Claim]) -> None:
    for one in some:
        assert not excludes(one, one)
        for other in some:
            assert excludes(one, other) is excludes(other, one)
