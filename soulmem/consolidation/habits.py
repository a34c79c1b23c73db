"""When is something a habit? When it was seen in three scenes; what was seen once or twice is not told."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class HabitParams:
    """What makes a habit.

    Two wordings are one habit if both halves mean the same. Measured with the packaged encoder on 32 habits
    (en, zh) in two wordings each: the same reaction reaches 7.8 to 12, two different ones 7.5 at most and 5.9
    in 95 of 100; the same situation 4.2 and more, two different ones 3.8 in 95 of 100.
    """

    scenes: int = 3  # that support it; design 5
    apart: int = 4  # messages between two of one chat that are two scenes: an exchange of something else
    reaction: float = (
        7.0  # deviations by which two reactions are alike, `Calibration.between`
    )
    situation: float = 3.5  # .. two situations
    shown: float = 2.0  # .. a message has for a reaction that none of its words tell; others reach 1.5
    words: float = 0.5  # 0..1, share of words in common that does as well, of each half
    company: float = (
        0.5  # 0..1, share of a group that a wording must be like to belong to it
    )
    growth: float = (
        2.0  # times as many scenes, until what speaks for a habit is gathered anew
    )


def count_scenes(places: Collection[tuple[str, int]], params: HabitParams) -> int:
    """How many scenes these messages are: each a chat and the place in it. A run of them is one scene."""
    count = 0
    last: tuple[str, int] | None = None
    for chat, place in sorted(places):
        if last is None or chat != last[0] or place - last[1] >= params.apart:
            count += 1
        last = chat, place
    return count


def word_overlap(wordings: Sequence[Collection[str]]) -> Floats:
    """The share of their words that each two wordings have in common, 0..1, shape (n, n)."""
    vocabulary = sorted(set[str]().union(*wordings))
    column = {word: number for number, word in enumerate(vocabulary)}
    holds = np.zeros((len(wordings), len(column)), np.float32)
    for row, words in enumerate(wordings):
        for word in words:
            holds[row, column[word]] = 1.0
    common = holds @ holds.T
    sizes = holds.sum(axis=1)
    return np.asarray(
        common / np.maximum(sizes[:, None] + sizes - common, 1.0), np.float32
    )


def wording_groups(alike: Bools, params: HabitParams) -> list[list[int]]:
    """Which wordings are of one habit; `alike` is shape (n, n) and symmetric.

    One by one in their order, each joins the group of which most are like it, or is the first of a new one:
    a chain of likenesses does not lead from one habit to another.
    """
    out: list[list[int]] = []
    like = np.zeros(
        alike.shape, np.float64
    )  # how many of a group (column) are like each (row)
    for wording in range(len(alike)):
        shares = (
            like[wording, : len(out)] / [len(group) for group in out]
            if out
            else np.zeros(0)
        )
        best = (
            int(shares.argmax())
            if shares.size and shares.max() >= params.company
            else len(out)
        )
        if best == len(out):
            out.append([])
        out[best].append(wording)
        like[:, best] += alike[:, wording]
    return out
