"""Events as the definition has them, by a look at every two texts, for comparison with `events_of`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from math import sqrt

from soulmem.consolidation.tellings import (
    Event,
    Fit,
    Telling,
    TellingParams,
    tells_the_same,
)
from soulmem.domain.ids import MemoryId

_SAMPLE = 40


def plain_events(
    tellings: Sequence[Telling],
    centres: Collection[MemoryId],
    fit: Fit,
    params: TellingParams,
) -> list[Event]:
    """What `events_of` answers."""
    events = []
    for remaining in _components(tellings, fit, params):
        while len(remaining) > 1:
            centre = _most_central(remaining, centres, params)
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
    tellings: Sequence[Telling], fit: Fit, params: TellingParams
) -> list[list[Telling]]:
    by_statement: dict[object, list[Telling]] = {}
    for telling in sorted(tellings, key=_by_time):
        by_statement.setdefault(telling.statement, []).append(telling)
    groups = list(by_statement.values())
    components = []
    while groups:
        component, waiting = list[Telling](), [groups.pop(0)]
        while waiting:
            group = waiting.pop()
            component += group
            beside = [g for g in groups if tells_the_same(group[0], g[0], fit, params)]
            groups = [g for g in groups if g not in beside]
            waiting += beside
        components.append(sorted(component, key=_by_time))
    return components


def _most_central(
    tellings: Sequence[Telling], centres: Collection[MemoryId], params: TellingParams
) -> Telling:
    sample = tellings[:: max(1, len(tellings) // _SAMPLE)]
    counts = Counter(word for telling in sample for word in telling.words)

    def centrality(telling: Telling) -> float:
        shared = sum(counts[word] for word in telling.words)
        return shared / sqrt(max(1, len(telling.words)))

    best = max(map(centrality, tellings))
    for telling in tellings:
        if telling.key in centres and centrality(telling) >= params.steady * best:
            return telling
    return max(tellings, key=centrality)


def _by_time(telling: Telling) -> tuple[float, MemoryId]:
    return telling.happened, telling.key
