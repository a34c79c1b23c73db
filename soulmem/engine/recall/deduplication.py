"""Deduplication of candidates: each thing once, and facts that have ended below those that hold.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain

import numpy as np

from soulmem.assembly.compose import language_of
from soulmem.assembly.dates import span_text
from soulmem.consolidation.validity import FactClaim, FactValidity, is_same_fact
from soulmem.domain.calendar import local
from soulmem.domain.digests import first_instant_after
from soulmem.domain.edges import Edge
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.engine.api.results import RecalledMemory
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.fact_validity import FactValidities
from soulmem.engine.views.provenance import source_places
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS
from soulmem.kernels.arrays import Float32s, Int64s
from soulmem.retrieval.scoring import scaled

_PAST_FORMS = {
    "en": ("{} (no longer so)", "{} (until {}, no longer so)"),
    "zh": ("{}（现已不再如此）", "{}（到{}为止，现已不再如此）"),
}


def as_past(text: str, until: datetime | None, story: str | None = None) -> str:
    """The fact with a note that it has ended: at the time `story` names, else on the day of `until` (aware);
    with neither, the note has no time.
    """
    language = language_of([text])
    bare, dated = _PAST_FORMS[language]
    if story is None and until is None:
        return bare.format(text)
    if story is None and until is not None:
        story = span_text(until, first_instant_after(until), 0, language)
    return dated.format(text, story)


Duplicates = dict[int, list[int]]  # by the row that stays: the rows that say the same

_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)
_CHAT, _MODEL = ORIGINS.index(Origin.CHAT), ORIGINS.index(Origin.MODEL)


# Factor of the score of an ended fact: of two homes the present one is asked for.
_PAST = 0.5
# 0..1, share of words that two wordings of one scene have in common.
_ALIKE = 0.6
# 0..1, share of a message's words in the draft that then stands for it. On LoCoMo dev with a model that drafts in
# the chat's words .4 gives R@5 67.1, .6 66.4, without a model 66.4.
_COVERED = 0.5


@dataclass(frozen=True, slots=True)
class Deduplicated:
    """The candidates without duplicates.

    ended_facts  by row of a fact that has ended
    duplicates   by row: the memories that say the same
    """

    rows: Int64s
    ended_facts: Mapping[int, FactValidity] = field(default_factory=dict)
    duplicates: Mapping[int, tuple[MemoryId, ...]] = field(default_factory=dict)

    def rendered(self, row: int, memory: Memory) -> Memory:
        """The memory as the prompt words it: an ended fact in the past tense."""
        validity = self.ended_facts.get(row)
        if validity is None:
            return memory
        until = validity.until
        day = local(until) if until is not None else None  # days begin here
        return replace(memory, text=as_past(memory.text, day, validity.story))

    def texts(self, mind: Mind, rows: Sequence[int]) -> list[str]:
        """The texts of `rendered`, mostly without building the memories."""
        texts = mind.texts_at(rows)
        for i, row in enumerate(rows):
            if row in self.ended_facts:
                texts[i] = self.rendered(row, mind.memory_at(row)).text
        return texts

    def with_duplicate_sources(
        self, mind: Mind, row: int, answer: RecalledMemory, chat: ChatId | None
    ) -> RecalledMemory:
        """The answer with the messages, too, that say the same in other words."""
        places = list(answer.sources)
        for key in self.duplicates.get(row, ()):
            duplicate = mind.row(key)
            if duplicate is not None:
                places += source_places(mind, mind.memory_at(duplicate), chat)
        if len(places) == len(answer.sources):
            return answer
        return replace(answer, sources=tuple(dict.fromkeys(places)))


@compute_only
def deduplicate(
    mind: Mind,
    context: RecallContext,
    rows: Int64s,
    score: Float32s,
) -> Deduplicated:
    """The candidates without those that others say as well; `score`, of every row, is lowered for ended facts."""
    candidates = _Candidates(mind, rows, score)
    identical = candidates.identical_messages(rows)
    rows = _without(rows, identical)
    similar = candidates.similar_episodes(rows)
    rows = _without(rows, similar)
    redundant = candidates.redundant_episodes(rows, context.max_items)
    rows = rows[~np.isin(rows, list(redundant))]
    duplicates = _merged(identical, similar)
    facts = _Facts(mind, context, candidates, rows)
    if facts.edges:
        rows = facts.judge(rows, score, _PAST)
        duplicates = duplicates | facts.duplicates
    ended = {row: facts.ended[row] for row in facts.ended if row in rows}
    keyed = {row: candidates.keys_of(others) for row, others in duplicates.items()}
    return Deduplicated(rows, ended, keyed)


class _Candidates:
    """Rows that may go into the answer, with their ids, and their words once these are asked for."""

    def __init__(self, mind: Mind, rows: Int64s, score: Float32s) -> None:
        listed = rows.tolist()
        self.keys = dict(zip(listed, mind.ids_at(listed), strict=True))
        self.score = score
        self._mind = mind
        self._words: dict[int, set[str]] = {}

    def keys_of(self, rows: Iterable[int]) -> tuple[MemoryId, ...]:
        """The ids at these rows."""
        return tuple(self.keys[row] for row in rows)

    def identical_messages(self, rows: Int64s) -> Duplicates:
        """Messages in the very same words: said twice, or recorded by two chats. The best stays."""
        columns = self._mind.columns
        is_message = (columns.kind[rows] == _EPISODE) & (columns.origin[rows] == _CHAT)
        messages = sorted(rows[is_message].tolist(), key=self._by_score)
        same: dict[str, list[int]] = {}
        for row, text in zip(messages, self._mind.texts_at(messages), strict=True):
            same.setdefault(" ".join(text.split()).casefold(), []).append(row)
        return {group[0]: group[1:] for group in same.values() if len(group) > 1}

    def similar_episodes(self, rows: Int64s) -> Duplicates:
        """Tellings of one scene in nearly the same words: a draft and the only message it is drawn from, or
        drafts of several model answers that read the same message. The best stays.
        """
        cited = self._cited_messages(rows)
        derived = self._mind.derivations
        answers: dict[int, set[str]] = {}
        for row in cited:
            answers[row] = {derivation.id for derivation in derived.of(self.keys[row])}

        def is_same(row: int, other: int) -> bool:
            if not answers[row] or not answers[other]:
                is_same_scene = cited[row] == cited[other]
            elif answers[row].isdisjoint(answers[other]):
                is_same_scene = not cited[row].isdisjoint(cited[other])
            else:
                is_same_scene = False
            if not is_same_scene:
                return False
            words, others = self._words_at(row), self._words_at(other)
            return len(words & others) >= _ALIKE * len(words | others)

        best_first = sorted(cited, key=lambda row: (-self.score[row], self.keys[row]))
        return _grouped(best_first, is_same)

    def _cited_messages(self, rows: Int64s) -> dict[int, frozenset[MemoryId]]:
        """The messages that each drafted episode cites; of messages that are the only one of a draft, itself."""
        columns, derived = self._mind.columns, self._mind.derivations
        scenes = rows[columns.kind[rows] == _EPISODE]
        cited: dict[int, frozenset[MemoryId]] = {}
        single: set[MemoryId] = set()
        for row in scenes[columns.origin[scenes] == _MODEL].tolist():
            keys = cited[row] = frozenset(derived.cited(self.keys[row]))
            if len(keys) == 1:
                single |= keys
        for row in scenes.tolist() if single else ():
            if row not in cited and self.keys[row] in single:
                cited[row] = frozenset((self.keys[row],))
        return cited

    def redundant_episodes(self, rows: Int64s, most: int) -> set[int]:
        """Of drafts in nearly the words of their messages, and of messages among the best `most`, those whose
        content the other has as well: the worse of the two would only cost a place. A draft that fits the
        query better stands for its messages, but not for one alone of several.
        """
        columns, score = self._mind.columns, self.score
        scenes = rows[columns.kind[rows] == _EPISODE]
        is_draft = columns.origin[scenes] == _MODEL
        drafts, messages = scenes[is_draft], scenes[~is_draft]
        best = set(messages[np.argsort(-score[messages], kind="stable")[:most]].tolist())
        out: set[int] = set()
        for row in drafts[np.argsort(-score[drafts], kind="stable")].tolist():
            cited = self._cited_rows(row)
            shown = [message for message in cited if message in best - out]
            words = self._words_at(row)
            if not shown or not self._is_covered(words, cited, _ALIKE):
                continue
            if len(shown) == 1 < len(cited) or score[shown].max() >= score[row]:
                out.add(row)
                continue
            for message in shown:
                own = self._words_at(message)
                if len(words & own) >= _COVERED * len(own):
                    out.add(message)
        return out

    def _by_score(self, row: int) -> float:
        return -float(self.score[row])

    def _cited_rows(self, draft: int) -> list[int]:
        """The rows of the messages that a draft cites, as far as they are there."""
        cited = self._mind.derivations.cited(self.keys[draft])
        rows = [self._mind.row(key) for key in cited]
        return [row for row in rows if row is not None]

    def _is_covered(self, words: set[str], rows: Sequence[int], share: float) -> bool:
        """Whether these rows together contain at least that share of the words."""
        covered = set[str]().union(*(self._words_at(row) for row in rows))
        return len(words & covered) >= share * len(words)

    def _words_at(self, row: int) -> set[str]:
        if row not in self._words:
            text = self._mind.texts_at([row])[0]
            self._words[row] = set(self._mind.tokeniser.tokens(text))
        return self._words[row]


class _Facts:
    """The facts among the candidates that another relation may end or duplicate."""

    def __init__(
        self, mind: Mind, context: RecallContext, candidates: _Candidates, rows: Int64s
    ) -> None:
        self._standings = FactValidities(mind, context.accessible, context.request.chat)
        self.edges: dict[int, Edge] = {}
        self.ended: dict[int, FactValidity] = {}
        self.duplicates: Duplicates = {}
        for row in rows[mind.facts.row_flags(mind.size)[rows]].tolist():
            key = candidates.keys[row]
            if not self._standings.may_end(mind.edges.verb_of(key)):
                continue
            edge = mind.edges.existing(key)
            if not self._standings.has_no_related(key, edge):
                self.edges[row] = edge

    def judge(self, rows: Int64s, score: Float32s, past: float) -> Int64s:
        """The rows that stay; scores of ended facts are lowered, and facts in two wordings are made one."""
        claims: dict[int, FactClaim] = {}
        for row, edge in self.edges.items():
            claim = self._standings.claim(edge)
            if claim is not None:
                claims[row] = claim
        for row in claims:
            validity = self._standings.of(self.edges[row])
            if validity.by is not None:
                self.ended[row] = validity
        lowered = list(self.ended)
        factor = np.full(len(lowered), past, np.float32)
        score[lowered] = scaled(score[lowered], factor)
        needless = _needless_denials(claims, self.ended)
        best_first = sorted(
            claims.keys() - needless,
            key=lambda row: (-float(score[row]), claims[row].key),
        )
        self.duplicates = _grouped(
            best_first, lambda row, other: is_same_fact(claims[row], claims[other])
        )
        return _without(rows[~np.isin(rows, list(needless))], self.duplicates)


def _needless_denials(
    claims: Mapping[int, FactClaim], ended: Mapping[int, FactValidity]
) -> set[int]:
    """Facts that say that something is over and need not be recalled: it is not, or the fact that is over is
    shown with since when.
    """
    enders = {validity.by for validity in ended.values()}
    denials = (row for row, claim in claims.items() if claim.relation.is_over)
    return {row for row in denials if row in ended or claims[row].key in enders}


def _grouped(best_first: Iterable[int], is_same: Callable[[int, int], bool]) -> Duplicates:
    """Each row goes to the first one before it that is the same; rows without any are left out."""
    groups: Duplicates = {}
    for row in best_first:
        same = next((first for first in groups if is_same(first, row)), None)
        if same is None:
            groups[row] = []
        else:
            groups[same].append(row)
    return {row: others for row, others in groups.items() if others}


def _merged(first: Duplicates, second: Duplicates) -> Duplicates:
    """Both, transitively: rows of `first` that are duplicates in `second` bring their own duplicates along."""
    out = {row: list(others) for row, others in first.items()}
    for row, others in second.items():
        duplicates = out.setdefault(row, [])
        for other in others:
            duplicates += [other, *out.pop(other, ())]
    return out


def _without(rows: Int64s, duplicates: Duplicates) -> Int64s:
    dropped = list(chain.from_iterable(duplicates.values()))
    return rows[~np.isin(rows, dropped)] if dropped else rows
