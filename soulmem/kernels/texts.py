"""Text scores of memories beside each other; compiled by `compiled.py`.

The formulas: `soulmem.retrieval.fusion.fuse`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from soulmem.kernels.arrays import Float32s

RowNumbers = npt.NDArray[np.int32]
Groups = npt.NDArray[np.uint8]

NOISE = 1e-6  # a deviation that is smaller, beside the values, is rounding


def measure(values: Float32s, group: Groups, which: int) -> tuple[float, float]:
    """Mean and 1 / deviation of the finite values of a group; 1 / deviation is 0 if all are alike."""
    # A count among the integers costs the wide registers: eight times
    count, total, squares = (0.0, 0.0, 0.0)
    for row in range(values.size):
        raw = values[row]
        counted = (group[row] == which) & (raw - raw == np.float32(0))
        value = np.float64(raw if counted else np.float32(0))
        count += 1.0 if counted else 0.0
        total += value
        squares += value * value
    if count < 2:
        return 0.0, 0.0
    mean = total / count
    deviation = math.sqrt(max(squares / count - mean * mean, 0.0))
    return mean, 1.0 / deviation if deviation >= NOISE * max(
        1.0, math.sqrt(squares / count)
    ) else 0.0


def add_walk(text: Float32s, walked: Float32s, group: Groups, share: float, out: Float32s) -> None:
    """out = z(text) + share * z(sqrt(walked)) over group 1; -inf elsewhere.

    walked  float32[n], >= 0, mostly 0
    """
    middle, scale = measure(text, group, 1)
    count, total, squares = 0.0, 0.0, 0.0
    for row in range(walked.size):
        seen = group[row] == 1
        mass = np.float64(walked[row] if seen else np.float32(0))
        count += 1.0 if seen else 0.0
        total += math.sqrt(mass)
        squares += mass
    usual, per = 0.0, 0.0
    if count >= 2:
        usual = total / count
        deviation = math.sqrt(max(squares / count - usual * usual, 0.0))
        per = (
            share / deviation if deviation >= NOISE * max(1.0, math.sqrt(squares / count)) else 0.0
        )
    zero, lowest = np.float32(0), np.float32(-np.inf)
    mean, scaled = np.float32(middle), np.float32(scale)
    still, gain = np.float32(-usual * per), np.float32(per)
    for row in range(out.size):
        value = text[row]
        text_score = (value - mean) * scaled if value - value == zero else zero
        walk_score = still + gain * np.sqrt(walked[row]) if walked[row] > 0 else still
        out[row] = text_score + walk_score if group[row] == 1 else lowest


def join(
    view_a: Float32s,
    view_b: Float32s,
    view_c: Float32s,
    group: Groups,
    which: int,
    out: Float32s,
) -> tuple[float, float]:
    """out = z(mean of z(view) over those of three views that exist), where the row is in group `which`.

    0 where none exists. Returns `measure` of the first view.
    """
    zero = np.float32(0)
    first = measure(view_a, group, which)
    second = measure(view_b, group, which)
    third = measure(view_c, group, which)
    mean, per = np.float32(first[0]), np.float32(first[1])
    mean_two, per_two = np.float32(second[0]), np.float32(second[1])
    mean_three, per_three = np.float32(third[0]), np.float32(third[1])
    for row in range(out.size):
        a, b, c = view_a[row], view_b[row], view_c[row]
        has_a, has_b, has_c = a - a == zero, b - b == zero, c - c == zero
        total = (a - mean) * per if has_a else zero
        total += (b - mean_two) * per_two if has_b else zero
        total += (c - mean_three) * per_three if has_c else zero
        # 0 / 0 where there is none
        count = np.float32(has_a) + np.float32(has_b) + np.float32(has_c)
        out[row] = total / count if group[row] == which else out[row]
    joined = measure(out, group, which)
    middle, scale = np.float32(joined[0]), np.float32(joined[1])
    for row in range(out.size):
        value = out[row]
        standard = (value - middle) * scale if value - value == zero else zero
        out[row] = standard if group[row] == which else value
    return first


def take_pairs(
    pairs: Float32s,
    first: RowNumbers,
    second: RowNumbers,
    of_first: Float32s,
    of_second: Float32s,
) -> None:
    """of_first[row] = pairs[first[row]], and the same of `second`; NaN where the number is -1.

    pairs          float32[p]
    first, second  int32[n]    numbers of pairs, -1 for none
    of_first, of_second  float32[n], written
    """
    for row in range(first.size):
        none = np.float32(np.nan)
        of_first[row] = pairs[first[row]] if first[row] >= 0 else none
        of_second[row] = pairs[second[row]] if second[row] >= 0 else none


def fuse_texts(
    turn: Float32s,
    pair_in: Float32s,
    pair_out: Float32s,
    lexical: Float32s,
    lexical_in: Float32s,
    before: RowNumbers,
    after: RowNumbers,
    group: Groups,
    groups: int,
    weight: float,
    neighbour: float,
    own: Float32s,
    alone: Float32s,
    score: Float32s,
) -> None:
    """Scores of every row; see `fusion.fuse`. One loop over rows, as each part needs the others.

    turn, pair_in, pair_out   float32[n]  cosines alone, with the text before and the text after
    lexical, lexical_in       float32[n]  BM25 alone and with the text before
    before, after             int32[n]    rows of the neighbours, -1 for none
    group   uint8[n]  0 not visible, 1 the query has words in the text's script, 2 it has none
    groups  1 if no row is in group 2, else 2
    weight  of words beside meaning; `neighbour`: of a neighbour's score
    own     float32[n], zeros before; written: with pairs, without neighbours
    alone, score  float32[n], written: without pairs; with neighbours
    """
    lexical_out = np.empty(lexical_in.size, np.float32)
    words = np.zeros(lexical_in.size, np.float32)
    for row in range(group.size):
        lexical_out[row] = lexical_in[after[row]] if after[row] >= 0 else np.float32(np.nan)
    mean, per = join(turn, pair_in, pair_out, group, 1, own)
    mean_other, per_other = 0.0, 0.0
    if groups > 1:
        mean_other, per_other = join(turn, pair_in, pair_out, group, 2, own)
    mean_words, per_words = join(lexical, lexical_in, lexical_out, group, 1, words)
    zero, lowest = np.float32(0), np.float32(-np.inf)
    share, beside, far_share = (
        np.float32(weight),
        np.float32(neighbour),
        np.float32(neighbour * neighbour),
    )
    full_weight = np.float32(1.0 + weight)
    middle, per_one = np.float32(mean), np.float32(per)
    middle_two, per_two = np.float32(mean_other), np.float32(per_other)
    middle_words, per_word = np.float32(mean_words), np.float32(per_words)
    for row in range(group.size):
        value, reads, is_other = turn[row], group[row] == 1, group[row] == 2
        meant = (value - middle) * per_one if reads else (value - middle_two) * per_two
        has = value - value == zero
        paired = (pair_in[row] - pair_in[row] == zero) | (pair_out[row] - pair_out[row] == zero)
        words_score = (lexical[row] - middle_words) * per_word
        meant = meant if has else (words_score if reads else zero)
        row_score = meant + share * words_score if reads else full_weight * meant
        alone[row] = row_score if reads | is_other else lowest
        whole = own[row] if has | paired | (not reads) else words[row]
        whole = whole + share * words[row] if reads else full_weight * whole
        own[row] = whole if reads | is_other else zero
    for row in range(group.size):
        last, next_ = before[row], after[row]
        near, second = zero, zero
        if last >= 0:
            near += own[last]
            second += own[before[last]] if before[last] >= 0 else zero
        if next_ >= 0:
            near += own[next_]
            second += own[after[next_]] if after[next_] >= 0 else zero
        score[row] = own[row] + beside * near + far_share * second if group[row] > 0 else lowest
