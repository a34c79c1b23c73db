"""How fast are our walks beside those of SciPy, igraph, networkx and heap EdgePush?

    python -m tests.bench.ppr [--quick] [--graphs 10k-8,hub100k] [--json OUT] [--page docs/benchmarks.md]

Everything runs in one process on one thread, in turn on the same queries, and every answer is checked.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

for _name in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
):
    os.environ.setdefault(_name, "1")  # before numpy is imported

from soulmem.kernels.warm import warm  # noqa: E402
from tests.bench.graphs import SHAPES, Edges, make_graph, queries  # noqa: E402
from tests.bench.measure import Known, Row, compare, compare_with_edge_push, know  # noqa: E402
from tests.bench.methods import EdgePushHeap, IGraph, Method, NetworkX, SciPy, SoulMem  # noqa: E402
from tests.bench.page import command_line, figure, origin, put, table  # noqa: E402
from tests.bench.reference import Plain, compress, scatter_ns  # noqa: E402
from tests.bench.tuned import Tuned, tuned_ratio  # noqa: E402


@dataclass(frozen=True, slots=True)
class Cell:
    """One comparison: everybody who takes part, at one accuracy."""

    l1: float
    peers: tuple[str, ...] = ("scipy",)
    restart: float = 0.2
    seeds: int = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured on one graph. `edge_push` are thresholds that heap EdgePush is asked for."""

    graph: str
    cells: tuple[Cell, ...]
    edge_push: tuple[float, ...] = ()
    tuned: bool = False


@dataclass(slots=True)
class Figures:
    """What came out; `scatter` in ns per edge."""

    rows: list[Row] = field(default_factory=list)
    scatter: dict[str, float] = field(default_factory=dict)
    tuned: list[Tuned] = field(default_factory=list)


_AS_RECALLED = Cell(1e-2, (), restart=0.5, seeds=5)  # the defaults of recall
_ALL = ("scipy", "igraph")
QUICK = (
    Plan("100k-8", (Cell(5e-2, _ALL), Cell(1e-4), _AS_RECALLED), (2.0, 0.1), tuned=True),
    Plan("hub100k", (Cell(1e-1),), (4.0,)),
    Plan("1M-8", (Cell(5e-2), _AS_RECALLED)),
)
FULL = tuple(
    Plan(
        graph,
        (
            Cell(1e-1, _ALL),
            Cell(5e-2, (*_ALL, "networkx") if graph in ("10k-8", "100k-8") else _ALL),
            Cell(1e-2, _ALL),
            Cell(1e-4, _ALL),
            Cell(1e-2, _ALL, restart=0.5, seeds=5),
        ),
        (2.0, 0.1, 1e-2) if graph in ("10k-8", "100k-8", "hub100k") else (),
        tuned=graph in ("10k-8", "100k-8"),
    )
    for graph in ("10k-8", "10k-32", "100k-8", "100k-32", "hub100k", "1M-8")
)


def measure(plan: Plan, count: int, repeats: int, figures: Figures) -> Iterator[Row]:
    """Carry out a plan with `count` queries per cell; rows as they are done."""
    edges = make_graph(SHAPES[plan.graph])
    plain = compress(edges)
    figures.scatter[plan.graph] = scatter_ns(plain)
    ours = SoulMem(edges)
    names = {name for cell in plan.cells for name in cell.peers}
    peers = {name: build(name, edges, plain) for name in sorted(names)}
    first = next(queries(edges.nodes, 1, 1, 0.2, 0.3))
    for method in (ours, *peers.values()):
        method.ask(first)  # compiles, and touches every page
    truths: dict[tuple[int, float], list[Known]] = {}
    for cell in plan.cells:
        where = cell.seeds, cell.restart
        if where not in truths:
            truths[where] = know(plain, queries(edges.nodes, count, *where, cell.l1))
        known = [replace(one, query=replace(one.query, l1=cell.l1)) for one in truths[where]]
        yield from compare(
            plan.graph, known, [ours, *(peers[name] for name in cell.peers)], repeats
        )
    if plan.edge_push:
        pusher = EdgePushHeap(plain)
        pusher.ask(first)
        known = know(plain, queries(edges.nodes, count, 1, 0.2, 1.0))
        for asked in plan.edge_push:
            yield from compare_with_edge_push(plan.graph, known, pusher, ours, asked, repeats)
    if plan.tuned:
        for seeds, restart, l1 in ((5, 0.5, 1e-2), (1, 0.2, 5e-2)):
            several = list(queries(edges.nodes, max(count, 10), seeds, restart, l1))
            figures.tuned.append(tuned_ratio(plan.graph, edges, several))


