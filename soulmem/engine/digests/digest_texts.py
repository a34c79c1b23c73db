"""The text of a digest without a model: a heading and quotations of the messages that say most of the period.

Compute thread only. What a week, a month or a chat is about is chosen among what its days tell, and so on up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations
from math import log

import numpy as np

from soulmem.assembly.compose import language_of
from soulmem.assembly.dates import period_text
from soulmem.conversation.episodes import spoken
from soulmem.domain.derivations import Derivation, Product, Work
from soulmem.domain.digests import Period, last_instant, period_of
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin, Timelines
from soulmem.domain.situation import Participant, Situation, TimeSpan
from soulmem.engine.consolidation.stretches import speaker_of
from soulmem.engine.digests.digest_plan import (
    DueDigest,
    PlannedDigest,
    digests_of,
    may_be_quoted,
    memory_id,
)
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.kernels.arrays import Float64s
from soulmem.kernels.csr import build_csr
from soulmem.kernels.walk import Walker
from soulmem.kernels.walk_result import WalkParams
from soulmem.language.segmentation import sentences


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that may be quoted.

    text        as it would be quoted, with the name of who says it
    importance  0..1, of what it says
    tokens      its words as the lexical index of the soul has them
    """

    text: str
    importance: float
    tokens: frozenset[str]


@dataclass(frozen=True, slots=True)
class DigestParams:
    """How sentences are chosen."""

    lines: int = 6  # quoted at most
    characters: int = 1100  # of all quotations, leaving room for a heading
    compared: int = 400  # sentences of a walk at most, those of highest worth
    new: float = 0.5  # weight of rare words beside importance
    asked: float = 0.5  # weight of words that the digest is asked for
    # A word is shared by so few sentences at most, as a share of all: more say nothing of any of them.
    rare: float = 0.1
    least: float = 0.3  # score of a quotation as a share of the best one's
    same: float = 0.6  # share of rare words at which two sentences tell one thing


def choose_sentences(
    sentences: Sequence[Sentence],
    rarity: Mapping[str, float],
    params: DigestParams | None = None,
    asked: frozenset[str] = frozenset(),
) -> list[int]:
    """Indices of the sentences to quote, ascending.

    rarity  0..1 of each token in all texts of the soul; tokens that are left out say nothing
    asked   tokens that the digest is asked for
    """
    p = params or DigestParams()
    worth = np.asarray([_worth(each, rarity, p, asked) for each in sentences])
    among = np.sort(np.argsort(-worth, kind="stable")[: p.compared])
    compared = [sentences[index] for index in among]
    score = _walked(compared, rarity, worth[among], p)
    chosen: list[int] = []
    characters = 0
    for place in np.argsort(-score, kind="stable").tolist():
        if len(chosen) == p.lines or score[place] < p.least * score.max():
            break
        sentence = compared[place]
        if characters + len(sentence.text) > p.characters and chosen:
            continue
        if not _is_told(sentence, [compared[i] for i in chosen], rarity, p):
            chosen.append(place)
            characters += len(sentence.text) + 1
    return sorted(int(among[place]) for place in chosen)


def _worth(
    sentence: Sentence,
    rarity: Mapping[str, float],
    p: DigestParams,
    asked: frozenset[str],
) -> float:
    """The worth of a sentence by itself, > 0: squared, so that outstanding ones stand out clearly."""
    rarest = sorted((rarity.get(t, 0.0) for t in sentence.tokens), reverse=True)[:3]
    new = sum(rarest) / 3
    shared = len(asked & sentence.tokens) / max(1, len(asked))
    return (0.05 + sentence.importance + p.new * new + p.asked * shared) ** 2


def _walked(
    sentences: Sequence[Sentence],
    rarity: Mapping[str, float],
    worth: Float64s,
    p: DigestParams,
) -> Float64s:
    """Score of each sentence after the walk, float64[n]."""
    share: Float64s = worth / worth.sum()
    weights = _shared_words(sentences, rarity, p)
    pairs = np.asarray(list(weights), np.int64).reshape(-1, 2)
    if not pairs.size:
        return share
    weight = np.asarray(list(weights.values()), np.float32)
    n = len(sentences)
    graph = build_csr(
        n,
        np.concatenate([pairs[:, 0], pairs[:, 1]]),
        np.concatenate([pairs[:, 1], pairs[:, 0]]),
        np.concatenate([weight, weight]),
    )
    walk = Walker(graph).walk(np.arange(n, dtype=np.uint32), share, WalkParams())
    score = np.zeros(n)
    score[walk.rows] = walk.score
    return score


