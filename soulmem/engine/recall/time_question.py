"""The times that a query asks about, and which memories are of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from soulmem.assembly.why import NamedTime
from soulmem.domain.calendar import shifted
from soulmem.domain.ids import ChatId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import TimeRange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.kernels.arrays import Bools, Float32s, Float64s, Int64s
from soulmem.language.times.phrases import FIRST, TimePhrase, time_phrases, without
from soulmem.language.word_lists import alternatives, word_set, words
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.time_spans import (
    TimeSpanParams,
    overlaps_span,
    span_confidence,
    spread_over_time,
)

_ASKS = re.compile(
    rf"[?？吗]|{alternatives(words('zh', 'time_questions', 'asking'))}"
    rf"|\b(?:{alternatives(words('en', 'time_questions', 'asking'))})\b",
    re.IGNORECASE,
)
_FILLER = word_set("en", "time_questions", "filler")
_UNSPACED_FILLER = re.compile(alternatives(words("zh", "time_questions", "filler")))
_WORD = re.compile(r"[^\W_]+")


def asks(line: str) -> bool:
    """Whether the line asks something."""
    return _ASKS.search(line) is not None


def is_only_filler(rest: str, tokens: Callable[[str], Iterable[str]]) -> bool:
    """Whether a question, without the words for its time, names nothing.

    tokens  cuts a word into the tokens of a search
    """
    words_left = _WORD.findall(_UNSPACED_FILLER.sub(" ", rest))
    return all(_FILLER.issuperset(tokens(word)) for word in words_left)


_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)
_PAUSE = 6 * 3600.0  # seconds of silence after which a new conversation begins


@dataclass(frozen=True, slots=True)
class TimeQuestion:
    """The times that a query names, and the memories of these times.

    phrases       as the query writes them
    certainty     float32[n]  0..1, how surely each row is of a time that is meant
    phrase_index  int64[n]    of that time in `phrases`, -1 where there is none
    is_question   False for a statement
    only_time     the query asks for a time and nothing else
    current_time  by the calendar that is asked by
    happened      float64[n]  POSIX seconds, by the same calendar
    """

    phrases: tuple[TimePhrase, ...]
    certainty: Float32s
    phrase_index: Int64s
    is_question: bool
    only_time: bool
    current_time: datetime
    happened: Float64s

    def time_of(self, row: int) -> NamedTime | None:
        """The time that a row is of, by the first meaning of the phrase that contains the row's moment."""
        index, happened = int(self.phrase_index[row]), float(self.happened[row])
        if index < 0:
            return None
        phrase, year = self.phrases[index], self.current_time.year
        for span in phrase.spans:
            if span.start.timestamp() <= happened < span.end.timestamp():
                return NamedTime(phrase.words, span.start, span.end, year)
        return NamedTime(phrase.words, None, None, year)

    def trace_entries(self) -> list[dict[str, Any]]:
        """For the trace: the words of each time, what they may mean, and how surely."""
        return [_trace_entry(phrase) for phrase in self.phrases]


class _Conversation(NamedTuple):
    """Messages of a chat without a long pause between two of them."""

    ended: float  # POSIX seconds
    chat: ChatId
    rows: Int64s


@compute_only
def find_time_question(
    mind: Mind,
    text: str,
    chat: ChatId | None,
    accessible: Bools,
    visible: Bools,
    current_time: datetime,
    story_time: datetime | None = None,
    params: TimeSpanParams | None = None,
    *,
    digests: Bools | None = None,
) -> TimeQuestion | None:
    """The times named by the last line of `text`; None where no visible memory and no digest is of one.

    accessible    bool[n]  rows by which conversations are counted
    visible       bool[n]  of these the rows that may be recalled
    current_time  aware; its zone says when a day begins
    digests       bool[n]  digests that may be recalled
    story_time    the same by the story's calendar, for a soul that lives by it: then days are counted from there
    """
    p = params or TimeSpanParams()
    line = _last_line(text)
    phrases = time_phrases(line, story_time or current_time)
    if not phrases:
        return None
    n, columns = mind.size, mind.columns
    is_question = asks(line)
    episodes = visible & (columns.kind[:n] == _EPISODE)
    happened, ended = columns.happened[:n], columns.ended[:n]
    if story_time is not None:
        happened = ended = columns.story[:n]
    dated = episodes & (happened != 0.0)
    certainty, index = np.zeros(n, np.float32), np.full(n, -1, np.int64)
    for i, phrase in enumerate(phrases):
        if phrase.sessions is not None:
            of_phrase = np.zeros(n, np.float32)
            rows = _conversation(mind, phrase.sessions, chat, accessible, current_time)
            of_phrase[rows] = phrase.confidence
            of_phrase[~episodes] = 0.0
        else:
            of_phrase = span_confidence(
                happened, ended, dated, _seconds(phrase), phrase.confidence, p
            )
        better = of_phrase > certainty
        certainty[better], index[better] = of_phrase[better], i
    if not certainty.any() and not _is_digested(mind, phrases, digests):
        return None
    return TimeQuestion(
        phrases=phrases,
        certainty=certainty if is_question else certainty * np.float32(p.stated),
        phrase_index=index,
        is_question=is_question,
        only_time=is_question and is_only_filler(without(line, phrases), mind.tokeniser.tokens),
        current_time=story_time or current_time,
        happened=happened,
    )


