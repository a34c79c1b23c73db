"""What would 10,000 souls need? A day of theirs, played with measured costs: `python -m tests.bench.fleet`.

Nothing is run: users come and go at random (a seed, so always the same day), each message costs the processor
time in `Costs`, each soul that is not in memory is opened first, and one that nobody used for a while is closed.
A server works on messages in the order they came, one core each. Prints how many servers of `Server` keep the
wait short, and how much memory and disk they need. The costs are those that docs/scale.md tells the source of.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.bench.page import figure, put, table

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DAY = 86_400.0
_SEED = 7
_LONG = 2.0  # seconds: a reply of a language model takes longer to begin


@dataclass(frozen=True, slots=True)
class Costs:
    """Processor seconds and bytes, as measured; docs/scale.md tells the source of each."""

    open_seconds: float = 3.0  # of a soul of 6,000 messages, from its rows
    # a message and its reply: two syncs, one recall, two texts indexed
    message_seconds: float = 0.24
    idle_seconds: float = 0.022  # of work in quiet times, for both
    soul_bytes: float = 66e6  # in memory, of an open soul
    process_bytes: float = 1.0e9  # in memory, of a sidecar with its model
    disk_bytes: float = 220e6  # of a soul, with token states and snapshot


@dataclass(frozen=True, slots=True)
class Players:
    """How people play; assumed, not measured."""

    souls: int = 10_000
    evenings: float = 0.4  # sessions of a soul each day
    messages: int = 40  # user's messages in a session
    pause: float = 60.0  # mean seconds between two of them
    peak_hour: float = 21.0
    spread_hours: float = 3.0  # standard deviation of the hour that a session begins


@dataclass(frozen=True, slots=True)
class Server:
    """One machine with one sidecar for each core; a soul always goes to the same one."""

    cores: int = 8
    closes_after: float = 1800.0  # seconds without use after which a soul is closed


@dataclass(frozen=True, slots=True)
class Day:
    """What a day on `servers` servers came to."""

    servers: int
    busy_share: float  # of the busiest hour, mean over cores
    p50_wait: float  # seconds until the answer, opening and queue included
    p95_wait: float
    most_open: int  # souls open at once on all servers
    opened: int  # souls opened in the day
    messages: int


def arrivals(players: Players) -> tuple[Floats, Ints]:
    """Seconds of the day and soul of each message, in order of time; what passes midnight wraps around."""
    rng = np.random.default_rng(_SEED)
    sessions = rng.poisson(players.evenings, players.souls)
    soul = np.repeat(np.arange(players.souls), sessions)
    hour = rng.normal(players.peak_hour, players.spread_hours, soul.size)
    pauses = rng.exponential(players.pause, (soul.size, players.messages))
    moments = (3600 * hour[:, None] + np.cumsum(pauses, axis=1)) % _DAY
    order = np.argsort(moments, axis=None)
    return moments.ravel()[order], np.repeat(soul, players.messages)[order]


def openings(moments: Floats, souls: Ints, closes_after: float) -> tuple[Bools, int]:
    """Which messages find their soul closed, and how many souls are open at most."""
    order = np.lexsort((moments, souls))
    at, soul = moments[order], souls[order]
    is_first = np.append(True, soul[1:] != soul[:-1])
    opens = is_first | (np.diff(at, prepend=at[0]) > closes_after)
    closed = at[np.append(opens[1:], True)] + closes_after
    changes = np.concatenate([at[opens], closed])
    steps = np.repeat([1, -1], [int(opens.sum()), closed.size])
    open_souls = np.cumsum(steps[np.argsort(changes, kind="stable")])
    found_closed = np.empty_like(opens)
    found_closed[order] = opens
    return found_closed, int(open_souls.max(initial=0))


def play(players: Players, server: Server, costs: Costs, servers: int) -> Day:
    """The day on so many servers."""
    moments, souls = arrivals(players)
    opens, most_open = openings(moments, souls, server.closes_after)
    work = costs.message_seconds + costs.open_seconds * opens
    cores = servers * server.cores
    free = [0.0] * cores  # when each core is free again
    waits = np.empty(moments.size)
    for index, core in enumerate((souls % cores).tolist()):
        moment = float(moments[index])
        free[core] = max(free[core], moment) + float(work[index])
        waits[index] = free[core] - moment
    hours = (moments // 3600).astype(np.int64)
    busy = np.bincount(hours, work + costs.idle_seconds, 24) / (3600 * cores)
    p50, p95 = np.percentile(waits, [50, 95]).tolist()
    return Day(servers, float(busy.max()), p50, p95, most_open, int(opens.sum()), moments.size)


def report(days: Sequence[Day], server: Server, costs: Costs, souls: int) -> str:
    """The table."""
    head = ["servers", "busiest hour", "wait p50, s", "wait p95, s", "souls open"]
    rows = []
    for day in days:
        processes = day.servers * server.cores * costs.process_bytes
        memory = processes + day.most_open * costs.soul_bytes
        per_server = (
            memory / day.servers / 1e9,
            souls * costs.disk_bytes / day.servers / 1e9,
        )
        cells = [f"{day.busy_share:.0%}", figure(day.p50_wait), figure(day.p95_wait)]
        rows.append([str(day.servers), *cells, f"{day.most_open:,}", *map(figure, per_server)])
    return table([*head, "GB memory each", "GB disk each"], rows)


def main() -> None:
    """Play the day on one server, two, four and so on, until nobody waits long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--souls", type=int, default=10_000)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    players, server, costs = Players(souls=given.souls), Server(), Costs()
    days: list[Day] = []
    while not days or days[-1].p95_wait > _LONG:
        days.append(play(players, server, costs, 2 ** len(days)))
    text = report(days, server, costs, players.souls)
    told = f"{days[0].messages:,} messages and {days[0].opened:,} openings in the day."
    print(f"{text}\n\n{told}")
    if given.page:
        put(given.page, "fleet", f"{text}\n\n{told}")


if __name__ == "__main__":
    main()
