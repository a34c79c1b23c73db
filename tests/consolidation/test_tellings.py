"""Which texts tell the same event, and which of them stands for the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations
from random import Random

import networkx
import pytest

from soulmem.consolidation.tellings import (
    Event,
    Fit,
    Telling,
    comparable_texts,
    events_of,
    no_vectors,
    tells_the_same,
)
from soulmem.domain.ids import MemoryId

THEFT = {"irma": 0.9, "flag": 0.8, "mill": 0.8, "steal": 0.4}


def telling(
    key: str,
    topics: Mapping[str, float],
    *,
    who: str = "Al: ",
    marks: tuple[str, ...] = (),
    names: tuple[str, ...] = ("irma",),
    words: str = "",
    happened: float = 0.0,
) -> Telling:
    """A text about these topics."""
    return Telling(
        MemoryId(key),
        frozenset([who]),
        frozenset(marks),
        topics,
        frozenset(names).intersection(topics),
        frozenset((words or " ".join(topics)).split()),
        happened,
    )


def same(first: Telling, other: Telling, fit: float = float("nan")) -> bool:
    """Whether they tell the same, either way round."""
    answers = {
        tells_the_same(first, other, lambda _, __: fit),
        tells_the_same(other, first, lambda _, __: fit),
    }
    (answer,) = answers
    return answer


A = telling("a", THEFT)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (telling("b", THEFT), True),
        (telling("b", {**THEFT, "notice": 0.4}), True),
        (telling("b", {**THEFT, "notice": 0.4, "dog": 0.8}), False),
        (telling("b", {**THEFT, "hugo": 0.4}, names=("irma", "hugo")), False),
        (telling("b", {**THEFT, "flag": 0.8, "barn": 0.5}), False),
        (telling("b", THEFT, who="Mira: "), False),
        (telling("b", THEFT, marks=("not 1",)), False),
        (telling("b", THEFT, marks=("20",)), False),
    ],
)
def test_texts_that_claim_the_same_of_the_same_tell_one_event(
    other: Telling, expected: bool
) -> None:
    first = A if "barn" not in other.topics else telling("a", {**THEFT, "well": 0.3})
    assert same(first, other) is expected


def test_small_talk_tells_no_event_however_alike_it_is() -> None:
    small = {"morning": 0.8, "tea": 0.7}
    assert not same(telling("a", small), telling("b", small))


def test_vectors_let_more_words_differ_and_may_refuse_what_words_allow() -> None:
    more = telling("b", {**THEFT, "notice": 0.6})

    assert not same(A, more)
    assert same(A, more, fit=7.0)
    assert not same(A, telling("b", THEFT), fit=1.0)


def test_what_stands_for_the_others_shares_most_words_with_them() -> None:
    words = ["flag mill stole", "flag mill stole night", "flag mill stole night cold"]
    tellings = [telling(str(i), THEFT, words=w, happened=i) for i, w in enumerate(words)]

    (event,) = events_of(tellings, (), no_vectors)

    assert event == Event(MemoryId("1"), (MemoryId("0"), MemoryId("2")))


def test_a_memory_keeps_its_place_while_it_is_central_enough() -> None:
    tellings = [telling(str(i), THEFT, words="flag mill") for i in range(4)]

    (event,) = events_of(tellings, [MemoryId("3")], no_vectors)

    assert event.centre == "3"


def test_what_is_near_only_to_a_third_text_is_not_joined_through_it() -> None:
    """Each of a chain tells the same as the next; its ends lack too much of each other."""
    chain = [dict(THEFT)]
    for topic in ("notice", "night", "lamp"):
        chain.append({**chain[-1], topic: 0.4})
    tellings = [telling(str(i), topics, happened=i) for i, topics in enumerate(chain)]
    assert not same(tellings[0], tellings[-1])

    for event in events_of(tellings, (), no_vectors):
        centre = next(t for t in tellings if t.key == event.centre)
        for key in event.others:
            assert same(centre, next(t for t in tellings if t.key == key))


@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_the_texts_does_not_matter(seed: int) -> None:
    rng = Random(seed)
    tellings = []
    for number in range(20):
        topics = dict(THEFT)
        for extra in rng.sample(["notice", "night", "lamp"], rng.randint(0, 2)):
            topics[extra] = 0.4
        marks = rng.choice([(), ("2",)])
        tellings.append(telling(str(number), topics, marks=marks, happened=number % 5))
    expected = events_of(tellings, (), no_vectors)
    rng.shuffle(tellings)

    assert events_of(tellings, (), no_vectors) == expected
    assert expected


def random_telling(key: str, rng: Random) -> Telling:
    """A message or a draft about a few things, which others may be about as well."""
    topics = {word: rng.choice((0.4, 0.8, 1.0)) for word in THEFT}
    for word in rng.sample(["notice", "night", "lamp", "dog"], rng.randint(0, 3)):
        topics[word] = rng.choice((0.2, 0.4))
    for word in rng.sample(sorted(topics), rng.choice((0, 0, 1, 2))):
        del topics[word]
    first = telling(
        key,
        topics,
        marks=rng.choice(((), ("2",))),
        names=tuple(rng.sample(["irma", "dog", "lamp"], rng.randint(0, 2))),
        words=" ".join(rng.sample([*topics, *"abcdef"], 4 + len(topics))),
        happened=rng.randrange(9),
    )
    lines = rng.choice(("", "", "", "12", "123", "34", "45"))
    return replace(first, lines=frozenset(map(MemoryId, lines)))


def random_fit(seed: int) -> Fit:
    """A fit of its own for each two texts, the same either way round; some have none."""

    def fit(first: Telling, other: Telling) -> float:
        keys = sorted((first.key, other.key))
        return Random(f"{seed} {keys}").choice((1.0, 5.0, 7.0, 9.0, float("nan")))

    return fit


def same_in_component(tellings: list[Telling], fit: Fit) -> Callable[[MemoryId, MemoryId], bool]:
    """Whether two texts tell the same and are connected: statements are by their first tellings."""
    by_key = {text.key: text for text in tellings}
    statements: dict[object, list[Telling]] = {}
    for text in sorted(tellings, key=lambda t: (t.happened, t.key)):
        statements.setdefault(text.statement, []).append(text)
    groups = list(statements.values())
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(groups)))
    graph.add_edges_from(
        (one, other)
        for one, other in combinations(range(len(groups)), 2)
        if tells_the_same(groups[one][0], groups[other][0], fit)
    )
    component = {
        text.key: number
        for number, together in enumerate(networkx.connected_components(graph))
        for group in together
        for text in groups[group]
    }

    def is_same(one: MemoryId, other: MemoryId) -> bool:
        is_connected = component[one] == component[other]
        return is_connected and tells_the_same(by_key[one], by_key[other], fit)

    return is_same


@pytest.mark.parametrize("seed", range(40))
def test_each_centre_takes_all_that_tell_the_same_and_no_two_are_left(
    seed: int,
) -> None:
    """By a look at every two texts."""
    rng = Random(seed)
    tellings = [random_telling(str(n), rng) for n in range(rng.randint(20, 90))]
    centres = [t.key for t in tellings if rng.random() < 0.1]
    for fit in (no_vectors, random_fit(seed)):
        is_same = same_in_component(tellings, fit)
        found = events_of(tellings, centres, fit)
        assert found
        left = {t.key for t in tellings}
        for event in found:
            assert event.centre in left
            others = left - {event.centre}
            told = {key for key in others if is_same(event.centre, key)}
            assert set(event.others) <= told
            # Of equal topics either text may count as the fuller one.
            assert {k for k in told if is_same(k, event.centre)} <= set(event.others)
            left -= {event.centre, *event.others}
        assert not [
            (one, other)
            for one, other in combinations(sorted(left), 2)
            if is_same(one, other) and is_same(other, one)
        ]


@pytest.mark.parametrize("seed", range(20))
def test_parts_of_texts_give_the_events_of_all_of_them(seed: int) -> None:
    rng = Random(seed)
    small = [telling(f"small {n}", {"tea": 0.7}) for n in range(5)]
    tellings = [random_telling(str(n), rng) for n in range(60)]
    keys = [t.key for t in tellings]
    tellings += [telling(f"Mira {n}", THEFT, who="Mira: ") for n in range(2)]
    joined = [
        (MemoryId("locked"), keys[0]),
        *((rng.choice(keys), rng.choice(keys)) for _ in range(3)),
    ]
    centres = [other for _, other in joined]

    parts = comparable_texts([*tellings, *small], joined)

    placed = [key for part in parts for key in part]
    assert len(placed) == len(set(placed))
    assert set(placed) <= {"locked", *(t.key for t in tellings)}
    assert len(parts) > 1
    for pair in joined:
        assert sum(set(pair) <= set(part) for part in parts) == 1
    fit, found = random_fit(seed), list[Event]()
    for part in parts:
        texts = [t for t in tellings if t.key in part]
        found += events_of(texts, centres, fit)
    whole = events_of([*tellings, *small], centres, fit)
    assert sorted(found, key=repr) == sorted(whole, key=repr)


def draft(key: str, words: str, lines: str, names: tuple[str, ...] = ()) -> Telling:
    """A draft in these words that rests on these lines."""
    topics = dict.fromkeys(words.split(), 0.3)
    base = telling(key, topics, names=names)
    return replace(base, lines=frozenset(map(MemoryId, lines)))


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (draft("b", "mia found a key in the old well", "123"), True),
        (draft("b", "mia found a key in the old well", "67"), False),
        (draft("b", "rain fell on all the roofs of town", "12"), False),
        (draft("b", "mia found a key in the old well", "12", ("mia",)), False),
    ],
)
def test_drafts_in_nearly_the_same_words_that_rest_on_common_lines_are_one(
    other: Telling, expected: bool
) -> None:
    assert same(draft("a", "mia found a key in the deep well", "12"), other) is expected


def test_long_texts_about_the_same_that_tell_more_than_that_are_apart() -> None:
    words = " ".join(THEFT)
    first = telling("a", THEFT, words=f"{words} {' '.join(map(str, range(20)))}")
    other = telling("b", THEFT, words=f"{words} {' '.join(map(str, range(20, 40)))}")

    assert not same(first, other, fit=9.0)
    assert same(first, replace(other, words=first.words), fit=9.0)
