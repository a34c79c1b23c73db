"""Tellings of one event: which texts tell the same, and which of them tells it best.

Everything here is a function of the texts alone, so that the order in which they came
does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, sqrt
from typing import Any

from soulmem.domain.ids import MemoryId

_SAMPLE = 40  # tellings with which each is compared to find the most central one


@dataclass(frozen=True, slots=True)
class TellingParams:
    """When two texts tell the same event."""

    # Sum of the saliences of what both are about. A sentence of small talk ("My feet hurt.")
    # reaches 2.2 at most (en, zh): two texts that share no more tell two things.
    least: float = 2.4
    # 0..1, share of the saliences of the fuller text that the other may lack.
    lacks: float = 0.25
    # The same where no vectors confirm it.
    lacks_by_words: float = 0.15
    # 0..1, least share of their words in common: of a long text only the first topics are
    # named. Tellings of one sentence share .55 at least (en, zh).
    alike: float = 0.4
    # Least fit of two vectors, in deviations (`Calibration.between`): texts that share
    # most of their words reach 6 and more, unrelated ones 1.
    fit: float = 3.0
    # 0..1, share of their lines that two drafts have in common, and of their words, to
    # be drafts of one scene: what a recall takes for one scene in other words.
    common_lines: float = 0.5
    common_words: float = 0.6
    # 0..1, of the centrality of the best: a memory keeps its text while it is so central.
    steady: float = 0.9


@dataclass(frozen=True, slots=True)
class Telling:
    """One text that may tell an event.

    who     whoever tells it, and of whom: others tell something else
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


def tells_the_same(
    first: Telling, other: Telling, fit: Fit, params: TellingParams
) -> bool:
    """Whether two texts tell the same event: nearly all that one is about, the other is, and it claims the same.

    Or they are drafts in nearly the same words that rest on common lines. What both are
    about must say something. Only one may have topics that the other
    lacks, and no names: "an apple pie" and "a plum pie" are two.
    """
    if first.who != other.who or first.marks != other.marks:
        return False
    if _is_one_scene(first, other, params):
        return True
    fuller, lesser = (
        (first, other) if len(first.topics) >= len(other.topics) else (other, first)
    )
    if not lesser.topics.keys() <= fuller.topics.keys():
        return False
    missing = fuller.topics.keys() - lesser.topics.keys()
    shared = sum(lesser.topics.values())
    if shared < params.least or not missing.isdisjoint(fuller.names):
        return False
    if _common(first.words, other.words) < params.alike:
        return False
    lacking = sum(fuller.topics[topic] for topic in missing)
    nearness = fit(first, other)
    most = params.lacks_by_words if isnan(nearness) else params.lacks
    if lacking > most * (shared + lacking):
        return False
    return isnan(nearness) or nearness >= params.fit


def _is_one_scene(first: Telling, other: Telling, params: TellingParams) -> bool:
    """Whether two drafts rest on common lines and word them nearly alike, with the same names."""
    if first.names != other.names:
        return False
    lines = _common(first.lines, other.lines)
    return (
        lines >= params.common_lines
        and _common(first.words, other.words) >= params.common_words
    )


def _common(first: frozenset[Any], other: frozenset[Any]) -> float:
    """Share of both that is common, 0..1."""
    return len(first & other) / max(1, len(first | other))


@dataclass(frozen=True, slots=True)
class Event:
    """Tellings of one event, at least two; `centre` is the most central of them."""

    centre: MemoryId
    others: tuple[MemoryId, ...]


def events_of(
    tellings: Iterable[Telling],
    centres: Iterable[MemoryId],
    fit: Fit,
    params: TellingParams,
) -> list[Event]:
    """Unite these texts; those that tell what no other tells are left out.

    centres  texts that stood for others before; one stays while it is central enough
    """
    steady = frozenset(centres)
    events: list[Event] = []
    for component in _components(tellings, fit, params):
        remaining = component
        while len(remaining) > 1:
            centre = _most_central(remaining, steady, params)
            near = [
                t
                for t in remaining
                if t is not centre and tells_the_same(centre, t, fit, params)
            ]
            if near:
                events.append(Event(centre.key, tuple(sorted(t.key for t in near))))
            placed = {centre.key, *(t.key for t in near)}
            remaining = [t for t in remaining if t.key not in placed]
    return events


def _components(
    tellings: Iterable[Telling], fit: Fit, params: TellingParams
) -> list[list[Telling]]:
    """Texts that are connected by telling the same, each list by time and id."""
    by_statement: dict[object, list[Telling]] = {}
    for telling in sorted(tellings, key=_by_time):
        by_statement.setdefault(telling.statement, []).append(telling)
    groups = list(by_statement.values())
    components: list[list[Telling]] = []
    while groups:
        component, waiting = list[Telling](), [groups.pop(0)]
        while waiting:
            group = waiting.pop()
            component += group
            beside = [g for g in groups if tells_the_same(group[0], g[0], fit, params)]
            groups = [g for g in groups if not any(g is b for b in beside)]
            waiting += beside
        components.append(sorted(component, key=_by_time))
    return components


def _most_central(
    tellings: Sequence[Telling], steady: frozenset[MemoryId], params: TellingParams
) -> Telling:
    """The text that shares most words with the others; of equal ones the earliest."""
    step = max(1, len(tellings) // _SAMPLE)
    sample = tellings[::step]
    counts = Counter(word for telling in sample for word in telling.words)

    def centrality(telling: Telling) -> float:
        shared = sum(counts[word] for word in telling.words)
        return shared / sqrt(max(1, len(telling.words)))

    best = max(map(centrality, tellings))
    for telling in tellings:
        if telling.key in steady and centrality(telling) >= params.steady * best:
            return telling
    return max(tellings, key=centrality)


def _by_time(telling: Telling) -> tuple[float, MemoryId]:
    return telling.happened, telling.key
