"""Cursors: where the page before ended, in a list of memories or facts."""

from __future__ import annotations

import re

import numpy as np

from soulmem.domain.errors import Unprocessable
from soulmem.domain.phrases import phrase
from soulmem.kernels.arrays import Int64s

# The rung, a number by which the list is sorted on that rung, and the id of the last one shown
Cursor = tuple[int, int, str]

_CURSOR = re.compile(r"(-1|[0-5])_(-?\d{1,20})_([a-z0-9]{1,64})\Z")
_ORDERED = 5  # rung of lists that are not sorted by time; the number is the place in the list


def cursor_of(text: str) -> Cursor:
    """The sort key where the previous page ended. Raises Unprocessable."""
    match = _CURSOR.match(text)
    if match is None:
        raise Unprocessable(
            phrase(
                "bad_cursor",
                "'{cursor}' is no cursor: pass on the one of the page before",
                cursor=text[:80],
            ),
            field="cursor",
        )
    return int(match[1]), int(match[2]), match[3]


def ordered_cursor(end: int, key: str) -> str:
    """The cursor of a page whose last entry is `key` at place `end` - 1 of the list."""
    return f"{_ORDERED}_{end}_{key}"


def start_after(after: Cursor | None, entries: Int64s, last: int | None) -> int:
    """The place in `entries` at which the next page begins.

    `last` is the entry that the cursor names; where it has gone, the page begins at the place behind it. Raises
    Unprocessable for a cursor of another order.
    """
    if after is None:
        return 0
    rung, position, key = after
    if rung != _ORDERED:
        raise Unprocessable(
            phrase(
                "cursor_order",
                "the cursor of '{key}' is of another order: list from the start",
                key=key,
            ),
            field="cursor",
        )
    places = np.flatnonzero(entries == last) if last is not None else entries[:0]
    return int(places[0]) + 1 if places.size else max(position, 0)
