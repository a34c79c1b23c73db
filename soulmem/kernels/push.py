"""Walk by bucket push, which visits only the part of the graph it reaches; compiled by `compiled.py`.

    due(b) = (y[u] - last[b]) * mean of P[u, v] over the edges of b
    push b:  y[v] += (1 - restart) * (y[u] - last[b]) * P[u, v] for its edges;  last[b] = y[u]

Income y[u] is all walk that ever arrived at u; restart * y is a lower bound of the score.
The out-edges of u, heaviest first, are cut into buckets of similar weight; `last` of a
bucket is the income at its last push. Buckets are pushed while due(b) > theta, and theta
falls from round to round. The mass on its way is known exactly at every moment, so the
walk stops as soon as the error is reached. A row is cut only as far as it is due.

Time is spent on cache misses, so:
- a row of the graph is contiguous, 8 bytes a cell: 1 / total weight, then (kind and target, weight)s; where the
  row of a node stands is one read of 8 bytes, so that a row can be moved;
- a node gets a slot of 32 bytes at its first income; the slots of a query are contiguous;
- of a target only `word[v]` is read, 4 bytes: its slot, and a code of how due an income of 1 makes it.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from soulmem.kernels.arrays import Bools, Float64s
from soulmem.kernels.csr import Ids, Kinds, Weights
from soulmem.kernels.tuning import Places

# Unsigned through and through: a signed index is tested for being negative, and int64 with uint64 is a float.
ONE, TWO, FOUR = np.uint64(1), np.uint64(2), np.uint64(4)
FIVE, SIX, SEVEN, EIGHT = np.uint64(5), np.uint64(6), np.uint64(7), np.uint64(8)
NONE = np.uint64(0)

# A slot of 32 bytes, as 4 float64 or 8 float32 or 8 uint32; slot 0 is unused.
# float64; 1 / total weight for this query, -1 for a sink
INCOME, LAST, INVERSE = (np.uint64(0), ONE, TWO)
FIRST = TWO  # uint32: the first bucket, where a row of one bucket has its LAST
DUE, ROW = SIX, SEVEN  # float32: of the most urgent bucket; uint32: the node
# A bucket of 32 bytes, as 4 float64 or 8 uint32: LAST as float64, the sum of its probabilities, its edges.
B_LAST, B_SUM = np.uint64(0), ONE
B_BEGIN, B_END, B_NEXT = FOUR, FIVE, SIX

NODE_BITS = np.uint32(24)
# Of a target in a cell; above it stands the kind of the edge
NODE = np.uint32((1 << 24) - 1)
SLOT = np.uint32((1 << 26) - 1)  # of a word
OWN = np.uint32(1 << 26)  # in a word: the row has edges with a multiplier of their own
CODE_BITS = np.uint32(27)  # below the code in a word
ABSORBS = 31  # the code of a node without out-edges

SMALL = np.uint64(8)  # rows of up to so many edges are one bucket
FEWEST = np.uint64(8)  # edges in a bucket of a longer row, at least
# A bucket goes on while the weight is at least this share of its first one's
SPREAD = np.float32(0.25)
FAINT = 1e-3  # of the error: what a seed brings where it is due is not waited for
FALL = np.float32(0.6)  # of theta from round to round
STEEPNESS = 2.5  # visits grow like (1 / error) to this power, about; measured
SWEEP_GAIN = 1.75  # steps of a walk that one Gauss-Seidel sweep makes, about; measured
BUSY = np.float32(-math.inf)  # `DUE` of a node in the queue
# Places in the queue whose memory is asked for before it is needed: where a row is, the row, its targets.
FAR, AHEAD, NEAR = np.uint64(16), EIGHT, FOUR


def prefetch(array: npt.NDArray[np.generic], index: np.uint64) -> None:
    """Ask for the cache line of array[index]; does nothing when interpreted."""


def lay_out(
    rows: Ids,
    starts: Ids,
    ends: Ids,
    indices: Ids,
    weight: Weights,
    kind: Kinds,
    where: Ids,
    real: Float64s,
    heavy: Weights,
    whole: Ids,
    word: Ids,
) -> None:
    """Write the cells of these rows, and the codes of their nodes into `word`.

    starts, ends        uint32[n]   positions of the edges of each node
    where               uint32[2n]  cells of the edges of each node: the first, and the one after the last; the
                                    cell before the first is the row's, too
    real, heavy, whole  one buffer of cells, viewed as float64, 2 float32 or 2 uint32 each
    word                uint32[n], written
    """
    for i in range(rows.size):
        u = np.uint64(rows[i])
        begin, end = np.uint64(starts[u]), np.uint64(ends[u])
        cell = np.uint64(where[TWO * u]) - ONE
        total = np.float64(0.0)  # interpreted, 0.0 + float32 would be a float32
        for e in range(begin, end):
            total += weight[e]
        real[cell] = 1.0 / total if total > 0 else 0.0
        for e in range(begin, end):
            cell += ONE
            whole[TWO * cell] = np.uint32(np.uint32(kind[e]) << NODE_BITS) | indices[e]
            heavy[TWO * cell + ONE] = weight[e]
        word[u] = np.uint32(ABSORBS << 27)
        if total > 0:
            stop, top, mass = begin, weight[begin] * SPREAD, np.float64(0.0)
            while stop < end and (
                end - begin <= SMALL or stop - begin < FEWEST or weight[stop] >= top
            ):
                mass += weight[stop]
                stop += ONE
            rarity = 2.0 * math.log2(np.float64(np.int64(stop - begin)) * total / mass)
            word[u] = np.uint32(np.uint32(min(30.0, max(0.0, rarity))) << CODE_BITS)


def mark_own(rows: Ids, starts: Ids, ends: Ids, own_of: Places, word: Ids) -> None:
    """Of these rows set OWN in `word` where an edge with an own multiplier starts, clear it elsewhere."""
    for i in range(rows.size):
        u = rows[i]
        marked = word[u] & ~OWN
        for position in range(np.int64(starts[u]), np.int64(ends[u])):
            if own_of[position] >= 0:
                marked |= OWN
                break
        word[u] = marked


def push(  # noqa: C901 - one loop over state in registers: a call in it costs as much as the work
    where: Ids,
    starts: Ids,
    real: Float64s,
    heavy: Weights,
    whole: Ids,
    word: Ids,
    seeds: Ids,
    share: Float64s,
    restart: float,
    l1: float,
    sweep_cost: float,
    tuned: bool,
    kind_factor: Weights,
    own_of: Places,
    own_factor: Weights,
    largest: float,
    alive: Bools,
    boundary: Bools,
    slot_real: Float64s,
    slot_heavy: Weights,
    slot_whole: Ids,
    bucket_real: Float64s,
    bucket_whole: Ids,
    queue: Ids,
    rows: Ids,
    income: Float64s,
    totals: Float64s,
) -> tuple[int, int]:
    """Push from the seeds until the error is at most l1, or sweeps over the whole graph look cheaper.

    One loop: its state is in registers, and a call in it costs as much as its work.

    where, starts  as `lay_out` has them
    sweep_cost   cost of a sweep over all in-edges, in visited edges; 0: push to the end
    tuned        weights of this query differ; `largest` is the largest multiplier
    kind_factor  float32[256]; alive, boundary bool[n] or empty
    own_of       int32[m] or empty, for rows marked OWN: index into `own_factor` by position, or -1
    slot_*       n + 1 slots, all 0, before and after
    bucket_*     m // 4 + 2 buckets; queue holds a power of 2 > n numbers
    rows         uint32[n], written: the nodes reached; `income` float64[n]: what arrived there
    totals       float64[3], written: mass on its way, returned from sinks, stuck at boundary nodes

    Returns the number of nodes reached and of edges visited.
    """
    ring = np.uint64(queue.size - 1)
    go_on = 1.0 - restart
    masked = alive.size > 0
    per_sweep = SWEEP_GAIN * -math.log(go_on) if go_on > 0.0 else 1.0
    moving, back, stuck = 0.0, 0.0, 0.0
    slots, buckets, visits = NONE, ONE, NONE
    gain = np.empty(32, np.float32)
    for i in range(31):
        gain[i] = 2.0 ** (-0.5 * i)
    gain[ABSORBS] = 1e30

    # All seeds are pushed in the first round, but those that hardly matter: the fall from round to round gets
    # to them if need be. A theta as small as they are would leave nothing to order, or end it all at once.
    theta, faint = np.float32(1.0), np.float32(FAINT * l1)
    for i in range(seeds.size):
        u = seeds[i]
        slot = np.uint64(word[u] & SLOT)
        if slot == NONE:
            slots += ONE
            slot = slots
            slot_whole[EIGHT * slot + ROW] = u
            word[u] |= np.uint32(slot)
        slot_real[FOUR * slot + INCOME] += share[i]
        moving += go_on * share[i]
        due = np.float32(slot_real[FOUR * slot + INCOME]) * gain[word[u] >> CODE_BITS]
        slot_heavy[EIGHT * slot + DUE] = due
        theta = min(theta, max(np.float32(0.9) * due, faint))

    while moving > max(l1 * (1.0 - back) - stuck, 0.5 * l1 * (1.0 - back)) and theta > 1e-36:
        head, tail = NONE, NONE
        for slot in range(ONE, slots + ONE):
            if slot_heavy[EIGHT * slot + DUE] > theta:
                queue[tail] = np.uint32(slot)
                tail += ONE
                slot_heavy[EIGHT * slot + DUE] = BUSY
        while head < tail:
            if head + FAR < tail:
                slot = np.uint64(queue[(head + FAR) & ring])
                prefetch(where, TWO * np.uint64(slot_whole[EIGHT * slot + ROW]))
            if head + AHEAD < tail:
                slot = np.uint64(queue[(head + AHEAD) & ring])
                row = np.uint64(slot_whole[EIGHT * slot + ROW])
                prefetch(real, np.uint64(where[TWO * row]) - ONE)
            if head + NEAR < tail:
                slot = np.uint64(queue[(head + NEAR) & ring])
                row = np.uint64(slot_whole[EIGHT * slot + ROW])
                begin = np.uint64(where[TWO * row])
                end = np.uint64(where[TWO * row + ONE])
                for cell in range(begin, min(begin + SMALL, end)):
                    prefetch(word, np.uint64(whole[TWO * cell] & NODE))
            slot = np.uint64(queue[head & ring])
            head += ONE
            u = np.uint64(slot_whole[EIGHT * slot + ROW])
            y = slot_real[FOUR * slot + INCOME]
            begin = np.uint64(where[TWO * u])
            end = np.uint64(where[TWO * u + ONE])
            inverse = real[begin - ONE]
            marked, shift = False, NONE
            if tuned and inverse > 0.0:
                marked = own_of.size > 0 and word[u] & OWN > np.uint32(0)
                if marked:  # from a position of an edge to its cell
                    shift = begin - np.uint64(starts[u])
                inverse = slot_real[FOUR * slot + INVERSE]
                if inverse == 0.0:
                    for cell in range(begin, end):
                        tag = whole[TWO * cell]
                        weight = heavy[TWO * cell + ONE] * kind_factor[tag >> NODE_BITS]
                        if marked and own_of[cell - shift] >= 0:
                            weight *= own_factor[own_of[cell - shift]]
                        if masked and not alive[tag & NODE]:
                            weight = np.float32(0)
                        inverse += weight
                    inverse = 1.0 / inverse if inverse > 0.0 else -1.0
                    slot_real[FOUR * slot + INVERSE] = inverse
            halts = boundary.size > 0 and boundary[u]
            if halts or inverse <= 0.0:
                kept = go_on * (y - slot_real[FOUR * slot + LAST])
                slot_real[FOUR * slot + LAST] = y
                slot_heavy[EIGHT * slot + DUE] = np.float32(0)
                moving -= kept
                if halts:
                    stuck += kept
                else:
                    back += kept
                continue

            due = np.float32(0)
            small = end - begin <= SMALL
            bucket, before, stop, mass, last = NONE, NONE, begin, 1.0, 0.0
            if small:
                last = slot_real[FOUR * slot + LAST]
                stop = end
            else:
                bucket = np.uint64(slot_whole[EIGHT * slot + FIRST])
            while True:
                if not small:
                    if bucket != NONE:
                        last = bucket_real[FOUR * bucket + B_LAST]
                        mass = bucket_real[FOUR * bucket + B_SUM]
                        begin = np.uint64(bucket_whole[EIGHT * bucket + B_BEGIN])
                        stop = np.uint64(bucket_whole[EIGHT * bucket + B_END])
                    else:
                        if stop == end:
                            break
                        top = heavy[TWO * stop + ONE]
                        bound = np.float32(y * top * largest * inverse)
                        if bound <= theta:
                            due = max(due, bound)
                            break
                        begin, mass, last = stop, np.float64(0.0), 0.0
                        top *= SPREAD
                        while stop < end and (
                            stop - begin < FEWEST or heavy[TWO * stop + ONE] >= top
                        ):
                            tag = whole[TWO * stop]
                            weight = heavy[TWO * stop + ONE]
                            if tuned:
                                weight *= kind_factor[tag >> NODE_BITS]
                                if marked and own_of[stop - shift] >= 0:
                                    weight *= own_factor[own_of[stop - shift]]
                                if masked and not alive[tag & NODE]:
                                    weight = np.float32(0)
                            mass += weight
                            stop += ONE
                        mass *= inverse
                        bucket = buckets
                        buckets += ONE
                        bucket_real[FOUR * bucket + B_LAST] = 0.0
                        bucket_real[FOUR * bucket + B_SUM] = mass
                        bucket_whole[EIGHT * bucket + B_BEGIN] = np.uint32(begin)
                        bucket_whole[EIGHT * bucket + B_END] = np.uint32(stop)
                        bucket_whole[EIGHT * bucket + B_NEXT] = np.uint32(0)
                        if before == NONE:
                            slot_whole[EIGHT * slot + FIRST] = np.uint32(bucket)
                        else:
                            bucket_whole[EIGHT * before + B_NEXT] = np.uint32(bucket)
                urgent = np.float32((y - last) * mass / np.float64(np.int64(stop - begin)))
                if urgent > theta:
                    sent = go_on * (y - last)
                    moving -= restart * sent * mass
                    visits += stop - begin
                    if small:
                        slot_real[FOUR * slot + LAST] = y
                    else:
                        bucket_real[FOUR * bucket + B_LAST] = y
                    sent *= inverse
                    for cell in range(begin, stop):
                        tag = whole[TWO * cell]
                        v = tag & NODE
                        weight = heavy[TWO * cell + ONE]
                        if tuned:
                            weight *= kind_factor[tag >> NODE_BITS]
                            if marked and own_of[cell - shift] >= 0:
                                weight *= own_factor[own_of[cell - shift]]
                            if masked and not alive[v]:
                                weight = np.float32(0)
                        arrives = sent * weight
                        seen = word[v]
                        to = np.uint64(seen & SLOT)
                        slots += np.uint64(to == NONE)
                        to = slots if to == NONE else to
                        per = gain[seen >> CODE_BITS]
                        word[v] = seen | np.uint32(to)
                        slot_whole[EIGHT * to + ROW] = v
                        slot_real[FOUR * to + INCOME] += arrives
                        urgency = slot_heavy[EIGHT * to + DUE] + np.float32(arrives) * per
                        queue[tail & ring] = np.uint32(to)
                        tail += np.uint64(urgency > theta)
                        slot_heavy[EIGHT * to + DUE] = BUSY if urgency > theta else urgency
                else:
                    due = max(due, urgent)
                if small:
                    break
                before = bucket
                bucket = np.uint64(bucket_whole[EIGHT * bucket + B_NEXT])
            if slot_real[FOUR * slot + INCOME] > y:  # a loop
                due += np.float32(slot_real[FOUR * slot + INCOME] - y) * gain[word[u] >> CODE_BITS]
            if due > theta:
                queue[tail & ring] = np.uint32(slot)
                tail += ONE
                due = BUSY
            slot_heavy[EIGHT * slot + DUE] = due
            if moving <= max(l1 * (1.0 - back) - stuck, 0.5 * l1 * (1.0 - back)):
                break
        if (
            sweep_cost > 0.0
            and moving > 0.0
            and STEEPNESS * np.float64(np.int64(visits)) * per_sweep > sweep_cost
        ):
            excess = max(1.0, moving / (l1 * (1.0 - back)))
            push_on = np.float64(np.int64(visits)) * (excess**STEEPNESS - 1.0)
            if push_on > sweep_cost * (2.0 + math.log(excess) / per_sweep):
                break
        theta *= FALL

    reached = 0
    for slot in range(ONE, slots + ONE):
        u = np.uint64(slot_whole[EIGHT * slot + ROW])
        word[u] &= ~SLOT
        y = slot_real[FOUR * slot + INCOME]
        rows[reached] = np.uint32(u)
        income[reached] = y
        if y > 0.0:
            reached += 1
        for i in range(FOUR * slot, FOUR * slot + FOUR):
            slot_real[i] = 0.0
    totals[0], totals[1], totals[2] = moving, back, stuck
    return reached, np.int64(visits)
