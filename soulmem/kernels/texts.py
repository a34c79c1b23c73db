"""What is the text of each memory worth beside all others? Plain functions, compiled by `compiled.py`.

What they compute stands in `soulmem.retrieval.fusion`, which does without them until they are compiled.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Groups = npt.NDArray[np.uint8]

NOISE = 1e-6  # a deviation that is smaller, beside the values, is rounding


def measure(values: Floats, group: Groups, which: int) -> tuple[float, float]:
    """Mean and 1 / deviation of the finite values of a group; 0 for the latter where they are all alike."""
    count, total, squares, greatest = 0, 0.0, 0.0, 1.0
    for row in range(values.size):
        value = np.float64(values[row])
        if group[row] == which and value - value == 0.0:
            count += 1
            total += value
            squares += value * value
            greatest = max(greatest, abs(value))
    if count < 2:
        return 0.0, 0.0
    mean = total / count
    deviation = math.sqrt(max(squares / count - mean * mean, 0.0))
    return mean, 1.0 / deviation if deviation >= NOISE * greatest else 0.0


def standardise(values: Floats, group: Groups, out: Floats) -> None:
    """(value - mean) / deviation of the finite values of group 1; 0 elsewhere, and if they are all alike."""
    mean, per = measure(values, group, 1)
    for row in range(out.size):
        value = values[row]
        out[row] = (value - mean) * per if group[row] == 1 and value - value == 0.0 else 0.0


def join(
    one: Floats, two: Floats, three: Floats, group: Groups, which: int, out: Floats
) -> tuple[float, float]:
    """Standardised mean of up to three standardised views of a group, written to `out` where the group is.

    0 where there is none. Returns what `measure` tells of the first view.
    """
    mean, per = measure(one, group, which)
    mean_two, per_two = measure(two, group, which)
    mean_three, per_three = measure(three, group, which)
    for row in range(out.size):
        if group[row] == which:
            total, count = 0.0, 0
            if one[row] - one[row] == 0.0:
                total += (one[row] - mean) * per
                count += 1
            if two[row] - two[row] == 0.0:
                total += (two[row] - mean_two) * per_two
                count += 1
            if three[row] - three[row] == 0.0:
                total += (three[row] - mean_three) * per_three
                count += 1
            out[row] = total / count if count > 0 else np.nan
    middle, scale = measure(out, group, which)
    for row in range(out.size):
        if group[row] == which:
            value = out[row]
            out[row] = (value - middle) * scale if value - value == 0.0 else 0.0
    return mean, per


def fuse_texts(
    turn: Floats,
    pair_in: Floats,
    pair_out: Floats,
    lexical: Floats,
    lexical_in: Floats,
    before: Ints,
    after: Ints,
    group: Groups,
    weight: float,
    neighbour: float,
    own: Floats,
    alone: Floats,
    score: Floats,
) -> None:
    """Own score, own score without pairs, and score of every row; see `fusion.fuse`.

    group   uint8[n]  0 where not visible, 1 where words tell something, 2 where they do not
    weight  of words beside meaning
    own, alone, score  float32[n], written
    """
    lexical_out = np.empty(lexical_in.size, np.float32)
    words = np.empty(lexical_in.size, np.float32)
    for row in range(group.size):
        lexical_out[row] = lexical_in[after[row]] if after[row] >= 0 else np.nan
    mean, per = join(turn, pair_in, pair_out, group, 1, own)
    mean_other, per_other = join(turn, pair_in, pair_out, group, 2, own)
    mean_words, per_words = join(lexical, lexical_in, lexical_out, group, 1, words)
    for row in range(group.size):
        value = turn[row]
        told = value - value == 0.0
        if group[row] == 1:
            own[row] += weight * words[row]
            meant = (value - mean) * per if told else 0.0
            alone[row] = meant + weight * (lexical[row] - mean_words) * per_words
        elif group[row] == 2:
            own[row] *= 1.0 + weight
            alone[row] = (1.0 + weight) * (value - mean_other) * per_other if told else 0.0
        else:
            own[row] = 0.0
            alone[row] = -np.inf
    for row in range(group.size):
        if group[row] == 0:
            score[row] = -np.inf
            continue
        one, two = 0.0, 0.0
        last, next_ = before[row], after[row]
        if last >= 0:
            one += own[last]
            two += own[before[last]] if before[last] >= 0 else 0.0
        if next_ >= 0:
            one += own[next_]
            two += own[after[next_]] if after[next_] >= 0 else 0.0
        score[row] = own[row] + neighbour * one + neighbour * neighbour * two
