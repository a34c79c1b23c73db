"""The decision: how likely a line calls for a memory, by two small logistic models over plain features.

    P(called for) = P(the line calls for something) * P(it is this memory, if something is called for)

The numbers of both models stand in `decision_model.json`, with the figures they reached on chats kept apart.
`python -m tests.bench.fit` makes that file.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from soulmem.kernels.arrays import Float64s

# Which numbers judge: by matches of token states, by words, or by neither where a memory is in another language.
Scale = Literal["tokens", "words", "meaning"]

# Of a memory. The names are those of the columns of a feature matrix, in this order.
MEMORY_FEATURES = (
    "fit",  # standard deviations of its text score above the soul's memories, with its neighbours
    "alone",  # the same without neighbours
    "behind",  # how much its score is below the best
    "evidence",  # log, what the line says of it or the memory before and the world does not say as well
    "own_evidence",  # the same of it alone
    "covered",  # 0..1, share of what the line says specially that it or the memory before says
    "meaning",  # standard deviations of its cosine above the soul's memories
    "named",  # 1 where it says a whole name of the line
    "own",  # whether it is the soul's own words, less the share of such memories among those compared
    "aimed",  # twice `own` where the line says you, minus that where it says I, 0 where both or neither
    "length",  # log of its letters
    # 0..1, how surely it is such a line, see `language.kinds`
    "momentous",
    "fact",
    "promise",
    "asks",
    "filler",
    "lasting",  # how much more surely than usual it tells what lasts, times `question`
    "theme",  # 0..1, how surely it is about the same theme as the line, times `question`
    # of the line and the soul
    "question",  # 0..1, how surely the line asks
    "empty",  # 0..1, how surely the line is filler
    "specific",  # log, how much the line says that is rare in this soul and in the world
    "words",  # log of the words of the line
    "size",  # log of the memories of the soul
)
# Of a line, from its memories and itself.
LINE_FEATURES = (
    "best",  # log odds of its best memory
    "several",  # mean log odds of its five best
    "lead",  # how far the best score is above the tenth
    "evidence",  # the most of any memory
    "covered",  # the most of any memory
    "known",  # 0..1, share of what the line says specially that any memory says
    "named",
    "question",
    "empty",
    "specific",
    "words",
    "size",
)
_FILE = Path(__file__).with_name("decision_model.json")
_MOST_LOGIT = 30.0


class Logistic(msgspec.Struct, frozen=True):
    """One logistic model: weights of features that are first centred and scaled."""

    features: tuple[str, ...]
    center: tuple[float, ...]
    scale: tuple[float, ...]
    weight: tuple[float, ...]
    bias: float

    def shares(self, features: Float64s) -> Float64s:
        """What each feature adds to the log odds, float64[rows, features]."""
        standard = (features - np.asarray(self.center)) / np.asarray(self.scale)
        return np.asarray(standard * np.asarray(self.weight))

    def log_odds(self, features: Float64s) -> Float64s:
        """float64[rows], within +-30, of float64[rows, features]."""
        total = self.shares(features).sum(axis=1) + self.bias
        return np.asarray(np.clip(total, -_MOST_LOGIT, _MOST_LOGIT))


class Decision(msgspec.Struct, frozen=True):
    """Both models for one kind of matches, and the least P at restraint 1.

    least       for a line that asks nothing
    asked       for a line that asks: there silence costs more than a memory too many
    asked_most  memories, the likeliest, that `asked` holds for; a question is rarely answered by more
    """

    line: Logistic
    memory: Logistic
    least: float
    asked: float
    asked_most: int

    def values(self, likely: Float64s) -> Float64s:
        """How much more each memory is worth as an answer to a question than as one to a remark, float64[m].

        likely  float64[m], that it is this memory
        """
        place = np.argsort(np.argsort(-likely, kind="stable"), kind="stable")
        return np.where(place < self.asked_most, self.least / self.asked, 1.0)


class Fitted(msgspec.Struct, frozen=True):
    """The file: when and on what the numbers were made, the figures they reached, the numbers by `Scale`."""

    date: str
    data: str
    figures: dict[str, dict[str, float]]
    models: dict[str, Decision]


@cache
def fitted() -> Fitted:
    """The numbers that SoulMem comes with."""
    return msgspec.json.decode(_FILE.read_bytes(), type=Fitted)


def probability(log_odds: Float64s) -> Float64s:
    """0..1, of log odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-log_odds)))


def line_features(memory: Float64s, log_odds: Float64s, known: float) -> Float64s:
    """The features of the line, float64[line features], from those of its memories.

    memory    float64[m, memory features], m > 0
    log_odds  float64[m], of the memory model
    known     0..1, share of what the line says specially that any memory of the soul says
    """
    column = {name: memory[:, i] for i, name in enumerate(MEMORY_FEATURES)}
    best = np.sort(log_odds)[::-1]
    fit = np.sort(column["fit"])[::-1]
    first = memory[0]
    of_line = {name: float(first[i]) for i, name in enumerate(MEMORY_FEATURES)}
    values = {
        "best": best[0],
        "several": best[:5].mean(),
        "lead": fit[0] - fit[min(9, fit.size - 1)],
        "evidence": column["evidence"].max(),
        "covered": column["covered"].max(),
        "known": known,
        "named": column["named"].max(),
    }
    return np.asarray([values.get(name, of_line.get(name)) for name in LINE_FEATURES])
