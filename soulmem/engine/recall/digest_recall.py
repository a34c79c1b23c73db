"""The digests of an answer: those of a time that is asked for, and one that the whole of a cue fits.

Digests are not searched like other memories, so that they take no seat from what they tell. How well a cue fits
one is told by how well it fits the messages that it tells. Compute thread only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from soulmem.assembly.why import NamedTime
from soulmem.domain.digests import Period, digest_span, period_of
from soulmem.domain.memories import Memory
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext, TextScores
from soulmem.engine.recall.time_question import TimeQuestion
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.language.times.phrases import TimePhrase
from soulmem.retrieval.digests import (
    DigestRecallParams,
    cue_strength,
    needed_cue,
    time_fit,
)
from soulmem.retrieval.fusion import standardised
from soulmem.retrieval.restraint import least_share, nearness

Ints = NDArray[np.int64]

_OFTEN = 0.01  # share of the texts of the soul: a word in more of them says little
_SECONDS = 86_400.0  # of a day
_MANY = 12  # places: one of so many is hardly missed by the memories
_TIMES = 3  # digests of a time that is asked for at most: the months of a summer


class _Entry(NamedTuple):
    """A digest with the rows of the messages that it tells."""

    row: int
    memory: Memory
    period: Period
    span: tuple[datetime, datetime]
    told: Ints
    words: frozenset[
        str
    ]  # of one that tells no messages: of a stream, or of the user's own wording


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

    def __init__(self, params: DigestRecallParams | None = None) -> None:
        self._params = params or DigestRecallParams()
        self._entries: WeakKeyDictionary[
            Mind, tuple[tuple[int, ...], tuple[_Entry, ...]]
        ] = WeakKeyDictionary()

    @compute_only
    def candidates(
        self,
        mind: Mind,
        context: RecallContext,
        scores: TextScores,
        sureness: float,
        now: datetime,
    ) -> list[DigestCandidate]:
        """The digests that may be told, those of the time asked for first, then by how well they fit.

        sureness  0..1, how surely the query calls for a memory; at 0 nothing is recalled
        """
        if not context.digests.any():
            return []
        known = [e for e in self._of(mind) if context.digests[e.row]]
        if (
            sureness == 0.0
        ):  # whether the line calls for a message says nothing of streams
            known = [entry for entry in known if not entry.told.size]
            return self._by_words(mind, context, known, now)
        asked = _of_asked_time(known, context.asked_time, self._params)
        only_time = context.asked_time is not None and context.asked_time.only_time
        found = [_asked_candidate(entry, time) for entry, time in asked[:_TIMES]]
        if only_time:
            return found
        named = {candidate.row for candidate in found}
        fits = self._by_fit(mind, context, scores, known, sureness, now)
        fits += self._by_words(mind, context, known, now)
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
        known: Iterable[_Entry],
        sureness: float,
        now: datetime,
    ) -> list[DigestCandidate]:
        """The digests whose cue is strong enough, the strongest first."""
        p, out = self._params, list[DigestCandidate]()
        listed = [entry for entry in known if entry.told.size]
        if not listed:
            return out
        rows = np.concatenate([entry.told for entry in listed])
        score = standardised(scores.score, context.visible, rows)
        near = nearness(context.restraint, sureness)
        forgetting = mind.soul.settings.forgetting
        costs = mind.token_costs([entry.row for entry in listed]).tolist()
        start = 0
        for entry, cost in zip(listed, costs, strict=True):
            text = cue_strength(score[start : start + entry.told.size], p)
            start += entry.told.size
            age = (now - entry.span[1]).total_seconds() / _SECONDS
            needed = needed_cue(entry.period, age, forgetting, p)
            needed += p.scarce * least_share(near, cost, context.budget)
            if text >= needed:
                told = frozenset(entry.told.tolist())
                margin = text - needed
                out.append(DigestCandidate(entry.memory, entry.row, margin, text, told))
        return out

    def _by_words(
        self,
        mind: Mind,
        context: RecallContext,
        known: Iterable[_Entry],
        now: datetime,
    ) -> list[DigestCandidate]:
        """Digests of no messages, by the rare words that they share with the query."""
        p, out = self._params, list[DigestCandidate]()
        listed = [entry for entry in known if entry.words]
        parts = context.query.word_parts
        if not listed or not parts:
            return out
        text, _ = max(parts, key=lambda part: part[1])
        often = max(2, round(_OFTEN * len(mind.words)))
        long = [t for t in mind.tokeniser.telling(text) if len(t) > 1]
        counts = zip(long, mind.words.frequencies(long), strict=True)
        asked = {token for token, count in counts if count <= often}
        for entry in listed:
            fit = min(p.most, p.word * len(asked & entry.words))
            age = (now - entry.span[1]).total_seconds() / _SECONDS
            forgetting = mind.soul.settings.forgetting
            needed = needed_cue(entry.period, age, forgetting, p)
            if fit > max(needed, 0.0):
                margin = fit - needed
                out.append(
                    DigestCandidate(entry.memory, entry.row, margin, fit, frozenset())
                )
        return out

    def _of(self, mind: Mind) -> tuple[_Entry, ...]:
        kept = self._entries.get(mind)
        if kept is None or kept[0] != mind.revision:
            kept = self._entries[mind] = mind.revision, tuple(_entries(mind))
        return kept[1]


def _entries(mind: Mind) -> Iterable[_Entry]:
    for row in np.flatnonzero(mind.digest_rows()).tolist():
        memory = mind.memory_at(row)
        period = period_of(memory)
        if period is None:
            continue
        told = [mind.row(key) for key in mind.derivations.cited(memory.id)]
        rows = np.asarray([r for r in told if r is not None], np.int64)
        words = frozenset() if rows.size else mind.tokeniser.telling(memory.text)
        yield _Entry(row, memory, period, digest_span(memory), rows, words)


def _of_asked_time(
    known: Iterable[_Entry], asked: TimeQuestion | None, p: DigestRecallParams
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
    whole = [each for each in fitting if min(each[0]) >= p.alike]
    chosen = whole or [each for each in fitting if each[0][0] >= 1 - 1e-6]
    chosen.sort(key=lambda each: (-min(each[0]), each[1].span))
    if not whole:  # parts of it, the longest that there are
        longest = max((each[0][1] for each in chosen), default=0.0)
        chosen = [each for each in chosen if each[0][1] >= p.alike * longest]
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


def _asked_candidate(entry: _Entry, time: NamedTime) -> DigestCandidate:
    told = frozenset(entry.told.tolist())
    return DigestCandidate(entry.memory, entry.row, 0.0, 0.0, told, time)


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
