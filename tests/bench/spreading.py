"""How long does activation take to spread over the words of very many texts, from a word that a fifth of them has?
Two texts are an exchange. Each word of a query belongs to a topic.

python -m tests.bench.spreading [--texts 100000] [--page FILE]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from soulmem.graph.incidence import Incidence
from soulmem.graph.windows import Windows
from soulmem.kernels.warm import warm
from soulmem.retrieval.association import spread_energy
from tests.bench.page import command_line, figure, origin, publish, table

_HUB = "hub"
_HUB_SHARE = 0.18  # of the texts
_WORDS = 7  # of a text, besides
_VOCABULARY = 20_000
_RARE, _PLAIN = (50, 4000), (0, 300)  # ranks of the other words of a query
_OF_TOPIC = 11  # other words of the topic of a word, as rare as that of a query or rarer
_WARMED = 20  # queries that are not counted


@dataclass(frozen=True, slots=True)
class Spreading:
    """Milliseconds of a spread, and what it reached at the last query."""

    hub: int  # texts with the hub
    p50: float
    p95: float
    busy_p95: float  # of the processor alone, without waiting for it
    reached: int  # words


def words_of_texts(texts: int, seed: int = 0) -> Incidence:
    """Texts of words whose frequency falls with their rank (Zipf), some of which have the hub."""
    rng = np.random.default_rng(seed)
    weight = 1.0 / np.arange(8, _VOCABULARY + 8)
    words = rng.choice(_VOCABULARY, size=(texts, _WORDS), p=weight / weight.sum())
    has_hub = rng.random(texts) < _HUB_SHARE
    incidence = Incidence()
    for row in range(texts):
        keys = dict.fromkeys(f"w{word}" for word in words[row].tolist())
        if has_hub[row]:
            keys[_HUB] = None
        incidence.put(row, [(key, 0.5) for key in keys])
    return incidence


def measure(incidence: Incidence, texts: int, queries: int, seed: int = 1) -> Spreading:
    """Spread from the hub, a rare word and a plain one, again and again."""
    rng = np.random.default_rng(seed)
    topics = np.random.default_rng(seed + 1)
    visible = np.ones(texts, np.bool_)
    exchanges = Windows.by(np.arange(texts, dtype=np.int32) // 2 * 2)
    incidence.window_counts(visible, exchanges)  # as after the recall before
    took, busy, reached = [], [], 0
    for _ in range(_WARMED + queries):
        ranks = [int(rng.integers(*_RARE)), int(rng.integers(*_PLAIN))]
        numbers = map(incidence.number, (_HUB, *(f"w{rank}" for rank in ranks)))
        seeds = np.asarray(list(dict.fromkeys(n for n in numbers if n is not None)))
        groups = [_topic(incidence, seed, topics) for seed in seeds.tolist()]
        began, began_busy = time.perf_counter(), time.thread_time()
        active = spread_energy(
            incidence,
            seeds,
            np.linspace(1.0, 0.5, seeds.size),
            visible,
            base=lambda terms: _activations(incidence, terms, visible),
            groups=groups,
            windows=exchanges,
        )
        took.append(1e3 * (time.perf_counter() - began))
        busy.append(1e3 * (time.thread_time() - began_busy))
        reached = active.terms.size if active is not None else 0
    number = incidence.number(_HUB)
    hub = int(incidence.counts(visible)[number]) if number is not None else 0
    p50, p95 = np.percentile(took[_WARMED:], [50, 95]).tolist()
    busy_p95 = float(np.percentile(busy[_WARMED:], 95))
    return Spreading(hub, p50, p95, busy_p95, reached)


def _topic(incidence: Incidence, word: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The numbers of a word and of others that make up a topic with it."""
    ranks = rng.integers(*_RARE, size=_OF_TOPIC).tolist()
    numbers = (incidence.number(f"w{rank}") for rank in ranks)
    return np.asarray(list(dict.fromkeys([word, *(n for n in numbers if n is not None)])))


def _activations(
    incidence: Incidence, terms: NDArray[np.int64], visible: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """How active words are by the texts with them, the later ones more; float64, 0..1, as in a recall."""
    place, rows = incidence.rows_of(terms, visible)
    distinct, index = np.unique(rows, return_inverse=True)
    gain = 0.1 * np.exp((distinct - visible.size) / 300.0)
    total = np.bincount(place, np.log1p(-gain)[index], terms.size)
    return np.asarray(-np.expm1(total), np.float64)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--page", type=Path)
    arguments = parser.parse_args()
    warm(None)
    incidence = words_of_texts(arguments.texts)
    figures = measure(incidence, arguments.texts, arguments.queries)
    head = [
        "texts",
        "with the word",
        "words reached",
        "p50, ms",
        "p95, ms",
        "CPU p95, ms",
    ]
    counts = [f"{n:,}" for n in (arguments.texts, figures.hub, figures.reached)]
    times = map(figure, (figures.p50, figures.p95, figures.busy_p95))
    source = origin(command_line("tests.bench.spreading"), ("numpy", "numba"))
    publish(arguments.page, "spreading", table(head, [[*counts, *times]]), source)


if __name__ == "__main__":
    main()
