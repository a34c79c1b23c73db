"""Are topics what belongs together, and the same ones from one time to the next?"""

from __future__ import annotations

import random
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from soulmem.graph.topic_communities import Topic, TopicParams, topics_of

Links = dict[tuple[str, str], float]

FRONTEND = ("React", "Svelte", "Vue", "TypeScript")
KITCHEN = ("flour", "butter", "oven", "sugar", "dough")
SEA = ("harbour", "sail", "storm", "captain")


def clique(concepts: tuple[str, ...], weight: float = 0.6) -> Links:
    """Everything goes with everything."""
    return {pair: weight for pair in combinations(sorted(concepts), 2)}


def three() -> Links:
    """Three circles, each barely joined to the next."""
    weak = {("React", "butter"): 0.05, ("oven", "storm"): 0.05}
    return clique(FRONTEND) | clique(KITCHEN) | clique(SEA) | weak


def members(topics_found: list[Topic]) -> list[set[str]]:
    return [set(topic.members) for topic in topics_found]


def test_what_goes_together_is_a_topic_named_by_its_strongest() -> None:
    links = three() | {("Vue", "React"): 0.9, ("React", "Svelte"): 0.9}
    topics_found = topics_of(links)
    assert members(topics_found) == [set(KITCHEN), set(FRONTEND), set(SEA)]
    assert topics_found[1].name[0] == "React"
    assert all(
        len(topic.name) == 3 and set(topic.name) <= set(topic.members) for topic in topics_found
    )


def test_two_concepts_are_no_topic() -> None:
    assert topics_of({("salt", "pepper"): 0.9}) == []
    assert topics_of({}) == []


@given(st.integers(0, 2**32))
def test_neither_order_nor_direction_matters(seed: int) -> None:
    rng = random.Random(seed)
    items = [((a, b) if rng.random() < 0.5 else (b, a), w) for (a, b), w in three().items()]
    rng.shuffle(items)
    assert topics_of(dict(items)) == topics_of(three())


def test_a_topic_that_grows_keeps_key_and_name() -> None:
    first = topics_of(three())
    links = three() | clique((*SEA, "anchor", "mast"), 0.9)
    later = topics_of(links, first)
    assert {t.key: t.name for t in later} == {t.key: t.name for t in first}
    assert set(next(t for t in later if "anchor" in t.members).members) == {
        *SEA,
        "anchor",
        "mast",
    }


def test_a_name_that_is_no_longer_in_it_goes() -> None:
    first = topics_of(clique(SEA))
    former = first[0].name[0]
    links = clique((*(c for c in SEA if c != former), "anchor"))
    (later,) = topics_of(links, first)
    assert later.key == first[0].key
    assert former not in later.name


def test_members_do_not_depend_on_what_was_before() -> None:
    before = [
        Topic("x", ("oven",), ("oven", "React", "storm")),
        Topic("y", ("sail",), SEA),
    ]
    assert members(topics_of(three(), before)) == members(topics_of(three()))


@given(st.integers(0, 2**32))
def test_no_two_topics_share_a_key_or_a_member(seed: int) -> None:
    rng = random.Random(seed)
    concepts = [f"c{n}" for n in range(25)]
    links = {tuple(sorted(rng.sample(concepts, 2))): rng.random() for _ in range(60)}
    some = {pair: w for pair, w in links.items() if rng.random() < 0.7}
    topics_found = topics_of(links, topics_of(some))  # type: ignore[arg-type]
    assert len({t.key for t in topics_found}) == len(topics_found)
    assert sum(len(t.members) for t in topics_found) == len(
        {c for t in topics_found for c in t.members}
    )


def test_more_resolution_gives_smaller_topics() -> None:
    links = (
        clique(FRONTEND, 0.4)
        | clique(KITCHEN, 0.4)
        | {("Vue", "oven"): 0.4, ("React", "butter"): 0.4}
    )
    coarse, fine = (topics_of(links, params=TopicParams(resolution=r)) for r in (0.05, 1.0))
    assert max(len(t.members) for t in coarse) > max(len(t.members) for t in fine)
