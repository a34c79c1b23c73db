"""Texts of a mind as tellings of events, and which may tell the same. Compute thread only."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.tellings import Telling
from soulmem.conversation.episodes import spoken
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import DERIVED, Memory, MemoryKind, MemoryState, Place
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.doubted import is_in_doubt
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.language.markup import plain
from soulmem.language.scripts import UNSPACED
from soulmem.language.word_lists import alternatives, signs, word_set, words

_FILE = "statements"
_WORD = re.compile(rf"(?:(?![{UNSPACED}_\d])\w)+(?:['\u2019](?:(?![{UNSPACED}_])\w)+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_QUESTION = re.compile("[?\u061f\u037e]")  # after NFKC
_DENIALS = word_set(_FILE, "denial", "words")
_DENYING_ENDINGS = words(_FILE, "denial", "endings")
_DENYING_SIGNS = frozenset(signs(_FILE, "denial", "signs"))
_OPEN = word_set(_FILE, "open", "words")
_OPEN_ENDINGS = words(_FILE, "open", "endings")
_OPEN_RUNS = re.compile(alternatives(words(_FILE, "open", "runs")))
_EXACT = word_set(_FILE, "numbers", "words") | word_set(_FILE, "persons", "words")
_EXACT_SIGNS = frozenset(signs(_FILE, "numbers", "signs") + signs(_FILE, "persons", "signs"))


def statement_marks(text: str) -> frozenset[str]:
    """What two texts must have in common, beside their topics, to claim the same.

    Numbers, pronouns of third persons, words of condition and plan, how often it
    denies, and whether it asks. Equal sets do not prove that two texts claim the same;
    different ones show that they may not.
    """
    folded = unicodedata.normalize("NFKC", plain(text)).casefold()
    spaced = _WORD.findall(folded)
    marks = {*_NUMBER.findall(folded), *_OPEN_RUNS.findall(folded)}
    marks.update(word for word in spaced if word in _EXACT or _is_open(word))
    marks.update(sign for sign in folded if sign in _EXACT_SIGNS)
    denials = sum(1 for _ in _denials(folded, spaced))
    if denials:
        marks.add(f"not {denials}")
    if _QUESTION.search(folded):
        marks.add("?")
    return frozenset(marks)


def _is_open(word: str) -> bool:
    return word in _OPEN or word.endswith(_OPEN_ENDINGS)


def _denials(folded: str, spaced: list[str]) -> Iterator[str]:
    yield from (sign for sign in folded if sign in _DENYING_SIGNS)
    for word in spaced:
        if word in _DENIALS or word.endswith(_DENYING_ENDINGS):
            yield word


_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)
_JOINABLE = (MemoryState.ACTIVE, MemoryState.MERGED)
# Share of the saliences of a text by which its rarest topics find all texts that lack a
# quarter at most.
_PROBED = 0.3
_SHARED = 0.5  # 0..1, least share of its topics in a text that is compared with it
_MOST = 400  # texts that are compared with one text; further repetitions say no more


@compute_only
def may_be_joined(mind: Mind, memory: Memory) -> bool:
    """Whether the memory may be united with others: derived, unprotected, in some chat, in no doubt."""
    if memory.kind is not MemoryKind.EPISODE or memory.origin not in DERIVED:
        return False
    if memory.permanent or memory.locked or memory.kept_apart:
        return False
    if memory.state not in _JOINABLE or not memory.terms:
        return False
    row = mind.row(memory.id)
    if row is None or not mind.columns.live[row]:
        return False
    return not is_in_doubt(mind, memory.id)


@compute_only
def reached_tellings(
    mind: Mind,
    chat: ChatId | None,
    family: ChatId | None,
    holds: Callable[[ChatId, Place], bool],
) -> NDArray[np.bool_] | None:
    """The rows that a recall in `chat` could use, with merged tellings; None where nothing is joined."""
    if not len(mind.tellings):
        return None
    visibility, scope = mind.frame().visibility, mind.soul.settings.scope
    return visibility.reached_rows(chat, family, scope, holds)


@compute_only
def joined_rows(mind: Mind, rows: Iterable[int]) -> set[int]:
    """Of these rows those that unite tellings, with the rows of all that they unite."""
    out: set[int] = set()
    for row in rows:
        merged = mind.tellings.merged(mind.id_at(row))
        out.update(r for key in merged if (r := mind.row(key)) is not None)
        if merged:
            out.add(row)
    return out


@compute_only
def telling_of(mind: Mind, memory: Memory) -> Telling:
    """The memory as a telling."""
    words = spoken(memory)
    speaker = memory.text[: len(memory.text) - len(words)]
    names = {word for name in memory.names for word in name.casefold().split()}
    topics = {term.key: term.salience for term in memory.terms}
    return Telling(
        key=memory.id,
        who=frozenset((memory.origin.value, speaker, *mind.names.spot(words))),
        marks=statement_marks(words),
        topics=topics,
        names=frozenset(names.intersection(topics)),
        words=frozenset(mind.tokeniser.tokens(words)),
        happened=memory.happened.timestamp(),
        lines=frozenset(mind.derivations.cited(memory.id)),
    )


class Partners:
    """Finds texts that may tell the same as a text; for one state of a mind."""

    def __init__(self, mind: Mind) -> None:
        columns, n = mind.columns, mind.size
        self._mind = mind
        self._usable = columns.live[:n] & columns.active[:n]
        self._usable &= columns.kind[:n] == _EPISODE
        self._incidence = mind.terms.incidence
        self._counts = self._incidence.counts(self._usable)
        # bool[terms + 1], all False between two texts; the last is for cells without a term.
        self._marked = np.zeros(self._incidence.terms + 1, np.bool_)

    @compute_only
    def of(self, row: int) -> list[MemoryId]:
        """Episodes with the rarest topics of the one at `row`, and with half of its topics at least; of a draft
        also those that rest on the same messages.
        """
        return list(dict.fromkeys((*self._drafted_with(row), *self._alike(row))))

    def _drafted_with(self, row: int) -> Iterator[MemoryId]:
        key, derivations = self._mind.id_at(row), self._mind.derivations
        for derivation in derivations.invalidated_by(derivations.cited(key)):
            for product in derivation.products:
                other = self._mind.row(MemoryId(product.id))
                if other is not None and other != row and self._usable[other]:
                    yield MemoryId(product.id)

    def _alike(self, row: int) -> list[MemoryId]:
        salience: dict[int, float] = {}
        for key, value in self._incidence.terms_of(row):
            number = self._incidence.number(key)
            if number is not None:
                salience[number] = value
        probed = self._rarest(salience)
        if not probed:
            return []
        _, rows_with_term = self._incidence.rows_of(np.asarray(probed, np.int64), self._usable)
        rows = np.unique(rows_with_term)
        rows = rows[rows != row]
        own = list(salience)
        # A table: np.isin takes seven times as long.
        self._marked[own] = True
        shared = self._marked[self._incidence.cells(rows)].sum(axis=1)
        self._marked[own] = False
        near = np.flatnonzero(shared >= _SHARED * len(salience))
        best = near[np.argsort(-shared[near], kind="stable")][:_MOST]
        return self._mind.ids_at(rows[best].tolist())

    def _rarest(self, salience: Mapping[int, float]) -> list[int]:
        """The rarest of these terms; a text that tells the same has at least one of them."""
        probed, weight = list[int](), 0.0
        for number in sorted(salience, key=lambda n: (int(self._counts[n]), n)):
            probed.append(number)
            weight += salience[number]
            if weight > _PROBED * sum(salience.values()):
                break
        return probed