def _is_digested(mind: Mind, phrases: Sequence[TimePhrase], digests: Bools | None) -> bool:
    """Whether a digest overlaps one of the times, whose messages may all be forgotten."""
    if digests is None:
        return False
    rows = np.flatnonzero(digests)
    happened, ended = mind.columns.happened[rows], mind.columns.ended[rows]
    spans = [span for phrase in phrases for span in _seconds(phrase)]
    return any(overlaps_span(happened, ended, *span).any() for span in spans)


@compute_only
def rows_in_range(mind: Mind, time_range: TimeRange) -> Bools:
    """Which rows overlap the time range, bool[n]."""
    start, end = time_range.start, time_range.end
    return overlaps_span(
        mind.columns.happened[: mind.size],
        mind.columns.ended[: mind.size],
        start.timestamp() if start is not None else -np.inf,
        end.timestamp() if end is not None else np.inf,
    )


def prefer_asked_time(
    score: Float32s, asked: TimeQuestion | None, params: TimeSpanParams
) -> Float32s:
    """The scores, float32[n], raised for memories of the time asked for."""
    if asked is None:
        return score
    raised = score + np.float32(params.prefer) * asked.certainty
    return np.asarray(raised, np.float32)


def time_slots(
    mind: Mind,
    asked: TimeQuestion | None,
    score: Float32s,
    places: int,
    weigh: Callable[[Int64s], Float32s],
    params: TimeSpanParams,
) -> tuple[int, ...]:
    """Rows with a reserved slot because they are of the time asked for, at most `places`.

    Where nothing but a time is asked for, their `score`, float32[n], is set above all others. `weigh` returns
    the weight of rows, 0..1.
    """
    if asked is None or not asked.is_question or not asked.certainty.any():
        return ()
    if not asked.only_time:
        eligible = np.where(asked.certainty >= params.sure, score, np.float32(-np.inf))
        best = best_rows(eligible.astype(np.float32), min(params.reserved_slots, places))
        return tuple(best.tolist())
    rows = np.flatnonzero(asked.certainty >= asked.certainty.max() - 1e-6)
    if rows.size < places:
        rows = np.flatnonzero(asked.certainty)
    length = np.minimum(mind.token_costs(rows) / params.worth_tokens, 1.0)
    worth = asked.certainty[rows] + weigh(rows) * (0.5 + 0.5 * length)
    chosen = rows[spread_over_time(asked.happened[rows], worth.astype(np.float32), places)]
    lift(score, chosen)
    return tuple(int(row) for row in chosen)


def lift(score: Float32s, rows: Int64s) -> None:
    """Set the scores of these rows, the best first, above all others."""
    if not rows.size:
        return
    finite = score[np.isfinite(score)]
    above = float(finite.max()) if finite.size else 0.0
    score[rows] = above + 1.0 - np.arange(rows.size) / max(1, rows.size)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _seconds(phrase: TimePhrase) -> list[tuple[float, float]]:
    """The spans that may be meant, as POSIX seconds."""
    return [(span.start.timestamp(), span.end.timestamp()) for span in phrase.spans]


def _trace_entry(phrase: TimePhrase) -> dict[str, Any]:
    spans = [{"from": span.start.isoformat(), "to": span.end.isoformat()} for span in phrase.spans]
    return {
        "words": phrase.words,
        "spans": spans,
        "sessions_ago": phrase.sessions,
        "confidence": phrase.confidence,
    }


def _conversation(
    mind: Mind,
    back: int,
    chat: ChatId | None,
    accessible: Bools,
    current_time: datetime,
) -> Sequence[int]:
    """The rows of the conversation `back` conversations ago; the present one is not counted."""
    conversations = _conversations(mind, chat, accessible)
    if back == FIRST:
        return conversations[0].rows.tolist() if conversations else ()
    recent = shifted(current_time, -timedelta(seconds=_PAUSE)).timestamp()
    for i in reversed(range(len(conversations))):
        if conversations[i].chat == chat:
            if conversations[i].ended > recent:
                del conversations[i]
            break
    return conversations[-back].rows.tolist() if len(conversations) >= back else ()


def _conversations(mind: Mind, chat: ChatId | None, accessible: Bools) -> list[_Conversation]:
    """All conversations, the earliest first. What several branches contain belongs to `chat`, else to any one."""
    out: list[_Conversation] = []
    free = accessible.copy()
    chats = sorted((branch.chat for branch in mind.branches), key=lambda key: (key != chat, key))
    for key in chats:
        rows = mind.chat_rows(key)
        rows = rows[free[rows]]
        free[rows] = False
        pauses = np.diff(mind.columns.happened[rows]) > _PAUSE
        for part in np.split(rows, np.flatnonzero(pauses) + 1):
            if part.size:
                ended = float(mind.columns.ended[part].max())
                out.append(_Conversation(ended, key, part))
    out.sort(key=lambda talk: (talk.ended, talk.chat))
    return out