def build(name: str, edges: Edges, plain: Plain) -> Method:
    """A peer on a graph."""
    if name == "scipy":
        return SciPy(edges, plain)
    return IGraph(edges) if name == "igraph" else NetworkX(edges)


def report(figures: Figures, count: int, repeats: int) -> str:
    """All rows as a table, what they mean for us, and where they come from."""
    by_cell = {
        (r.graph, r.restart, r.seeds, r.l1): r.ms for r in figures.rows if r.method == "soulmem"
    }
    lines = []
    for row in figures.rows:
        mine = by_cell[row.graph, row.restart, row.seeds, row.l1]
        ours = row.method == "soulmem"
        visit = row.ms * 1e6 / row.edges if row.edges and ours else 0.0
        bound = visit / figures.scatter[row.graph]
        lines.append(
            [
                row.graph,
                f"{row.restart:g}",
                str(row.seeds),
                figure(row.l1),
                row.method,
                figure(row.ms),
                figure(row.first_ms),
                "" if ours else figure(row.ms / mine),
                figure(row.achieved_l1),
                "" if row.edges is None else f"{row.edges:,}",
                f"{row.floor:,}" if ours else "",
                figure(visit) if ours else "",
                figure(bound) if ours else "",
            ]
        )
    head = [
        "graph",
        "restart",
        "seeds",
        "L1 asked",
        "method",
        "ms",
        "first, ms",
        "x ours",
        "L1 got",
        "edges visited",
    ]
    parts = [table([*head, "N*", "ns/visit", "x scatter bound"], lines)]
    parts.append(
        "Scatter bound, ns per edge: "
        + ", ".join(f"{name} {figure(each)}" for name, each in figures.scatter.items())
        + "."
    )
    parts += [
        f"Multipliers at query time on {t.graph} (restart {t.restart:g}, seeds: {t.seeds}, L1 {t.l1:g}):"
        f" {t.same:.2f} times the same walk on ready weights when they stay, {t.fresh:.2f} when every query"
        " brings others."
        for t in figures.tuned
    ]
    packages = ("numpy", "scipy", "numba", "igraph", "networkx")
    parts.append(
        f"Medians over {count} queries of the best of {repeats}. "
        + origin(command_line("tests.bench.ppr"), packages)
    )
    return "\n\n".join(parts)


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description="Personalised PageRank: us and others")
    parser.add_argument(
        "--quick", action="store_true", help="the pairs that are promised, in minutes"
    )
    parser.add_argument("--graphs", help=f"only these, by comma, of {', '.join(SHAPES)}")
    parser.add_argument("--queries", type=int, help="per cell")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the table on that page")
    asked = parser.parse_args()
    count, repeats = (
        asked.queries or (3 if asked.quick else 20),
        3 if asked.quick else 5,
    )
    only = asked.graphs.split(",") if asked.graphs else list(SHAPES)
    figures = Figures()
    warm(None)
    for plan in QUICK if asked.quick else FULL:
        if plan.graph in only:
            for row in measure(plan, count, repeats, figures):
                figures.rows.append(row)
                print(as_line(row), flush=True)
                if asked.json:
                    asked.json.write_text(
                        json.dumps(as_json(figures.rows), indent=1), encoding="utf-8"
                    )
    text = report(figures, count, repeats)
    print(f"\n{text}")
    if asked.page:
        put(asked.page, "quick" if asked.quick else "ppr", text)


def as_line(row: Row) -> str:
    """A row while one waits."""
    edges = "" if row.edges is None else f"{row.edges:>12,} edges"
    where = f"{row.graph:8} restart {row.restart:g}, {row.seeds} seeds, L1 {row.l1:<8.2g}"
    return f"{where} {row.method:14} {row.ms:10.3f} ms  L1 {row.achieved_l1:.2g} {edges}"


def as_json(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Rows as they are written."""
    names = (
        "graph",
        "restart",
        "seeds",
        "l1",
        "method",
        "ms",
        "achieved_l1",
        "edges",
        "first_ms",
        "floor",
    )
    return [{name: getattr(row, name) for name in names} for row in rows]


if __name__ == "__main__":
    main()
