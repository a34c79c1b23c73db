"""Questions for all of a sort: what is known of who asks, or of one thing, what was promised, how the two met.

They have no words in common with their answers, or no more than many memories have. Compute thread only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.memories import MemoryKind
from soulmem.engine.mind.kind_table import SURE
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.recall.decision import Judged, JudgedLine, judge_rows
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.known import Reading, main_listener, readings
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.kernels.arrays import Int64s
from soulmem.language.keywords import terms
from soulmem.language.kinds.known_lines import PROMISE, KnownLine
from soulmem.language.kinds.line_kinds import KINDS
from soulmem.language.name_tokens import fold
from soulmem.retrieval.fusion import standardised
from soulmem.retrieval.time_spans import spread_over_time

# Score from which on a question asks for a sort, and from which on any other line does ("Tell me about us.")
_LEAST, _LEAST_UNASKED = 0.6, 0.85
_ONE_THING = "asks_thing"  # what asks for one thing in such words
_PLACES = 4  # memories of a sort that are told
_FIRST, _NEXT = 0.6, 0.8  # how likely the first is meant, and each next beside it
_CLEAR = 0.15  # from which on a memory is an answer by its own words as well
_AS_CLEAR = 0.4  # of how clearly the clearest tells it the others must tell it
_CALLS = 0.1  # P from which on a line without a term of its own calls for something
_ANSWER = 0.95  # of how likely a question is called for its answer is
_ASKED = re.compile(r"[?？؟]\W*$")  # at the end of a message
_READ = 48  # messages whose lines are read
_LISTENED = 200  # latest messages that say who is spoken to
_WEIGHTY = 64  # messages that matter most; told are those that lie apart in time
_BEGINNING = 12  # messages of the beginning
_SURE = 3.0  # standard deviations of text that a line is worth which is sure to last
_TEXTS = [MEMORY_KINDS.index(kind) for kind in (MemoryKind.EPISODE, MemoryKind.NOTE)]


@compute_only
def with_open_questions(mind: Mind, context: RecallContext, judged: Judged) -> Judged:
    """The same with the memories that lines ask for which ask for all of a sort.

    Only where an encoder has told the kinds of lines: by words "What time is it?" would ask for a sort. A question
    for nothing but a time ("What happened last time?") is answered by the memories of that time.
    """
    asks_time = context.asked_time is not None and context.asked_time.only_time
    if asks_time or context.asked is None or not mind.line_kinds.known():
        return judged
    out: list[JudgedLine] = []
    for line in judged.lines:
        kinds = line.line.kinds
        sort = None if kinds is None else sort_asked_for(kinds)
        rows = _SORTS[sort](mind, context, line) if sort else np.zeros(0, np.int64)
        if kinds is None or sort is None or not rows.size:
            out.append(line)
            continue
        clear = line.memory * (line.called >= _CLEAR)
        out.append(replace(line, memory=clear))
        asked = judge_rows(mind, context, line.line, rows)
        asked = replace(
            asked,
            memory=(_FIRST * _NEXT ** np.arange(rows.size)).astype(np.float64),
            calls=float(kinds[KINDS.index(sort)]),
            value=np.full(rows.size, np.nextafter(1.0, 2.0)),  # so faded ones come too
            is_open=True,
        )
        out.append(asked)
    return replace(judged, lines=tuple(out))


@compute_only
def with_answers(mind: Mind, context: RecallContext, judged: Judged) -> Judged:
    """The same, and for questions among the called memories the message after each: a question is no answer."""
    if judged.least == 0.0 or not judged.asked_rows():
        return judged
    asks = mind.line_kinds.of_kind("question", mind.size) >= SURE
    after = mind.neighbours(context.request.chat).after[: mind.size]
    answers = context.visible & ~mind.line_kinds.filler(mind.size)
    out: list[JudgedLine] = []
    for line in judged.lines:
        out.append(line)
        is_called = (line.called >= judged.least) & (line.value > 1.0)
        places = np.flatnonzero(is_called & asks[line.rows])
        ends = [_ends_as_question(mind, row) for row in line.rows[places].tolist()]
        places = places[np.asarray(ends, bool)]
        rows = after[line.rows[places]].astype(np.int64)
        kept = (rows >= 0) & answers[rows]
        places, rows = places[kept], rows[kept]
        if rows.size:
            answered = judge_rows(mind, context, line.line, rows)
            out.append(
                replace(
                    answered,
                    memory=_ANSWER * line.memory[places],
                    calls=line.calls,
                    value=line.value[places],
                )
            )
    return replace(judged, lines=tuple(out))


def _ends_as_question(mind: Mind, row: int) -> bool:
    """Whether a message ends with its question, so that the next one answers."""
    return _ASKED.search(mind.text_of(mind.id_at(row))) is not None


def sort_asked_for(kinds: NDArray[np.float32]) -> str | None:
    """Which sort a line of these kinds, float32[KINDS], asks for."""
    scores = {name: float(kinds[KINDS.index(name)]) for name in (*_SORTS, _ONE_THING)}
    sort = max(scores, key=lambda name: scores[name])
    is_question = kinds[KINDS.index("question")] >= SURE
    least = _LEAST if is_question else _LEAST_UNASKED
    return sort if sort in _SORTS and scores[sort] >= least else None


def _of_asker(mind: Mind, context: RecallContext, line: JudgedLine) -> Int64s:
    """Messages that tell something lasting of who asks."""
    rows = _known_rows(mind, context, lambda _: True)
    asker = _asker(mind, context, rows)
    wanted = fold(asker)
    return _read(mind, line, rows, asker, lambda each: fold(each.thing.about) == wanted)


def _promised(mind: Mind, context: RecallContext, line: JudgedLine) -> Int64s:
    """Messages with a promise that is neither kept nor broken yet."""
    rows = _known_rows(mind, context, lambda known: known.told_as == PROMISE)
    asker = _asker(mind, context, rows)

    def is_open(each: Reading) -> bool:
        return each.thing.told_as == PROMISE and each.thing.kept is None

    return _read(mind, line, rows, asker, is_open)


def _beginning(mind: Mind, context: RecallContext, _: JudgedLine) -> Int64s:
    """The first message, and what matters most of those behind it."""
    rows = _texts(mind, context)
    rows = rows[np.argsort(mind.columns.happened[rows], kind="stable")][:_BEGINNING]
    rest = rows[1:]
    weight = mind.columns.importance[rest]
    best = rest[np.argsort(-weight, kind="stable")][: _PLACES - 1]
    return np.concatenate([rows[:1], best])


def _lived(mind: Mind, context: RecallContext, _: JudgedLine) -> Int64s:
    """The most important messages of the whole time."""
    rows, columns = _texts(mind, context), mind.columns
    momentous = mind.line_kinds.of_kind("momentous", mind.size)[rows]
    worth = momentous + columns.importance[rows].astype(np.float32)
    best = np.argsort(-worth, kind="stable")[:_WEIGHTY]
    rows, worth = rows[best], worth[best]
    places = spread_over_time(columns.happened[rows], worth, min(_PLACES, rows.size))
    return rows[sorted(places)]


def _about(mind: Mind, context: RecallContext, line: JudgedLine) -> Int64s:
    """The likeliest memories that name the subject of the line, where none answers by itself.

    Among many memories of one subject none stands out, so none would come.
    """
    if bool((line.called >= _CLEAR).any()):
        return np.zeros(0, np.int64)
    rows = line.rows[np.argsort(-line.memory, kind="stable")]
    text = line.line.text
    said = dict(mind.terms.keys(terms(text), mind.names.spot(text)))
    if said:
        number = mind.terms.incidence.number(max(said, key=lambda key: said[key]))
        wanted = np.asarray([] if number is None else [number], np.int64)
        _, told_in = mind.terms.incidence.rows_of(wanted, context.visible)
        rows = rows[np.isin(rows, told_in)]
    elif line.calls < _CALLS:
        return np.zeros(0, np.int64)
    return rows[:_PLACES]


_SORTS: dict[str, Callable[[Mind, RecallContext, JudgedLine], Int64s]] = {
    "asks_about": _about,
    "asks_me": _of_asker,
    "asks_promises": _promised,
    "asks_first": _beginning,
    "asks_us": _lived,
}


def _texts(mind: Mind, context: RecallContext) -> Int64s:
    kind = mind.columns.kind[: mind.size]
    return np.flatnonzero(context.visible & np.isin(kind, _TEXTS))


def _known_rows(
    mind: Mind, context: RecallContext, is_meant: Callable[[KnownLine], bool]
) -> Int64s:
    """The rows of visible messages with such lines that tell something lasting."""
    known = mind.line_kinds.known()
    rows = (
        row
        for row, lines in known.items()
        if row < mind.size and context.visible[row] and any(map(is_meant, lines))
    )
    return np.asarray(sorted(rows), np.int64)


def _asker(mind: Mind, context: RecallContext, rows: Int64s) -> str:
    """Who asks: who said the last message, else to whom the soul mostly speaks."""
    if context.query.messages:
        return context.query.messages[-1].speaker
    return main_listener(mind, rows[-_LISTENED:].tolist())


def _read(
    mind: Mind,
    line: JudgedLine,
    rows: Int64s,
    asker: str,
    is_meant: Callable[[Reading], bool],
) -> Int64s:
    """The rows of the messages with a line that is meant, the best first."""
    known = mind.line_kinds.known()
    said = map(known.__getitem__, rows.tolist())
    sure = np.array([max(map(attrgetter("sure"), lines)) for lines in said])
    fit = standardised(line.line.scores.score, _all_of(rows, mind.size), rows)
    best = rows[np.argsort(-(fit + _SURE * sure), kind="stable")][:_READ]

    def found() -> Iterator[tuple[int, float]]:
        for row in best.tolist():
            meant = filter(is_meant, readings(mind, [row], asker))
            clear = max((each.thing.sure for each in meant), default=0.0)
            if clear:
                yield row, clear

    some = list(islice(found(), _PLACES))
    least = _AS_CLEAR * max((clear for _, clear in some), default=0.0)
    return np.asarray([row for row, clear in some if clear >= least], np.int64)


def _all_of(rows: Int64s, size: int) -> NDArray[np.bool_]:
    out = np.zeros(size, np.bool_)
    out[rows] = True
    return out
