"""Tellings of one event: which texts tell the same, and which of them tells it best.

Everything here is a function of the texts alone, so that the order in which they came
does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import isnan, sqrt
from typing import Any

from soulmem.domain.ids import MemoryId


def connected(
    count: int,
    pairs: Iterable[tuple[int, int]],
    holds: Callable[[int, int], bool] | None = None,
) -> list[list[int]]:
    """The numbers 0 to count - 1 in lists of those that pairs connect; lists and numbers ascend.

    holds  whether a pair connects; without it each does. Asked only of pairs that are not connected yet.
    """
    leader = list(range(count))  # upwards to the least of those that are connected

    def least(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    for one, other in pairs:
        first, last = sorted((least(one), least(other)))
        if first != last and (holds is None or holds(one, other)):
            leader[last] = first
    lists: dict[int, list[int]] = {}
    for number in range(count):
        lists.setdefault(least(number), []).append(number)
    return list(lists.values())


@dataclass(slots=True)
class _Node:
    """A beginning that sets share; `values` are those of the sets that end here."""

    longer: dict[str, _Node] = field(default_factory=dict)
    values: list[int] = field(default_factory=list)


class SetTrie:
    """Sets of words, each with a number, as paths from the first of their words in `order` to the last.

    order  every word that a set may have; rare ones first, so that a search ends early
    """

    def __init__(self, order: Iterable[str]) -> None:
        self._rank = {word: rank for rank, word in enumerate(order)}
        self._root = _Node()

    def add(self, words: Iterable[str], value: int) -> None:
        """Add a set. Raises KeyError for a word that has no place in the order."""
        node = self._root
        for word in sorted(words, key=self._rank.__getitem__):
            node = node.longer.setdefault(word, _Node())
        node.values.append(value)

    def within(self, words: Iterable[str], needed: Collection[str]) -> Iterator[int]:
        """Numbers of the sets that have no other words than these, and all that are needed."""
        own = {word for word in words if word in self._rank}
        if not own.issuperset(needed):
            return
        known = sorted(own, key=self._rank.__getitem__)
        is_needed = [word in needed for word in known]
        least = max((at for at, needs in enumerate(is_needed, 1) if needs), default=0)
        waiting = [(self._root, 0)]
        while waiting:
            node, start = waiting.pop()
            if start >= least:
                yield from node.values
            for at in range(start, len(known)):
                longer = node.longer.get(known[at])
                if longer is not None:
                    waiting.append((longer, at + 1))
                if is_needed[at]:
                    break  # no set without it


_SAMPLE = 40  # tellings with which each is compared to find the most central one


# When two texts tell the same event.
# Sum of the saliences of what both are about. A sentence of small talk ("My feet hurt.")
# reaches 2.2 at most (en, zh): two texts that share no more tell two things.
_LEAST = 2.4
# 0..1, share of the saliences of the fuller text that the other may lack.
_LACKS = 0.25
# The same where no vectors confirm it.
_LACKS_BY_WORDS = 0.15
# 0..1, least share of their words in common: of a long text only the first topics are named. Tellings of one
# sentence share .55 at least (en, zh).
_ALIKE = 0.4
# Least fit of two vectors, in deviations (`Calibration.between`): texts that share most of their words reach 6
# and more, unrelated ones 1.
_FIT = 3.0
# 0..1, share of their lines that two drafts have in common, and of their words, to be drafts of one scene: what a
# recall takes for one scene in other words.
_COMMON_LINES = 0.5
_COMMON_WORDS = 0.6
# 0..1, of the centrality of the best: a memory keeps its text while it is so central.
_STEADY = 0.9


@dataclass(frozen=True, slots=True)
class Telling:
    """One text that may tell an event.

    who     the teller and the subject: other pairs say something else
    marks   what it claims beside its topics; see `statement_marks`
    topics  what it is about, with salience 0..1
    names   those of its topics that are names
    words   all its words
    lines   messages that a draft rests on; of a message none
    """

    key: MemoryId
    who: frozenset[str]
    marks: frozenset[str]
    topics: Mapping[str, float]
    names: frozenset[str]
    words: frozenset[str]
    happened: float  # POSIX seconds
    lines: frozenset[MemoryId] = frozenset()

    @property
    def statement(self) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """Equal for texts that differ in nothing but ordinary words."""
        return self.who, self.marks, frozenset(self.topics)


# The fit of the vectors of two tellings, in deviations; NaN where there is none.
Fit = Callable[[Telling, Telling], float]


def no_vectors(_first: Telling, _other: Telling) -> float:
    """The fit where no text has a vector."""
    return float("nan")


def tells_the_same(first: Telling, other: Telling, fit: Fit) -> bool:
    """Whether two texts tell the same event: nearly all that one is about, the other is, and it claims the same.

    Or they are drafts in nearly the same words that rest on common lines. What both are
    about must say something. Only one may have topics that the other
    lacks, and no names: "an apple pie" and "a plum pie" are two.
    """
    if first.who != other.who or first.marks != other.marks:
        return False
    if _is_one_scene(first, other):
        return True
    fuller, lesser = (first, other) if len(first.topics) >= len(other.topics) else (other, first)
    if not lesser.topics.keys() <= fuller.topics.keys():
        return False
    missing = fuller.topics.keys() - lesser.topics.keys()
    shared = sum(lesser.topics.values())
    if shared < _LEAST or not missing.isdisjoint(fuller.names):
        return False
    if _common(first.words, other.words) < _ALIKE:
        return False
    lacking = sum(fuller.topics[topic] for topic in missing)
    nearness = fit(first, other)
    most = _LACKS_BY_WORDS if isnan(nearness) else _LACKS
    if lacking > most * (shared + lacking):
        return False
    return isnan(nearness) or nearness >= _FIT


def _is_one_scene(first: Telling, other: Telling) -> bool:
    """Whether two drafts rest on common lines and word them nearly alike, with the same names."""
    if first.names != other.names:
        return False
    lines = _common(first.lines, other.lines)
    return lines >= _COMMON_LINES and _common(first.words, other.words) >= _COMMON_WORDS


def _common(first: frozenset[Any], other: frozenset[Any]) -> float:
    """Share of both that is common, 0..1."""
    return len(first & other) / max(1, len(first | other))


@dataclass(frozen=True, slots=True)
class Event:
    """Tellings of one event, at least two; `centre` is the most central of them."""

    centre: MemoryId
    others: tuple[MemoryId, ...]


def events_of(tellings: Iterable[Telling], centres: Iterable[MemoryId], fit: Fit) -> list[Event]:
    """Unite these texts; those that tell what no other tells are left out.

    centres  texts that stood for others before; one stays while it is central enough
    """
    steady = frozenset(centres)
    events: list[Event] = []
    for component in _components(tellings, fit):
        remaining = component
        if not any(_may_be_joined(t) for t in component):
            continue  # however many they are, no two tell an event
        while len(remaining) > 1:
            centre = _most_central(remaining, steady)
            near = [t for t in remaining if t is not centre and tells_the_same(centre, t, fit)]
            if near:
                events.append(Event(centre.key, tuple(sorted(t.key for t in near))))
            placed = {centre.key, *(t.key for t in near)}
            remaining = [t for t in remaining if t.key not in placed]
    return events


def comparable_texts(
    tellings: Iterable[Telling], joined: Iterable[tuple[MemoryId, MemoryId]]
) -> list[list[MemoryId]]:
    """Parts of these texts that may be given to `events_of` one by one, with the same result.

    Found without vectors. A text that can tell the same as no other is in none.

    joined  two texts each that are in one part anyway
    """
    groups = _by_statement(tellings)
    units: list[list[MemoryId]] = []
    unit_of: dict[MemoryId, int] = {}
    may_join: set[int] = set()
    for index, group in enumerate(groups):
        units.append([telling.key for telling in group])
        unit_of.update(dict.fromkeys(units[-1], index))
        if any(map(_may_be_joined, group)):
            may_join.add(index)
    joined_units: list[tuple[int, int]] = []
    for one, other in joined:
        for key in (one, other):
            if key not in unit_of:  # no text that may be joined now
                unit_of[key] = len(units)
                units.append([key])
        joined_units.append((unit_of[one], unit_of[other]))
        may_join.update(joined_units[-1])
    alike = _comparable([group[0] for group in groups])
    out = []
    for indices in connected(len(units), chain(alike, joined_units)):
        keys = [key for index in indices for key in units[index]]
        if len(keys) > 1 and not may_join.isdisjoint(indices):
            out.append(keys)
    return out


def _components(tellings: Iterable[Telling], fit: Fit) -> list[list[Telling]]:
    """Texts that are connected by telling the same, each list by time and id.

    Those of one statement are connected; two statements are if their first tellings tell the same.
    """
    groups = _by_statement(tellings)
    first = [group[0] for group in groups]
    components = connected(
        len(groups),
        _comparable(first),
        lambda one, other: tells_the_same(first[one], first[other], fit),
    )
    return [
        sorted(chain.from_iterable(groups[index] for index in indices), key=_by_time)
        for indices in components
    ]


def _by_statement(tellings: Iterable[Telling]) -> list[list[Telling]]:
    """The texts of each statement, and the statements, by time and id of the first."""
    groups: dict[object, list[Telling]] = {}
    for telling in sorted(tellings, key=_by_time):
        groups.setdefault(telling.statement, []).append(telling)
    return list(groups.values())


def _comparable(tellings: Sequence[Telling]) -> Iterator[tuple[int, int]]:
    """Indices of each two texts of different statements that may tell the same.

    These are drafts with a line in common, and a text whose topics another has as well, if they say enough.
    """
    by_claim: dict[object, list[int]] = {}
    for index, telling in enumerate(tellings):
        by_claim.setdefault((telling.who, telling.marks), []).append(index)
    for indices in by_claim.values():
        if len(indices) > 1:
            yield from _with_common_lines(tellings, indices)
            yield from _with_common_topics(tellings, indices)


def _with_common_lines(
    tellings: Sequence[Telling], indices: Sequence[int]
) -> Iterator[tuple[int, int]]:
    by_line: dict[MemoryId, list[int]] = {}
    for index in indices:
        for line in sorted(tellings[index].lines):
            beside = by_line.setdefault(line, [])
            yield from ((other, index) for other in beside)
            beside.append(index)


def _with_common_topics(
    tellings: Sequence[Telling], indices: Sequence[int]
) -> Iterator[tuple[int, int]]:
    counts = Counter(chain.from_iterable(tellings[index].topics for index in indices))
    sets = SetTrie(sorted(counts, key=lambda topic: (counts[topic], topic)))
    for index in indices:
        if _says_enough(tellings[index]):
            sets.add(tellings[index].topics, index)
    for index in indices:
        telling = tellings[index]
        within = sets.within(telling.topics, telling.names)
        yield from ((index, other) for other in within if other != index)


def _may_be_joined(telling: Telling) -> bool:
    """Whether there may be another text that tells the same."""
    return bool(telling.lines) or _says_enough(telling)


def _says_enough(telling: Telling) -> bool:
    """Whether another text may tell all that this one is about."""
    return sum(telling.topics.values()) >= _LEAST


def _most_central(tellings: Sequence[Telling], steady: frozenset[MemoryId]) -> Telling:
    """The text that shares most words with the others; of equal ones the earliest."""
    step = max(1, len(tellings) // _SAMPLE)
    sample = tellings[::step]
    counts = Counter(chain.from_iterable(telling.words for telling in sample))

    def centrality(telling: Telling) -> float:
        shared = sum(counts[word] for word in telling.words)
        return shared / sqrt(max(1, len(telling.words)))

    best = max(map(centrality, tellings))
    for telling in tellings:
        if telling.key in steady and centrality(telling) >= _STEADY * best:
            return telling
    return max(tellings, key=centrality)


def _by_time(telling: Telling) -> tuple[float, MemoryId]:
    return telling.happened, telling.key
