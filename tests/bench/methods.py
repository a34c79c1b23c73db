"""How do we and others answer the same walk?

Each method keeps its graph built. `ask` is what is timed and answers in the method's own form; `read` turns
that into dense scores, which is nobody's work but the benchmark's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import igraph
import networkx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from soulmem.kernels.csr import build_csr
from soulmem.kernels.walk import Tuning, Walk, Walker, WalkParams
from tests.bench.graphs import Edges, Query
from tests.bench.reference import Floats, Plain
from tests.kernels.edgepush_heap import EdgePush


@dataclass(frozen=True, slots=True)
class Scores:
    """float64[n]; `edges` is None where a library does not tell."""

    score: Floats
    edges: int | None


class Method(Protocol):
    """One way to answer."""

    @property
    def name(self) -> str:
        """As it stands in the tables."""

    def ask(self, query: Query) -> Any:
        """Walk."""

    def read(self, asked: Any, query: Query) -> Scores:
        """What `ask` returned, dense."""


class SoulMem:
    """Ours."""

    name = "soulmem"

    def __init__(self, edges: Edges, tuning: Tuning | None = None) -> None:
        kinds = self.kinds(len(edges))
        self.nodes = edges.nodes
        self.walker = Walker(
            build_csr(edges.nodes, edges.source, edges.target, edges.weight, kinds)
        )
        self.tuning = tuning

    @staticmethod
    def kinds(edges: int) -> NDArray[np.int64]:
        """As if every edge were of one of eight classes."""
        return np.arange(edges) % 8

    def ask(self, query: Query) -> Walk:
        """Push with a certified stop."""
        params = WalkParams(restart=query.restart, l1=query.l1)
        return self.walker.walk(query.seeds, query.share, params, self.tuning)

    def read(self, asked: Walk, query: Query) -> Scores:
        """Its rows among all."""
        score = np.zeros(self.nodes)
        score[asked.rows] = asked.score
        return Scores(score, asked.visits)


class SciPy:
    """Power iteration with a sparse matrix: what a day's work would ship."""

    name = "scipy"

    def __init__(self, edges: Edges, plain: Plain) -> None:
        n = edges.nodes
        rows = (
            plain.chance,
            plain.indices.astype(np.int32),
            plain.indptr.astype(np.int32),
        )
        self._backwards = csr_array(rows, shape=(n, n)).T.tocsr()

    def ask(self, query: Query) -> tuple[Floats, int]:
        """Until the last step proves the error: the steps to come sum to less than (1 - a) / a times it."""
        restart = query.restart
        start = np.zeros(self._backwards.shape[0])
        start[query.seeds] = query.share
        score, steps = start, 0
        while True:
            moved = restart * start + (1 - restart) * (self._backwards @ score)
            change = float(np.abs(moved - score).sum())
            score, steps = moved, steps + 1
            if change * (1 - restart) / restart <= query.l1:
                return score, steps

    def read(self, asked: tuple[Floats, int], query: Query) -> Scores:
        """Every step visits every edge."""
        return Scores(asked[0], asked[1] * int(self._backwards.nnz))


class IGraph:
    """PRPACK in igraph: exact to 1e-10 whatever is asked."""

    name = "igraph"

    def __init__(self, edges: Edges) -> None:
        pairs = np.column_stack([edges.source, edges.target])
        self._graph = igraph.Graph(n=edges.nodes, edges=pairs, directed=True)
        self._graph.es["weight"] = edges.weight.tolist()

    def ask(self, query: Query) -> list[float]:
        """Personalised PageRank."""
        if query.seeds.size == 1:
            start = {"reset_vertices": [int(query.seeds[0])]}
        else:
            shares = np.zeros(self._graph.vcount())
            shares[query.seeds] = query.share
            start = {"reset": shares.tolist()}
        found: list[float] = self._graph.personalized_pagerank(
            damping=1 - query.restart,
            weights="weight",
            implementation="prpack",
            **start,
        )
        return found

    def read(self, asked: list[float], query: Query) -> Scores:
        """A list of all scores."""
        return Scores(np.array(asked), None)


class NetworkX:
    """pagerank of networkx, which builds its matrix anew for each question."""

    name = "networkx"

    def __init__(self, edges: Edges) -> None:
        self._graph = networkx.DiGraph()
        self._graph.add_nodes_from(range(edges.nodes))
        rows = zip(
            edges.source.tolist(),
            edges.target.tolist(),
            edges.weight.tolist(),
            strict=True,
        )
        self._graph.add_weighted_edges_from(rows)

    def ask(self, query: Query) -> dict[int, float]:
        """Its tolerance is the mean change of a node in the last step."""
        restart = query.restart
        found: dict[int, float] = networkx.pagerank(
            self._graph,
            alpha=1 - restart,
            personalization=dict(zip(query.seeds.tolist(), query.share.tolist(), strict=True)),
            tol=query.l1 * restart / (1 - restart) / self._graph.number_of_nodes(),
            max_iter=500,
        )
        return found

    def read(self, asked: dict[int, float], query: Query) -> Scores:
        """A dictionary of all scores, in order."""
        return Scores(np.fromiter(asked.values(), float, len(asked)), None)


class EdgePushHeap:
    """EdgePush as published; see tests/kernels/edgepush_heap.py."""

    name = "edgepush_heap"

    def __init__(self, plain: Plain) -> None:
        self._pusher = EdgePush(plain.indptr, plain.indices, plain.weight)

    def ask(self, query: Query) -> tuple[int, int]:
        """Push, and clean up."""
        touched, visits = self._pusher.push(query.seeds, query.share, query.restart, query.l1)
        self._pusher.reset(touched)
        return touched, visits

    def read(self, asked: tuple[int, int], query: Query) -> Scores:
        """Once more, for the scores."""
        pushed = self._pusher.walk(query.seeds, query.share, query.restart, query.l1)
        return Scores(pushed.score, pushed.visits)
