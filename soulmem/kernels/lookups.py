"""Look-ups in lists and sorted runs; compiled by `compiled.py`.

Each replaces array operations over all entries by a look at the requested ones only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from soulmem.kernels.arrays import Int64s
from soulmem.kernels.push import prefetch

Slots = npt.NDArray[np.int32]
Codes = npt.NDArray[np.uint8]
Counts = npt.NDArray[np.uint8]

_AHEAD = 6  # rows: so far ahead memory is asked for
_NEAR = 8  # places: so few that they are looked at one by one


def follow(
    first: Slots,
    after: Slots,
    rows: Int64s,
    code: Codes,
    wanted: Codes,
    ends: Int64s,
    out: Int64s,
) -> int:
    """Entries of some codes in the linked lists of these rows, row by row; returns their number.

    first  int32[n]  first entry of each row's list, -1 for none
    after  int32[m]  next entry of each entry, -1 for the last
    rows   int64[k]  rows beyond the first n have no list
    code   uint8[m]  of each entry
    wanted  uint8[256] by code: 1 where such entries count, else 0
    ends   int64[k], written: number of entries up to and including each row
    out    int64[..], written as far as it reaches; if too small call again with more room
    """
    count = 0
    for index in range(rows.size):
        slot = first[rows[index]] if rows[index] < first.size else np.int32(-1)
        while slot >= 0:
            if wanted[code[slot]] > 0:
                if count < out.size:
                    out[count] = slot
                count += 1
            slot = after[slot]
        ends[index] = count
    return count


def add_worth(
    first: Slots,
    after: Slots,
    rows: Int64s,
    code: Codes,
    wanted: int,
    ends: npt.NDArray[np.uint32],
    worth: Counts,
    most: int,
    out: Int64s,
) -> None:
    """Sum of `worth` at the ends of the entries of one code in the linked list of each row.

    first, after, code  of `follow`; rows int64[k]
    ends   uint32[m]  of each entry
    worth  uint8[..]  by end
    most   where a sum has reached it, no more is looked at
    out    int64[k], written: the sums; -1 where there is no entry of that code
    """
    for index in range(rows.size):
        slot = first[rows[index]] if rows[index] < first.size else np.int32(-1)
        total = -1
        while slot >= 0 and total < most:
            if code[slot] == wanted:
                total = max(total, 0) + np.int64(worth[ends[slot]])
            slot = after[slot]
        out[index] = total


def find_tokens(tokens: Int64s, starts: Slots, wanted: Int64s, begin: Int64s, end: Int64s) -> None:
    """Begin and end of the entries of each wanted token; both 0 for a missing token.

    Interpolation search: as tokens are hashes, two or three reads each. One loop, as each
    narrowing step uses the same bounds.

    tokens      int64[t], ascending and evenly distributed
    starts      int32[t + 1]
    wanted      int64[k]
    begin, end  int64[k], written
    """
    for i in range(wanted.size):
        token = wanted[i]
        begin[i], end[i] = 0, 0
        low, high = 0, tokens.size - 1
        if high < 0 or token < tokens[0] or token > tokens[high]:
            continue
        turn = 0
        while low < high:  # tokens[low] <= token <= tokens[high]
            middle = low + (high - low) // 2
            bottom, top = np.float64(tokens[low]), np.float64(tokens[high])
            if (
                turn % 3 < 2 and high - low > _NEAR and top > bottom
            ):  # halving now and then ends it in any case
                share = (np.float64(token) - bottom) / (top - bottom)
                middle = low + int(share * np.float64(high - low))
                middle = min(max(middle, low), high - 1)
            turn += 1
            if tokens[middle] < token:
                low = middle + 1
            else:
                high = middle
                # What is right below is as likely: one look there mostly leaves nothing in between.
                below = max(low, high - _NEAR)
                if tokens[below] < token:
                    low = below + 1
            if token < tokens[low]:
                break
            above = min(high, low + _NEAR)
            if tokens[above] >= token:
                high = above
        if tokens[low] == token:
            begin[i], end[i] = starts[low], starts[low + 1]


def count_home(
    rows: Slots, begin: Int64s, end: Int64s, home: Slots, number: int, counts: Int64s
) -> None:
    """counts[i] += number of rows in rows[begin[i]:end[i]] whose home is run `number`."""
    for i in range(begin.size):
        for position in range(begin[i], end[i]):
            counts[i] += home[rows[position]] == number


def take_home(
    rows: Slots,
    often: Counts,
    begin: Int64s,
    end: Int64s,
    home: Slots,
    number: int,
    whole: bool,
    place: Int64s,
    out_rows: Slots,
    out_often: Counts,
) -> None:
    """Copy these rows and their counts to place[i] onwards, for each token i; advances place[i].

    whole  all rows are at home in the run: no check
    """
    for i in range(begin.size):
        to = place[i]
        for position in range(begin[i], end[i]):
            if whole or home[rows[position]] == number:
                out_rows[to], out_often[to] = rows[position], often[position]
                to += 1
        place[i] = to


def mark_rows(
    begin: Int64s, end: Int64s, rows: Slots, wanted: Int64s, out: npt.NDArray[np.bool_]
) -> None:
    """out[i, k] is set where wanted[k] is among rows[begin[i]:end[i]].

    rows    int32[..], >= 0
    wanted  int64[k], ascending and distinct, >= 0
    out     bool[len(begin), k], all False before
    """
    if wanted.size == 0:
        return
    # Most rows are none of the wanted: 8 of them are asked in one byte that stays in the cache.
    highest = wanted[wanted.size - 1]
    marked = np.zeros((highest >> 3) + 1, np.uint8)
    for k in range(wanted.size):
        marked[wanted[k] >> 3] |= np.uint8(1 << (wanted[k] & 7))
    for i in range(begin.size):
        for position in range(begin[i], end[i]):
            row = np.int64(rows[position])
            if row > highest or not (marked[row >> 3] >> (row & 7)) & 1:
                continue
            low, high = 0, wanted.size - 1
            while low < high:
                middle = (low + high) >> 1
                if wanted[middle] < row:
                    low = middle + 1
                else:
                    high = middle
            out[i, low] = True


def count_windows(
    cells: npt.NDArray[np.int32],
    asked: Int64s,
    starts: Slots,
    members: Slots,
    visible: npt.NDArray[np.bool_],
    passed: npt.NDArray[np.bool_],
    tally: npt.NDArray[np.int32],
    seen: Slots,
) -> tuple[int, int]:
    """In how many of the asked windows each number is held by a visible row; returns how many distinct numbers
    there are, and how many of the windows hold any.

    cells    int32[n, width]  numbers of each row, -1 after the last; rows >= n hold nothing
    asked    int64[k]  windows, each counted once however often it is asked for
    starts   int32[m + 1]  the rows of window w are members[starts[w]:starts[w + 1]]
    passed   bool[m], false, and again afterwards
    tally    int32[.., 2] by number, zeros before; written: the count, and the last window + 1
    seen     int32[..], written: the distinct numbers, in no order
    """
    distinct, holding = 0, 0
    width = cells.shape[1]
    for i in range(asked.size):
        if i + _AHEAD < asked.size:
            place = min(starts[asked[i + _AHEAD]], members.size - 1)
            first = min(members[place], cells.shape[0] - 1) * width
            prefetch(cells, first)
            prefetch(cells, first + width - 1)
        window = asked[i]
        if passed[window]:
            continue
        passed[window] = True
        holds = False
        for place in range(starts[window], starts[window + 1]):
            row = members[place]
            if row < cells.shape[0] and visible[row]:
                holds = holds or cells[row, 0] >= 0
                distinct = tally_row(cells, row, window + 1, tally, seen, distinct)
        holding += holds
    for i in range(asked.size):
        passed[asked[i]] = False
    return distinct, holding


def tally_row(
    cells: npt.NDArray[np.int32],
    row: int,
    mark: int,
    tally: npt.NDArray[np.int32],
    seen: Slots,
    distinct: int,
) -> int:
    """Count the numbers of a row that do not have this mark yet; how many distinct numbers were seen so far."""
    for column in range(cells.shape[1]):
        number = cells[row, column]
        if number < 0:
            break
        if tally[number, 1] == mark:
            continue
        tally[number, 1] = mark
        if tally[number, 0] == 0:
            seen[distinct] = number
            distinct += 1
        tally[number, 0] += 1
    return distinct


def mark_accessible_facts(table: Slots, accessible: npt.NDArray[np.bool_]) -> None:
    """accessible[fact] = accessible[subject] and accessible[object], in place.

    table       int32[k, 3]  rows of each fact, its subject and its object
    accessible  bool[n]      changed at the rows of facts, which are no subjects or objects
    """
    for i in range(table.shape[0]):
        accessible[table[i, 0]] = accessible[table[i, 1]] & accessible[table[i, 2]]