def _shared_words(
    sentences: Sequence[Sentence], rarity: Mapping[str, float], p: DigestParams
) -> dict[tuple[int, int], float]:
    """Of each pair of sentences that share rare words the sum of their rarity."""
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place, sentence in enumerate(sentences):
        for token in sentence.tokens:
            if token in rarity:
                holders[token].append(place)
    most = max(3, int(p.rare * len(sentences)))
    weights: defaultdict[tuple[int, int], float] = defaultdict(float)
    for token, places in sorted(holders.items()):
        if 1 < len(places) <= most:
            for pair in combinations(places, 2):
                weights[pair] += rarity[token]
    return weights


def _is_told(
    sentence: Sentence,
    chosen: Iterable[Sentence],
    rarity: Mapping[str, float],
    p: DigestParams,
) -> bool:
    """Whether a chosen sentence tells most of it: by its words, weighed by their rarity."""
    total = sum(rarity.get(token, 0.0) for token in sentence.tokens)
    plain = " ".join(sentence.text.split()).casefold()
    for other in chosen:
        if plain == " ".join(other.text.split()).casefold():
            return True
        shared = sum(rarity.get(t, 0.0) for t in sentence.tokens & other.tokens)
        if total and shared >= p.same * total:
            return True
    return False


_LINES = {
    Period.HOUR: 4,
    Period.DAY: 6,
    Period.WEEK: 8,
    Period.MONTH: 10,
    Period.YEAR: 12,
    Period.CHAT: 10,
}
# What a digest is chosen from: the digests of shorter periods.
_BELOW = {
    Period.WEEK: Period.DAY,
    Period.MONTH: Period.DAY,
    Period.YEAR: Period.MONTH,
    Period.CHAT: Period.DAY,
}
_LOOKED_AT = 400  # messages at most, the most important ones
_LONGEST = 240  # characters of a quotation


@dataclass(frozen=True, slots=True)
class Quotation:
    """What a digest quotes of a message, with the name of who says it."""

    message: MemoryId
    speaker: str
    text: str


@compute_only
def quotations(
    mind: Mind,
    planned: PlannedDigest,
    asked: str = "",
    params: DigestParams | None = None,
) -> list[Quotation]:
    """The quotations of a digest in the order of time; `asked` says what to look out for."""
    messages = _candidates(mind, planned)
    listed: list[tuple[Memory, str]] = []
    for memory in messages:
        listed += ((memory, part) for part in sentences(spoken(memory)))
    told = [_sentence(mind, memory, part) for memory, part in listed]
    if not told:
        return []
    p = params or DigestParams(lines=_LINES[planned.period])
    wanted = mind.tokeniser.telling(asked)
    chosen = choose_sentences(told, _rarity(mind, told), p, wanted)
    by_message: defaultdict[MemoryId, list[str]] = defaultdict(list)
    speakers: dict[MemoryId, str] = {}
    for index in chosen:
        memory, part = listed[index]
        by_message[memory.id].append(_cut(part))
        speakers[memory.id] = speaker_of(memory)
    return [Quotation(key, speakers[key], " ".join(parts)) for key, parts in by_message.items()]


@compute_only
def digest_change(
    mind: Mind, due: DueDigest, quoted: Sequence[Quotation], now: datetime
) -> MindChange:
    """Stores a digest of these quotations; nothing where the chats no longer hold its messages.

    A digest without a quotable message is dropped.
    """
    planned = due.planned
    if not mind.derivations.digest_holders(planned.read):
        return MindChange()
    if not quoted:
        return dropped([due.memory] if due.memory is not None else [], mind)
    kept = _still_good(mind, due, quoted)
    if kept is not None:
        return MindChange(put_derivations=(replace(kept, read=planned.read),))
    language = language_of([quotation.text for quotation in quoted])
    text = "\n".join([heading(planned, language), *map(line_of, quoted)])
    memory = due.memory or _new_memory(mind, due, text, now)
    speakers = dict.fromkeys(q.speaker for q in quoted if q.speaker)
    made = replace(
        memory,
        text=text,
        state=MemoryState.ACTIVE,
        situation=Situation(
            time_span=TimeSpan(planned.start, last_instant(planned.end)),
            participants=tuple(map(Participant, speakers)),
            period=planned.period.value,
        ),
    )
    if due.memory is not None and made != memory:
        made = replace(made, revision=memory.revision + 1)
    cited = tuple(quotation.message for quotation in quoted)
    derivation = Derivation(
        id=due.key,
        soul=mind.soul.id,
        work=Work.DIGEST,
        chat=planned.chat,
        read=planned.read,
        made=now,
        products=(Product(made.id, cited),),
    )
    put = (made,) if due.memory is None or made != memory else ()
    return MindChange(put_memories=put, put_derivations=(derivation,))


