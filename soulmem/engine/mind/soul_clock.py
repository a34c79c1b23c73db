"""SoulTime: the clock by which a soul forgets, in turns, days of the story or days of real time."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

import numpy as np

from soulmem.domain.edges import Edge
from soulmem.domain.soul import SoulClock
from soulmem.engine.mind.visibility import Visibility
from soulmem.graph.columns import Columns
from soulmem.graph.edge_arrays import EdgeArrays
from soulmem.kernels.arrays import Float64s, Int64s

TURNS_A_DAY = 20.0  # one turn = one exchange; design 6
_DAY = 86_400.0  # seconds


class SoulTime:
    """The clock by which one soul forgets. All times are in turns; a day has 20 turns.

        turns  one turn for each exchange
        story  the days between the story times of exchanges; an exchange without one
               counts one turn, and a step back in the story counts nothing
        wall   days of real time; moving the clock by turns has no effect

    Computed from the present exchanges at each call, so the order of changes does not matter.
    """

    def __init__(self, clock: Callable[[], SoulClock], sight: Visibility, columns: Columns) -> None:
        # Gives POSIX seconds; tests replace it.
        self.wall_clock: Callable[[], float] = time.time
        self._clock = clock
        self._visibility = sight
        self._columns = columns
        # The exchange times that the readings belong to, and the readings.
        self._story: tuple[Float64s, Float64s] | None = None

    def current_turn(self, extra: int) -> float:
        """The clock's present reading in turns; `extra` turns of a moved clock are added."""
        if self._clock() is SoulClock.WALL:
            return self.wall_clock() / _DAY * TURNS_A_DAY
        return float(
            self._at_turns(np.asarray([self._visibility.exchange_count() + extra], np.float64))[0]
        )

    def turns_at(self, moments: Float64s) -> Float64s:
        """The clock's readings in turns at these moments (POSIX seconds)."""
        if self._clock() is SoulClock.WALL:
            return np.asarray(moments / _DAY * TURNS_A_DAY)
        lived = np.searchsorted(self._visibility.exchange_times(), moments, "right").astype(
            np.float64
        )
        return self._at_turns(lived)

    def turns_at_touch(self, moments: Float64s, turns: Float64s) -> Float64s:
        """The clock's readings at these moments (POSIX seconds), given the turn noted then; NaN: none noted."""
        if self._clock() is SoulClock.WALL:
            return self.turns_at(moments)
        unknown = np.isnan(turns)
        if unknown.any():
            lived = np.searchsorted(self._visibility.exchange_times(), moments, "right")
            turns = np.where(unknown, lived, turns)
        return self._at_turns(turns)

    def turns_since_touch(self, edges: EdgeArrays, extra: int) -> Float64s:
        """Turns since each edge was touched, at least 0."""
        touched = self.turns_at_touch(edges.touched / 1e6, edges.at_turn)
        return np.asarray(np.maximum(self.current_turn(extra) - touched, 0.0))

    def edge_age(self, edge: Edge, turn: float) -> float:
        """Turns since one edge was touched, at least 0, when `turn` exchanges are lived."""
        return self.age_since(edge.touched, edge.at_turn, turn)

    def age_since(self, touched: datetime, at_turn: float | None, turn: float) -> float:
        """Turns since `touched`, at least 0, when `turn` exchanges are lived; `at_turn` were lived then."""
        moment = touched.timestamp()
        if self._clock() is SoulClock.WALL:
            return max(self.current_turn(0) - moment / _DAY * TURNS_A_DAY, 0.0)
        if at_turn is None:
            times = self._visibility.exchange_times()
            at_turn = float(np.searchsorted(times, moment, "right"))
        current, then = self._at_turns(np.asarray([turn, at_turn], np.float64))
        return max(float(current - then), 0.0)

    def row_ages(self, rows: Int64s, exchanges: Int64s, extra: int) -> Float64s:
        """Age of these rows in turns, at least 0; `exchanges` are their `Visibility.exchange_ages`."""
        clock = self._clock()
        if clock is SoulClock.TURNS:
            return np.maximum(exchanges, 0).astype(np.float64)
        if clock is SoulClock.WALL:
            happened = self.turns_at(self._columns.happened[rows])
            return np.asarray(np.maximum(self.current_turn(extra) - happened, 0.0))
        lived = float(self._visibility.exchange_count() + extra)
        current = self._at_turns(np.full(1, lived))
        happened = self._at_turns(lived - exchanges.astype(np.float64))
        return np.asarray(np.maximum(current - happened, 0.0))

    def _at_turns(self, turns: Float64s) -> Float64s:
        """The clock's readings when so many exchanges were lived; later exchanges count one turn each."""
        if self._clock() is not SoulClock.STORY:
            return turns
        story = self._story_turns()
        lived = np.minimum(np.maximum(turns, 0.0), story.size - 1.0)
        return np.asarray(np.interp(lived, np.arange(story.size), story) + (turns - lived))

    def _story_turns(self) -> Float64s:
        """The story clock's reading after 0, 1, .. exchanges; kept until an exchange changes."""
        times = self._visibility.exchange_times()
        if self._story is None or self._story[0] is not times:
            story = np.concatenate([[0.0], np.cumsum(self._steps())])
            self._story = (times, story)
        return self._story[1]

    def _steps(self) -> Float64s:
        """Turns by which each exchange advances the story clock, in the order they took place."""
        story = self._visibility.exchange_story_times()
        dated = np.flatnonzero(story)
        steps = np.ones(story.size)
        if dated.size:
            latest = np.maximum.accumulate(story[dated])
            steps[dated] = np.diff(latest, prepend=latest[0]) / _DAY * TURNS_A_DAY
        return steps
