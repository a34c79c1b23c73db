"""Fits the decision: how likely a line calls for a memory (`soulmem/retrieval/decision_model.json`).

    python -m tests.bench.fit --data FOLDER [--model FOLDER] [--write]

FOLDER holds role-play chats `rp_*.json` with lines that call for a memory and the slots of what they call for,
`plain.json` with plain questions about them and about what never was, and `calm_lines.json` with small talk.
Each line is asked of its chat as a query and as the newest message, of a young soul that knows a few messages
around the evidence, and lines of one chat are said to the character of another.
Printed are the figures of each chat by numbers fitted on the other chats. Without --model the packaged encoder
reads the chats, and the numbers for words and for meaning alone are fitted; with the folder of a
sentence-transformers model those for tokens. --write puts the numbers fitted on all chats into the file.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from soulmem.adapters import sentence_transformer
from soulmem.engine.mind.kind_table import SURE
from soulmem.engine.vectors.embedder import ModelSource
from soulmem.retrieval import decision_model
from soulmem.retrieval.decision_model import (
    LINE_FEATURES,
    MEMORY_FEATURES,
    Decision,
    Fitted,
    Logistic,
    line_features,
    probability,
)
from tests.bench.moments import (
    Chat,
    Floats,
    Line,
    Moment,
    Remembering,
    moments_of,
)

_PLACES = 8  # memories in an answer
# Features that words give: none where memories are in another script.
_OF_WORDS = ("evidence", "own_evidence", "covered", "specific")
_JUDGED = 20  # memories of a line that the model of memories learns from
_RIDGE = 3.0
# How much each kind of line weighs; all lines of one kind in one chat weigh as much together.
_WEIGHTS = {
    "cue": 3.0,
    "short": 1.0,
    "asked": 2.0,
    "events": 1.0,
    "calm": 1.0,
    "long": 0.5,
    "evening": 1.5,
    "long_evening": 1.0,
    "never": 1.0,
    "stranger": 0.5,
}
# In a young soul times as much: of lines that call for a memory, and of those that call for none.
_YOUNG_CALLED, _YOUNG_CALM = 0.6, 1.5


class Weighing:
    """The weight of each moment, so that all of one kind in one chat weigh as much together."""

    def __init__(self, moments: Sequence[Moment]) -> None:
        self._count = Counter(map(_group, moments))

    def of(self, moment: Moment) -> float:
        """The weight of one moment."""
        share = _WEIGHTS[moment.kind] / self._count[_group(moment)]
        if not moment.young:
            return share
        return share * (_YOUNG_CALLED if moment.evidence else _YOUNG_CALM)


class Bars(NamedTuple):
    """From which P on a memory is told, as in `Decision`."""

    least: float
    asked: float
    asked_most: int


# At restraint 1, by what judges; fitted by hand between being silent when asked and telling what nobody asked for.
_BARS = {"tokens": Bars(0.05, 0.02, 2), "words": Bars(0.0425, 0.02, 8)}


def _group(moment: Moment) -> tuple[str, str, bool, bool]:
    return moment.chat, moment.kind, moment.said, moment.young


def fit(moments: Sequence[Moment], bars: Bars) -> Decision:
    """Both models on these moments."""
    weighing = Weighing(moments)
    rows, called, weights = [], list[float](), list[float]()
    for moment in moments:
        for at in range(min(_JUDGED, len(moment.slots))):
            if not moment.is_beside[at]:
                rows.append(moment.features[at])
                called.append(float(moment.is_evidence[at]))
                weights.append(weighing.of(moment))
    memory = logistic(MEMORY_FEATURES, np.stack(rows), called, weights)
    read = [moment for moment in moments if moment.slots]
    line = logistic(
        LINE_FEATURES,
        np.stack([_of_line(moment, memory) for moment in read]),
        [float(moment.is_evidence[:_PLACES].any()) for moment in read],
        [weighing.of(moment) for moment in read],
    )
    return Decision(line, memory, *bars)


def _of_line(moment: Moment, memory: Logistic) -> Floats:
    log_odds = memory.log_odds(moment.features)
    return line_features(moment.features, log_odds, moment.known)


def logistic(
    names: tuple[str, ...],
    rows: Floats,
    labels: Sequence[float],
    weights: Sequence[float],
) -> Logistic:
    """The weights of a logistic regression with a ridge, by Newton's method."""
    weight = np.asarray(weights) / np.mean(weights)
    center = np.average(rows, axis=0, weights=weight)
    scale = np.sqrt(np.average((rows - center) ** 2, axis=0, weights=weight))
    scale[scale < 1e-6] = 1.0
    design = np.column_stack([(rows - center) / scale, np.ones(len(rows))])
    ridge = np.full(design.shape[1], _RIDGE)
    ridge[-1] = 0.0
    found = np.zeros(design.shape[1])
    for _ in range(100):
        likely = probability(np.clip(design @ found, -30, 30))
        slope = design.T @ (weight * (likely - labels)) + ridge * found
        bend = (design * (weight * likely * (1 - likely))[:, None]).T @ design
        step = np.linalg.solve(bend + np.diag(ridge + 1e-9), slope)
        found -= step
        if np.abs(step).max() < 1e-7:
            break

    def rounded(values: Floats) -> tuple[float, ...]:
        return tuple(round(float(value), 4) for value in values)

    return Logistic(
        names,
        rounded(center),
        rounded(scale),
        rounded(found[:-1]),
        round(float(found[-1]), 4),
    )


