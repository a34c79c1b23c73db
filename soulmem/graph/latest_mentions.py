"""Mention edges by target row; of rows with very many, only the latest, kept up to date."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from soulmem.graph.slot_lists import Chains
from soulmem.kernels.arrays import Float64s, Int64s

Codes = NDArray[np.uint8]
RowNumbers = NDArray[np.uint32]

LATEST = 64  # mentions of a row that are looked at where there are very many: all before leave a thousandth
MANY = 4 * LATEST  # are very many
_ROWS = 1024  # of very many mentions that are remembered, half a megabyte


class Mentions:
    """Slots of mention edges by target row; the edge table reports each put and drop."""

    def __init__(self, code: int) -> None:
        """`code` is the kind code of mention edges."""
        self._code = code
        self._latest: dict[int, Int64s] = {}  # by row with very many

    def of(
        self,
        rows: Int64s,
        chains: Chains,
        kind: Codes,
        target: RowNumbers,
        touched: Int64s,
        at_turn: Float64s,
    ) -> Int64s:
        """Slots of the mentions of these distinct rows, ascending.

        Of a row with more than `MANY` only the `LATEST` by touch, then by turn.

        chains                          lists of slots by target row
        kind, target, touched, at_turn  columns by slot
        """
        latest = [self._latest.get(row) for row in rows.tolist()]
        slot_lists = [slots for slots in latest if slots is not None]
        rest = rows[[slots is None for slots in latest]]
        wanted = np.zeros(256, np.uint8)
        wanted[self._code] = 1
        slots, ends = chains.of_all(rest, kind, wanted)
        begins = np.append(0, ends[:-1])
        for index in np.flatnonzero(ends - begins > MANY)[
            ::-1
        ].tolist():  # the last first: places stay
            mine = slice(int(begins[index]), int(ends[index]))
            slot_lists.append(self._find(int(rest[index]), slots[mine], touched, at_turn))
            slots = np.delete(slots, mine)
        return np.sort(np.concatenate([slots, *slot_lists]))

    def put(self, row: int, slot: int, touched: Int64s, at_turn: Float64s) -> None:
        """Update the cached latest mentions of the row after the mention in `slot` was put."""
        latest = self._latest.get(row)
        if latest is None:
            return
        if slot in latest:  # its touch may now be earlier
            del self._latest[row]
            return
        moments = [(touched.item(other), _number(at_turn.item(other))) for other in latest.tolist()]
        earliest = min(moments)
        if (touched.item(slot), _number(at_turn.item(slot))) > earliest:
            latest = latest.copy()
            latest[moments.index(earliest)] = slot
            self._latest[row] = latest

    def forget(self, row: int | None = None) -> None:
        """Drop the cached mentions of the row, or of all rows."""
        if row is None:
            self._latest.clear()
        else:
            self._latest.pop(row, None)

    def _find(self, row: int, slots: Int64s, touched: Int64s, at_turn: Float64s) -> Int64s:
        if len(self._latest) >= _ROWS:
            self._latest.clear()
        moments = touched[slots]
        floor = np.partition(moments, -LATEST)[-LATEST]
        later, equal = slots[moments > floor], slots[moments == floor]
        turns = np.where(np.isnan(at_turn[equal]), -np.inf, at_turn[equal])
        out = np.concatenate(
            [later, equal[np.argsort(turns, kind="stable")[later.size - LATEST :]]]
        )
        self._latest[row] = out
        return out


def _number(turn: float) -> float:
    """The turn; -inf for an unknown one (NaN)."""
    return -math.inf if math.isnan(turn) else turn
