"""Which time does a recall ask about, and which memories are of it?"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.assembly.why import NamedTime
from soulmem.domain.ids import ChatId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.mind.mind import Mind
from soulmem.graph.association import MEMORY_KINDS
from soulmem.language.times.phrases import FIRST, TimePhrase, time_phrases, without
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.time_spans import (
    TimeSpanParams,
    span_confidence,
    spread_over_time,
)

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)
_PAUSE = (
    6 * 3600.0
)  # seconds of silence in a chat after which a new conversation begins
_ASKS = re.compile(
    r"[?？吗]|什么|甚麼|什麼|怎么|怎麼|谁|誰|哪|记得|記得|想起|回忆|回憶|说说|讲讲|聊聊|几次|何|覚え"
    r"|\b(?:what|who|whom|where|when|which|how|did|remember|recall|remind|tell|talk about)\b",
    re.IGNORECASE,
)
# What is left of a question that names nothing but a time.
_GENERAL = """
happen happened happening remember recall remind tell talk talked talking say said discuss discussed do did
done chat chatted speak spoke spoken meet met know see saw memory memories moment thing things anything
something everything time day night date week year event events go went back still about please there us
"""
_SAYS_NOTHING = frozenset(_GENERAL.split())
_SAYS_NOTHING_HAN = re.compile(
    r"发生|發生|什么|甚麼|什麼|事情|故事|记不记得|记得|記得|想起来|想起|回忆|回憶|怎么样|怎样|怎么|怎麼|如何|有没有|有沒有"
    r"|我们|我們|咱们|咱們|你们|你們|那天|那时|那時|那次|当时|當時|时候|時候|还|還|吗|嗎|呢|吧|啊|呀|了|的|过|過|都|有|是|在|到"
    r"|事|做|干|聊|说|說|谈|談|讲|講|去|你|我|他|她|它|哪些|哪|儿|兒|里|裡|一下|些|请|跟|和|给|最|起|覚えてる|何|した|があった|は|に|か|の|を|が|て"
)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class AskedTime:
    """The times that the cue names, and what is of them."""

    phrases: tuple[TimePhrase, ...]
    sure: Floats  # (n,) 0..1, how surely each row is of a time that is meant
    phrase: Ints  # (n,) place of that time in `phrases`, -1 where there is none
    asks: bool  # a question, not only told
    only: bool  # nothing but a time is asked for
    now: datetime
    happened: Doubles  # (n,) POSIX seconds, by the calendar that is asked by

    def named(self, row: int) -> NamedTime | None:
        """The time that a row is of, told by the first meaning of it that holds when the row happened."""
        at, happened = int(self.phrase[row]), float(self.happened[row])
        if at < 0:
            return None
        one = self.phrases[at]
        span = next(
            (
                s
                for s in one.spans
                if s.start.timestamp() <= happened < s.end.timestamp()
            ),
            None,
        )
        start, end = (span.start, span.end) if span is not None else (None, None)
        return NamedTime(one.words, start, end, self.now.year)

    def told(self) -> list[dict[str, Any]]:
        """For the trace: the words, what they were taken for, and how surely."""
        return [
            {
                "words": one.words,
                "spans": [
                    {"from": s.start.isoformat(), "to": s.end.isoformat()}
                    for s in one.spans
                ],
                "sessions_ago": one.sessions,
                "confidence": one.confidence,
            }
            for one in self.phrases
        ]


def time_asked(
    mind: Mind,
    text: str,
    chat: ChatId | None,
    known: Bools,
    visible: Bools,
    now: datetime,
    story: datetime | None = None,
    params: TimeSpanParams | None = None,
) -> AskedTime | None:
    """The times named by the last line of `text`, None where there are none that hold anything. Computes.

    known    bool[n]  rows by which conversations are counted
    visible  bool[n]  of these the rows that may be told
    now      aware; its zone says when a day begins
    story    the same by the story's calendar, for a soul that lives by it: then days are counted from there
    """
    p = params or TimeSpanParams()
    line = next((one for one in reversed(text.splitlines()) if one.strip()), "")
    phrases = time_phrases(line, story or now)
    if not phrases:
        return None
    n, columns = mind.size, mind.columns
    asks = _ASKS.search(line) is not None
    episodes = visible & (columns.kind[:n] == _EPISODE)
    happened, ended = columns.happened[:n], columns.ended[:n]
    if story is not None:
        happened = ended = columns.story[:n]
    sure, which = np.zeros(n, np.float32), np.full(n, -1, np.int64)
    for at, phrase in enumerate(phrases):
        if phrase.sessions is not None:
            found = np.zeros(n, np.float32)
            found[_conversation(mind, phrase.sessions, chat, known, now)] = (
                phrase.confidence
            )
            found[~episodes] = 0.0
        else:
            spans = [
                (span.start.timestamp(), span.end.timestamp()) for span in phrase.spans
            ]
            dated = episodes & (happened != 0.0)
            found = span_confidence(happened, ended, dated, spans, phrase.confidence, p)
        better = found > sure
        sure[better], which[better] = found[better], at
    if not sure.any():
        return None
    only = asks and _says_nothing(mind, without(line, phrases))
    sure = sure if asks else sure * np.float32(p.stated)
    return AskedTime(phrases, sure, which, asks, only, story or now, happened)


def preferring(
    score: Floats, asked: AskedTime | None, params: TimeSpanParams
) -> Floats:
    """The scores, float32[n], with what memories of the time gain that is asked for; no other loses any."""
    return (
        score
        if asked is None
        else (score + np.float32(params.prefer) * asked.sure).astype(np.float32)
    )


def seats_of_time(
    mind: Mind,
    asked: AskedTime | None,
    score: Floats,
    places: int,
    weigh: Callable[[Ints], Floats],
    params: TimeSpanParams,
) -> tuple[int, ...]:
    """Rows with a seat because they are of the time asked for; where nothing else is, they come first.

    Then their `score`, float32[n], is put above all others. `weigh` gives the weight of rows, 0..1.
    """
    if asked is None or not asked.asks:
        return ()
    if not asked.only:
        held = np.where(asked.sure >= params.sure, score, np.float32(-np.inf))
        return tuple(
            best_rows(
                held.astype(np.float32), min(params.reserved_slots, places)
            ).tolist()
        )
    rows = np.flatnonzero(asked.sure >= asked.sure.max() - 1e-6)
    if rows.size < places:
        rows = np.flatnonzero(asked.sure)
    length = np.minimum(mind.costs(rows) / params.worth_tokens, 1.0)
    worth = (asked.sure[rows] + weigh(rows) * (0.5 + 0.5 * length)).astype(np.float32)
    chosen = rows[spread_over_time(asked.happened[rows], worth, places)]
    known = score[np.isfinite(score)]
    above = float(known.max()) if known.size else 0.0
    score[chosen] = above + 1.0 - np.arange(chosen.size) / max(1, chosen.size)
    return tuple(int(row) for row in chosen)


def _says_nothing(mind: Mind, rest: str) -> bool:
    """Whether a question names nothing beside its time."""
    left = _SAYS_NOTHING_HAN.sub(" ", rest)
    words = (
        word for found in _WORD.findall(left) for word in mind.tokeniser.tokens(found)
    )
    return all(word in _SAYS_NOTHING for word in words)


def _conversation(
    mind: Mind, back: int, chat: ChatId | None, known: Bools, now: datetime
) -> Sequence[int]:
    """The rows of a conversation so many ago; the one that is being held is not counted."""
    talks = _conversations(mind, chat, known)
    if back == FIRST:
        return talks[0][2].tolist() if talks else ()
    recent = (now - timedelta(seconds=_PAUSE)).timestamp()
    mine = [talk for talk in talks if talk[1] == chat]
    if mine and mine[-1][0] > recent:
        talks.remove(mine[-1])
    return talks[-back][2].tolist() if len(talks) >= back else ()


def _conversations(
    mind: Mind, chat: ChatId | None, known: Bools
) -> list[tuple[float, ChatId, Ints]]:
    """Each conversation, when it ended, in which chat, and its rows; the earliest first.

    What several branches tell belongs to `chat`, else to one of them.
    """
    out: list[tuple[float, ChatId, Ints]] = []
    free = known.copy()
    for one in sorted(
        (strand.chat for strand in mind.lineages), key=lambda c: (c != chat, c)
    ):
        rows = mind.order(one)
        rows = rows[free[rows]]
        free[rows] = False
        when = mind.columns.happened[rows]
        for talk in np.split(rows, np.flatnonzero(np.diff(when) > _PAUSE) + 1):
            if talk.size:
                out.append((float(mind.columns.ended[talk].max()), one, talk))
    out.sort(key=lambda talk: (talk[0], talk[1]))
    return out
