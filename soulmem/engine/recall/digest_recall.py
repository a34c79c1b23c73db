"""The digests of an answer: those of a time that is asked for, and one that the whole of a cue fits.

Digests are not searched like other memories, so that they take no seat from what they tell. How well a cue fits
one is told by how well it fits the messages that it tells. Compute thread only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, compress
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from soulmem.assembly.why import NamedTime
from soulmem.domain.digests import Period, digest_span, period_of
from soulmem.domain.memories import Memory
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext, TextScores
from soulmem.engine.recall.decision import Judged
from soulmem.engine.recall.time_question import TimeQuestion
from soulmem.engine.runtime.worker import compute_only
from soulmem.graph.columns import microseconds
from soulmem.kernels.arrays import Bools, Float32s, Float64s, Int64s
from soulmem.language.times.phrases import TimePhrase
from soulmem.language.tokens import Tokeniser
from soulmem.retrieval.fusion import standardised
from soulmem.retrieval.restraint import least_share, nearness

# How strong a cue brings a digest that nobody asks for by its time (design 8): see `cue_strengths`.
LEAST = {
    Period.HIGHLIGHT: 0.0,
    Period.HOUR: 0.0,
    Period.DAY: 0.0,
    Period.WEEK: 0.5,
    Period.MONTH: 1.0,
    Period.CHAT: 1.0,
    Period.YEAR: 1.5,
}
_DOUBLING = 0.25  # added for each doubling of its age beyond a month, at forgetting 1
_MONTH = 30.0  # days
WORD = 1.5  # strength of a rare word that a digest without messages shares with the cue
SCARCE = 3.0  # added where it costs a large share of the token budget, at restraint 1
MOST = 3.0  # standard deviations that one message counts at most
FEW = 2.0  # messages that fit not at all, by which the mean of a digest with few is drawn to 0
ALIKE = 0.5  # least share of its period in the time asked for, or of that in its period


def cue_strengths(scores: Float32s, messages: Int64s) -> Float64s:
    """How well a cue fits each of k digests as a whole, by the messages that it tells; float64[k].

        sum(min(score, MOST)) / (messages + FEW)

    scores    float32[m]  standard deviations that each message fits better than memories usually do: first
                          those of the first digest, then those of the next
    messages  int64[k]    how many each digest tells; they sum to m

    A cue that fits one message alone, however well, means that message, and few messages say little of a day.
    """
    bounded = np.clip(scores, -MOST, MOST)
    digest = np.repeat(np.arange(messages.size), messages)
    total = np.bincount(digest, weights=bounded, minlength=messages.size)
    return np.asarray(total / (messages + FEW), np.float64)


def needed_cues(least: Float64s, age_days: Float64s, forgetting: float) -> Float64s:
    """How strong a cue digests of these ages need, of periods that need at least so much; float64[k]."""
    doublings = np.log2(np.maximum(age_days, 1.0) / _MONTH)
    return least + _DOUBLING * forgetting * np.maximum(doublings, 0.0)


def time_fit(
    digest: tuple[datetime, datetime], asked: tuple[datetime, datetime]
) -> tuple[float, float]:
    """The share of a digest's period that lies in the time asked for, and the share of that time in its period.

    Spans from (inclusive), to (exclusive).
    """
    start, end = max(digest[0], asked[0]), min(digest[1], asked[1])
    shared = max(0.0, (end - start).total_seconds())
    return (
        shared / max((digest[1] - digest[0]).total_seconds(), 1.0),
        shared / max((asked[1] - asked[0]).total_seconds(), 1.0),
    )


_OFTEN = 0.01  # share of the texts of the soul: a word in more of them says little
_SECONDS = 86_400.0  # of a day
_MANY = 12  # places: one of so many is hardly missed by the memories
_NO_ROWS = np.zeros(0, np.int64)
_TIMES = 3  # digests of a time that is asked for at most: the months of a summer


class _Entry(NamedTuple):
    """A digest with the rows of the messages that it tells."""

    row: int
    period: Period
    span: tuple[datetime, datetime]
    told: Int64s
    words: frozenset[
        str
    ]  # of one that tells no messages: of a stream, or of the user's own wording


class _Known(NamedTuple):
    """The k digests of a mind, in order of their rows, and what they followed from when they were read.

    rows      int64[k]
    ends      int64[k]    of their periods, microseconds since 1970
    least     float64[k]  strength of a cue that they need at any age
    messages  int64[k]    how many each tells
    told      int64[m]    rows of the messages that the first tells, then of those of the next, ..
    worded    those that tell no messages but have words
    """

    source: tuple[int, int, Tokeniser, bytes]
    entries: tuple[_Entry, ...]
    rows: Int64s
    ends: Int64s
    least: Float64s
    messages: Int64s
    told: Int64s
    worded: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DigestCandidate:
    """A digest that may be told.

    margin  standard deviations that the cue is stronger than it needs to be
    text    how well the cue fits what it tells, in standard deviations
    time    the time that was asked for, where the digest is of it
    told    rows of the messages that it tells
    """

    memory: Memory
    row: int
    margin: float
    text: float
    told: frozenset[int]
    time: NamedTime | None = None


class DigestRecall:
    """Finds the digests for recalls; keeps what it knows of the digests of a mind until that changes."""

    def __init__(
        self,
    ) -> None:
        self._known: WeakKeyDictionary[Mind, _Known] = WeakKeyDictionary()

    @compute_only
    def candidates(
        self,
        mind: Mind,
        context: RecallContext,
        scores: TextScores,
        judged: Judged,
        now: datetime,
    ) -> list[DigestCandidate]:
        """The digests that may be told, those of the time asked for first, then by how well they fit.

        judged  where it calls for nothing, only digests with rare words of the query come
        """
        if not context.digests.any():
            return []
        known = self._of(mind)
        is_shown = context.digests[known.rows]
        ages = (microseconds(now) - known.ends) / (1e6 * _SECONDS)
        forgetting = mind.soul.settings.forgetting
        needed = needed_cues(known.least, ages, forgetting)
        # Whether the line calls for a message says nothing of streams.
        by_words = self._by_words(mind, context, known, is_shown, needed)
        if not (judged.is_called or judged.sure):
            return by_words
        shown = compress(known.entries, is_shown)
        asked = _of_asked_time(shown, context.asked_time)
        only_time = context.asked_time is not None and context.asked_time.only_time
        found = [_asked_candidate(mind, entry, time) for entry, time in asked[:_TIMES]]
        if only_time:
            return found
        named = {candidate.row for candidate in found}
        fits = self._by_fit(mind, context, scores, known, is_shown, needed)
        fits += by_words
        fits.sort(key=lambda each: (-each.margin, each.row))
        # A time beside other words: what is of it has to fit the words as well.
        return [each for each in fits if each.row in named] + [
            each for each in fits if each.row not in named
        ]

    def _by_fit(
        self,
        mind: Mind,
        context: RecallContext,
        scores: TextScores,
        known: _Known,
        is_shown: Bools,
        needed: Float64s,
    ) -> list[DigestCandidate]:
        """The digests whose cue is as strong as needed, by `needed` and by their cost."""
        out = list[DigestCandidate]()
        score = standardised(scores.score, context.visible, known.told)
        strengths = cue_strengths(score, known.messages)
        near = nearness(context.restraint)
        may_be = is_shown & (strengths >= needed) & (known.messages > 0)
        for i in np.flatnonzero(may_be).tolist():
            entry, text = known.entries[i], float(strengths[i])
            (cost,) = mind.token_costs([entry.row]).tolist()
            least = needed[i] + SCARCE * least_share(near, cost, context.budget)
            if text >= least:
                out.append(_candidate(mind, entry, text - float(least), text))
        return out

    def _by_words(
        self,
        mind: Mind,
        context: RecallContext,
        known: _Known,
        is_shown: Bools,
        needed: Float64s,
    ) -> list[DigestCandidate]:
        """Digests of no messages, by the rare words that they share with the query; `needed` of each."""
        out = list[DigestCandidate]()
        listed = [i for i in known.worded if is_shown[i]]
        parts = context.query.word_parts
        if not listed or not parts:
            return out
        text, _ = max(parts, key=lambda part: part[1])
        often = max(2, round(_OFTEN * len(mind.words)))
        long = [t for t in mind.tokeniser.telling(text) if len(t) > 1]
        counts = zip(long, mind.words.frequencies(long), strict=True)
        asked = {token for token, count in counts if count <= often}
        for i in listed:
            entry, least = known.entries[i], float(needed[i])
            fit = min(MOST, WORD * len(asked & entry.words))
            if fit > max(least, 0.0):
                out.append(_candidate(mind, entry, fit - least, fit))
        return out

    def _of(self, mind: Mind) -> _Known:
        """The digests of a mind, read again where any of what they follow from has changed.

        What a digest is follows from its text and situation, what it tells from its derivations and the rows of
        the messages, its words from the names of the soul.
        """
        known = self._known.get(mind)
        rows = np.flatnonzero(mind.digest_rows())
        source = (
            mind.rewordings,
            mind.derivations.revision,
            mind.tokeniser,
            rows.tobytes(),
        )
        if known is None or known.source != source:
            entries = tuple(_entries(mind, rows))
            least = [LEAST[entry.period] for entry in entries]
            known = self._known[mind] = _Known(
                source,
                entries,
                rows=np.asarray([e.row for e in entries], np.int64),
                ends=np.asarray([microseconds(e.span[1]) for e in entries], np.int64),
                least=np.asarray(least, np.float64),
                messages=np.asarray([e.told.size for e in entries], np.int64),
                told=np.concatenate([_NO_ROWS, *(e.told for e in entries)]),
                worded=tuple(i for i, e in enumerate(entries) if e.words),
            )
        return known


def _entries(mind: Mind, rows: Int64s) -> Iterable[_Entry]:
    for row in rows.tolist():
        memory = mind.memory_at(row)
        period = period_of(memory)
        if period is None:
            continue
        cited = map(mind.row, mind.derivations.cited(memory.id))
        told = np.asarray([r for r in cited if r is not None], np.int64)
        words = frozenset() if told.size else mind.tokeniser.telling(memory.text)
        yield _Entry(row, period, digest_span(memory), told, words)


def _of_asked_time(
    known: Iterable[_Entry], asked: TimeQuestion | None
) -> list[tuple[_Entry, NamedTime]]:
    """The digests of a time that is asked for: those that cover most of it, then those within it."""
    if asked is None or not asked.is_question:
        return []
    fitting = []
    for entry in known:
        for phrase in asked.phrases:
            fit, time = _best_span(entry, phrase, asked.current_time)
            if time is not None and min(fit) > 0 and max(fit) >= 1 - 1e-6:
                fitting.append((fit, entry, time))
    whole = [each for each in fitting if min(each[0]) >= ALIKE]
    chosen = whole or [each for each in fitting if each[0][0] >= 1 - 1e-6]
    chosen.sort(key=lambda each: (-min(each[0]), each[1].span))
    if not whole:  # parts of it, the longest that there are
        longest = max((each[0][1] for each in chosen), default=0.0)
        chosen = [each for each in chosen if each[0][1] >= ALIKE * longest]
    return [(entry, time) for _, entry, time in chosen]


def _best_span(
    entry: _Entry, phrase: TimePhrase, now: datetime
) -> tuple[tuple[float, float], NamedTime | None]:
    """How well a digest fits the likeliest meaning of a phrase that it is of at all."""
    for span in phrase.spans:
        fit = time_fit(entry.span, (span.start, span.end))
        if min(fit) > 0:
            return fit, NamedTime(phrase.words, span.start, span.end, now.year)
    return (0.0, 0.0), None


def _asked_candidate(mind: Mind, entry: _Entry, time: NamedTime) -> DigestCandidate:
    return replace(_candidate(mind, entry, 0.0, 0.0), time=time)


def _candidate(mind: Mind, entry: _Entry, margin: float, text: float) -> DigestCandidate:
    told = frozenset(entry.told.tolist())
    return DigestCandidate(mind.memory_at(entry.row), entry.row, margin, text, told)


def places_of_digests(digests: Sequence[DigestCandidate], max_items: int) -> int:
    """How many of the places of an answer are kept for digests: for those of a time that is asked for, at most
    half; of many one for a digest that comes unasked.
    """
    asked = sum(digest.time is not None for digest in digests)
    if asked or not digests:
        return min(asked, max_items // 2)
    return int(max_items >= _MANY)


@compute_only
def goes_with(mind: Mind, candidate: DigestCandidate, rows: Collection[int]) -> bool:
    """Whether a digest was made from one of these messages, whether or not it tells it."""
    if not rows:
        return False
    read = (d.read for d in mind.derivations.of(candidate.memory.id))
    return any(mind.row(key) in rows for key in chain.from_iterable(read))


@compute_only
def is_told_by(
    candidate: DigestCandidate,
    rows: Collection[int],
    digests: Iterable[DigestCandidate],
) -> bool:
    """Whether what a digest tells is in the answer already, as memories or as another digest.

    Most of it; all of it where its time is asked for.
    """
    told = candidate.told
    most = 0.5 if candidate.time is None else 0.99
    others = [set(rows), *(each.told for each in digests)]
    return any(len(told & other) > most * len(told) for other in others)
