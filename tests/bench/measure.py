"""How long does each method take for the same walks, and is every answer right?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np

from soulmem.kernels.walk import Walk
from tests.bench.graphs import Query
from tests.bench.methods import EdgePushHeap, Method, Scores, SoulMem
from tests.bench.reference import Floats, Plain, clock, exact, fewest_nodes

ROUNDING = 2e-7  # of L1: weights are float32 in our graph
CERTIFICATE = 1e-6  # what we say the error is against what it is; the same reason
LONG = 1.0  # seconds after which a method is not asked the same once more


class WrongAnswer(Exception):
    """A method missed the accuracy it was asked for: its time means nothing."""


@dataclass(frozen=True, slots=True)
class Known:
    """A query and its true answer."""

    query: Query
    truth: Floats


@dataclass(frozen=True, slots=True)
class Answer:
    """What a method did with one query: the first time, with caches full of others' data, and at best."""

    first: float  # seconds
    best: float  # seconds
    achieved: float
    edges: int | None


@dataclass(frozen=True, slots=True)
class Row:
    """Medians over queries: `ms` at best, `first_ms` after others; `floor` is N* at the L1 asked for."""

    graph: str
    restart: float
    seeds: int
    l1: float
    method: str
    ms: float
    first_ms: float
    achieved_l1: float
    edges: int | None
    floor: int


def know(plain: Plain, queries: Iterable[Query]) -> list[Known]:
    """The queries with their true answers."""
    return [Known(query, exact(plain, query)) for query in queries]


def compare(
    graph: str, known: Sequence[Known], methods: Sequence[Method], repeats: int
) -> list[Row]:
    """All methods in turn on each query, each several times."""
    answers: dict[str, list[Answer]] = {method.name: [] for method in methods}
    for one in known:
        for method, answer in zip(methods, race(one, methods, repeats), strict=True):
            answers[method.name].append(answer)
    query = known[0].query
    floor = int(median(fewest_nodes(one.truth, one.query.l1) for one in known))
    return [summary(graph, query, name, found, floor) for name, found in answers.items()]


def compare_with_edge_push(
    graph: str,
    known: Sequence[Known],
    pusher: EdgePushHeap,
    ours: SoulMem,
    asked: float,
    repeats: int,
) -> list[Row]:
    """Heap EdgePush stops by thresholds and is better than it was asked to be: we are asked for that."""
    found: dict[str, list[Answer]] = {pusher.name: [], ours.name: []}
    achieved, floors = [], []
    for one in known:
        (theirs,) = race(Known(replace(one.query, l1=asked), one.truth), [pusher], repeats)
        level = theirs.achieved
        (mine,) = race(Known(replace(one.query, l1=level), one.truth), [ours], repeats)
        found[pusher.name].append(theirs)
        found[ours.name].append(mine)
        achieved.append(level)
        floors.append(fewest_nodes(one.truth, level))
    query = replace(known[0].query, l1=median(achieved))
    return [summary(graph, query, name, each, int(median(floors))) for name, each in found.items()]


def race(one: Known, methods: Sequence[Method], repeats: int) -> list[Answer]:
    """Each method in turn answers one query, several times. Raises WrongAnswer."""
    return [_timed(one, method, repeats) for method in methods]


def _timed(one: Known, method: Method, repeats: int) -> Answer:
    times: list[float] = []
    asked: Any = None
    while len(times) < repeats and sum(times) < LONG:
        began = clock()
        asked = method.ask(one.query)
        times.append(clock() - began)
    scores = checked(one, method, asked)
    return Answer(
        times[0],
        min(times),
        float(np.abs(scores.score - one.truth).sum()),
        scores.edges,
    )


def checked(one: Known, method: Method, asked: Any) -> Scores:
    """The answer, once it is proved. Raises WrongAnswer."""
    scores = method.read(asked, one.query)
    away = float(np.abs(scores.score - one.truth).sum())
    if away > one.query.l1 + ROUNDING:
        raise WrongAnswer(f"{method.name}: L1 {away:g} where {one.query.l1:g} was asked for")
    if isinstance(asked, Walk):
        if abs(asked.error - away) > CERTIFICATE:
            raise WrongAnswer(f"we say {asked.error:g} where the L1 error is {away:g}")
        if (over := float((scores.score - one.truth).max())) > ROUNDING:
            raise WrongAnswer(f"a score is {over:g} above the truth")
    return scores


def summary(graph: str, query: Query, method: str, answers: Sequence[Answer], floor: int) -> Row:
    """Medians."""
    edges = [a.edges for a in answers if a.edges is not None]
    return Row(
        graph=graph,
        restart=query.restart,
        seeds=query.seeds.size,
        l1=query.l1,
        method=method,
        ms=median(a.best for a in answers) * 1e3,
        first_ms=median(a.first for a in answers) * 1e3,
        achieved_l1=median(a.achieved for a in answers),
        edges=int(median(edges)) if edges else None,
        floor=floor,
    )
