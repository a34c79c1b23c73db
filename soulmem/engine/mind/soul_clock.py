"""How much of a soul's clock has run since something was: turns, days of the story, or days on the wall?"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.edges import Edge
from soulmem.domain.soul import SoulClock
from soulmem.engine.mind.visibility import Visibility
from soulmem.graph.columns import Columns
from soulmem.graph.edge_arrays import EdgeArrays

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TURNS_A_DAY = 20.0  # one turn = one exchange; design 6
_DAY = 86_400.0  # seconds


class SoulTime:
    """The clock by which one soul forgets. All times are in turns; a day of the story or the wall has 20.

        turns  the exchanges lived
        story  the days between the `story_at` of exchanges; where one has none it counts as a turn, where the
               story goes back no time passes
        wall   the days that pass; a clock that is moved by turns stands still

    Computed anew at each call from what is there, so that the way there leaves no trace.
    """

    def __init__(
        self, clock: Callable[[], SoulClock], sight: Visibility, columns: Columns
    ) -> None:
        self.wall_clock: Callable[[], float] = (
            time.time
        )  # POSIX seconds; a test may move it
        self._clock = clock
        self._visibility = sight
        self._columns = columns

    def current_turn(self, extra: int) -> float:
        """What the clock shows now; `extra` are turns of a moved clock."""
        if self._clock() is SoulClock.WALL:
            return self.wall_clock() / _DAY * TURNS_A_DAY
        return float(
            self._at_turns(
                np.asarray([self._visibility.exchange_count() + extra], np.float64)
            )[0]
        )

    def turns_at(self, moments: Floats) -> Floats:
        """What it showed at these moments, POSIX seconds, as far as they were lived."""
        if self._clock() is SoulClock.WALL:
            return np.asarray(moments / _DAY * TURNS_A_DAY)
        lived = np.searchsorted(
            self._visibility.exchange_times(), moments, "right"
        ).astype(np.float64)
        return self._at_turns(lived)

    def turns_at_touch(self, moments: Floats, turns: Floats) -> Floats:
        """What it showed at these moments, POSIX seconds, which were noted as these turns; NaN: not noted."""
        if self._clock() is SoulClock.WALL:
            return self.turns_at(moments)
        unknown = np.isnan(turns)
        if unknown.any():
            lived = np.searchsorted(self._visibility.exchange_times(), moments, "right")
            turns = np.where(unknown, lived, turns)
        return self._at_turns(turns)

    def turns_since_touch(self, edges: EdgeArrays, extra: int) -> Floats:
        """Turns since each edge was touched, at least 0."""
        then = self.turns_at_touch(edges.touched / 1e6, edges.at_turn)
        return np.asarray(np.maximum(self.current_turn(extra) - then, 0.0))

    def edge_age(self, edge: Edge, turn: float) -> float:
        """Turns since one edge was touched, when so many exchanges are lived."""
        if self._clock() is SoulClock.WALL:
            return max(
                self.current_turn(0) - edge.touched.timestamp() / _DAY * TURNS_A_DAY,
                0.0,
            )
        at_turn = edge.at_turn
        if at_turn is None:
            at_turn = float(
                np.searchsorted(
                    self._visibility.exchange_times(), edge.touched.timestamp(), "right"
                )
            )
        now, then = self._at_turns(np.asarray([turn, at_turn], np.float64))
        return max(float(now - then), 0.0)

    def row_ages(self, rows: Ints, exchanges: Ints, extra: int) -> Floats:
        """How old these rows are, at least 0; `exchanges` is what `Sight.ages` says of them."""
        clock = self._clock()
        if clock is SoulClock.TURNS:
            return np.maximum(exchanges, 0).astype(np.float64)
        if clock is SoulClock.WALL:
            then = self.turns_at(self._columns.happened[rows])
            return np.asarray(np.maximum(self.current_turn(extra) - then, 0.0))
        lived = float(self._visibility.exchange_count() + extra)
        now, then = (
            self._at_turns(np.full(1, lived)),
            self._at_turns(lived - exchanges.astype(np.float64)),
        )
        return np.asarray(np.maximum(now - then, 0.0))

    def _at_turns(self, turns: Floats) -> Floats:
        """What the clock showed when so many exchanges were lived; beyond those there are each counts one."""
        if self._clock() is not SoulClock.STORY:
            return turns
        story = np.concatenate([[0.0], np.cumsum(self._steps())])
        lived = np.minimum(np.maximum(turns, 0.0), story.size - 1.0)
        return np.asarray(
            np.interp(lived, np.arange(story.size), story) + (turns - lived)
        )

    def _steps(self) -> Floats:
        """How far each exchange moved the story's clock, in the order they took place."""
        story = self._visibility.exchange_story_times()
        known = np.flatnonzero(story)
        steps = np.ones(story.size)
        if known.size:
            latest = np.maximum.accumulate(story[known])
            steps[known] = np.diff(latest, prepend=latest[0]) / _DAY * TURNS_A_DAY
        return steps
