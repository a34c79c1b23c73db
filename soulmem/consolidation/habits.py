"""When observed reactions are a habit: scenes counted, and wordings of one habit grouped."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class HabitParams:
    """When observations are a habit.

    Two wordings are one habit if situation and reaction mean the same. Measured with the packaged encoder on
    32 habits (en, zh) in two wordings each: the same reaction reaches 7.8 to 12, two different ones 7.5 at most
    and 5.9 in 95 of 100; the same situation 4.2 and more, two different ones 3.8 in 95 of 100.
    """

    scenes: int = 3  # least scenes that show it; design 5
    apart: int = 4  # least messages between two scenes of one chat
    # least deviations between two reactions, `Calibration.between`
    reaction: float = 7.0
    situation: float = 3.5  # the same between two situations
    shown: float = 2.0  # the same between a message and a reaction without shared words; others reach 1.5
    # 0..1, share of common words that suffices instead, of each half
    words: float = 0.5
    # 0..1, least share of a group that a wording is similar to, to join it
    company: float = 0.5
    growth: float = 2.0  # factor of new scenes after which the evidence of a habit is gathered again


def count_scenes(places: Collection[tuple[str, int]], params: HabitParams) -> int:
    """Number of scenes of these messages (chat, position); a run of messages is one scene."""
    count = 0
    last: tuple[str, int] | None = None
    for chat, place in sorted(places):
        if last is None or chat != last[0] or place - last[1] >= params.apart:
            count += 1
        last = chat, place
    return count


def word_overlap(wordings: Sequence[Collection[str]]) -> Floats:
    """Jaccard index of the words of each two wordings, float32[n, n], 0..1."""
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
    """Wordings grouped by habit, as indices; `alike` is shape (n, n) and symmetric.

    In their order, each wording joins the group with the largest share of similar wordings, or starts a new
    one; so a chain of pairwise similar wordings does not join two habits.
    """
    out: list[list[int]] = []
    # number of wordings of a group (column) that are similar to each (row)
    like = np.zeros(alike.shape, np.float64)
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