def told(moment: Moment, numbers: Decision) -> list[int]:
    """The memories that are told, the likeliest first."""
    if not moment.slots:
        return []
    memory = numbers.memory.log_odds(moment.features)
    of_line = line_features(moment.features, memory, moment.known)
    calls = probability(numbers.line.log_odds(of_line[None]))[0]
    likely = probability(memory) * calls
    best = np.argsort(-likely)[:_PLACES]
    asks = moment.features[0, MEMORY_FEATURES.index("question")] >= SURE
    worth = likely * numbers.values(likely) if asks else likely
    return [int(at) for at in best if worth[at] >= numbers.least]


def figures(moments: Sequence[Moment], numbers: Decision) -> dict[str, float]:
    """By kind of line: share of lines with some evidence told, with all; of what is told that has to do with
    it; memories told; share that brought nothing.
    """
    rows: defaultdict[str, list[float]] = defaultdict(list)
    for moment in moments:
        name = ("young_" if moment.young else "") + ("said_" if moment.said else "")
        name += moment.kind
        chosen = told(moment, numbers)
        rows[f"{name}_items"].append(float(len(chosen)))
        rows[f"{name}_silent"].append(float(not chosen))
        if moment.evidence:
            found = frozenset[str]().union(*(moment.slots[at] for at in chosen))
            rows[f"{name}_any"].append(float(bool(found & moment.evidence)))
            rows[f"{name}_all"].append(float(moment.evidence <= found))
            worth = moment.is_evidence | moment.is_beside
            if chosen:
                rows[f"{name}_worth"].append(float(worth[chosen].mean()))
    return {name: float(np.mean(values)) for name, values in rows.items()}


def left_out(moments: Sequence[Moment], bars: Bars) -> dict[str, float]:
    """The mean figures of each chat by numbers that were fitted on the others."""
    chats = sorted({moment.chat for moment in moments})
    every: defaultdict[str, list[float]] = defaultdict(list)
    for chat in chats:
        numbers = fit([m for m in moments if m.chat != chat], bars)
        own = figures([m for m in moments if m.chat == chat], numbers)
        for name, value in own.items():
            every[name].append(value)
    return {name: round(float(np.mean(v)), 3) for name, v in sorted(every.items())}


def scales(moments: Sequence[Moment], *, by_words: bool) -> dict[str, Sequence[Moment]]:
    """The moments by the scale that they fit. Without what words match they show what meaning alone says."""
    if not by_words:
        return {"tokens": moments}
    return {"words": moments, "meaning": [_without_words(m) for m in moments]}


def _without_words(moment: Moment) -> Moment:
    blank = [MEMORY_FEATURES.index(name) for name in _OF_WORDS]
    features = moment.features.copy()
    features[:, blank] = 0.0
    return replace(moment, features=features, known=0.0)


def write(path: Path, scale: str, numbers: Decision, shown: Mapping[str, float]) -> None:
    """Put the numbers of one scale into the file."""
    old = msgspec.json.decode(path.read_bytes(), type=Fitted)
    new = msgspec.structs.replace(
        old,
        date=datetime.now(timezone.utc).date().isoformat(),
        data="role-play chats; figures of each chat by numbers fitted on the others",
        figures={**old.figures, scale: dict(shown)},
        models={**old.models, scale: numbers},
    )
    path.write_bytes(msgspec.json.format(msgspec.json.encode(new), indent=1) + b"\n")


async def main() -> None:
    """Read the command line, collect, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model")
    parser.add_argument("--least", type=float)
    parser.add_argument("--asked", type=float)
    parser.add_argument("--asked-most", type=int)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    names = sorted(path.stem[3:] for path in options.data.glob("rp_*.json"))
    chats = [Chat(options.data, name) for name in names]
    for chat in chats:
        for other in chats:
            if other is not chat and other.data["lang"] == chat.data["lang"]:
                texts = [line.text for line in other.of_kind("cue", "short")]
                chat.foreign += [Line("stranger", text) for text in texts[::2]]
    model = None
    if options.model:
        read = partial(sentence_transformer.load, options.model, threads=1)
        model = ModelSource(options.model, lambda: True, cache(lambda: Remembering(read())))
    moments = list[Moment]()
    for chat in chats:
        moments += await moments_of(chat, model)
        print(f"{chat.name}: {len(moments)} moments", flush=True)
    given = {name: getattr(options, name) for name in Bars._fields}
    bars = _BARS["tokens" if options.model else "words"]._replace(
        **{name: value for name, value in given.items() if value is not None}
    )
    shown = left_out(moments, bars)
    for name, value in shown.items():
        print(f"{name:<28}{value:6.3f}")
    if options.write:
        for scale, some in scales(moments, by_words=model is None).items():
            shown, numbers = left_out(some, bars), fit(some, bars)
            write(
                Path(decision_model.__file__).with_name("decision_model.json"),
                scale,
                numbers,
                shown,
            )


if __name__ == "__main__":
    asyncio.run(main())