def _still_good(mind: Mind, due: DueDigest, quoted: Sequence[Quotation]) -> Derivation | None:
    """The derivation of the digest in use, where messages were added and none of them is worth telling.

    Making it anew could choose other lines, though none of the messages that it quotes has changed.
    """
    memory = due.memory
    if memory is None or memory.state is not MemoryState.ACTIVE:
        return None
    made_by = mind.derivations.of(memory.id)
    if not made_by:
        return None
    before, read = made_by[0], set(due.planned.read)
    cited = {key for product in before.products for key in product.cited}
    new = read.difference(before.read)
    if any(quotation.message in new for quotation in quoted):
        return None
    is_there = bool(cited) and cited <= read
    stands = is_there and all(may_be_quoted(mind, key) for key in cited)
    return before if stands else None


@compute_only
def dropped(outdated: Iterable[Memory], mind: Mind) -> MindChange:
    """Drops these digests with their sources; their words stay nowhere."""
    keys = tuple(memory.id for memory in outdated)
    derivations = [d.id for key in keys for d in mind.derivations.of(key)]
    return MindChange(drop_memories=keys, drop_derivations=tuple(derivations), purge_audit=keys)


def heading(planned: PlannedDigest, language: str) -> str:
    """The first line: which period it is."""
    name = period_text(planned.start, planned.end, planned.period, language)
    return f"{name}{'：' if language == 'zh' else ':'}"


def line_of(quotation: Quotation) -> str:
    """A quotation as a line of a digest."""
    speaker = quotation.speaker
    return f"{speaker}: {quotation.text}" if speaker else quotation.text


def _candidates(mind: Mind, planned: PlannedDigest) -> list[Memory]:
    """The messages that may be quoted: what shorter digests tell of the period, else all of it."""
    keys: Sequence[MemoryId] = planned.read
    below = _BELOW.get(planned.period)
    if below is not None:
        cited = _cited_by(mind, below, planned)
        keys = [key for key in planned.read if key in cited] or keys
    if len(keys) > _LOOKED_AT:
        rows = np.asarray([mind.row(key) for key in keys], np.int64)
        importance = mind.columns.importance[rows]
        best = np.sort(np.argsort(-importance, kind="stable")[:_LOOKED_AT])
        keys = [keys[index] for index in best.tolist()]
    return [mind.memories[key] for key in keys if may_be_quoted(mind, key)]


def _cited_by(mind: Mind, below: Period, planned: PlannedDigest) -> set[MemoryId]:
    """The messages that digests of the shorter period tell."""
    cited: set[MemoryId] = set()
    for memory in digests_of(mind):
        is_inside = planned.start <= memory.happened < planned.end
        # A month may begin on the day on which a chat does.
        is_inside |= memory.happened <= planned.start <= memory.ended
        if period_of(memory) is below and is_inside:
            cited.update(mind.derivations.cited(memory.id))
    return cited


def _sentence(mind: Mind, memory: Memory, text: str) -> Sentence:
    speaker = speaker_of(memory)
    shown = f"{speaker}: {_cut(text)}" if speaker else _cut(text)
    tokens = mind.tokeniser.telling(text)
    return Sentence(shown, mind.line_kinds.importance_of(memory), tokens)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _rarity(mind: Mind, told: Iterable[Sentence]) -> dict[str, float]:
    """How rare each word is in the texts of the soul, 0..1: in one of them 1, in all of them 0."""
    whole = log(len(mind.words) + 1) or 1.0
    rarity: dict[str, float] = {}
    for sentence in told:
        for token in sentence.tokens:
            if token not in rarity:
                frequency = max(1, mind.words.frequency(token))
                rarity[token] = max(0.0, 1.0 - log(frequency) / whole)
    return rarity


def _new_memory(mind: Mind, due: DueDigest, text: str, now: datetime) -> Memory:
    return Memory(
        id=memory_id(due.key),
        soul=mind.soul.id,
        kind=MemoryKind.DIGEST,
        text=text,
        origin=Origin.MODEL,
        created=now,
        timelines=Timelines.THIS,
    )
